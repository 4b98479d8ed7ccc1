//! CHECK lines for an output.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

use hlo_text::diagnostic::Severity;
use hlo_text::format::quoted_length;
use hlo_text::ir::{AttrKey, AttrKind};
use hlo_text::{Module, ParseOptions, VerifyOptions, parse_module, verify};

use regex::Regex;

use super::variables::{Kind, Variables};
use crate::lit::directives::DIRECTIVES;
use crate::opt::split;

/// What a name looks like, for the place where a variable is defined.
const NAME_PATTERN: &str = "[[:alnum:]_.-]+";

/// A directive: what follows the prefix (`:` or `-NEXT:`), and its pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckLine {
    pub(super) suffix: &'static str,
    pub(super) pattern: String,
}

/// What may follow the prefix: the first line of a module, a line that follows the one before, another one.
const SUFFIXES: [&str; 3] = ["-LABEL:", "-NEXT:", ":"];

/// How patterns end: with the line, behind its blanks if it has some.
const LINE_ENDS: [&str; 2] = ["{{$}}", "{{[[:blank:]]*$}}"];

impl CheckLine {
    /// Whether a line could be one of these, by what follows the prefix.
    pub(super) fn is_one(rest: &str) -> bool {
        SUFFIXES.iter().any(|suffix| rest.strip_prefix(suffix).is_some_and(|rest| rest.starts_with(' ')))
            && LINE_ENDS.iter().any(|end| rest.ends_with(end))
    }
}

/// What must not be in patterns as it is.
#[derive(Default)]
pub(super) struct Surroundings {
    /// Folders of the test and of its temporary files.
    folders: Vec<String>,
    /// Prefixes of the test's FileCheck calls.
    prefixes: Vec<String>,
}

impl Surroundings {
    pub(super) fn new<'a>(folders: &[&Path], prefixes: impl Iterator<Item = &'a String>) -> Self {
        let text = |folder: &&Path| format!("{}{}", folder.display(), std::path::MAIN_SEPARATOR);
        let mut folders: Vec<String> = folders.iter().map(text).collect();
        // One may be inside the other.
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        Self { folders, prefixes: prefixes.cloned().collect() }
    }

    /// Words that mean something where a colon follows.
    fn words(&self) -> impl Iterator<Item = &str> {
        let own = self.prefixes.iter().map(String::as_str);
        own.chain(DIRECTIVES.iter().filter_map(|directive| directive.keyword.strip_suffix(':')))
    }

    /// The first folder in `text`: where, and how long its name is.
    fn folder_in(&self, text: &str) -> Option<Range<usize>> {
        let places = self.folders.iter().filter_map(|folder| {
            let at = text.find(folder.as_str())?;
            Some(at..at + folder.len())
        });
        places.min_by_key(|place| (place.start, std::cmp::Reverse(place.end)))
    }

    /// The first colon or dot in `text` that would make a directive of what is before it.
    fn keyword_end(&self, text: &str) -> Option<usize> {
        let colons = text.match_indices(':').map(|(at, _)| at).filter(|&at| {
            let before = &text[..at];
            let unsuffixed = SUFFIX_PATTERN.find(before).map_or(before, |suffix| &before[..suffix.start()]);
            self.words().any(|word| before.ends_with(word) || unsuffixed.ends_with(word))
        });
        let ends = text.find(LIT_END).map(|at| at + LIT_END.len() - 1);
        colons.min().into_iter().chain(ends).min()
    }
}

/// What follows a prefix in a directive.
static SUFFIX_PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    // The pattern is fixed.
    Regex::new(r"-[A-Z]+(-[0-9]+)?(\{LITERAL\})?$").expect("a valid pattern")
});

/// lit's keyword that ends a test.
const LIT_END: &str = "END.";

/// The lines that check `output`.
///
/// # Errors
/// The output can't be checked, and why.
pub(super) fn check_lines(output: &[u8], around: &Surroundings) -> Result<Vec<CheckLine>, String> {
    let text = std::str::from_utf8(output).map_err(|_| "the output isn't UTF-8".to_owned())?;
    if text.trim().is_empty() {
        return Err("there is no output to check".to_owned());
    }
    // Modules after each other, or something else that has no separators.
    let cases = split::cases(output).unwrap_or_default();
    let texts: Vec<&str> = match cases.len() {
        0 | 1 => vec![text],
        _ => cases.iter().filter_map(|case| std::str::from_utf8(case.bytes).ok()).collect(),
    };
    let mut lines = Vec::new();
    for text in texts {
        let patterns = if text.trim_start().starts_with("HloModule") {
            module_patterns(text, &read(text)?, around)
        } else {
            plain_patterns(text, around)
        };
        lines.extend(directives(patterns));
    }
    Ok(lines)
}

