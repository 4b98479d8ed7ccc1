//! The keywords lit finds in test files: `RUN:`, `XFAIL:` and the rest of [`DIRECTIVES`].
//!
//! A keyword counts wherever it stands in a line, without a word boundary on its left; the
//! leftmost one takes the rest of the line.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::boolean_expr::BooleanExpr;

/// What follows a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectiveKind {
    /// A command line; a trailing `\` goes on at the next line with the same keyword.
    Command,
    /// A new substitution `%{name} = value`.
    Define,
    /// A new value for a known substitution.
    Redefine,
    /// A comma-separated list of boolean expressions.
    Conditions(ConditionList),
    /// A number of retries.
    Integer,
    /// Nothing: ends the reading of keywords.
    End,
}

/// The lists of conditions a test can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionList {
    /// The test is expected to fail if any holds (`*` always does).
    XFail,
    /// The test runs only if all hold.
    Requires,
    /// The test doesn't run if any holds.
    Unsupported,
}

/// One keyword.
#[derive(Clone, Copy, Debug)]
pub struct Directive {
    /// Spelling, with its final `:` or `.`.
    pub keyword: &'static str,
    /// What follows it.
    pub kind: DirectiveKind,
}

/// Every keyword lit knows. At one place in a line at most one can match.
pub const DIRECTIVES: [Directive; 8] = [
    Directive { keyword: "RUN:", kind: DirectiveKind::Command },
    Directive { keyword: "XFAIL:", kind: DirectiveKind::Conditions(ConditionList::XFail) },
    Directive { keyword: "REQUIRES:", kind: DirectiveKind::Conditions(ConditionList::Requires) },
    Directive { keyword: "UNSUPPORTED:", kind: DirectiveKind::Conditions(ConditionList::Unsupported) },
    Directive { keyword: "ALLOW_RETRIES:", kind: DirectiveKind::Integer },
    Directive { keyword: "END.", kind: DirectiveKind::End },
    Directive { keyword: "DEFINE:", kind: DirectiveKind::Define },
    Directive { keyword: "REDEFINE:", kind: DirectiveKind::Redefine },
];

static KEYWORDS: LazyLock<Regex> = LazyLock::new(|| {
    let keywords: Vec<String> = DIRECTIVES.iter().map(|directive| regex::escape(directive.keyword)).collect();
    // The pattern is fixed by the table above and checked by the tests below.
    Regex::new(&keywords.join("|")).expect("keywords form a valid pattern")
});

/// A line of the script: something to run, or a change of the substitutions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptLine {
    /// The keyword it was written with.
    pub keyword: &'static str,
    /// Its first line, counted from 1.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// What it says.
    pub body: ScriptBody,
}

/// See [`ScriptLine`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptBody {
    /// A command line with its substitutions not yet made.
    Command(String),
    /// `DEFINE:` (`new`) or `REDEFINE:`.
    Substitution {
        /// Whether the name has to be new, otherwise it has to be known.
        new: bool,
        /// `%{name}`.
        name: String,
        /// The text it stands for.
        value: String,
    },
    /// A definition whose last line ended with `\`.
    Unfinished(String),
}

impl ScriptLine {
    /// `at line 3` or `from line 3 to 5`.
    pub fn location(&self) -> String {
        if self.start_line == self.end_line {
            format!("at line {}", self.start_line)
        } else {
            format!("from line {} to {}", self.start_line, self.end_line)
        }
    }

    fn needs_continuation(&self) -> bool {
        match &self.body {
            ScriptBody::Command(text) => text.ends_with('\\'),
            ScriptBody::Substitution { .. } => false,
            ScriptBody::Unfinished(_) => true,
        }
    }
}

/// Everything the keywords of one file say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestScript {
    /// RUN, DEFINE and REDEFINE lines in the order of the file.
    pub lines: Vec<ScriptLine>,
    /// Conditions of `XFAIL:`.
    pub xfails: Vec<String>,
    /// Conditions of `REQUIRES:`.
    pub requires: Vec<String>,
    /// Conditions of `UNSUPPORTED:`.
    pub unsupported: Vec<String>,
    /// Number of `ALLOW_RETRIES:`.
    pub allowed_retries: Option<u32>,
    /// Where `END.` stands, if it does: what follows is not the test's own.
    pub end: Option<usize>,
}

