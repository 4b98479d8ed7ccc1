//! `hlo-opt`: reads HLO, runs passes by name, prints the result. Knows nothing of lit.
//!
//! [`OptTool`] runs it inside this process, [`main`] as a process; both go through [`run`].

mod arguments;
mod complain;
pub(crate) mod crash;
mod listing;
pub(crate) mod pipelines;
mod resources;
pub(crate) mod split;
mod unit;
mod watch;

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use hlo_passes::Pipeline;
use hlo_passes::pipeline::{ErrorKind, driver_error};
use hlo_passes::registry::codes::NO_PASSES;
use hlo_passes::registry::{self, Status};

use crate::cli::exit;
use crate::result_file::ResultFile;
use crate::tool::{Invocation, Output, Tool};
use arguments::{Action, Arguments};
pub(crate) use arguments::{ErrorFormat, shown_options};
pub(crate) use complain::diagnostic_text;
use resources::{Environment, FileResources};
use unit::Unit;

/// Where messages and results go.
struct Streams<'w> {
    out: &'w mut dyn Write,
    err: &'w mut dyn Write,
    color: bool,
}

/// `hlo-opt` for RUN lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct OptTool;

impl Tool for OptTool {
    fn name(&self) -> &'static str {
        "hlo-opt"
    }

    fn shell_words(&self) -> &'static str {
        "hlo-check opt"
    }

    fn run(&self, invocation: &Invocation) -> Output {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut streams = Streams { out: &mut stdout, err: &mut stderr, color: false };
        let read_stdin = || Ok(invocation.stdin.clone());
        let scratch_dir = invocation.current_dir.join(&invocation.scratch_dir);
        let resources = resources_of(invocation, &scratch_dir);
        let status = run(&invocation.args, &resources, read_stdin, &mut streams)
            // Memory takes everything; the only faults left are those of files, which are reported where they occur.
            .unwrap_or(exit::USAGE);
        Output { stdout, stderr, status: status.into(), crashed: status == exit::CRASH }
    }

    fn split(&self, invocation: &Invocation) -> Option<Vec<Invocation>> {
        // Most calls have no such option, and this is asked of all.
        if !invocation.args.iter().any(|arg| arg.contains("split-input-file")) {
            return None;
        }
        let arguments = parse(&invocation.args, &resources_of(invocation, Path::new(""))).ok()?;
        if !matches!(arguments.action, Action::Run) || !arguments.split_input_file {
            return None;
        }
        // Faults that all cases would share are reported once, by the call as a whole.
        Pipeline::new(&arguments.selection()).ok()?;
        let bytes = read(&arguments.input, &invocation.current_dir, || Ok(invocation.stdin.clone())).ok()?;
        // So are separators that look wrong.
        let cases = split::cases(&bytes).ok()?;
        let name = arguments.input_name();
        let cases = cases.into_iter().map(|case| {
            let hidden = format!("--{}={}:{name}", arguments::CASE_OPTION, case.first_line);
            let args = invocation.args.iter().cloned().chain([hidden]).collect();
            Invocation { args, stdin: case.bytes.to_vec(), ..without_input(invocation) }
        });
        Some(cases.collect())
    }

    fn join(&self, invocation: &Invocation, parts: Vec<Output>) -> Output {
        let mut whole = Output::default();
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                whole.stdout.extend_from_slice(split::SEPARATOR);
            }
            whole.stdout.extend_from_slice(&part.stdout);
            whole.stderr.extend_from_slice(&part.stderr);
            if whole.status == 0 {
                whole.status = part.status;
            }
            whole.crashed |= part.crashed;
        }
        // The parts leave their output to be written here, in order.
        if let Ok(Arguments { output: Some(path), .. }) = arguments::parse(&invocation.args) {
            if let Err(error) = std::fs::write(invocation.current_dir.join(&path), &whole.stdout) {
                whole.stderr.extend_from_slice(format!("error: can't write {path}: {error}\n").as_bytes());
                whole.status = exit::USAGE.into();
            }
            whole.stdout.clear();
        }
        whole
    }

    fn unsupported(&self, invocation: &Invocation) -> Option<String> {
        let arguments = parse(&invocation.args, &resources_of(invocation, Path::new(""))).ok()?;
        if let Some(option) = arguments.needs_xla {
            return Some(format!("{option} needs XLA's own compiler"));
        }
        let selection = arguments.selection();
        let runs = selection.passes.iter().filter(|pass| !selection.skip.contains(&pass.key));
        runs.map(|pass| pass.key.as_str()).find_map(|key| match registry::find(key) {
            Some(info) => match info.status {
                Status::Unimplemented(reason) => Some(format!("pass {key} is not implemented: {reason}")),
                Status::Implemented(_) | Status::Identity(_) => None,
            },
            None if registry::is_stock_name(key) => Some(format!("pass {key} of XLA is not provided here")),
            None => None,
        })
    }
}

