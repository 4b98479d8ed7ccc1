//! `not`, `env`, `xargs` (programs that run programs) and `count`.

use super::super::shell::call::Call;
use super::super::shell::exec::{Negation, Stop, program_not, signed_status, update_env};
use super::{OptionTable, failure, success};
use crate::tool::Output;

/// `not [--crash] COMMAND`.
pub(super) fn not(args: &[String], stdin: Vec<u8>, call: &Call<'_>) -> Result<Output, Stop> {
    let (negation, command) = match args.split_first() {
        Some((first, rest)) if first == "--crash" => (Negation::Crash, rest),
        _ => (Negation::Not, args),
    };
    let Some((name, args)) = command.split_first() else {
        return Ok(super::status(1));
    };
    let mut output = call.nested(name, args.to_vec(), stdin, call.env())?;
    output.status = program_not(negation, signed_status(&output));
    output.crashed = false;
    Ok(output)
}

/// `env [-i] [-u NAME] [NAME=VALUE...] [COMMAND]`.
pub(super) fn env(args: &[String], stdin: Vec<u8>, call: &Call<'_>) -> Result<Output, Stop> {
    let mut env = call.env().clone();
    let count = update_env(std::sync::Arc::make_mut(&mut env), args.iter().map(String::as_str));
    match args[count.min(args.len())..].split_first() {
        Some((name, args)) => call.nested(name, args.to_vec(), stdin, &env),
        None => {
            let text: String = env.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
            Ok(success(text.into_bytes()))
        }
    }
}

/// `count N`: whether standard input has N lines.
pub(super) fn count(args: &[String], stdin: Vec<u8>, _: &Call<'_>) -> Result<Output, Stop> {
    let [expected] = args else {
        return Ok(failure(2, "usage: count <expected line count>"));
    };
    let digits = expected.bytes().take_while(u8::is_ascii_digit).count();
    // As LLVM's: text without any digit in front counts as 0, digits with a tail are refused.
    if digits > 0 && digits < expected.len() {
        return Ok(failure(2, format!("count: invalid count argument '{expected}'")));
    }
    let expected: usize = expected[..digits].parse().unwrap_or(0);
    let lines = memchr::memchr_iter(b'\n', &stdin).count();
    if lines == expected {
        return Ok(Output::default());
    }
    Ok(failure(1, format!("Expected {expected} lines, got {lines}.")))
}

/// `xargs [-0r] [-d C] [-I TEXT] [-n N] [COMMAND...]`.
pub(super) fn xargs(args: &[String], stdin: Vec<u8>, call: &Call<'_>) -> Result<Output, Stop> {
    let plan = match XargsPlan::parse(args) {
        Ok(plan) => plan,
        Err(message) => return Ok(failure(1, format!("xargs: {message}"))),
    };
    let items = match plan.items(&stdin) {
        Ok(items) => items,
        Err(message) => return Ok(failure(1, format!("xargs: {message}"))),
    };
    let (name, fixed) = match plan.command.split_first() {
        Some((name, fixed)) => (name.clone(), fixed),
        None => ("echo".to_owned(), [].as_slice()),
    };
    let mut calls: Vec<(String, Vec<String>)> = Vec::new();
    if let Some(marker) = &plan.replace {
        for item in &items {
            let put = |text: &String| text.replace(marker.as_str(), item);
            calls.push((put(&name), fixed.iter().map(put).collect()));
        }
    } else if items.is_empty() {
        if !plan.no_run_if_empty {
            calls.push((name, fixed.to_vec()));
        }
    } else {
        for chunk in items.chunks(plan.max_args.unwrap_or(items.len())) {
            calls.push((name.clone(), fixed.iter().chain(chunk).cloned().collect()));
        }
    }
    let mut whole = Output::default();
    for (name, args) in calls {
        let output = call.nested(&name, args, Vec::new(), call.env())?;
        whole.stdout.extend_from_slice(&output.stdout);
        whole.stderr.extend_from_slice(&output.stderr);
        match signed_status(&output) {
            0 => {}
            255 => {
                whole.stderr.extend_from_slice(
                    format!("xargs: {name}: exited with status 255; aborting\n").as_bytes(),
                );
                whole.status = 124;
                return Ok(whole);
            }
            status if status < 0 => {
                whole.stderr.extend_from_slice(
                    format!("xargs: {name}: terminated by signal {}\n", -status).as_bytes(),
                );
                whole.status = 125;
                return Ok(whole);
            }
            _ => whole.status = 123,
        }
    }
    Ok(whole)
}

