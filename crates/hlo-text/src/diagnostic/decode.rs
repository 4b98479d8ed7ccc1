//! From bytes to text.

use std::borrow::Cow;

use super::{Code, Diagnostic, Span, sniff};

/// How much of an undecodable input is kept to show.
const SHOWN_BYTES: usize = 400;

/// An input that was not accepted, with the text its diagnostics point into.
#[derive(Clone, Debug)]
pub struct Rejected<'t> {
    /// Every fault found, at least one.
    pub diagnostics: Vec<Diagnostic>,
    /// The text: all of it, or if it is no text what can be shown of it.
    pub text: Cow<'t, str>,
}

/// The text that `bytes` are.
///
/// # Errors
/// They are something else than text (see [`sniff`]), or not UTF-8.
pub fn decode(bytes: &[u8]) -> Result<&str, Rejected<'_>> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(text),
        Err(error) => error,
    };
    let at = error.valid_up_to();
    if let Some(diagnostic) = mistaken(bytes) {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES)]);
        return Err(Rejected { diagnostics: vec![diagnostic], text });
    }
    // Up to the fault the lossy text has the same places.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(at + SHOWN_BYTES)]);
    let found = bytes.get(at).copied().unwrap_or_default();
    let diagnostic = Diagnostic::new(
        Code::NotUtf8,
        Span::new(at, at + char::REPLACEMENT_CHARACTER.len_utf8()),
        format!("byte {at} of the input, 0x{found:02x}, is not UTF-8"),
    )
    .label("HLO text is UTF-8")
    .help("write bytes of strings as escapes, `\\377` for example, or convert the file: `iconv -t UTF-8`");
    Err(Rejected { diagnostics: vec![diagnostic], text })
}

/// The diagnostic for an input that looks like something else than HLO text.
pub(crate) fn mistaken(bytes: &[u8]) -> Option<Diagnostic> {
    let (kind, advice) = sniff(bytes)?;
    let message = format!("this looks like {kind}, not HLO text");
    Some(Diagnostic::new(Code::NotHloText, Span::default(), message).help(advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_places() {
        assert_eq!(decode(b"abc").ok(), Some("abc"));
        let rejected = decode(b"HloModule m\n\xff\xfe").expect_err("no UTF-8");
        assert_eq!(rejected.diagnostics[0].code, Code::NotUtf8);
        assert_eq!(rejected.diagnostics[0].primary.span.start, 12);
        assert!(rejected.diagnostics[0].message.contains("byte 12"));
        let rejected = decode(b"ML\xefR\x01").expect_err("bytecode");
        assert_eq!(rejected.diagnostics[0].code, Code::NotHloText);
    }
}
