//! A test of what the passes of a session do.

use super::engine::Failure;
use super::session::Session;
use crate::cli::exit;
use crate::filecheck::FileCheckTool;
use crate::opt::OptTool;
use crate::opt::crash::lossless;
use crate::tool::{Invocation, Output, Tool};
use hlo_text::{Module, PrintOptions};

/// Writes the test of the current state to `file`, which must not be there yet, and runs it.
///
/// # Errors
/// It can't be written, or doesn't pass; then it isn't kept.
pub(crate) fn save(session: &Session, file: &str) -> Result<String, String> {
    let path = session.world.path(file);
    if path.exists() {
        return Err(format!("{file} is there already: give another name, or remove it first"));
    }
    let number = session.number()?;
    let (root, requests) = session.lineage(number)?;
    let command = session.command(number, "%s")?;
    let input = lossless(&session.state(root)?.module);
    let checks = checks(&session.state(number)?.module);
    let count = checks.lines().count();
    let text = format!("// RUN: {command} | FileCheck %s\n\n{checks}\n{input}");
    session.world.write(file, &text)?;
    if let Err(failure) = run(session, number, file) {
        // It would be a test that fails; what it says is in the message.
        let _ = std::fs::remove_file(&path);
        return Err(format!("the test doesn't pass, so it isn't kept: {}", failure.text()));
    }
    let note = if requests.is_empty() { "it runs no pass, since none has run; " } else { "" };
    Ok(format!("wrote {file}, which passes: {note}{count} CHECK lines\n"))
}

/// Runs the test: the calls of `hlo-opt` one after the other, then FileCheck.
fn run(session: &Session, number: usize, file: &str) -> Result<(), Failure> {
    let call = |tool: &dyn Tool, args: Vec<String>, stdin: Vec<u8>| -> Result<Output, Failure> {
        let env = session.world.environment.clone().unwrap_or_else(|| std::env::vars().collect());
        let current_dir = session.world.current_dir.clone();
        let invocation = Invocation { args, stdin, current_dir, env: env.into(), ..Invocation::default() };
        let output = tool.run(&invocation);
        if output.status == 0 {
            return Ok(output);
        }
        Err(Failure::with_status(exit::CHECK, String::from_utf8_lossy(&output.stderr).trim()))
    };
    let calls = session.calls(number, file).map_err(|message| Failure::usage(&message))?;
    let mut stdin = Vec::new();
    for args in calls {
        stdin = call(&OptTool, args, stdin)?.stdout;
    }
    call(&FileCheckTool, vec![file.to_owned()], stdin).map(|_| ())
}

/// CHECK lines for every line of the module but its header.
fn checks(module: &Module) -> String {
    let text = module.to_text(&PrintOptions::default());
    let mut out = String::new();
    let mut follows = false;
    for line in text.lines().skip(1) {
        if line.trim().is_empty() {
            follows = false;
            continue;
        }
        let directive = if follows { "CHECK-NEXT" } else { "CHECK" };
        out.push_str(&format!("// {directive}: {}\n", escape(line)));
        follows = true;
    }
    out
}

/// A line as a pattern that matches it and nothing else.
fn escape(line: &str) -> String {
    line.trim_end().replace("{{", "{{[{][{]}}").replace("[[", "{{[[][[]}}")
}
