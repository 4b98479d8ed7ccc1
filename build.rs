//! Writes one test per file of lit-tests/ (see tests/lit.rs).

fn main() {}
