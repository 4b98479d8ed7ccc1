//! The interface between the RUN-line interpreter and the programs that run inside this process.
//!
//! `lit` knows programs only through [`Tool`], `filecheck` and `hlo-opt` know nothing of `lit`.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// How a tool words its diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiagnosticStyle {
    /// What the program it stands in for prints, byte for byte.
    #[default]
    Compatible,
    /// Our own rendering: more context, aligned lines, help.
    Rich,
}

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
    pub env: BTreeMap<String, String>,
    /// How failures are worded.
    pub diagnostics: DiagnosticStyle,
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

/// A program that runs in this process.
pub trait Tool: Send + Sync {
    /// The name RUN lines call it by.
    fn name(&self) -> &'static str;

    /// Runs it to its end. Panics are caught by the caller.
    fn run(&self, invocation: &Invocation) -> Output;
}
