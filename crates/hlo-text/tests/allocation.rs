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

/// What `run` gives and the bytes that it asks for, those of growing included.
fn allocated_and_grown<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let region = Region::new(ALLOCATOR);
    let result = run();
    let change = region.change();
    (result, change.bytes_allocated + change.bytes_reallocated.unsigned_abs())
}

// The numbers are those of the whole process, so that one test calls the others.
#[test]
fn memory_is_bounded() {
    blank_texts_are_unpacked_once_and_refused_soon();
    large_literals_are_written_once();
}

fn large_literals_are_written_once() {
    const COUNT: usize = 1 << 20;
    let values = vec!["1.5"; COUNT].join(", ");
    let text = format!("HloModule m\n\nENTRY e {{\n  ROOT c = f32[{COUNT}] constant({{{values}}})\n}}\n");
    let module = parse_bytes(text.as_bytes(), &ParseOptions::default()).expect("it is valid").module;
    let (written, bytes) = allocated_and_grown(|| proto::write(&module, None).expect("it is small"));
    let size = written.bytes.len();
    assert!(size > 4 * COUNT && bytes < size + size / 8, "writing {size} bytes allocates {bytes}");
    let read = proto::read(&written.bytes, &proto::ReadOptions::default()).expect("it was written by us");
    let (again, bytes) =
        allocated_and_grown(|| proto::write(&read.module, Some(&read.source)).expect("it is small"));
    assert_eq!(again.bytes, written.bytes);
    // What was read is read again, to compare, and copied.
    assert!(bytes < 2 * size + size / 8, "writing {size} bytes that were read allocates {bytes}");
}

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
