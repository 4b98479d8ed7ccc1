//! The search through the input: label blocks, DAG groups, NOT regions.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::check_file::{Check, Extra};
use super::diagnostic::{Annotation, Code, Diagnostic, Failure, Outcome, Report, Severity};
use super::directive::CheckKind;
use super::fuzzy;
use super::multi;
use super::options::MatchOptions;
use super::pattern::{NoMatch, Pattern};
use super::progress;
use super::regex::{Match, Regex, RegexError, Scratch, StepLimitReached};
use super::source::{Loc, SourceMap, Span};
use super::text::{count_newlines, write_escaped};
use super::variables::Variables;

/// How many expressions a thread keeps from one run to the next, and how long they may be: the tests of a suite use
/// the same few again and again.
const MAX_SHARED: usize = 256;
const LONGEST_SHARED: usize = 256;

/// Expressions by text and whether case counts.
type Shared = HashMap<(Vec<u8>, bool), Rc<Regex>>;

thread_local! {
    /// What runs on this thread have compiled.
    static SHARED: RefCell<Shared> = RefCell::default();
}

/// Compiles an expression, or finds it among those of earlier runs.
fn compile(text: &[u8], ignore_case: bool) -> Result<Rc<Regex>, RegexError> {
    if text.len() > LONGEST_SHARED {
        return Regex::new(text, ignore_case).map(Rc::new);
    }
    let key = (text.to_vec(), ignore_case);
    if let Some(known) = SHARED.with_borrow(|shared| shared.get(&key).cloned()) {
        return Ok(known);
    }
    let compiled = Regex::new(text, ignore_case).map(Rc::new)?;
    SHARED.with_borrow_mut(|shared| {
        if shared.len() >= MAX_SHARED {
            shared.clear();
        }
        shared.insert(key, Rc::clone(&compiled));
    });
    Ok(compiled)
}

/// Compiled expressions of a run by text.
#[derive(Default)]
pub(super) struct RegexCache {
    known: HashMap<Vec<u8>, Result<Rc<Regex>, RegexError>>,
}

impl RegexCache {
    pub(super) fn get(&mut self, text: &[u8], ignore_case: bool) -> Result<Rc<Regex>, RegexError> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let compiled = compile(text, ignore_case);
        self.known.insert(text.to_vec(), compiled.clone());
        compiled
    }
}

/// Everything a run changes while it matches.
pub(super) struct Session<'a> {
    pub(super) sources: &'a SourceMap,
    pub(super) options: &'a MatchOptions,
    pub(super) variables: Variables,
    pub(super) regexes: RegexCache,
    pub(super) report: Report,
    scratch: Scratch,
    /// Results within the DAG group at hand, by expression and place: groups tend to repeat patterns, and
    /// each repetition walks over the matches of those before it.
    remembered: Option<HashMap<(*const Regex, usize), Option<Match>>>,
    /// First places of literals in a region, when many were looked for together.
    literals: Option<LiteralPlaces>,
}

/// First places of literals from the start of a region on.
struct LiteralPlaces {
    start: usize,
    places: HashMap<Vec<u8>, Option<usize>>,
}

/// A check failed; the report says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failed;

impl<'a> Session<'a> {
    pub(super) fn new(
        sources: &'a SourceMap,
        options: &'a MatchOptions,
        variables: Variables,
        regexes: RegexCache,
        report: Report,
    ) -> Self {
        let scratch = Scratch::default();
        Self { sources, options, variables, regexes, report, scratch, remembered: None, literals: None }
    }

    /// The first place of a literal in a region.
    pub(super) fn find_literal(&self, literal: &[u8], region: Span) -> Option<usize> {
        let known = self.literals.as_ref().filter(|known| known.start == region.start);
        if let Some(place) = known.and_then(|known| known.places.get(literal)) {
            return *place;
        }
        memchr::memmem::find(self.sources.slice(region), literal)
    }

