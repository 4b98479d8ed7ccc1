//! Runs parsed RUN lines. Pipes are buffers in memory; the working folder and the environment are
//! data of the test, never of this process.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::super::builtins::{self, Builtin};
use super::super::interrupt;
use super::super::toolbox::{CasePool, Toolbox};
use super::call::Call;
use super::glob;
use super::lexer::Word;
use super::log::Record;
use super::parser::{Command, Connector, Pipeline, Sequence};
use super::redirect::{self, Streams, Target};
use super::rerun;
use crate::tool::{DiagnosticStyle, Environment, Invocation, Output};

/// How deeply programs may run programs (`env env not xargs ...`).
pub const MAX_NESTED_PROGRAMS: usize = 64;

/// Exit status of a command that could not be run.
pub const NOT_RUN: i32 = 127;

/// Signal reported for a program that crashed without naming one.
const ABORT_SIGNAL: i32 = 6;

/// Environment variable with the name of the running test.
pub const TEST_NAME_VARIABLE: &str = "LIT_CURRENT_TESTCASE";

/// What RUN lines change for the ones after them.
#[derive(Clone, Debug, Default)]
pub struct ShellState {
    /// Working folder.
    pub cwd: PathBuf,
    /// Environment.
    pub env: Environment,
    /// Folders left with `pushd`.
    pub dirs: Vec<PathBuf>,
}

impl ShellState {
    /// `path` taken from the working folder, with `.` and `..` resolved by their spelling.
    pub fn resolve(&self, path: &str) -> PathBuf {
        normalize(&self.cwd.join(path))
    }
}

/// Resolves `.` and `..` without looking at the file system.
pub fn normalize(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                // The parent of the root is the root.
                if matches!(out.components().next_back(), Some(Component::Normal(_))) {
                    out.pop();
                }
            }
            part => out.push(part),
        }
    }
    out
}

/// Why a script stopped without an exit status of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The command can't be run as written; the script fails with status 127.
    Refused(String),
    /// The script can't be carried out: the test is UNRESOLVED.
    Broken(String),
    /// A program here doesn't do what the test needs: the test is UNSUPPORTED.
    Unsupported(String),
    /// The time is up.
    TimedOut,
    /// The run is interrupted.
    Interrupted,
}

/// Which programs may run as processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ExternalPolicy {
    /// None.
    #[default]
    Nothing,
    /// Those named.
    Named(Vec<String>),
    /// All.
    Anything,
}

impl ExternalPolicy {
    pub(super) fn allows(&self, program: &str) -> bool {
        match self {
            ExternalPolicy::Nothing => false,
            ExternalPolicy::Anything => true,
            ExternalPolicy::Named(names) => {
                let file = Path::new(program).file_name().and_then(|name| name.to_str());
                names.iter().any(|name| name == program || Some(name.as_str()) == file)
            }
        }
    }
}

/// What is the same for all commands of a test.
pub struct Context<'c> {
    /// Programs that run in this process.
    pub tools: &'c Toolbox,
    /// Programs that may be started.
    pub external: &'c ExternalPolicy,
    /// Programs known not to be here; calling one makes the test UNSUPPORTED.
    pub unsupported_tools: &'c [String],
    /// Whether a pipeline fails if any of its commands does.
    pub pipefail: bool,
    /// How tools word what goes into the log.
    pub diagnostics: DiagnosticStyle,
    /// When the time is up.
    pub deadline: Option<Instant>,
    /// Runs the cases of split files.
    pub pool: &'c dyn CasePool,
    /// Whether to note the files that commands name.
    pub track_inputs: bool,
    /// Calls of the tools that look tests over, if they are to: the tool's name, and the call without its input.
    pub calls: Option<&'c RefCell<Vec<(&'static str, Invocation)>>>,
    /// Folder of the test's files, for those that programs leave without being asked.
    pub scratch_dir: &'c Path,
    /// A command that runs the whole test again.
    pub whole_test: &'c str,
    /// Whether programs see no variables of the test's own.
    pub plain_environment: bool,
}

/// Runs the lines of one test.
pub struct Executor<'a, 'c> {
    context: &'c Context<'c>,
    /// State after the commands run so far.
    pub state: ShellState,
    /// One entry per command run.
    pub records: Vec<Record<'a>>,
    /// Files that commands named, if asked for.
    pub inputs: Vec<PathBuf>,
    /// A command that repeats the last pipeline, if that failed and people are to read of it.
    pub rerun: String,
    /// Whether commands changed the environment.
    exported: bool,
}

/// How a command's status is turned round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negation {
    /// `not`
    Not,
    /// `not --crash`
    Crash,
    /// `!`
    Bang,
}

