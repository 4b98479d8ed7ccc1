//! A whole run: discovery, selection, execution, reports.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::Host;
use super::boolean_expr::BooleanExpr;
use super::cli::{DiagnosticLevel, Environment, FAILURE, Options, ReportFormat, SUCCESS, USAGE};
use super::directives;
use super::discovery::{Found, Test, discover};
use super::report::text::{Display, Style, summary};
use super::report::{Outcome, by_suite_and_path, github, histogram, json, xunit};
use super::result::{ResultCode, TestResult};
use super::runner::RunSettings;
use super::scheduler::{self, CutShort, Event, Limits};
use super::select::{self, Order};
use super::times;

/// Says how many runs a test is inside of.
const NESTING_VARIABLE: &str = "LIT_NESTING";

/// How deeply tests may run tests: one that runs itself must come to an end.
pub const MAX_NESTED_RUNS: u32 = 4;

/// Where a run writes.
pub struct Streams<'s> {
    /// The report.
    pub out: &'s mut dyn Write,
    /// Notes, warnings, errors.
    pub err: &'s mut dyn Write,
}

/// What a run left behind.
#[derive(Debug, Default)]
pub struct Run {
    /// The tests that were selected, in the order of running, each with its result.
    pub outcomes: Vec<(Test, TestResult)>,
    /// Exit status.
    pub status: u8,
}

impl Run {
    fn ended(status: u8) -> Self {
        Run { outcomes: Vec::new(), status }
    }
}

/// Runs lit.
///
/// # Errors
/// A stream can't be written to.
pub fn run(
    options: &Options,
    host: &Host,
    environment: &Environment,
    streams: &mut Streams<'_>,
) -> std::io::Result<Run> {
    match try_run(options, host, environment, streams)? {
        Ok(run) => Ok(run),
        Err(message) => {
            writeln!(streams.err, "error: {message}")?;
            Ok(Run::ended(USAGE))
        }
    }
}

type Attempt<T> = std::io::Result<Result<T, String>>;

macro_rules! usage {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(message) => return Ok(Err(message)),
        }
    };
}

fn say(streams: &mut Streams<'_>, options: &Options, found: &Found) -> std::io::Result<()> {
    let level = if options.quiet { DiagnosticLevel::Error } else { options.diagnostic_level };
    for error in &found.errors {
        writeln!(streams.err, "lit: error: {error}")?;
    }
    if level >= DiagnosticLevel::Warning {
        for warning in &found.warnings {
            writeln!(streams.err, "lit: warning: {warning}")?;
        }
    }
    if level >= DiagnosticLevel::Note {
        for note in &found.notes {
            writeln!(streams.err, "lit: note: {note}")?;
        }
    }
    Ok(())
}