/// Reads an output back and verifies it.
fn read(text: &str) -> Result<Module, String> {
    let parsed = parse_module(text, &ParseOptions::default()).map_err(|errors| {
        let first = errors
            .first()
            .map_or(String::new(), |error| format!(": {}: {}", error.code.as_str(), error.message));
        format!("the output isn't HLO that can be read back{first}")
    })?;
    // What the input may have, the output may.
    let rules = VerifyOptions { check_comparison_types: false, ..VerifyOptions::default() };
    let violations = verify(&parsed.module, &rules);
    match violations.iter().find(|violation| violation.severity == Severity::Error) {
        Some(violation) => {
            Err(format!("the output isn't valid: {}: {}", violation.code.as_str(), violation.message))
        }
        None => Ok(parsed.module),
    }
}

/// A line of output as a pattern; `None` for an empty one. `bool`: it begins a module.
type Pattern = Option<(String, bool)>;

fn directives(patterns: Vec<Pattern>) -> Vec<CheckLine> {
    let mut lines = Vec::new();
    let mut follows = false;
    for pattern in patterns {
        match pattern {
            None => follows = false,
            Some((pattern, begins_module)) => {
                let [label, next, plain] = SUFFIXES;
                let suffix = match (begins_module, follows) {
                    (true, _) => label,
                    (false, true) => next,
                    (false, false) => plain,
                };
                lines.push(CheckLine { suffix, pattern });
                follows = true;
            }
        }
    }
    lines
}

/// Patterns for something that isn't HLO: the lines themselves.
fn plain_patterns(text: &str, around: &Surroundings) -> Vec<Pattern> {
    let pattern = |line: &str| {
        let mut out = PatternText::new(around);
        out.literal(line.trim_end());
        (!line.trim().is_empty()).then(|| (out.finish(line.ends_with([' ', '\t'])), false))
    };
    text.lines().map(pattern).collect()
}

/// Patterns for a printed module.
fn module_patterns(text: &str, module: &Module, around: &Surroundings) -> Vec<Pattern> {
    let computations = module.computations();
    let mut writer = ModuleWriter {
        around,
        instructions: computations
            .iter()
            .flat_map(|&id| module.live_instructions(id))
            .map(|id| module.name_of(id))
            .collect(),
        computations: computations.iter().map(|&id| module.computation_name(id)).collect(),
        variables: Variables::new(around.words()),
        defined: HashSet::new(),
        has_percent: text.lines().any(|line| line.starts_with("ENTRY %")),
    };
    writer.variables.reserve(computations.iter().map(|&id| module.computation_name(id)));
    let mut in_header = true;
    let mut in_body = false;
    let mut patterns = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        if line.trim().is_empty() {
            in_header &= patterns.is_empty();
            patterns.push(None);
            continue;
        }
        let begins_module = in_header && line.starts_with("HloModule");
        let is_heading = !in_header && !in_body && line.ends_with('{') && !line.starts_with(' ');
        let pattern = if is_heading {
            in_body = true;
            writer.variables.start_computation();
            writer.heading(line)
        } else if in_body && line.starts_with('}') {
            in_body = false;
            writer.literal(line)
        } else if in_body {
            writer.instruction(line)
        } else {
            writer.literal(line)
        };
        patterns.push(Some((pattern, begins_module)));
    }
    patterns
}

/// Whether an attribute's words name computations.
fn names_computations(key: &str) -> bool {
    AttrKey::ALL.iter().any(|candidate| {
        let info = candidate.info();
        info.name == key && matches!(info.kind, AttrKind::Computation | AttrKind::Computations)
    })
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// What stands first in `text`, as a name, and what follows it.
fn split_name(text: &str) -> (&str, &str) {
    let end = text.find(|c| !is_name_char(c)).unwrap_or(text.len());
    text.split_at(end)
}

struct ModuleWriter<'m> {
    around: &'m Surroundings,
    instructions: HashSet<&'m str>,
    computations: HashSet<&'m str>,
    variables: Variables,
    /// Variables that have a value at this place.
    defined: HashSet<(Kind, String)>,
    /// Names have `%` before them.
    has_percent: bool,
}

