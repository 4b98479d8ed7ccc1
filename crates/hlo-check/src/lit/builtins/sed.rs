//! `sed`: the script is in [`super::sed_script`], this is the command line and the input.

use super::super::shell::call::Call;
use super::super::shell::exec::Stop;
use super::sed_script::Script;
use super::sed_stream::Stream;
use super::{failure, read_operand, reason, success};
use crate::tool::Output;

struct Arguments {
    quiet: bool,
    extended: bool,
    /// Suffix of the backup copy with `-i`; `None` without.
    in_place: Option<String>,
    separate: bool,
    script: Option<String>,
    files: Vec<String>,
}

fn parse_args(args: &[String], call: &Call<'_>) -> Result<Arguments, String> {
    let mut parsed = Arguments {
        quiet: false,
        extended: false,
        in_place: None,
        separate: false,
        script: None,
        files: Vec::new(),
    };
    let add = |script: &mut Option<String>, text: &str| match script {
        Some(script) => {
            script.push('\n');
            script.push_str(text);
        }
        None => *script = Some(text.to_owned()),
    };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value = |joined: &str| -> Result<String, String> {
            if joined.is_empty() {
                rest.next().cloned().ok_or_else(|| format!("option '{arg}' requires an argument"))
            } else {
                Ok(joined.to_owned())
            }
        };
        match arg.as_str() {
            "--" => {
                parsed.files.extend(rest.cloned());
                break;
            }
            "--quiet" | "--silent" => parsed.quiet = true,
            "--regexp-extended" => parsed.extended = true,
            "--separate" => parsed.separate = true,
            "--unbuffered" => {}
            "--in-place" => parsed.in_place = Some(String::new()),
            long if long.starts_with("--") => {
                if let Some(text) = long.strip_prefix("--expression=") {
                    add(&mut parsed.script, text);
                } else if let Some(suffix) = long.strip_prefix("--in-place=") {
                    parsed.in_place = Some(suffix.to_owned());
                } else {
                    return Err(format!("unsupported option '{long}'"));
                }
            }
            "-" => parsed.files.push(arg.clone()),
            short if short.starts_with('-') => {
                let mut letters = short[1..].chars();
                while let Some(letter) = letters.next() {
                    match letter {
                        'n' => parsed.quiet = true,
                        'E' | 'r' => parsed.extended = true,
                        's' => parsed.separate = true,
                        'u' => {}
                        'i' => {
                            parsed.in_place = Some(letters.as_str().to_owned());
                            break;
                        }
                        'e' => {
                            let text = value(letters.as_str())?;
                            add(&mut parsed.script, &text);
                            break;
                        }
                        'f' => {
                            let name = value(letters.as_str())?;
                            let text = std::fs::read_to_string(call.cwd().join(&name))
                                .map_err(|error| format!("can't read {name}: {}", reason(&error)))?;
                            add(&mut parsed.script, text.trim_end_matches('\n'));
                            break;
                        }
                        other => return Err(format!("unsupported option '-{other}'")),
                    }
                }
            }
            operand => parsed.files.push(operand.to_owned()),
        }
    }
    if parsed.script.is_none() {
        if parsed.files.is_empty() {
            return Err("no script given".to_owned());
        }
        parsed.script = Some(parsed.files.remove(0));
    }
    Ok(parsed)
}

/// `sed [-nEs] [-i[SUFFIX]] [-e SCRIPT] [-f FILE] [SCRIPT] [FILE...]`.
pub(super) fn sed(args: &[String], stdin: Vec<u8>, call: &Call<'_>) -> Result<Output, Stop> {
    let args = match parse_args(args, call) {
        Ok(args) => args,
        Err(message) => return Ok(failure(1, format!("sed: {message}"))),
    };
    let script = match Script::parse(args.script.as_deref().unwrap_or_default(), args.extended) {
        Ok(script) => script,
        Err(message) => return Ok(failure(1, format!("sed: {message}"))),
    };
    let mut files = args.files;
    if files.is_empty() {
        files.push("-".to_owned());
    }
    let mut complaints = String::new();
    let mut inputs = Vec::new();
    for name in &files {
        match read_operand(name, &stdin, call) {
            Ok(bytes) => inputs.push((name, bytes)),
            Err(error) => complaints.push_str(&format!("sed: can't read {name}: {}\n", reason(&error))),
        }
    }
    let mut output = success(Vec::new());
    if args.in_place.is_some() || args.separate {
        for (name, bytes) in &inputs {
            let mut stream = Stream::new(&script, args.quiet);
            match stream.run(&[bytes]) {
                Ok(status) => output.status = status,
                Err(message) => {
                    complaints.push_str(&format!("sed: {name}: {message}\n"));
                    continue;
                }
            }
            let Some(suffix) = &args.in_place else {
                output.stdout.append(&mut stream.out);
                continue;
            };
            let path = call.cwd().join(name);
            let saved = if suffix.is_empty() {
                Ok(())
            } else {
                let mut copy = path.clone().into_os_string();
                copy.push(suffix);
                std::fs::write(copy, bytes)
            };
            if let Err(error) = saved.and_then(|()| std::fs::write(&path, &stream.out)) {
                complaints.push_str(&format!("sed: couldn't write {name}: {}\n", reason(&error)));
            }
        }
    } else {
        let inputs: Vec<&[u8]> = inputs.iter().map(|(_, bytes)| bytes.as_slice()).collect();
        let mut stream = Stream::new(&script, args.quiet);
        match stream.run(&inputs) {
            Ok(status) => output.status = status,
            Err(message) => complaints.push_str(&format!("sed: {message}\n")),
        }
        output.stdout = stream.out;
    }
    if !complaints.is_empty() {
        output.status = 2;
        output.stderr = complaints.into_bytes();
    }
    Ok(output)
}
