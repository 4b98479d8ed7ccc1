//! A test of what the passes of a session do.

use std::path::Path;

use super::session::Session;
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
    let command = session.command(number, "%s")?;
    let input = lossless(&session.state(root)?.module);
    session.world.write(file, &format!("// RUN: {command} | FileCheck %s\n\n{input}"))?;
    match add_checks(&path) {
        Ok(count) => {
            let note = if root == number { ", which runs no pass, since none has run" } else { "" };
            Ok(format!("wrote {file}{note}; it passes, with {count} CHECK lines\n"))
        }
        Err(message) => {
            // It would be a test that fails; what it says is in the message.
            let _ = std::fs::remove_file(&path);
            Err(format!("{file} isn't kept: {message}"))
        }
    }
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
            let text = String::from_utf8_lossy(text);
            Ok(text.lines().filter(|line| line.starts_with("// CHECK")).count())
        }
        Outcome::Refused(reason) => Err(reason.clone()),
        Outcome::NoBlocks | Outcome::Unchanged => Err("there is nothing to check".to_owned()),
    }
}
