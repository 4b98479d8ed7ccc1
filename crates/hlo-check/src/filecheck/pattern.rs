//! Patterns: what follows a directive, parsed once and matched against the input.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::diagnostic::{Code, Diagnostic, Report, join};
use super::directive::{CheckKind, CheckType};
use super::matcher::Session;
use super::numeric::{Evaluation, Expression, parse_block, parse_variable};
use super::options::MatchOptions;
use super::regex::{self, MAX_MATCH_STEPS, Regex, RegexError, StepLimitReached};
use super::source::{Loc, SourceMap, Span};
use super::text::Piece;
use super::variables::{NumericId, Variables};

/// Largest back-reference POSIX has.
const MAX_BACK_REFERENCE: u32 = 9;

/// What is put into a pattern just before it is matched.
#[derive(Clone, Debug)]
pub enum Value {
    /// The value of the string variable.
    String,
    /// The value of the expression.
    Number(Expression),
}

/// A place where a value goes.
#[derive(Clone, Debug)]
pub struct Substitution {
    /// The text of the block in the check file; a variable's name for strings.
    pub from: Span,
    value: Value,
    /// Offset in the regular expression.
    at: usize,
}

impl Substitution {
    /// The regular expression that matches the value.
    ///
    /// # Errors
    /// Undefined variables, overflow.
    pub fn resolve(&self, sources: &SourceMap, variables: &Variables) -> Result<Vec<u8>, Vec<Evaluation>> {
        match &self.value {
            Value::String => {
                let name = sources.slice(self.from);
                let Some(value) = variables.string(name) else {
                    return Err(vec![Evaluation::Undefined(self.from)]);
                };
                let mut out = Vec::new();
                regex::escape_into(&mut out, sources.slice(value));
                Ok(out)
            }
            Value::Number(expression) => {
                let value = expression.evaluate(variables)?;
                let text = expression.format.write(&value).ok_or_else(|| vec![Evaluation::Overflow])?;
                Ok(text.into_bytes())
            }
        }
    }
}

/// A numeric variable a pattern defines.
pub(super) struct NumericDefinition {
    name: Vec<u8>,
    pub(super) id: NumericId,
    group: u32,
}

impl NumericDefinition {
    pub(super) fn name(&self) -> &Vec<u8> {
        &self.name
    }
}

/// Why a check file cannot be used; messages have been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseFailure {
    /// An ordinary error: exit status 2.
    Malformed,
    /// LLVM leaves with status 1 at once for an unbalanced `]` in a substitution block.
    Exit,
}

/// A pattern.
pub struct Pattern {
    /// The directive.
    pub check: CheckType,
    /// Where the pattern's text starts.
    pub loc: Loc,
    /// The text to find, when there is nothing to interpret; else empty.
    pub(super) fixed: Vec<u8>,
    /// The regular expression without the substitutions.
    pub(super) regex: Vec<u8>,
    pub(super) substitutions: Vec<Substitution>,
    /// String variables it defines, with their groups.
    pub(super) strings: BTreeMap<Vec<u8>, u32>,
    pub(super) numerics: Vec<NumericDefinition>,
    line: Option<usize>,
    ignore_case: bool,
    /// The text in the check file.
    text: Span,
    /// Ends of the parts read so far: in the regular expression, and in the check file.
    parts: Vec<(usize, usize)>,
    compiled: OnceCell<Option<Rc<Regex>>>,
}

/// Why a pattern has no match.
#[derive(Debug)]
pub enum NoMatch {
    /// There is none.
    NotFound,
    /// It could not be tried.
    Faults(Vec<Diagnostic>),
}

impl Pattern {
    /// An empty pattern for a directive on `line` of the check file.
    #[must_use]
    pub fn new(check: CheckType, line: Option<usize>, loc: Loc) -> Self {
        Self {
            check,
            loc,
            fixed: Vec::new(),
            regex: Vec::new(),
            substitutions: Vec::new(),
            strings: BTreeMap::new(),
            numerics: Vec::new(),
            line,
            ignore_case: false,
            text: Span { buffer: loc.buffer, start: loc.offset, end: loc.offset },
            parts: Vec::new(),
            compiled: OnceCell::new(),
        }
    }

