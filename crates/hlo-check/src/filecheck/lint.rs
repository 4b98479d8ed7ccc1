//! Lints: check files that mean something else than they seem to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::check_file::DirectiveScanner;
use super::directive::{self, CheckKind, SUFFIXES, is_part_of_word};
use super::options::{DEFAULT_CHECK_PREFIXES, DEFAULT_COMMENT_PREFIXES, MatchOptions};

/// The lints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LintCode {
    /// `CHECKNEXT:`, `CHCEK:`, `CHECk:`
    MisspeltDirective,
    /// `CHECK-NEXT foo`
    MissingColon,
    /// `CHECK-NEXT-COUNT-2:`
    MisplacedCount,
    /// `FOO-NEXT:` in a file that is never checked with prefix FOO.
    UnknownPrefix,
    /// A prefix asked for that the file does not use.
    UnusedPrefix,
    /// Directives in a file whose RUN lines never reach a checker.
    NoChecker,
    /// `[[x]]` where no variable x is ever set.
    LiteralBrackets,
    /// `={{0,1},{2,3}}`: a regex, not the braces of a list.
    LiteralBraces,
    /// `[[x:…]]` set again before it was used: the second captures instead of comparing.
    OverwrittenCapture,
    /// A pattern that is only `{{.*}}`.
    MatchesEverything,
    /// Two LABEL directives with one text.
    DuplicateLabel,
}

/// Names of the lints, as messages show them and `LINT-OFF(name)` takes them.
const NAMES: &[(LintCode, &str)] = &[
    (LintCode::MisspeltDirective, "misspelt-directive"),
    (LintCode::MissingColon, "missing-colon"),
    (LintCode::MisplacedCount, "misplaced-count"),
    (LintCode::UnknownPrefix, "unknown-prefix"),
    (LintCode::UnusedPrefix, "unused-prefix"),
    (LintCode::NoChecker, "no-checker"),
    (LintCode::LiteralBrackets, "literal-brackets"),
    (LintCode::LiteralBraces, "literal-braces"),
    (LintCode::OverwrittenCapture, "overwritten-capture"),
    (LintCode::MatchesEverything, "matches-everything"),
    (LintCode::DuplicateLabel, "duplicate-label"),
];

impl LintCode {
    /// All lints.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(code, _)| *code)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(code, _)| *code == self).map_or("", |(_, name)| name)
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lint {
    /// Which lint.
    pub code: LintCode,
    /// The bytes of the check file it is about.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// The text that would put it right in place of `span`, when that is certain.
    pub fix: Option<String>,
}

/// How the file is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Check prefixes of the runs known; empty for the default.
    pub check_prefixes: Vec<String>,
    /// Those of them that the file has to use.
    pub required_prefixes: Vec<String>,
    /// Comment prefixes; empty for the defaults.
    pub comment_prefixes: Vec<String>,
    /// Names of variables defined on command lines, without `#`.
    pub defined: Vec<String>,
    /// How often the file's RUN lines call a checker; `None` if only one of the calls is known (then nothing is
    /// said about prefixes that others may use).
    pub calls: Option<usize>,
}

impl Usage {
    /// What is known about the use of a check file from one call.
    #[must_use]
    pub fn of_call(options: &MatchOptions) -> Self {
        let name = |define: &String| {
            let name = define.split('=').next().unwrap_or_default();
            name.rsplit(',').next().unwrap_or_default().trim_start_matches('#').trim().to_owned()
        };
        let required = if options.allow_unused_prefixes { &[][..] } else { &options.check_prefixes };
        Self {
            check_prefixes: options.check_prefixes.clone(),
            required_prefixes: required.to_vec(),
            comment_prefixes: options.comment_prefixes.clone(),
            defined: options.defines.iter().map(name).collect(),
            calls: None,
        }
    }
}

/// A line that divides a file of several cases, whose checks have nothing to do with one another.
const CASE_MARKER: &[u8] = b"// -----";

/// Longest directive-like word looked at.
const LONGEST_WORD: usize = 64;

/// Looks a check file over. Findings come in the order of the text.
#[must_use]
pub fn lint(text: &[u8], usage: &Usage) -> Vec<Lint> {
    let given: Vec<&str> = usage.check_prefixes.iter().map(String::as_str).collect();
    let comments: Vec<&str> = usage.comment_prefixes.iter().map(String::as_str).collect();
    let prefixes = if given.is_empty() { DEFAULT_CHECK_PREFIXES } else { &given };
    let comments = if comments.is_empty() { DEFAULT_COMMENT_PREFIXES } else { &comments };
    let mut linter = Linter { text, usage, prefixes, comments, found: Vec::new() };
    let used = linter.directives();
    linter.words();
    linter.prefixes_and_calls(&used);
    let mut found = linter.found;
    found.retain(|lint| !is_off(text, lint));
    found.sort_by_key(|lint| (lint.span.start, lint.code));
    found
}

