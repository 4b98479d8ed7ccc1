//! Reads HLO files in lenient mode, prints them with all constants in full and reads that again. Reports every file
//! that is rejected, every print that does not give an equal module, every second print that differs from the
//! first, and (with `--lost`) words of instructions that no print shows.
//!
//! `cargo run -p hlo-lit-tests --example roundtrip -- [--lost] [--quiet] FILE...`; `-` reads paths from standard input.

use std::collections::HashMap;
use std::io::BufRead;
use std::process::ExitCode;

use hlo_text::format::quoted_length;
use hlo_text::ir::{ComputationId, InstructionId, Literal, LiteralData};
use hlo_text::{Module, ParseOptions, Parsed, PrintOptions, parse_module};

fn main() -> ExitCode {
    let mut paths = Vec::new();
    let mut lost = false;
    let mut quiet = false;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--lost" => lost = true,
            "--quiet" => quiet = true,
            "-" => paths.extend(std::io::stdin().lock().lines().map_while(Result::ok)),
            _ => paths.push(argument),
        }
    }
    let mut failures = 0;
    for path in &paths {
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => {
                println!("{path}: {error}");
                failures += 1;
                continue;
            }
        };
        match check(&text, lost) {
            Ok(notes) => {
                for note in notes.iter().filter(|_| !quiet) {
                    println!("{path}: {note}");
                }
            }
            Err(fault) => {
                println!("{path}: {fault}");
                failures += 1;
            }
        }
    }
    println!("{} files, {failures} failures", paths.len());
    ExitCode::from(u8::from(failures > 0))
}

/// Remarks on a text that passes, or what fails.
fn check(text: &str, lost: bool) -> Result<Vec<String>, String> {
    let first = parse(text).map_err(|fault| format!("rejected: {fault}"))?;
    let mut notes: Vec<String> = first
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.code.as_str(), warning.message))
        .collect();
    notes.sort();
    notes.dedup();
    for (name, options) in forms() {
        let printed = first.module.to_text(&options);
        let second = parse(&printed).map_err(|fault| format!("{name} print is rejected: {fault}"))?;
        let again = second.module.to_text(&options);
        if let Some(difference) = first_difference(&printed, &again) {
            return Err(format!("second {name} print differs: {difference}"));
        }
        if name != "short"
            && let Some(difference) = module_difference(&first.module, &second.module)
        {
            return Err(format!("{name} print gives another module: {difference}"));
        }
    }
    if lost {
        notes.extend(lost_words(text, &first));
    }
    Ok(notes)
}

