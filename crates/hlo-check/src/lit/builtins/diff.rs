//! `diff`, with the options and formats of lit's own.

use std::path::Path;

use regex::Regex;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use super::super::shell::call::Call;
use super::super::shell::exec::Stop;
use super::{OptionTable, failure, read_operand, reason, success};
use crate::tool::Output;

/// Lines of context around a difference.
const CONTEXT: usize = 3;

#[derive(Default)]
struct Flags {
    ignore_all_space: bool,
    ignore_space_change: bool,
    ignore_lines: Option<Regex>,
    unified: bool,
    context: usize,
    strip_cr: bool,
}

/// `diff [-w] [-b] [-u] [-U N] [-I REGEX] [-r] [--strip-trailing-cr] A B`.
pub(super) fn diff(args: &[String], stdin: Vec<u8>, call: &Call<'_>) -> Result<Output, Stop> {
    let table = OptionTable { flags: "wbur", values: "IU", long: &["strip-trailing-cr"] };
    let options = match table.parse(args) {
        Ok(options) => options,
        Err(message) => return Ok(failure(1, format!("Unsupported: 'diff': {message}"))),
    };
    let mut flags = Flags { context: CONTEXT, ..Flags::default() };
    let mut recursive = false;
    for (name, value) in &options.found {
        let value = value.as_deref().unwrap_or_default();
        match name.as_str() {
            "w" => flags.ignore_all_space = true,
            "b" => flags.ignore_space_change = true,
            "u" => flags.unified = true,
            "r" => recursive = true,
            "U" => {
                flags.unified = true;
                let Ok(lines) = value.parse() else {
                    return Ok(failure(1, format!("Error: invalid '-U' argument: {value}")));
                };
                flags.context = lines;
            }
            "I" => match Regex::new(&format!("^(?:{value})")) {
                Ok(regex) => flags.ignore_lines = Some(regex),
                Err(error) => {
                    return Ok(failure(1, format!("Error: invalid '-I' argument: {error}")));
                }
            },
            _ => flags.strip_cr = true,
        }
    }
    let [left, right] = options.operands.as_slice() else {
        return Ok(failure(1, "Error: missing or extra operand"));
    };
    let mut out = String::new();
    let result = if recursive {
        if left == "-" || right == "-" {
            return Ok(failure(1, "Error: cannot recursively compare '-'"));
        }
        compare_trees(&flags, &call.cwd().join(left), &call.cwd().join(right), &mut out)
    } else {
        let read = |name: &String| {
            read_operand(name, &stdin, call).map_err(|error| format!("{name}: {}", reason(&error)))
        };
        read(left).and_then(|a| Ok((a, read(right)?))).map(|(a, b)| {
            let name = |name: &String| match name.as_str() {
                "-" => "-".to_owned(),
                path => call.cwd().join(path).display().to_string(),
            };
            compare_files(&flags, &name(left), &a, &name(right), &b, &mut out)
        })
    };
    Ok(match result {
        Ok(same) => Output { status: i32::from(!same), ..success(out.into_bytes()) },
        Err(message) => failure(1, format!("Error: 'diff' command failed, {message}")),
    })
}

/// Lines of a file as they are compared.
fn lines(flags: &Flags, bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.split_inclusive('\n')
        .filter(|line| !flags.ignore_lines.as_ref().is_some_and(|regex| regex.is_match(line)))
        .map(|line| {
            if flags.ignore_all_space || flags.ignore_space_change {
                let separator = if flags.ignore_all_space { "" } else { " " };
                let words: Vec<&str> = line.split_whitespace().collect();
                words.join(separator) + "\n"
            } else if flags.strip_cr {
                line.replace("\r\n", "\n")
            } else {
                line.to_owned()
            }
        })
        .collect()
}

fn compare_files(
    flags: &Flags,
    left_name: &str,
    left: &[u8],
    right_name: &str,
    right: &[u8],
    out: &mut String,
) -> bool {
    if left == right {
        return true;
    }
    let (a, b) = (lines(flags, left), lines(flags, right));
    if a == b {
        // Bytes that are no text differ without showing it.
        let plain = flags.ignore_lines.is_none()
            && !(flags.ignore_all_space || flags.ignore_space_change || flags.strip_cr);
        if plain {
            out.push_str(&format!("Files {left_name} and {right_name} differ\n"));
        }
        return !plain;
    }
    let ops = capture_diff_slices(Algorithm::Myers, &a, &b);
    let groups = group_diff_ops(ops, flags.context);
    if flags.unified {
        out.push_str(&format!("--- {left_name}\n+++ {right_name}\n"));
        for group in &groups {
            unified_group(group, &a, &b, out);
        }
    } else {
        out.push_str(&format!("*** {left_name}\n--- {right_name}\n"));
        for group in &groups {
            context_group(group, &a, &b, out);
        }
    }
    false
}

fn span(group: &[DiffOp]) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    match (group.first(), group.last()) {
        (Some(first), Some(last)) => {
            (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end)
        }
        _ => (0..0, 0..0),
    }
}

fn push(out: &mut String, prefix: &str, lines: &[String]) {
    for line in lines {
        out.push_str(prefix);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push('\n');
        }
    }
}

fn unified_group(group: &[DiffOp], a: &[String], b: &[String], out: &mut String) {
    let range = |range: std::ops::Range<usize>| match range.len() {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        length => format!("{},{length}", range.start + 1),
    };
    let (old, new) = span(group);
    out.push_str(&format!("@@ -{} +{} @@\n", range(old), range(new)));
    for op in group {
        if op.tag() == DiffTag::Equal {
            push(out, " ", &a[op.old_range()]);
        } else {
            push(out, "-", &a[op.old_range()]);
            push(out, "+", &b[op.new_range()]);
        }
    }
}

