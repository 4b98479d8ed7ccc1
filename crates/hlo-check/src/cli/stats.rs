//! `hlo-check stats FILE...`.

use std::io;

use hlo_text::ParseOptions;

use super::options::{ERROR_FORMAT, Syntax, Words, flag};
use super::{Streams, load};
use crate::stats::Stats;

pub(super) const SYNTAX: Syntax = Syntax {
    operands: "FILE...",
    words: Words::Files,
    options: &[flag("--json", "one JSON object in a line for each file"), ERROR_FORMAT],
    about: "Says what is in modules: opcodes, shapes, bytes, the longest chain of instructions, custom-call targets,\n\
            collectives; `-` is standard input. Bytes are those of shapes, without padding; \"computed\" is what\n\
            instructions other than parameters and constants make.",
    notes: "Example: hlo-check stats --json model.hlo\n\
            Exit status: 0 fine, 2 wrong usage or unreadable file, 3 not HLO text.",
};

/// Counts what is in files.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let given = match SYNTAX.read_some(command, args, "file", streams)? {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let mut worst = 0;
    for (index, path) in given.operands.iter().enumerate() {
        let parsed = match load::module(path, &ParseOptions::default(), given.error_format(), streams)? {
            Ok(parsed) => parsed,
            Err(status) => {
                worst = worst.max(status);
                continue;
            }
        };
        let stats = Stats::of(&parsed.module);
        if given.has("--json") {
            let mut object = stats.to_json();
            if let Some(fields) = object.as_object_mut() {
                fields.insert("file".to_owned(), load::display_name(path).into());
            }
            writeln!(streams.out, "{object}")?;
            continue;
        }
        if index > 0 {
            writeln!(streams.out)?;
        }
        if given.operands.len() > 1 {
            writeln!(streams.out, "{}:", load::display_name(path))?;
        }
        streams.out.write_all(stats.render().as_bytes())?;
    }
    Ok(worst)
}
