//! What a run has to say, as data; renderers turn it into text.

use super::directive::CheckType;
use super::progress::Progress;
use super::source::{Loc, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Fails the run.
    Error,
    /// Explains the message before it.
    Note,
    /// Says what went well (`-v`).
    Remark,
}

/// What a diagnostic is about, independent of its wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The check file or a definition on the command line is malformed.
    Malformed,
    /// A pattern that had to match did not.
    NotFound,
    /// A pattern that must not match did.
    Excluded,
    /// A NEXT, EMPTY or SAME pattern matched on the wrong line.
    WrongLine,
    /// A substitution had no value.
    Substitution,
    /// Matching was given up.
    StepLimit,
    /// A pattern matched or, for NOT, did not.
    Success,
    /// A note: where the search began.
    SearchStart,
    /// A note: where the match is.
    MatchHere,
    /// A note: the value a substitution had.
    Value,
    /// A note: a variable that was set.
    Captured,
    /// A note: the line that looks most like the pattern.
    PossibleMatch,
    /// A note: the previous match.
    PreviousMatch,
    /// A note: a match discarded because it overlaps.
    Discarded,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What it is about.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// Where the caret goes.
    pub loc: Loc,
    /// The sentence; may hold bytes of the files, which need not be UTF-8.
    pub message: Vec<u8>,
    /// What to underline, if anything.
    pub range: Option<Span>,
}

impl Diagnostic {
    /// An error about the text at `loc`.
    #[must_use]
    pub fn error(code: Code, loc: Loc, message: impl Into<Vec<u8>>) -> Self {
        Self { code, severity: Severity::Error, loc, message: message.into(), range: None }
    }

    /// A note about the text at `loc`.
    #[must_use]
    pub fn note(code: Code, loc: Loc, message: impl Into<Vec<u8>>) -> Self {
        Self { code, severity: Severity::Note, loc, message: message.into(), range: None }
    }
}

/// How a pattern fared at one place of the input; the input dump shows these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Matched, as it should.
    FoundAndExpected,
    /// Matched though it must not.
    FoundButExcluded,
    /// Matched on the wrong line.
    FoundButWrongLine,
    /// Matched, but overlaps an earlier DAG match.
    FoundButDiscarded,
    /// Did not match, as it should not.
    NoneAndExcluded,
    /// Did not match though it should.
    NoneButExpected,
    /// Could not be tried.
    NoneForInvalidPattern,
    /// A place that looks like what was meant.
    Fuzzy,
}

/// One entry of the input dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// Kind of the directive.
    pub check_type: CheckType,
    /// Where its pattern stands.
    pub check: Loc,
    /// How it fared.
    pub outcome: Outcome,
    /// Where in the input.
    pub range: Span,
    /// Text to show beside the mark; empty for none.
    pub note: Vec<u8>,
}

/// A directive that failed, with what helps to see why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// [`Code::NotFound`], [`Code::Excluded`], [`Code::WrongLine`], [`Code::Substitution`] or
    /// [`Code::StepLimit`].
    pub code: Code,
    /// The directive, e.g. `CHECK-NEXT`.
    pub directive: String,
    /// Which of the matches of a COUNT directive, from 1.
    pub round: u32,
    /// The pattern's text in the check file.
    pub pattern: Span,
    /// What was searched, or for a match on the wrong line what lies between the two matches.
    pub region: Span,
    /// The match, when there is one.
    pub found: Option<Span>,
    /// How far the pattern got, when there is none.
    pub progress: Option<Progress>,
    /// The place most like the pattern.
    pub similar: Option<Loc>,
    /// Why the pattern could not be tried.
    pub faults: Vec<Diagnostic>,
    /// All variables and their values; numeric ones with `#` before their names.
    pub variables: Vec<(Vec<u8>, Vec<u8>)>,
}

/// An item of the report, in the order things happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message about a place.
    Diagnostic(Diagnostic),
    /// Text without a place, printed as it is.
    Text(Vec<u8>),
}

/// Collects what a run has to say.
#[derive(Debug, Default)]
pub struct Report {
    /// Messages in order.
    pub events: Vec<Event>,
    /// Entries of the input dump; `None` when no dump can be asked for, which moves verbose messages
    /// from the dump to the messages.
    pub annotations: Option<Vec<Annotation>>,
    /// Failed directives; `None` when nobody asks.
    pub failures: Option<Vec<Failure>>,
}

impl Report {
    /// Adds a message.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.events.push(Event::Diagnostic(diagnostic));
    }

    /// Adds messages the way LLVM logs errors it passes up: each followed by an empty line.
    pub fn push_logged(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        for diagnostic in diagnostics {
            self.push(diagnostic);
            self.text("\n");
        }
    }

    /// Adds text as it is.
    pub fn text(&mut self, text: impl Into<Vec<u8>>) {
        self.events.push(Event::Text(text.into()));
    }
}

/// Concatenates byte strings; messages quote files that need not be UTF-8.
#[must_use]
pub fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}
