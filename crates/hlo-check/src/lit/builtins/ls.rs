//! `ls`, one name per line, in byte order.

use super::super::shell::call::Call;
use super::super::shell::exec::Stop;
use super::{OptionTable, failure, reason, success};
use crate::tool::Output;

/// `ls [-1aAr] [PATH...]`.
pub(super) fn ls(args: &[String], _: Vec<u8>, call: &Call<'_>) -> Result<Output, Stop> {
    let table = OptionTable { flags: "1aAr", values: "", long: &["all", "almost-all", "reverse"] };
    let options = match table.parse(args) {
        Ok(options) => options,
        Err(message) => return Ok(failure(2, format!("Unsupported: 'ls':  {message}"))),
    };
    let has = |names: &[&str]| options.found.iter().any(|(name, _)| names.contains(&name.as_str()));
    let all = has(&["a", "all"]);
    let hidden = all || has(&["A", "almost-all"]);
    let reverse = has(&["r", "reverse"]);

    let mut operands = options.operands.clone();
    if operands.is_empty() {
        operands.push(".".to_owned());
    }
    operands.sort_unstable();
    if reverse {
        operands.reverse();
    }
    let mut complaints = String::new();
    let mut files = Vec::new();
    let mut dirs = Vec::new();
    for name in &operands {
        match std::fs::metadata(call.cwd().join(name)) {
            Ok(meta) if meta.is_dir() => dirs.push(name),
            Ok(_) => files.push(name),
            Err(error) => {
                complaints.push_str(&format!("ls: cannot access '{name}': {}\n", reason(&error)));
            }
        }
    }
    let mut out = String::new();
    for name in &files {
        out.push_str(name);
        out.push('\n');
    }
    for (index, dir) in dirs.iter().enumerate() {
        if operands.len() > 1 {
            if index > 0 || !files.is_empty() {
                out.push('\n');
            }
            out.push_str(dir);
            out.push_str(":\n");
        }
        match names(&call.cwd().join(dir), hidden, all) {
            Ok(mut names) => {
                if reverse {
                    names.reverse();
                }
                for name in names {
                    out.push_str(&name);
                    out.push('\n');
                }
            }
            Err(error) => {
                complaints.push_str(&format!("ls: cannot open directory '{dir}': {}\n", reason(&error)));
            }
        }
    }
    let mut output = success(out.into_bytes());
    output.status = if complaints.is_empty() { 0 } else { 2 };
    output.stderr = complaints.into_bytes();
    Ok(output)
}

fn names(dir: &std::path::Path, hidden: bool, all: bool) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if hidden || !name.starts_with('.') {
            names.push(name);
        }
    }
    if all {
        names.extend([".".to_owned(), "..".to_owned()]);
    }
    names.sort_unstable();
    Ok(names)
}