#[derive(Default)]
struct XargsPlan {
    replace: Option<String>,
    max_args: Option<usize>,
    delimiter: Option<u8>,
    no_run_if_empty: bool,
    command: Vec<String>,
}

impl XargsPlan {
    fn parse(args: &[String]) -> Result<Self, String> {
        let table = OptionTable { flags: "0r", values: "Ind", long: &["null", "no-run-if-empty"] };
        // Options end at the command, whose own options are not xargs's.
        let mut end = 0;
        while let Some(arg) = args.get(end) {
            if arg == "--" || !arg.starts_with('-') || arg.len() == 1 {
                break;
            }
            let takes_next = matches!(arg.as_str(), "-I" | "-n" | "-d");
            end += if takes_next { 2 } else { 1 };
        }
        let end = end.min(args.len());
        let options = table.parse(&args[..end])?;
        let command = &args[end..];
        let command = if command.first().is_some_and(|arg| arg == "--") { &command[1..] } else { command };
        let mut plan = XargsPlan { command: command.to_vec(), ..XargsPlan::default() };
        for (name, value) in options.found {
            let value = value.unwrap_or_default();
            match name.as_str() {
                "I" if value.is_empty() => return Err("-I needs a text to replace".to_owned()),
                "I" => plan.replace = Some(value),
                "n" => match value.parse() {
                    Ok(number) if number > 0 => plan.max_args = Some(number),
                    _ => return Err(format!("invalid number \"{value}\" for -n option")),
                },
                "d" => plan.delimiter = Some(delimiter(&value)?),
                "0" | "null" => plan.delimiter = Some(0),
                _ => plan.no_run_if_empty = true,
            }
        }
        Ok(plan)
    }

    fn items(&self, stdin: &[u8]) -> Result<Vec<String>, String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if let Some(delimiter) = self.delimiter {
            let body = stdin.strip_suffix(&[delimiter]).unwrap_or(stdin);
            if stdin.is_empty() {
                return Ok(Vec::new());
            }
            return Ok(body.split(|&byte| byte == delimiter).map(text).collect());
        }
        quoted_items(&text(stdin), self.replace.is_some())
    }
}

fn delimiter(value: &str) -> Result<u8, String> {
    match value.as_bytes() {
        b"\\n" => Ok(b'\n'),
        b"\\t" => Ok(b'\t'),
        b"\\0" => Ok(0),
        [byte] => Ok(*byte),
        _ => Err(format!("invalid input delimiter specification {value}")),
    }
}

/// Splits at blanks and line ends (`by_line`: at line ends only), with quotes and backslashes.
fn quoted_items(text: &str, by_line: bool) -> Result<Vec<String>, String> {
    let mut items = Vec::new();
    let mut item: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\n' => items.extend(item.take()),
            ' ' | '\t' if !by_line => items.extend(item.take()),
            // Blanks in front of a line's item don't belong to it.
            ' ' | '\t' if item.is_none() => {}
            '\'' | '"' => {
                let item = item.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some(close) if close == c => break,
                        Some('\n') | None => {
                            let kind = if c == '"' { "double" } else { "single" };
                            return Err(format!("unmatched {kind} quote"));
                        }
                        Some(inner) => item.push(inner),
                    }
                }
            }
            '\\' => item.get_or_insert_default().extend(chars.next()),
            c => item.get_or_insert_default().push(c),
        }
    }
    items.extend(item);
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items() {
        let words = |text: &str| quoted_items(text, false);
        assert_eq!(words(" a  b\nc 'd e'f \"g\" h\\ i\n").unwrap(), ["a", "b", "c", "d ef", "g", "h i"]);
        assert_eq!(quoted_items("  a b \n\nc\n", true).unwrap(), ["a b ", "c"]);
        assert!(words("'a").is_err());
        assert!(words("''").unwrap() == [""]);
    }

    #[test]
    fn options_end_at_the_command() {
        let args: Vec<String> =
            ["-I", "{}", "-r", "env", "-u", "X"].iter().map(|&arg| arg.to_owned()).collect();
        let plan = XargsPlan::parse(&args).unwrap();
        assert_eq!(plan.replace.as_deref(), Some("{}"));
        assert_eq!(plan.command, ["env", "-u", "X"]);
        assert!(XargsPlan::parse(&["-n".to_owned(), "0".to_owned()]).is_err());
        assert!(XargsPlan::parse(&["-I".to_owned()]).is_err());
    }
}
