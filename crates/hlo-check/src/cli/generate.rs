//! `hlo-check gen --seed=N`: valid modules made up by chance.

use std::io;

use hlo_passes::generate::{Choices, DEFAULT_SIZE, MAX_SIZE, generate};

use super::{Streams, exit};

const USAGE: &str = "[--seed=N] [--size=N]

Prints a valid module made up by chance, full of what passes look for. The same numbers give the same module.

  --seed=N  which module (0)
  --size=N  how many instructions, about (100)

Exit status: 0 fine, 2 wrong usage.";

/// Prints a module.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let (mut seed, mut size) = (0, DEFAULT_SIZE);
    for arg in args {
        let fault = match arg.split_once('=') {
            Some(("--seed", value)) => match value.parse() {
                Ok(number) => {
                    seed = number;
                    continue;
                }
                Err(_) => format!("--seed takes a number below 2^64, not `{value}`"),
            },
            Some(("--size", value)) => match value.parse() {
                Ok(number) if number <= MAX_SIZE => {
                    size = number;
                    continue;
                }
                _ => format!("--size takes a number up to {MAX_SIZE}, not `{value}`"),
            },
            _ if super::asks_for_help(std::slice::from_ref(arg)) => {
                writeln!(streams.out, "usage: {command} {USAGE}")?;
                return Ok(0);
            }
            _ => format!("`{arg}` is no option"),
        };
        writeln!(streams.err, "error: {fault}\nusage: {command} {USAGE}")?;
        return Ok(exit::USAGE);
    }
    streams.out.write_all(generate(&mut Choices::from_seed(seed), size).as_bytes())?;
    Ok(0)
}
