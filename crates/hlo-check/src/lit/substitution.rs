//! Substitutions in RUN lines: `%s`, `%{name}`, `%if`, `%%`.
//!
//! A line is rewritten by one pass over the list, each entry replacing all its occurrences, in
//! this order: DEFINE (newest first), `-D` parameters, lit.toml, the predefined ones. Text that an
//! entry inserts is seen by the entries after it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::boolean_expr::{BooleanExpr, Features};
use super::quote::python;

/// How deeply `%if` may nest.
pub const MAX_IF_NESTING: usize = 100;

/// Longest command line that substitution may make: definitions that double one another would
/// otherwise fill the memory.
pub const MAX_COMMAND_LENGTH: usize = 1 << 20;

/// Stands for `%%` while the other substitutions are made; lit's own mark, which becomes `%` in lines that have it.
const PERCENT_MARK: &str = "#_MARKER_#";

/// What an entry looks for.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Exactly this text.
    Literal(String),
    /// Whatever the expression matches; captures can be used as `${1}` in the text.
    Regex(Regex),
}

impl Pattern {
    /// The pattern as written.
    pub fn text(&self) -> &str {
        match self {
            Pattern::Literal(text) => text,
            Pattern::Regex(regex) => regex.as_str(),
        }
    }
}

/// An entry that a person defined.
#[derive(Clone, Debug)]
pub struct Substitution {
    /// What is replaced.
    pub pattern: Pattern,
    /// The text it is replaced by.
    pub value: String,
}

/// Where a test's files are; the source of the predefined substitutions.
#[derive(Clone, Debug)]
pub struct TestPaths {
    /// The test file (`%s`).
    pub source: PathBuf,
    /// Folder of temporary files of the tests of one folder (`%T`).
    pub temp_dir: PathBuf,
    /// Prefix of the test's own temporary files, without `.tmp`.
    pub temp_base: PathBuf,
}

impl TestPaths {
    fn source_dir(&self) -> &Path {
        self.source.parent().unwrap_or(Path::new(""))
    }

    /// The path that `%t` stands for.
    pub fn temp_file(&self) -> PathBuf {
        with_suffix(&self.temp_base, ".tmp")
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    PathBuf::from(path)
}

fn display(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The root of an absolute path: `/`, or the drive on Windows.
fn anchor(path: &Path) -> String {
    let root: PathBuf = path
        .components()
        .take_while(|part| matches!(part, std::path::Component::Prefix(_) | std::path::Component::RootDir))
        .collect();
    display(&root)
}

fn forward_slashes(path: &str) -> String {
    if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() }
}

/// Without a drive's colon and without a leading slash.
fn without_colon(path: &str) -> String {
    let path = forward_slashes(path);
    if cfg!(windows) {
        let mut chars = path.chars();
        match (chars.next(), chars.next()) {
            (Some(drive), Some(':')) => format!("{drive}{}", chars.as_str()),
            _ => path,
        }
    } else {
        path.strip_prefix('/').map_or(path.clone(), str::to_owned)
    }
}

fn real(path: &str) -> String {
    let mut missing = Vec::new();
    let mut known = PathBuf::from(path);
    // Like POSIX realpath -m: the part that exists is resolved, the rest stays.
    loop {
        if let Ok(resolved) = std::fs::canonicalize(&known) {
            let mut resolved = resolved;
            resolved.extend(missing.iter().rev());
            return display(&resolved);
        }
        let Some(name) = known.file_name().map(std::ffi::OsStr::to_owned) else {
            return path.to_owned();
        };
        missing.push(name);
        if !known.pop() {
            return path.to_owned();
        }
    }
}

fn escape_for_sed(path: &str) -> String {
    forward_slashes(path).replace('@', "\\@").replace('&', "\\&")
}

/// Which path a path substitution is about.
type PathOf = fn(&TestPaths) -> String;
/// How the path is written.
type Spell = fn(&str) -> String;

/// The paths, with the letter that names them.
const PATHS: [(char, PathOf); 5] = [
    ('s', |paths| display(&paths.source)),
    ('S', |paths| display(paths.source_dir())),
    ('p', |paths| display(paths.source_dir())),
    ('t', |paths| display(&paths.temp_file())),
    ('T', |paths| display(&paths.temp_dir)),
];

/// The spellings of each path: what stands before and after the letter.
const SPELLINGS: [(&str, &str, Spell); 6] = [
    ("%", "", str::to_owned),
    ("%/", "", forward_slashes),
    ("%{", ":real}", real),
    ("%{/", ":real}", |path| forward_slashes(&real(path))),
    ("%{/", ":regex_replacement}", escape_for_sed),
    ("%:", "", without_colon),
];

/// The predefined substitutions that are not spellings of a path.
const NAMED: [(&str, PathOf); 9] = [
    ("%{pathsep}", |_| if cfg!(windows) { ";" } else { ":" }.to_owned()),
    ("%basename_t", |paths| file_name(&paths.temp_base)),
    ("%{s:basename}", |paths| file_name(&paths.source)),
    ("%{s:stem}", |paths| paths.source.file_stem().unwrap_or_default().to_string_lossy().into_owned()),
    ("%{t:stem}", |paths| file_name(&paths.temp_base)),
    ("%{fs-src-root}", |paths| anchor(&paths.source)),
    ("%{fs-tmp-root}", |paths| anchor(&paths.temp_base)),
    ("%{fs-sep}", |_| std::path::MAIN_SEPARATOR.to_string()),
    ("%/et", |paths| display(&paths.temp_file()).replace('\\', "\\\\\\\\\\\\\\\\")),
];

/// Every predefined pattern.
pub fn predefined_patterns() -> impl Iterator<Item = String> {
    NAMED.iter().map(|&(pattern, _)| pattern.to_owned()).chain(PATHS.iter().flat_map(|&(letter, _)| {
        SPELLINGS.iter().map(move |(open, close, _)| format!("{open}{letter}{close}"))
    }))
}

/// The list of one test; DEFINE lines change it as the script goes on.
pub struct Substitutions<'a> {
    user: Cow<'a, [Substitution]>,
    paths: &'a TestPaths,
    features: &'a Features,
    recursion_limit: Option<u32>,
}

