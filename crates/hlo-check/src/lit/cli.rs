//! The options of lit.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::Host;
use super::bazel::Bazel;
use super::config::{Defaults, LintLevel, system_features};
use super::discovery::{Overrides, Test};
use super::report::histogram::SlowestCount;
use super::report::text::{OutputLevel, Style};
use super::result::ResultCode;
use super::runner::RunSettings;
use super::select::{self, Filter, NameList, Order, Shard};
use super::shell::log;
use super::toolbox::Toolbox;
use crate::tool::DiagnosticStyle;

/// Everything went as it should.
pub const SUCCESS: u8 = 0;
/// A test failed.
pub const FAILURE: u8 = 1;
/// The run itself could not be made: bad options, bad configuration, nothing to run.
pub const USAGE: u8 = 2;

/// Seconds after which a running test is mentioned.
const HEARTBEAT_SECONDS: u64 = 10;

/// What lit complains about on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum DiagnosticLevel {
    /// Errors only.
    Error,
    /// Warnings too.
    Warning,
    /// Notes too.
    #[default]
    Note,
}

/// Formats of `--report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Annotations in GitHub's workflow log.
    Github,
}

/// Wording of diagnostics in logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Diagnostics {
    /// More context, aligned lines, help.
    #[default]
    Rich,
    /// As the programs stood in for print them.
    Compatible,
}

