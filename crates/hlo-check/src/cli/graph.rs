//! `hlo-check graph FILE [FILE2]`.

use std::io;

use hlo_text::ParseOptions;

use super::options::{ERROR_FORMAT, Syntax, Words, value};
use super::{Streams, exit, load};
use crate::graph::{DEFAULT_RADIUS, Format, Graph, GraphOptions};

pub(super) const SYNTAX: Syntax = Syntax {
    operands: "FILE [FILE2]",
    words: Words::Files,
    options: &[
        value(
            "--format",
            "html|dot",
            "a page for browsers, or text for Graphviz (what -o ends with, or dot)",
        ),
        value("--around", "%NAME", "only what is near this instruction, and what it calls"),
        value("--radius", "N", "how many steps are near (3)"),
        value("-o", "FILE", "writes there instead of to standard output"),
        ERROR_FORMAT,
    ],
    about: "Shows a module as a graph, or two with what is different between them; `-` is standard input. The page is\n\
            one file that loads nothing: computations fold, `/` searches, a click shows what is near an instruction and\n\
            its counterpart in the other module.",
    notes: "Example: hlo-check graph before.hlo after.hlo -o graph.html\n\
            Exit status: 0 fine, 2 wrong usage, or a file that can't be read or written, 3 not HLO text.",
};

/// Writes a graph.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let given = match SYNTAX.read(command, args, streams)? {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let radius = match given.number("--radius", DEFAULT_RADIUS) {
        Ok(radius) => radius,
        Err(message) => return SYNTAX.misused(command, &message, streams),
    };
    let around = given.value("--around");
    if around.is_none() && given.has("--radius") {
        return SYNTAX.misused(command, "--radius goes with --around", streams);
    }
    if !(1..=2).contains(&given.operands.len()) {
        return SYNTAX.misused(command, "one file is shown, or two", streams);
    }
    if given.operands == ["-", "-"] {
        return SYNTAX.misused(command, "standard input can't be both sides", streams);
    }
    let output = given.value("-o").filter(|path| *path != "-");
    let format = match given.value("--format") {
        Some("html") => Format::Html,
        Some(_) => Format::Dot,
        None if output.is_some_and(|path| path.ends_with(".html") || path.ends_with(".htm")) => Format::Html,
        None => Format::Dot,
    };
    let mut modules = Vec::new();
    for &path in &given.operands {
        match load::module(path, &ParseOptions::default(), given.error_format(), streams)? {
            Ok(parsed) => modules.push((load::display_name(path), parsed.module)),
            Err(status) => return Ok(status),
        }
    }
    let options = GraphOptions { around: around.map(|name| (name.to_owned(), radius)) };
    let graph = match &modules[..] {
        [(before, old), (after, new)] => Graph::of_both((before, old), (after, new), &options),
        [(title, module)] => Graph::of(title, module, &options),
        _ => return Ok(exit::USAGE),
    };
    let graph = match graph {
        Ok(graph) => graph,
        Err(missing) => {
            let hint = missing.close.map_or_else(String::new, |close| format!("; did you mean `{close}`?"));
            writeln!(streams.err, "error: there is no instruction `{}`{hint}", missing.name)?;
            return Ok(exit::USAGE);
        }
    };
    if let Some(note) = graph.note() {
        writeln!(streams.err, "note: {note}")?;
    }
    let text = graph.render(format);
    match output {
        None => streams.out.write_all(text.as_bytes())?,
        Some(path) => {
            if let Err(error) = std::fs::write(streams.current_dir.join(path), text) {
                writeln!(streams.err, "error: can't write {path}: {error}")?;
                return Ok(exit::USAGE);
            }
            let count = graph.instruction_count();
            let instructions = if count == 1 { "instruction" } else { "instructions" };
            writeln!(streams.out, "wrote {path}: {count} {instructions}")?;
        }
    }
    Ok(0)
}