/// The status `not` (the program) ends with, given that of its command.
pub fn program_not(negation: Negation, status: i32) -> i32 {
    match negation {
        Negation::Crash => i32::from(status >= 0),
        Negation::Not | Negation::Bang => i32::from(status <= 0),
    }
}

fn negate(negations: &[Negation], status: i32) -> i32 {
    if negations.contains(&Negation::Crash) {
        return negations.iter().rev().fold(status, |status, &not| program_not(not, status));
    }
    match negations {
        [] => status,
        [Negation::Not] => program_not(Negation::Not, status),
        many if many.len() % 2 == 1 => i32::from(status == 0),
        _ => i32::from(status != 0),
    }
}

/// Exit status with crashes as negative numbers.
pub fn signed_status(output: &Output) -> i32 {
    match output.status {
        status if !output.crashed || status < 0 => status,
        status if status > 128 => 128 - status,
        _ => -ABORT_SIGNAL,
    }
}

/// What one command of a pipeline hands on.
struct Stage {
    next: Vec<u8>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    status: i32,
    files: Vec<(String, PathBuf)>,
}

/// A program call with its prefixes taken off.
struct Prepared {
    words: Vec<Word>,
    negations: Vec<Negation>,
    /// The environment if `env` changed it.
    env: Option<Environment>,
}

impl<'a, 'c> Executor<'a, 'c> {
    /// A shell that stands in `state`.
    pub fn new(context: &'c Context<'c>, state: ShellState) -> Self {
        Executor {
            context,
            state,
            records: Vec::new(),
            inputs: Vec::new(),
            rerun: String::new(),
            exported: false,
        }
    }

    /// Runs a RUN line; gives its exit status.
    ///
    /// # Errors
    /// See [`Stop`]; nothing after it may run.
    pub fn sequence(&mut self, sequence: &'a Sequence) -> Result<i32, Stop> {
        if sequence.rest.iter().any(|(connector, _)| *connector == Connector::Background) {
            return Err(Stop::Broken("unsupported shell operator: '&'".to_owned()));
        }
        let mut status = self.pipeline(&sequence.first)?;
        for (connector, pipeline) in &sequence.rest {
            let run = match connector {
                Connector::And => status == 0,
                Connector::Or => status != 0,
                Connector::Then | Connector::Background => true,
            };
            if run {
                status = self.pipeline(pipeline)?;
            }
        }
        Ok(status)
    }

