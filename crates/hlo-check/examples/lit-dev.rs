//! lit with the small programs of its own tests, for comparisons with LLVM's lit.

use std::process::ExitCode;

use clap::Parser;
use hlo_check::lit;

#[path = "../tests/lit_tools/mod.rs"]
mod lit_tools;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: lit::cli::Options,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let host = lit::Host {
        tools: lit_tools::all(),
        suffixes: vec![".test".to_owned(), ".hlo".to_owned()],
        ..lit::Host::default()
    };
    match lit::run(&cli.options, &host) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(lit::cli::USAGE)
        }
    }
}
