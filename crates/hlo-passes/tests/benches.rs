//! The benches do what they are to measure.

#[allow(dead_code, reason = "a bench has a `main`, too")]
#[path = "../benches/pass_scaling.rs"]
mod pass_scaling;

/// More patterns than there are bits in any element type, whose names are no names of instructions.
const PATTERNS: usize = 130;

#[test]
fn every_pass_finds_its_patterns() {
    pass_scaling::table(&[PATTERNS]);
}