impl ModuleWriter<'_> {
    fn literal(&self, line: &str) -> String {
        let mut out = PatternText::new(self.around);
        out.literal(line.trim_start());
        out.finish(false)
    }

    fn name(&mut self, out: &mut PatternText<'_>, kind: Kind, name: &str) {
        let variable = self.variables.of(kind, name);
        if self.defined.insert((kind, name.to_owned())) {
            out.raw(&format!("[[{variable}:{NAME_PATTERN}]]"));
        } else {
            out.raw(&format!("[[{variable}]]"));
        }
    }

    fn has(&self, kind: Kind, name: &str) -> bool {
        match kind {
            Kind::Instruction => self.instructions.contains(name),
            Kind::Computation => self.computations.contains(name),
        }
    }

    /// `ENTRY %main (x: f32[4]) -> f32[] {`
    fn heading(&mut self, line: &str) -> String {
        let mut out = PatternText::new(self.around);
        let mut rest = line;
        if let Some(tail) = rest.strip_prefix("ENTRY ") {
            out.literal("ENTRY ");
            rest = tail;
        }
        if let Some(tail) = rest.strip_prefix('%') {
            out.literal("%");
            rest = tail;
        }
        let (name, tail) = split_name(rest);
        if self.computations.contains(name) {
            self.name(&mut out, Kind::Computation, name);
            rest = tail;
        }
        // Parameters: names before colons, with the shapes' own commas in braces and brackets.
        while !rest.is_empty() {
            let (word, tail) = split_name(rest);
            if !word.is_empty() && tail.starts_with(": ") && self.instructions.contains(word) {
                self.name(&mut out, Kind::Instruction, word);
                rest = tail;
                continue;
            }
            let length =
                if word.is_empty() { rest.chars().next().map_or(0, char::len_utf8) } else { word.len() };
            out.literal(&rest[..length]);
            rest = &rest[length..];
        }
        out.finish(false)
    }

    /// `ROOT %sum = f32[] add(%a, %b), metadata={...}`
    fn instruction(&mut self, line: &str) -> String {
        let mut out = PatternText::new(self.around);
        let mut rest = line.trim_start();
        if let Some(tail) = rest.strip_prefix("ROOT ") {
            out.literal("ROOT ");
            rest = tail;
        }
        let mut key = "";
        // Depth of the parentheses of operands, once the opcode has been passed.
        let mut operands = 0usize;
        let mut seen_operands = false;
        let mut is_first = true;
        let mut takes_names = false;
        while let Some(c) = rest.chars().next() {
            let length = match c {
                '"' => quoted_length(rest),
                '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
                _ => 0,
            };
            if length > 0 {
                out.literal(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            if c == '%' && self.has_percent {
                let (name, tail) = split_name(&rest[1..]);
                let kind = if names_computations(key) { Kind::Computation } else { Kind::Instruction };
                out.literal("%");
                match self.has(kind, name) {
                    true => self.name(&mut out, kind, name),
                    false => out.literal(name),
                }
                (rest, is_first) = (tail, false);
                continue;
            }
            let (word, tail) = split_name(rest);
            if word.is_empty() {
                match c {
                    '(' if operands > 0 => operands += 1,
                    ')' if operands > 0 => operands -= 1,
                    _ => {}
                }
                out.literal(&rest[..c.len_utf8()]);
                rest = &rest[c.len_utf8()..];
                continue;
            }
            if tail.starts_with('=') {
                key = word;
            }
            if tail.starts_with('(') && !seen_operands && !is_first {
                (seen_operands, operands) = (true, 1);
                takes_names = !matches!(word, "parameter" | "constant");
                out.literal(word);
                out.literal("(");
                rest = &tail[1..];
                continue;
            }
            // Where a name can stand, and of what.
            let place = if self.has_percent || tail.starts_with('=') {
                None
            } else if is_first
                || (operands > 0 && takes_names && !tail.starts_with('['))
                || (operands == 0 && key == AttrKey::ControlPredecessors.info().name)
            {
                Some(Kind::Instruction)
            } else {
                (operands == 0 && names_computations(key)).then_some(Kind::Computation)
            };
            let kind = place.filter(|&kind| self.has(kind, word));
            match kind {
                Some(kind) => self.name(&mut out, kind, word),
                None => out.literal(word),
            }
            (rest, is_first) = (tail, false);
        }
        out.finish(false)
    }
}

/// A pattern being written: what must not be taken for regular expressions, variables and directives is made safe.
struct PatternText<'a> {
    around: &'a Surroundings,
    out: String,
    /// Text whose end is not known yet.
    pending: String,
}

