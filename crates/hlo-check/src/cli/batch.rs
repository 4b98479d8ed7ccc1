//! `hlo-check batch`: answers requests, one JSON object per line, for scorers and fuzzers. Hidden, since it is for
//! programs; it goes through the same code as every other command.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use hlo_text::diagnostic::Diagnostic;
use hlo_text::ir::{InstructionId, ShapeId};
use hlo_text::shape_inference::{InferRequest, ShapeErrorKind, infer_shape_extended};
use hlo_text::{Dialect, ParseOptions, PrintOptions, VerifyOptions, parse_module, verify};
use serde::{Deserialize, Serialize};

use super::exit;

#[derive(Deserialize)]
struct TextRequest {
    id: serde_json::Value,
    text: String,
    #[serde(default)]
    options: serde_json::Value,
    #[serde(default)]
    large_constants: bool,
}

#[derive(Serialize)]
struct TextAnswer {
    id: serde_json::Value,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// Line and column of the first error, both from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<[usize; 2]>,
}

#[derive(Serialize)]
struct VerifyAnswer {
    id: serde_json::Value,
    /// Whether the text could be read.
    read: bool,
    /// The faults of the text or the violations of the module, in order.
    faults: Vec<VerifyFault>,
}

#[derive(Serialize)]
struct VerifyFault {
    code: &'static str,
    /// Whether the text or module can't be used.
    error: bool,
    message: String,
}

#[derive(Serialize)]
struct ShapesAnswer {
    id: serde_json::Value,
    read: bool,
    /// For each opcode the numbers of instructions whose stated shape is the inferred one, whose stated shape is
    /// another, whose shape must be stated, and whose operands or attributes give none.
    opcodes: BTreeMap<&'static str, [usize; 4]>,
    /// The second and the last of these in words.
    faults: Vec<String>,
}

/// `batch shapes` infers the result shapes of what it reads, `batch text [--strict]` parses and prints, `batch verify` verifies what it reads in lenient mode, `batch filecheck`
/// checks.
pub(super) fn run(_command: &str, args: Vec<String>) -> ExitCode {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let dialect = match words[..] {
        ["filecheck"] => {
            let status = crate::filecheck::cli::batch::main();
            return ExitCode::from(u8::try_from(status).unwrap_or(exit::USAGE));
        }
        ["verify"] => return finish(serve(io::stdin().lock(), io::stdout().lock(), answer_verify)),
        ["shapes"] => return finish(serve(io::stdin().lock(), io::stdout().lock(), answer_shapes)),
        ["text"] => Dialect::Lenient,
        ["text", "--strict"] => Dialect::Strict,
        _ => {
            eprintln!(
                "usage: hlo-check batch text [--strict] | batch verify | batch shapes | batch filecheck"
            );
            return ExitCode::from(exit::USAGE);
        }
    };
    finish(serve(io::stdin().lock(), io::stdout().lock(), |line| answer_text(line, dialect)))
}

fn finish(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(exit::USAGE)
        }
    }
}

