//! Several errors per run: after a fault, reading goes on at the next line that looks like the start of an
//! instruction or of a computation.

use crate::diagnostic::{Code, Diagnostic};

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
    /// `[ENTRY] %name ... {` at its start.
    Computation,
    Other,
}

/// Parses modules, collecting up to `max_errors` faults.
pub(super) fn parse_with_recovery<'s>(
    text: &'s str,
    builder: Builder<'s>,
    max_errors: usize,
) -> Result<Parsed, Vec<Diagnostic>> {
    let shared = SharedBuilder::new(builder);
    let mut errors: Vec<Diagnostic> = Vec::new();
    let mut next = Some((0, Entry::Module));
    while let Some((offset, entry)) = next.take() {
        let Err(error) = run(&shared, text, offset, entry) else { break };
        let at = (error.primary.span.start as usize).max(offset);
        if !is_consequence(&error, text, &shared.borrow()) {
            errors.push(*error);
        }
        if errors.len() >= max_errors {
            break;
        }
        let mut builder = shared.borrow_mut();
        builder.recover();
        next = resume(text, at, &mut builder);
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

/// Where to go on after a fault at `at`, `None` if there is nothing more.
fn resume(text: &str, at: usize, builder: &mut Builder<'_>) -> Option<(usize, Entry)> {
    let mut start = at + memchr::memchr(b'\n', text.as_bytes().get(at..)?)? + 1;
    loop {
        let rest = text.get(start..)?;
        let length = memchr::memchr(b'\n', rest.as_bytes());
        let line = &rest[..length.unwrap_or(rest.len())];
        match (classify(line), builder.in_computation()) {
            (Line::Instruction | Line::Close, true) => return Some((start, Entry::RestOfBody)),
            (Line::Computation, in_computation) => {
                if in_computation {
                    builder.abandon_computation();
                }
                return Some((start, Entry::Computations));
            }
            (Line::Instruction | Line::Close | Line::Other, _) => {}
        }
        start += length? + 1;
    }
}

fn classify(line: &str) -> Line {
    let trimmed = line.trim_start();
    if trimmed.starts_with('}') {
        return if line.len() == trimmed.len() { Line::Close } else { Line::Other };
    }
    let head = trimmed.strip_prefix("ROOT ").unwrap_or(trimmed).trim_start();
    let head = head.strip_prefix('%').unwrap_or(head);
    let name = head.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte)).count();
    if name > 0 && head[name..].trim_start().starts_with("= ") {
        return Line::Instruction;
    }
    let is_head =
        line.len() == trimmed.len() && trimmed.trim_end().ends_with('{') && !trimmed.starts_with("//");
    if is_head { Line::Computation } else { Line::Other }
}