impl<'a> Substitutions<'a> {
    /// The list a test begins with.
    pub fn new(
        user: &'a [Substitution],
        paths: &'a TestPaths,
        features: &'a Features,
        recursion_limit: Option<u32>,
    ) -> Self {
        Substitutions { user: Cow::Borrowed(user), paths, features, recursion_limit }
    }

    /// Carries out a DEFINE (`new`) or REDEFINE.
    ///
    /// # Errors
    /// A known name is defined, an unknown one redefined, or the name occurs in other patterns.
    pub fn define(
        &mut self,
        new: bool,
        name: &str,
        value: &str,
        keyword: &str,
        location: &str,
    ) -> Result<(), String> {
        let existing: Vec<usize> =
            (0..self.user.len()).filter(|&index| self.user[index].pattern.text().contains(name)).collect();
        let predefined: Vec<String> =
            predefined_patterns().filter(|pattern| pattern.contains(name)).collect();
        let listed: String = existing
            .iter()
            .map(|&index| self.user[index].pattern.text())
            .chain(predefined.iter().map(String::as_str))
            .map(|pattern| format!("\nExisting pattern: {pattern}"))
            .collect();
        let count = existing.len() + predefined.len();
        let entry = Substitution { pattern: Pattern::Literal(name.to_owned()), value: value.to_owned() };
        if new {
            if count > 0 {
                return Err(format!(
                    "Substitution whose pattern contains '{name}' is already defined before \
                     '{keyword}' directive {location}{listed}"
                ));
            }
            self.user.to_mut().insert(0, entry);
            return Ok(());
        }
        if count > 1 {
            return Err(format!(
                "Multiple substitutions whose patterns contain '{name}' are defined before \
                 '{keyword}' directive {location}{listed}"
            ));
        }
        match existing.first() {
            Some(&index) if self.user[index].pattern.text() == name => {
                self.user.to_mut()[index] = entry;
                Ok(())
            }
            None if predefined.first().is_some_and(|pattern| pattern == name) => {
                // A predefined entry comes last; its replacement has to stay there.
                self.user.to_mut().push(entry);
                Ok(())
            }
            None if predefined.is_empty() => Err(format!(
                "No substitution for '{name}' is defined before '{keyword}' directive {location}"
            )),
            _ => Err(format!(
                "Existing substitution whose pattern contains '{name}' does not have the pattern \
                 specified by '{keyword}' directive {location}\nExpected pattern: {name}{listed}"
            )),
        }
    }

