//! One test per file of lit-tests/, written by build.rs.

use std::path::Path;

/// Runs the test in the file `path`.
#[track_caller]
fn run(path: &str) {
    let result = hlo_check::lit::run_one(Path::new(path), &hlo_check::host());
    assert!(
        !result.code.is_failure(),
        "{}: {path}\n{}\nThe same by itself: cargo run --release -- -v {path}\n",
        result.code.name(),
        result.output
    );
}

include!(concat!(env!("OUT_DIR"), "/lit_tests.rs"));
