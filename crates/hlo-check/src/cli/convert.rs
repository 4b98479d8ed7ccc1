//! `hlo-check convert IN OUT`: modules from one form to another.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use hlo_text::diagnostic::{Diagnostic, Report, Source};
use hlo_text::{Dialect, ParseOptions, PrintOptions};

use super::{Streams, exit};
use crate::input::{self, Format, Input};
use crate::output::{self, OutputOptions};
use crate::roundtrip;

const USAGE: &str = "[OPTIONS] IN OUT
       convert [OPTIONS] --to=FORMAT [--out-dir=DIR] IN...

Converts modules between HLO text (hlo), protocol buffers (pb: HloModuleProto) and their text form (pbtxt). What IN is
is told from its content: text, HloModuleProto, HloProto or HloSnapshot, each perhaps gzipped. OUT's ending says what to
write (.hlo, .txt, .pb, .pbtxt, each perhaps with .gz); `-` is standard input or output. From one protocol buffer to
another every field stays, known or not.

  --to=FORMAT          hlo, pb or pbtxt, whatever OUT is called
  --format=FORMAT      what IN is, whatever it looks like
  --out-dir=DIR        where the results of several files go, named after them
  --strict             reads only what XLA reads
  --print=PRESET       how text is printed: default, short, canonical, fingerprint or module_fingerprint
  --elide-constants    leaves large constants out of the text, as XLA does by default
  --keep-container     writes what IN was wrapped in as well, such as the buffer assignment of an HloProto
  --verify-roundtrip   reports what the new form can't carry, and fails if there is something

Exit status: 0 fine, 1 --verify-roundtrip found a loss, 2 wrong usage, unreadable or unwritable file, 3 no HLO.";

/// What is asked for.
struct Request {
    parse: ParseOptions,
    from: Option<Format>,
    to: Option<Format>,
    print: PrintOptions,
    keep_container: bool,
    verify: bool,
    out_dir: Option<String>,
    files: Vec<String>,
}

fn parse_arguments(args: &[String]) -> Result<Request, String> {
    let mut request = Request {
        parse: ParseOptions::default(),
        from: None,
        to: None,
        print: PrintOptions::default(),
        keep_container: false,
        verify: false,
        out_dir: None,
        files: Vec::new(),
    };
    let mut elide = false;
    for arg in args {
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, value),
            None => (arg.as_str(), ""),
        };
        let format = || Format::from_name(value).ok_or_else(|| format!("{name} takes {}", Format::NAMES));
        match name {
            "--to" => request.to = Some(format()?),
            "--format" => request.from = Some(format()?),
            "--out-dir" if !value.is_empty() => request.out_dir = Some(value.to_owned()),
            "--strict" => request.parse.dialect = Dialect::Strict,
            "--print" => {
                let preset = PrintOptions::preset(value);
                request.print = preset.ok_or_else(|| format!("there is no print preset `{value}`"))?;
            }
            "--elide-constants" => elide = true,
            "--keep-container" => request.keep_container = true,
            "--verify-roundtrip" => request.verify = true,
            option if option.starts_with('-') && option != "-" => {
                return Err(format!("there is no option `{arg}`"));
            }
            _ => request.files.push(arg.clone()),
        }
    }
    request.print.print_large_constants |= !elide;
    let several = request.out_dir.is_some();
    match (several, request.files.len(), request.to) {
        (true, 0, _) | (false, 0 | 1, None) => Err("an input and an output are needed".to_owned()),
        (true, _, None) => Err("--out-dir needs --to=FORMAT".to_owned()),
        (false, 1, Some(_)) => {
            request.files.push("-".to_owned());
            Ok(request)
        }
        (false, 3.., _) => Err("several files need --out-dir=DIR".to_owned()),
        _ => Ok(request),
    }
}

/// Converts files.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    if super::asks_for_help(args) {
        writeln!(streams.out, "usage: {command} {USAGE}")?;
        return Ok(0);
    }
    let request = match parse_arguments(args) {
        Ok(request) => request,
        Err(message) => {
            writeln!(streams.err, "error: {message}\nusage: {command} {USAGE}")?;
            return Ok(exit::USAGE);
        }
    };
    let Some(folder) = &request.out_dir else {
        let [input, output] = &request.files[..] else { return Ok(exit::USAGE) };
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
    let mut status = 0;
    for file in &request.files {
        let format = request.to.unwrap_or(Format::Hlo);
        let stem = Path::new(file).file_stem().and_then(OsStr::to_str).unwrap_or("module");
        let output = format!("{folder}/{stem}.{}", format.extension());
        let own = convert(&request, file, &output, format, false, streams)?;
        if status == 0 {
            status = own;
        }
    }
    Ok(status)
}

fn complain(diagnostic: &Diagnostic, source: Source<'_>, streams: &mut Streams<'_>) -> io::Result<()> {
    streams.err.write_all(Report::new(diagnostic, source).render(false).as_bytes())
}

fn convert(
    request: &Request,
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
                complain(diagnostic, refused.source(name), streams)?;
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
    let mut result = Vec::new();
    let warnings = match output::write(&input.module, input.proto.as_ref(), &options, &mut result)? {
        Ok(warnings) => warnings,
        Err(error) => {
            complain(&error, Source::without_text(name), streams)?;
            return Ok(exit::USAGE);
        }
    };
    for diagnostic in &input.warnings {
        complain(diagnostic, input.source(name), streams)?;
    }
    for diagnostic in &warnings {
        complain(diagnostic, Source::without_text(name), streams)?;
    }
    let mut status = 0;
    if request.verify && report_losses(&input, &options, name, streams)? {
        status = exit::CHECK;
    }
    if output == "-" {
        streams.out.write_all(&result)?;
    } else if let Err(error) = std::fs::write(streams.current_dir.join(output), &result) {
        writeln!(streams.err, "error: can't write {output}: {error}")?;
        return Ok(exit::USAGE);
    }
    Ok(status)
}

/// Says what is lost; whether anything is.
fn report_losses(
    input: &Input<'_>,
    options: &OutputOptions,
    name: &str,
    streams: &mut Streams<'_>,
) -> io::Result<bool> {
    let losses = roundtrip::losses(&input.module, input.proto.as_ref(), options);
    for loss in &losses {
        complain(loss, Source::without_text(name), streams)?;
    }
    Ok(!losses.is_empty())
}