fn context_group(group: &[DiffOp], a: &[String], b: &[String], out: &mut String) {
    let range = |range: std::ops::Range<usize>| match range.len() {
        0 => range.start.to_string(),
        1 => (range.start + 1).to_string(),
        _ => format!("{},{}", range.start + 1, range.end),
    };
    let (old, new) = span(group);
    out.push_str(&format!("***************\n*** {} ****\n", range(old)));
    if group.iter().any(|op| matches!(op.tag(), DiffTag::Replace | DiffTag::Delete)) {
        for op in group {
            match op.tag() {
                DiffTag::Equal => push(out, "  ", &a[op.old_range()]),
                DiffTag::Replace => push(out, "! ", &a[op.old_range()]),
                DiffTag::Delete => push(out, "- ", &a[op.old_range()]),
                DiffTag::Insert => {}
            }
        }
    }
    out.push_str(&format!("--- {} ----\n", range(new)));
    if group.iter().any(|op| matches!(op.tag(), DiffTag::Replace | DiffTag::Insert)) {
        for op in group {
            match op.tag() {
                DiffTag::Equal => push(out, "  ", &b[op.new_range()]),
                DiffTag::Replace => push(out, "! ", &b[op.new_range()]),
                DiffTag::Insert => push(out, "+ ", &b[op.new_range()]),
                DiffTag::Delete => {}
            }
        }
    }
}

fn names(dir: &Path) -> Result<Vec<String>, String> {
    let read = || -> std::io::Result<Vec<String>> {
        std::fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    };
    let mut names = read().map_err(|error| format!("{}: {}", dir.display(), reason(&error)))?;
    names.sort_unstable();
    Ok(names)
}

/// Compares two paths, folders name by name; depth is bounded by the longest path there can be.
fn compare_trees(flags: &Flags, left: &Path, right: &Path, out: &mut String) -> Result<bool, String> {
    let kind = |path: &Path| {
        std::fs::metadata(path).map_err(|error| format!("{}: {}", path.display(), reason(&error)))
    };
    let (left_meta, right_meta) = (kind(left)?, kind(right)?);
    let regular = |length: u64| if length == 0 { "regular empty file" } else { "regular file" };
    match (left_meta.is_dir(), right_meta.is_dir()) {
        (false, false) => {
            let read = |path: &Path| {
                std::fs::read(path).map_err(|error| format!("{}: {}", path.display(), reason(&error)))
            };
            let (a, b) = (read(left)?, read(right)?);
            let name = |path: &Path| path.display().to_string();
            Ok(compare_files(flags, &name(left), &a, &name(right), &b, out))
        }
        (true, false) => {
            out.push_str(&format!(
                "File {} is a directory while file {} is a {}\n",
                left.display(),
                right.display(),
                regular(right_meta.len())
            ));
            Ok(false)
        }
        (false, true) => {
            out.push_str(&format!(
                "File {} is a {} while file {} is a directory\n",
                left.display(),
                regular(left_meta.len()),
                right.display()
            ));
            Ok(false)
        }
        (true, true) => {
            let (a, b) = (names(left)?, names(right)?);
            let mut all: Vec<&String> = a.iter().chain(&b).collect();
            all.sort_unstable();
            all.dedup();
            let mut same = true;
            for name in all {
                let only = match (a.binary_search(name).is_ok(), b.binary_search(name).is_ok()) {
                    (true, true) => {
                        same &= compare_trees(flags, &left.join(name), &right.join(name), out)?;
                        continue;
                    }
                    (true, false) => left,
                    _ => right,
                };
                out.push_str(&format!("Only in {}: {name}\n", only.display()));
                same = false;
            }
            Ok(same)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(unified: bool, a: &str, b: &str) -> String {
        let flags = Flags { unified, context: 1, ..Flags::default() };
        let mut out = String::new();
        compare_files(&flags, "x", a.as_bytes(), "y", b.as_bytes(), &mut out);
        out
    }

    #[test]
    fn formats() {
        assert_eq!(show(true, "a\n", "a\n"), "");
        assert_eq!(
            show(true, "a\nb\nc\nd\n", "a\nb\nX\nd\n"),
            "--- x\n+++ y\n@@ -2,3 +2,3 @@\n b\n-c\n+X\n d\n"
        );
        assert_eq!(show(true, "", "a\n"), "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(
            show(false, "a\nb\nc\n", "a\nX\nc\n"),
            "*** x\n--- y\n***************\n*** 1,3 ****\n  a\n! b\n  c\n--- 1,3 ----\n  a\n! X\n  c\n"
        );
    }

    #[test]
    fn what_counts_as_equal() {
        let check = |flags: Flags, a: &str, b: &str| {
            compare_files(&flags, "x", a.as_bytes(), "y", b.as_bytes(), &mut String::new())
        };
        assert!(check(Flags { ignore_all_space: true, ..Flags::default() }, "a b\n", " ab\n"));
        assert!(!check(Flags { ignore_space_change: true, ..Flags::default() }, "a b\n", "ab\n"));
        assert!(check(Flags { ignore_space_change: true, ..Flags::default() }, "a  b \n", "a b\n"));
        assert!(check(Flags { strip_cr: true, ..Flags::default() }, "a\r\n", "a\n"));
        let ignore_lines = Regex::new("^(?:#)").ok();
        assert!(check(Flags { ignore_lines, ..Flags::default() }, "#1\na\n", "a\n#2\n"));
        let mut out = String::new();
        assert!(!compare_files(&Flags::default(), "x", b"\xff", "y", b"\xfe", &mut out));
        assert_eq!(out, "Files x and y differ\n");
    }
}
