//! Any text: what is read is verified, with and without layouts, and no rule panics.
#![no_main]

use hlo_text::{ParseOptions, VerifyOptions, parse_module, verify};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for infer_shapes in [false, true] {
        let options = ParseOptions { infer_shapes, ..ParseOptions::default() };
        let Ok(parsed) = parse_module(text, &options) else { continue };
        for layout_sensitive in [false, true] {
            let options = VerifyOptions { layout_sensitive, ..VerifyOptions::default() };
            for violation in verify(&parsed.module, &options) {
                assert!(violation.code.is_rule(), "a rule is broken");
                let _ = violation.diagnostic(&parsed.source_map);
            }
        }
    }
});
