//! How far a pattern got: the longest part of it, from its start, that can be found.

use super::matcher::Session;
use super::pattern::Pattern;
use super::source::Span;

/// Only this much of the input is searched for parts of a pattern.
const SEARCHED: usize = 1 << 20;

/// The part of a pattern that can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The part, in the check file.
    pub pattern: Span,
    /// Where it is found first.
    pub input: Span,
}

/// Finds the longest part of `pattern` that stands somewhere in `region`.
pub(super) fn measure(session: &mut Session<'_>, pattern: &Pattern, region: Span) -> Option<Progress> {
    let region = Span { end: region.end.min(region.start.saturating_add(SEARCHED)), ..region };
    let parts = pattern.prefixes(session)?;
    // What a longer part needs, a shorter one needs too: bisect.
    let (mut low, mut high) = (0, parts.len());
    let mut best = None;
    while low < high {
        let middle = (low + high) / 2;
        let found = session.regexes.get(&parts[middle].regex, session.options.ignore_case).ok();
        let found = found.and_then(|regex| session.find_regex(&regex, region, false).ok().flatten());
        match found {
            Some(found) => {
                let at = |start, end| Span { buffer: region.buffer, start, end };
                best = Some(Progress {
                    pattern: parts[middle].pattern,
                    input: at(region.start + found.start, region.start + found.end),
                });
                low = middle + 1;
            }
            None => high = middle,
        }
    }
    best
}
