//! `hlo-check`: runs tests, and gives access to everything else by subcommand.

use std::process::ExitCode;

/// Tests and passes make many small things on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    hlo_check::cli::main(std::env::args_os())
}
