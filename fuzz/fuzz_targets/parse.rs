//! Any bytes: parsing ends with a module or diagnostics, whose rendering ends, too.
#![no_main]

use hlo_text::diagnostic::{Report, Source, sniff};
use hlo_text::{ParseOptions, parse_module};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = sniff(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for options in [ParseOptions::default(), ParseOptions::strict()] {
        if let Err(errors) = parse_module(text, &options) {
            assert!(!errors.is_empty(), "a rejected text has an error");
            for error in &errors {
                let _ = Report::new(error, Source::new("fuzz", text)).render(false);
            }
        }
    }
});