    /// Makes all substitutions in one command line.
    ///
    /// # Errors
    /// A malformed `%if`, a condition that is no expression, or no end within the limit on
    /// recursive expansion.
    pub fn apply(&self, line: &str) -> Result<String, String> {
        let mut processed = self.one_pass(line)?;
        if let Some(limit) = self.recursion_limit {
            let mut before = line.to_owned();
            let mut steps = 0;
            while processed != before && steps < limit {
                before = processed;
                processed = self.one_pass(&before)?;
                steps += 1;
            }
            if processed != before {
                return Err(format!(
                    "Recursive substitution of {} did not complete in the provided recursion \
                     limit ({limit})",
                    python(line.trim())
                ));
            }
        }
        Ok(processed.replace(PERCENT_MARK, "%"))
    }

    fn one_pass(&self, line: &str) -> Result<String, String> {
        if !line.contains('%') && self.user.is_empty() {
            return Ok(line.trim().to_owned());
        }
        let mut line = escape_percents(line.to_owned());
        if line.contains("%if ") {
            line = expand_conditionals(&line, self.features)?;
        }
        for entry in self.user.iter() {
            match &entry.pattern {
                Pattern::Literal(text) => {
                    if line.contains(text.as_str()) {
                        line = replace(&line, text, &entry.value)?;
                    }
                }
                Pattern::Regex(regex) => {
                    if let Cow::Owned(replaced) = regex.replace_all(&line, entry.value.as_str()) {
                        line = bounded(escape_percents(replaced))?;
                    }
                }
            }
        }
        if line.contains('%') {
            line = self.predefined(line)?;
        }
        Ok(line.trim().to_owned())
    }

    fn predefined(&self, mut line: String) -> Result<String, String> {
        // Few of the many patterns are there, and what follows the `%` signs tells which can't be.
        let mut after = after_percents(&line);
        for (pattern, value) in NAMED {
            if after.has_beginning_of(pattern) && line.contains(pattern) {
                line = replace(&line, pattern, &value(self.paths))?;
                after = after_percents(&line);
            }
        }
        let mut pattern = String::with_capacity(24);
        for (letter, path) in PATHS {
            for (open, close, spell) in SPELLINGS {
                pattern.clear();
                pattern.push_str(open);
                pattern.push(letter);
                pattern.push_str(close);
                if after.has_beginning_of(&pattern) && line.contains(pattern.as_str()) {
                    let value = spell(&path(self.paths));
                    line = replace(&line, &pattern, &value)?;
                    after = after_percents(&line);
                }
            }
        }
        Ok(line)
    }
}

/// A set of ASCII characters.
#[derive(Clone, Copy, Default)]
struct AsciiSet(u128);

impl AsciiSet {
    /// Whether the character after the `%` of `pattern` is in it.
    fn has_beginning_of(self, pattern: &str) -> bool {
        pattern.as_bytes().get(1).is_none_or(|&byte| byte < 128 && self.0 >> byte & 1 == 1)
    }
}

/// The ASCII characters that follow a `%`.
fn after_percents(line: &str) -> AsciiSet {
    let bytes = line.as_bytes();
    let next =
        memchr::memchr_iter(b'%', bytes).filter_map(|at| bytes.get(at + 1)).filter(|byte| byte.is_ascii());
    AsciiSet(next.fold(0, |set, &byte| set | 1 << byte))
}

/// Replaces every occurrence, unless the line would get too long.
fn replace(line: &str, pattern: &str, value: &str) -> Result<String, String> {
    if value.len() > pattern.len() {
        let growth = line.matches(pattern).count().saturating_mul(value.len() - pattern.len());
        if line.len().saturating_add(growth) > MAX_COMMAND_LENGTH {
            return Err(too_long());
        }
    }
    Ok(escape_percents(line.replace(pattern, value)))
}

fn bounded(line: String) -> Result<String, String> {
    if line.len() > MAX_COMMAND_LENGTH { Err(too_long()) } else { Ok(line) }
}

