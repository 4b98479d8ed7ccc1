//! `hlo-check`: runs tests, and gives access to everything else by subcommand.

use std::path::Path;
use std::process::ExitCode;

use hlo_check::filecheck;

fn main() -> ExitCode {
    let mut args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    let command = args.next().unwrap_or_default();
    let called_as_filecheck = Path::new(&command).file_stem().is_some_and(|stem| stem == "FileCheck");
    let status = if called_as_filecheck {
        filecheck::cli::main(&command, args.collect())
    } else {
        match args.next().as_deref() {
            Some("filecheck") => filecheck::cli::main(&format!("{command} filecheck"), args.collect()),
            Some("batch") if args.next().as_deref() == Some("filecheck") => filecheck::cli::batch::main(),
            _ => {
                eprintln!("usage: hlo-check filecheck CHECKFILE [OPTIONS]");
                2
            }
        }
    };
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}
