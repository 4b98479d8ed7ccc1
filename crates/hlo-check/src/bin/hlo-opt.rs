//! `hlo-opt`: runs passes over an HLO file.

fn main() {}
