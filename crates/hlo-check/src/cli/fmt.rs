//! `hlo-check fmt FILE...`.

use std::io;

use hlo_text::diagnostic::{Code, Diagnostic, Source, Span};
use hlo_text::format::{FormatError, FormatOptions, format};
use hlo_text::proto::{self, Encoding};
use hlo_text::{ParseOptions, parse_bytes};

use super::options::{ERROR_FORMAT, Syntax, Words, flag};
use super::{Streams, exit, load};
use crate::input::Format;
use crate::opt::{ErrorFormat, diagnostic_text, split};

pub(super) const SYNTAX: Syntax = Syntax {
    operands: "FILE...",
    words: Words::Files,
    options: &[
        flag("--check", "writes nothing, lists files that aren't laid out; exit status 1 if there are any"),
        flag("--infer-shapes", "writes result shapes that are left out and follow from the operands"),
        ERROR_FORMAT,
    ],
    about: "Lays HLO files out in place: one instruction per line, two blanks before it, one blank line between\n\
            computations; `-` goes from standard input to standard output. Words and comments stay as they are and\n\
            where they are, RUN and CHECK lines among them; so does everything from a line `//--- NAME` or `END.` on. A\n\
            file in which something couldn't be kept stays as it is.",
    notes: "Example: hlo-check fmt --check lit-tests/my-test.hlo\n\
            Exit status: 0 fine, 1 files aren't laid out (--check), 2 wrong usage, a file that can't be read or written\n\
            or in which something couldn't be kept, 3 not HLO text.",
};

/// What begins a file of its own in a test that `split-file` cuts.
const PART: &str = "//---";
/// lit's keyword for the end of a test.
const END: &str = "END.";
const SEPARATOR: &str = "// -----";
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Lays files out.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let given = match SYNTAX.read_some(command, args, "file", streams)? {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let options = FormatOptions { infer_shapes: given.has("--infer-shapes") };
    let is_check = given.has("--check");
    let mut worst = 0;
    for &path in &given.operands {
        let status = file(path, &options, is_check, given.error_format(), streams)?;
        worst = worst.max(status);
    }
    Ok(worst)
}

fn file(
    path: &str,
    options: &FormatOptions,
    is_check: bool,
    format: ErrorFormat,
    streams: &mut Streams<'_>,
) -> io::Result<u8> {
    let bytes = match load::bytes(path, streams)? {
        Ok(bytes) => bytes,
        Err(status) => return Ok(status),
    };
    let name = load::display_name(path);
    if let Some(diagnostic) = protocol_buffer(&bytes, path) {
        let source = Source::without_text(name);
        streams.err.write_all(diagnostic_text(&diagnostic, source, format, false).as_bytes())?;
        return Ok(exit::PARSE);
    }
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(_) => {
            // Reading says what is wrong.
            if let Err(rejected) = parse_bytes(&bytes, &ParseOptions::default()) {
                for diagnostic in &rejected.diagnostics {
                    let source = Source::new(name, &rejected.text);
                    streams.err.write_all(diagnostic_text(diagnostic, source, format, false).as_bytes())?;
                }
            }
            return Ok(exit::PARSE);
        }
    };
    let new = match laid_out(text, options) {
        Ok(new) => new,
        Err(Fault { first_line, text, error: FormatError::NotHlo(mut diagnostics) }) => {
            crate::pasted::advise(&mut diagnostics, &bytes, path);
            for diagnostic in &diagnostics {
                let source = Source::new(name, &text).starting_at(first_line);
                streams.err.write_all(diagnostic_text(diagnostic, source, format, false).as_bytes())?;
            }
            return Ok(exit::PARSE);
        }
        Err(Fault { error: FormatError::NotKept(reason), .. }) => {
            writeln!(streams.err, "error: {name} stays as it is: {reason}")?;
            return Ok(exit::USAGE);
        }
    };
    if is_check {
        if new != text {
            writeln!(streams.out, "{name}")?;
            return Ok(exit::CHECK);
        }
    } else if path == "-" {
        streams.out.write_all(new.as_bytes())?;
    } else if new != text
        && let Err(error) = std::fs::write(streams.current_dir.join(path), &new)
    {
        writeln!(streams.err, "error: can't write {name}: {error}")?;
        return Ok(exit::USAGE);
    }
    Ok(0)
}

/// What is said of a file that is no text, but can be made one: a protocol buffer, compressed or not.
fn protocol_buffer(bytes: &[u8], path: &str) -> Option<Diagnostic> {
    let unpacked = proto::decompress(bytes).ok()?;
    let kind = match proto::detect(&unpacked)? {
        Encoding::Binary => "a protocol buffer",
        Encoding::Text => "a protocol buffer in protobuf's text format",
    };
    let message = format!("this is {kind}; `fmt` lays out HLO text");
    let (input, output) = match path {
        "-" => ("FILE", "OUT.hlo".to_owned()),
        _ => (path, text_path(path)),
    };
    let help = format!("`hlo-check convert {input} {output}` makes text of it, laid out as XLA prints it");
    Some(Diagnostic::new(Code::NotHloText, Span::default(), message).help(help))
}

/// The usual name of the text of the module in the file `path`, another one than that.
fn text_path(path: &str) -> String {
    let mut stem = path;
    while let Some((rest, ending)) = stem.rsplit_once('.')
        && !rest.is_empty()
        && (ending == "gz" || matches!(Format::from_name(ending), Some(Format::Proto(_))))
    {
        stem = rest;
    }
    match stem.ends_with(".hlo") {
        true if stem == path => "OUT.hlo".to_owned(),
        true => stem.to_owned(),
        false => format!("{stem}.hlo"),
    }
}