fn serve(
    input: impl BufRead,
    mut output: impl Write,
    answer: impl Fn(&str) -> serde_json::Result<String>,
) -> io::Result<()> {
    for line in input.lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = answer(&line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        output.write_all(answer.as_bytes())?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

fn answer_text(line: &str, dialect: Dialect) -> serde_json::Result<String> {
    let request: TextRequest = serde_json::from_str(line)?;
    let result = print_options(&request).and_then(|options| {
        let parse_options = ParseOptions { dialect, ..ParseOptions::default() };
        match parse_module(&request.text, &parse_options) {
            Ok(parsed) => Ok(parsed.module.to_text(&options)),
            Err(errors) => Err(first_error(&request.text, &errors)),
        }
    });
    let answer = match result {
        Ok(text) => {
            TextAnswer { id: request.id, ok: true, text: Some(text), error: None, code: None, at: None }
        }
        Err((error, code, at)) => {
            TextAnswer { id: request.id, ok: false, text: None, error: Some(error), code, at }
        }
    };
    serde_json::to_string(&answer)
}

fn answer_verify(line: &str) -> serde_json::Result<String> {
    let request: TextRequest = serde_json::from_str(line)?;
    let answer = match parse_module(&request.text, &ParseOptions::default()) {
        Ok(parsed) => {
            let violations = verify(&parsed.module, &VerifyOptions::default()).into_iter();
            let faults = violations.map(|it| VerifyFault {
                code: it.code.as_str(),
                error: it.is_error(),
                message: it.message,
            });
            VerifyAnswer { id: request.id, read: true, faults: faults.collect() }
        }
        Err(errors) => {
            let faults = errors.into_iter().map(|it| VerifyFault {
                code: it.code.as_str(),
                error: true,
                message: it.message,
            });
            VerifyAnswer { id: request.id, read: false, faults: faults.collect() }
        }
    };
    serde_json::to_string(&answer)
}

fn answer_shapes(line: &str) -> serde_json::Result<String> {
    let request: TextRequest = serde_json::from_str(line)?;
    let mut answer =
        ShapesAnswer { id: request.id, read: false, opcodes: BTreeMap::new(), faults: Vec::new() };
    if let Ok(parsed) = parse_module(&request.text, &ParseOptions::default()) {
        answer.read = true;
        let mut module = parsed.module;
        let ids: Vec<InstructionId> = module
            .computations()
            .iter()
            .flat_map(|&id| module.computation(id).instructions.clone())
            .collect();
        for id in ids {
            let opcode = module.instruction(id).opcode;
            let stated = module.instruction(id).shape;
            let operands: Vec<ShapeId> =
                module.operands(id).iter().map(|&id| module.instruction(id).shape).collect();
            let attributes = module.attributes(id).to_vec();
            let infer = InferRequest { opcode, operands: &operands, attributes: &attributes };
            let result = infer_shape_extended(&infer, None, &mut module);
            let column = match &result {
                Ok(shape) if module.shapes().compatible(*shape, stated) => 0,
                // The type a dot accumulates in and contexts of starts are free.
                Ok(_)
                    if infer_shape_extended(&infer, Some(stated), &mut module)
                        .is_ok_and(|shape| module.shapes().compatible(shape, stated)) =>
                {
                    2
                }
                Ok(_) => 1,
                Err(error) if error.kind == ShapeErrorKind::NotInferable => 2,
                Err(_) => 3,
            };
            answer.opcodes.entry(opcode.name()).or_default()[column] += 1;
            if column % 2 == 1 {
                let what = match result {
                    Ok(shape) => module.shape_text(shape, false),
                    Err(error) => error.message,
                };
                let name = module.name_of(id);
                answer.faults.push(format!("{opcode} {name}: {}; {what}", module.shape_text(stated, false)));
            }
        }
    }
    serde_json::to_string(&answer)
}

type Fault = (String, Option<&'static str>, Option<[usize; 2]>);

fn first_error(text: &str, errors: &[Diagnostic]) -> Fault {
    let Some(error) = errors.first() else { return ("no reason given".to_owned(), None, None) };
    let at = crate::input::line_and_column(text, error.primary.span.start as usize);
    (error.message.clone(), Some(error.code.as_str()), Some([at.0, at.1]))
}

fn print_options(request: &TextRequest) -> Result<PrintOptions, Fault> {
    let plain = |message: String| (message, None, None);
    let mut options = match &request.options {
        serde_json::Value::Null => PrintOptions::default(),
        serde_json::Value::String(name) => {
            PrintOptions::preset(name).ok_or_else(|| plain(format!("there is no print preset `{name}`")))?
        }
        serde_json::Value::Object(fields) => {
            let mut options = PrintOptions::default();
            for (name, value) in fields {
                let value = match value {
                    serde_json::Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                options.set(name, &value).map_err(plain)?;
            }
            options
        }
        other => return Err(plain(format!("`options` is a preset or an object, not {other}"))),
    };
    options.print_large_constants |= request.large_constants;
    Ok(options)
}
