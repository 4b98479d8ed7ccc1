//! Runs one test from its file to its verdict.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::boolean_expr::{BooleanExpr, Features};
use super::config::LintLevel;
use super::directives::{self, ScriptBody, TestScript};
use super::discovery::Test;
use super::result::{ResultCode, TestResult};
use super::shell::exec::{Context, Executor, ShellState, Stop, TEST_NAME_VARIABLE, check_read_files};
use super::shell::log;
use super::shell::parser::{self, Sequence};
use super::substitution::{Substitutions, TestPaths};
use super::toolbox::{CasePool, Toolbox};
use crate::tool::{DiagnosticStyle, Finding, Invocation, Review};

/// What is the same for all tests of a run.
pub struct RunSettings {
    /// Programs that run in this process.
    pub tools: Toolbox,
    /// Don't run anything: what would be run PASSes.
    pub no_execute: bool,
    /// Don't run anything, but substitute and parse, and log what would be run.
    pub show_commands: bool,
    /// Write the log of passing tests too.
    pub keep_logs: bool,
    /// Longest output of one command in a log.
    pub output_limit: usize,
    /// Wording of diagnostics in logs.
    pub diagnostics: DiagnosticStyle,
    /// Note the files tests name.
    pub track_inputs: bool,
    /// The working folder of the process, which messages name files relative to.
    pub current_dir: PathBuf,
    /// Folders made so far; each is made once per run.
    pub made_dirs: Mutex<HashSet<PathBuf>>,
}

impl RunSettings {
    /// Settings of a plain run with these tools.
    pub fn new(tools: Toolbox) -> Self {
        RunSettings {
            tools,
            no_execute: false,
            show_commands: false,
            keep_logs: false,
            output_limit: log::DEFAULT_OUTPUT_LIMIT,
            diagnostics: DiagnosticStyle::Rich,
            track_inputs: false,
            current_dir: std::env::current_dir().unwrap_or_default(),
            made_dirs: Mutex::default(),
        }
    }

    fn make_dir(&self, dir: &Path) -> std::io::Result<()> {
        // A panic while the lock is held can only come from allocation; the set stays sound.
        let mut made = self.made_dirs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !made.contains(dir) {
            std::fs::create_dir_all(dir)?;
            made.insert(dir.to_owned());
        }
        Ok(())
    }
}

/// Where a running test is, for whoever watches it.
#[derive(Debug, Default)]
pub struct Progress {
    /// The RUN line being executed.
    pub line: AtomicU32,
    /// When the attempt it belongs to began.
    pub attempt_began: Mutex<Option<Instant>>,
}

/// Where the temporary files of a test go.
pub fn test_paths(test: &Test) -> TestPaths {
    let (dir, name) = test.path.rsplit_once('/').unwrap_or(("", &test.path));
    let temp_dir = test.suite.config.exec_dir(dir).join("Output");
    TestPaths { source: test.source(), temp_base: temp_dir.join(name), temp_dir }
}

/// Runs a test, keeping `progress` up to date.
pub fn run_test(test: &Test, settings: &RunSettings, pool: &dyn CasePool, progress: &Progress) -> TestResult {
    let begun = Instant::now();
    let mut result = match Prepared::new(test, settings) {
        Ok(prepared) => {
            let mut result = if settings.no_execute || settings.show_commands {
                TestResult::new(ResultCode::Pass, prepared.shown_commands(settings))
            } else {
                prepared.run_attempts(test, settings, pool, progress)
            };
            if prepared.expected_to_fail {
                result.expect_failure();
            }
            result
        }
        Err(result) => *result,
    };
    result.elapsed = Some(begun.elapsed());
    result
}

/// A verdict reached before anything ran.
fn early(code: ResultCode, output: impl Into<String>) -> Box<TestResult> {
    Box::new(TestResult::new(code, output))
}

/// Why a script can't be run.
struct Complaint {
    /// In one line.
    summary: String,
    log: String,
}

impl From<String> for Complaint {
    fn from(log: String) -> Self {
        Complaint { summary: log.lines().next().unwrap_or_default().to_owned(), log }
    }
}

/// A RUN line ready to run.
struct Line {
    number: u32,
    keyword: &'static str,
    text: String,
    /// `None` if nothing is left after substitution.
    tree: Option<Sequence>,
}

struct Prepared {
    /// The test's own text.
    source: Vec<u8>,
    /// Where the text ends that is the test's own.
    text_end: usize,
    lines: Vec<Line>,
    paths: TestPaths,
    attempts: u32,
    expected_to_fail: bool,
}

