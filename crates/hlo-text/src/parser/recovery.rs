//! Several errors per run: after a fault, reading goes on at the next line that looks like the start of an
//! instruction or of a computation.

use std::ops::Range;

use crate::diagnostic::{Code, Diagnostic, Span};

use super::Parsed;
use super::builder::{Builder, SharedBuilder};
use super::run;
use super::tokens::Entry;

/// What a line looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    /// `[ROOT] %name = ...`
    Instruction,
    /// `}` at its start.
    Close,
    /// `%name ... {` at its start, or `ENTRY %name ... {`.
    Computation,
    Other,
}

/// Parses modules from byte `begin` of `text`, collecting up to `max_errors` faults.
pub(super) fn parse_with_recovery<'s>(
    text: &'s str,
    begin: usize,
    builder: Builder<'s>,
    max_errors: usize,
) -> Result<Parsed, Vec<Diagnostic>> {
    let shared = SharedBuilder::new(builder);
    let mut errors: Vec<Diagnostic> = Vec::new();
    let mut next = Some((begin, Entry::Module));
    while let Some((offset, entry)) = next.take() {
        let Err(error) = run(&shared, text, offset, entry) else { break };
        let at = (error.primary.span.start as usize).max(offset);
        let is_complete = error.focus.is_some() && !shared.borrow().in_inline();
        if !is_consequence(&error, text, &shared.borrow()) {
            let error = super::hints::explain(error, text, shared.borrow().enclosing().as_ref());
            errors.push(*error);
        }
        if errors.len() >= max_errors {
            break;
        }
        let mut builder = shared.borrow_mut();
        builder.recover();
        next = resume(text, offset, at, is_complete, &mut builder);
    }
    let mut builder = shared.into_inner();
    if errors.is_empty() {
        match builder.finish() {
            Ok(()) => return Ok(builder.into_parsed()),
            Err(found) => errors = found,
        }
    }
    Err(errors)
}

/// Whether the fault is that an instruction is used whose own fault has been reported.
fn is_consequence(error: &Diagnostic, text: &str, builder: &Builder<'_>) -> bool {
    let span = error.primary.span;
    error.code == Code::UndefinedInstruction
        && text
            .get(span.start as usize..span.end as usize)
            .is_some_and(|name| builder.is_poisoned(name.trim_start_matches('%')))
}

/// Where to go on after a fault at `at` in what was read from `offset`, `None` if there is nothing more. If the faulty
/// instruction `is_complete`, `at` is the token after it.
fn resume(
    text: &str,
    offset: usize,
    at: usize,
    is_complete: bool,
    builder: &mut Builder<'_>,
) -> Option<(usize, Entry)> {
    let line_start = memchr::memrchr(b'\n', text.as_bytes().get(..at)?).map_or(0, |before| before + 1);
    let line = text.get(line_start..)?.lines().next().unwrap_or_default();
    // The line of the fault itself is read again if the fault is that something is missing before it.
    let again = line_start > offset
        && (is_complete && text.get(line_start..at)?.trim().is_empty()
            || builder.in_computation() && opens_computation(line));
    if !again && !builder.in_computation() && opens_computation(line) {
        // The fault is in the head of a computation. Its body is read all the same.
        let name = name_in_head(line);
        builder.open_faulty(&line[name.clone()], Span::new(line_start + name.start, line_start + name.end));
    }
    let mut start = match again {
        true => line_start,
        false => at + memchr::memchr(b'\n', text.as_bytes().get(at..)?)? + 1,
    };
    loop {
        let rest = text.get(start..)?;
        let length = memchr::memchr(b'\n', rest.as_bytes());
        let line = &rest[..length.unwrap_or(rest.len())];
        match (classify(line), builder.in_computation()) {
            (Line::Instruction | Line::Close, true) => return Some((start, Entry::RestOfBody)),
            (Line::Computation, in_computation) => {
                if in_computation {
                    builder.close_unfinished(start);
                }
                return Some((start, Entry::Computations));
            }
            (Line::Instruction | Line::Close | Line::Other, _) => {}
        }
        start += length? + 1;
    }
}

/// Whether `line` looks like the first one of a computation.
pub(super) fn opens_computation(line: &str) -> bool {
    classify(line) == Line::Computation
}

/// Where the name of the computation stands that `line` opens.
fn name_in_head(line: &str) -> Range<usize> {
    let head = line.trim_start();
    let head = head.strip_prefix("ENTRY ").unwrap_or(head).trim_start();
    let head = head.strip_prefix('%').unwrap_or(head);
    let start = line.len() - head.len();
    start..start + name_length(head)
}

/// How much of `text` is a name.
fn name_length(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte)).count()
}

fn classify(line: &str) -> Line {
    let trimmed = line.trim_start();
    if trimmed.starts_with('}') {
        return if line.len() == trimmed.len() { Line::Close } else { Line::Other };
    }
    let head = trimmed.strip_prefix("ROOT ").unwrap_or(trimmed).trim_start();
    let head = head.strip_prefix('%').unwrap_or(head);
    let name = name_length(head);
    if name > 0 && head[name..].trim_start().starts_with("= ") {
        return Line::Instruction;
    }
    let is_head = trimmed.trim_end().ends_with('{')
        && (line.len() == trimmed.len() && !trimmed.starts_with("//") || trimmed.starts_with("ENTRY "));
    if is_head { Line::Computation } else { Line::Other }
}