    fn pipeline(&mut self, pipeline: &'a Pipeline) -> Result<i32, Stop> {
        let mut status = 0;
        let mut piped = Vec::new();
        let count = pipeline.commands.len();
        for (index, command) in pipeline.commands.iter().enumerate() {
            if self.context.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(Stop::TimedOut);
            }
            if interrupt::requested() {
                return Err(Stop::Interrupted);
            }
            let last = index + 1 == count;
            let stage = match self.stage(command, std::mem::take(&mut piped), last, count == 1) {
                // What a program gave that was told to stop says nothing of the test.
                Ok(_) if interrupt::requested() => return Err(Stop::Interrupted),
                Ok(stage) => stage,
                Err(stop) => {
                    self.record_stop(command, &stop);
                    return Err(stop);
                }
            };
            if !self.context.pipefail || stage.status != 0 {
                status = stage.status;
            }
            piped = stage.next;
            self.records.push(Record {
                command,
                stdout: stage.stdout,
                stderr: stage.stderr,
                status: stage.status,
                timed_out: false,
                files: stage.files,
            });
        }
        self.rerun = match self.context.diagnostics {
            DiagnosticStyle::Rich if status != 0 && self.exported => self.context.whole_test.to_owned(),
            DiagnosticStyle::Rich if status != 0 => rerun::command(pipeline, self.context, &self.state),
            _ => String::new(),
        };
        Ok(status)
    }

    fn record_stop(&mut self, command: &'a Command, stop: &Stop) {
        let (message, timed_out) = match stop {
            Stop::Refused(message) => (message.as_str(), false),
            Stop::TimedOut => ("", true),
            Stop::Broken(_) | Stop::Unsupported(_) | Stop::Interrupted => return,
        };
        self.records.push(Record {
            command,
            stdout: Vec::new(),
            stderr: message.as_bytes().to_vec(),
            status: NOT_RUN,
            timed_out,
            files: Vec::new(),
        });
    }

    fn stage(
        &mut self,
        command: &'a Command,
        piped: Vec<u8>,
        last: bool,
        alone: bool,
    ) -> Result<Stage, Stop> {
        let mut prepared = prepare(command, &self.state)?;
        let Some(name) = prepared.words.first() else {
            // `env` without a command.
            return self.print_environment(command, &prepared, last);
        };
        if name.glob
            && let Some(first) = glob::expand(&name.text, &self.state.cwd).into_iter().next()
        {
            prepared.words[0] = Word { text: first, glob: false };
        }
        let name = prepared.words[0].text.clone();
        if let Some(Builtin::State(run)) = builtins::find(&name)
            && (alone || name != "echo")
        {
            return self.state_builtin(*run, &name, command, prepared, alone);
        }
        self.program(command, prepared, piped, last)
    }

    fn print_environment(&self, command: &Command, prepared: &Prepared, last: bool) -> Result<Stage, Stop> {
        let mut streams = redirect::open(command, &self.state)?;
        let mut text = String::new();
        for (key, value) in prepared.env.as_ref().unwrap_or(&self.state.env).iter() {
            text.push_str(key);
            text.push('=');
            text.push_str(value);
            text.push('\n');
        }
        let output = Output { stdout: text.into_bytes(), ..Output::default() };
        route(&mut streams, output, negate(&prepared.negations, 0), last)
    }

    /// Runs a built-in that changes the shell's state, which only a command alone can do.
    fn state_builtin(
        &mut self,
        run: builtins::StateFn,
        name: &str,
        command: &Command,
        prepared: Prepared,
        alone: bool,
    ) -> Result<Stage, Stop> {
        if prepared.env.is_some() {
            return Err(Stop::Refused(format!("Error: 'env' cannot call '{name}'")));
        }
        if prepared.negations.contains(&Negation::Crash) {
            return Err(Stop::Refused(format!("Error: 'not --crash' cannot call '{name}'")));
        }
        if !alone {
            return Err(Stop::Refused(format!("Unsupported: '{name}' cannot be part of a pipeline")));
        }
        let args = expand_args(&prepared.words[1..], &self.state.cwd);
        let negations = prepared.negations;
        let mut streams = if name == "echo" {
            let streams = redirect::open(command, &self.state)?;
            if streams.stdin.is_some() || streams.stderr != Target::Own {
                return Err(Stop::Refused(format!("stdin and stderr redirects not supported for {name}")));
            }
            streams
        } else {
            // As in lit, the others have no output worth redirecting.
            Streams { stdin: None, stdout: Target::Own, stderr: Target::Own, files: Vec::new(), read: None }
        };
        self.exported |= name == "export";
        let output = run(&args, &mut self.state)?;
        let status = output.status;
        let status = if negations.len() % 2 == 1 { i32::from(status == 0) } else { status };
        route(&mut streams, output, status, true)
    }

    fn program(
        &mut self,
        command: &Command,
        prepared: Prepared,
        piped: Vec<u8>,
        last: bool,
    ) -> Result<Stage, Stop> {
        let mut streams = redirect::open(command, &self.state)?;
        let stdin = streams.stdin.take().unwrap_or(piped);
        let name = &prepared.words[0].text;
        let args = expand_args(&prepared.words[1..], &self.state.cwd);
        if self.context.track_inputs {
            let named = args.iter().map(|arg| self.state.cwd.join(arg)).filter(|path| path.is_file());
            self.inputs.extend(named.chain(streams.read.take()));
        }
        // Words for people only where people read them.
        let for_log = streams.stderr == Target::Own;
        let call = Call {
            context: self.context,
            state: &self.state,
            env: prepared.env.as_ref().unwrap_or(&self.state.env),
            diagnostics: if for_log { self.context.diagnostics } else { DiagnosticStyle::Compatible },
            merge: streams.merged(),
            depth: 0,
        };
        let output = call.run(name, args, stdin)?;
        let status = negate(&prepared.negations, signed_status(&output));
        route(&mut streams, output, status, last)
    }
}

/// Takes `env`, `not` and `!` off the front of a command.
fn prepare(command: &Command, state: &ShellState) -> Result<Prepared, Stop> {
    let mut prepared = Prepared { words: Vec::new(), negations: Vec::new(), env: None };
    let words = read_file_words(&command.words, state)?;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.text.as_str() {
            "env" => {
                at += 1;
                let mut env = prepared.env.take().unwrap_or_else(|| state.env.clone());
                at += update_env(Arc::make_mut(&mut env), words[at..].iter().map(|word| word.text.as_str()));
                prepared.env = Some(env);
            }
            "not" => {
                at += 1;
                let crash = words.get(at).is_some_and(|word| word.text == "--crash");
                at += usize::from(crash);
                prepared.negations.push(if crash { Negation::Crash } else { Negation::Not });
                if at == words.len() {
                    return Err(Stop::Refused("Error: 'not' requires a subcommand".to_owned()));
                }
            }
            "!" => {
                at += 1;
                prepared.negations.push(Negation::Bang);
                if at == words.len() {
                    return Err(Stop::Refused("Error: '!' requires a subcommand".to_owned()));
                }
            }
            _ => break,
        }
    }
    let mut words = words;
    words.drain(..at);
    prepared.words = words;
    Ok(prepared)
}

