//! Inputs that are something else than HLO text: what they look like and what to do about it.

/// A kind of input that people give by mistake.
struct Kind {
    name: &'static str,
    advice: &'static str,
    matches: fn(&[u8]) -> bool,
}

/// How much of the input is looked at.
const SNIFF_BYTES: usize = 4096;

const KINDS: &[Kind] = &[
    Kind {
        name: "MLIR bytecode",
        advice: "convert it to HLO first, for instance with `stablehlo-translate` and XLA's `hlo-translate`",
        matches: |bytes| bytes.starts_with(b"ML\xefR"),
    },
    Kind {
        name: "a gzip file",
        advice: "decompress it first: `gzip -d`; the tools read compressed HLO as it is",
        matches: |bytes| bytes.starts_with(&[0x1f, 0x8b]),
    },
    Kind {
        name: "an HTML page",
        advice: "save the raw file, not the page that shows it",
        matches: |bytes| {
            let start = trimmed(bytes).get(..9).unwrap_or_default().to_ascii_lowercase();
            start.starts_with(b"<!doctype") || start.starts_with(b"<html")
        },
    },
    Kind {
        name: "StableHLO or other MLIR text",
        advice: "convert it to HLO first; in JAX, `lowered.compiler_ir(dialect=\"hlo\").as_hlo_text()` prints HLO",
        matches: |bytes| {
            let text = trimmed(bytes);
            let named = [
                &b"module @"[..],
                b"module {",
                b"module attributes",
                b"func.func ",
                b"#loc",
                b"\"builtin.module\"",
            ];
            named.iter().any(|start| text.starts_with(start))
                || contains(text, b"stablehlo.")
                || contains(text, b"func.func @")
        },
    },
    Kind {
        name: "Markdown",
        advice: "keep only what stands between the lines with ```",
        matches: |bytes| trimmed(bytes).starts_with(b"```"),
    },
    Kind {
        name: "LLVM IR",
        advice: "XLA writes it beside the HLO; look for a file that begins with `HloModule`",
        matches: |bytes| {
            let text = trimmed(bytes);
            text.starts_with(b"; ModuleID")
                || text.starts_with(b"source_filename =")
                || text.starts_with(b"target datalayout")
        },
    },
    Kind {
        name: "a protobuf text file",
        advice: "`hlo-check convert FILE OUT.hlo` makes it text; programs read it with `hlo_text::proto`",
        matches: |bytes| {
            let text = trimmed(bytes);
            [&b"hlo_module {"[..], b"hlo {", b"computations {"].iter().any(|start| text.starts_with(start))
        },
    },
    Kind {
        name: "a binary protobuf such as `.hlo.pb`",
        advice: "`hlo-check convert FILE OUT.hlo` makes it text; programs read it with `hlo_text::proto`",
        matches: |bytes| {
            let binary =
                bytes.iter().filter(|&&byte| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')).count();
            matches!(bytes.first(), Some(0x0a | 0x12)) && binary * 50 > bytes.len()
        },
    },
    Kind {
        name: "a binary file",
        advice: "give a file that begins with `HloModule`",
        matches: |bytes| bytes.contains(&0),
    },
];

fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start()
}

fn contains(text: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(text, needle).is_some()
}

/// What `bytes` look like, if they look like something else than HLO text, and what to do about it.
pub fn sniff(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let bytes = &bytes[..bytes.len().min(SNIFF_BYTES)];
    let text = trimmed(bytes);
    if text.starts_with(b"HloModule") || text.starts_with(b"ENTRY") {
        return None;
    }
    KINDS.iter().find(|kind| (kind.matches)(bytes)).map(|kind| (kind.name, kind.advice))
}

#[cfg(test)]
mod tests {
    use super::sniff;

    #[test]
    fn mistaken_inputs_are_named() {
        let cases: &[(&[u8], &str)] = &[
            (b"ML\xefR\x03StableHLO_v1", "MLIR bytecode"),
            (b"\x1f\x8b\x08\x00", "a gzip file"),
            (b"\n<!DOCTYPE html>\n<html>", "an HTML page"),
            (b"module @jit_f {\n  func.func public @main()", "StableHLO or other MLIR text"),
            (b"```\nHloModule m\n```\n", "Markdown"),
            (b"; ModuleID = 'x'\n", "LLVM IR"),
            (b"hlo_module {\n  name: \"x\"", "a protobuf text file"),
            (
                b"\x0a\x06jit_fn\x12\x04main\x1a\x03\x00\x01\x02\x01\x00",
                "a binary protobuf such as `.hlo.pb`",
            ),
            (b"PK\x03\x04\x00\x00", "a binary file"),
        ];
        for (bytes, name) in cases {
            assert_eq!(sniff(bytes).map(|found| found.0), Some(*name), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn hlo_is_not_mistaken() {
        for text in
            ["HloModule m\n", "ENTRY main {", "x = f32[] add(a, b)", "", "%fused (p: f32[]) -> f32[] {"]
        {
            assert_eq!(sniff(text.as_bytes()), None, "{text}");
        }
    }
}