impl<'a> PatternText<'a> {
    fn new(around: &'a Surroundings) -> Self {
        Self { around, out: String::new(), pending: String::new() }
    }

    fn literal(&mut self, text: &str) {
        self.pending.push_str(text);
    }

    /// Appends what FileCheck is to understand.
    fn raw(&mut self, text: &str) {
        self.flush();
        self.out.push_str(text);
    }

    fn flush(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let mut rest = pending.as_str();
        while let Some(folder) = self.around.folder_in(rest) {
            self.without_folders(&rest[..folder.start]);
            self.out.push_str("{{.*}}");
            rest = &rest[folder.end..];
        }
        self.without_folders(rest);
    }

    fn without_folders(&mut self, text: &str) {
        let mut rest = text;
        while let Some(end) = self.around.keyword_end(rest) {
            self.brackets(&rest[..end]);
            self.out.push_str("{{[");
            self.out.push_str(&rest[end..end + 1]);
            self.out.push_str("]}}");
            rest = &rest[end + 1..];
        }
        self.brackets(rest);
    }

    /// Appends text with doubled braces and brackets made safe; single ones are harmless unless they are the last before
    /// something that begins with more.
    fn brackets(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(['{', '[']) {
            self.out.push_str(&rest[..at]);
            let bracket = if rest[at..].starts_with('{') { '{' } else { '[' };
            let after = rest[at..].trim_start_matches(bracket);
            let count = rest.len() - at - after.len();
            if count > 1 || after.is_empty() {
                self.out.push_str("{{");
                (0..count).for_each(|_| self.out.extend(['[', bracket, ']']));
                self.out.push_str("}}");
            } else {
                self.out.push(bracket);
            }
            rest = after;
        }
        self.out.push_str(rest);
    }

