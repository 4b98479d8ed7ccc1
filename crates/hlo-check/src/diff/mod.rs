//! What is different between two modules, instruction by instruction.
//!
//! Instructions are the same thing by what they are (name, opcode, what they compute from what), not by the line
//! they stand on. The order of instructions counts in scheduled modules only; in others it says nothing.
//!
//! ```
//! use hlo_check::diff::{DiffOptions, ModuleDiff, RenderOptions};
//! # fn main() -> Result<(), Vec<hlo_text::diagnostic::Diagnostic>> {
//! let before = hlo_text::parse("HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT n = f32[2] abs(p)\n}")?;
//! let after = hlo_text::parse("HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT n = f32[2] sine(p)\n}")?;
//! let diff = ModuleDiff::new(&before, &after, &DiffOptions::default());
//! assert_eq!(diff.counts().changed, 1);
//! assert!(diff.render(&RenderOptions::default()).contains("+ ROOT %n = f32[2]{0} sine(%p)\n"));
//! # Ok(())
//! # }
//! ```

mod aspects;
mod compare;
mod header;
mod matching;
mod order;
mod render;
#[cfg(test)]
mod tests;
pub mod words;

use hlo_text::Module;
use hlo_text::ir::{ComputationId, InstructionId};

pub use aspects::{Aspect, Aspects};
use compare::Comparer;
pub use header::HeaderChange;
use matching::Matching;
use order::{Orders, longest_increasing};
pub use render::RenderOptions;

/// What counts as a difference.
#[derive(Clone, Copy, Debug)]
pub struct DiffOptions {
    /// Names of instructions, computations and modules.
    pub names: bool,
    /// Metadata, original values and statistics.
    pub metadata: bool,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self { names: true, metadata: true }
    }
}

/// What became of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Nothing.
    Same,
    /// It has another name and is the same otherwise.
    Renamed,
    /// It stands elsewhere in the schedule, or in another computation.
    Moved,
    /// Something about it is different.
    Changed,
    /// It is new.
    Added,
    /// It is gone.
    Removed,
}

/// An instruction of either module, or one of each that are the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionDiff {
    /// In the module before.
    pub before: Option<InstructionId>,
    /// In the module after.
    pub after: Option<InstructionId>,
    /// What is different if both are there.
    pub aspects: Aspects,
    /// Whether it stands elsewhere in the schedule or came from another computation.
    pub moved: bool,
}

impl InstructionDiff {
    /// What became of it.
    pub fn kind(&self) -> Kind {
        match (self.before, self.after) {
            (None, _) => Kind::Added,
            (_, None) => Kind::Removed,
            _ if self.aspects.without(Aspect::Name).is_empty() => match (self.moved, self.aspects.is_empty())
            {
                (true, _) => Kind::Moved,
                (false, true) => Kind::Same,
                (false, false) => Kind::Renamed,
            },
            _ => Kind::Changed,
        }
    }
}

/// A computation of either module, or one of each that are the same thing.
#[derive(Clone, Debug)]
pub struct ComputationDiff {
    /// In the module before.
    pub before: Option<ComputationId>,
    /// In the module after.
    pub after: Option<ComputationId>,
    /// Both are there and have different names (if names count).
    pub renamed: bool,
    /// Both are there and run on different execution threads.
    pub rethreaded: bool,
    /// All instructions, as the module after prints them; removed ones stand where they were.
    pub instructions: Vec<InstructionDiff>,
}

impl ComputationDiff {
    /// Whether there is any difference.
    pub fn is_same(&self) -> bool {
        self.before.is_some()
            && self.after.is_some()
            && !self.renamed
            && !self.rethreaded
            && self.instructions.iter().all(|instruction| instruction.kind() == Kind::Same)
    }
}

/// How many things are different.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions that are new.
    pub added: usize,
    /// Instructions that are gone.
    pub removed: usize,
    /// Instructions that are different in more than name and place.
    pub changed: usize,
    /// Instructions that have another name only.
    pub renamed: usize,
    /// Instructions that stand elsewhere.
    pub moved: usize,
    /// Computations that are new; their instructions count as added, too.
    pub computations_added: usize,
    /// Computations that are gone; their instructions count as removed, too.
    pub computations_removed: usize,
    /// Computations that have another name.
    pub computations_renamed: usize,
    /// Attributes of the `HloModule` line, and the module's name.
    pub header: usize,
}

impl Counts {
    fn add(&mut self, kind: Kind) {
        match kind {
            Kind::Same => {}
            Kind::Renamed => self.renamed += 1,
            Kind::Moved => self.moved += 1,
            Kind::Changed => self.changed += 1,
            Kind::Added => self.added += 1,
            Kind::Removed => self.removed += 1,
        }
    }
}