/// lit's options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Test files and folders
    #[arg(value_name = "TEST_PATH", required = true)]
    pub paths: Vec<PathBuf>,

    /// Number of workers [default: cores; LIT_MAX_WORKERS]
    #[arg(short = 'j', long = "workers", visible_alias = "threads", value_name = "N", value_parser = positive)]
    pub workers: Option<usize>,

    /// Prefix of the names of Python configuration files to look out for
    #[arg(long, value_name = "NAME", default_value = "lit")]
    pub config_prefix: String,

    /// Define the substitution %{NAME} as VAL
    #[arg(short = 'D', long = "param", value_name = "NAME=VAL")]
    pub params: Vec<String>,

    /// Print commands and output of which tests
    #[arg(long, value_enum, help_heading = "Output")]
    pub test_output: Option<OutputLevel>,

    /// Print the result of which tests [default: all]
    #[arg(long, value_enum, help_heading = "Output")]
    pub print_result_after: Option<OutputLevel>,

    /// How much to say about the run itself
    #[arg(long, value_enum, default_value = "note", help_heading = "Output")]
    pub diagnostic_level: DiagnosticLevel,

    /// Only failures in the summary
    #[arg(long, overrides_with = "no_terse_summary", help_heading = "Output")]
    pub terse_summary: bool,

    /// The whole summary
    #[arg(long, help_heading = "Output")]
    pub no_terse_summary: bool,

    /// Only failing tests and errors
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Progress bar and failing tests
    #[arg(short, long, help_heading = "Output")]
    pub succinct: bool,

    /// Commands and output of failing tests
    #[arg(short, long, action = clap::ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,

    /// Commands and output of all tests
    #[arg(short = 'a', long, help_heading = "Output")]
    pub show_all: bool,

    /// Paths relative to the current folder in the summary
    #[arg(short, long, help_heading = "Output")]
    pub relative_paths: bool,

    /// Write results as JSON
    #[arg(short, long, value_name = "PATH", help_heading = "Reports")]
    pub output: Option<PathBuf>,

    /// Show progress
    #[arg(long, overrides_with = "no_progress_bar", help_heading = "Output")]
    pub progress_bar: bool,

    /// Don't show progress
    #[arg(long, help_heading = "Output")]
    pub no_progress_bar: bool,

    /// List unsupported tests in the summary
    #[arg(long, help_heading = "Output")]
    pub show_unsupported: bool,

    /// List tests that failed as expected
    #[arg(long, help_heading = "Output")]
    pub show_xfail: bool,

    /// List tests that passed
    #[arg(long, help_heading = "Output")]
    pub show_pass: bool,

    /// List tests that passed with a retry
    #[arg(long, help_heading = "Output")]
    pub show_flakypass: bool,

    /// List tests that passed after an update
    #[arg(long, help_heading = "Output")]
    pub show_fixed: bool,

    /// List tests that were not run
    #[arg(long, help_heading = "Output")]
    pub show_skipped: bool,

    /// List tests that were filtered out
    #[arg(long, help_heading = "Output")]
    pub show_excluded: bool,

    /// Wording of diagnostics in logs
    #[arg(long, value_enum, default_value = "rich", help_heading = "Output")]
    pub diagnostics: Diagnostics,

    /// What lints of tests do [default: as lit.toml says, or warn]
    #[arg(long, value_enum, value_name = "LEVEL", help_heading = "Output")]
    pub lints: Option<LintLevel>,

    /// Mention tests that run for that many seconds (0: never)
    #[arg(long, value_name = "SECONDS", default_value_t = HEARTBEAT_SECONDS, help_heading = "Output")]
    pub heartbeat: u64,

    /// Folders to search for programs first
    #[arg(long, value_name = "DIR", help_heading = "Execution")]
    pub path: Vec<PathBuf>,

    /// Don't run anything, assume PASS
    #[arg(long, help_heading = "Execution")]
    pub no_execute: bool,

    /// Don't run anything, but substitute and parse the commands and print them
    #[arg(long, help_heading = "Execution")]
    pub show_commands: bool,

    /// Write results as XML
    #[arg(long, value_name = "PATH", help_heading = "Reports")]
    pub xunit_xml_output: Option<PathBuf>,

    /// Write results for LuCI
    #[arg(long, value_name = "PATH", help_heading = "Reports")]
    pub resultdb_output: Option<PathBuf>,

    /// Write times for chrome://tracing
    #[arg(long, value_name = "PATH", help_heading = "Reports")]
    pub time_trace_output: Option<PathBuf>,

    /// Only failing tests in reports
    #[arg(long, help_heading = "Reports")]
    pub report_failures_only: bool,

    /// Also report in this format on standard output
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Reports")]
    pub report: Vec<ReportFormat>,

    /// Seconds a test may take, 0 for no limit
    #[arg(long, value_name = "SECONDS", help_heading = "Execution")]
    pub timeout: Option<u64>,

    /// Retries of failing tests where neither lit.toml nor the test says
    #[arg(long, value_name = "N", value_parser = positive, help_heading = "Execution")]
    pub max_retries_per_test: Option<usize>,

    /// Stop after that many failures
    #[arg(long, value_name = "N", value_parser = positive, help_heading = "Execution")]
    pub max_failures: Option<usize>,

    /// Don't fail if all tests are filtered out
    #[arg(long, help_heading = "Execution")]
    pub allow_empty_runs: bool,

    /// Exit with 0 even if tests fail
    #[arg(long, help_heading = "Execution")]
    pub ignore_fail: bool,

    /// Don't remember how long tests take
    #[arg(long, conflicts_with = "time_tests", help_heading = "Execution")]
    pub skip_test_time_recording: bool,

    /// Print the slowest tests and a histogram
    #[arg(
        long, value_name = "N|all", num_args = 0..=1, require_equals = true,
        default_missing_value = "20", help_heading = "Execution"
    )]
    pub time_tests: Option<SlowestCount>,

    /// Run at most that many tests
    #[arg(long, value_name = "N", value_parser = positive, help_heading = "Selection")]
    pub max_tests: Option<usize>,

    /// Stop after that many seconds
    #[arg(long, value_name = "SECONDS", value_parser = positive, help_heading = "Selection")]
    pub max_time: Option<usize>,

    /// Order of running
    #[arg(long, value_enum, default_value = "smart", help_heading = "Selection")]
    pub order: Order,

    /// Same as --order=random
    #[arg(long, help_heading = "Selection")]
    pub shuffle: bool,

    /// Seed of the random order [default: the clock]
    #[arg(long, value_name = "N", help_heading = "Selection")]
    pub seed: Option<u64>,

    /// Failing tests always run first; kept for scripts
    #[arg(short, long, hide = true)]
    pub incremental: bool,

    /// Only tests whose name matches [LIT_FILTER]
    #[arg(long, value_name = "REGEX", help_heading = "Selection")]
    pub filter: Option<String>,

    /// No tests whose name matches [LIT_FILTER_OUT]
    #[arg(long, value_name = "REGEX", help_heading = "Selection")]
    pub filter_out: Option<String>,

    /// Only tests that failed last time
    #[arg(long, help_heading = "Selection")]
    pub filter_failed: bool,

    /// Tests expected to fail, separated by ';' [LIT_XFAIL]
    #[arg(long, value_name = "LIST", help_heading = "Selection")]
    pub xfail: Option<String>,

    /// Tests not expected to fail, whatever they say [LIT_XFAIL_NOT]
    #[arg(long, value_name = "LIST", help_heading = "Selection")]
    pub xfail_not: Option<String>,

    /// Don't run tests expected to fail
    #[arg(long, help_heading = "Selection")]
    pub exclude_xfail: bool,

    /// Tests to count as unsupported [LIT_UNSUPPORTED]
    #[arg(long, value_name = "LIST", help_heading = "Selection")]
    pub unsupported: Option<String>,

    /// Tests to run whatever their UNSUPPORTED says [LIT_UNSUPPORTED_NOT]
    #[arg(long, value_name = "LIST", help_heading = "Selection")]
    pub unsupported_not: Option<String>,

    /// Split the tests in M parts and run one [LIT_NUM_SHARDS]
    #[arg(long, value_name = "M", value_parser = positive, help_heading = "Selection")]
    pub num_shards: Option<usize>,

    /// Which part to run, from 1 [LIT_RUN_SHARD]
    #[arg(long, value_name = "N", value_parser = positive, help_heading = "Selection")]
    pub run_shard: Option<usize>,

    /// List suites and stop
    #[arg(long, help_heading = "Listing")]
    pub show_suites: bool,

    /// List tests and stop
    #[arg(long, help_heading = "Listing")]
    pub show_tests: bool,

    /// List the features that conditions ask about and stop
    #[arg(long, help_heading = "Listing")]
    pub show_used_features: bool,

    /// Go on watching the files, and run again what a saved file affects
    #[arg(long, help_heading = "Execution")]
    pub watch: bool,
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("requires positive integer, but found '{text}'")),
    }
}

