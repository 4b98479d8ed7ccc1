//! `hlo-check try`, `why` and `step`: the questions of a session of `hlo-check debug`, asked once.

use std::io;

use hlo_text::Module;

use super::options::{Given, OptionRow, Syntax, Words, flag, value};
use super::{Streams, exit};
use crate::debug::asked::Asked;
use crate::debug::attempt::Attempts;
use crate::debug::engine::{self, Failure, Request};
use crate::debug::remarks::{instruction_called, no_instruction};
use crate::debug::source::{self, Source};
use crate::debug::{step as steps, why as reasons};

/// What the ends of the three commands mean.
const NOTES: &str = "FILE may be HLO as people paste it: a part of a module, out of a log or a difference; `-` is standard input.\n\
                     Exit status: 0 fine, 2 wrong usage or unreadable file, 3 not HLO text, 4 invalid module,\n\
                     5 a pass failed, 134 a pass panicked.";

const PASS: OptionRow = value("--pass", "PASS", "the pass, with its options");
const NO_VERIFY: OptionRow = flag("--no-verify", "takes modules that break the verifier's rules");

pub(super) const TRY_SYNTAX: Syntax = Syntax {
    operands: "FILE",
    words: Words::Files,
    options: &[NO_VERIFY],
    about: "Runs every implemented pass on the module and lists those that change something, those that\n\
            fail and those that need options to be run, which are no failures.\n\n\
            Example: hlo-check try module.hlo",
    notes: NOTES,
};

pub(super) const WHY_SYNTAX: Syntax = Syntax {
    operands: "FILE --pass=PASS [--inst=%INSTRUCTION]",
    words: Words::Files,
    options: &[PASS, value("--inst", "%INSTRUCTION", "only what concerns this instruction"), NO_VERIFY],
    about: "Says why a pass leaves instructions alone, nearest misses first, or why it leaves this one alone.\n\n\
            Example: hlo-check why module.hlo --pass=legalize-intrinsics --inst=%gelu.4",
    notes: NOTES,
};

pub(super) const STEP_SYNTAX: Syntax = Syntax {
    operands: "FILE --pass=PASS [--limit=N]",
    words: Words::Files,
    options: &[PASS, value("--limit", "N", "how many rewrites are shown; 20 if it isn't given"), NO_VERIFY],
    about: "Shows what each rewrite of a pass changes, one after the other.\n\n\
            Example: hlo-check step module.hlo --pass=dce",
    notes: NOTES,
};

/// How many rewrites are shown unless another number is asked for; each runs the pass once more.
const DEFAULT_LIMIT: usize = 20;

/// What the commands ask about.
struct Input<'a> {
    module: Module,
    source: Source,
    verifies: bool,
    passes: &'a str,
    given: Given<'a>,
    asked: Asked<'a>,
}

/// Reads arguments and input; the exit status if that is the end of it.
fn open<'a>(
    command: &str,
    syntax: &Syntax,
    args: &'a [String],
    streams: &mut Streams<'_>,
) -> io::Result<Result<Input<'a>, u8>> {
    let given = match syntax.read(command, args, streams)? {
        Ok(given) => given,
        Err(status) => return Ok(Err(status)),
    };
    let needs_pass = syntax.options.iter().any(|option| option.name == PASS.name);
    let passes = match given.value(PASS.name) {
        None if needs_pass => {
            return syntax.misused(command, "which pass? `--pass=PASS`", streams).map(Err);
        }
        passes => passes.unwrap_or_default(),
    };
    let file = match given.operands[..] {
        [file] => file,
        [] => return syntax.misused(command, "which file? `-` is standard input", streams).map(Err),
        [first, second, ..] => {
            let message = format!("two inputs are given: `{first}` and `{second}`");
            return syntax.misused(command, &message, streams).map(Err);
        }
    };
    // A pass that isn't there needs no look at the file.
    if needs_pass && let Err(failure) = engine::single(passes, &streams.world()) {
        writeln!(streams.err, "error: {}", failure.text())?;
        return Ok(Err(failure.status));
    }
    let name = if file == "-" { "<stdin>" } else { file };
    let bytes = match streams.read(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(streams.err, "error: can't read {name}: {error}")?;
            return Ok(Err(exit::USAGE));
        }
    };
    let (module, source) = match source::read(name, Some(file), &bytes, false) {
        Ok(read) => read,
        Err(unreadable) => {
            streams.err.write_all(unreadable.text.as_bytes())?;
            return Ok(Err(exit::PARSE));
        }
    };
    streams.err.write_all(source.repairs_text().as_bytes())?;
    let is_valid = source.is_valid();
    if !is_valid && !given.has(NO_VERIFY.name) {
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
    let verifies = is_valid && !given.has(NO_VERIFY.name);
    Ok(Ok(Input { module, source, verifies, passes, given, asked: Asked::Shell(file) }))
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
    let input = match open(command, &TRY_SYNTAX, args, streams)? {
        Ok(input) => input,
        Err(status) => return Ok(status),
    };
    let attempts = Attempts::of(&input.module, input.verifies, &streams.world());
    streams.out.write_all(attempts.text(false, input.asked).as_bytes())?;
    Ok(attempts.status())
}

/// `hlo-check why`.
pub(super) fn why(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let input = match open(command, &WHY_SYNTAX, args, streams)? {
        Ok(input) => input,
        Err(status) => return Ok(status),
    };
    let passes = input.passes;
    let result = (|| {
        let info = engine::single(passes, &streams.world())?;
        let instruction = match input.given.value("--inst") {
            None => None,
            Some(name) => Some(
                instruction_called(&input.module, name)
                    .ok_or_else(|| Failure::usage(&no_instruction(&input.module, name, input.asked)))?,
            ),
        };
        let request = Request { about: instruction, ..Request::of(passes) };
        let run = engine::run(&input.module, &request, input.verifies, &streams.world())?;
        Ok(reasons::explain(info, &input.module, &input.source, &run, instruction))
    })();
    close(result, streams)
}

/// `hlo-check step`.
pub(super) fn step(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let input = match open(command, &STEP_SYNTAX, args, streams)? {
        Ok(input) => input,
        Err(status) => return Ok(status),
    };
    let passes = input.passes;
    let limit = match input.given.number("--limit", DEFAULT_LIMIT) {
        Ok(limit) if limit > 0 => limit as u64,
        Ok(_) => return STEP_SYNTAX.misused(command, "`--limit` takes a number above 0", streams),
        Err(message) => return STEP_SYNTAX.misused(command, &message, streams),
    };
    let result = steps::all(&input.module, passes, limit, input.verifies, &streams.world(), input.asked);
    close(result, streams)
}
