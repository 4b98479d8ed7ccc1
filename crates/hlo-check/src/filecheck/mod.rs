//! LLVM's FileCheck: directives, patterns, matcher, report. Knows nothing of HLO.
//!
//! [`cli`] is the program; [`Run`] the steps behind it. What a run has to say is data
//! ([`diagnostic::Report`]); [`report`] turns it into text.

mod check_file;
pub mod cli;
pub mod diagnostic;
pub mod directive;
mod fuzzy;
pub mod lint;
mod matcher;
mod multi;
pub mod numeric;
pub mod options;
pub mod pattern;
pub mod progress;
pub mod regex;
pub mod report;
pub mod source;
mod text;
pub mod variables;

pub use check_file::{Check, Extra};

use diagnostic::Report;
use matcher::{RegexCache, Session};
use options::{DumpOptions, MatchOptions};
use pattern::ParseFailure;
use source::{BufferId, SourceMap, Span, canonicalize};
use variables::Variables;

use crate::tool::{Finding, Invocation, Output, Review, Reviewer, Tool};

/// FileCheck for RUN lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileCheckTool;

impl Tool for FileCheckTool {
    fn name(&self) -> &'static str {
        "FileCheck"
    }

    fn run(&self, invocation: &Invocation) -> Output {
        cli::run(invocation)
    }

    fn shell_words(&self) -> &'static str {
        "hlo-check filecheck"
    }

    fn reviewer(&self) -> Option<&dyn Reviewer> {
        Some(self)
    }
}

impl Reviewer for FileCheckTool {
    fn review(&self, review: &Review<'_>) -> Vec<Finding> {
        cli::review(review)
    }
}

/// One check file on its way through a run: texts, variables, checks, report.
pub struct Run<'o> {
    options: &'o MatchOptions,
    sources: SourceMap,
    check_file: BufferId,
    /// The buffer of the definitions on the command line, with their places.
    defines: Option<(BufferId, Vec<(usize, usize)>)>,
    implicit: Vec<Span>,
    input: Option<BufferId>,
    variables: Variables,
    checks: Vec<Check>,
    report: Report,
    failure: Option<ParseFailure>,
}

impl<'o> Run<'o> {
    /// Prepares a run. `name` is what messages call the check file. With `annotations`, an input dump can
    /// be asked for afterwards, and verbose messages go there.
    #[must_use]
    pub fn new(options: &'o MatchOptions, name: &str, check_text: Vec<u8>, annotations: bool) -> Self {
        let mut sources = SourceMap::default();
        let check_file = sources.add(name, canonicalize(check_text, options.strict_whitespace));
        let defines = (!options.defines.is_empty()).then(|| {
            let (text, places) = check_file::command_line_text(&options.defines);
            (sources.add("Global defines", text), places)
        });
        let mut implicit = Vec::new();
        for pattern in &options.implicit_check_not {
            let head = "-implicit-check-not='";
            let buffer = sources.add("command line", format!("{head}{pattern}'").into_bytes());
            implicit.push(Span { buffer, start: head.len(), end: head.len() + pattern.len() });
        }
        let report = Report { events: Vec::new(), annotations: annotations.then(Vec::new), failures: None };
        Self {
            options,
            sources,
            check_file,
            defines,
            implicit,
            input: None,
            variables: Variables::new(),
            checks: Vec::new(),
            report,
            failure: None,
        }
    }

    /// Keeps data about failures for [`Self::render_rich`]. LLVM's messages do not need it.
    pub fn keep_failures(&mut self) {
        self.report.failures = Some(Vec::new());
    }

    /// The failures in our own rendering.
    #[must_use]
    pub fn render_rich(&self, colors: bool, rerun: &str) -> String {
        report::rich::render(&self.report, &self.sources, colors, rerun)
    }

    /// The text of the check file as it is read.
    #[must_use]
    pub fn check_text(&self) -> &[u8] {
        self.sources.text(self.check_file)
    }

    /// Reads definitions and directives.
    ///
    /// # Errors
    /// The check file cannot be used; the report says why.
    pub fn read_checks(&mut self) -> Result<(), ParseFailure> {
        let result = self.try_read_checks();
        self.failure = result.err();
        result
    }

    fn try_read_checks(&mut self) -> Result<(), ParseFailure> {
        let (sources, variables, report) = (&self.sources, &mut self.variables, &mut self.report);
        if let Some((buffer, places)) = &self.defines {
            check_file::define_variables(sources, *buffer, places, variables, report)?;
        }
        variables.add_line_variable();
        self.checks =
            check_file::read(sources, self.check_file, &self.implicit, self.options, variables, report)?;
        Ok(())
    }

    /// Whether reading met a fault for which LLVM leaves at once with status 1.
    #[must_use]
    pub fn exit_at_once(&self) -> bool {
        self.failure == Some(ParseFailure::Exit)
    }

    /// Checks an input; says whether all checks held.
    pub fn check(&mut self, name: &str, input: Vec<u8>) -> bool {
        let text = canonicalize(input, self.options.strict_whitespace);
        let end = text.len();
        let buffer = self.sources.add(name, text);
        self.input = Some(buffer);
        let mut session = Session::new(
            &self.sources,
            self.options,
            std::mem::take(&mut self.variables),
            RegexCache::default(),
            std::mem::take(&mut self.report),
        );
        let passed = session.run(&self.checks, Span { buffer, start: 0, end });
        (self.variables, self.report) = (session.variables, session.report);
        passed
    }

    /// The report so far.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The texts the report points into.
    #[must_use]
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The messages as LLVM prints them.
    #[must_use]
    pub fn render(&self, colors: bool) -> Vec<u8> {
        report::llvm::render(&self.report.events, &self.sources, colors)
    }

    /// The input dump as LLVM prints it; empty before [`Self::check`].
    #[must_use]
    pub fn render_dump(&self, options: DumpOptions, colors: bool) -> Vec<u8> {
        let Some(input) = self.input else { return Vec::new() };
        let annotations = self.report.annotations.as_deref().unwrap_or_default();
        let verbose = self.options.verbose;
        report::dump::render(&self.sources, &self.implicit, input, annotations, options, verbose, colors)
    }
}
