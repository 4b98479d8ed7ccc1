//! FileCheck as a program: arguments and files in, output and exit status out.

mod arguments;
pub mod batch;
mod ignored;
mod review;

pub(crate) use arguments::shown_options;
pub use review::review;

use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;

use super::options::DumpInput;
use super::report::{dump, rich};
use super::{Run, lint};
use crate::tool::{DiagnosticStyle, Invocation, Output};

/// Exit status of a run whose checks did not hold, and of bad options.
const FAILED: i32 = 1;
/// Exit status for unusable check files, missing files, bad prefixes.
const UNUSABLE: i32 = 2;

/// The program as it was called.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// The command as typed (`argv[0]`), for messages.
    pub command: &'a str,
    /// Whether colours are on unless an option says otherwise.
    pub colors: bool,
    /// Whether rich messages end with the command to run again. Whoever calls it from within the process knows better
    /// what that is.
    pub offers_rerun: bool,
}

/// The name messages use for the program.
const NAME: &str = "FileCheck";

/// Where a run's files come from.
pub trait Files {
    /// Everything on standard input.
    fn stdin(&mut self) -> Vec<u8>;

    /// A file.
    ///
    /// # Errors
    /// What the system says.
    fn read(&mut self, path: &Path) -> std::io::Result<Vec<u8>>;
}

/// The file system, with standard input at hand.
struct FromInvocation<'a>(&'a Invocation);

impl Files for FromInvocation<'_> {
    fn stdin(&mut self) -> Vec<u8> {
        self.0.stdin.clone()
    }

    fn read(&mut self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}

/// The file system, with the standard input of this process.
struct OfProcess;

impl Files for OfProcess {
    fn stdin(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        // A closed standard input is an empty one.
        let _ = std::io::stdin().lock().read_to_end(&mut text);
        text
    }

