//! The command line: which program is meant by its name and first argument, one file per subcommand.

mod batch;

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

/// A subcommand of `hlo-check`.
struct Subcommand {
    name: &'static str,
    /// One line for `--help`; `None` hides it.
    summary: Option<&'static str>,
    run: fn(&[String]) -> ExitCode,
}

/// Every subcommand, in the order `--help` shows.
const SUBCOMMANDS: &[Subcommand] = &[Subcommand { name: "batch", summary: None, run: batch::run }];

/// Runs the program that `args` (the program's own name first) asks for.
pub fn main(args: impl IntoIterator<Item = String>) -> ExitCode {
    let args: Vec<String> = args.into_iter().collect();
    let rest = args.get(1..).unwrap_or_default();
    if let Some((first, rest)) = rest.split_first()
        && let Some(subcommand) = SUBCOMMANDS.iter().find(|subcommand| subcommand.name == first)
    {
        return (subcommand.run)(rest);
    }
    let names: Vec<&str> =
        SUBCOMMANDS.iter().filter(|subcommand| subcommand.summary.is_some()).map(|s| s.name).collect();
    eprintln!("usage: hlo-check PATH... | hlo-check {{{}}}", names.join("|"));
    ExitCode::from(exit::USAGE)
}