/// Whether `LINT-OFF(name, …)` stands on the finding's line or alone on the line before.
fn is_off(text: &[u8], lint: &Lint) -> bool {
    let start = memchr::memrchr(b'\n', &text[..lint.span.start]).map_or(0, |at| at + 1);
    let line = line_at(text, start);
    if turns_off(line, lint.code) {
        return true;
    }
    let Some(before_end) = start.checked_sub(1) else { return false };
    let before = memchr::memrchr(b'\n', &text[..before_end]).map_or(0, |at| at + 1);
    let before = &text[before..before_end];
    let alone = memchr::memmem::find(before, b"LINT-OFF(")
        .is_some_and(|at| before[..at].iter().all(|byte| !byte.is_ascii_alphanumeric()));
    alone && turns_off(before, lint.code)
}

fn line_at(text: &[u8], start: usize) -> &[u8] {
    let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at);
    &text[start..end]
}

fn turns_off(line: &[u8], code: LintCode) -> bool {
    memchr::memmem::find_iter(line, b"LINT-OFF(").any(|at| {
        let rest = &line[at + b"LINT-OFF(".len()..];
        let end = memchr::memchr(b')', rest).unwrap_or(0);
        rest[..end].split(|&byte| byte == b',').any(|name| name.trim_ascii() == code.name().as_bytes())
    })
}

struct Linter<'a> {
    text: &'a [u8],
    usage: &'a Usage,
    prefixes: &'a [&'a str],
    comments: &'a [&'a str],
    found: Vec<Lint>,
}

impl<'a> Linter<'a> {
    fn add(
        &mut self,
        code: LintCode,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
        fix: Option<String>,
    ) {
        self.found.push(Lint { code, span, message: message.into(), help: help.into(), fix });
    }

