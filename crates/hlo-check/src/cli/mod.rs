//! The command line: which program is meant by its name and first argument, one file per subcommand.

mod batch;
mod completions;
mod convert;
mod debug;
mod diff;
mod explain;
mod filecheck;
pub(crate) mod fmt;
mod generate;
mod graph;
mod load;
mod opt;
mod options;
mod probe;
mod stats;
mod structure;
mod test;
mod tool;
mod update;
mod verify;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::debug::world::World;
use crate::tool::Invocation;

pub use tool::CheckTool;

/// Exit statuses of every program here beside 0; those of `FileCheck` and of test runs are LLVM's.
pub mod exit {
    /// A check or test failed, or two things compared differ.
    pub const CHECK: u8 = 1;
    /// The command line is wrong, or a file cannot be read or written.
    pub const USAGE: u8 = 2;
    /// The input is not HLO text.
    pub const PARSE: u8 = 3;
    /// The module breaks a rule of the verifier.
    pub const VERIFY: u8 = 4;
    /// A pass failed or is not implemented.
    pub const PASS: u8 = 5;
    /// A program panicked; what shells report of one that aborts.
    pub const CRASH: u8 = 134;
}

/// A subcommand of `hlo-check`, or a program that `hlo-check` is under another name.
struct Subcommand {
    name: &'static str,
    /// The program's name, if it may be called by that, too.
    program: Option<&'static str>,
    /// One line for `--help`; `None` hides it.
    summary: Option<&'static str>,
    run: Entry,
    arguments: Arguments,
}

/// What may follow the name of a subcommand.
enum Arguments {
    /// A table of its own.
    Own(&'static options::Syntax),
    /// The table of `hlo-opt`.
    Opt,
    /// The table of `FileCheck`.
    FileCheck,
    /// Nothing people type.
    Hidden,
}

/// How a subcommand is run. Each gets the words that called it (for messages) and the arguments.
enum Entry {
    /// On the streams of this process.
    Process(fn(&str, Vec<String>) -> ExitCode),
    /// On any streams.
    Portable(Portable),
    /// On the streams of this process, which may be a terminal; or on any others.
    Interactive { process: fn(&str, Vec<String>) -> ExitCode, portable: Portable },
}

/// Gives the exit status, or the error of a stream.
type Portable = fn(&str, &[String], &mut Streams<'_>) -> io::Result<u8>;

/// Where a subcommand reads and writes.
struct Streams<'s> {
    /// What `-` names.
    stdin: &'s [u8],
    /// Where relative paths begin.
    current_dir: &'s Path,
    /// Where files go that nobody asked for by name; empty for the current directory.
    scratch_dir: &'s Path,
    /// The settings passes see; `None` for those of this process.
    environment: Option<&'s BTreeMap<String, String>>,
    out: &'s mut dyn Write,
    err: &'s mut dyn Write,
    /// Whether `out` is a terminal whose user hasn't asked for no colours.
    color: bool,
    /// Whether answers come from the standard input of this process, line by line; otherwise from `stdin`.
    asks_process: bool,
}

impl<'s> Streams<'s> {
    /// Those of this process, whose output and errors go to `out` and `err`; `stdin` is what has been read of its input.
    fn of_process(stdin: &'s [u8], out: &'s mut dyn Write, err: &'s mut dyn Write) -> Self {
        Self {
            stdin,
            current_dir: Path::new(""),
            scratch_dir: Path::new(""),
            environment: None,
            out,
            err,
            color: io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            asks_process: true,
        }
    }

    /// Those of a call in a RUN line.
    fn of_call(call: &'s Invocation, out: &'s mut dyn Write, err: &'s mut dyn Write) -> Self {
        Self {
            stdin: &call.stdin,
            current_dir: &call.current_dir,
            scratch_dir: &call.scratch_dir,
            environment: Some(&call.env),
            out,
            err,
            color: false,
            asks_process: false,
        }
    }

    /// What sessions and passes have around them here; nothing is coloured.
    fn world(&self) -> World {
        World {
            current_dir: self.current_dir.to_owned(),
            scratch_dir: Some(self.current_dir.join(self.scratch_dir)),
            environment: self.environment.cloned(),
            color: false,
        }
    }

