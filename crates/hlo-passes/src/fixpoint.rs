//! Running a pipeline again until it changes nothing more, and saying why it doesn't come to an end.

use std::fmt;

use hlo_text::Module;

use crate::hash::ModuleHash;
use crate::pass::{PassContext, PassResult};
use crate::pipeline::{Observer, PassOutcome, Pipeline, PipelineError};
use crate::registry::PassInfo;
use crate::structure::structural_hash;

/// Rounds after which a pipeline is given up, if nobody says otherwise.
pub const DEFAULT_LIMIT: usize = 100;

/// How repeating a pipeline ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixpoint {
    /// How often the pipeline ran, the last time included.
    pub rounds: usize,
    /// Why it stopped.
    pub end: End,
    /// Passes that work against each other, as far as the last rounds show.
    pub undone: Vec<Undone>,
}

/// Why a pipeline is not run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The last round changed nothing.
    Reached,
    /// The last round changed names, metadata or the order of independent instructions only, and so would the next.
    OnlyNames,
    /// The module is in structure what it was that many rounds ago, but not in between.
    Oscillates(usize),
    /// The number of rounds allowed is used up.
    Limit,
}

/// A pass that brought back what another had changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The pass that brought it back.
    pub by: &'static str,
    /// The pass whose changes are gone.
    pub of: &'static str,
}

impl fmt::Display for Undone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` undoes what `{}` does", self.by, self.of)
    }
}

impl End {
    /// Whether the result is as good as it gets.
    pub fn is_stable(self) -> bool {
        matches!(self, Self::Reached | Self::OnlyNames)
    }
}

impl fmt::Display for Fixpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounds = match self.rounds {
            1 => "1 round".to_owned(),
            rounds => format!("{rounds} rounds"),
        };
        match self.end {
            End::Reached => write!(f, "nothing changes any more after {rounds}"),
            End::OnlyNames => {
                write!(f, "only names, metadata or order change any more after {rounds}")
            }
            End::Oscillates(1) => {
                write!(f, "the passes don't come to an end: every round makes the same again")
            }
            End::Oscillates(period) => {
                write!(f, "the passes don't come to an end: every {period} rounds make the same again")
            }
            End::Limit => write!(f, "the passes still change something after {rounds}"),
        }
    }
}

/// A change of the structure.
struct Step {
    pass: &'static str,
    before: ModuleHash,
    after: ModuleHash,
}

/// Notes the changes of the structure, and hands everything on.
struct Watch<'o> {
    inner: &'o mut dyn Observer,
    current: ModuleHash,
    steps: Vec<Step>,
}

impl Observer for Watch<'_> {
    fn before_pass(&mut self, index: usize, info: &'static PassInfo, module: &Module) -> PassResult<()> {
        self.inner.before_pass(index, info, module)
    }

    fn after_pass(&mut self, index: usize, outcome: &PassOutcome, module: &Module) -> PassResult<()> {
        if outcome.changed {
            let after = structural_hash(module);
            if after != self.current {
                self.steps.push(Step { pass: outcome.info.key, before: self.current, after });
                self.current = after;
            }
        }
        self.inner.after_pass(index, outcome, module)
    }
}

/// Runs the pipeline until it changes nothing more, but at most `limit` times (and at least once).
///
/// # Errors
/// A pass or the observer failed; the module may have been changed.
pub fn run(
    pipeline: &Pipeline,
    module: &mut Module,
    context: &mut PassContext<'_>,
    observer: &mut dyn Observer,
    limit: usize,
) -> Result<Fixpoint, PipelineError> {
    let current = structural_hash(module);
    let mut watch = Watch { inner: observer, current, steps: Vec::new() };
    // The structure after each round, and how many steps there were by then.
    let mut ends = vec![(current, 0)];
    loop {
        let changed = pipeline.run(module, context, &mut watch)?;
        let rounds = ends.len();
        let seen = ends.iter().rposition(|(hash, _)| *hash == watch.current);
        ends.push((watch.current, watch.steps.len()));
        let since = |round: usize| ends.get(round).map_or(0, |(_, steps)| *steps);
        let (end, first_step) = match seen {
            _ if !changed => (End::Reached, since(rounds - 1)),
            Some(round) if since(round) == watch.steps.len() => (End::OnlyNames, since(round)),
            Some(round) => (End::Oscillates(rounds - round), since(round)),
            None if rounds >= limit => (End::Limit, since(rounds - 1)),
            None => continue,
        };
        let undone = undone(watch.steps.get(first_step..).unwrap_or_default());
        return Ok(Fixpoint { rounds, end, undone });
    }
}

/// The passes that brought back a structure that an earlier one had left, each pair once.
fn undone(steps: &[Step]) -> Vec<Undone> {
    let mut found: Vec<Undone> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        // The nearest step that left what this one comes back to.
        let Some(left) = steps[..at].iter().rev().find(|earlier| earlier.before == step.after) else {
            continue;
        };
        let pair = Undone { by: step.pass, of: left.pass };
        if !found.contains(&pair) {
            found.push(pair);
        }
    }
    found
}
