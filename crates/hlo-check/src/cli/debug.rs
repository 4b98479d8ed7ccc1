//! `hlo-check debug [FILE]`: passes on pasted HLO, at a prompt or from a script.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use super::options::{Syntax, Words};
use super::{Streams, exit};
use crate::debug::session::Session;
use crate::debug::world::World;
use crate::debug::{commands, script, terminal};

pub(super) const SYNTAX: Syntax = Syntax {
    operands: "[FILE]",
    words: Words::Files,
    options: &[],
    about: "Looks at what passes do to HLO, one command after the other. FILE, or what is pasted at the prompt, may be a\n\
            module, a computation or a few instructions, with what logs, mails and differences put around them.\n\
            `help` lists the commands, `help COMMAND` explains one. On a terminal lines can be edited, completed and\n\
            called back; from a pipe or a file the same commands are read, one a line, and the output is the same\n\
            every time. NO_COLOR turns colours off.",
    notes: "Exit status: 0 fine, 1 a command of a script failed, 2 wrong usage or unreadable file, 3 FILE is not HLO text.",
};

/// Reads the arguments: the file, or the exit status of a call that ends here.
fn file<'a>(
    command: &str,
    args: &'a [String],
    streams: &mut Streams<'_>,
) -> io::Result<Result<Option<&'a str>, u8>> {
    let given = match SYNTAX.read(command, args, streams)? {
        Ok(given) => given,
        Err(status) => return Ok(Err(status)),
    };
    match given.operands[..] {
        [] => Ok(Ok(None)),
        [file] => Ok(Ok(Some(file))),
        [_, word, ..] if commands::find(word).is_some() => {
            let mut message =
                format!("`{word}` is a command, which is given at the prompt or on standard input");
            if super::find_portable(word).is_some() {
                message.push_str(&format!("; `hlo-check {word} --help` shows how to ask just that"));
            }
            SYNTAX.misused(command, &message, streams).map(Err)
        }
        _ => SYNTAX.misused(command, "more than one file is given", streams).map(Err),
    }
}

/// Loads the file of the command line; the exit status if it can't be.
fn load(session: &mut Session, file: &str, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
    let bytes = match session.world.read_file(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(err, "error: can't read {file}: {error}")?;
            return Ok(exit::USAGE);
        }
    };
    match commands::read(session, file, Some(file), &bytes) {
        Ok(text) => {
            out.write_all(text.as_bytes())?;
            Ok(0)
        }
        Err(message) => {
            script::write_error(err, &message)?;
            Ok(exit::PARSE)
        }
    }
}

/// A session whose lines are all there.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let file = match file(command, args, streams)? {
        Ok(file) => file,
        Err(status) => return Ok(status),
    };
    let mut session = Session::new(streams.world());
    if let Some(file) = file {
        let status = load(&mut session, file, streams.out, streams.err)?;
        if status != 0 {
            return Ok(status);
        }
    }
    let input = String::from_utf8_lossy(streams.stdin);
    script::run(&mut session, &input, streams.out)
}

/// A session on the streams of this process.
pub(super) fn main(command: &str, args: Vec<String>) -> ExitCode {
    match on_process(command, &args) {
        Ok(status) => ExitCode::from(status),
        // Nobody reads on: that is their choice, not a fault.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(exit::USAGE)
        }
    }
}

fn on_process(command: &str, args: &[String]) -> io::Result<u8> {
    let is_script = !io::stdin().is_terminal();
    let is_plain =
        std::env::var_os("NO_COLOR").is_some() || std::env::var_os("TERM").is_some_and(|it| it == "dumb");
    let color = !is_script && !is_plain && io::stdout().is_terminal();
    let mut stdin = Vec::new();
    if is_script && !super::asks_for_help(args) {
        io::stdin().lock().read_to_end(&mut stdin)?;
    }
    let mut out = io::BufWriter::new(io::stdout());
    let mut err = io::stderr();
    let streams = Streams::of_process(&stdin, &mut out, &mut err);
    let mut streams = Streams { color, asks_process: !is_script, ..streams };
    if is_script {
        let status = run(command, args, &mut streams)?;
        out.flush()?;
        return Ok(status);
    }
    let file = match file(command, args, &mut streams)? {
        Ok(file) => file,
        Err(status) => {
            out.flush()?;
            return Ok(status);
        }
    };
    let world = World { color, scratch_dir: Some(Path::new("").to_owned()), ..World::default() };
    let mut session = Session::new(world);
    if let Some(file) = file {
        let status = load(&mut session, file, streams.out, streams.err)?;
        out.flush()?;
        if status != 0 {
            return Ok(status);
        }
    }
    terminal::run(&mut session)?;
    Ok(0)
}