/// The variables of the environment that stand in for options.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Variables whose names begin with `LIT_`.
    pub lit: std::collections::BTreeMap<String, String>,
    /// Bazel's test protocol.
    pub bazel: Bazel,
}

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        Environment {
            lit: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .filter(|(name, _)| name.starts_with("LIT_"))
                .collect(),
            bazel: Bazel::from_variables(|name| std::env::var(name).ok()),
        }
    }

    fn get(&self, name: &str) -> Option<String> {
        self.lit.get(name).filter(|value| !value.is_empty()).cloned()
    }

    fn number(&self, name: &str) -> Result<Option<usize>, String> {
        let Some(text) = self.get(name) else { return Ok(None) };
        positive(&text).map(Some).map_err(|message| format!("{name}: {message}"))
    }
}

/// The command line with the words of `LIT_OPTS` after it, where lit looks for them.
///
/// # Errors
/// As [`extra_arguments`].
pub fn arguments(
    args: impl Iterator<Item = std::ffi::OsString>,
    lit_opts: Option<String>,
) -> Result<Vec<std::ffi::OsString>, String> {
    let extra = extra_arguments(&lit_opts.unwrap_or_default())?;
    Ok(args.chain(extra.into_iter().map(Into::into)).collect())
}

/// The words of `LIT_OPTS`, which lit reads after the command line.
///
/// # Errors
/// Quotes that don't close.
pub fn extra_arguments(lit_opts: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = lit_opts.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\\' => word.get_or_insert_default().extend(chars.next()),
            quote @ ('\'' | '"') => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err("LIT_OPTS: no closing quotation".to_owned()),
                        Some(c) if c == quote => break,
                        Some('\\') if quote == '"' => match chars.next() {
                            Some(c @ ('"' | '\\')) => word.push(c),
                            Some(c) => word.extend(['\\', c]),
                            None => {}
                        },
                        Some(c) => word.push(c),
                    }
                }
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