    /// Looks for the literals among `patterns` together, if that is faster than one by one.
    fn find_literals_together<'p>(&mut self, patterns: impl Iterator<Item = &'p Pattern>, region: Span) {
        self.literals = None;
        if self.options.ignore_case {
            return;
        }
        let literals: Vec<&[u8]> =
            patterns.map(|pattern| pattern.fixed.as_slice()).filter(|fixed| !fixed.is_empty()).collect();
        let text = self.sources.slice(region);
        if !multi::pays(literals.len(), text.len()) {
            return;
        }
        if let Some(places) = multi::first_places(&literals, text) {
            let places = literals.iter().map(|literal| literal.to_vec()).zip(places).collect();
            self.literals = Some(LiteralPlaces { start: region.start, places });
        }
    }

    pub(super) fn find_regex(
        &mut self,
        regex: &Rc<Regex>,
        region: Span,
        want_groups: bool,
    ) -> Result<Option<Match>, StepLimitReached> {
        let text = self.sources.slice(region);
        let Some(remembered) = &mut self.remembered else {
            return regex.find(text, want_groups, &mut self.scratch);
        };
        // The cache keeps every expression alive, so that its address names it.
        let key = (Rc::as_ptr(regex), region.start);
        if let Some(known) = remembered.get(&key) {
            let complete = known.as_ref().is_none_or(|found| !want_groups || !found.groups.is_empty());
            if complete {
                return Ok(known.clone());
            }
        }
        let found = regex.find(text, want_groups, &mut self.scratch)?;
        remembered.insert(key, found.clone());
        Ok(found)
    }

    /// Runs all checks over `input`; says whether all of them held.
    pub(super) fn run(&mut self, checks: &[Check], input: Span) -> bool {
        let mut passed = true;
        let mut rest = input;
        let mut done = 0;
        let mut labels =
            checks.iter().enumerate().filter(|(_, check)| check.pattern.check.kind == CheckKind::Label);
        loop {
            // A block goes up to the end of the next label's match.
            let (region, block_end) = match labels.next() {
                None => (rest, checks.len()),
                Some((index, label)) => {
                    let Ok(found) = self.check(label, rest, true) else { return false };
                    let region = Span { end: found.end, ..rest };
                    rest.start = found.end;
                    (region, index + 1)
                }
            };
            // Variables of the command line live on in the block before the first label.
            if done != 0 && self.options.enable_var_scope {
                self.variables.clear_local();
            }
            let mut region = region;
            for check in &checks[done..block_end] {
                match self.check(check, region, false) {
                    Ok(found) => region.start = found.end,
                    Err(Failed) => {
                        passed = false;
                        break;
                    }
                }
            }
            done = block_end;
            if block_end == checks.len() {
                return passed;
            }
        }
    }

    /// One positive check with the DAG and NOT patterns before it. In a label scan only the pattern
    /// itself counts.
    fn check(&mut self, check: &Check, region: Span, label_scan: bool) -> Result<Span, Failed> {
        self.remembered = None;
        self.literals = None;
        let mut nots: Vec<&Extra> = Vec::new();
        let mut start = region.start;
        if !label_scan {
            start = self.check_dags(check, region, &mut nots)?;
        }
        let mut end = start;
        let mut first = start;
        for round in 1..=check.pattern.check.count {
            let part = Span { start: end, ..region };
            let found = check.pattern.find(self, part);
            let found = self.report_positive(&check.pattern, &check.prefix, check.loc, round, part, found)?;
            if round == 1 {
                first = found.start;
            }
            end = found.end;
        }
        let found = Span { start: first, end, ..region };
        if !label_scan {
            let skipped = Span { start, end: first, ..region };
            if self.on_wrong_line(check, skipped) {
                self.record_wrong_line(check, skipped, found);
                return Err(Failed);
            }
            self.check_nots(skipped, &nots)?;
        }
        Ok(found)
    }

    /// The DAG groups before a check; returns where the check itself begins to search, and leaves the
    /// NOT patterns after the last group in `nots`.
    fn check_dags<'c>(
        &mut self,
        check: &'c Check,
        region: Span,
        nots: &mut Vec<&'c Extra>,
    ) -> Result<usize, Failed> {
        let mut start = region.start;
        // Matches of the group at hand: disjoint, in order of place.
        let mut taken: Vec<(usize, usize)> = Vec::new();
        self.remembered = None;
        for (index, extra) in check.extras.iter().enumerate() {
            let pattern = &*extra.pattern;
            if pattern.check.kind == CheckKind::Not {
                nots.push(extra);
                continue;
            }
            let next = check.extras.get(index + 1);
            let group_ends = next.is_none_or(|extra| extra.pattern.check.kind == CheckKind::Not);
            if !group_ends && self.remembered.is_none() {
                self.remembered = Some(HashMap::new());
            }
            let group = Span { start, ..region };
            if taken.is_empty() {
                let of_group = check.extras[index..].iter().map(|extra| &*extra.pattern);
                let of_group = of_group.take_while(|pattern| pattern.check.kind == CheckKind::Dag);
                self.find_literals_together(of_group, group);
            }
            let placed = self.place_dag(extra, group, &mut taken);
            if group_ends {
                self.remembered = None;
                self.literals = None;
            }
            let found = placed?;
            if !self.options.verbose_verbose {
                self.report_match(pattern, &extra.prefix, pattern.loc, 1, found, true);
            }
            if group_ends {
                if !nots.is_empty() {
                    let end = taken.first().map_or(start, |range| range.0);
                    self.check_nots(Span { start, end, ..region }, nots)?;
                    nots.clear();
                }
                start = taken.last().map_or(start, |range| range.1);
                taken.clear();
            }
        }
        Ok(start)
    }

    /// Finds a match for a DAG pattern that does not overlap one of its group.
    fn place_dag(
        &mut self,
        extra: &Extra,
        group: Span,
        taken: &mut Vec<(usize, usize)>,
    ) -> Result<Span, Failed> {
        let pattern = &*extra.pattern;
        let mut at = group.start;
        loop {
            let part = Span { start: at, ..group };
            let found = pattern.find(self, part);
            let found = if self.options.verbose_verbose || found.is_err() {
                self.report_positive(pattern, &extra.prefix, pattern.loc, 1, part, found)?
            } else {
                found.map_err(|_| Failed)?
            };
            if self.options.allow_deprecated_dag_overlap {
                match taken.first_mut() {
                    Some(all) => *all = (all.0.min(found.start), all.1.max(found.end)),
                    None => taken.push((found.start, found.end)),
                }
                return Ok(found);
            }
            let place = taken.partition_point(|range| range.1 <= found.start);
            match taken.get(place) {
                Some(&(start, end)) if start < found.end => {
                    self.record_discarded(Span { start, end, ..group });
                    at = end;
                }
                _ => {
                    taken.insert(place, (found.start, found.end));
                    return Ok(found);
                }
            }
        }
    }

    fn check_nots(&mut self, region: Span, nots: &[&Extra]) -> Result<(), Failed> {
        let mut result = Ok(());
        self.find_literals_together(nots.iter().map(|extra| &*extra.pattern), region);
        for extra in nots {
            let pattern = &*extra.pattern;
            match pattern.find(self, region) {
                Ok(found) => {
                    self.report_match(pattern, &extra.prefix, pattern.loc, 1, found, false);
                    result = Err(Failed);
                }
                Err(none) => {
                    if self.report_no_match(pattern, &extra.prefix, pattern.loc, 1, region, none, false) {
                        result = Err(Failed);
                    }
                }
            }
        }
        self.literals = None;
        result
    }

    /// Whether a NEXT, EMPTY or SAME check matched on the wrong line; `skipped` lies between the
    /// previous match and this one.
    fn on_wrong_line(&mut self, check: &Check, skipped: Span) -> bool {
        let kind = check.pattern.check.kind;
        let suffix = super::directive::suffix(kind);
        let (newlines, second_line) = count_newlines(self.sources.slice(skipped));
        let problem = match kind {
            CheckKind::Next | CheckKind::Empty if newlines == 0 => "is on the same line as previous match",
            CheckKind::Next | CheckKind::Empty if newlines > 1 => {
                "is not on the line after the previous match"
            }
            CheckKind::Same if newlines > 0 => "is not on the same line as the previous match",
            _ => return false,
        };
        let message = format!("{}-{suffix}: {problem}", check.prefix);
        let at = |offset| Loc { buffer: skipped.buffer, offset };
        self.report.push(Diagnostic::error(Code::WrongLine, check.loc, message));
        self.report.push(Diagnostic::note(Code::MatchHere, at(skipped.end), "'next' match was here"));
        self.report.push(Diagnostic::note(
            Code::PreviousMatch,
            at(skipped.start),
            "previous match ended here",
        ));
        if kind != CheckKind::Same && newlines > 1 {
            let message = "non-matching line after previous match is here";
            let place = at(skipped.start + second_line);
            self.report.push(Diagnostic::note(Code::PreviousMatch, place, message));
        }
        true
    }

    fn record(&mut self, pattern: &Pattern, check: Loc, outcome: Outcome, range: Span, note: Vec<u8>) {
        if let Some(annotations) = &mut self.report.annotations {
            annotations.push(Annotation { check_type: pattern.check, check, outcome, range, note });
        }
    }

    /// Changes the outcome of the latest annotations that belong to one pattern.
    fn amend_latest(&mut self, outcome: Outcome) {
        let annotations = self.report.annotations.iter_mut().flatten();
        let mut latest = None;
        for annotation in annotations.rev() {
            if *latest.get_or_insert(annotation.check) != annotation.check {
                break;
            }
            annotation.outcome = outcome;
        }
    }

    /// Keeps what helps to see why a directive failed, if somebody wants to know.
    fn keep_failure(&mut self, pattern: &Pattern, failure: Failure) {
        if self.report.failures.is_none() {
            return;
        }
        let mut failure = failure;
        if failure.code == Code::NotFound {
            failure.progress = progress::measure(self, pattern, failure.region);
        }
        failure.variables = self.variables.all(self.sources);
        if let Some(failures) = &mut self.report.failures {
            failures.push(failure);
        }
    }

    fn failure(&self, code: Code, pattern: &Pattern, prefix: &str, region: Span) -> Failure {
        Failure {
            code,
            directive: pattern.check.description(prefix),
            round: 1,
            pattern: pattern.text(),
            region,
            found: None,
            progress: None,
            similar: None,
            faults: Vec::new(),
            variables: Vec::new(),
        }
    }

    fn record_wrong_line(&mut self, check: &Check, skipped: Span, found: Span) {
        let failure = self.failure(Code::WrongLine, &check.pattern, &check.prefix, skipped);
        self.keep_failure(&check.pattern, Failure { found: Some(found), ..failure });
        if self.options.verbose {
            self.amend_latest(Outcome::FoundButWrongLine);
        } else {
            self.record(&check.pattern, check.loc, Outcome::FoundButWrongLine, found, Vec::new());
        }
    }

    fn record_discarded(&mut self, earlier: Span) {
        if !self.options.verbose_verbose {
            return;
        }
        if self.report.annotations.is_some() {
            self.amend_latest(Outcome::FoundButDiscarded);
        } else {
            let message = "match discarded, overlaps earlier DAG match here";
            let mut note = Diagnostic::note(Code::Discarded, earlier.loc(), message);
            note.range = Some(earlier);
            self.report.push(note);
        }
    }

    fn report_positive(
        &mut self,
        pattern: &Pattern,
        prefix: &str,
        loc: Loc,
        round: u32,
        region: Span,
        result: Result<Span, NoMatch>,
    ) -> Result<Span, Failed> {
        match result {
            Ok(found) => {
                self.report_match(pattern, prefix, loc, round, found, true);
                Ok(found)
            }
            Err(none) => {
                self.report_no_match(pattern, prefix, loc, round, region, none, true);
                Err(Failed)
            }
        }
    }

    fn report_match(
        &mut self,
        pattern: &Pattern,
        prefix: &str,
        loc: Loc,
        round: u32,
        found: Span,
        expected: bool,
    ) {
        if expected
            && (!self.options.verbose
                || (!self.options.verbose_verbose && pattern.check.kind == CheckKind::Eof))
        {
            return;
        }
        let outcome = if expected { Outcome::FoundAndExpected } else { Outcome::FoundButExcluded };
        self.record(pattern, loc, outcome, found, Vec::new());
        let values = self.values(pattern);
        let captures = self.captures(pattern);
        let to_dump = self.report.annotations.is_some();
        if to_dump {
            let start = Span { end: found.start, ..found };
            for value in &values {
                self.record(pattern, pattern.loc, outcome, start, value.clone());
            }
            for (range, text) in &captures {
                self.record(pattern, pattern.loc, outcome, *range, text.clone());
            }
            if expected {
                return;
            }
        }
        let (code, severity, what) = if expected {
            (Code::Success, Severity::Remark, "expected")
        } else {
            (Code::Excluded, Severity::Error, "excluded")
        };
        let message = self.headline(pattern, prefix, round, &format!("{what} string found in input"));
        self.report.push(Diagnostic { code, severity, loc, message, range: None });
        let mut here = Diagnostic::note(Code::MatchHere, found.loc(), "found here");
        here.range = Some(found);
        self.report.push(here);
        if !expected {
            let failure = self.failure(Code::Excluded, pattern, prefix, found);
            self.keep_failure(pattern, Failure { found: Some(found), ..failure });
        }
        for value in values {
            self.report.push(Diagnostic::note(Code::Value, found.loc(), value));
        }
        for (range, text) in captures {
            let mut note = Diagnostic::note(Code::Captured, range.loc(), text);
            note.range = Some(range);
            self.report.push(note);
        }
    }

    /// Says whether this is an error.
    #[expect(clippy::too_many_arguments, reason = "the facts of one search, each used once")]
    fn report_no_match(
        &mut self,
        pattern: &Pattern,
        prefix: &str,
        loc: Loc,
        round: u32,
        region: Span,
        none: NoMatch,
        expected: bool,
    ) -> bool {
        let mut outcome = if expected { Outcome::NoneButExpected } else { Outcome::NoneAndExcluded };
        let mut faults = Vec::new();
        if let NoMatch::Faults(diagnostics) = none {
            outcome = Outcome::NoneForInvalidPattern;
            faults = diagnostics;
            for fault in &faults {
                self.report.push(fault.clone());
            }
        }
        let failed = expected || !faults.is_empty();
        if !failed && !self.options.verbose_verbose {
            return false;
        }
        let to_dump = self.report.annotations.is_some();
        self.record(pattern, loc, outcome, region, Vec::new());
        let values = self.values(pattern);
        if to_dump {
            let start = Span { end: region.start, ..region };
            for fault in &faults {
                self.record(pattern, loc, outcome, start, fault.message.clone());
            }
            for value in &values {
                self.record(pattern, pattern.loc, outcome, start, value.clone());
            }
            if !failed {
                return false;
            }
        }
        if faults.is_empty() {
            let (code, severity, what) = if expected {
                (Code::NotFound, Severity::Error, "expected")
            } else {
                (Code::Success, Severity::Remark, "excluded")
            };
            let message = self.headline(pattern, prefix, round, &format!("{what} string not found in input"));
            self.report.push(Diagnostic { code, severity, loc, message, range: None });
            self.report.push(Diagnostic::note(Code::SearchStart, region.loc(), "scanning from here"));
        }
        for value in values {
            self.report.push(Diagnostic::note(Code::Value, region.loc(), value));
        }
        let similar = if expected { self.report_fuzzy(pattern, region) } else { None };
        if failed {
            let code = faults.first().map_or(Code::NotFound, |fault| fault.code);
            let failure = self.failure(code, pattern, prefix, region);
            self.keep_failure(pattern, Failure { round, similar, faults, ..failure });
        }
        failed
    }

    fn report_fuzzy(&mut self, pattern: &Pattern, region: Span) -> Option<Loc> {
        let skip = fuzzy::best_match(pattern.example(), self.sources.slice(region))?;
        let start = region.start + skip;
        let place = Span { start, end: start, ..region };
        self.record(pattern, pattern.loc, Outcome::Fuzzy, place, Vec::new());
        let message = "possible intended match here";
        self.report.push(Diagnostic::note(Code::PossibleMatch, place.loc(), message));
        Some(place.loc())
    }

    fn headline(&self, pattern: &Pattern, prefix: &str, round: u32, what: &str) -> Vec<u8> {
        let mut message = format!("{}: {what}", pattern.check.description(prefix));
        if pattern.check.count > 1 {
            message.push_str(&format!(" ({round} out of {})", pattern.check.count));
        }
        message.into_bytes()
    }

    /// `with "NAME" equal to "VALUE"` for each substitution that has a value.
    fn values(&self, pattern: &Pattern) -> Vec<Vec<u8>> {
        let mut notes = Vec::new();
        for substitution in &pattern.substitutions {
            if let Ok(value) = substitution.resolve(self.sources, &self.variables) {
                let mut note = b"with \"".to_vec();
                write_escaped(&mut note, self.sources.slice(substitution.from));
                note.extend_from_slice(b"\" equal to \"");
                write_escaped(&mut note, &value);
                note.push(b'"');
                notes.push(note);
            }
        }
        notes
    }

    /// `captured var "NAME"` for each variable the match set, by place.
    fn captures(&self, pattern: &Pattern) -> Vec<(Span, Vec<u8>)> {
        let strings = pattern.strings.keys().filter_map(|name| Some((name, self.variables.string(name)?)));
        let numerics = pattern
            .numerics
            .iter()
            .filter_map(|definition| Some((definition.name(), self.variables.numeric_text(definition.id)?)));
        let mut captures: Vec<_> = strings
            .chain(numerics)
            .map(|(name, range)| (range, [b"captured var \"", name.as_slice(), b"\""].concat()))
            .collect();
        captures.sort_by_key(|(range, _)| range.start);
        captures
    }
}