/// Carries out the arguments of `env` and `export`; gives how many there were before the command.
pub fn update_env<'w>(env: &mut BTreeMap<String, String>, words: impl Iterator<Item = &'w str>) -> usize {
    let mut unset = false;
    let mut count = 0;
    for word in words {
        if unset {
            unset = false;
            env.remove(word);
        } else if word == "-u" {
            unset = true;
        } else if word == "-i" {
            env.clear();
        } else if let Some((key, value)) = word.split_once('=') {
            env.insert(key.to_owned(), value.to_owned());
        } else {
            break;
        }
        count += 1;
    }
    count
}

/// Begins what is replaced by the contents of a file; `}` ends it.
const READ_FILE: &str = "%{readfile:";

/// Whether all files that `%{readfile:NAME}` asks for in a line are there before the line runs. lit logs each line
/// with such texts replaced: a file that the line itself makes comes too late, also for a command it doesn't reach.
///
/// # Errors
/// One is not there.
pub(in super::super) fn check_read_files(line: &str, state: &ShellState) -> Result<(), Stop> {
    let names = line.split(READ_FILE).skip(1).filter_map(|rest| rest.split_once('}'));
    for (name, _) in names {
        let path = state.cwd.join(name);
        if !path.exists() {
            return Err(no_such_file(&path));
        }
    }
    Ok(())
}

fn no_such_file(path: &Path) -> Stop {
    Stop::Refused(format!("File specified in readfile substitution does not exist: {}", path.display()))
}

/// Replaces `%{readfile:NAME}` by the contents of the file.
fn read_file_words(words: &[Word], state: &ShellState) -> Result<Vec<Word>, Stop> {
    let mut out = words.to_vec();
    for word in &mut out {
        // A pattern for file names is not an argument yet.
        if word.glob || !word.text.contains(READ_FILE) {
            continue;
        }
        let mut text = String::new();
        let mut rest = word.text.as_str();
        while let Some(at) = rest.find(READ_FILE) {
            let tail = &rest[at + READ_FILE.len()..];
            let Some(end) = tail.find('}') else { break };
            text.push_str(&rest[..at]);
            let path = state.cwd.join(&tail[..end]);
            let bytes = std::fs::read(&path).map_err(|_| no_such_file(&path))?;
            text.push_str(&String::from_utf8_lossy(&bytes));
            rest = &tail[end + 1..];
        }
        text.push_str(rest);
        word.text = text;
    }
    Ok(out)
}

fn expand_args(words: &[Word], cwd: &Path) -> Vec<String> {
    let mut args = Vec::with_capacity(words.len());
    for word in words {
        if word.glob {
            args.extend(glob::expand(&word.text, cwd));
        } else {
            args.push(word.text.clone());
        }
    }
    args
}

/// Sends the output of a command where its redirections say.
fn route(streams: &mut Streams, output: Output, status: i32, last: bool) -> Result<Stage, Stop> {
    let mut stage =
        Stage { next: Vec::new(), stdout: Vec::new(), stderr: Vec::new(), status, files: Vec::new() };
    // Programs write standard error at once and standard output when they end; a merged stream
    // therefore begins with the former.
    match streams.stderr {
        Target::Own => stage.stderr = output.stderr,
        Target::PipeOfStdout if streams.stdout == Target::Own => stage.next = output.stderr,
        // `2>&1 > file`: standard error alone goes down the pipe.
        Target::PipeOfStdout if last => stage.stderr = output.stderr,
        Target::PipeOfStdout => stage.next = output.stderr,
        Target::File(index) => write_file(streams, index, &output.stderr)?,
    }
    match streams.stdout {
        Target::Own | Target::PipeOfStdout if stage.next.is_empty() => stage.next = output.stdout,
        Target::Own | Target::PipeOfStdout => stage.next.extend_from_slice(&output.stdout),
        Target::File(index) => write_file(streams, index, &output.stdout)?,
    }
    if last {
        stage.stdout = std::mem::take(&mut stage.next);
    }
    if status != 0 {
        let written = streams.files.drain(..);
        stage.files = written.filter_map(|file| Some((file.name, file.path?))).collect();
    }
    Ok(stage)
}

fn write_file(streams: &mut Streams, index: usize, bytes: &[u8]) -> Result<(), Stop> {
    let Some(file) = streams.files.get_mut(index) else { return Ok(()) };
    file.write(bytes).map_err(|error| Stop::Broken(format!("can't write '{}': {error}", file.name)))
}
