//! The command line: which program is meant by its name and first argument, one file per subcommand.

mod batch;
mod explain;
mod filecheck;
mod opt;
mod test;
mod verify;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

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
    /// A pass failed, is unknown or not implemented.
    pub const PASS: u8 = 5;
}

/// A subcommand of `hlo-check`, or a program that `hlo-check` is under another name.
struct Subcommand {
    name: &'static str,
    /// The program's name, if it may be called by that, too.
    program: Option<&'static str>,
    /// One line for `--help`; `None` hides it.
    summary: Option<&'static str>,
    /// Gets the words that called it (for messages) and the arguments.
    run: fn(&str, Vec<String>) -> ExitCode,
}

/// Every subcommand, in the order `--help` shows.
const SUBCOMMANDS: &[Subcommand] = &[
    Subcommand {
        name: "filecheck",
        program: Some("FileCheck"),
        summary: Some("checks an input against the CHECK lines of a file, as LLVM's FileCheck"),
        run: filecheck::run,
    },
    Subcommand {
        name: "opt",
        program: Some("hlo-opt"),
        summary: Some("runs passes over HLO text and prints it"),
        run: opt::run,
    },
    Subcommand {
        name: "verify",
        program: None,
        summary: Some("checks that modules keep the rules of XLA's compiler"),
        run: verify::run,
    },
    Subcommand {
        name: "explain",
        program: None,
        summary: Some("explains a diagnostic code or a pass"),
        run: explain::run,
    },
    Subcommand { name: "batch", program: None, summary: None, run: batch::run },
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
        return (program.run)(&command, words(1));
    }
    let first = args.get(1).map(|arg| arg.to_string_lossy().into_owned());
    match SUBCOMMANDS.iter().find(|subcommand| Some(subcommand.name) == first.as_deref()) {
        Some(subcommand) => (subcommand.run)(&format!("{command} {}", subcommand.name), words(2)),
        None => test::run(args),
    }
}
