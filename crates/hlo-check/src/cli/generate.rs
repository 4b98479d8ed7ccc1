//! `hlo-check gen --seed=N`: valid modules made up by chance.

use std::io;

use hlo_passes::generate::{Choices, DEFAULT_SIZE, MAX_SIZE, generate};

use super::Streams;
use super::options::{Syntax, Words, value};

pub(super) const SYNTAX: Syntax = Syntax {
    operands: "",
    words: Words::Any,
    options: &[
        value("--seed", "N", "which module; 0 if it isn't given"),
        value("--size", "N", "how many instructions, about; 100 if it isn't given"),
    ],
    about: "Prints a valid module made up by chance, full of what passes look for. The same numbers give the same module.",
    notes: "Example: hlo-check gen --seed=7 --size=20\nExit status: 0 fine, 2 wrong usage.",
};

/// Prints a module.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let given = match SYNTAX.read(command, args, streams)? {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    if let Some(operand) = given.operands.first() {
        return SYNTAX.misused(command, &format!("`{operand}` is no option"), streams);
    }
    let seed = match given.value("--seed").map(str::parse) {
        None => 0,
        Some(Ok(seed)) => seed,
        Some(Err(_)) => return SYNTAX.misused(command, "--seed takes a number below 2^64", streams),
    };
    let size = match given.number("--size", DEFAULT_SIZE) {
        Ok(size) if size <= MAX_SIZE => size,
        Ok(_) => {
            return SYNTAX.misused(command, &format!("--size takes a number up to {MAX_SIZE}"), streams);
        }
        Err(message) => return SYNTAX.misused(command, &message, streams),
    };
    streams.out.write_all(generate(&mut Choices::from_seed(seed), size).as_bytes())?;
    Ok(0)
}
