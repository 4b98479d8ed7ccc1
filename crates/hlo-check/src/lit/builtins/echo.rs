//! `echo` and `printf`.

use super::super::shell::call::Call;
use super::super::shell::exec::Stop;
use super::{failure, success};
use crate::tool::Output;

/// `echo` as lit's own: the flags `-n` and `-e`, each a word of its own.
pub(super) fn echo(args: &[String]) -> Output {
    let flags = args.iter().take_while(|arg| matches!(arg.as_str(), "-n" | "-e")).count();
    let newline = !args[..flags].iter().any(|flag| flag == "-n");
    let escapes = args[..flags].iter().any(|flag| flag == "-e");
    print(&args[flags..], newline, escapes)
}

/// `echo` as in coreutils, which is what runs in pipelines: flags may be joined, `-E` exists.
pub(super) fn echo_program(args: &[String]) -> Output {
    let is_flag = |arg: &&String| {
        arg.strip_prefix('-').is_some_and(|letters| {
            !letters.is_empty() && letters.chars().all(|letter| "neE".contains(letter))
        })
    };
    let flags = args.iter().take_while(is_flag).count();
    let letters = || args[..flags].iter().flat_map(|flag| flag.chars());
    let escapes = letters().rfind(|letter| "eE".contains(*letter)) == Some('e');
    print(&args[flags..], !letters().any(|letter| letter == 'n'), escapes)
}

fn print(words: &[String], newline: bool, escapes: bool) -> Output {
    let mut out = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        if escapes {
            if unescape(word, &mut out) {
                return success(out);
            }
        } else {
            out.extend_from_slice(word.as_bytes());
        }
    }
    if newline {
        out.push(b'\n');
    }
    success(out)
}

/// One row per escape of a single character.
const ESCAPES: [(u8, u8); 10] = [
    (b'\\', b'\\'),
    (b'"', b'"'),
    (b'\'', b'\''),
    (b'a', 7),
    (b'b', 8),
    (b'e', 27),
    (b'f', 12),
    (b'n', b'\n'),
    (b'r', b'\r'),
    (b't', b'\t'),
];

/// Appends `text` with its backslash escapes resolved; true after `\c`, which ends all output.
fn unescape(text: &str, out: &mut Vec<u8>) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        let Some(&escape) = bytes.get(at).filter(|_| byte == b'\\') else {
            out.push(byte);
            continue;
        };
        at += 1;
        match escape {
            b'c' => return true,
            b'v' => out.push(11),
            b'x' => number(bytes, &mut at, 16, 2, out, b"\\x"),
            b'0' => number(bytes, &mut at, 8, 3, out, b"\0"),
            b'1'..=b'7' => {
                at -= 1;
                number(bytes, &mut at, 8, 3, out, b"");
            }
            other => match ESCAPES.iter().find(|(letter, _)| *letter == other) {
                Some((_, value)) => out.push(*value),
                None => out.extend_from_slice(&[b'\\', other]),
            },
        }
    }
    false
}

/// Reads up to `max` digits; `none` is what stands there without any.
fn number(bytes: &[u8], at: &mut usize, radix: u32, max: usize, out: &mut Vec<u8>, none: &[u8]) {
    let digits = bytes[*at..].iter().take(max).take_while(|&&byte| char::from(byte).is_digit(radix)).count();
    if digits == 0 {
        out.extend_from_slice(none);
        return;
    }
    let value = bytes[*at..*at + digits]
        .iter()
        .filter_map(|&byte| char::from(byte).to_digit(radix))
        .fold(0u32, |value, digit| value * radix + digit);
    *at += digits;
    // As in C, what doesn't fit in a byte is cut off.
    out.push((value & 0xff) as u8);
}

/// `printf FORMAT ARGS...` with `%s %b %d %i %u %x %X %o %c %%`; the format is used again while
/// arguments are left.
pub(super) fn printf(args: &[String], _: Vec<u8>, _: &Call<'_>) -> Result<Output, Stop> {
    let Some((format, args)) = args.split_first() else {
        return Ok(failure(1, "printf: missing operand"));
    };
    let mut out = Vec::new();
    let mut rest = args.iter();
    loop {
        let before = rest.len();
        match format_once(format, &mut rest, &mut out) {
            Ok(false) => {}
            Ok(true) => return Ok(success(out)),
            Err(message) => return Ok(failure(1, message)),
        }
        if rest.len() == 0 || rest.len() == before {
            return Ok(success(out));
        }
    }
}

fn format_once(
    format: &str,
    args: &mut std::slice::Iter<'_, String>,
    out: &mut Vec<u8>,
) -> Result<bool, String> {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        if unescape(&rest[..at], out) {
            return Ok(true);
        }
        let directive = rest[at + 1..].chars().next();
        let mut arg = || args.next().map(String::as_str).unwrap_or_default();
        match directive {
            Some('%') => out.push(b'%'),
            Some('s') => out.extend_from_slice(arg().as_bytes()),
            Some('b') => {
                if unescape(arg(), out) {
                    return Ok(true);
                }
            }
            Some('c') => out.extend(arg().bytes().take(1)),
            Some(letter @ ('d' | 'i' | 'u' | 'x' | 'X' | 'o')) => {
                let text = arg();
                let value: i64 = match text {
                    "" => 0,
                    text => {
                        text.parse().map_err(|_| format!("printf: '{text}': expected a numeric value"))?
                    }
                };
                let shown = match letter {
                    'x' => format!("{value:x}"),
                    'X' => format!("{value:X}"),
                    'o' => format!("{value:o}"),
                    _ => value.to_string(),
                };
                out.extend_from_slice(shown.as_bytes());
            }
            other => {
                let shown = other.map(String::from).unwrap_or_default();
                return Err(format!("printf: %{shown}: invalid conversion specification"));
            }
        }
        rest = &rest[at + 1 + directive.map_or(0, char::len_utf8)..];
    }
    Ok(unescape(rest, out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn flags() {
        assert_eq!(echo(&words(&["a", "b"])).stdout, b"a b\n");
        assert_eq!(echo(&words(&["-n", "a"])).stdout, b"a");
        assert_eq!(echo(&words(&["-ne", "a"])).stdout, b"-ne a\n");
        assert_eq!(echo(&words(&["-e", r"a\tb\\\x41\101\q"])).stdout, b"a\tb\\AA\\q\n");
        assert_eq!(echo_program(&words(&["-ne", r"a\n"])).stdout, b"a\n");
        assert_eq!(echo_program(&words(&["-eE", r"a\n"])).stdout, b"a\\n\n");
        assert_eq!(echo_program(&words(&["-", "-x"])).stdout, b"- -x\n");
        assert_eq!(echo(&[]).stdout, b"\n");
    }

    #[test]
    fn formats() {
        let run = |text: &[&str]| {
            let words = words(text);
            let (format, args) = words.split_first().unwrap();
            let mut out = Vec::new();
            let mut rest = args.iter();
            let result = format_once(format, &mut rest, &mut out);
            (String::from_utf8(out).unwrap(), result.is_ok())
        };
        assert_eq!(run(&[r"%s=%d%%\n", "a", "7"]), ("a=7%\n".to_owned(), true));
        assert_eq!(run(&["%x %s", "255"]), ("ff ".to_owned(), true));
        assert!(!run(&["%q"]).1);
        assert!(!run(&["%d", "x"]).1);
    }
}