    fn read(&mut self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}

/// Runs FileCheck with the arguments, files and environment of `invocation`.
#[must_use]
pub fn run(invocation: &Invocation) -> Output {
    run_as(
        Caller { command: NAME, colors: false, offers_rerun: false },
        invocation,
        &mut FromInvocation(invocation),
    )
}

/// Runs FileCheck as a process: environment, files and streams are those of this process. Returns the
/// exit status.
#[must_use]
pub fn main(command: &str, args: Vec<String>) -> i32 {
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let invocation = Invocation { args, env: Arc::new(env.collect()), ..Invocation::default() };
    let caller = Caller { command, colors: std::io::stderr().is_terminal(), offers_rerun: true };
    let output = run_as(caller, &invocation, &mut OfProcess);
    // Nothing can be said any more when the streams are closed.
    let _ = std::io::stdout().lock().write_all(&output.stdout);
    let _ = std::io::stderr().lock().write_all(&output.stderr);
    output.status
}

/// Runs FileCheck on `files`.
#[must_use]
pub fn run_as(caller: Caller<'_>, invocation: &Invocation, files: &mut dyn Files) -> Output {
    let parsed = match arguments::parse(caller.command, invocation) {
        Ok(parsed) => parsed,
        Err(output) => return output,
    };
    let colors = parsed.color.unwrap_or(caller.colors);
    if parsed.dump.when == DumpInput::Help {
        return Output { stdout: dump::HELP.into(), ..Output::default() };
    }
    let fail = |status: i32, stderr: String| Output { stderr: stderr.into(), status, ..Output::default() };
    let Some(check_path) = parsed.check_file.filter(|path| !path.is_empty()) else {
        return fail(UNUSABLE, "<check-file> not specified\n".to_owned());
    };
    let mut define_errors = String::new();
    for define in &parsed.matching.defines {
        let problem = match define.find('=') {
            None => "Missing equal sign",
            Some(0) => "Missing variable name",
            Some(_) => continue,
        };
        define_errors.push_str(&format!("{problem} in command-line definition '-D{define}'\n"));
    }
    if !define_errors.is_empty() {
        return fail(UNUSABLE, define_errors);
    }
    if let Err(message) = parsed.matching.validate_prefixes() {
        return fail(UNUSABLE, format!("{message}\n"));
    }
    let mut stdin_used = false;
    let mut read = |path: &str| {
        if path == "-" {
            // Whoever reads it second finds it at its end.
            let text = if stdin_used { Vec::new() } else { files.stdin() };
            stdin_used = true;
            return Ok(text);
        }
        files.read(&invocation.current_dir.join(path)).map_err(|error| describe(&error))
    };
    let check_text = match read(&check_path) {
        Ok(text) => text,
        Err(error) => {
            return fail(UNUSABLE, format!("Could not open check file '{check_path}': {error}\n"));
        }
    };
    let input_name = if parsed.input_file == "-" { "<stdin>" } else { parsed.input_file.as_str() };
    let check_name = if check_path == "-" { "<stdin>" } else { check_path.as_str() };
    let keep_annotations = parsed.dump.when != DumpInput::Never;
    let is_rich = parsed.style.unwrap_or(invocation.diagnostics) == DiagnosticStyle::Rich;
    let mut run = Run::new(&parsed.matching, check_name, check_text, keep_annotations);
    if is_rich {
        run.keep_failures();
    }
    let rerun = || {
        if !caller.offers_rerun {
            return String::new();
        }
        let words = invocation.args.iter().map(|word| quote(word));
        let command = std::iter::once(caller.command.to_owned()).chain(words).collect::<Vec<_>>().join(" ");
        // What came through a pipe can't be had again by this call alone.
        if parsed.input_file == "-" { format!("{command} < INPUT") } else { command }
    };
    let lints = |run: &Run<'_>| {
        if !parsed.lint {
            return String::new();
        }
        let found = lint::lint(run.check_text(), &lint::Usage::of_call(&parsed.matching));
        rich::render_lints(&found, check_name, run.check_text(), colors).concat()
    };
    if run.read_checks().is_err() {
        let status = if run.exit_at_once() { FAILED } else { UNUSABLE };
        let mut stderr =
            if is_rich { run.render_rich(colors, &rerun()).into_bytes() } else { run.render(colors) };
        stderr.extend_from_slice(lints(&run).as_bytes());
        return Output { stderr, status, ..Output::default() };
    }
    let problem = match read(&parsed.input_file) {
        Ok(text) if text.is_empty() && !parsed.matching.allow_empty => {
            let mut message = format!("{NAME} error: '{input_name}' is empty.\n{NAME} command line: ");
            for word in std::iter::once(caller.command).chain(invocation.args.iter().map(String::as_str)) {
                message.push(' ');
                message.push_str(word);
            }
            message.push('\n');
            message
        }
        Ok(text) => {
            let passed = run.check(input_name, text);
            let mut stderr = match (is_rich, passed) {
                (false, _) => run.render(colors),
                (true, true) => Vec::new(),
                (true, false) => run.render_rich(colors, &rerun()).into_bytes(),
            };
            stderr.extend_from_slice(lints(&run).as_bytes());
            // The rich messages show the lines that matter; a dump must be asked for.
            let dump_failure = parsed.dump.when == DumpInput::Fail && (!is_rich || parsed.dump_asked);
            if parsed.dump.when == DumpInput::Always || (!passed && dump_failure) {
                stderr.extend_from_slice(
                    format!(
                        "\nInput file: {input_name}\nCheck file: {check_path}\n\n\
                         -dump-input=help explains the following input dump.\n\n"
                    )
                    .as_bytes(),
                );
                stderr.extend_from_slice(&run.render_dump(parsed.dump, colors));
            }
            let status = if passed { 0 } else { FAILED };
            return Output { stderr, status, ..Output::default() };
        }
        Err(error) => format!("Could not open input file '{input_name}': {error}\n"),
    };
    let mut stderr = run.render(colors);
    stderr.extend_from_slice(problem.as_bytes());
    Output { stderr, status: UNUSABLE, ..Output::default() }
}

/// A word as a shell takes it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The system's words for an error, without Rust's number.
fn describe(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// What a call reads, and the prefixes it looks for.
pub(crate) struct Call {
    pub(crate) check_file: String,
    /// `None` for standard input.
    pub(crate) input_file: Option<String>,
    pub(crate) prefixes: Vec<String>,
}

/// What a call reads; `None` if its command line is wrong.
pub(crate) fn call_of(invocation: &Invocation) -> Option<Call> {
    let parsed = arguments::parse(NAME, invocation).ok()?;
    let prefixes = parsed.matching.effective_check_prefixes();
    Some(Call {
        check_file: parsed.check_file?,
        input_file: Some(parsed.input_file).filter(|path| path != "-"),
        prefixes: prefixes.into_iter().map(str::to_owned).collect(),
    })
}
