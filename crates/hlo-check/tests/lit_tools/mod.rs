//! Small programs for tests of lit, with shell scripts of the same names in `tests/lit/shims`.

use std::sync::Arc;
use std::time::Duration;

use hlo_check::tool::{Invocation, Output, Tool};

fn run_up(invocation: &Invocation) -> Output {
    let mut text = Vec::new();
    for name in &invocation.args {
        match std::fs::read(invocation.current_dir.join(name)) {
            Ok(bytes) => text.extend(bytes),
            Err(error) => {
                let stderr = format!("up: {name}: {error}\n").into_bytes();
                return Output { stderr, status: 1, ..Output::default() };
            }
        }
    }
    if invocation.args.is_empty() {
        text.clone_from(&invocation.stdin);
    }
    Output { stdout: text.to_ascii_uppercase(), ..Output::default() }
}

fn run_status(invocation: &Invocation) -> Output {
    let mut output = Output::default();
    if let Some(text) = invocation.args.get(1) {
        output.stderr = format!("{text}\n").into_bytes();
    }
    output.status = invocation.args.first().and_then(|status| status.parse().ok()).unwrap_or(2);
    output
}

fn run_crash(invocation: &Invocation) -> Output {
    panic!("crashed with {} arguments", invocation.args.len());
}

fn run_show_env(invocation: &Invocation) -> Output {
    let mut text = String::new();
    for name in &invocation.args {
        if let Some(value) = invocation.env.get(name) {
            text.push_str(&format!("{name}={value}\n"));
        }
    }
    Output { stdout: text.into_bytes(), ..Output::default() }
}

/// Sleeps for a number of milliseconds.
fn run_nap(invocation: &Invocation) -> Output {
    let millis = invocation.args.first().and_then(|text| text.parse().ok()).unwrap_or(0);
    std::thread::sleep(Duration::from_millis(millis));
    Output::default()
}

/// What a simple program does.
type Run = fn(&Invocation) -> Output;

/// One per program.
struct Simple {
    name: &'static str,
    run: Run,
}

impl Tool for Simple {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, invocation: &Invocation) -> Output {
        (self.run)(invocation)
    }
}

/// Naps and then upper-cases each case of its input, the cases apart.
struct Cases;

const SEPARATOR: &[u8] = b"// -----\n";

impl Tool for Cases {
    fn name(&self) -> &'static str {
        "cases"
    }

    fn run(&self, invocation: &Invocation) -> Output {
        run_nap(invocation);
        if invocation.stdin.starts_with(b"panic") {
            panic!("asked to");
        }
        Output { stdout: invocation.stdin.to_ascii_uppercase(), ..Output::default() }
    }

    fn split(&self, invocation: &Invocation) -> Option<Vec<Invocation>> {
        let mut parts = vec![Vec::new()];
        for line in invocation.stdin.split_inclusive(|&byte| byte == b'\n') {
            match parts.last_mut() {
                Some(part) if line != SEPARATOR => part.extend_from_slice(line),
                _ => parts.push(Vec::new()),
            }
        }
        let make = |stdin| Invocation { stdin, ..invocation.clone() };
        Some(parts.into_iter().map(make).collect())
    }
}

/// Knows that it can't do anything.
struct Absent;

impl Tool for Absent {
    fn name(&self) -> &'static str {
        "absent"
    }

    fn run(&self, _: &Invocation) -> Output {
        Output { status: 1, ..Output::default() }
    }

    fn unsupported(&self, invocation: &Invocation) -> Option<String> {
        Some(format!("absent can't do '{}'", invocation.args.join(" ")))
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Arc<dyn Tool>> {
    let simple: [(&'static str, Run); 5] = [
        ("up", run_up),
        ("status", run_status),
        ("crash", run_crash),
        ("show-env", run_show_env),
        ("nap", run_nap),
    ];
    let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Cases), Arc::new(Absent)];
    tools.extend(simple.map(|(name, run)| Arc::new(Simple { name, run }) as Arc<dyn Tool>));
    tools
}