/// The prints that must read back as the module they show.
fn forms() -> [(&'static str, PrintOptions); 3] {
    let default = PrintOptions { print_large_constants: true, ..PrintOptions::default() };
    [
        ("default", default.clone()),
        ("as-read", PrintOptions { syntax_as_read: true, print_operand_shape: true, ..default }),
        ("short", PrintOptions::short_parsable()),
    ]
}

fn parse(text: &str) -> Result<Parsed, String> {
    parse_module(text, &ParseOptions::default()).map_err(|errors| {
        let Some(error) = errors.first() else { return "no diagnostic".to_owned() };
        let start = (error.primary.span.start as usize).min(text.len());
        let line = text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = start - text[..start].rfind('\n').map_or(0, |at| at + 1) + 1;
        format!("{line}:{column}: {}: {}", error.code.as_str(), error.message)
    })
}

fn first_difference(first: &str, second: &str) -> Option<String> {
    if first == second {
        return None;
    }
    for (number, (left, right)) in first.lines().zip(second.lines()).enumerate() {
        if left != right {
            return Some(format!("line {}\n    {left}\n    {right}", number + 1));
        }
    }
    Some("one of them ends earlier".to_owned())
}

/// Where two modules that should be equal differ; instructions and computations are matched by name.
fn module_difference(first: &Module, second: &Module) -> Option<String> {
    let computations = |module: &Module| -> HashMap<String, ComputationId> {
        module.computations().iter().map(|&id| (module.computation_name(id).to_owned(), id)).collect()
    };
    let (left, right) = (computations(first), computations(second));
    if first.computation_name(first.entry()) != second.computation_name(second.entry()) {
        return Some("entry computations".to_owned());
    }
    for (name, &id) in &left {
        // Wrappers of asynchronous instructions are not shown.
        let Some(&other) = right.get(name) else { continue };
        if let Some(difference) = computation_difference(first, id, second, other) {
            return Some(format!("computation {name}: {difference}"));
        }
    }
    if left.len() != right.len() {
        return Some(format!("{} and {} computations", left.len(), right.len()));
    }
    None
}

fn computation_difference(
    first: &Module,
    id: ComputationId,
    second: &Module,
    other: ComputationId,
) -> Option<String> {
    let options = PrintOptions {
        print_large_constants: true,
        print_operand_shape: true,
        print_operand_index_annotation_interval: 0,
        ..PrintOptions::default()
    };
    let (computation, counterpart) = (first.computation(id), second.computation(other));
    let instructions: HashMap<&str, InstructionId> =
        counterpart.instructions.iter().map(|&id| (second.name_of(id), id)).collect();
    if computation.instructions.len() != instructions.len() {
        return Some(format!("{} and {} instructions", computation.instructions.len(), instructions.len()));
    }
    if first.name_of(computation.root) != second.name_of(counterpart.root) {
        return Some("roots".to_owned());
    }
    for &id in &computation.instructions {
        let Some(&other) = instructions.get(first.name_of(id)) else {
            return Some(format!("{} is missing", first.name_of(id)));
        };
        let (left, right) =
            (first.print_instruction(id, &options), second.print_instruction(other, &options));
        if left != right {
            return Some(format!("\n    {left}\n    {right}"));
        }
        let literals = (first.instruction(id).literal, second.instruction(other).literal);
        if let (Some(left), Some(right)) = literals
            && !same_elements(first.literal(left), second.literal(right))
        {
            return Some(format!("elements of {}", first.name_of(id)));
        }
    }
    None
}

fn same_elements(left: &Literal, right: &Literal) -> bool {
    let mut pairs = vec![(left, right)];
    while let Some((left, right)) = pairs.pop() {
        match (&left.data, &right.data) {
            (LiteralData::Tuple(left), LiteralData::Tuple(right)) if left.len() == right.len() => {
                pairs.extend(left.iter().zip(right));
            }
            (LiteralData::Dense(left), LiteralData::Dense(right)) if left == right => {}
            (LiteralData::Elided, LiteralData::Elided) => {}
            _ => return false,
        }
    }
    true
}

/// Words, numbers and strings of an instruction's line in the text that are not on its line in the print.
fn lost_words(text: &str, parsed: &Parsed) -> Vec<String> {
    let module = &parsed.module;
    let options = PrintOptions {
        print_large_constants: true,
        print_operand_shape: true,
        syntax_as_read: true,
        ..PrintOptions::default()
    };
    let mut lost = Vec::new();
    for &computation in module.computations() {
        for &id in &module.computation(computation).instructions {
            let Some(span) = parsed.source_map.instruction(id) else { continue };
            let Some(line) = text.get(span.start as usize..) else { continue };
            let line = line.lines().next().unwrap_or_default();
            // An instruction that goes on in other lines, or that stands within another one.
            if !line.contains(" = ") || line.matches('(').count() != line.matches(')').count() {
                continue;
            }
            let printed = module.print_instruction(id, &options);
            let mut shown: HashMap<&str, usize> = HashMap::new();
            for word in words(&printed) {
                *shown.entry(word).or_default() += 1;
            }
            for word in words(line) {
                match shown.get_mut(word) {
                    Some(count) if *count > 0 => *count -= 1,
                    _ => lost.push(format!("lost `{word}`\n    {line}\n    {printed}")),
                }
            }
        }
    }
    lost
}

/// The words, numbers and quoted strings of a line; comments are left out.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(|c: char| c.is_ascii_alphanumeric() || "\"_/".contains(c))?;
            rest = &rest[start..];
            if let Some(comment) = rest.strip_prefix("/*") {
                rest = comment.split_once("*/").map_or("", |parts| parts.1);
                continue;
            }
            if rest.starts_with('/') {
                rest = &rest[1..];
                continue;
            }
            let end = match rest.starts_with('"') {
                true => quoted_length(rest),
                false => rest
                    .find(|c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c)))
                    .unwrap_or(rest.len()),
            };
            let word = &rest[..end];
            rest = &rest[end..];
            return Some(word);
        }
    })
}