    /// Looks at every directive; gives the prefixes that were used, each with the place of its first directive.
    fn directives(&mut self) -> BTreeMap<&'a str, Range<usize>> {
        let mut used = BTreeMap::new();
        // Runs have prefixes of their own, so the same text under two prefixes is no repetition.
        let mut labels: HashMap<(&'a str, &'a [u8]), usize> = HashMap::new();
        let mut case_end = self.case_end(0);
        let mut variables = Variables::default();
        for name in &self.usage.defined {
            variables.set.insert(name.as_bytes().to_vec());
        }
        let text = self.text;
        let mut scanner = DirectiveScanner::new(self.prefixes, self.comments, text);
        let mut uses = Vec::new();
        while let Some(found) = scanner.next() {
            let end =
                memchr::memchr2(b'\n', b'\r', &text[found.after..]).map_or(text.len(), |at| found.after + at);
            scanner.resume(end);
            if found.check.kind == CheckKind::Comment {
                continue;
            }
            if found.after > case_end {
                labels.clear();
                variables.unused.clear();
                case_end = self.case_end(found.after);
            }
            used.entry(found.prefix).or_insert(found.start..found.after);
            let blanks =
                text[found.after..end].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let start = found.after + blanks;
            let pattern = text[start..end].trim_ascii_end();
            let span = start..start + pattern.len();
            if found.check.kind == CheckKind::Label {
                variables.unused.clear();
                if let Some(&first) = labels.get(&(found.prefix, pattern)) {
                    let message = format!("the same LABEL text stands on line {first}");
                    let help = "a label must occur once in the input to divide it; add what tells them apart";
                    self.add(LintCode::DuplicateLabel, span.clone(), message, help, None);
                } else {
                    labels.insert((found.prefix, pattern), found.line);
                }
            }
            if found.check.literal {
                continue;
            }
            let anywhere = matches!(
                found.check.kind,
                CheckKind::Plain | CheckKind::Dag | CheckKind::Same | CheckKind::Label
            );
            if anywhere && pattern == b"{{.*}}" {
                let message = "this pattern matches everything, so the directive checks nothing";
                let help = "say what must be there, or drop the directive";
                self.add(LintCode::MatchesEverything, span.clone(), message, help, None);
            }
            self.braces(start, pattern);
            self.blocks(found.prefix, start, pattern, &mut variables, &mut uses);
        }
        for (name, span) in uses {
            if !variables.set.contains(&name) {
                let shown = String::from_utf8_lossy(&name).into_owned();
                let message = format!("`[[{shown}]]` is the variable {shown}, which nothing sets");
                let help = "for the brackets themselves write {{\\[\\[}}, or use the {LITERAL} modifier";
                let fix = Some(format!("{{{{\\[\\[}}}}{shown}]]"));
                self.add(LintCode::LiteralBrackets, span, message, help, fix);
            }
        }
        used
    }

    /// Where the case that holds the byte `at` ends.
    fn case_end(&self, at: usize) -> usize {
        memchr::memmem::find_iter(&self.text[at..], CASE_MARKER)
            .map(|found| at + found)
            .find(|&found| {
                (found == 0 || self.text[found - 1] == b'\n')
                    && line_at(self.text, found)[CASE_MARKER.len()..].trim_ascii().is_empty()
            })
            .unwrap_or(self.text.len())
    }

    /// The `{{…}}` blocks of a pattern that can only be meant as lists of numbers, such as groups of devices.
    fn braces(&mut self, start: usize, pattern: &[u8]) {
        let mut at = 0;
        while let Some(skip) = memchr::memmem::find(&pattern[at..], b"{{") {
            let open = at + skip;
            let Some(length) = memchr::memmem::find(&pattern[open + 2..], b"}}") else { return };
            at = open + 2 + length + 2;
            let inner = &pattern[open + 2..open + 2 + length];
            let is_list = inner.iter().all(|byte| byte.is_ascii_digit() || b",{} ".contains(byte))
                && inner.iter().any(u8::is_ascii_digit);
            if is_list && open > 0 && pattern[open - 1] == b'=' {
                let shown = String::from_utf8_lossy(inner).into_owned();
                let message = format!("`{{{{{shown}}}}}` is a regular expression, not a list in braces");
                let help = "for the braces themselves write {{[{][{]}}, or use the {LITERAL} modifier";
                let fix = Some(format!("{{{{[{{][{{]}}}}{shown}}}}}"));
                self.add(LintCode::LiteralBraces, start + open..start + at, message, help, fix);
            }
        }
    }

    /// The `[[…]]` blocks of a pattern.
    fn blocks(
        &mut self,
        prefix: &'a str,
        start: usize,
        pattern: &[u8],
        variables: &mut Variables<'a>,
        uses: &mut Vec<(Vec<u8>, Range<usize>)>,
    ) {
        let mut at = 0;
        while let Some(skip) = memchr::memmem::find(&pattern[at..], b"[[") {
            let mut open = at + skip;
            while pattern[open..].starts_with(b"[[[") {
                open += 1;
            }
            let inner = open + 2;
            let Some(length) = memchr::memmem::find(&pattern[inner..], b"]]") else { return };
            let block = &pattern[inner..inner + length];
            at = inner;
            let span = start + open..start + inner + length + 2;
            if block.first() == Some(&b'#') || block.first() == Some(&b'@') {
                variables.note_numeric(block);
                continue;
            }
            let is_name = |name: &[u8]| {
                let name = name.strip_prefix(b"$").unwrap_or(name);
                name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
                    && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            };
            match memchr::memchr(b':', block) {
                None if is_name(block) => {
                    variables.note_use(block);
                    uses.push((block.to_vec(), span));
                }
                Some(colon) if is_name(&block[..colon]) => {
                    let name = &block[..colon];
                    let before = variables.unused.entry(name.to_vec()).or_default().insert(prefix, start);
                    if before.is_some_and(|before| before != start) {
                        let shown = String::from_utf8_lossy(name).into_owned();
                        let message =
                            format!("{shown} is captured again, though its first value was never used");
                        let help = format!(
                            "write [[{shown}]] to compare with the first value, or take another name"
                        );
                        let fix = Some(format!("[[{shown}]]"));
                        self.add(LintCode::OverwrittenCapture, span, message, help, fix);
                    }
                    variables.set.insert(name.to_vec());
                }
                _ => {}
            }
        }
    }

    /// Words that look like directives but are none.
    fn words(&mut self) {
        let text = self.text;
        let mut start = 0;
        while start < text.len() {
            let line = line_at(text, start);
            if let Some((word, after)) = first_word(line)
                && !self.is_comment(&line[word.clone()], after)
            {
                let span = start + word.start..start + word.end;
                self.word(&line[word], after, span);
            }
            start += line.len() + 1;
        }
    }

    fn is_comment(&self, word: &[u8], after: &[u8]) -> bool {
        after.first() == Some(&b':') && self.comments.iter().any(|comment| comment.as_bytes() == word)
    }

    fn word(&mut self, word: &[u8], after: &[u8], span: Range<usize>) {
        let colon = after.first() == Some(&b':');
        let text = String::from_utf8_lossy(word).into_owned();
        for &prefix in self.prefixes {
            let Some(rest) = word.strip_prefix(prefix.as_bytes()) else { continue };
            if colon
                && matches!(directive::after_check_prefix(&[rest, b":"].concat()), Some((found, _)) if !matches!(found.kind, CheckKind::BadCount | CheckKind::BadNot | CheckKind::Misspelled))
            {
                return;
            }
            let rest = String::from_utf8_lossy(rest).into_owned();
            if colon
                && let Some(at) = rest.find("COUNT")
                && at > 1
                && rest.starts_with('-')
            {
                let message = format!("`{text}` combines COUNT with another suffix");
                let help =
                    format!("write {prefix}-COUNT-n: after the first line is found, or repeat the directive");
                return self.add(LintCode::MisplacedCount, span, message, help, None);
            }
            let suffix = SUFFIXES
                .iter()
                .find(|row| rest.trim_start_matches(['-', '_']).eq_ignore_ascii_case(row.suffix));
            let suffixes: Vec<&str> = rest.trim_start_matches('-').split('-').collect();
            let is_suffix = |word: &&str| SUFFIXES.iter().any(|row| row.suffix == *word);
            if colon && rest.starts_with('-') && suffixes.len() > 1 && suffixes.iter().all(is_suffix) {
                let message = format!("`{text}:` combines suffixes and is not looked at");
                let help = format!("keep one of {}", suffixes.join(", "));
                return self.add(LintCode::MisspeltDirective, span, message, help, None);
            }
            match suffix {
                Some(row) if colon => return self.misspelt(&text, &format!("{prefix}-{}", row.suffix), span),
                Some(row) if rest == format!("-{}", row.suffix) && after.first() == Some(&b' ') => {
                    let message = format!("`{text}` without a colon is no directive");
                    let fix = format!("{text}:");
                    return self.add(
                        LintCode::MissingColon,
                        span,
                        message,
                        format!("write `{fix}`"),
                        Some(fix),
                    );
                }
                _ => {}
            }
        }
        if !colon {
            return;
        }
        // A prefix with a slip of the finger, perhaps with a proper suffix.
        let known: Vec<String> = self
            .prefixes
            .iter()
            .flat_map(|prefix| {
                let suffixed = SUFFIXES.iter().map(move |row| format!("{prefix}-{}", row.suffix));
                std::iter::once((*prefix).to_owned()).chain(suffixed)
            })
            .collect();
        let near = known.iter().find(|known| {
            known.len() >= 4
                && known.as_str() != text
                && (known.eq_ignore_ascii_case(&text) || is_one_slip(known.as_bytes(), word))
        });
        if let Some(near) = near {
            let lower = text.bytes().all(|byte| !byte.is_ascii_uppercase());
            if !lower {
                return self.misspelt(&text, &near.clone(), span);
            }
        }
        if self.usage.calls.is_some_and(|calls| calls > 0)
            && let Some(prefix) = self.foreign_prefix(&text)
        {
            let message = format!("no run uses the prefix {prefix}, so this directive is never looked at");
            let help = format!(
                "add {prefix} to --check-prefixes of a RUN line, or use one of: {}",
                self.prefixes.join(", ")
            );
            self.add(LintCode::UnknownPrefix, span, message, help, None);
        }
    }

    /// The prefix of a word that looks like a directive of a prefix that isn't known: `FOO-NEXT`, or one that begins
    /// like a check prefix, `CHECK-FOO`.
    fn foreign_prefix<'w>(&self, word: &'w str) -> Option<&'w str> {
        let suffixed = SUFFIXES.iter().find_map(|row| word.strip_suffix(row.suffix)?.strip_suffix('-'));
        let begins_alike = || {
            let known = self.prefixes.iter().chain(DEFAULT_CHECK_PREFIXES);
            known
                .filter_map(|prefix| word.strip_prefix(prefix))
                .any(|rest| rest.is_empty() || (rest.starts_with(['-', '_']) && rest.len() > 1))
        };
        let prefix = suffixed.or_else(|| begins_alike().then_some(word))?;
        let plain =
            |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
        let known = self.prefixes.contains(&prefix) || self.comments.contains(&prefix);
        (!prefix.is_empty() && prefix.bytes().all(plain) && !known).then_some(prefix)
    }

    fn misspelt(&mut self, text: &str, right: &str, span: Range<usize>) {
        let message = format!("`{text}:` is not a directive");
        let help = format!("write `{right}:`");
        self.add(LintCode::MisspeltDirective, span, message, help, Some(right.to_owned()));
    }

    fn prefixes_and_calls(&mut self, used: &BTreeMap<&str, Range<usize>>) {
        if self.usage.calls == Some(0)
            && let Some(first) = used.values().min_by_key(|span| span.start)
        {
            let message = "the file has directives, but no RUN line hands it to FileCheck";
            let help = "pipe a command's output into `FileCheck %s`";
            self.add(LintCode::NoChecker, first.clone(), message, help, None);
        }
        let usage = self.usage;
        for prefix in usage.required_prefixes.iter().filter(|prefix| !used.contains_key(prefix.as_str())) {
            let place = memchr::memmem::find(self.text, prefix.as_bytes());
            let first_line = 0..memchr::memchr(b'\n', self.text).unwrap_or(self.text.len());
            let span = place.map_or(first_line, |at| at..at + prefix.len());
            let message = format!("the prefix {prefix} is asked for, but the file has no such directive");
            let help = "remove it from --check-prefixes, or pass --allow-unused-prefixes";
            self.add(LintCode::UnusedPrefix, span, message, help, None);
        }
    }
}

