//! What stands in a text where no token of HLO does.

use std::borrow::Cow;

/// What is to be said of a place that begins no token.
pub(super) struct Fault {
    /// What is wrong, if it doesn't matter what was expected.
    pub(super) message: Option<&'static str>,
    /// What stands there.
    pub(super) label: Cow<'static, str>,
    /// What to do.
    pub(super) help: Option<&'static str>,
}

/// What begins texts that get into HLO by mistake, what it is, and what to do about it.
const FOREIGN: &[(&str, &str, &str)] = &[
    ("```", "a Markdown fence", "keep only what stands between the fences"),
    ("\u{feff}", "a byte order mark", "save the file as UTF-8 without one"),
    (";", "a semicolon", "instructions end without a sign; a comment begins with `//`"),
    ("<<<<<<<", "the mark of a merge conflict", "choose one of the versions"),
    ("|", "a bar", "between operands and attributes stands `,`"),
    ("&", "an ampersand", "names begin with `%` or with nothing"),
    ("@", "an at sign", "names begin with `%` or with nothing"),
    ("$", "a dollar sign", "names begin with `%` or with nothing"),
    ("\u{201c}", "a typographic quotation mark", "strings stand between `\"`"),
    ("\u{201d}", "a typographic quotation mark", "strings stand between `\"`"),
    ("\u{a0}", "a no-break space", "write a blank"),
    ("\u{200b}", "a space without width", "delete it"),
    ("\u{2192}", "an arrow", "write `->`"),
];

/// What stands at byte `at` of `source`, where no token begins.
pub(super) fn describe(source: &str, at: usize) -> Fault {
    let rest = source.get(at..).unwrap_or_default();
    let Some(first) = rest.chars().next() else {
        return Fault { message: None, label: "this is no token of HLO text".into(), help: None };
    };
    if let Some(row) = FOREIGN.iter().find(|row| rest.starts_with(row.0)) {
        let label = format!("{} is no part of HLO text", row.1).into();
        return Fault { message: None, label, help: Some(row.2) };
    }
    if let Some(comment) = rest.strip_prefix("/*") {
        return if comment.contains("*/") {
            Fault { message: None, label: "there is a NUL in this comment".into(), help: None }
        } else {
            let help = Some("write `*/` behind it");
            Fault { message: Some("a comment is not closed"), label: "it begins here".into(), help }
        };
    }
    if matches!(first, '"' | '\'') {
        return if is_closed(rest, first) {
            let help = "escapes are `\\n`, `\\t`, `\\\"`, `\\\\`, `\\ooo`, `\\xhh`, `\\uhhhh` and their like";
            let label = "this string has an escape that is none".into();
            Fault { message: None, label, help: Some(help) }
        } else {
            let help = Some(if first == '"' { "write `\"` behind it" } else { "write `'` behind it" });
            Fault { message: Some("a string is not closed"), label: "it begins here".into(), help }
        };
    }
    let label = if first.is_ascii_graphic() {
        "this is no token of HLO text".into()
    } else {
        format!("the character U+{:04X} is no part of HLO text", u32::from(first)).into()
    };
    Fault { message: None, label, help: None }
}

/// Whether the string that begins `text` with `quote` ends somewhere.
fn is_closed(text: &str, quote: char) -> bool {
    let mut bytes = text.bytes().skip(1);
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            _ if char::from(byte) == quote => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn faults_have_names() {
        let rows = [
            ("```\n", None, "a Markdown fence is no part of HLO text"),
            ("\u{feff}HloModule", None, "a byte order mark is no part of HLO text"),
            ("; ", None, "a semicolon is no part of HLO text"),
            ("/* x", Some("a comment is not closed"), "it begins here"),
            ("/* \0 */", None, "there is a NUL in this comment"),
            ("\"x\\\"", Some("a string is not closed"), "it begins here"),
            ("'x\"", Some("a string is not closed"), "it begins here"),
            ("\"\\q\"", None, "this string has an escape that is none"),
            ("\u{e9}", None, "the character U+00E9 is no part of HLO text"),
            ("\u{1}", None, "the character U+0001 is no part of HLO text"),
            ("!", None, "this is no token of HLO text"),
            ("", None, "this is no token of HLO text"),
        ];
        for (text, message, label) in rows {
            let fault = describe(text, 0);
            assert_eq!((fault.message, &*fault.label), (message, label), "{text:?}");
        }
    }
}
