//! `sort`, comparing bytes (the C locale).

use std::cmp::Ordering;

use super::super::shell::call::Call;
use super::super::shell::exec::Stop;
use super::{OptionTable, failure, read_operand, reason, success};
use crate::tool::Output;

/// `sort [-bfnru] [-o FILE] [FILE...]`.
pub(super) fn sort(args: &[String], stdin: Vec<u8>, call: &Call<'_>) -> Result<Output, Stop> {
    let table = OptionTable {
        flags: "bfnrus",
        values: "o",
        long: &[
            "ignore-leading-blanks",
            "ignore-case",
            "numeric-sort",
            "reverse",
            "unique",
            "stable",
            "output=",
        ],
    };
    let options = match table.parse(args) {
        Ok(options) => options,
        Err(message) => return Ok(failure(2, format!("Unsupported: 'sort':  {message}"))),
    };
    let has = |names: &[&str]| options.found.iter().any(|(name, _)| names.contains(&name.as_str()));
    let mut input = Vec::new();
    let mut operands = options.operands.clone();
    if operands.is_empty() {
        operands.push("-".to_owned());
    }
    for name in &operands {
        match read_operand(name, &stdin, call) {
            Ok(bytes) => {
                input.extend_from_slice(&bytes);
                if input.last().is_some_and(|&last| last != b'\n') {
                    input.push(b'\n');
                }
            }
            Err(error) => {
                return Ok(failure(2, format!("sort: cannot read: {name}: {}", reason(&error))));
            }
        }
    }
    let order = Order {
        blanks: has(&["b", "ignore-leading-blanks"]),
        fold: has(&["f", "ignore-case"]),
        numeric: has(&["n", "numeric-sort"]),
        reverse: has(&["r", "reverse"]),
    };
    let unique = has(&["u", "unique"]);
    let stable = unique || has(&["s", "stable"]);
    let body = input.strip_suffix(b"\n").unwrap_or(&input);
    let mut lines: Vec<&[u8]> =
        if input.is_empty() { Vec::new() } else { body.split(|&byte| byte == b'\n').collect() };
    lines.sort_by(|a, b| {
        order.keys(a, b).then_with(|| if stable { Ordering::Equal } else { order.whole(a, b) })
    });
    if unique {
        lines.dedup_by(|a, b| order.keys(a, b) == Ordering::Equal);
    }
    let mut out = Vec::with_capacity(input.len());
    for line in lines {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    let target = options.found.iter().rev().find(|(name, _)| name == "o" || name == "output");
    if let Some((_, Some(name))) = target {
        return Ok(match std::fs::write(call.cwd().join(name), &out) {
            Ok(()) => Output::default(),
            Err(error) => failure(2, format!("sort: open failed: {name}: {}", reason(&error))),
        });
    }
    Ok(success(out))
}

struct Order {
    blanks: bool,
    fold: bool,
    numeric: bool,
    reverse: bool,
}

impl Order {
    fn keys(&self, a: &[u8], b: &[u8]) -> Ordering {
        let skip = |line: &'_ [u8]| -> usize {
            if self.blanks || self.numeric {
                line.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count()
            } else {
                0
            }
        };
        let (a, b) = (&a[skip(a)..], &b[skip(b)..]);
        let order = if self.numeric {
            compare_numbers(a, b)
        } else if self.fold {
            a.iter().map(u8::to_ascii_uppercase).cmp(b.iter().map(u8::to_ascii_uppercase))
        } else {
            a.cmp(b)
        };
        if self.reverse { order.reverse() } else { order }
    }

    fn whole(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.reverse { b.cmp(a) } else { a.cmp(b) }
    }
}

/// Compares the numbers that two lines begin with, of any length; no number counts as 0.
fn compare_numbers(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (Number::of(a), Number::of(b));
    match (a.negative, b.negative) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => a.magnitude(&b),
        (true, true) => b.magnitude(&a),
    }
}

struct Number<'l> {
    negative: bool,
    whole: &'l [u8],
    fraction: &'l [u8],
}

impl<'l> Number<'l> {
    fn of(line: &'l [u8]) -> Self {
        let (negative, line) = match line.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let digits = |line: &[u8]| line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let zeros = line.iter().take_while(|&&byte| byte == b'0').count();
        let line = &line[zeros..];
        let (whole, rest) = line.split_at(digits(line));
        let fraction = rest.strip_prefix(b".").unwrap_or_default();
        let mut fraction = &fraction[..digits(fraction)];
        while let [head @ .., b'0'] = fraction {
            fraction = head;
        }
        let zero = whole.is_empty() && fraction.is_empty();
        Number { negative: negative && !zero, whole, fraction }
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        let lengths = self.whole.len().cmp(&other.whole.len());
        lengths.then_with(|| self.whole.cmp(other.whole)).then_with(|| self.fraction.cmp(other.fraction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (a, b, expected) in [
            ("2", "10", Ordering::Less),
            ("-2", "1", Ordering::Less),
            ("-10", "-2", Ordering::Less),
            ("007", "7", Ordering::Equal),
            ("1.5", "1.25", Ordering::Greater),
            ("1.50", "1.5x", Ordering::Equal),
            ("x", "0", Ordering::Equal),
            ("-0", "0", Ordering::Equal),
            ("99999999999999999999999", "100000000000000000000000", Ordering::Less),
        ] {
            assert_eq!(compare_numbers(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
        }
    }
}
