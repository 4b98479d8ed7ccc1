//! A test of what the passes of a session do.

use std::path::Path;

use super::session::Session;
use crate::cli::fmt;
use crate::lit;
use crate::opt::crash::lossless;
use crate::update::{self, Outcome, UpdateOptions};

/// Writes the test of the current state to `file`, which must not be there yet, and runs it.
///
/// # Errors
/// It can't be written, or doesn't pass; then it isn't kept.
pub(crate) fn save(session: &Session, file: &str) -> Result<String, String> {
    let path = session.world.path(file);
    if path.exists() {
        return Err(format!("{file} is there already: give another name, or remove it first"));
    }
    let number = session.number()?;
    let root = session.root_of(number)?;
    let idle = session.idle_passes(number);
    let command = session.command(number, "%s", idle)?;
    let input = lossless(&session.state(root)?.module);
    let text = format!("// RUN: {command} | FileCheck %s\n\n{input}");
    session.world.write(file, &formatted(text))?;
    match add_checks(&path) {
        Ok(count) => {
            let note = match idle {
                _ if root != number => String::new(),
                [] => ", which runs no pass, since none has run".to_owned(),
                idle => format!(", of passes that change nothing ({})", idle.join(",")),
            };
            Ok(format!("wrote {file}{note}; it passes, with {count} CHECK lines\n"))
        }
        Err(message) => {
            // It would be a test that fails; what it says is in the message.
            let _ = std::fs::remove_file(&path);
            Err(format!("{file} isn't kept: {message}"))
        }
    }
}

/// A test as `hlo-check fmt` leaves it.
fn formatted(text: String) -> String {
    fmt::formatted(&text).unwrap_or(text)
}

/// Writes the CHECK lines into a test that has none, and runs it; how many there are.
fn add_checks(path: &Path) -> Result<usize, String> {
    let host = crate::host();
    let found = lit::discover(&[path.to_owned()], &host);
    if let Some(error) = found.errors.first() {
        return Err(error.to_string());
    }
    let [test] = &found.tests[..] else {
        return Err("it is no test where it is: tests of HLO end in .hlo".to_owned());
    };
    let options = UpdateOptions { create: true };
    let proposal = update::propose(test, &host, options);
    match &proposal.outcome {
        Outcome::Changed(text) => {
            update::apply(&proposal, test, &host, options)?;
            let text = formatted(String::from_utf8_lossy(text).into_owned());
            std::fs::write(path, &text).map_err(|error| error.to_string())?;
            Ok(text.lines().filter(|line| line.starts_with("// CHECK")).count())
        }
        Outcome::Refused(reason) => Err(reason.clone()),
        Outcome::NoBlocks | Outcome::Unchanged => Err("there is nothing to check".to_owned()),
    }
}