/// What a call sees of files and settings.
fn resources_of<'i>(invocation: &'i Invocation, scratch_dir: &'i Path) -> FileResources<'i> {
    FileResources {
        current_dir: &invocation.current_dir,
        scratch_dir,
        environment: Environment::Given(&invocation.env),
    }
}

/// Reads the command line; named pipelines become the passes they stand for.
///
/// # Errors
/// What is wrong with it, one sentence.
fn parse(args: &[String], resources: &FileResources<'_>) -> Result<Arguments, String> {
    let mut arguments = arguments::parse(args)?;
    arguments.expand_passes(|list| pipelines::expand_list(list, resources.current_dir, resources))?;
    Ok(arguments)
}

/// The call without what it reads.
fn without_input(invocation: &Invocation) -> Invocation {
    Invocation {
        args: Vec::new(),
        stdin: Vec::new(),
        current_dir: invocation.current_dir.clone(),
        env: invocation.env.clone(),
        diagnostics: invocation.diagnostics,
        scratch_dir: invocation.scratch_dir.clone(),
    }
}

/// Features that tests can ask for: `pass=KEY` for every pass that runs.
pub fn features() -> impl Iterator<Item = String> {
    let runs = registry::all().filter(|info| !matches!(info.status, Status::Unimplemented(_)));
    runs.map(|info| format!("pass={}", info.key))
}

/// Runs `hlo-opt` on the streams of this process; gives the exit status.
#[must_use]
pub fn main(args: &[String]) -> u8 {
    let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut err = io::stderr().lock();
    let read_stdin = || {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let mut streams = Streams { out: &mut out, err: &mut err, color };
    let resources = FileResources {
        current_dir: Path::new(""),
        scratch_dir: Path::new(""),
        environment: Environment::Process,
    };
    let result = run(args, &resources, read_stdin, &mut streams);
    match result.and_then(|status| out.flush().map(|()| status)) {
        Ok(status) => status,
        // Nobody reads on: that is their choice, not a fault.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            // Standard error may be closed as well; then there is nobody to tell.
            let _ = writeln!(err, "error: can't write the result: {error}");
            exit::USAGE
        }
    }
}