/// Variables met so far.
#[derive(Default)]
struct Variables<'a> {
    /// Set somewhere in the file or on a command line.
    set: BTreeSet<Vec<u8>>,
    /// Captured but not used yet: under which prefix, and the place of the pattern.
    unused: HashMap<Vec<u8>, HashMap<&'a str, usize>>,
}

impl Variables<'_> {
    /// Whatever the prefix: both may be of one run.
    fn note_use(&mut self, name: &[u8]) {
        self.unused.remove(name);
    }

    /// Numeric blocks may set and use variables; they share names with nothing here.
    fn note_numeric(&mut self, block: &[u8]) {
        for word in block.split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))) {
            self.note_use(word);
        }
    }
}

/// The first word of a line that may be a directive, and the text after it.
fn first_word(line: &[u8]) -> Option<(Range<usize>, &[u8])> {
    let start = line.iter().position(|byte| is_part_of_word(*byte))?;
    if !line[..start]
        .iter()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'/' | b'#' | b';' | b'*' | b'<' | b'!'))
    {
        return None;
    }
    let length = line[start..].iter().take_while(|byte| is_part_of_word(**byte)).count();
    // `<!--` and the like begin with dashes.
    let dashes = line[start..].iter().take_while(|byte| **byte == b'-').count();
    let word = start + dashes..start + length;
    if word.is_empty() || word.len() > LONGEST_WORD {
        return None;
    }
    let after = &line[word.end..];
    Some((word, after))
}