    /// Whether it uses or defines variables as LABEL forbids (numeric definitions are allowed there).
    #[must_use]
    pub fn has_variable(&self) -> bool {
        !(self.substitutions.is_empty() && self.strings.is_empty())
    }

    /// The text a fuzzy match is measured against.
    pub(super) fn example(&self) -> &[u8] {
        if self.fixed.is_empty() { &self.regex } else { &self.fixed }
    }

    /// The pattern's text in the check file.
    #[must_use]
    pub fn text(&self) -> Span {
        self.text
    }

    /// Reads the pattern's text. After an error, what was read so far stays.
    ///
    /// # Errors
    /// Malformed patterns; the message is in `report`.
    pub(super) fn parse(
        &mut self,
        text: Piece<'_>,
        prefix: &str,
        options: &MatchOptions,
        variables: &mut Variables,
        report: &mut Report,
    ) -> Result<(), ParseFailure> {
        let full_lines = options.match_full_lines && self.check.kind != CheckKind::Not;
        self.ignore_case = options.ignore_case;
        self.loc = text.loc();
        let mut text = text;
        if !(options.strict_whitespace && options.match_full_lines) {
            text = text.trim_end_blanks();
        }
        self.text = text.span();
        let empty = self.check.kind == CheckKind::Empty;
        if text.is_empty() && !empty {
            let message = format!("found empty check string with prefix '{prefix}:'");
            return Err(malformed(report, self.loc, message));
        }
        if !text.is_empty() && empty {
            let message = format!("found non-empty check string for empty check with prefix '{prefix}:'");
            return Err(malformed(report, self.loc, message));
        }
        if empty {
            self.regex.extend_from_slice(b"(\n$)");
            return Ok(());
        }
        let plain =
            text.bytes().len() < 2 || (text.find_bytes(b"{{").is_none() && text.find_bytes(b"[[").is_none());
        if self.check.literal || (!full_lines && plain) {
            self.fixed = text.bytes().to_vec();
            return Ok(());
        }
        if full_lines {
            self.regex.extend_from_slice(if options.strict_whitespace { b"^" } else { b"^ *" });
        }
        self.parts.push((self.regex.len(), text.span().start));
        // Group 0 is the whole match.
        let mut group = 1;
        while !text.is_empty() {
            if text.bytes().starts_with(b"{{") {
                text = self.parse_regex(text, &mut group, report)?;
            } else if text.bytes().starts_with(b"[[") && !text.bytes().starts_with(b"[[[") {
                // Of three brackets the first is itself.
                text = self.parse_substitution(text, &mut group, variables, report)?;
            } else {
                let rest = text.drop_front(1);
                let next = |bytes| rest.find_bytes(bytes).map_or(text.bytes().len(), |at| at + 1);
                let end = next(b"{{").min(next(b"[["));
                regex::escape_into(&mut self.regex, text.take_front(end).bytes());
                text = text.drop_front(end);
            }
            self.parts.push((self.regex.len(), text.span().start));
        }
        if full_lines {
            self.regex.extend_from_slice(if options.strict_whitespace { b"$" } else { b" *$" });
        }
        Ok(())
    }

