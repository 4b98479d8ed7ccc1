//! `hlo-check convert IN OUT`: modules from one form to another.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use hlo_text::diagnostic::{Diagnostic, Source};
use hlo_text::{ParseOptions, PrintOptions};

use super::options::{ERROR_FORMAT, Given, Syntax, Words, flag, value};
use super::{Streams, exit};
use crate::input::{self, Format};
use crate::opt::{ErrorFormat, diagnostic_text};
use crate::output::{self, OutputOptions};
use crate::result_file::ResultFile;
use crate::roundtrip;

pub(super) const SYNTAX: Syntax = Syntax {
    operands: "IN OUT",
    words: Words::Files,
    options: &[
        value("--to", "hlo|pb|pbtxt", "what to write, whatever OUT is called"),
        value("--format", "hlo|pb|pbtxt", "what IN is, whatever it looks like"),
        value(
            "--out-dir",
            "DIR",
            "the folder, made if it is not there, that the results of several inputs go to, named after them; needs --to",
        ),
        flag("--strict", "reads only what XLA reads"),
        value(
            "--print",
            "PRESET",
            "how text is printed: default, short, canonical, fingerprint or module_fingerprint",
        ),
        flag("--elide-constants", "leaves large constants out of the text, as XLA does by default"),
        flag(
            "--keep-container",
            "writes what IN was wrapped in, too, such as the buffer assignment of an HloProto",
        ),
        flag("--verify-roundtrip", "reports what the new form can't carry, and fails if there is something"),
        ERROR_FORMAT,
    ],
    about: "Converts modules between HLO text (hlo), protocol buffers (pb, an HloModuleProto) and their text form (pbtxt).\n\
            What IN is is told from its content: text, HloModuleProto, HloProto or HloSnapshot, each perhaps gzipped. OUT's\n\
            ending says what to write: .hlo, .txt, .pb or .pbtxt, perhaps with .gz; `-` is standard input or output. From\n\
            one protocol buffer to another every field stays, known or not.",
    notes: "Example: hlo-check convert module.hlo.pb module.hlo\n\
            Exit status: 0 fine, 1 --verify-roundtrip found a loss, 2 wrong usage, unreadable or unwritable file, 3 no HLO.",
};

/// What is asked for.
struct Request<'a> {
    parse: ParseOptions,
    from: Option<Format>,
    to: Option<Format>,
    print: PrintOptions,
    keep_container: bool,
    verify: bool,
    errors: ErrorFormat,
    out_dir: Option<&'a str>,
    files: Vec<&'a str>,
}

fn request<'a>(given: &Given<'a>) -> Result<Request<'a>, String> {
    let format = |name| match given.value(name) {
        None => Ok(None),
        Some(text) => {
            Format::from_name(text).map(Some).ok_or_else(|| format!("{name} takes {}", Format::NAMES))
        }
    };
    let preset = given.value("--print").unwrap_or("default");
    let mut print =
        PrintOptions::preset(preset).ok_or_else(|| format!("there is no print preset `{preset}`"))?;
    print.print_large_constants |= !given.has("--elide-constants");
    let mut request = Request {
        parse: if given.has("--strict") { ParseOptions::strict() } else { ParseOptions::default() },
        from: format("--format")?,
        to: format("--to")?,
        print,
        keep_container: given.has("--keep-container"),
        verify: given.has("--verify-roundtrip"),
        errors: given.error_format(),
        out_dir: given.value("--out-dir"),
        files: given.operands.clone(),
    };
    match (request.out_dir, request.files.len(), request.to) {
        (Some(_), 0, _) | (None, 0, _) | (None, 1, None) => {
            Err("an input and an output are needed".to_owned())
        }
        (Some(_), _, None) => Err("--out-dir needs --to".to_owned()),
        (None, 1, Some(_)) => {
            request.files.push("-");
            Ok(request)
        }
        (None, 3.., _) => Err("several inputs need --out-dir".to_owned()),
        _ => Ok(request),
    }
}

