//! Diagnostics, pass errors and remarks in each of the formats.

use std::borrow::Cow;
use std::io::{self, Write};

use hlo_passes::fixpoint::Fixpoint;
use hlo_passes::pass::Remark;
use hlo_passes::pipeline::PipelineError;
use hlo_passes::registry::codes::coded_error;
use hlo_passes::verify::BrokenModule;
use hlo_text::diagnostic::{Diagnostic, Label, Report, Severity, Source, severity_name};
use hlo_text::{Module, PrintOptions};
use serde_json::{Value, json};

use super::Streams;
use super::arguments::{Arguments, ErrorFormat};

/// Writes a diagnostic about `source`.
pub(super) fn diagnostic(
    diagnostic: &Diagnostic,
    source: Source<'_>,
    format: ErrorFormat,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    streams.err.write_all(diagnostic_text(diagnostic, source, format, streams.color).as_bytes())
}

/// Writes diagnostics about `source`, with `--Werror` warnings as errors.
pub(super) fn diagnostics(
    diagnostics: &[Diagnostic],
    source: Source<'_>,
    arguments: &Arguments,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    for found in diagnostics {
        let mut found = Cow::Borrowed(found);
        if arguments.warnings_are_errors && found.severity == Severity::Warning {
            let error = found.to_mut();
            error.severity = Severity::Error;
            let help = error.help.take().map_or_else(String::new, |help| format!(": {help}"));
            error.help = Some(format!("without `--Werror` this is a warning{help}"));
        }
        diagnostic(&found, source, arguments.error_format, streams)?;
    }
    Ok(())
}

/// A diagnostic about `source` as text.
pub(crate) fn diagnostic_text(
    diagnostic: &Diagnostic,
    source: Source<'_>,
    format: ErrorFormat,
    color: bool,
) -> String {
    let report = Report::new(diagnostic, source);
    match format {
        ErrorFormat::Human => report.render(color),
        ErrorFormat::Short => report.render_short(),
        ErrorFormat::Json => {
            let mut object = json!({
                "severity": severity_name(diagnostic.severity),
                "code": diagnostic.code.as_str(),
                "message": diagnostic.message,
                "file": source.name,
                "span": label(source, diagnostic.place()),
            });
            if let Some(fields) = object.as_object_mut() {
                let related: Vec<Value> =
                    diagnostic.secondary.iter().map(|place| label(source, place)).collect();
                fields.insert("related".to_owned(), related.into());
                fields.insert("help".to_owned(), diagnostic.help.clone().into());
            }
            format!("{object}\n")
        }
    }
}

/// A place as editors take it: lines and columns from 1, columns in characters, offsets in bytes of the text read.
fn label(source: Source<'_>, label: &Label) -> Value {
    let (line, column) = source.place(label.span.start as usize);
    let (end_line, end_column) = source.place(label.span.end as usize);
    json!({
        "line": line, "column": column, "end_line": end_line, "end_column": end_column,
        "start": label.span.start, "end": label.span.end, "text": label.text,
    })
}

/// Writes why a pipeline stopped or can't begin.
pub(super) fn pipeline(error: &PipelineError, format: ErrorFormat, err: &mut dyn Write) -> io::Result<()> {
    let coded = error.error.code.and_then(coded_error);
    if format.is_json() {
        let place = error.error.place.as_ref();
        let object = json!({
            "severity": "error",
            "code": error.error.code,
            "message": error.error.message,
            "pass": error.pass.map(|(_, key)| key),
            "instruction": place.map(|place| &place.instruction),
            "computation": place.map(|place| &place.computation),
            "cause": coded.map(|coded| coded.cause),
            "resolution": coded.map(|coded| coded.resolution),
        });
        return writeln!(err, "{object}");
    }
    // XLA's status codes stand before messages about the command line.
    let status = if error.pass.is_none() { "INVALID_ARGUMENT: " } else { "" };
    if coded.is_none_or(|coded| coded.text != error.error.message) {
        writeln!(err, "error: {status}{error}")?;
    }
    let Some(coded) = coded else { return Ok(()) };
    // The driver's texts are whole; those of passes are followed by the case.
    let text = if error.pass.is_none() { coded.text } else { &error.error.message };
    writeln!(err, "[ERROR] [{}] {text}", coded.code)?;
    writeln!(err, "cause: {}", coded.cause)?;
    writeln!(err, "resolution: {}", coded.resolution)
}

