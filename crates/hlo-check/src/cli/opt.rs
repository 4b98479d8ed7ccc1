//! `hlo-check opt`, and `hlo-opt` by that name.

use std::process::ExitCode;

/// Runs passes over a file.
pub(super) fn run(_command: &str, args: Vec<String>) -> ExitCode {
    ExitCode::from(crate::opt::main(&args))
}
