//! Many runs in one process: a JSON object per line in, one per line out.
//!
//! A request holds `args`, `env` and `files` (name to text); an answer `status`, `stdout`, `stderr`. Texts
//! are strings in which each character stands for the byte of the same number.

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Caller, Files, NAME, run_as};
use crate::tool::Invocation;

/// The files of one request.
struct InMemory<'a>(&'a Value);

impl Files for InMemory<'_> {
    fn stdin(&mut self) -> Vec<u8> {
        Vec::new()
    }

    fn read(&mut self, path: &Path) -> std::io::Result<Vec<u8>> {
        let text = path.to_str().and_then(|name| self.0.get(name)).and_then(Value::as_str);
        match text {
            Some(text) => Ok(to_bytes(text)),
            // As the system words it.
            None => Err(std::io::Error::other("No such file or directory")),
        }
    }
}

fn to_bytes(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
}

fn to_text(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn answer(request: &Value) -> Value {
    let env = request["env"].as_object().into_iter().flatten();
    let invocation = Invocation {
        args: strings(&request["args"]),
        env: Arc::new(
            env.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect(),
        ),
        ..Invocation::default()
    };
    let caller = Caller { command: NAME, colors: false, offers_rerun: false };
    let output = run_as(caller, &invocation, &mut InMemory(&request["files"]));
    json!({
        "status": output.status,
        "stdout": to_text(&output.stdout),
        "stderr": to_text(&output.stderr),
    })
}

/// Answers the requests on standard input. Returns the exit status: 2 for what is not a request.
#[must_use]
pub fn main() -> i32 {
    let mut stdout = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request = line.ok().and_then(|line| serde_json::from_str::<Value>(&line).ok());
        let Some(request) = request else {
            eprintln!("batch: a line is not a JSON object");
            return 2;
        };
        let answered = writeln!(stdout, "{}", answer(&request)).and_then(|()| stdout.flush());
        if answered.is_err() {
            return 2;
        }
    }
    0
}
