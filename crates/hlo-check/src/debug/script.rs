//! A session whose lines come from a file or a pipe: the same input gives the same output.

use std::io::{self, Write};

use super::commands::{self, Answer};
use super::gather::{Gatherer, Step, begins_paste};
use super::session::Session;
use crate::cli::exit;

/// What stands before commands.
pub(crate) const PROMPT: &str = "(hlo) ";

/// Does what the lines of `input` say and writes everything to `out`, commands among it. Lines with `#` first are left
/// out. The exit status: whether a command failed.
///
/// # Errors
/// Those of the stream.
pub(crate) fn run(session: &mut Session, input: &str, out: &mut dyn Write) -> io::Result<u8> {
    let mut status = 0;
    let mut lines = input.lines().peekable();
    while let Some(line) = lines.next() {
        let line = line.trim_end();
        if line.trim().is_empty() || line.trim_start().starts_with('#') || line.trim_start().starts_with("//")
        {
            continue;
        }
        let result = if is_paste(line) {
            let mut gatherer = Gatherer::default();
            let mut step = gatherer.take(line);
            while step == Step::More
                && let Some(next) = lines.peek()
            {
                step = gatherer.take(next);
                if step != Step::Behind {
                    lines.next();
                }
            }
            let count = gatherer.text.lines().count();
            writeln!(out, "{PROMPT}<{count} lines of HLO>")?;
            paste(session, &gatherer.text)
        } else {
            writeln!(out, "{PROMPT}{}", line.trim())?;
            commands::execute(session, line)
        };
        match result {
            Ok(Answer::Text(text)) => out.write_all(text.as_bytes())?,
            Ok(Answer::End) => break,
            Err(message) => {
                status = exit::CHECK;
                write_error(out, &message)?;
            }
        }
    }
    Ok(status)
}

/// Whether a line begins a text rather than giving a command.
pub(crate) fn is_paste(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_command = words.next().is_some_and(|word| commands::find(word).is_some());
    // An instruction may be called like a command.
    let is_definition = words.next().is_some_and(|word| word.starts_with('='));
    (!is_command || is_definition) && begins_paste(line)
}

/// Reads a pasted text.
///
/// # Errors
/// It can't be read; the reports.
pub(crate) fn paste(session: &mut Session, text: &str) -> Result<Answer, String> {
    let name = format!("<paste {}>", session.states().len());
    commands::read(session, &name, None, text.as_bytes()).map(Answer::Text)
}

/// Writes what is wrong: reports as they are, other messages behind `error:`.
///
/// # Errors
/// Those of the stream.
pub(crate) fn write_error(out: &mut dyn Write, message: &str) -> io::Result<()> {
    let is_report = message.contains('\n') && message.ends_with('\n');
    if is_report { out.write_all(message.as_bytes()) } else { writeln!(out, "error: {message}") }
}