fn try_run(
    options: &Options,
    host: &Host,
    environment: &Environment,
    streams: &mut Streams<'_>,
) -> Attempt<Run> {
    let workers = usage!(options.worker_count(environment));
    let filter = usage!(options.filter(environment));
    let shard = usage!(options.shard(environment));
    usage!(environment.bazel.announce());
    let mut defaults = options.defaults(host, environment);
    let depth = environment.lit.get(NESTING_VARIABLE).and_then(|depth| depth.parse().ok()).unwrap_or(0);
    if depth >= MAX_NESTED_RUNS {
        return Ok(Err(format!("tests run tests more than {MAX_NESTED_RUNS} levels deep")));
    }
    defaults.environment.insert(NESTING_VARIABLE.to_owned(), (depth + 1).to_string());
    // Programs' temporary files go with this folder when the run is over.
    let temp = if environment.lit.contains_key("LIT_PRESERVES_TMP") {
        None
    } else {
        let made = tempfile::Builder::new().prefix("lit-tmp-").tempdir();
        Some(usage!(made.map_err(|error| format!("can't make a temporary folder: {error}"))))
    };
    if let Some(temp) = &temp {
        let path = temp.path().to_string_lossy().into_owned();
        for name in ["TMP", "TMPDIR", "TEMP", "TEMPDIR"] {
            defaults.environment.insert(name.to_owned(), path.clone());
        }
    }

    let mut found = discover(&options.paths, &defaults, &options.config_prefix);
    say(streams, options, &found)?;
    if !found.errors.is_empty() {
        writeln!(streams.err, "{} errors, exiting.", found.errors.len())?;
        return Ok(Ok(Run::ended(USAGE)));
    }
    if found.tests.is_empty() {
        return Ok(Err("did not discover any tests for provided path(s)".to_owned()));
    }
    if options.show_suites || options.show_tests {
        show_discovered(options, &found.tests, streams.out)?;
        return Ok(Ok(Run::ended(SUCCESS)));
    }
    if options.show_used_features {
        show_used_features(&found.tests, streams.out)?;
        return Ok(Ok(Run::ended(SUCCESS)));
    }

    let order = if options.shuffle { Order::Random } else { options.order };
    let seed = options.seed.unwrap_or_else(|| {
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        clock.as_nanos() as u64
    });
    select::sort(&mut found.tests, order, seed);
    options.mark(&mut found.tests, environment);
    let discovered = found.tests;
    let mut selected: Vec<Test> = discovered.iter().filter(|test| filter.keeps(test)).cloned().collect();
    if selected.is_empty() {
        let count = discovered.len();
        write!(streams.err, "error: filter did not match any tests (of {count} discovered).  ")?;
        if options.allow_empty_runs {
            writeln!(streams.err, "Suppressing error because '--allow-empty-runs' was specified.")?;
            return Ok(Ok(Run::ended(SUCCESS)));
        }
        writeln!(streams.err, "Use '--allow-empty-runs' to suppress this error.")?;
        return Ok(Ok(Run::ended(USAGE)));
    }
    if let Some(shard) = shard {
        if !options.quiet && options.diagnostic_level >= DiagnosticLevel::Note {
            writeln!(streams.err, "lit: note: {}", shard.describe(selected.len()))?;
        }
        // By name, not in the order of running, which depends on how long tests took where they ran last: every
        // machine must cut the same list.
        let mut by_name = selected.clone();
        select::sort(&mut by_name, Order::Lexical, seed);
        let key = |test: &Test| (test.suite.config.source_root.clone(), test.path.clone());
        let chosen: HashSet<(PathBuf, String)> = shard.select(by_name).iter().map(key).collect();
        selected.retain(|test| chosen.contains(&key(test)));
        if selected.is_empty() {
            writeln!(
                streams.err,
                "warning: shard does not contain any tests.  Consider decreasing the number of \
                 shards."
            )?;
            return Ok(Ok(Run::ended(SUCCESS)));
        }
    }
    selected.truncate(options.max_tests.unwrap_or(usize::MAX));

    let style = options.style();
    let settings = Arc::new(options.settings(host, &style));
    let workers = workers.min(selected.len());
    let began = SystemTime::now();
    let clock = Instant::now();
    let (results, cut_short) =
        usage!(execute(options, &selected, &discovered, settings, &style, workers, streams)?);
    let elapsed = clock.elapsed();

    match cut_short {
        Some(CutShort::MaxFailures) => writeln!(
            streams.err,
            "warning: reached maximum number of test failures, skipping remaining tests"
        )?,
        Some(CutShort::MaxTime) => {
            writeln!(streams.err, "warning: reached timeout, skipping remaining tests")?;
        }
        Some(CutShort::Interrupted) => {
            writeln!(streams.err, "  interrupted by user, skipping remaining tests")?;
        }
        None => {}
    }
    if !options.skip_test_time_recording && !options.no_execute && !options.show_commands {
        for complaint in times::record(selected.iter().zip(&results)) {
            writeln!(streams.err, "lit: warning: {complaint}")?;
        }
    }
    let status = usage!(conclude(
        options,
        environment,
        &style,
        Finished { discovered: &discovered, selected: &selected, results: &results, elapsed, began },
        shard.is_some(),
        streams,
    )?);
    Ok(Ok(Run { outcomes: selected.into_iter().zip(results).collect(), status }))
}

fn execute(
    options: &Options,
    selected: &[Test],
    discovered: &[Test],
    settings: Arc<RunSettings>,
    style: &Style,
    workers: usize,
    streams: &mut Streams<'_>,
) -> Attempt<(Vec<TestResult>, Option<CutShort>)> {
    let limits = Limits {
        workers,
        max_failures: options.max_failures,
        max_time: options.max_time.map(|seconds| Duration::from_secs(seconds as u64)),
        heartbeat: (options.heartbeat > 0).then(|| Duration::from_secs(options.heartbeat)),
    };
    let show_commands = options.show_commands;
    let mut display = Display::new(style.clone(), streams.out, selected.len(), discovered.len(), workers)?;
    let err = &mut streams.err;
    let mut problem = Ok(());
    let run = scheduler::run(selected, settings, limits, |event| {
        let step = match event {
            Event::Finished { test, result, .. } if show_commands => display.update_with_output(test, result),
            Event::Finished { test, result, .. } => display.update(test, result),
            Event::Stalled { test, elapsed, line } => {
                let mut written = Ok(());
                display.suspend(|| {
                    written = writeln!(
                        err,
                        "lit: note: still running after {} s: {}, line {line}",
                        elapsed.as_secs(),
                        test.full_name()
                    );
                });
                written
            }
        };
        if problem.is_ok() {
            problem = step;
        }
    });
    problem?;
    display.finish()?;
    Ok(run.map_err(|error| format!("can't start a thread: {error}")))
}

/// A run that is over.
struct Finished<'f> {
    discovered: &'f [Test],
    selected: &'f [Test],
    results: &'f [TestResult],
    elapsed: Duration,
    began: SystemTime,
}

