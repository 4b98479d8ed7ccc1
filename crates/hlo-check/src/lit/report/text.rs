//! The report on the terminal, in lit's format.

use std::io::{IsTerminal as _, Write};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};

use super::super::discovery::Test;
use super::super::result::{ResultCode, TestResult};
use super::Outcome;

/// For which tests something is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum OutputLevel {
    /// None.
    Off,
    /// Those that fail.
    Failed,
    /// Those that fail, and those that needed several attempts.
    FailedOrFlaky,
    /// All.
    All,
}

impl OutputLevel {
    fn covers(self, result: &TestResult) -> bool {
        match self {
            OutputLevel::Off => false,
            OutputLevel::All => true,
            _ if result.code.is_failure() => true,
            level => level == OutputLevel::FailedOrFlaky && result.attempts > 1,
        }
    }
}

/// What is printed.
#[derive(Clone, Debug)]
pub struct Style {
    /// Result lines.
    pub print_result_after: OutputLevel,
    /// Logs.
    pub test_output: OutputLevel,
    /// Show progress.
    pub progress_bar: bool,
    /// Only failures in the summary.
    pub terse_summary: bool,
    /// Codes whose tests are listed in the summary besides the failing ones.
    pub shown_codes: Vec<ResultCode>,
    /// Name files relative to the current folder in the summary.
    pub relative_paths: bool,
    /// Findings of lints.
    pub lints: bool,
}

/// How long lines may wait in the buffer.
const FLUSH_INTERVAL: Duration = Duration::from_millis(100);

enum Bar {
    None,
    /// On a terminal.
    Live(ProgressBar),
    /// Elsewhere: `0.. 10.. 20..` in one line, with how much of it is written.
    Dots(Option<usize>),
}

/// Prints results as they come.
pub struct Display<'w> {
    style: Style,
    out: &'w mut dyn Write,
    bar: Bar,
    total: usize,
    completed: usize,
    flushed: Instant,
}

impl<'w> Display<'w> {
    /// Prints the header of a run of `total` of `discovered` tests.
    ///
    /// # Errors
    /// As the writer.
    pub fn new(
        style: Style,
        out: &'w mut dyn Write,
        total: usize,
        discovered: usize,
        workers: usize,
    ) -> std::io::Result<Self> {
        let silent = style.print_result_after == OutputLevel::Off && !style.progress_bar;
        let bar = if !style.progress_bar {
            Bar::None
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(total as u64);
            // The template is fixed and valid; the default one would do as well.
            if let Ok(style) = ProgressStyle::with_template("{pos}/{len} [{wide_bar}] {eta} {msg}") {
                bar.set_style(style);
            }
            Bar::Live(bar)
        } else {
            Bar::Dots(None)
        };
        if !silent {
            let of = if total == discovered { String::new() } else { format!(" of {discovered}") };
            writeln!(out, "-- Testing: {total}{of} tests, {workers} workers --")?;
        }
        let flushed = Instant::now();
        let mut display = Display { style, out, bar, total, completed: 0, flushed };
        display.advance(None)?;
        Ok(display)
    }

    /// Takes in the next result.
    ///
    /// # Errors
    /// As the writer.
    pub fn update(&mut self, test: &Test, result: &TestResult) -> std::io::Result<()> {
        self.completed += 1;
        if self.style.print_result_after.covers(result) {
            self.interrupt_bar()?;
            self.print_result(test, result)?;
        }
        if self.style.lints && !result.findings.is_empty() {
            self.interrupt_bar()?;
            let text: String = result.findings.iter().map(|finding| finding.rendered.as_str()).collect();
            self.print(&text)?;
        }
        self.advance(Some(test))?;
        if result.code.is_failure() || self.flushed.elapsed() >= FLUSH_INTERVAL {
            self.out.flush()?;
            self.flushed = Instant::now();
        }
        Ok(())
    }

    /// Takes in the next result of a run that only shows commands.
    ///
    /// # Errors
    /// As the writer.
    pub fn update_with_output(&mut self, test: &Test, result: &TestResult) -> std::io::Result<()> {
        self.update(test, result)?;
        if !self.style.test_output.covers(result) {
            self.out.write_all(result.output.as_bytes())?;
        }
        Ok(())
    }

