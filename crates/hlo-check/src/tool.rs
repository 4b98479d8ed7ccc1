//! The interface between the RUN-line interpreter and the programs that run inside this process.
//!
//! `lit` knows programs only through [`Tool`], `filecheck` and `hlo-opt` know nothing of `lit`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a tool words its diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiagnosticStyle {
    /// What the program it stands in for prints, byte for byte.
    #[default]
    Compatible,
    /// Our own rendering: more context, aligned lines, help.
    Rich,
}

/// Variables by name; calls share them.
pub type Environment = Arc<BTreeMap<String, String>>;

/// One call of a program: what a process would be given.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    /// Arguments without the program's name.
    pub args: Vec<String>,
    /// Everything on standard input.
    pub stdin: Vec<u8>,
    /// The directory relative paths are resolved against (a thread has no directory of its own).
    pub current_dir: PathBuf,
    /// The whole environment the program sees; the process's own is not consulted.
    pub env: Environment,
    /// How failures are worded.
    pub diagnostics: DiagnosticStyle,
    /// The folder for files that nobody asked for by name, such as reproducers of crashes; empty for the current one.
    pub scratch_dir: PathBuf,
}

/// A tool that looks tests over.
pub trait Reviewer {
    /// What is to be said about the test, in the order of its text.
    fn review(&self, review: &Review<'_>) -> Vec<Finding>;
}

/// What a finished call left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Bytes written to standard output.
    pub stdout: Vec<u8>,
    /// Bytes written to standard error.
    pub stderr: Vec<u8>,
    /// Exit status as a shell would see it.
    pub status: i32,
    /// The program panicked or died by a signal; `not --crash` asks for this.
    pub crashed: bool,
}

/// Something in a test that probably means something else than it seems to. It leaves the verdict alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the lint; `LINT-OFF(name)` turns it off.
    pub code: &'static str,
    /// Line in the test, from 1.
    pub line: usize,
    /// Column of bytes, from 1.
    pub column: usize,
    /// What is wrong, in one line.
    pub message: String,
    /// What to do about it, in one line.
    pub help: String,
    /// All of it as people read it, with the lines around.
    pub rendered: String,
}

/// A test whose RUN lines have been run, for tools to look over.
#[derive(Clone, Copy, Debug)]
pub struct Review<'r> {
    /// The test file.
    pub path: &'r Path,
    /// What messages call it.
    pub name: &'r str,
    /// Its bytes.
    pub text: &'r [u8],
    /// The calls of the tool in the RUN lines: those made, and those that stand in lines that were not reached.
    /// Standard input is left out.
    pub calls: &'r [Invocation],
}

/// A program that runs in this process.
pub trait Tool: Send + Sync {
    /// The name RUN lines call it by.
    fn name(&self) -> &'static str;

    /// Runs it to its end. Panics are caught by the caller.
    fn run(&self, invocation: &Invocation) -> Output;

    /// Cuts a call into parts that may run at once on different threads, in the order of their
    /// output. `None` (the default) means the call is one unit of work.
    ///
    /// A tool with an option like `--split-input-file` returns one call per case, so that a file
    /// of a thousand cases is spread over all workers; [`Tool::join`] makes one output of theirs.
    fn split(&self, invocation: &Invocation) -> Option<Vec<Invocation>> {
        let _ = invocation;
        None
    }

    /// Makes one output of those of the parts that [`Tool::split`] named, in the same order.
    ///
    /// By default: streams one after the other, the status of the first part that failed, a crash
    /// if any part crashed.
    fn join(&self, invocation: &Invocation, parts: Vec<Output>) -> Output {
        let _ = invocation;
        let mut whole = Output::default();
        for part in parts {
            whole.stdout.extend_from_slice(&part.stdout);
            whole.stderr.extend_from_slice(&part.stderr);
            if whole.status == 0 {
                whole.status = part.status;
            }
            whole.crashed |= part.crashed;
        }
        whole
    }

    /// Says why this call can't be answered here although the program it stands in for could
    /// (a pass that is known but not provided). The test then ends UNSUPPORTED with these words
    /// and the call is not made. `None` (the default) means it can.
    fn unsupported(&self, invocation: &Invocation) -> Option<String> {
        let _ = invocation;
        None
    }

    /// The words that call it from a shell, if its name alone doesn't (`hlo-check opt` for `hlo-opt`).
    fn shell_words(&self) -> &'static str {
        self.name()
    }

    /// Looks a test over that has been run, whether or not it calls this tool. `None` (the default): this tool never
    /// does, so that nobody needs to keep its calls.
    fn reviewer(&self) -> Option<&dyn Reviewer> {
        None
    }
}