/// Prints the summary and writes the reports; gives the exit status.
fn conclude(
    options: &Options,
    environment: &Environment,
    style: &Style,
    run: Finished<'_>,
    sharded: bool,
    streams: &mut Streams<'_>,
) -> Attempt<u8> {
    let excluded = TestResult::new(ResultCode::Excluded, "");
    let by_name: HashMap<(PathBuf, &str), &TestResult> = run
        .selected
        .iter()
        .zip(run.results)
        .map(|(test, result)| ((test.suite.config.source_root.clone(), test.path.as_str()), result))
        .collect();
    let outcomes: Vec<Outcome<'_>> = run
        .discovered
        .iter()
        .map(|test| {
            let key = (test.suite.config.source_root.clone(), test.path.as_str());
            (test, by_name.get(&key).copied().unwrap_or(&excluded))
        })
        .collect();

    if let Some(slowest) = options.time_tests {
        let times = outcomes
            .iter()
            .filter_map(|(test, result)| Some((test.full_name(), result.elapsed?.as_secs_f64())))
            .collect();
        write!(streams.out, "{}", histogram::table(times, slowest))?;
    }
    summary(streams.out, style, &outcomes, run.elapsed)?;

    // Files of several shards are put together later; a test is in one of them only.
    let mut reported: Vec<Outcome<'_>> =
        if sharded { run.selected.iter().zip(run.results).collect() } else { outcomes.clone() };
    if options.report_failures_only {
        reported.retain(|(_, result)| result.code.is_failure());
    }
    let mut files: Vec<(&Path, String)> = Vec::new();
    if let Some(path) = &options.output {
        files.push((path, json::results(&reported, run.elapsed)));
    }
    for path in [&options.xunit_xml_output, &environment.bazel.xml_output].into_iter().flatten() {
        files.push((path, xunit::document(&reported, run.elapsed)));
    }
    if let Some(path) = &options.resultdb_output {
        files.push((path, json::resultdb(&reported, run.elapsed, run.began)));
    }
    if let Some(path) = &options.time_trace_output {
        files.push((path, json::time_trace(&reported)));
    }
    for (path, text) in files {
        if let Err(error) = std::fs::write(path, text) {
            return Ok(Err(format!("can't write {}: {error}", path.display())));
        }
    }
    if options.report.contains(&ReportFormat::Github) {
        let root = std::env::var_os("GITHUB_WORKSPACE")
            .map(PathBuf::from)
            .or_else(|| std::env::current_dir().ok())
            .unwrap_or_default();
        write!(streams.out, "{}", github::annotations(&outcomes, &root))?;
    }
    streams.out.flush()?;

    let failed = outcomes.iter().any(|(_, result)| result.code.is_failure());
    if failed && options.ignore_fail {
        writeln!(streams.err, "\nExiting with status 0 instead of 1 because '--ignore-fail' was specified.")?;
        return Ok(Ok(SUCCESS));
    }
    Ok(Ok(if failed { FAILURE } else { SUCCESS }))
}

fn show_discovered(options: &Options, tests: &[Test], out: &mut dyn Write) -> std::io::Result<()> {
    let nothing = TestResult::new(ResultCode::Excluded, "");
    let mut sorted: Vec<Outcome<'_>> = tests.iter().map(|test| (test, &nothing)).collect();
    by_suite_and_path(&mut sorted);
    if options.show_suites {
        writeln!(out, "-- Test Suites --")?;
        for suite in sorted.chunk_by(|(a, _), (b, _)| Arc::ptr_eq(&a.suite, &b.suite)) {
            let Some((first, _)) = suite.first() else { continue };
            let config = &first.suite.config;
            writeln!(out, "  {} - {} tests", config.name, suite.len())?;
            writeln!(out, "    Source Root: {}", config.source_root.display())?;
            writeln!(out, "    Exec Root  : {}", config.exec_root.display())?;
            let features: Vec<&str> = config.features.iter().map(String::as_str).collect();
            writeln!(out, "    Available Features: {}", features.join(" "))?;
            let mut substitutions: Vec<String> = config
                .substitutions
                .iter()
                .map(|entry| format!("{} => {}", entry.pattern.text(), entry.value))
                .collect();
            substitutions.sort_unstable();
            let separator = format!("\n{}", " ".repeat(29));
            writeln!(out, "    Available Substitutions: {}", substitutions.join(&separator))?;
        }
    }
    if options.show_tests {
        writeln!(out, "-- Available Tests --")?;
        for (test, _) in sorted {
            writeln!(out, "  {}", test.full_name())?;
        }
    }
    out.flush()
}

fn show_used_features(tests: &[Test], out: &mut dyn Write) -> std::io::Result<()> {
    let mut names = BTreeSet::new();
    for test in tests {
        let Ok(source) = std::fs::read(test.source()) else { continue };
        let Ok(script) = directives::parse(&source) else { continue };
        for condition in script.xfails.iter().chain(&script.requires).chain(&script.unsupported) {
            if let Ok(expression) = BooleanExpr::parse(condition) {
                expression.collect_names(&mut names);
            }
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    writeln!(out, "{}", names.join(" "))?;
    out.flush()
}