    /// Takes the bar away.
    ///
    /// # Errors
    /// As the writer.
    pub fn finish(mut self) -> std::io::Result<()> {
        if let Bar::Live(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.interrupt_bar()?;
        self.out.flush()
    }

    /// Lets something else be printed to standard error without tearing the bar.
    pub fn suspend(&self, print: impl FnOnce()) {
        match &self.bar {
            Bar::Live(bar) => bar.suspend(print),
            Bar::None | Bar::Dots(_) => print(),
        }
    }

    fn interrupt_bar(&mut self) -> std::io::Result<()> {
        if let Bar::Dots(written @ Some(_)) = &mut self.bar {
            *written = None;
            writeln!(self.out)?;
        }
        Ok(())
    }

    fn advance(&mut self, test: Option<&Test>) -> std::io::Result<()> {
        match &mut self.bar {
            Bar::None => {}
            Bar::Live(bar) => {
                bar.set_position(self.completed as u64);
                if let Some(test) = test {
                    bar.set_message(test.path.clone());
                }
            }
            Bar::Dots(written) => {
                let from = match written {
                    Some(at) => *at,
                    None => {
                        write!(self.out, "Testing: ")?;
                        0
                    }
                };
                // Two percent a character: "10", ".", ".", " ".
                let to = self.completed * 50 / self.total.max(1);
                for at in from..to {
                    match at % 5 {
                        0 => write!(self.out, "{:2}", at * 2)?,
                        1 => {}
                        2 | 3 => write!(self.out, ".")?,
                        _ => write!(self.out, " ")?,
                    }
                }
                *written = Some(to);
            }
        }
        Ok(())
    }

    fn print_result(&mut self, test: &Test, result: &TestResult) -> std::io::Result<()> {
        let name = test.full_name();
        let attempts = if result.attempts > 1 {
            format!(", {} of {} attempts", result.attempts, result.max_attempts)
        } else {
            String::new()
        };
        let mut text =
            format!("{}: {name} ({} of {}{attempts})\n", result.code.name(), self.completed, self.total);
        if self.style.test_output.covers(result) {
            let stars = "*".repeat(20);
            if result.code.is_failure() {
                text.push_str(&format!("{stars} TEST '{name}' FAILED {stars}\n"));
            }
            text.push_str(&format!("{}\n{stars}\n", result.output));
        }
        self.print(&text)
    }

    fn print(&mut self, text: &str) -> std::io::Result<()> {
        match &self.bar {
            Bar::Live(bar) => bar.suspend(|| {
                self.out.write_all(text.as_bytes())?;
                self.out.flush()
            }),
            _ => self.out.write_all(text.as_bytes()),
        }
    }
}

/// Prints the lists of tests by code and the counts.
///
/// # Errors
/// As the writer.
pub fn summary(
    out: &mut dyn Write,
    style: &Style,
    outcomes: &[Outcome<'_>],
    elapsed: Duration,
) -> std::io::Result<()> {
    let cwd = std::env::current_dir().unwrap_or_default();
    let mut counts = Vec::new();
    for code in ResultCode::all() {
        let mut names: Vec<(String, String)> = outcomes
            .iter()
            .filter(|(_, result)| result.code == code)
            .map(|(test, _)| {
                let shown = if style.relative_paths {
                    let source = test.source();
                    source.strip_prefix(&cwd).unwrap_or(&source).display().to_string()
                } else {
                    test.full_name()
                };
                (test.full_name(), shown)
            })
            .collect();
        if names.is_empty() {
            continue;
        }
        if !style.terse_summary || code.is_failure() {
            counts.push((code.label(), names.len()));
        }
        if code.is_failure() || style.shown_codes.contains(&code) {
            names.sort_unstable();
            writeln!(out, "{}\n{} Tests ({}):", "*".repeat(20), code.label(), names.len())?;
            for (_, name) in names {
                writeln!(out, "  {name}")?;
            }
            writeln!(out)?;
        }
    }
    if !style.terse_summary {
        writeln!(out, "\nTesting Time: {:.2}s", elapsed.as_secs_f64())?;
    }
    writeln!(out, "\nTotal Discovered Tests: {}", outcomes.len())?;
    let label_width = counts.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let count_width = counts.iter().map(|(_, count)| count.to_string().len()).max().unwrap_or(0);
    for (label, count) in counts {
        let share = count as f64 / outcomes.len().max(1) as f64 * 100.0;
        writeln!(out, "  {label:label_width$}: {count:>count_width$} ({share:.2}%)")?;
    }
    if style.lints {
        let counts = outcomes.iter().map(|(_, result)| result.findings.len()).filter(|&count| count > 0);
        let (tests, lints) = counts.fold((0, 0), |(tests, lints), count| (tests + 1, lints + count));
        if lints > 0 {
            writeln!(out, "Lints: {lints} in {tests} tests")?;
        }
    }
    out.flush()
}