/// Writes that a line of a file that is to be split almost separates cases.
pub(super) fn separator(file: &str, line: usize, format: ErrorFormat, err: &mut dyn Write) -> io::Result<()> {
    let message = "this line is almost the separator of cases, which is `// -----` and nothing else";
    match format {
        ErrorFormat::Human | ErrorFormat::Short => writeln!(err, "{file}:{line}:1: error: {message}"),
        ErrorFormat::Json => {
            let object = json!({
                "severity": "error", "code": null, "message": message, "file": file,
                "span": { "line": line, "column": 1 },
            });
            writeln!(err, "{object}")
        }
    }
}

/// Writes how repeating the passes ended.
pub(super) fn fixpoint(end: &Fixpoint, format: ErrorFormat, err: &mut dyn Write) -> io::Result<()> {
    let severity = if end.end.is_stable() { "note" } else { "error" };
    if format.is_json() {
        let undone: Vec<Value> =
            end.undone.iter().map(|pair| json!({ "pass": pair.by, "undoes": pair.of })).collect();
        let object = json!({
            "severity": severity, "message": end.to_string(), "rounds": end.rounds, "undone": undone,
        });
        return writeln!(err, "{object}");
    }
    writeln!(err, "{severity}: {end}")?;
    for pair in &end.undone {
        writeln!(err, "  {pair}")?;
    }
    Ok(())
}

/// Writes what is to be said of a module that a pass broke, beside the error: the instruction before and after, and
/// what else is wrong.
pub(super) fn broken(
    broken: &BrokenModule,
    before: Option<&str>,
    format: ErrorFormat,
    err: &mut dyn Write,
) -> io::Result<()> {
    if format.is_json() {
        let others: Vec<Value> = broken
            .violations
            .iter()
            .map(|it| json!({"code": it.code.as_str(), "message": it.message}))
            .collect();
        let after = broken.instruction.as_ref().map(|(_, text)| text);
        let object = json!({
            "severity": "note", "pass": broken.pass, "before": before, "after": after, "violations": others,
        });
        return writeln!(err, "{object}");
    }
    if let Some((_, after)) = &broken.instruction {
        match before {
            Some(before) => writeln!(err, "note: before {}: {before}", broken.pass)?,
            None => writeln!(err, "note: before {}: there was no such instruction", broken.pass)?,
        }
        writeln!(err, "note: after {}: {after}", broken.pass)?;
    }
    for violation in broken.violations.iter().skip(1) {
        writeln!(err, "note: also [{}] {}", violation.code.as_str(), violation.message)?;
    }
    Ok(())
}

/// Says of constants whose values passes have made, all literals from number `first_new` on, whether they are left out of
/// the print: then they are nowhere.
pub(super) fn left_out(
    module: &Module,
    first_new: usize,
    print: &PrintOptions,
    format: ErrorFormat,
    err: &mut dyn Write,
) -> io::Result<()> {
    let mut count = 0;
    let mut first = None;
    for &computation in module.computations() {
        for id in module.live_instructions(computation) {
            let literal = module.instruction(id).literal.filter(|literal| literal.index() >= first_new);
            let literal = literal.map(|literal| module.literal(literal));
            if literal.is_some_and(|literal| !literal.has_elided() && print.leaves_out(literal)) {
                count += 1;
                first = first.or(Some(id));
            }
        }
    }
    let Some(first) = first else { return Ok(()) };
    let name = module.name_of(first);
    let (constants, are) = if count == 1 { ("constant", "is") } else { ("constants", "are") };
    let message = format!(
        "{count} new {constants} {are} left out of the text (`{{...}}`), the first is `{name}`; --print-large-constants \
         writes all values"
    );
    match format.is_json() {
        true => writeln!(err, "{}", json!({ "severity": "note", "message": message })),
        false => writeln!(err, "note: {message}"),
    }
}

/// Writes the command that makes a fault happen again, or why there is none.
pub(super) fn reproducer(
    command: &Result<String, String>,
    format: ErrorFormat,
    err: &mut dyn Write,
) -> io::Result<()> {
    if format.is_json() {
        return writeln!(err, "{}", json!({ "severity": "note", "reproducer": command.as_ref().ok() }));
    }
    match command {
        Ok(command) => writeln!(err, "note: reproducer: {command}"),
        Err(message) => writeln!(err, "note: {message}"),
    }
}

/// Writes a remark.
pub(super) fn remark(remark: &Remark, format: ErrorFormat, err: &mut dyn Write) -> io::Result<()> {
    let Remark { pass, kind, place, text } = remark;
    if format.is_json() {
        let object = json!({
            "severity": "remark", "pass": pass, "kind": kind.name(), "message": text,
            "instruction": place.instruction, "computation": place.computation,
        });
        return writeln!(err, "{object}");
    }
    let (instruction, computation) = (&place.instruction, &place.computation);
    writeln!(err, "remark: {pass}: {}: `{instruction}` in `{computation}`: {text}", kind.name())
}
