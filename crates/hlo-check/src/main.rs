//! `hlo-check`: runs tests, and gives access to everything else by subcommand.

fn main() {}
