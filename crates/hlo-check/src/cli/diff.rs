//! `hlo-check diff A B`.

use std::io;

use hlo_text::{ParseOptions, PrintOptions};
use similar::TextDiff;

use super::options::{COLOR, ERROR_FORMAT, Syntax, Words, flag, value};
use super::{Streams, exit, load, structure};
use crate::diff::{DiffOptions, ModuleDiff, RenderOptions};

/// How many lines stand around differences unless the command line says otherwise.
const TEXT_CONTEXT: usize = 3;

pub(super) const SYNTAX: Syntax = Syntax {
    operands: "A B",
    words: Words::Files,
    options: &[
        flag("--structural", "only whether they compute the same: names, metadata, ids don't count"),
        flag("--text", "line by line, whatever the files hold"),
        flag("--ignore-names", "names of instructions and computations don't count"),
        flag("--ignore-metadata", "metadata, original values and statistics don't count"),
        flag("--summary", "only how many instructions are different"),
        value("--context", "N", "so many lines that are the same around those that aren't"),
        COLOR,
        ERROR_FORMAT,
    ],
    about: "Compares two modules instruction by instruction; `-` is standard input. Instructions are the same thing by\n\
            what they are called and compute, not by their line; their order counts in scheduled modules only. Lines\n\
            begin with - (gone), + (new), ~ (renamed), > (moved); ? marks the words above that are different.",
    notes: "Example: hlo-check diff before.hlo after.hlo\n\
            Exit status: 0 nothing is different, 1 something is, 2 trouble.",
};

/// Compares two files.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let given = match SYNTAX.read(command, args, streams)? {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let [left, right] = given.operands[..] else {
        return SYNTAX.misused(command, "two files are compared", streams);
    };
    let is_text = given.has("--text");
    if is_text && given.has("--structural") {
        return SYNTAX.misused(command, "--text and --structural exclude each other", streams);
    }
    if left == "-" && right == "-" {
        return SYNTAX.misused(command, "standard input can't be both sides", streams);
    }
    let default_context = if is_text { TEXT_CONTEXT } else { RenderOptions::default().context };
    let context = match given.number("--context", default_context) {
        Ok(context) => context,
        Err(message) => return SYNTAX.misused(command, &message, streams),
    };
    if is_text {
        return lines(left, right, context, streams);
    }
    let mut modules = Vec::new();
    for path in [left, right] {
        match load::module(path, &ParseOptions::default(), given.error_format(), streams)? {
            Ok(parsed) => modules.push(parsed.module),
            Err(_) => return Ok(exit::USAGE),
        }
    }
    let [before, after] = &modules[..] else { return Ok(exit::USAGE) };
    if given.has("--structural") {
        return structure::compare((left, before), (right, after), streams);
    }
    let options =
        DiffOptions { names: !given.has("--ignore-names"), metadata: !given.has("--ignore-metadata") };
    let diff = ModuleDiff::new(before, after, &options);
    if diff.is_empty() {
        return Ok(0);
    }
    let color = given.color(streams.color);
    writeln!(streams.out, "--- {left}\n+++ {right}")?;
    if !given.has("--summary") {
        let print = PrintOptions { print_metadata: options.metadata, ..PrintOptions::default() };
        streams.out.write_all(diff.render(&RenderOptions { color, context, print }).as_bytes())?;
        writeln!(streams.out)?;
    }
    writeln!(streams.out, "{}", diff.summary())?;
    Ok(exit::CHECK)
}

/// Compares the lines of two files.
fn lines(left: &str, right: &str, context: usize, streams: &mut Streams<'_>) -> io::Result<u8> {
    let mut texts = Vec::new();
    for path in [left, right] {
        match load::bytes(path, streams)? {
            Ok(bytes) => texts.push(bytes),
            Err(status) => return Ok(status),
        }
    }
    let [before, after] = &texts[..] else { return Ok(exit::USAGE) };
    if before == after {
        return Ok(0);
    }
    let (old, new) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let diff = TextDiff::from_lines(&*old, &*new);
    let text = diff.unified_diff().context_radius(context).header(left, right).to_string();
    if text.is_empty() {
        // Bytes that are no text differ without showing it.
        writeln!(streams.out, "files {left} and {right} differ")?;
    }
    streams.out.write_all(text.as_bytes())?;
    Ok(exit::CHECK)
}
