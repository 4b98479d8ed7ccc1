//! `hlo-check PATH...`: runs tests.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::lit;

/// Runs lit tests in this process: `hlo-check lit-tests/`.
#[derive(Parser)]
#[command(name = "hlo-check", version, after_help = super::subcommand_help())]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) lit: lit::cli::Options,
}

/// Runs the tests `args` (the program's own name first) asks for.
pub(super) fn run(args: Vec<OsString>) -> ExitCode {
    let arguments = match lit::cli::arguments(args.into_iter(), std::env::var("LIT_OPTS").ok()) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(lit::cli::USAGE);
        }
    };
    let cli = Cli::parse_from(arguments);
    match lit::run(&cli.lit, &crate::host()) {
        Ok(status) => ExitCode::from(status),
        // Nobody reads on: nothing to say, and nobody to say it to.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(lit::cli::USAGE)
        }
    }
}