/// The text of a test as the command leaves it; `None` if it can't be laid out.
pub(crate) fn formatted(text: &str) -> Option<String> {
    laid_out(text, &FormatOptions::default()).ok()
}

/// What is wrong with a part of a file.
struct Fault {
    first_line: usize,
    text: String,
    error: FormatError,
}

/// The text of a file, laid out.
fn laid_out(text: &str, options: &FormatOptions) -> Result<String, Fault> {
    let (mark, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => (BYTE_ORDER_MARK, body),
        None => ("", text),
    };
    let ends = body.matches('\n').count();
    let has_crlf = ends > 0 && body.matches("\r\n").count() == ends;
    let lines = if has_crlf { body.replace("\r\n", "\n") } else { body.to_owned() };
    let mut new = String::with_capacity(lines.len());
    let own_length = own_length(&lines);
    let (own, rest) = lines.split_at(own_length);
    // Lines almost like a separator are no HLO either way; `hlo-opt` says what is wrong with them.
    let mut first_line = 1;
    for (index, section) in sections(own).into_iter().enumerate() {
        if index > 0 {
            end_with_blank_line(&mut new);
            new.push_str(SEPARATOR);
            new.push('\n');
        }
        if split::has_text(section.as_bytes()) {
            let formatted = format(section, options).map_err(|error| Fault {
                first_line,
                text: section.to_owned(),
                error,
            })?;
            if index > 0 {
                new.push('\n');
            }
            new.push_str(&formatted);
        } else {
            new.push_str(section);
        }
        first_line += section.matches('\n').count() + 1;
    }
    if !rest.is_empty() && own.ends_with("\n\n") && !new.ends_with("\n\n") {
        new.push('\n');
    }
    new.push_str(rest);
    let new = if has_crlf { new.replace('\n', "\r\n") } else { new };
    Ok(format!("{mark}{new}"))
}

/// Ends a text with one blank line, if it isn't empty.
fn end_with_blank_line(text: &mut String) {
    if text.is_empty() {
        return;
    }
    while text.ends_with("\n\n") {
        text.pop();
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push('\n');
}

/// Length of what is the file's own HLO: up to parts of a split file, and to the end of the test.
fn own_length(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_part = line.strip_prefix(PART).is_some_and(|name| name.starts_with(' '));
        if is_part || (line.trim_start().starts_with("//") && line.contains(END)) {
            return at;
        }
        at += line.len();
    }
    text.len()
}

/// What is between the separators of a split file.
fn sections(text: &str) -> Vec<&str> {
    let mut sections = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if line.trim_end() == SEPARATOR {
            sections.push(&text[start..at]);
            start = next;
        }
        at = next;
    }
    sections.push(&text[start..]);
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> String {
        let once = laid_out(text, &FormatOptions::default());
        let once = once.unwrap_or_else(|fault| panic!("{text}: {:?}", fault.error));
        let twice = laid_out(&once, &FormatOptions::default()).map_err(|fault| fault.error);
        assert_eq!(twice.ok().as_deref(), Some(once.as_str()));
        once
    }

    #[test]
    fn texts_are_called_like_what_they_are_made_of() {
        for (path, text) in [
            ("m.pb", "m.hlo"),
            ("a.b/m.hlo.pb", "a.b/m.hlo"),
            ("m.pbtxt.gz", "m.hlo"),
            ("m.hlo.pb.gz", "m.hlo"),
            ("dump", "dump.hlo"),
            ("m.hlo", "OUT.hlo"),
            (".pb", ".pb.hlo"),
        ] {
            assert_eq!(text_path(path), text, "{path}");
        }
    }

    const MESSY: &str = "HloModule m\nENTRY e {\n ROOT p = f32[]  parameter(0) }";
    const NEAT: &str = "HloModule m\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n";

    #[test]
    fn cases_are_laid_out_one_by_one() {
        assert_eq!(
            all(&format!("// RUN: x\n// -----\n{MESSY}\n// -----  \n\n\n// c\n{MESSY}\n// -----\n// end\n")),
            format!("// RUN: x\n\n// -----\n\n{NEAT}\n// -----\n\n// c\n{NEAT}\n// -----\n// end\n")
        );
    }

    #[test]
    fn data_of_a_test_is_not_touched() {
        for rest in [format!("//--- a.hlo\n{MESSY}"), format!("// END.\n{MESSY}")] {
            assert_eq!(all(&format!("{MESSY}\n\n{rest}")), format!("{NEAT}\n{rest}"));
            assert_eq!(all(&format!("// RUN: x\n{rest}")), format!("// RUN: x\n{rest}"));
        }
    }

    #[test]
    fn line_ends_and_byte_order_marks_stay() {
        assert_eq!(all(&MESSY.replace('\n', "\r\n")), NEAT.replace('\n', "\r\n"));
        assert_eq!(all(&format!("\u{feff}{MESSY}")), format!("\u{feff}{NEAT}"));
    }

    #[test]
    fn faults_are_where_they_are_in_the_file() {
        let fault = laid_out(&format!("{NEAT}// -----\nHloModule m\n???"), &FormatOptions::default()).err();
        assert_eq!(fault.map(|fault| fault.first_line), Some(NEAT.lines().count() + 2));
    }
}