    /// The contents of a file, or of standard input for `-`.
    ///
    /// # Errors
    /// The file can't be read.
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if path == "-" { Ok(self.stdin.to_vec()) } else { std::fs::read(self.current_dir.join(path)) }
    }

    /// Asks something that is answered with `y` or anything else; without an answer it is no.
    ///
    /// # Errors
    /// Those of the streams.
    fn ask(&mut self, question: &str) -> io::Result<bool> {
        write!(self.out, "{question} [y/N] ")?;
        self.out.flush()?;
        let mut answer = Vec::new();
        if self.asks_process {
            io::stdin().lock().read_until(b'\n', &mut answer)?;
        } else {
            let end = memchr::memchr(b'\n', self.stdin).map_or(self.stdin.len(), |end| end + 1);
            let (line, rest) = self.stdin.split_at(end);
            answer.extend_from_slice(line);
            self.stdin = rest;
            writeln!(self.out)?;
        }
        Ok(matches!(answer.trim_ascii().to_ascii_lowercase().as_slice(), b"y" | b"yes"))
    }
}

impl Entry {
    fn run(&self, command: &str, args: Vec<String>) -> ExitCode {
        let run = match self {
            Entry::Process(run) | Entry::Interactive { process: run, .. } => return run(command, args),
            Entry::Portable(run) => run,
        };
        let mut stdin = Vec::new();
        if args.iter().any(|arg| arg == "-")
            && let Err(error) = io::stdin().lock().read_to_end(&mut stdin)
        {
            eprintln!("error: can't read standard input: {error}");
            return ExitCode::from(exit::USAGE);
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        let mut err = io::stderr();
        let mut streams = Streams::of_process(&stdin, &mut out, &mut err);
        let status = run(command, &args, &mut streams);
        match status.and_then(|status| out.flush().map(|()| status)) {
            Ok(status) => ExitCode::from(status),
            // Nobody reads on: that is their choice, not a fault.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::from(exit::USAGE)
            }
        }
    }
}

/// Whether the arguments of a subcommand ask what it does.
fn asks_for_help(args: &[String]) -> bool {
    args.iter().any(|arg| matches!(arg.as_str(), "--help" | "-h"))
}

/// The subcommand called `name` if it runs on any streams.
fn find_portable(name: &str) -> Option<Portable> {
    SUBCOMMANDS.iter().find(|subcommand| subcommand.name == name).and_then(|subcommand| {
        match subcommand.run {
            Entry::Portable(run) | Entry::Interactive { portable: run, .. } => Some(run),
            Entry::Process(_) => None,
        }
    })
}

