//! The log of a test: which commands ran, what they printed, how they ended. The format is lit's.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::super::quote;
use super::parser::Command;

/// Longest output of one command that a log shows in full (lit's `-D output_limit`).
pub const DEFAULT_OUTPUT_LIMIT: usize = 10_240;

const RULE_WIDTH: usize = 30;

/// What became of one command.
#[derive(Debug)]
pub struct Record<'a> {
    /// The command as parsed.
    pub command: &'a Command,
    /// What reached the log from standard output.
    pub stdout: Vec<u8>,
    /// What reached the log from standard error.
    pub stderr: Vec<u8>,
    /// Exit status after `not`.
    pub status: i32,
    /// The time was up.
    pub timed_out: bool,
    /// Files it wrote, if it failed.
    pub files: Vec<(String, PathBuf)>,
}

/// Writes the log's entry for one command.
pub fn write_record(out: &mut String, record: &Record<'_>, limit: usize, timed: bool) {
    out.push_str("# executed command:");
    let mut bangs = true;
    for word in &record.command.words {
        out.push(' ');
        bangs &= word.text == "!";
        if bangs {
            out.push('!');
        } else {
            out.push_str(&quote::shell(&word.text));
        }
    }
    out.push('\n');
    let stdout = text(&record.stdout);
    let stderr = text(&record.stderr);
    let (silent_out, silent_err) = (stdout.trim().is_empty(), stderr.trim().is_empty());
    if !timed && record.status == 0 && silent_out && silent_err {
        return;
    }
    for (name, path) in &record.files {
        if let Ok(bytes) = std::fs::read(path) {
            block(out, &format!("redirected output from '{name}'"), &text(&bytes), limit);
        }
    }
    block(out, "command stdout", &stdout, limit);
    block(out, "command stderr", &stderr, limit);
    if silent_out && silent_err {
        out.push_str("# note: command had no output on stdout or stderr\n");
    }
    if record.status != 0 {
        let status = if cfg!(windows) && !(0..=255).contains(&record.status) {
            format!("{:#x}", record.status as u32)
        } else {
            record.status.to_string()
        };
        let _ = writeln!(out, "# error: command failed with exit status: {status}");
    }
    if record.timed_out {
        out.push_str("# error: command reached timeout: True\n");
    }
}

/// Bytes as text, with the line ends of this system's programs made `\n`.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.contains('\r') { text.replace("\r\n", "\n") } else { text.into_owned() }
}

fn block(out: &mut String, title: &str, data: &str, limit: usize) {
    if data.trim().is_empty() {
        return;
    }
    let length = data.chars().count();
    let mut note = String::new();
    let mut shown = data;
    if length > limit {
        note = format!("data was truncated ({limit}/{length}) (change limit with -D output_limit=N)");
        let end = data.char_indices().nth(limit).map_or(data.len(), |(at, _)| at);
        shown = &data[..end];
    }
    let dashes = |text: &str| "-".repeat((RULE_WIDTH - 4).saturating_sub(text.chars().count()));
    let _ = writeln!(out, "# .---{title}{}", dashes(title));
    let mut colour: Option<String> = None;
    let tail = if length > limit { "\n..." } else { "" };
    for line in shown.lines().chain(tail.lines().skip(1)) {
        if colour.is_some() {
            out.push_str("\x1b[0m");
        }
        out.push_str("# | ");
        if let Some(colour) = &colour {
            out.push_str(colour);
        }
        out.push_str(line);
        out.push('\n');
        colour = last_colour(line, colour);
    }
    if colour.is_some() {
        out.push_str("\x1b[0m");
    }
    let _ = writeln!(out, "# `---{note}{}", dashes(&note));
}

/// The colour in force after a line, so that the next line's prefix stays plain.
fn last_colour(line: &str, current: Option<String>) -> Option<String> {
    let Some(start) = line.rfind("\x1b[") else { return current };
    let Some(length) = line[start + 2..].find('m') else { return current };
    let sequence = &line[start..start + 2 + length + 1];
    (sequence != "\x1b[0m" && sequence != "\x1b[m").then(|| sequence.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks() {
        let mut out = String::new();
        block(&mut out, "command stdout", "a\nb\n", 100);
        assert_eq!(out, "# .---command stdout------------\n# | a\n# | b\n# `-----------------------------\n");
        out.clear();
        block(&mut out, "t", "abcdef", 3);
        assert!(out.contains("# | abc\n# | ...\n# `---data was truncated (3/6)"), "{out}");
        out.clear();
        block(&mut out, "t", "\x1b[31mred\nstill\x1b[0m\nplain\n", 100);
        assert!(out.contains("# | \x1b[31mred\n\x1b[0m# | \x1b[31mstill\x1b[0m\n# | plain\n"), "{out:?}");
    }
}
