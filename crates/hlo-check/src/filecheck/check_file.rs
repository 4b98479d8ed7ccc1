//! Reading a check file: from text to the list of checks.

use std::collections::BTreeSet;

use super::diagnostic::{Code, Diagnostic, Report, join};
use super::directive::{self, CheckKind, CheckType, is_part_of_word};
use super::numeric::{Evaluation, parse_block, parse_variable};
use super::options::MatchOptions;
use super::pattern::{ParseFailure, Pattern};
use super::source::{BufferId, Loc, SourceMap, Span};
use super::text::Piece;
use super::variables::Variables;

/// A DAG or NOT pattern with the name its messages use.
pub struct Extra {
    /// The pattern.
    pub pattern: std::rc::Rc<Pattern>,
    /// Prefix it was found with.
    pub prefix: String,
}

/// A positive check with the DAG and NOT patterns before it.
pub struct Check {
    /// The pattern.
    pub pattern: Pattern,
    /// Prefix it was found with.
    pub prefix: String,
    /// Where its messages point to.
    pub loc: Loc,
    /// DAG and NOT patterns between the previous check and this one.
    pub extras: Vec<Extra>,
}

/// A directive found in the text; what the lints and the reader share.
pub(super) struct Directive<'p> {
    pub(super) prefix: &'p str,
    /// Where the prefix starts.
    pub(super) start: usize,
    /// Where the text after the colon (or the unreadable part) starts.
    pub(super) after: usize,
    /// Where the directive's head (prefix, suffix, colon) ends.
    pub(super) head_end: usize,
    pub(super) check: CheckType,
    /// Line, from 1.
    pub(super) line: usize,
}

/// Finds directives one after another.
pub(super) struct DirectiveScanner<'p, 't> {
    /// Prefixes, longest first, whether they introduce comments, and their next place from `at` on.
    prefixes: Vec<(&'p str, bool, Option<usize>)>,
    /// What finds each.
    finders: Vec<memchr::memmem::Finder<'p>>,
    text: &'t [u8],
    at: usize,
    line: usize,
}

impl<'p, 't> DirectiveScanner<'p, 't> {
    pub(super) fn new(checks: &[&'p str], comments: &[&'p str], text: &'t [u8]) -> Self {
        let checks = checks.iter().map(|&prefix| (prefix, comments.contains(&prefix)));
        let comments = comments.iter().map(|&prefix| (prefix, true));
        let mut prefixes: Vec<_> =
            checks.chain(comments).map(|(prefix, comment)| (prefix, comment, None)).collect();
        prefixes.sort_by_key(|(prefix, ..)| std::cmp::Reverse(prefix.len()));
        let finders: Vec<_> =
            prefixes.iter().map(|(prefix, ..)| memchr::memmem::Finder::new(*prefix)).collect();
        for ((.., place), finder) in prefixes.iter_mut().zip(&finders) {
            *place = finder.find(text);
        }
        Self { prefixes, finders, text, at: 0, line: 1 }
    }

    /// The line reached.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The place reached: after the last directive, or after the last word that only looked like one.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Goes on at `at`, which is on the current line.
    pub(super) fn resume(&mut self, at: usize) {
        self.at = at;
    }

