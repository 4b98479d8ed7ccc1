//! `hlo-check filecheck`, and `FileCheck` by that name.

use std::process::ExitCode;

/// Runs FileCheck over files.
pub(super) fn run(command: &str, args: Vec<String>) -> ExitCode {
    let status = crate::filecheck::cli::main(command, args);
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}