/// Converts files.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let given = match SYNTAX.read(command, args, streams)? {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let request = match request(&given) {
        Ok(request) => request,
        Err(message) => return SYNTAX.misused(command, &message, streams),
    };
    let Some(folder) = request.out_dir else {
        let &[input, output] = &request.files[..] else { return Ok(exit::USAGE) };
        let (format, compressed) = Format::of_path(output);
        let Some(format) = request.to.or(format) else {
            writeln!(
                streams.err,
                "error: `{output}` doesn't say what to write; --to takes {}",
                Format::NAMES
            )?;
            return Ok(exit::USAGE);
        };
        return convert(&request, input, output, format, compressed, streams);
    };
    let format = request.to.unwrap_or(Format::Hlo);
    let path_of = |file: &str| {
        let name = Path::new(file).file_name().and_then(OsStr::to_str).unwrap_or("module");
        let uncompressed = name.strip_suffix(".gz");
        let stem = match uncompressed.unwrap_or(name) {
            // Not every file that is compressed has another ending before that.
            stem if uncompressed.is_some() && Format::of_path(stem).0.is_none() => stem,
            stem => Path::new(stem).file_stem().and_then(OsStr::to_str).unwrap_or(stem),
        };
        // `x.hlo.pb` and `x.hlo.txt` are called so to say what they hold.
        let stem = stem.strip_suffix(".hlo").unwrap_or(stem);
        format!("{folder}/{stem}.{}", format.extension())
    };
    if let Some(message) = overwritten(&request.files, path_of, streams.current_dir) {
        writeln!(streams.err, "error: {message}")?;
        return Ok(exit::USAGE);
    }
    if let Err(error) = std::fs::create_dir_all(streams.current_dir.join(folder)) {
        writeln!(streams.err, "error: can't make the folder {folder}: {error}")?;
        return Ok(exit::USAGE);
    }
    let mut status = 0;
    for file in &request.files {
        let output = path_of(file);
        let own = convert(&request, file, &output, format, false, streams)?;
        if status == 0 {
            status = own;
        }
    }
    Ok(status)
}

/// What would be lost if each of `files` were written to the path that belongs to it.
fn overwritten(files: &[&str], path_of: impl Fn(&str) -> String, current_dir: &Path) -> Option<String> {
    let whole = |path: &str| {
        let path = current_dir.join(path);
        std::fs::canonicalize(&path).unwrap_or(path)
    };
    let inputs: HashMap<_, _> =
        files.iter().filter(|&&file| file != "-").map(|&file| (whole(file), file)).collect();
    let mut outputs = HashMap::new();
    for &file in files {
        let output = path_of(file);
        if let Some(input) = inputs.get(&whole(&output)) {
            return Some(format!("`{output}`, where `{file}` would go, is the input `{input}`"));
        }
        match outputs.insert(output, file) {
            Some(other) if other != file => {
                return Some(format!("`{other}` and `{file}` would both go to `{}`", path_of(file)));
            }
            _ => {}
        }
    }
    None
}

fn complain(
    request: &Request<'_>,
    diagnostic: &Diagnostic,
    source: Source<'_>,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    streams.err.write_all(diagnostic_text(diagnostic, source, request.errors, false).as_bytes())
}

fn convert(
    request: &Request<'_>,
    path: &str,
    output: &str,
    format: Format,
    compressed: bool,
    streams: &mut Streams<'_>,
) -> io::Result<u8> {
    let name = if path == "-" { "<stdin>" } else { path };
    let bytes = match streams.read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(streams.err, "error: can't read {name}: {error}")?;
            return Ok(exit::USAGE);
        }
    };
    let input = match input::read(&bytes, request.from, &request.parse) {
        Ok(input) => input,
        Err(refused) => {
            for diagnostic in &refused.diagnostics {
                complain(request, diagnostic, refused.source(name), streams)?;
            }
            return Ok(exit::PARSE);
        }
    };
    let options = OutputOptions {
        format,
        compressed,
        print: request.print.clone(),
        keep_container: request.keep_container,
    };
    let (prepared, warnings) = match output::prepare(&input.module, input.proto.as_ref(), &options) {
        Ok(prepared) => prepared,
        Err(error) => {
            complain(request, &error, Source::without_text(name), streams)?;
            return Ok(exit::USAGE);
        }
    };
    for diagnostic in &input.warnings {
        complain(request, diagnostic, input.source(name), streams)?;
    }
    for diagnostic in &warnings {
        complain(request, diagnostic, Source::without_text(name), streams)?;
    }
    let losses = roundtrip::losses(&input.module, input.proto.as_ref(), &options, request.verify);
    for loss in &losses {
        complain(request, loss, Source::without_text(name), streams)?;
    }
    let status = if request.verify && !losses.is_empty() { exit::CHECK } else { 0 };
    if output == "-" {
        prepared.write_to(&mut *streams.out)?;
        return Ok(status);
    }
    let mut file = ResultFile::new(streams.current_dir.join(output), false);
    let written = prepared.write_to(&mut file);
    // What the file says of a fault is more than what the writer hands on.
    let fault = file.take_error().map_or(written, Err);
    if let Err(error) = fault.and_then(|()| file.finish()) {
        writeln!(streams.err, "error: can't write {output}: {error}")?;
        return Ok(exit::USAGE);
    }
    Ok(status)
}
