//! `hlo-check try`, `why` and `step`: the questions of a session of `hlo-check debug`, asked once.

use std::io;

use hlo_text::Module;

use super::{Streams, exit};
use crate::debug::attempt::Attempts;
use crate::debug::engine::{self, Failure, Request};
use crate::debug::remarks::{instruction_called, no_instruction};
use crate::debug::source::{self, Source};
use crate::debug::{step as steps, why as reasons};

/// What each of the commands says of its input and its end.
const COMMON: &str = "FILE may be HLO as people paste it: a part of a module, out of a log or a difference; `-` is standard
input. --no-verify takes modules that break the verifier's rules.

Exit status: 0 fine, 2 wrong usage or unreadable file, 3 not HLO text, 4 invalid module, 5 a pass failed, 134 a pass
panicked.";

const TRY: &str = "FILE

Runs every implemented pass on the module and lists those that change something, and those that fail.";

const WHY: &str = "FILE --pass=PASS [--inst=%INSTRUCTION]

Says why a pass leaves instructions alone, nearest misses first, or why it leaves this one alone.";

const STEP: &str = "FILE --pass=PASS [--limit=N]

Shows what each rewrite of a pass changes, the first 20 or N of them.";

/// How many rewrites are shown unless another number is asked for; each runs the pass once more.
const DEFAULT_LIMIT: u64 = 20;

/// The arguments of the three commands.
#[derive(Default)]
struct Arguments {
    file: Option<String>,
    pass: Option<String>,
    instruction: Option<String>,
    limit: Option<u64>,
    no_verify: bool,
}

/// Reads the arguments. `options` are those with values that the command has.
fn arguments(args: &[String], options: &[&str]) -> Result<Arguments, String> {
    let mut read = Arguments::default();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if word == "--no-verify" {
            read.no_verify = true;
            continue;
        }
        let Some(option) = word.strip_prefix("--") else {
            if word.starts_with('-') && word != "-" {
                return Err(format!("there is no option `{word}`"));
            }
            if let Some(other) = read.file.replace(word.clone()) {
                return Err(format!("two inputs are given: `{other}` and `{word}`"));
            }
            continue;
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        if !options.contains(&name) {
            return Err(format!("there is no option `--{name}`"));
        }
        let value =
            value.or_else(|| words.next().cloned()).ok_or_else(|| format!("`--{name}` takes a value"))?;
        match name {
            "pass" => read.pass = Some(value),
            "inst" => read.instruction = Some(value),
            _ => {
                let number = value.parse().ok().filter(|&number| number > 0);
                read.limit = Some(number.ok_or_else(|| format!("`--{name}` takes a number, not `{value}`"))?);
            }
        }
    }
    Ok(read)
}

/// What the commands ask about.
struct Input {
    module: Module,
    source: Source,
    verifies: bool,
    arguments: Arguments,
}

/// Reads arguments and input; the exit status if that is the end of it.
fn open(
    command: &str,
    usage: &str,
    args: &[String],
    options: &[&str],
    streams: &mut Streams<'_>,
) -> io::Result<Result<Input, u8>> {
    if super::asks_for_help(args) {
        writeln!(streams.out, "usage: {command} {usage}\n{COMMON}")?;
        return Ok(Err(0));
    }
    let read = arguments(args, options).and_then(|arguments| {
        if options.contains(&"pass") && arguments.pass.is_none() {
            return Err("which pass? `--pass=PASS`".to_owned());
        }
        let file = arguments.file.clone().ok_or("which file? `-` is standard input")?;
        Ok((arguments, file))
    });
    let (arguments, file) = match read {
        Ok(read) => read,
        Err(message) => {
            writeln!(streams.err, "error: {message}\nusage: {command} {usage}")?;
            return Ok(Err(exit::USAGE));
        }
    };
    let name = if file == "-" { "<stdin>" } else { &file };
    let bytes = match streams.read(&file) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(streams.err, "error: can't read {name}: {error}")?;
            return Ok(Err(exit::USAGE));
        }
    };
    let (module, source) = match source::read(name, Some(&file), &bytes, false) {
        Ok(read) => read,
        Err(unreadable) => {
            streams.err.write_all(unreadable.text.as_bytes())?;
            return Ok(Err(exit::PARSE));
        }
    };
    streams.err.write_all(source.repairs_text().as_bytes())?;
    let is_valid = source.is_valid();
    if !is_valid && !arguments.no_verify {
        streams.err.write_all(source.violations_text(false).as_bytes())?;
        // What was guessed to repair a text may break rules; the text's author can't help that.
        if source.repairs.is_empty() {
            writeln!(streams.err, "note: --no-verify leaves out these checks")?;
            return Ok(Err(exit::VERIFY));
        }
        writeln!(
            streams.err,
            "note: the repaired module is invalid; passes aren't held to leave a valid one"
        )?;
    }
    let verifies = is_valid && !arguments.no_verify;
    Ok(Ok(Input { module, source, verifies, arguments }))
}

/// Writes what came of it; the exit status.
fn close(result: Result<String, Failure>, streams: &mut Streams<'_>) -> io::Result<u8> {
    match result {
        Ok(text) => streams.out.write_all(text.as_bytes()).map(|()| 0),
        Err(failure) => {
            writeln!(streams.err, "error: {}", failure.text())?;
            Ok(failure.status)
        }
    }
}

/// `hlo-check try`.
pub(super) fn attempt(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let input = match open(command, TRY, args, &[], streams)? {
        Ok(input) => input,
        Err(status) => return Ok(status),
    };
    let attempts = Attempts::of(&input.module, input.verifies, &streams.world());
    close(Ok(attempts.text(false)), streams)
}

/// `hlo-check why`.
pub(super) fn why(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let input = match open(command, WHY, args, &["pass", "inst"], streams)? {
        Ok(input) => input,
        Err(status) => return Ok(status),
    };
    let passes = input.arguments.pass.as_deref().unwrap_or_default();
    let result = (|| {
        let info = engine::single(passes)?;
        let instruction = match input.arguments.instruction.as_deref() {
            None => None,
            Some(name) => Some(
                instruction_called(&input.module, name)
                    .ok_or_else(|| Failure::usage(&no_instruction(&input.module, name)))?,
            ),
        };
        let run = engine::run(&input.module, &Request::of(passes), input.verifies, &streams.world())?;
        Ok(reasons::explain(info, &input.module, &input.source, &run, instruction))
    })();
    close(result, streams)
}

/// `hlo-check step`.
pub(super) fn step(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let input = match open(command, STEP, args, &["pass", "limit"], streams)? {
        Ok(input) => input,
        Err(status) => return Ok(status),
    };
    let passes = input.arguments.pass.as_deref().unwrap_or_default();
    let limit = input.arguments.limit.unwrap_or(DEFAULT_LIMIT);
    let result = steps::all(&input.module, passes, limit, input.verifies, &streams.world());
    close(result, streams)
}