impl TestScript {
    /// Whether there is anything to run.
    pub fn has_commands(&self) -> bool {
        self.lines.iter().any(|line| matches!(line.body, ScriptBody::Command(_)))
    }
}

/// Reads the keywords of a test file.
///
/// # Errors
/// A message in lit's words that ends with the directive and the line at fault. The caller makes
/// the test UNRESOLVED.
pub fn parse(source: &[u8]) -> Result<TestScript, String> {
    let mut reader = Reader::default();
    let mut line = 1u32;
    let mut counted = 0;
    let mut at = 0;
    while let Some(found) = KEYWORDS.find_at(source, at) {
        line += memchr::memchr_iter(b'\n', &source[counted..found.start()]).count() as u32;
        counted = found.start();
        let end =
            memchr::memchr(b'\n', &source[found.end()..]).map_or(source.len(), |length| found.end() + length);
        at = (end + 1).min(source.len());
        let Some(directive) =
            DIRECTIVES.iter().find(|directive| directive.keyword.as_bytes() == found.as_bytes())
        else {
            continue;
        };
        let text = std::str::from_utf8(&source[found.end()..end]).map_err(|error| {
            format!(
                "text is not UTF-8 (byte {} after the keyword)\nin {} directive on test line {line}",
                error.valid_up_to(),
                directive.keyword
            )
        })?;
        let go_on = reader.directive(directive, line, text.trim_end_matches('\r')).map_err(|message| {
            format!("{message}\nin {} directive on test line {line}", directive.keyword)
        })?;
        if !go_on {
            reader.script.end = Some(found.start());
            break;
        }
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    script: TestScript,
    retries_seen: usize,
}

impl Reader {
    /// Takes in one directive; false after `END.`.
    fn directive(&mut self, directive: &Directive, line: u32, text: &str) -> Result<bool, String> {
        match directive.kind {
            DirectiveKind::Command => self.command(directive.keyword, line, text),
            DirectiveKind::Define => self.definition(directive.keyword, line, text, true)?,
            DirectiveKind::Redefine => self.definition(directive.keyword, line, text, false)?,
            DirectiveKind::Conditions(list) => self.conditions(list, text)?,
            DirectiveKind::Integer => self.retries(text)?,
            DirectiveKind::End => return Ok(!text.trim().is_empty()),
        }
        Ok(true)
    }

    fn command(&mut self, keyword: &'static str, line: u32, text: &str) {
        let text = substitute_line_numbers(line, text);
        let text = text.trim_end();
        if let Some(last) = self.script.lines.last_mut()
            && last.keyword == keyword
            && let ScriptBody::Command(command) = &mut last.body
            && command.ends_with('\\')
        {
            command.pop();
            command.push_str(text);
            last.end_line = line;
            return;
        }
        let body = ScriptBody::Command(text.to_owned());
        self.script.lines.push(ScriptLine { keyword, start_line: line, end_line: line, body });
    }

    fn definition(&mut self, keyword: &'static str, line: u32, text: &str, new: bool) -> Result<(), String> {
        let text = substitute_line_numbers(line, text);
        if let Some(last) = self.script.lines.last_mut()
            && last.keyword == keyword
            && let ScriptBody::Unfinished(begun) = &last.body
        {
            if text.trim().is_empty() {
                return Err("Substitution's continuation is empty".to_owned());
            }
            let begun = begun.trim_end().trim_end_matches('\\').trim_end();
            let joined = format!("{begun} {}", text.trim_start());
            last.end_line = line;
            last.body = definition_body(joined, new)?;
            return Ok(());
        }
        let body = definition_body(text, new)?;
        self.script.lines.push(ScriptLine { keyword, start_line: line, end_line: line, body });
        Ok(())
    }

    fn conditions(&mut self, list: ConditionList, text: &str) -> Result<(), String> {
        let conditions = match list {
            ConditionList::XFail => &mut self.script.xfails,
            ConditionList::Requires => &mut self.script.requires,
            ConditionList::Unsupported => &mut self.script.unsupported,
        };
        let mut parts = text.split(',').map(str::trim).filter(|part| !part.is_empty()).peekable();
        if let Some(last) = conditions.last_mut()
            && last.ends_with('\\')
        {
            let Some(part) = parts.next() else {
                return Err("condition's continuation is empty".to_owned());
            };
            last.pop();
            last.push_str(part);
        }
        conditions.extend(parts.map(str::to_owned));
        for condition in conditions.iter() {
            if condition != "*" && !condition.ends_with('\\') {
                BooleanExpr::parse(condition)?;
            }
        }
        Ok(())
    }

    fn retries(&mut self, text: &str) -> Result<(), String> {
        let number: u32 = text
            .trim()
            .parse()
            .map_err(|_| format!("INTEGER parser requires the input to be an integer (got {text})"))?;
        self.retries_seen += 1;
        self.script.allowed_retries.get_or_insert(number);
        Ok(())
    }

    fn finish(self) -> Result<TestScript, String> {
        let script = self.script;
        if !script.has_commands() {
            return Err("Test has no 'RUN:' line".to_owned());
        }
        if let Some(line) = script.lines.iter().find(|line| line.needs_continuation()) {
            return Err(format!(
                "Test has unterminated '{}' directive (with '\\') {}",
                line.keyword,
                line.location()
            ));
        }
        for directive in DIRECTIVES {
            let DirectiveKind::Conditions(list) = directive.kind else { continue };
            let conditions = match list {
                ConditionList::XFail => &script.xfails,
                ConditionList::Requires => &script.requires,
                ConditionList::Unsupported => &script.unsupported,
            };
            if conditions.last().is_some_and(|last| last.ends_with('\\')) {
                return Err(format!("Test has unterminated '{}' lines (with '\\')", directive.keyword));
            }
        }
        if self.retries_seen > 1 {
            return Err("Test has more than one ALLOW_RETRIES lines".to_owned());
        }
        Ok(script)
    }
}

fn definition_body(text: String, new: bool) -> Result<ScriptBody, String> {
    if text.trim_end().ends_with('\\') {
        return Ok(ScriptBody::Unfinished(text));
    }
    let Some((name, value)) = text.split_once('=') else {
        return Err("Substitution's definition does not contain '='".to_owned());
    };
    let (name, value) = (name.trim(), value.trim());
    if !is_substitution_name(name) {
        let mut message = String::new();
        // The sentence is long; writing to a String can't fail.
        let _ = write!(
            message,
            "Substitution name '{name}' is malformed as it must start with '%{{', it must end with \
             '}}', and the rest must start with a letter or underscore and contain only \
             alphanumeric characters, hyphens, underscores, and colons"
        );
        return Err(message);
    }
    Ok(ScriptBody::Substitution { new, name: name.to_owned(), value: value.to_owned() })
}

/// Whether `name` has the form `%{name}` that DEFINE, REDEFINE and lit.toml accept.
pub fn is_substitution_name(name: &str) -> bool {
    let Some(inner) = name.strip_prefix("%{").and_then(|rest| rest.strip_suffix('}')) else {
        return false;
    };
    let mut chars = inner.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}

/// Replaces `%(line)`, `%(line+N)` and `%(line-N)` by the number of the line they stand on.
fn substitute_line_numbers(line: u32, text: &str) -> String {
    const OPEN: &str = "%(line";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(OPEN) {
        out.push_str(&rest[..at]);
        let tail = &rest[at + OPEN.len()..];
        match line_expression(line, tail) {
            Some((number, length)) => {
                out.push_str(&number.to_string());
                rest = &tail[length..];
            }
            None => {
                out.push_str(OPEN);
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Reads `)`, `+N)` or `-N)`; gives the number meant and the length read.
fn line_expression(line: u32, tail: &str) -> Option<(i64, usize)> {
    if tail.starts_with(')') {
        return Some((i64::from(line), 1));
    }
    let after_blanks = tail.trim_start_matches(' ');
    let sign = match after_blanks.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits_on = after_blanks[1..].trim_start_matches(' ');
    let count = digits_on.bytes().take_while(u8::is_ascii_digit).count();
    let number: i64 = digits_on[..count].parse().ok()?;
    let end = digits_on[count..].strip_prefix(')')?;
    let value = i64::from(line).checked_add(sign * number)?;
    Some((value, tail.len() - end.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(source: &str) -> Vec<(u32, u32, String)> {
        parse(source.as_bytes())
            .expect(source)
            .lines
            .into_iter()
            .map(|line| match line.body {
                ScriptBody::Command(text) => (line.start_line, line.end_line, text),
                other => (line.start_line, line.end_line, format!("{other:?}")),
            })
            .collect()
    }

    #[track_caller]
    fn check_error(source: &str, expected: &str) {
        assert_eq!(parse(source.as_bytes()).expect_err(source), expected);
    }

    #[test]
    fn run_lines() {
        assert_eq!(
            commands("// RUN: a b \\\r\n// RUN:   c\n\nxRUN: d"),
            [(1, 2, " a b    c".to_owned()), (4, 4, " d".to_owned())]
        );
        assert_eq!(commands("RUN: RUN: x XFAIL: y\n"), [(1, 1, " RUN: x XFAIL: y".to_owned())]);
        check_error("run: x\nRUN-NOT: y\n", "Test has no 'RUN:' line");
    }

    #[test]
    fn line_numbers() {
        assert_eq!(
            commands("\nRUN: %(line) %(line+2) %(line - 1) %(line*2) %(line\\\nRUN: %(line)"),
            [(2, 3, " 2 4 1 %(line*2) %(line 3".to_owned())]
        );
    }

    #[test]
    fn continuation_is_per_directive() {
        check_error(
            "RUN: a \\\nDEFINE: %{x} = y\nRUN: b\n",
            "Test has unterminated 'RUN:' directive (with '\\') at line 1",
        );
        check_error(
            "RUN: a\nRUN: b \\\nRUN: c \\\n",
            "Test has unterminated 'RUN:' directive (with '\\') from line 2 to 3",
        );
        check_error("RUN: a\nXFAIL: b \\\n", "Test has unterminated 'XFAIL:' lines (with '\\')");
    }

    #[test]
    fn definitions() {
        let script = parse(b"DEFINE: %{a} = x \\\nDEFINE:   y\nREDEFINE: %{b:c}==z\nRUN: a").unwrap();
        let body = |new, name: &str, value: &str| ScriptBody::Substitution {
            new,
            name: name.to_owned(),
            value: value.to_owned(),
        };
        assert_eq!(script.lines[0].body, body(true, "%{a}", "x y"));
        assert_eq!(script.lines[1].body, body(false, "%{b:c}", "=z"));
        check_error(
            "DEFINE: %{a}\nRUN: a",
            "Substitution's definition does not contain '='\nin DEFINE: directive on test line 1",
        );
        check_error(
            "DEFINE: %{a} = \\\nDEFINE: \nRUN: a",
            "Substitution's continuation is empty\nin DEFINE: directive on test line 2",
        );
        for name in ["%a", "%{1}", "%{}", "%{a.b}", "a"] {
            let error = parse(format!("DEFINE: {name} = x\nRUN: a").as_bytes()).unwrap_err();
            assert!(error.starts_with(&format!("Substitution name '{name}' is malformed")));
        }
    }

    #[test]
    fn conditions() {
        let script = parse(b"XFAIL: *, a && \\\nXFAIL: b\nREQUIRES: c,,d\nRUN: x").unwrap();
        assert_eq!(script.xfails, ["*", "a && b"]);
        assert_eq!(script.requires, ["c", "d"]);
        check_error(
            "REQUIRES: a b\nRUN: x",
            "expected: <end of expression>\nhave: 'b'\nin expression: 'a b'\n\
             in REQUIRES: directive on test line 1",
        );
    }

    #[test]
    fn retries_and_end() {
        assert_eq!(parse(b"ALLOW_RETRIES: 3\nRUN: a").unwrap().allowed_retries, Some(3));
        check_error(
            "ALLOW_RETRIES: 3\nALLOW_RETRIES: 3\nRUN: a",
            "Test has more than one ALLOW_RETRIES lines",
        );
        check_error(
            "ALLOW_RETRIES: x\nRUN: a",
            "INTEGER parser requires the input to be an integer (got  x)\n\
             in ALLOW_RETRIES: directive on test line 1",
        );
        assert_eq!(commands("RUN: a\nEND. not yet\nRUN: b\nEND. \nRUN: c").len(), 2);
    }

    #[test]
    fn text_must_be_utf8_in_directives_only() {
        assert!(parse(b"\xff\nRUN: a\n").is_ok());
        assert!(parse(b"RUN: a \xff\n").unwrap_err().starts_with("text is not UTF-8 (byte 3"));
    }

    #[test]
    fn every_keyword_is_found() {
        for directive in DIRECTIVES {
            let found = KEYWORDS.find(directive.keyword.as_bytes()).expect(directive.keyword);
            assert_eq!(found.as_bytes(), directive.keyword.as_bytes());
        }
    }
}
