//! What reading allocates, all of it together: a bound on work that doesn't depend on the machine.

use std::alloc::System;
use std::io::Write as _;

use hlo_text::diagnostic::Code;
use hlo_text::{ParseOptions, parse_bytes, proto};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The bytes that `run` asks for, given back or not.
fn allocated<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let region = Region::new(ALLOCATOR);
    let result = run();
    let change = region.change();
    (result, change.bytes_allocated)
}

// The numbers are those of the whole process, so that there is only this test.
#[test]
fn blank_texts_are_unpacked_once_and_refused_soon() {
    const LENGTH: usize = 1 << 23;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&vec![b' '; LENGTH]).expect("memory takes everything");
    let packed = encoder.finish().expect("memory takes everything");
    let (text, bytes) = allocated(|| proto::decompress(&packed).expect("in order"));
    assert_eq!(text.len(), LENGTH);
    assert!(bytes < LENGTH + LENGTH / 8, "unpacking {LENGTH} bytes allocates {bytes}");
    let (refused, bytes) = allocated(|| parse_bytes(&text, &ParseOptions::default()).map(drop));
    let first = refused.expect_err("no module").diagnostics.swap_remove(0);
    assert_eq!(first.code, Code::UnexpectedToken);
    assert!(bytes < LENGTH, "refusing {LENGTH} bytes allocates {bytes}");
}
