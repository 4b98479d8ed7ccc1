//! `cat`.

use super::super::shell::call::Call;
use super::super::shell::exec::Stop;
use super::{OptionTable, failure, read_operand, reason, success};
use crate::tool::Output;

const OPTIONS: OptionTable<'_> = OptionTable { flags: "v", values: "", long: &["show-nonprinting"] };

/// `cat [-v] [FILE...]`.
pub(super) fn cat(args: &[String], stdin: Vec<u8>, call: &Call<'_>) -> Result<Output, Stop> {
    let options = match OPTIONS.parse(args) {
        Ok(options) => options,
        Err(message) => return Ok(failure(1, format!("Unsupported: 'cat':  {message}"))),
    };
    let visible = !options.found.is_empty();
    if options.operands.is_empty() {
        return Ok(success(if visible { show_nonprinting(&stdin) } else { stdin }));
    }
    let mut out = Vec::new();
    for name in &options.operands {
        match read_operand(name, &stdin, call) {
            Ok(bytes) if visible => out.extend_from_slice(&show_nonprinting(&bytes)),
            Ok(bytes) => out.extend_from_slice(&bytes),
            Err(error) => {
                let mut output = failure(1, format!("cat: {name}: {}", reason(&error)));
                output.stdout = out;
                return Ok(output);
            }
        }
    }
    Ok(success(out))
}

/// Control bytes as `^X`, bytes above 127 as `M-x`; tabs and line ends stay.
fn show_nonprinting(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        if matches!(byte, b'\t' | b'\n') {
            out.push(byte);
            continue;
        }
        if byte > 127 {
            out.extend_from_slice(b"M-");
        }
        match byte & 127 {
            low @ 0..32 => out.extend_from_slice(&[b'^', low + 64]),
            127 => out.extend_from_slice(b"^?"),
            plain => out.push(plain),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn nonprinting() {
        assert_eq!(super::show_nonprinting(b"a\t\n\0\x7f\xff\x80"), b"a\t\n^@^?M-^?M-^@");
    }
}
