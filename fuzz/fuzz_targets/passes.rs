//! Any order of passes over any generated module: each leaves a valid module that prints what it is read from, and loses no
//! side effect but those it is said to remove. The bytes decide on passes, options and module.
#![no_main]

use hlo_passes::generate::{Choices, try_passes};
use libfuzzer_sys::fuzz_target;

/// At most so many passes run.
const PASSES: usize = 12;
/// Instructions, about; fewer if there are no more bytes.
const SIZE: usize = 120;

fuzz_target!(|bytes: &[u8]| {
    if let Err(fault) = try_passes(&mut Choices::from_bytes(bytes), PASSES, SIZE) {
        panic!("{fault}");
    }
});