/// What is different between two modules.
pub struct ModuleDiff<'m> {
    before: &'m Module,
    after: &'m Module,
    /// Attributes of the `HloModule` line that are different.
    pub header: Vec<HeaderChange>,
    /// All computations: those of the module after in its order, callees first; removed ones at the end.
    pub computations: Vec<ComputationDiff>,
}

impl<'m> ModuleDiff<'m> {
    /// Compares two modules; both must be finished, as parsed and edited modules are.
    pub fn new(before: &'m Module, after: &'m Module, options: &DiffOptions) -> Self {
        let orders = [Orders::new(before), Orders::new(after)];
        let mut comparer = Comparer::new(before, after, *options);
        let matching = Matching::new(before, after, &orders, &mut comparer);
        let mut computations = Vec::new();
        for (id, _) in orders[1].computations() {
            let counterpart = matching.computation_before(id);
            computations.push(computation_diff(
                counterpart,
                Some(id),
                &orders,
                &matching,
                &mut comparer,
                options,
            ));
        }
        for (id, _) in orders[0].computations() {
            if matching.computation_after(id).is_none() {
                computations.push(computation_diff(
                    Some(id),
                    None,
                    &orders,
                    &matching,
                    &mut comparer,
                    options,
                ));
            }
        }
        let header = header::changes(before, after, options);
        Self { before, after, header, computations }
    }

    /// Whether there is no difference.
    pub fn is_empty(&self) -> bool {
        self.header.is_empty() && self.computations.iter().all(ComputationDiff::is_same)
    }

    /// How many things are different.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { header: self.header.len(), ..Counts::default() };
        for computation in &self.computations {
            counts.computations_added += usize::from(computation.before.is_none());
            counts.computations_removed += usize::from(computation.after.is_none());
            counts.computations_renamed += usize::from(computation.renamed);
            computation.instructions.iter().for_each(|instruction| counts.add(instruction.kind()));
        }
        counts
    }

    /// The module before.
    pub fn before(&self) -> &'m Module {
        self.before
    }

    /// The module after.
    pub fn after(&self) -> &'m Module {
        self.after
    }
}

fn computation_diff(
    before: Option<ComputationId>,
    after: Option<ComputationId>,
    orders: &[Orders; 2],
    matching: &Matching,
    comparer: &mut Comparer<'_>,
    options: &DiffOptions,
) -> ComputationDiff {
    let old = before.map_or(&[][..], |id| orders[0].of(id));
    let new = after.map_or(&[][..], |id| orders[1].of(id));
    // Places of the counterparts; what came from elsewhere has none.
    let mut places = vec![None; new.len()];
    if let (Some(before), Some(after)) = (before, after)
        && orders[0].is_scheduled(before)
        && orders[1].is_scheduled(after)
    {
        for (place, &id) in new.iter().enumerate() {
            places[place] = matching
                .before(id)
                .filter(|&id| comparer.parent_before(id) == before)
                .map(|id| orders[0].place(id));
        }
    }
    let stays = longest_increasing(&places);
    let mut instructions = Vec::with_capacity(new.len());
    let mut old_index = 0;
    // Removed instructions stand before the counterpart of what followed them.
    let flush = |upto: usize, old_index: &mut usize, instructions: &mut Vec<InstructionDiff>| {
        while *old_index < upto {
            let id = old[*old_index];
            if matching.after(id).is_none() {
                instructions.push(InstructionDiff {
                    before: Some(id),
                    after: None,
                    aspects: Aspects::default(),
                    moved: false,
                });
            }
            *old_index += 1;
        }
    };
    for (place, &id) in new.iter().enumerate() {
        let counterpart = matching.before(id);
        let mut moved = places[place].is_some() && !stays[place];
        let mut aspects = Aspects::default();
        if let Some(counterpart) = counterpart {
            aspects = comparer.aspects(counterpart, id, matching);
            if Some(comparer.parent_before(counterpart)) != before {
                moved = true;
            } else if !moved {
                flush(orders[0].place(counterpart), &mut old_index, &mut instructions);
            }
        }
        instructions.push(InstructionDiff { before: counterpart, after: Some(id), aspects, moved });
    }
    flush(old.len(), &mut old_index, &mut instructions);
    let (mut renamed, mut rethreaded) = (false, false);
    if let (Some(before), Some(after)) = (before, after) {
        renamed = options.names && !comparer.same_computation_name(before, after);
        rethreaded = !comparer.same_thread(before, after);
    }
    ComputationDiff { before, after, renamed, rethreaded, instructions }
}