impl Prepared {
    /// Everything up to running; an early verdict is the error.
    fn new(test: &Test, settings: &RunSettings) -> Result<Self, Box<TestResult>> {
        let config = &test.config;
        if config.unsupported {
            return Err(early(ResultCode::Unsupported, "Test is unsupported"));
        }
        let unresolved = |message: String| early(ResultCode::Unresolved, message);
        let paths = test_paths(test);
        let source = std::fs::read(&paths.source)
            .map_err(|error| unresolved(format!("can't read {}: {error}", paths.source.display())))?;
        let script = directives::parse(&source).map_err(unresolved)?;
        let expected_to_fail = expected_to_fail(test, &script, &config.features).map_err(unresolved)?;
        if test.overrides.exclude_xfail && expected_to_fail {
            return Err(early(ResultCode::Excluded, "excluding XFAIL tests"));
        }
        check_features(test, &script, &config.features)?;
        let allowed = script.allowed_retries.or(config.retries).unwrap_or(0);
        let mut prepared = Prepared {
            text_end: script.end.unwrap_or(source.len()),
            source,
            lines: Vec::new(),
            paths,
            attempts: allowed.saturating_add(1),
            expected_to_fail,
        };
        if settings.no_execute && !settings.show_commands {
            return Ok(prepared);
        }
        prepared.lines = prepared.lines_of(test, &script).map_err(|complaint| {
            let mut result = unresolved(complaint.log);
            result.summary = complaint.summary;
            result
        })?;
        Ok(prepared)
    }

    fn lines_of(&self, test: &Test, script: &TestScript) -> Result<Vec<Line>, Complaint> {
        let config = &test.config;
        let mut substitutions =
            Substitutions::new(&config.substitutions, &self.paths, &config.features, config.recursion_limit);
        let mut texts = Vec::with_capacity(script.lines.len());
        for line in &script.lines {
            match &line.body {
                ScriptBody::Command(text) => {
                    let text = substitutions
                        .apply(text)
                        .map_err(|message| format!("{message}\nin {} {}", line.keyword, line.location()))?;
                    texts.push((line, text));
                }
                ScriptBody::Substitution { new, name, value } => {
                    substitutions.define(*new, name, value, line.keyword, &line.location())?;
                }
                // The directive reader refuses these.
                ScriptBody::Unfinished(_) => {}
            }
        }
        let mut lines = Vec::with_capacity(texts.len());
        for (line, text) in texts {
            let tree = if text.is_empty() {
                None
            } else {
                let tree = parser::parse(&text, !cfg!(windows)).map_err(|error| {
                    let before = text.get(..error.offset).unwrap_or(&text);
                    let (keyword, number) = (line.keyword, line.start_line);
                    let message = format!(
                        "# shell parser error on {keyword} at line {number}: {text}\n\
                         # {} (column {} of the command)\n",
                        error.message,
                        before.chars().count() + 1,
                    );
                    let summary = format!("{}: {text}", error.message);
                    Complaint { summary, log: framed(1, "", &message) }
                })?;
                Some(tree)
            };
            lines.push(Line { number: line.start_line, keyword: line.keyword, text, tree });
        }
        Ok(lines)
    }

    fn shown_commands(&self, settings: &RunSettings) -> String {
        let mut out = String::new();
        if settings.show_commands {
            for line in &self.lines {
                line.header(&mut out);
            }
        }
        out
    }

    fn run_attempts(
        &self,
        test: &Test,
        settings: &RunSettings,
        pool: &dyn CasePool,
        progress: &Progress,
    ) -> TestResult {
        if let Err(error) = settings.make_dir(&self.paths.temp_dir) {
            return TestResult::new(
                ResultCode::Unresolved,
                format!("can't make the folder {}: {error}", self.paths.temp_dir.display()),
            );
        }
        let mut attempt = 1;
        loop {
            let mut result = self.run_once(test, settings, pool, progress);
            result.attempts = attempt;
            result.max_attempts = self.attempts;
            if result.code == ResultCode::Pass && attempt > 1 {
                result.code = ResultCode::FlakyPass;
            }
            if result.code != ResultCode::Fail || attempt >= self.attempts {
                return result;
            }
            attempt += 1;
        }
    }

