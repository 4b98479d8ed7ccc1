//! Where the streams of a command go.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use super::exec::{ShellState, Stop};
use super::glob;
use super::lexer::RedirectOp;
use super::parser::{Command, Redirect};

/// The name that swallows output and gives none, on every system.
pub const NULL_DEVICE: &str = "/dev/null";

/// What an output stream is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Its default: the pipe or the log for standard output, the log for standard error.
    Own,
    /// What standard output had by default (only for standard error).
    PipeOfStdout,
    /// An opened file, by index.
    File(usize),
}

/// A file opened for output.
#[derive(Debug)]
pub struct OutputFile {
    /// As written in the RUN line.
    pub name: String,
    /// Where it is; `None` for the null device.
    pub path: Option<PathBuf>,
    file: Option<File>,
}

impl OutputFile {
    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        use std::io::Write as _;
        match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => Ok(()),
        }
    }
}

/// The plan for one command.
#[derive(Debug)]
pub struct Streams {
    /// Contents of the file given with `<`.
    pub stdin: Option<Vec<u8>>,
    /// Standard output.
    pub stdout: Target,
    /// Standard error.
    pub stderr: Target,
    /// Files opened, shared by the targets.
    pub files: Vec<OutputFile>,
    /// Files named, for reports.
    pub read: Option<PathBuf>,
}

impl Streams {
    /// Whether both outputs end in the same place.
    pub fn merged(&self) -> bool {
        match (self.stdout, self.stderr) {
            (Target::Own, Target::PipeOfStdout) => true,
            (Target::File(a), Target::File(b)) => a == b,
            _ => false,
        }
    }
}

enum Plan<'a> {
    Default(usize),
    Open { redirect: &'a Redirect, append: bool, opened: Option<usize> },
}

/// Opens the files of a command. Outputs are truncated before the input is read, as a shell does.
///
/// # Errors
/// [`Stop::Refused`] for redirections lit doesn't have, [`Stop::Broken`] if a file can't be opened.
pub fn open(command: &Command, state: &ShellState) -> Result<Streams, Stop> {
    let mut streams =
        Streams { stdin: None, stdout: Target::Own, stderr: Target::Own, files: Vec::new(), read: None };
    if command.redirects.is_empty() {
        return Ok(streams);
    }
    // Plans are shared by index so that `> x 2>&1` opens one file.
    let mut plans = vec![Plan::Default(0), Plan::Default(1), Plan::Default(2)];
    let mut slots = [0, 1, 2];
    for redirect in &command.redirects {
        let fd = redirect.fd.as_deref();
        let mut open = |append| {
            plans.push(Plan::Open { redirect, append, opened: None });
            plans.len() - 1
        };
        match (redirect.op, fd) {
            (RedirectOp::Write, Some("2")) => slots[2] = open(false),
            (RedirectOp::Append, Some("2")) => slots[2] = open(true),
            (RedirectOp::Duplicate, Some("2"))
                if matches!(redirect.target.text.as_str(), "0" | "1" | "2") =>
            {
                let from = usize::from(redirect.target.text.as_bytes()[0] - b'0');
                slots[2] = slots[from];
            }
            (RedirectOp::Duplicate | RedirectOp::Both, None) => {
                slots[1] = open(false);
                slots[2] = slots[1];
            }
            (RedirectOp::Write, None) => slots[1] = open(false),
            (RedirectOp::Append, None) => slots[1] = open(true),
            (RedirectOp::Read, None) => slots[0] = open(false),
            (op, fd) => {
                return Err(Stop::Refused(format!(
                    "Unsupported redirect: '{}{} {}'",
                    fd.unwrap_or_default(),
                    op.text(),
                    redirect.target.text
                )));
            }
        }
    }
    let mut input: Option<String> = None;
    for (index, slot) in slots.into_iter().enumerate() {
        let target = match &mut plans[slot] {
            Plan::Default(default) if *default == index => Target::Own,
            Plan::Default(1) if index == 2 => Target::PipeOfStdout,
            Plan::Default(_) => return Err(Stop::Refused("Bad redirect".to_owned())),
            Plan::Open { opened: Some(opened), .. } => Target::File(*opened),
            Plan::Open { redirect, append, opened } => {
                let name = file_name(redirect, state)?;
                if index == 0 {
                    input = Some(name);
                    continue;
                }
                let path = (name != NULL_DEVICE).then(|| state.cwd.join(&name));
                let file = match &path {
                    Some(path) => Some(open_output(path, *append)?),
                    None => None,
                };
                streams.files.push(OutputFile { name: redirect.target.text.clone(), path, file });
                *opened = Some(streams.files.len() - 1);
                Target::File(streams.files.len() - 1)
            }
        };
        match index {
            1 => streams.stdout = target,
            2 => streams.stderr = target,
            _ => {}
        }
    }
    if let Some(name) = input {
        let path = state.cwd.join(&name);
        let bytes = read_input(&name, &path)
            .map_err(|error| Stop::Broken(format!("can't read '{}': {error}", path.display())))?;
        streams.stdin = Some(bytes);
        streams.read = Some(path);
    }
    Ok(streams)
}

/// Whether the operator, without a number before it, sends both outputs to its target.
pub(super) fn is_both(op: RedirectOp) -> bool {
    matches!(op, RedirectOp::Both | RedirectOp::Duplicate)
}

/// Reads a file named in a RUN line; the null device is empty everywhere.
pub fn read_input(name: &str, path: &Path) -> std::io::Result<Vec<u8>> {
    if name == NULL_DEVICE { Ok(Vec::new()) } else { std::fs::read(path) }
}

fn open_output(path: &Path, append: bool) -> Result<File, Stop> {
    let mut options = OpenOptions::new();
    options.create(true);
    if append {
        options.append(true);
    } else {
        options.write(true).truncate(true);
    }
    options.open(path).map_err(|error| Stop::Broken(format!("can't write '{}': {error}", path.display())))
}

fn file_name(redirect: &Redirect, state: &ShellState) -> Result<String, Stop> {
    if !redirect.target.glob {
        return Ok(redirect.target.text.clone());
    }
    let mut names = glob::expand(&redirect.target.text, &state.cwd);
    match (names.pop(), names.is_empty()) {
        (Some(name), true) => Ok(name),
        _ => Err(Stop::Refused("Unsupported: glob in redirect expanded to multiple files".to_owned())),
    }
}