/// Whether two words differ by one letter put in, left out, changed, or by two neighbours swapped.
fn is_one_slip(a: &[u8], b: &[u8]) -> bool {
    let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[front..], &b[front..]);
    let back = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - back], &b[..b.len() - back]);
    match (a, b) {
        ([], [_]) | ([_], []) | ([_], [_]) => true,
        ([p, q], [r, s]) => p == s && q == r,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str, usage: &Usage) -> Vec<&'static str> {
        lint(text.as_bytes(), usage).iter().map(|lint| lint.code.name()).collect()
    }

    #[test]
    fn each_lint_finds_its_kind_and_nothing_else() {
        let cases: &[(&str, &[&str])] = &[
            ("// CHECKNEXT: a\n// CHECK: b\n", &["misspelt-directive"]),
            ("// CHCEK: a\n", &["misspelt-directive"]),
            ("// CHECk: a\n", &["misspelt-directive"]),
            ("// CHECK-DAG-SAME: a\n", &["misspelt-directive"]),
            ("// CHECK-NEXT foo\n", &["missing-colon"]),
            ("// CHECK-NEXT-COUNT-2: a\n", &["misplaced-count"]),
            ("// FOO-NEXT: a\n", &[]),
            ("CHECK: a [[x]] b\n", &["literal-brackets"]),
            ("CHECK: g={{0,1},{2,3}}\n", &["literal-braces"]),
            ("CHECK: g={{0}}, h={{1}}\n", &["literal-braces", "literal-braces"]),
            ("CHECK: a={{[0-9]+}} b={{,}} {{0}} c={{[{][{]}}0}}\nCHECK{LITERAL}: g={{0}}\n", &[]),
            ("CHECK: [[x:a]]\nCHECK: [[x:b]]\n", &["overwritten-capture"]),
            ("CHECK: [[x:a]]\nCHECK: [[x]] [[x:b]]\n", &[]),
            ("CHECK: [[x:a]]\nCHECK-LABEL: f\nCHECK: [[x:b]]\n", &[]),
            ("CHECK: {{.*}}\n", &["matches-everything"]),
            ("CHECK: a\nCHECK-NEXT: {{.*}}\n", &[]),
            ("CHECK-LABEL: f\nCHECK: a\nCHECK-LABEL: f\n", &["duplicate-label"]),
            ("CHECK-LABEL: f\n// -----\nCHECK-LABEL: f\n", &[]),
            ("CHECK-LABEL: f\n // -----\nCHECK-LABEL: f\n", &["duplicate-label"]),
            ("CHECK: [[x:a]]\n// ----- \nCHECK: [[x:b]]\n", &[]),
            ("CHECK: ok\nCHECK-COUNT-2: a\nCHECK-SAME{LITERAL}: [[b]]\n", &[]),
            ("COM: CHECKNEXT: a\nplain text: with a colon\nRUN: x | FileCheck %s\nCHECK: a\n", &[]),
            ("CHECK: {{.*}} LINT-OFF(matches-everything)\n", &[]),
            ("// LINT-OFF(duplicate-label, matches-everything)\nCHECK: {{.*}}\n", &[]),
            ("// LINT-OFF(duplicate-label)\nCHECK: {{.*}}\n", &["matches-everything"]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(codes(text, &Usage::default()), *expected, "of {text:?}");
        }
    }

    #[test]
    fn usage_decides_about_prefixes_and_runs() {
        const NONE: [&str; 0] = [];
        let options = MatchOptions { check_prefixes: vec!["FOO".into(), "BAR".into()], ..Default::default() };
        let usage = Usage { calls: Some(1), ..Usage::of_call(&options) };
        assert_eq!(codes("FOO: a\n", &usage), ["unused-prefix"]);
        assert_eq!(codes("FOO: a\nBAR-NEXT: b\n", &usage), NONE);
        assert_eq!(codes("FOO: a\nBAR: b\nCHECK: c\n", &usage), ["unknown-prefix"]);
        assert_eq!(codes("FOO: a\nBAR: b\nFOO-BAZ: c\nNOTE: d\n", &usage), ["unknown-prefix"]);
        assert_eq!(codes("FOO: a\nBAR: b\nQUX-NEXT: c\n", &usage), ["unknown-prefix"]);
        assert_eq!(codes("FOO-LABEL: a\nBAR-LABEL: a\n", &usage), NONE);
        assert_eq!(codes("FOO: [[x:a]]\nBAR: [[x:b]]\nBAR: [[x:c]]\n", &usage), ["overwritten-capture"]);
        let usage = Usage::of_call(&MatchOptions { allow_unused_prefixes: true, ..options });
        assert_eq!(codes("FOO: a\nCHECK: b\n", &usage), NONE);
        let usage = Usage { calls: Some(0), ..Usage::default() };
        assert_eq!(codes("\nCHECK: a\n", &usage), ["no-checker"]);
        assert_eq!(codes("// LINT-OFF(no-checker)\n// CHECK: a\n", &usage), NONE);
        let usage = Usage { defined: vec!["x".into()], ..Usage::default() };
        assert_eq!(codes("CHECK: [[x]]\n", &usage), NONE);
    }

    #[test]
    fn a_fix_replaces_the_span() {
        let text = "// CHECKNEXT: a\n";
        let found = lint(text.as_bytes(), &Usage::default());
        let fixed = format!(
            "{}{}{}",
            &text[..found[0].span.start],
            found[0].fix.as_deref().unwrap_or(""),
            &text[found[0].span.end..]
        );
        assert_eq!(fixed, "// CHECK-NEXT: a\n");
    }

    #[test]
    fn every_lint_has_a_name() {
        let names: BTreeSet<_> = LintCode::all().map(LintCode::name).collect();
        assert_eq!(names.len(), NAMES.len());
    }
}