    fn run_once(
        &self,
        test: &Test,
        settings: &RunSettings,
        pool: &dyn CasePool,
        progress: &Progress,
    ) -> TestResult {
        if let Ok(mut began) = progress.attempt_began.lock() {
            *began = Some(Instant::now());
        }
        let config = &test.config;
        let timeout = config.timeout;
        let calls = RefCell::default();
        let whole_test =
            format!("{} -v {}", super::PROGRAM, super::quote::shell(&self.paths.source.to_string_lossy()));
        let context = Context {
            tools: &settings.tools,
            external: &config.external,
            unsupported_tools: &config.unsupported_tools,
            pipefail: config.pipefail,
            diagnostics: settings.diagnostics,
            deadline: timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            pool,
            track_inputs: settings.track_inputs,
            calls: (config.lints != LintLevel::Off).then_some(&calls),
            scratch_dir: &self.paths.temp_dir,
            whole_test: &whole_test,
            plain_environment: config.plain_environment,
        };
        let mut env = config.environment.clone();
        env.insert(TEST_NAME_VARIABLE.to_owned(), test.full_name());
        let cwd = self.paths.temp_dir.parent().unwrap_or(Path::new("")).to_owned();
        let mut executor = Executor::new(&context, ShellState { cwd, env: Arc::new(env), dirs: Vec::new() });

        let mut marks = Vec::with_capacity(self.lines.len());
        let mut outcome = Ok(0);
        for line in &self.lines {
            marks.push(executor.records.len());
            progress.line.store(line.number, Ordering::Relaxed);
            if let Some(tree) = &line.tree {
                outcome =
                    check_read_files(&line.text, &executor.state).and_then(|()| executor.sequence(tree));
            }
            if outcome != Ok(0) {
                break;
            }
        }
        let verdict = Verdict::of(outcome);
        let mut result = TestResult::new(verdict.code, "");
        result.inputs = std::mem::take(&mut executor.inputs);
        if config.lints != LintLevel::Off
            && !matches!(verdict.code, ResultCode::Unsupported | ResultCode::Skipped)
        {
            result.findings = self.review(settings, calls.take(), &executor.state);
        }
        let refused = config.lints == LintLevel::Fail
            && verdict.code == ResultCode::Pass
            && !result.findings.is_empty();
        // A pass that should have been a failure has to be explained.
        if !refused && verdict.code == ResultCode::Pass && !settings.keep_logs && !self.expected_to_fail {
            return result;
        }
        let mut commands = String::new();
        for (index, line) in self.lines.iter().enumerate().take(marks.len()) {
            line.header(&mut commands);
            let end = marks.get(index + 1).copied().unwrap_or(executor.records.len());
            for record in executor.records.get(marks[index]..end).unwrap_or_default() {
                log::write_record(&mut commands, record, settings.output_limit, timeout.is_some());
            }
        }
        if verdict.code == ResultCode::Fail && !executor.rerun.is_empty() {
            commands.push_str(&format!("# run again: {}\n", executor.rerun));
        }
        if verdict.code != ResultCode::Pass
            && let Some(last) = self.lines.get(marks.len().saturating_sub(1))
        {
            result.line = Some(last.number);
            let words = executor.records.iter().rev().find(|record| record.status != 0).and_then(|record| {
                let text = String::from_utf8_lossy(&record.stderr);
                text.lines().find(|line| !line.trim().is_empty()).map(str::to_owned)
            });
            result.summary = match (verdict.message.as_deref(), words) {
                (Some(message), _) => message.to_owned(),
                (None, Some(words)) => words,
                (None, None) => format!("exit status {}: {}", verdict.status, last.text),
            };
        }
        result.output = verdict.frame(&commands, timeout);
        if refused {
            result.code = ResultCode::Fail;
            if let Some(first) = result.findings.first() {
                result.line = u32::try_from(first.line).ok();
                result.summary = format!("{}: {}", first.code, first.message);
            }
            result.output.push_str("All commands succeeded, but there are lints.\n");
        }
        result
    }

    /// The test's text up to `END.`.
    fn own_text(&self) -> &[u8] {
        self.source.get(..self.text_end).unwrap_or(&self.source)
    }

