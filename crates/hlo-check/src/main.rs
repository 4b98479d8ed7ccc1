//! `hlo-check`: runs tests, and gives access to everything else by subcommand.

use std::process::ExitCode;

use clap::Parser;
use hlo_check::lit;

/// Runs lit tests in this process.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(flatten)]
    lit: lit::cli::Options,
}

fn main() -> ExitCode {
    let arguments = match lit::cli::arguments(std::env::args_os(), std::env::var("LIT_OPTS").ok()) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(lit::cli::USAGE);
        }
    };
    let cli = Cli::parse_from(arguments);
    let host = lit::Host { suffixes: vec![".hlo".to_owned()], ..lit::Host::default() };
    match lit::run(&cli.lit, &host) {
        Ok(status) => ExitCode::from(status),
        // Nobody reads on: nothing to say, and nobody to say it to.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(lit::cli::USAGE)
        }
    }
}