    /// The pattern, which matches to the end of the line.
    fn finish(mut self, with_blanks: bool) -> String {
        let [plain, behind_blanks] = LINE_ENDS;
        self.raw(if with_blanks { behind_blanks } else { plain });
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(output: &str) -> Vec<String> {
        let prefixes = ["MY-CHECK".to_owned()];
        let around = Surroundings::new(&[Path::new("/dir"), Path::new("/dir/Output")], prefixes.iter());
        let lines = check_lines(output.as_bytes(), &around).expect("it can be checked");
        lines.into_iter().map(|line| format!("{} {}", line.suffix, line.pattern)).collect()
    }

    #[test]
    fn names_become_variables() {
        let module: Module = hlo_text::parse(
            "HloModule m\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT add = f32[] add(a, b)\n}\n\n\
             ENTRY main.5 {\n  x.1 = f32[4] parameter(0)\n  zero = f32[] constant(0)\n  \
             ROOT r = f32[] reduce(x.1, zero), dimensions={0}, to_apply=add, metadata={op_name=\"f(%x.1)\"}\n}\n",
        )
        .expect("HLO");
        let expected = [
            "-LABEL: HloModule m, entry_computation_layout={(f32[4]{0})->f32[]}{{$}}",
            ": %[[ADD:[[:alnum:]_.-]+]] ([[A:[[:alnum:]_.-]+]]: f32[], [[B:[[:alnum:]_.-]+]]: f32[]) -> f32[] {{[{]}}{{$}}",
            "-NEXT: %[[A]] = f32[] parameter(0){{$}}",
            "-NEXT: %[[B]] = f32[] parameter(1){{$}}",
            "-NEXT: ROOT %[[ADD_1:[[:alnum:]_.-]+]] = f32[] add(%[[A]], %[[B]]){{$}}",
            "-NEXT: }{{$}}",
            ": ENTRY %[[MAIN:[[:alnum:]_.-]+]] ([[X:[[:alnum:]_.-]+]]: f32[4]) -> f32[] {{[{]}}{{$}}",
            "-NEXT: %[[X]] = f32[4]{0} parameter(0){{$}}",
            "-NEXT: %[[ZERO:[[:alnum:]_.-]+]] = f32[] constant(0){{$}}",
            "-NEXT: ROOT %[[R:[[:alnum:]_.-]+]] = f32[] reduce(%[[X]], %[[ZERO]]), dimensions={0}, \
             to_apply=%[[ADD]], metadata={op_name=\"f(%x.1)\"}{{$}}",
            "-NEXT: }{{$}}",
        ];
        let found = lines(&module.to_string());
        assert_eq!(found, expected);
    }

    #[test]
    fn names_without_percent_are_found_where_names_can_be() {
        let module: Module = hlo_text::parse(
            "HloModule m\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT add = f32[] add(a, b)\n}\n\n\
             ENTRY main {\n  x = f32[4] parameter(0)\n  dimensions = f32[] constant(0)\n  \
             ROOT r = f32[] reduce(x, dimensions), dimensions={0}, to_apply=add\n}\n",
        )
        .expect("HLO");
        let found = lines(&module.to_text(&hlo_text::PrintOptions::short_parsable()));
        assert_eq!(
            found[1..5],
            [
                ": [[ADD:[[:alnum:]_.-]+]] {{[{]}}{{$}}",
                "-NEXT: [[A:[[:alnum:]_.-]+]] = f32[] parameter(0){{$}}",
                "-NEXT: [[B:[[:alnum:]_.-]+]] = f32[] parameter(1){{$}}",
                "-NEXT: ROOT [[ADD_1:[[:alnum:]_.-]+]] = f32[] add([[A]], [[B]]){{$}}",
            ]
        );
        assert_eq!(
            found[9],
            "-NEXT: ROOT [[R:[[:alnum:]_.-]+]] = f32[] reduce([[X]], [[DIMENSIONS]]), dimensions={0}, \
             to_apply=[[ADD]]{{$}}"
        );
    }

    #[test]
    fn what_filecheck_would_understand_is_made_safe() {
        let pattern = |text: &str| {
            let around = Surroundings::default();
            let mut out = PatternText::new(&around);
            out.literal(text);
            out.finish(false)
        };
        assert_eq!(pattern("groups={{0,1},{2,3}}"), "groups={{[{][{]}}0,1},{2,3}}{{$}}");
        assert_eq!(pattern("a[[b]]"), "a{{[[][[]}}b]]{{$}}");
        assert_eq!(pattern("{[x"), "{[x{{$}}");
        assert_eq!(pattern("x {"), "x {{[{]}}{{$}}");
    }

    #[test]
    fn other_output_is_checked_line_by_line() {
        assert_eq!(
            lines("/dir/test.hlo:3: error /dir/Output/t.tmp\n  more \n\nlast"),
            [": {{.*}}test.hlo:3: error {{.*}}t.tmp{{$}}", "-NEXT:   more{{[[:blank:]]*$}}", ": last{{$}}"]
        );
    }

    #[test]
    fn directives_in_output_are_none_in_patterns() {
        assert_eq!(
            lines("# RUN: at MY-CHECK: MY-CHECK-COUNT-2: x: END.")[0],
            ": # RUN{{[:]}} at MY-CHECK{{[:]}} MY-CHECK-COUNT-2{{[:]}} x: END{{[.]}}{{$}}"
        );
        let module: Module =
            hlo_text::parse("HloModule m\n\nENTRY e {\n  ROOT prerun = f32[2] parameter(0)\n}\n")
                .expect("HLO");
        assert_eq!(
            lines(&module.to_string())[2],
            "-NEXT: ROOT %[[PRERUN_NAME]] = f32[2]{0} parameter(0){{$}}"
        );
    }

    #[test]
    fn what_can_t_be_checked_is_refused() {
        let refused = |output: &[u8]| check_lines(output, &Surroundings::default()).expect_err("it can't");
        assert_eq!(refused(b" \n"), "there is no output to check");
        assert_eq!(refused(b"\xff"), "the output isn't UTF-8");
        assert!(
            refused(b"HloModule m\nENTRY e {").starts_with("the output isn't HLO that can be read back: HLO")
        );
        let invalid = b"HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT n = f32[3] negate(p)\n}";
        assert!(refused(invalid).starts_with("the output isn't valid: HLO1"));
    }

    #[test]
    fn comparisons_of_another_type_can_be_checked() {
        let text = b"HloModule m\nENTRY e {\n  p = u32[] parameter(0)\n  ROOT c = pred[] compare(p, p), direction=LT, type=SIGNED\n}";
        assert!(check_lines(text, &Surroundings::default()).is_ok());
    }
}
