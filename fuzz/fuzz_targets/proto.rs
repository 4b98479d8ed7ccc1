//! Any bytes as a protocol buffer: reading ends with a module or a diagnostic. A module can be printed and verified; it is
//! written back as it was, and what is written anew is read as the same module.
#![no_main]

use hlo_text::diagnostic::{Report, Source};
use hlo_text::proto::{self, ReadOptions};
use hlo_text::{Dialect, PrintOptions, VerifyOptions, verify};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let print = PrintOptions { print_large_constants: true, ..PrintOptions::default() };
    for dialect in [Dialect::Strict, Dialect::Lenient] {
        let options = ReadOptions { dialect, encoding: None };
        let read = match proto::read(bytes, &options) {
            Ok(read) => read,
            Err(rejected) => {
                assert!(!rejected.diagnostics.is_empty(), "a rejected input has a diagnostic");
                for diagnostic in &rejected.diagnostics {
                    let _ = Report::new(diagnostic, Source::new("fuzz", &rejected.text)).render(false);
                }
                continue;
            }
        };
        let _ = verify(&read.module, &VerifyOptions::default());
        let text = read.module.to_text(&print);
        let kept = proto::write(&read.module, Some(&read.source)).expect("it is as large as the input");
        let container = proto::wrap(kept.bytes, &read.source);
        assert_eq!(container, read.source.bytes(), "an unedited module is written back as it was");
        let Ok(written) = proto::write(&read.module, None) else { continue };
        let options = ReadOptions { dialect, encoding: Some(proto::Encoding::Binary) };
        match proto::read(&written.bytes, &options) {
            Ok(back) => assert_eq!(back.module.to_text(&print), text, "what is written is read as the same"),
            Err(rejected) => panic!("what is written can't be read: {:?}", rejected.diagnostics),
        }
        let _ = proto::to_text(read.source.bytes(), read.source.container());
    }
});