fn too_long() -> String {
    format!("substitutions make the command longer than {MAX_COMMAND_LENGTH} bytes")
}

fn escape_percents(line: String) -> String {
    if line.contains("%%") { line.replace("%%", PERCENT_MARK) } else { line }
}

/// Replaces `%if cond %{ a %} %else %{ b %}` by the branch chosen.
fn expand_conditionals(line: &str, features: &Features) -> Result<String, String> {
    let mut out = String::with_capacity(line.len());
    let rest = expand_branch(line, features, 0, &mut out)?;
    debug_assert!(rest.is_empty(), "the outermost level reads to the end");
    Ok(out)
}

/// Expands up to the closing `%}` of a branch (or the end at depth 0); gives what follows.
fn expand_branch<'t>(
    mut text: &'t str,
    features: &Features,
    depth: usize,
    out: &mut String,
) -> Result<&'t str, String> {
    if depth > MAX_IF_NESTING {
        return Err(format!("%if nests more than {MAX_IF_NESTING} levels deep"));
    }
    let nested = depth > 0;
    while !text.is_empty() {
        if nested && text.starts_with("%}") {
            break;
        }
        if let Some(after_if) = text.strip_prefix("%if ") {
            text = expand_if(after_if, features, depth, out)?;
            continue;
        }
        let (end, _) = next_stop(text, nested);
        // A stop at 0 is a `%if` that no blank follows: ordinary text.
        let end = if end == 0 { 1 + next_stop(&text[1..], nested).0 } else { end };
        out.push_str(&text[..end]);
        text = &text[end..];
    }
    Ok(text)
}

/// Place of the next `%if` or (in a branch) `%}`.
fn next_stop(text: &str, nested: bool) -> (usize, bool) {
    let mut at = 0;
    while let Some(found) = text[at..].find('%') {
        let here = at + found;
        let tail = &text[here..];
        if tail.starts_with("%if") || (nested && tail.starts_with("%}")) {
            return (here, true);
        }
        at = here + 1;
    }
    (text.len(), false)
}