    fn next_prefix(&mut self) -> Option<(&'p str, bool, usize)> {
        let mut first: Option<(&'p str, bool, usize)> = None;
        for ((prefix, comment, place), finder) in self.prefixes.iter_mut().zip(&self.finders) {
            if place.is_some_and(|place| place < self.at) {
                *place = finder.find(&self.text[self.at..]).map(|i| i + self.at);
            }
            if let Some(place) = *place
                && first.is_none_or(|(_, _, best)| place < best)
            {
                first = Some((*prefix, *comment, place));
            }
        }
        first
    }

    /// The next directive; goes on after its head.
    pub(super) fn next(&mut self) -> Option<Directive<'p>> {
        while let Some((prefix, comment, place)) = self.next_prefix() {
            let skipped = &self.text[self.at..place];
            self.line += memchr::memchr_iter(b'\n', skipped).count();
            self.at = place;
            let rest = &self.text[place + prefix.len()..];
            // A prefix in the middle of a word is none.
            if skipped.last().is_none_or(|&byte| !is_part_of_word(byte)) && !rest.is_empty() {
                let found = if comment {
                    (rest[0] == b':').then_some((CheckType::new(CheckKind::Comment), 1))
                } else {
                    directive::after_check_prefix(rest)
                };
                if let Some((check, length)) = found {
                    let head_end = place + prefix.len() + length;
                    // LLVM forgets the suffix when nothing follows it at all.
                    let length = if length == rest.len() { 0 } else { length };
                    self.at = place + prefix.len() + length;
                    let (after, line) = (self.at, self.line);
                    return Some(Directive { prefix, start: place, after, head_end, check, line });
                }
            }
            let word = rest.iter().take_while(|&&byte| is_part_of_word(byte)).count();
            self.at = place + prefix.len() + word;
        }
        None
    }
}

/// Defines the variables of the command line. `buffer` holds the text that
/// [`command_line_text`] made.
///
/// # Errors
/// All faults of all definitions, reported.
pub(super) fn define_variables(
    sources: &SourceMap,
    buffer: BufferId,
    places: &[(usize, usize)],
    variables: &mut Variables,
    report: &mut Report,
) -> Result<(), ParseFailure> {
    let mut failed = false;
    for &(start, length) in places {
        let text = Piece::new(sources, Span { buffer, start, end: start + length });
        let before = report.events.len();
        match text.first() {
            Some(b'#') => define_number(sources, text.drop_front(1), variables, report),
            _ => define_string(text, variables, report),
        }
        failed |= report.events.len() > before;
    }
    if failed { Err(ParseFailure::Malformed) } else { Ok(()) }
}

/// The text in which definitions of the command line are parsed, and where each one stands in it.
pub(super) fn command_line_text(defines: &[String]) -> (Vec<u8>, Vec<(usize, usize)>) {
    let mut text = String::new();
    let mut places = Vec::new();
    for (index, define) in defines.iter().enumerate() {
        text.push_str(&format!("Global define #{}: ", index + 1));
        if define.starts_with('#') {
            let block = define.replacen('=', ":", 1);
            text.push_str(&format!("{define} (parsed as: [["));
            places.push((text.len(), block.len()));
            text.push_str(&format!("{block}]])\n"));
        } else {
            places.push((text.len(), define.len()));
            text.push_str(define);
            text.push('\n');
        }
    }
    (text.into_bytes(), places)
}

fn define_number(sources: &SourceMap, text: Piece<'_>, variables: &mut Variables, report: &mut Report) {
    let block = match parse_block(text, false, None, variables) {
        Ok(block) => block,
        Err(errors) => return report.push_logged(errors),
    };
    let Some((name, id)) = block.defines else { return };
    if block.expression.is_empty() {
        // LLVM crashes here.
        let message = join(&[b"numeric variable '", name.bytes(), b"' defined without a value"]);
        return report.push_logged([Diagnostic::error(Code::Malformed, name.loc(), message)]);
    }
    match block.expression.evaluate(variables) {
        Ok(value) => {
            variables.set_numeric(id, value, None);
            variables.name_numeric(name.bytes(), id);
        }
        Err(errors) => {
            for error in errors {
                match error {
                    Evaluation::Undefined(name) => {
                        report.text(join(&[b"undefined variable: ", sources.slice(name), b"\n"]));
                    }
                    Evaluation::Overflow => report.text("overflow error\n"),
                }
            }
        }
    }
}

fn define_string(text: Piece<'_>, variables: &mut Variables, report: &mut Report) {
    let equals = text.find(b'=').unwrap_or(text.bytes().len());
    let whole = text.take_front(equals);
    let mut rest = whole;
    let variable = match parse_variable(&mut rest) {
        Ok(variable) => variable,
        Err(errors) => return report.push_logged(errors),
    };
    let fault = |at: Piece<'_>, parts: &[&[u8]]| [Diagnostic::error(Code::Malformed, at.loc(), join(parts))];
    if variable.is_pseudo || !rest.is_empty() {
        let parts: [&[u8]; 3] = [b"invalid name in string variable definition '", whole.bytes(), b"'"];
        return report.push_logged(fault(whole, &parts));
    }
    let name = variable.name;
    if variables.numeric(name.bytes()).is_some() {
        let parts: [&[u8]; 3] = [b"numeric variable with name '", name.bytes(), b"' already exists"];
        return report.push_logged(fault(name, &parts));
    }
    // The first definition of a name stays.
    if variables.string(name.bytes()).is_none() {
        variables.set_string(name.bytes(), text.drop_front(equals + 1).span());
    }
    variables.name_string(name.bytes());
}

/// Reads a check file. `implicit` are the buffers of `--implicit-check-not` with the patterns' places.
///
/// # Errors
/// The first fault, reported.
pub(super) fn read(
    sources: &SourceMap,
    file: BufferId,
    implicit: &[Span],
    options: &MatchOptions,
    variables: &mut Variables,
    report: &mut Report,
) -> Result<Vec<Check>, ParseFailure> {
    let not = CheckType::new(CheckKind::Not);
    let mut implicit_nots = Vec::new();
    for &span in implicit {
        let mut pattern = Pattern::new(not, None, span.loc());
        let text = Piece::new(sources, span);
        // A faulty pattern is reported but stops nothing: what was read of it takes part.
        if pattern.parse(text, "IMPLICIT-CHECK", options, variables, report) == Err(ParseFailure::Exit) {
            return Err(ParseFailure::Exit);
        }
        implicit_nots.push(std::rc::Rc::new(pattern));
    }
    let start_extras = || -> Vec<Extra> {
        let extra = |pattern: &std::rc::Rc<Pattern>| Extra {
            pattern: pattern.clone(),
            prefix: "IMPLICIT-CHECK".to_owned(),
        };
        implicit_nots.iter().map(extra).collect()
    };

    let check_prefixes = options.effective_check_prefixes();
    let comment_prefixes = options.effective_comment_prefixes();
    let text = sources.text(file);
    let at = |offset| Loc { buffer: file, offset };
    let mut scanner = DirectiveScanner::new(&check_prefixes, &comment_prefixes, text);
    let mut unused: BTreeSet<&str> = check_prefixes.iter().copied().collect();
    let distinct = unused.len();
    let mut checks: Vec<Check> = Vec::new();
    let mut extras = start_extras();
    while let Some(found) = scanner.next() {
        let prefix = found.prefix;
        if found.check.kind != CheckKind::Comment {
            unused.remove(prefix);
        }
        let complain = |report: &mut Report, offset: usize, message: Vec<u8>| {
            report.push(Diagnostic::error(Code::Malformed, at(offset), message));
            Err(ParseFailure::Malformed)
        };
        match found.check.kind {
            CheckKind::Misspelled => {
                let directive = &text[found.start..found.head_end];
                return complain(report, found.start, join(&[b"misspelled directive '", directive, b"'"]));
            }
            CheckKind::BadNot => {
                let message = format!("unsupported -NOT combo on prefix '{prefix}'");
                return complain(report, found.after, message.into_bytes());
            }
            CheckKind::BadCount => {
                let message = format!("invalid count in -COUNT specification on prefix '{prefix}'");
                return complain(report, found.after, message.into_bytes());
            }
            _ => {}
        }
        let mut start = found.after;
        if !(options.strict_whitespace && options.match_full_lines) {
            start += text[start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        }
        let end = memchr::memchr2(b'\n', b'\r', &text[start..]).map_or(text.len(), |i| start + i);
        scanner.resume(end);
        if found.check.kind == CheckKind::Comment {
            continue;
        }
        let mut pattern = Pattern::new(found.check, Some(found.line), at(start));
        let piece = Piece::new(sources, Span { buffer: file, start, end });
        pattern.parse(piece, prefix, options, variables, report)?;
        match found.check.kind {
            CheckKind::Label if pattern.has_variable() => {
                let message = format!("found '{prefix}-LABEL:' with variable definition or use");
                return complain(report, found.start, message.into_bytes());
            }
            kind @ (CheckKind::Next | CheckKind::Same | CheckKind::Empty) if checks.is_empty() => {
                let suffix = directive::suffix(kind);
                let message = format!("found '{prefix}-{suffix}' without previous '{prefix}: line");
                return complain(report, found.start, message.into_bytes());
            }
            CheckKind::Dag | CheckKind::Not => {
                extras.push(Extra { pattern: pattern.into(), prefix: prefix.to_owned() });
            }
            _ => {
                let extras = std::mem::replace(&mut extras, start_extras());
                checks.push(Check { pattern, prefix: prefix.to_owned(), loc: at(start), extras });
            }
        }
    }
    let none_found = unused.len() == distinct;
    let some_unused = !options.allow_unused_prefixes && !unused.is_empty();
    if (none_found || some_unused) && (implicit.is_empty() || !options.has_default_prefix()) {
        let plural = if unused.len() > 1 { "es" } else { "" };
        let names: Vec<String> = unused.iter().map(|prefix| format!("'{prefix}:'")).collect();
        report.text(format!("error: no check strings found with prefix{plural} {}\n", names.join(", ")));
        return Err(ParseFailure::Malformed);
    }
    if !extras.is_empty() {
        // Something must come after trailing DAG and NOT patterns: the end of the input.
        let pattern =
            Pattern::new(CheckType::new(CheckKind::Eof), Some(scanner.line() + 1), at(scanner.at()));
        let prefix = check_prefixes.first().copied().unwrap_or_default().to_owned();
        checks.push(Check { loc: at(scanner.at()), pattern, prefix, extras });
    }
    Ok(checks)
}