    /// What the tools have to say about the test. Calls in commands that were not reached count too: what a line
    /// before them did is no reason to call a prefix unused.
    fn review(
        &self,
        settings: &RunSettings,
        mut made: Vec<(&'static str, Invocation)>,
        state: &ShellState,
    ) -> Vec<Finding> {
        let reviewers = settings.tools.reviewers();
        let mut standing = Vec::new();
        for command in self.lines.iter().filter_map(|line| line.tree.as_ref()).flat_map(Sequence::commands) {
            for (name, _) in &reviewers {
                // Whatever stands before it (`not`, `env`, `xargs`) calls it.
                let Some(at) = command.words.iter().position(|word| word.text == *name) else { continue };
                let args = command.words.iter().skip(at + 1).map(|word| word.text.clone()).collect();
                let current_dir = state.cwd.clone();
                standing.push((*name, Invocation { args, current_dir, ..Invocation::default() }));
            }
        }
        // Most tests make each of their calls once; then these say nothing new.
        if standing.len() != made.len() {
            made.extend(standing);
        }
        let path = &self.paths.source;
        let name = path.strip_prefix(&settings.current_dir).unwrap_or(path).to_string_lossy();
        let mut findings = Vec::new();
        for (tool, reviewer) in reviewers {
            let (own, others): (Vec<_>, Vec<_>) = made.into_iter().partition(|(name, _)| *name == tool);
            made = others;
            let calls: Vec<Invocation> = own.into_iter().map(|(_, call)| call).collect();
            let review = Review { path, name: &name, text: self.own_text(), calls: &calls };
            findings.extend(reviewer.review(&review));
        }
        findings
    }
}

impl Line {
    /// The line of the log that announces the command.
    fn header(&self, out: &mut String) {
        let (keyword, number) = (self.keyword, self.number);
        if self.text.is_empty() {
            out.push_str(&format!("# {keyword} at line {number} has no command after substitutions\n"));
        } else {
            out.push_str(&format!("# {keyword} at line {number}\n{}\n", self.text));
        }
    }
}

struct Verdict {
    code: ResultCode,
    status: i32,
    message: Option<String>,
}

impl Verdict {
    fn of(outcome: Result<i32, Stop>) -> Self {
        let (code, status, message) = match outcome {
            Ok(0) => (ResultCode::Pass, 0, None),
            Ok(status) => (ResultCode::Fail, status, None),
            Err(Stop::Refused(message)) => (ResultCode::Fail, super::shell::exec::NOT_RUN, Some(message)),
            Err(Stop::Broken(message)) => (ResultCode::Unresolved, 1, Some(message)),
            Err(Stop::Unsupported(message)) => (ResultCode::Unsupported, 0, Some(message)),
            Err(Stop::Interrupted) => (ResultCode::Skipped, 1, None),
            Err(Stop::TimedOut) => (ResultCode::Timeout, 1, None),
        };
        Verdict { code, status, message }
    }

    /// Puts the log of the commands into the frame lit gives it.
    fn frame(&self, commands: &str, timeout: Option<Duration>) -> String {
        match (self.code, &self.message) {
            (ResultCode::Unsupported, Some(message)) => return message.clone(),
            (ResultCode::Unresolved, Some(message)) => {
                return format!("Exception during script execution:\n{message}\n\n{commands}");
            }
            _ => {}
        }
        let timeout = if self.code == ResultCode::Timeout { timeout_line(timeout) } else { String::new() };
        framed(self.status, &timeout, commands)
    }
}

/// The frame around the log of commands.
fn framed(status: i32, timeout: &str, commands: &str) -> String {
    let mut out = format!("Exit Code: {status}\n{timeout}\n");
    if !commands.is_empty() {
        out.push_str(&format!("Command Output (stdout):\n--\n{commands}\n--\n"));
    }
    out
}

/// `Timeout: Reached timeout of 3 seconds`
pub fn timeout_line(timeout: Option<Duration>) -> String {
    let seconds = timeout.unwrap_or_default().as_secs();
    format!("Timeout: Reached timeout of {seconds} seconds\n")
}

fn expected_to_fail(test: &Test, script: &TestScript, features: &Features) -> Result<bool, String> {
    if test.overrides.xfail_not {
        return Ok(false);
    }
    if test.overrides.xfail {
        return Ok(true);
    }
    for condition in &script.xfails {
        if condition == "*" || BooleanExpr::evaluate_text(condition, features)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The conditions that don't hold.
fn missing(script: &TestScript, features: &Features) -> Result<Vec<String>, String> {
    let mut missing = Vec::new();
    for condition in &script.requires {
        if !BooleanExpr::evaluate_text(condition, features)? {
            missing.push(condition.clone());
        }
    }
    Ok(missing)
}

fn check_features(test: &Test, script: &TestScript, features: &Features) -> Result<(), Box<TestResult>> {
    let unresolved = |message: String| early(ResultCode::Unresolved, message);
    let unsupported = |message: String| early(ResultCode::Unsupported, message);
    let absent = missing(script, features).map_err(unresolved)?;
    if !absent.is_empty() {
        return Err(unsupported(format!(
            "Test requires the following unavailable features: {}",
            absent.join(", ")
        )));
    }
    if !test.overrides.unsupported_not {
        if test.overrides.unsupported {
            return Err(unsupported("Test is in the --unsupported list".to_owned()));
        }
        let mut present = Vec::new();
        for condition in &script.unsupported {
            if BooleanExpr::evaluate_text(condition, features).map_err(unresolved)? {
                present.push(condition.as_str());
            }
        }
        if !present.is_empty() {
            return Err(unsupported(format!(
                "Test does not support the following features and/or targets: {}",
                present.join(", ")
            )));
        }
    }
    let limits = &test.config.limit_to_features;
    if !limits.is_empty() {
        let without: Features =
            features.iter().filter(|feature| !limits.contains(feature)).cloned().collect();
        if missing(script, &without).map_err(unresolved)?.is_empty() {
            return Err(unsupported(format!(
                "Test does not require any of the features specified in limit_to_features: {}",
                limits.join(", ")
            )));
        }
    }
    Ok(())
}