    /// `{{regex}}`
    fn parse_regex<'a>(
        &mut self,
        text: Piece<'a>,
        group: &mut u32,
        report: &mut Report,
    ) -> Result<Piece<'a>, ParseFailure> {
        let Some(end) = text.find_bytes(b"}}") else {
            let message = "found start of regex string with no end '}}'";
            return Err(malformed(report, text.loc(), message));
        };
        // An alternation must not reach beyond the braces. LLVM looks for the bar in the whole rest.
        let enclose = text.find(b'|').is_some();
        if enclose {
            self.regex.push(b'(');
            *group += 1;
        }
        let inner = text.drop_front(2).take_front(end - 2);
        self.add_regex(inner.bytes(), inner.loc(), group, report)?;
        if enclose {
            self.regex.push(b')');
        }
        Ok(text.drop_front(end + 2))
    }

    fn add_regex(
        &mut self,
        text: &[u8],
        loc: Loc,
        group: &mut u32,
        report: &mut Report,
    ) -> Result<(), ParseFailure> {
        match regex::group_count(text) {
            Ok(groups) => {
                self.regex.extend_from_slice(text);
                *group += groups;
                Ok(())
            }
            Err(error) => Err(malformed(report, loc, format!("invalid regex: {error}"))),
        }
    }

    /// `[[VAR]]`, `[[VAR:regex]]`, `[[#expression]]`, `[[@LINE+n]]`
    fn parse_substitution<'a>(
        &mut self,
        text: Piece<'a>,
        group: &mut u32,
        variables: &mut Variables,
        report: &mut Report,
    ) -> Result<Piece<'a>, ParseFailure> {
        let unparsed = text.drop_front(2);
        let Some(end) = find_block_end(unparsed, report)? else {
            return Err(malformed(report, text.loc(), "Invalid substitution block, no ]] found"));
        };
        let mut block = unparsed.take_front(end);
        let rest = unparsed.drop_front(end + 2);
        if block.eat(b"#") {
            self.parse_number(block, false, group, variables, report)?;
            return Ok(rest);
        }
        let whole = block;
        let colon = block.find(b':');
        let head = colon.map_or(block, |colon| block.take_front(colon));
        if let Some(space) = head.bytes().iter().position(|byte| matches!(byte, b' ' | b'\t')) {
            return Err(malformed(report, block.drop_front(space).loc(), "unexpected whitespace"));
        }
        let variable = parse_variable(&mut block).map_err(|errors| {
            report.push_logged(errors);
            ParseFailure::Malformed
        })?;
        let name = variable.name;
        if colon.is_some() {
            if variable.is_pseudo || !block.eat(b":") {
                let message = "invalid name in string variable definition";
                return Err(malformed(report, name.loc(), message));
            }
            if variables.numeric(name.bytes()).is_some() {
                let message = join(&[b"numeric variable with name '", name.bytes(), b"' already exists"]);
                return Err(malformed(report, name.loc(), message));
            }
            self.regex.push(b'(');
            self.strings.insert(name.bytes().to_vec(), *group);
            variables.name_string(name.bytes());
            *group += 1;
            if !block.is_empty() {
                self.add_regex(block.bytes(), block.loc(), group, report)?;
            }
            self.regex.push(b')');
        } else if variable.is_pseudo {
            self.parse_number(whole, true, group, variables, report)?;
        } else if !block.is_empty() {
            return Err(malformed(report, name.loc(), "invalid name in string variable use"));
        } else if let Some(&defined) = self.strings.get(name.bytes()) {
            // Defined earlier on this line: a back-reference.
            if !(1..=MAX_BACK_REFERENCE).contains(&defined) {
                let message = "Can't back-reference more than 9 variables";
                return Err(malformed(report, name.loc(), message));
            }
            self.regex.push(b'\\');
            self.regex.push(b'0' + defined as u8);
        } else {
            let at = self.regex.len();
            self.substitutions.push(Substitution { from: name.span(), value: Value::String, at });
        }
        Ok(rest)
    }

    fn parse_number(
        &mut self,
        block: Piece<'_>,
        legacy_line: bool,
        group: &mut u32,
        variables: &mut Variables,
        report: &mut Report,
    ) -> Result<(), ParseFailure> {
        let parsed = parse_block(block, legacy_line, self.line, variables).map_err(|errors| {
            report.push_logged(errors);
            ParseFailure::Malformed
        })?;
        if let Some((name, id)) = parsed.defines {
            self.regex.push(b'(');
            self.numerics.retain(|definition| definition.name != name.bytes());
            self.numerics.push(NumericDefinition { name: name.bytes().to_vec(), id, group: *group });
            variables.name_numeric(name.bytes(), id);
            *group += 1;
        }
        if parsed.expression.is_empty() {
            let wildcard = parsed.expression.format.wildcard();
            self.add_regex(wildcard.as_bytes(), block.loc(), group, report)?;
        } else {
            let at = self.regex.len();
            let value = Value::Number(parsed.expression);
            self.substitutions.push(Substitution { from: block.span(), value, at });
        }
        if parsed.defines.is_some() {
            self.regex.push(b')');
        }
        Ok(())
    }

    /// Finds the pattern in `region` of the input and sets the variables it defines.
    ///
    /// # Errors
    /// See [`NoMatch`].
    pub(super) fn find(&self, session: &mut Session<'_>, region: Span) -> Result<Span, NoMatch> {
        let at = |start, end| Span { buffer: region.buffer, start, end };
        if self.check.kind == CheckKind::Eof {
            return Ok(at(region.end, region.end));
        }
        let sources = session.sources;
        let text = sources.slice(region);
        if !self.fixed.is_empty() {
            let found = if self.ignore_case {
                find_ignoring_case(text, &self.fixed)
            } else {
                session.find_literal(&self.fixed, region)
            };
            let start = region.start + found.ok_or(NoMatch::NotFound)?;
            return Ok(at(start, start + self.fixed.len()));
        }
        let regex = self.regex_for(session)?.ok_or(NoMatch::NotFound)?;
        let want_groups = !(self.strings.is_empty() && self.numerics.is_empty());
        let found = session.find_regex(&regex, region, want_groups);
        let found = match found {
            Ok(Some(found)) => found,
            Ok(None) => return Err(NoMatch::NotFound),
            Err(StepLimitReached) => return Err(self.too_costly()),
        };
        let group = |number: u32| {
            let (start, end) = found.groups.get(number as usize).copied().flatten().unwrap_or_default();
            at(region.start + start, region.start + end)
        };
        for (name, &number) in &self.strings {
            session.variables.set_string(name, group(number));
        }
        for definition in &self.numerics {
            let text = group(definition.group);
            let value = session.variables.format(definition.id).read(sources.slice(text));
            session.variables.set_numeric(definition.id, value, Some(text));
        }
        // An EMPTY pattern matches the line end before the empty line too, which is not counted.
        let skip = usize::from(self.check.kind == CheckKind::Empty);
        Ok(at(region.start + found.start + skip, region.start + found.end))
    }

    /// The parts of the pattern from its start on, shortest first, each a regular expression of its own;
    /// literal text ends after each byte. `None` when a substitution has no value.
    pub(super) fn prefixes(&self, session: &Session<'_>) -> Option<Vec<Prefix>> {
        let sources = session.sources;
        let upto = |end| Span { end, ..self.text };
        let mut prefixes = Vec::new();
        let mut regex = Vec::new();
        if !self.fixed.is_empty() {
            let text = &self.fixed[..self.fixed.len().min(LONGEST_PREFIX)];
            add_bytes(&mut prefixes, &mut regex, upto(self.text.start), text);
            return Some(prefixes);
        }
        let (first, _) = *self.parts.first()?;
        regex.extend_from_slice(&self.regex[..first]);
        let mut substitutions = self.substitutions.iter().peekable();
        for pair in self.parts.windows(2) {
            let ((from, start), (to, end)) = (pair[0], pair[1]);
            if prefixes.len() > LONGEST_PREFIX {
                break;
            }
            let text = sources.slice(Span { start, end, ..self.text });
            if !text.starts_with(b"{{") && (!text.starts_with(b"[[") || text.starts_with(b"[[[")) {
                add_bytes(&mut prefixes, &mut regex, upto(start), text);
                continue;
            }
            let mut copied = from;
            while let Some(substitution) = substitutions.next_if(|next| next.from.start < end) {
                regex.extend_from_slice(&self.regex[copied..substitution.at]);
                copied = substitution.at;
                regex.extend(substitution.resolve(sources, &session.variables).ok()?);
            }
            regex.extend_from_slice(&self.regex[copied..to]);
            prefixes.push(Prefix { regex: regex.clone(), pattern: upto(end) });
        }
        Some(prefixes)
    }

    fn too_costly(&self) -> NoMatch {
        let message = format!("matching gave up after {MAX_MATCH_STEPS} steps; simplify the pattern");
        NoMatch::Faults(vec![Diagnostic::error(Code::StepLimit, self.loc, message)])
    }

    /// The regular expression to match now. `None`: the parts do not make a valid one together, which
    /// LLVM treats as not found.
    fn regex_for(&self, session: &mut Session<'_>) -> Result<Option<Rc<Regex>>, NoMatch> {
        if self.substitutions.is_empty() {
            let mut compile = || session.regexes.get(&self.regex, self.ignore_case);
            return self.checked(self.compiled.get_or_init(|| compile().ok()).clone());
        }
        if let Some(line) = self.line {
            session.variables.set_line(line);
        }
        let mut text = Vec::with_capacity(self.regex.len() + 32);
        let mut copied = 0;
        let mut faults = Vec::new();
        for substitution in &self.substitutions {
            text.extend_from_slice(&self.regex[copied..substitution.at]);
            copied = substitution.at;
            match substitution.resolve(session.sources, &session.variables) {
                Ok(value) => text.extend_from_slice(&value),
                Err(errors) => faults.extend(errors.into_iter().map(|error| match error {
                    Evaluation::Undefined(name) => {
                        let message = join(&[b"undefined variable: ", session.sources.slice(name)]);
                        Diagnostic::error(Code::Substitution, name.loc(), message)
                    }
                    Evaluation::Overflow => Diagnostic::error(
                        Code::Substitution,
                        substitution.from.loc(),
                        "unable to substitute variable or numeric expression: overflow error",
                    ),
                })),
            }
        }
        if !faults.is_empty() {
            return Err(NoMatch::Faults(faults));
        }
        text.extend_from_slice(&self.regex[copied..]);
        match session.regexes.get(&text, self.ignore_case) {
            Ok(regex) => Ok(Some(regex)),
            Err(RegexError::TooLarge) => Err(self.too_costly()),
            Err(_) => Ok(None),
        }
    }

    fn checked(&self, regex: Option<Rc<Regex>>) -> Result<Option<Rc<Regex>>, NoMatch> {
        match regex {
            Some(regex) => Ok(Some(regex)),
            None if regex::group_count(&self.regex) == Err(RegexError::TooLarge) => Err(self.too_costly()),
            None => Ok(None),
        }
    }
}