fn expand_if<'t>(
    after_if: &'t str,
    features: &Features,
    depth: usize,
    out: &mut String,
) -> Result<&'t str, String> {
    let Some((condition, body)) = after_if.split_once("%{") else {
        return Err("'%{' is missing for %if substitution".to_owned());
    };
    let mut then_text = String::new();
    let rest = expand_branch(body, features, depth + 1, &mut then_text)?;
    let Some(mut rest) = rest.strip_prefix("%}") else {
        return Err("'%}' is missing for %if substitution".to_owned());
    };
    let mut else_text = String::new();
    if let Some(after_else) = rest.trim_start().strip_prefix("%else") {
        let Some(body) = after_else.trim_start().strip_prefix("%{") else {
            return Err("'%{' is missing for %else substitution".to_owned());
        };
        let after = expand_branch(body, features, depth + 1, &mut else_text)?;
        let Some(after) = after.strip_prefix("%}") else {
            return Err("'%}' is missing for %else substitution".to_owned());
        };
        rest = after;
    }
    let chosen = if BooleanExpr::evaluate_text(condition, features)? { then_text } else { else_text };
    out.push_str(&chosen);
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> TestPaths {
        TestPaths {
            source: PathBuf::from("/src/dir/a.b.hlo"),
            temp_dir: PathBuf::from("/out/dir/Output"),
            temp_base: PathBuf::from("/out/dir/Output/a.b.hlo"),
        }
    }

    fn features() -> Features {
        ["yes".to_owned()].into_iter().collect()
    }

    fn apply(user: &[(&str, &str)], limit: Option<u32>, line: &str) -> Result<String, String> {
        let user: Vec<Substitution> = user
            .iter()
            .map(|&(pattern, value)| Substitution {
                pattern: Pattern::Literal(pattern.to_owned()),
                value: value.to_owned(),
            })
            .collect();
        let (paths, features) = (paths(), features());
        Substitutions::new(&user, &paths, &features, limit).apply(line)
    }

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(apply(&[], None, line).as_deref(), Ok(expected), "{line}");
    }

    #[cfg(unix)]
    #[test]
    fn predefined() {
        check("%s %S %p", "/src/dir/a.b.hlo /src/dir /src/dir");
        check("%t.x %T", "/out/dir/Output/a.b.hlo.tmp.x /out/dir/Output");
        check("%/s %:s", "/src/dir/a.b.hlo src/dir/a.b.hlo");
        check("%{s:basename} %{s:stem} %{t:stem} %basename_t", "a.b.hlo a.b a.b.hlo a.b.hlo");
        check("%{pathsep} %{fs-sep} %{fs-src-root} %{fs-tmp-root}", ": / / /");
        check("%{s:real} %{/t:real}", "/src/dir/a.b.hlo /out/dir/Output/a.b.hlo.tmp");
        check("%/et", "/out/dir/Output/a.b.hlo.tmp");
    }

    #[test]
    fn percent() {
        check(" %%s %%%% %x 50% ", "%s %% %x 50%");
        check("%", "%");
    }

    #[test]
    fn user_entries_come_first_and_see_the_later_ones() {
        let user = [("%{a}", "<%{b} %%{b}>"), ("%{b}", "%{a}")];
        assert_eq!(apply(&user, None, "%{a}").as_deref(), Ok("<%{a} %{b}>"));
        let error = apply(&user, Some(3), "%{a}").unwrap_err();
        assert!(error.contains("did not complete in the provided recursion limit (3)"), "{error}");
        let user = [("%{b}", "x"), ("%{a}", "%{b}")];
        assert_eq!(apply(&user, Some(2), "%{a}").as_deref(), Ok("x"));
    }

    #[test]
    fn conditionals() {
        check("%if yes %{a%}%else %{b%}c", "ac");
        check("%if !yes %{a%} %else %{b%} c", "b c");
        check("x %if no %{a%} y", "x  y");
        check("%if yes %{%if no %{a%} %else %{b%}%}", "b");
        check("%iffy %} %else", "%iffy %} %else");
        check("%if yes %{ cat | up %}", "cat | up");
        for (line, error) in [
            ("%if yes a", "'%{' is missing for %if substitution"),
            ("%if yes %{ a", "'%}' is missing for %if substitution"),
            ("%if yes %{ a %} %else b", "'%{' is missing for %else substitution"),
            ("%if yes %{ a %} %else %{ b", "'%}' is missing for %else substitution"),
        ] {
            assert_eq!(apply(&[], None, line), Err(error.to_owned()));
        }
        let deep = "%if yes %{".repeat(10_000);
        assert!(apply(&[], None, &deep).unwrap_err().contains("nests more than"));
    }

    #[test]
    fn definitions() {
        let (paths, features) = (paths(), features());
        let mut list = Substitutions::new(&[], &paths, &features, None);
        list.define(true, "%{a}", "1", "DEFINE:", "at line 1").unwrap();
        list.define(true, "%{b}", "%{a}", "DEFINE:", "at line 2").unwrap();
        assert_eq!(list.apply("%{a}%{b}").as_deref(), Ok("11"));
        list.define(false, "%{a}", "2", "REDEFINE:", "at line 3").unwrap();
        assert_eq!(list.apply("%{a}%{b}").as_deref(), Ok("22"));
        let error = list.define(true, "%{a}", "3", "DEFINE:", "at line 4").unwrap_err();
        assert!(error.contains("already defined before 'DEFINE:' directive at line 4"), "{error}");
        let error = list.define(false, "%{c}", "3", "REDEFINE:", "at line 5").unwrap_err();
        assert!(error.contains("No substitution for '%{c}' is defined"), "{error}");
    }

    #[test]
    fn growth_is_bounded() {
        let user: Vec<(String, String)> =
            (0..60).map(|n| (format!("%{{v{n}}}"), format!("%{{v{}}}%{{v{}}}", n + 1, n + 1))).collect();
        let user: Vec<(&str, &str)> =
            user.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert!(apply(&user, None, "%{v0}").unwrap_err().contains("longer than"));
        let error = apply(&[("%{a}", "%{a}%{a}")], Some(u32::MAX), "%{a}").unwrap_err();
        assert!(error.contains("longer than"), "{error}");
    }

    #[test]
    fn nul_is_a_letter() {
        check("a\0b %% %%s", "a\0b % %s");
        check("#_MARKER_#s", "%s");
    }
}
