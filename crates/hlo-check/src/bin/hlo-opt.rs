//! `hlo-opt`: runs passes over an HLO file.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> =
        std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    ExitCode::from(hlo_check::opt::main(&args))
}
