//! The command line: which program is meant by its name and first argument, one file per subcommand.

mod batch;
mod convert;
mod explain;
mod filecheck;
mod opt;
mod structure;
mod test;
mod tool;
mod verify;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

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
}

/// How a subcommand is run. Each gets the words that called it (for messages) and the arguments.
enum Entry {
    /// On the streams of this process.
    Process(fn(&str, Vec<String>) -> ExitCode),
    /// On any streams.
    Portable(Portable),
}

/// Gives the exit status, or the error of a stream.
type Portable = fn(&str, &[String], &mut Streams<'_>) -> io::Result<u8>;

/// Where a subcommand reads and writes.
struct Streams<'s> {
    /// What `-` names.
    stdin: &'s [u8],
    /// Where relative paths begin.
    current_dir: &'s Path,
    out: &'s mut dyn Write,
    err: &'s mut dyn Write,
}

impl Streams<'_> {
    /// The contents of a file, or of standard input for `-`.
    ///
    /// # Errors
    /// The file can't be read.
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if path == "-" { Ok(self.stdin.to_vec()) } else { std::fs::read(self.current_dir.join(path)) }
    }
}

impl Entry {
    fn run(&self, command: &str, args: Vec<String>) -> ExitCode {
        let run = match self {
            Entry::Process(run) => return run(command, args),
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
        let mut streams =
            Streams { stdin: &stdin, current_dir: Path::new(""), out: &mut out, err: &mut io::stderr() };
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
            Entry::Portable(run) => Some(run),
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
    },
    Subcommand {
        name: "opt",
        program: Some("hlo-opt"),
        summary: Some("runs passes over HLO text and prints it"),
        run: Entry::Process(opt::run),
    },
    Subcommand {
        name: "verify",
        program: None,
        summary: Some("checks that modules keep the rules of XLA's compiler"),
        run: Entry::Portable(verify::run),
    },
    Subcommand {
        name: "convert",
        program: None,
        summary: Some("converts modules between HLO text and protocol buffers"),
        run: Entry::Portable(convert::run),
    },
    Subcommand {
        name: "explain",
        program: None,
        summary: Some("explains a diagnostic code or a pass"),
        run: Entry::Portable(explain::run),
    },
    Subcommand {
        name: "hash",
        program: None,
        summary: Some("prints a hash of modules that leaves out names, metadata and ids"),
        run: Entry::Portable(structure::hash),
    },
    Subcommand {
        name: "diff",
        program: None,
        summary: Some("compares two modules but for names, metadata and ids"),
        run: Entry::Portable(structure::diff),
    },
    Subcommand { name: "batch", program: None, summary: None, run: Entry::Process(batch::run) },
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
