//! LLVM's lit: discovery, config, RUN lines, scheduler, reports. Knows nothing of HLO.
//!
//! RUN lines are parsed and run in this process: no shell, no processes for programs that are
//! [tools](crate::tool::Tool), pipes in memory. [`run`] is the command line; [`run_one`] and
//! [`discover`] are for test harnesses that have their own way of listing and scheduling.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub mod bazel;
pub mod boolean_expr;
pub mod builtins;
pub mod cli;
pub mod config;
pub mod directives;
pub mod discovery;
pub mod interrupt;
mod mounts;
pub mod python_config;
pub mod quote;
pub mod report;
pub mod result;
pub mod run;
pub mod runner;
pub mod scheduler;
pub mod select;
pub mod shell;
pub mod substitution;
pub mod times;
pub mod toolbox;
pub mod watch;

use crate::tool::Tool;
use boolean_expr::Features;
use config::Defaults;
use discovery::{Found, Test};
use result::{ResultCode, TestResult};
use runner::RunSettings;
use toolbox::Toolbox;

/// What people call the program that runs tests, for commands they can copy.
pub const PROGRAM: &str = "hlo-check";

/// The program lit is part of.
#[derive(Clone, Default)]
pub struct Host {
    /// Programs that run in this process.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Features that hold everywhere.
    pub features: Features,
    /// Ends of the names of test files where no lit.toml says so.
    pub suffixes: Vec<String>,
}

/// Runs lit on this process's streams and environment; gives the exit status.
///
/// # Errors
/// Standard output can't be written to.
pub fn run(options: &cli::Options, host: &Host) -> std::io::Result<u8> {
    Ok(run_all(options, host)?.status)
}

/// As [`run`], with the results of all tests; with `--watch` there are none.
///
/// # Errors
/// Standard output can't be written to.
pub fn run_all(options: &cli::Options, host: &Host) -> std::io::Result<run::Run> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut err = std::io::stderr();
    let mut streams = run::Streams { out: &mut out, err: &mut err };
    let environment = cli::Environment::of_process();
    if options.watch {
        let status = watch::run_forever(options, host, &environment, &mut streams)?;
        return Ok(run::Run { outcomes: Vec::new(), status });
    }
    interrupt::listen();
    run::run(options, host, &environment, &mut streams)
}

fn defaults(host: &Host) -> Defaults {
    let mut features = host.features.clone();
    features.extend(config::system_features());
    Defaults { suffixes: host.suffixes.clone(), features, ..Defaults::default() }
}

/// Finds the tests in `paths`, as [`run`] would.
pub fn discover(paths: &[PathBuf], host: &Host) -> Found {
    discovery::discover(paths, &defaults(host), "lit")
}

/// Runs the one test in the file `path`. What is no test there is UNRESOLVED.
pub fn run_one(path: &Path, host: &Host) -> TestResult {
    let unresolved = |message: String| TestResult::new(ResultCode::Unresolved, message);
    let mut found = discover(&[path.to_owned()], host);
    if let Some(error) = found.errors.first() {
        return unresolved(error.to_string());
    }
    match found.tests.pop() {
        Some(test) if found.tests.is_empty() => run_test(&test, host),
        _ => unresolved(format!("{} is not a test file", path.display())),
    }
}

/// Runs a test that [`discover`] found. Cases of split files use all cores.
pub fn run_test(test: &Test, host: &Host) -> TestResult {
    let settings = Arc::new(RunSettings::new(Toolbox::new(host.tools.iter().cloned())));
    let limits =
        scheduler::Limits { workers: 1, max_failures: None, max_time: None, heartbeat: None::<Duration> };
    let tests = std::slice::from_ref(test);
    match scheduler::run(tests, settings, limits, |_| {}) {
        Ok((mut results, _)) => results
            .pop()
            .unwrap_or_else(|| TestResult::new(ResultCode::Unresolved, "the scheduler lost the result")),
        Err(error) => TestResult::new(ResultCode::Unresolved, format!("can't start a thread: {error}")),
    }
}
