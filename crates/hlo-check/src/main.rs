//! `hlo-check`: runs tests, and gives access to everything else by subcommand.

use std::process::ExitCode;

fn main() -> ExitCode {
    hlo_check::cli::main(std::env::args_os())
}