/// Every subcommand, in the order `--help` shows.
const SUBCOMMANDS: &[Subcommand] = &[
    Subcommand {
        name: "filecheck",
        program: Some("FileCheck"),
        summary: Some("checks an input against the CHECK lines of a file, as LLVM's FileCheck"),
        run: Entry::Process(filecheck::run),
        arguments: Arguments::FileCheck,
    },
    Subcommand {
        name: "opt",
        program: Some("hlo-opt"),
        summary: Some("runs passes over HLO text and prints it"),
        run: Entry::Process(opt::run),
        arguments: Arguments::Opt,
    },
    Subcommand {
        name: "verify",
        program: None,
        summary: Some("checks that modules keep the rules of XLA's compiler"),
        run: Entry::Portable(verify::run),
        arguments: Arguments::Own(&verify::SYNTAX),
    },
    Subcommand {
        name: "convert",
        program: None,
        summary: Some("converts modules between HLO text and protocol buffers"),
        run: Entry::Portable(convert::run),
        arguments: Arguments::Own(&convert::SYNTAX),
    },
    Subcommand {
        name: "explain",
        program: None,
        summary: Some("explains a diagnostic code or a pass"),
        run: Entry::Portable(explain::run),
        arguments: Arguments::Own(&explain::SYNTAX),
    },
    Subcommand {
        name: "hash",
        program: None,
        summary: Some("prints a hash of modules that leaves out names, metadata and ids"),
        run: Entry::Portable(structure::hash),
        arguments: Arguments::Own(&structure::HASH_SYNTAX),
    },
    Subcommand {
        name: "diff",
        program: None,
        summary: Some("compares two modules instruction by instruction"),
        run: Entry::Portable(diff::run),
        arguments: Arguments::Own(&diff::SYNTAX),
    },
    Subcommand {
        name: "stats",
        program: None,
        summary: Some("counts what is in a module: opcodes, shapes, bytes, collectives"),
        run: Entry::Portable(stats::run),
        arguments: Arguments::Own(&stats::SYNTAX),
    },
    Subcommand {
        name: "update",
        program: None,
        summary: Some("writes generated CHECK lines of tests anew"),
        run: Entry::Portable(update::run),
        arguments: Arguments::Own(&update::SYNTAX),
    },
    Subcommand {
        name: "debug",
        program: None,
        summary: Some("runs passes on pasted HLO, step by step, at a prompt or from a script"),
        run: Entry::Interactive { process: debug::main, portable: debug::run },
        arguments: Arguments::Own(&debug::SYNTAX),
    },
    Subcommand {
        name: "try",
        program: None,
        summary: Some("says which of all passes would change a module, and how"),
        run: Entry::Portable(probe::attempt),
        arguments: Arguments::Own(&probe::TRY_SYNTAX),
    },
    Subcommand {
        name: "why",
        program: None,
        summary: Some("says why a pass leaves a module, or an instruction of it, alone"),
        run: Entry::Portable(probe::why),
        arguments: Arguments::Own(&probe::WHY_SYNTAX),
    },
    Subcommand {
        name: "step",
        program: None,
        summary: Some("shows what a pass changes, rewrite by rewrite"),
        run: Entry::Portable(probe::step),
        arguments: Arguments::Own(&probe::STEP_SYNTAX),
    },
    Subcommand {
        name: "gen",
        program: None,
        summary: Some("prints a valid module made up by chance"),
        run: Entry::Portable(generate::run),
        arguments: Arguments::Own(&generate::SYNTAX),
    },
    Subcommand {
        name: "fmt",
        program: None,
        summary: Some("lays HLO files out, with their comments"),
        run: Entry::Portable(fmt::run),
        arguments: Arguments::Own(&fmt::SYNTAX),
    },
    Subcommand {
        name: "graph",
        program: None,
        summary: Some("shows a module, or two side by side, as a graph: dot or a page"),
        run: Entry::Portable(graph::run),
        arguments: Arguments::Own(&graph::SYNTAX),
    },
    Subcommand {
        name: "completions",
        program: None,
        summary: Some("prints a script that completes command lines in a shell"),
        run: Entry::Portable(completions::run),
        arguments: Arguments::Own(&completions::SYNTAX),
    },
    Subcommand {
        name: completions::WORDS,
        program: None,
        summary: None,
        run: Entry::Portable(completions::words),
        arguments: Arguments::Hidden,
    },
    Subcommand {
        name: "batch",
        program: None,
        summary: None,
        run: Entry::Process(batch::run),
        arguments: Arguments::Hidden,
    },
];

/// The subcommands for `--help`.
fn subcommand_help() -> String {
    let shown = SUBCOMMANDS.iter().filter_map(|subcommand| Some((subcommand.name, subcommand.summary?)));
    let lines: Vec<String> = shown.map(|(name, summary)| format!("  {name:<12} {summary}")).collect();
    format!("Subcommands (hlo-check SUBCOMMAND --help):\n{}", lines.join("\n"))
}

/// Runs the program that `args` (the program's own name first) asks for.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let command = args.first().map(|arg| arg.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = Path::new(&command).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let words = |from: usize| -> Vec<String> {
        args.iter().skip(from).map(|arg| arg.to_string_lossy().into_owned()).collect()
    };
    if let Some(program) =
        SUBCOMMANDS.iter().find(|subcommand| subcommand.program == stem.as_deref() && stem.is_some())
    {
        return program.run.run(&command, words(1));
    }
    let first = args.get(1).map(|arg| arg.to_string_lossy().into_owned());
    match SUBCOMMANDS.iter().find(|subcommand| Some(subcommand.name) == first.as_deref()) {
        Some(subcommand) => subcommand.run.run(&format!("{command} {}", subcommand.name), words(2)),
        None => test::run(args),
    }
}
