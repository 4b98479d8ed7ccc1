//! Spelling of words in logs: as a shell would need them, and as Python's `repr` shows them
//! (lit's messages are read by people and scripts used to the latter).

/// Quotes a word for a POSIX shell; plain words stay as they are.
pub fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if word.is_empty() {
        "''".to_owned()
    } else if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\"'\"'"))
    }
}

/// Shows a string with its quotes, the single ones unless only they occur in it.
pub fn python(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_words() {
        assert_eq!(shell("a/b=c"), "a/b=c");
        assert_eq!(shell(""), "''");
        assert_eq!(shell("a b"), "'a b'");
        assert_eq!(shell("it's"), "'it'\"'\"'s'");
    }

    #[test]
    fn python_strings() {
        assert_eq!(python("a"), "'a'");
        assert_eq!(python("it's"), "\"it's\"");
        assert_eq!(python("a\"'\n\u{1}"), "'a\"\\'\\n\\x01'");
    }
}