/// Runs `hlo-opt`: the exit status, or the error of a stream.
fn run(
    args: &[String],
    resources: &FileResources<'_>,
    read_stdin: impl FnOnce() -> io::Result<Vec<u8>>,
    streams: &mut Streams<'_>,
) -> io::Result<u8> {
    let arguments = match parse(args, resources) {
        Ok(arguments) => arguments,
        Err(message) => {
            writeln!(streams.err, "error: {message}")?;
            return Ok(exit::USAGE);
        }
    };
    for note in &arguments.notes {
        writeln!(streams.err, "note: {note}")?;
    }
    match &arguments.action {
        Action::Help => {
            arguments::write_help(streams.out)?;
            return Ok(0);
        }
        Action::Version => {
            writeln!(streams.out, "hlo-opt {}", env!("CARGO_PKG_VERSION"))?;
            return Ok(0);
        }
        Action::ListPasses(form) => {
            listing::write(streams.out, *form)?;
            return Ok(0);
        }
        Action::Explain(topic) => return crate::explain::run(topic, streams.out, streams.err),
        Action::Run => {}
    }
    if let Some(option) = &arguments.needs_xla {
        writeln!(streams.err, "error: UNSUPPORTED: {option} needs XLA's own compiler")?;
        return Ok(exit::USAGE);
    }
    let pipeline = if arguments.asks_for_nothing() {
        Err(driver_error(NO_PASSES))
    } else {
        Pipeline::new(&arguments.selection())
    };
    let pipeline = match pipeline {
        Ok(pipeline) => pipeline,
        Err(error) => {
            complain::pipeline(&error, arguments.error_format, streams.err)?;
            let is_usage = error.kind == ErrorKind::Request;
            return Ok(if is_usage { exit::USAGE } else { exit::PASS });
        }
    };
    for (option, _) in &arguments.pass_options {
        let reads = |key| registry::find(key).is_some_and(|info| option.is_for(key, info.options));
        if !pipeline.keys().any(reads) {
            writeln!(streams.err, "note: no pass of the list reads the option `{}`", option.name)?;
        }
    }
    let bytes = match read(&arguments.input, resources.current_dir, read_stdin) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(streams.err, "error: can't read {}: {error}", arguments.input_name())?;
            return Ok(exit::USAGE);
        }
    };
    // A case of a split file leaves the writing of files to whoever split it.
    match arguments.output.as_ref().filter(|path| *path != "-" && arguments.case.is_none()) {
        None => run_units(&arguments, &pipeline, &bytes, resources, streams),
        Some(path) => {
            let mut file = ResultFile::new(resources.current_dir.join(path), arguments.split_input_file);
            let mut to_file = Streams { out: &mut file, err: &mut *streams.err, color: streams.color };
            let status = run_units(&arguments, &pipeline, &bytes, resources, &mut to_file);
            let written = match status {
                Ok(0) => file.finish(),
                _ => file.take_error().map_or(Ok(()), Err),
            };
            match written {
                Ok(()) => status,
                Err(error) => {
                    writeln!(streams.err, "error: can't write {path}: {error}")?;
                    Ok(exit::USAGE)
                }
            }
        }
    }
}

fn run_units(
    arguments: &Arguments,
    pipeline: &Pipeline,
    bytes: &[u8],
    resources: &FileResources<'_>,
    streams: &mut Streams<'_>,
) -> io::Result<u8> {
    let (name, first_line) = match &arguments.case {
        Some((line, name)) => (name.as_str(), *line),
        None => (arguments.input_name(), 1),
    };
    if !arguments.split_input_file || arguments.case.is_some() {
        return Unit { name, first_line, bytes }.run(arguments, pipeline, resources, streams);
    }
    let cases = match split::cases(bytes) {
        Ok(cases) => cases,
        Err(lines) => {
            for line in lines {
                complain::separator(name, line, arguments.error_format, streams.err)?;
            }
            return Ok(exit::PARSE);
        }
    };
    let mut status = 0;
    for (index, case) in cases.into_iter().enumerate() {
        if index > 0 {
            streams.out.write_all(split::SEPARATOR)?;
        }
        let unit = Unit { name, first_line: case.first_line, bytes: case.bytes };
        let own = unit.run(arguments, pipeline, resources, streams)?;
        if status == 0 {
            status = own;
        }
    }
    Ok(status)
}

fn read(
    input: &str,
    current_dir: &Path,
    read_stdin: impl FnOnce() -> io::Result<Vec<u8>>,
) -> io::Result<Vec<u8>> {
    if input == "-" { read_stdin() } else { std::fs::read(current_dir.join(input)) }
}

#[cfg(test)]
mod tests;