/// The beginning of a pattern as an expression of its own.
pub(super) struct Prefix {
    pub(super) regex: Vec<u8>,
    pub(super) pattern: Span,
}

/// Longer patterns are not followed byte by byte to their end.
const LONGEST_PREFIX: usize = 1 << 10;

/// Adds a prefix for each further byte of literal text; `before` is the part of the pattern up to it.
fn add_bytes(prefixes: &mut Vec<Prefix>, regex: &mut Vec<u8>, before: Span, text: &[u8]) {
    for (index, byte) in text.iter().enumerate() {
        regex::escape_into(regex, &[*byte]);
        prefixes
            .push(Prefix { regex: regex.clone(), pattern: Span { end: before.end + index + 1, ..before } });
    }
}

fn malformed(report: &mut Report, loc: Loc, message: impl Into<Vec<u8>>) -> ParseFailure {
    report.push(Diagnostic::error(Code::Malformed, loc, message));
    ParseFailure::Malformed
}

/// The offset of the `]]` that ends a block; brackets inside nest, backslashes escape.
fn find_block_end(text: Piece<'_>, report: &mut Report) -> Result<Option<usize>, ParseFailure> {
    let bytes = text.bytes();
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if depth == 0 && bytes[at..].starts_with(b"]]") {
            return Ok(Some(at));
        }
        match byte {
            b'\\' => at += 1,
            b'[' => depth += 1,
            b']' if depth == 0 => {
                let message = "missing closing \"]\" for regex variable";
                report.push(Diagnostic::error(Code::Malformed, text.drop_front(at).loc(), message));
                return Err(ParseFailure::Exit);
            }
            b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Ok(None)
}

/// The first place where `needle` stands, whatever the case of ASCII letters.
fn find_ignoring_case(text: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let last_start = text.len().checked_sub(needle.len())?;
    let starts = &text[..=last_start];
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), starts)
        .find(|&at| text[at..at + needle.len()].eq_ignore_ascii_case(needle))
}
