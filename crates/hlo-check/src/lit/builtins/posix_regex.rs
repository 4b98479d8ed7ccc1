//! POSIX regular expressions in the syntax of the `regex` crate.
//!
//! Two differences remain: alternatives are tried from the left instead of taking the longest, and
//! back-references in patterns are refused.

/// Writes a POSIX expression in the syntax of the `regex` crate.
pub(super) fn translate(pattern: &str, extended: bool) -> Result<String, String> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut at = 0;
    // Whether an expression begins here: `*` is itself then, `^` an anchor.
    let mut start = true;
    while let Some(&c) = chars.get(at) {
        at += 1;
        let was_start = std::mem::take(&mut start);
        match c {
            '[' => at = translate_class(&chars, at, &mut out)?,
            '\\' => {
                let Some(&escaped) = chars.get(at) else {
                    return Err("trailing backslash in regular expression".to_owned());
                };
                at += 1;
                start = translate_escape(escaped, extended, was_start, &mut out)?;
            }
            '(' | ')' | '|' | '+' | '?' | '{' | '}' if !extended => {
                out.push('\\');
                out.push(c);
            }
            '(' | '|' => {
                out.push(c);
                start = true;
            }
            '{' if chars.get(at).is_none_or(|next| !next.is_ascii_digit()) => out.push_str("\\{"),
            '*' if was_start => out.push_str("\\*"),
            '^' if was_start || extended => {
                out.push('^');
                start = !extended;
            }
            '^' => out.push_str("\\^"),
            '$' if extended || ends_expression(&chars[at..]) => out.push('$'),
            '$' => out.push_str("\\$"),
            c if "*.)+?{}".contains(c) => out.push(c),
            c if regex_syntax_char(c) => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    Ok(out)
}

fn regex_syntax_char(c: char) -> bool {
    "\\.+*?()|[]{}^$#&-~".contains(c)
}

fn ends_expression(rest: &[char]) -> bool {
    matches!(rest, [] | ['\\', ')' | '|', ..])
}

/// One escaped character; gives whether an expression begins after it.
fn translate_escape(
    escaped: char,
    extended: bool,
    was_start: bool,
    out: &mut String,
) -> Result<bool, String> {
    match escaped {
        '(' | '|' if !extended => {
            out.push(escaped);
            return Ok(true);
        }
        '+' | '?' | '{' if !extended && was_start => {
            out.push('\\');
            out.push(escaped);
        }
        ')' | '{' | '}' | '+' | '?' if !extended => out.push(escaped),
        'n' => out.push_str("\\n"),
        't' => out.push_str("\\t"),
        'r' => out.push_str("\\r"),
        'f' => out.push_str("\\f"),
        'v' => out.push_str("\\v"),
        'w' | 'W' | 's' | 'S' | 'b' | 'B' | '<' | '>' => {
            out.push('\\');
            out.push(escaped);
        }
        '`' => out.push_str("\\A"),
        '\'' => out.push_str("\\z"),
        '1'..='9' => {
            return Err(format!("back-reference '\\{escaped}' in a pattern is not supported"));
        }
        c if regex_syntax_char(c) => {
            out.push('\\');
            out.push(c);
        }
        c => out.push(c),
    }
    Ok(false)
}

/// Translates `[...]` whose contents begin at `at`; gives where it ends.
fn translate_class(chars: &[char], mut at: usize, out: &mut String) -> Result<usize, String> {
    const UNTERMINATED: &str = "unterminated '[' in regular expression";
    out.push('[');
    if chars.get(at) == Some(&'^') {
        out.push('^');
        at += 1;
    }
    let first = at;
    loop {
        let Some(&c) = chars.get(at) else { return Err(UNTERMINATED.to_owned()) };
        at += 1;
        match c {
            ']' if at - 1 > first => {
                out.push(']');
                return Ok(at);
            }
            '[' if chars.get(at) == Some(&':') => {
                let close = chars[at..].windows(2).position(|pair| pair == [':', ']']);
                let end = at + 1 + close.filter(|&close| close > 0).ok_or(UNTERMINATED)?;
                out.push('[');
                out.extend(&chars[at..=end]);
                at = end + 1;
            }
            '\\' => match chars.get(at) {
                Some('n') => {
                    out.push_str("\\n");
                    at += 1;
                }
                Some('t') => {
                    out.push_str("\\t");
                    at += 1;
                }
                Some('\\') => {
                    out.push_str("\\\\");
                    at += 1;
                }
                _ => out.push_str("\\\\"),
            },
            '-' if at - 1 == first || chars.get(at) == Some(&']') => out.push_str("\\-"),
            '-' => out.push('-'),
            c if "[]^&~#.*+?(){}|$".contains(c) => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
}