impl Options {
    /// Number of threads.
    ///
    /// # Errors
    /// `LIT_MAX_WORKERS` is no number.
    pub fn worker_count(&self, environment: &Environment) -> Result<usize, String> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(self.workers.or(environment.number("LIT_MAX_WORKERS")?).unwrap_or_else(cores))
    }

    /// What configurations start from.
    pub fn defaults(&self, host: &Host, environment: &Environment) -> Defaults {
        let cwd = std::env::current_dir().unwrap_or_default();
        let mut features = host.features.clone();
        features.extend(system_features());
        Defaults {
            suffixes: host.suffixes.clone(),
            features,
            path: self.path.iter().map(|dir| cwd.join(dir)).collect(),
            params: self
                .params
                .iter()
                .map(|param| match param.split_once('=') {
                    Some((name, value)) => (name.to_owned(), value.to_owned()),
                    None => (param.clone(), String::new()),
                })
                .collect(),
            timeout: self.timeout.map(Duration::from_secs),
            retries: self.max_retries_per_test.and_then(|retries| u32::try_from(retries).ok()),
            exec_root: environment.bazel.exec_root(),
            environment: std::collections::BTreeMap::new(),
            lints: self.lints,
        }
    }

    pub(super) fn style(&self) -> Style {
        let mut style = Style {
            print_result_after: OutputLevel::All,
            test_output: OutputLevel::Off,
            progress_bar: (self.progress_bar || self.succinct) && !self.no_progress_bar,
            terse_summary: (self.terse_summary || self.quiet) && !self.no_terse_summary,
            shown_codes: self.shown_codes(),
            relative_paths: self.relative_paths,
            lints: !self.quiet && self.diagnostic_level >= DiagnosticLevel::Warning,
        };
        // Each setting drags the other along where they would contradict.
        let print_after = |style: &mut Style, level: OutputLevel| {
            style.print_result_after = level;
            style.test_output = style.test_output.min(level);
        };
        let output = |style: &mut Style, level: OutputLevel| {
            style.test_output = level;
            style.print_result_after = style.print_result_after.max(level);
        };
        if let Some(level) = self.print_result_after {
            print_after(&mut style, level);
        }
        if let Some(level) = self.test_output {
            output(&mut style, level);
        }
        if self.quiet || self.succinct {
            print_after(&mut style, OutputLevel::Failed);
        }
        if self.verbose > 0 {
            output(&mut style, OutputLevel::Failed);
        }
        if self.show_all {
            output(&mut style, OutputLevel::All);
        }
        style
    }

    fn shown_codes(&self) -> Vec<ResultCode> {
        [
            (self.show_excluded, ResultCode::Excluded),
            (self.show_skipped, ResultCode::Skipped),
            (self.show_unsupported, ResultCode::Unsupported),
            (self.show_pass, ResultCode::Pass),
            (self.show_flakypass, ResultCode::FlakyPass),
            (self.show_fixed, ResultCode::Fixed),
            (self.show_xfail, ResultCode::XFail),
        ]
        .into_iter()
        .filter_map(|(shown, code)| shown.then_some(code))
        .collect()
    }

    pub(super) fn settings(&self, host: &Host, style: &Style) -> RunSettings {
        let mut settings = RunSettings::new(Toolbox::new(host.tools.iter().cloned()));
        settings.no_execute = self.no_execute;
        settings.show_commands = self.show_commands;
        settings.keep_logs =
            style.test_output == OutputLevel::All || self.output.is_some() || self.resultdb_output.is_some();
        settings.diagnostics = match self.diagnostics {
            Diagnostics::Rich => DiagnosticStyle::Rich,
            Diagnostics::Compatible => DiagnosticStyle::Compatible,
        };
        settings.track_inputs = self.watch;
        let limit = self.params.iter().rev().find_map(|param| param.strip_prefix("output_limit="));
        settings.output_limit =
            limit.and_then(|limit| limit.parse().ok()).unwrap_or(log::DEFAULT_OUTPUT_LIMIT);
        settings
    }

    pub(super) fn filter(&self, environment: &Environment) -> Result<Filter, String> {
        let regex = |option: &Option<String>, name: &str| {
            let text = option.clone().or_else(|| environment.get(name));
            text.map(|text| select::filter_regex(&text)).transpose()
        };
        let mut only = regex(&self.filter, "LIT_FILTER")?;
        if only.is_none()
            && let Some(text) = &environment.bazel.test_only
        {
            only = Some(select::filter_regex(text)?);
        }
        Ok(Filter { only, out: regex(&self.filter_out, "LIT_FILTER_OUT")?, failed: self.filter_failed })
    }

    pub(super) fn shard(&self, environment: &Environment) -> Result<Option<Shard>, String> {
        let count = self.num_shards.or(environment.number("LIT_NUM_SHARDS")?);
        let run = self.run_shard.or(environment.number("LIT_RUN_SHARD")?);
        match (count, run) {
            (None, None) => Ok(environment.bazel.shard),
            (Some(count), Some(run)) if run <= count => Ok(Some(Shard { run, count })),
            (Some(_), Some(_)) => {
                Err("--run-shard must be between 1 and --num-shards (inclusive)".to_owned())
            }
            _ => Err("--num-shards and --run-shard must be used together".to_owned()),
        }
    }

    pub(super) fn mark(&self, tests: &mut [Test], environment: &Environment) {
        let list = |option: &Option<String>, name: &str| {
            NameList::parse(&option.clone().or_else(|| environment.get(name)).unwrap_or_default())
        };
        let xfail = list(&self.xfail, "LIT_XFAIL");
        let xfail_not = list(&self.xfail_not, "LIT_XFAIL_NOT");
        let unsupported = list(&self.unsupported, "LIT_UNSUPPORTED");
        let unsupported_not = list(&self.unsupported_not, "LIT_UNSUPPORTED_NOT");
        for test in tests {
            let marks = Overrides {
                xfail: xfail.has(test),
                xfail_not: xfail_not.has(test),
                exclude_xfail: self.exclude_xfail,
                unsupported: unsupported.has(test),
                unsupported_not: unsupported_not.has(test),
            };
            test.overrides = marks;
        }
    }
}
