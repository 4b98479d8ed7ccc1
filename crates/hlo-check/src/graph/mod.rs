//! Modules as graphs: DOT text for Graphviz, or a page for browsers that needs nothing else.
//!
//! ```
//! use hlo_check::graph::{Format, Graph, GraphOptions};
//! # fn main() -> Result<(), Vec<hlo_text::diagnostic::Diagnostic>> {
//! let module = hlo_text::parse("HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n  ROOT n = f32[8] negate(p)\n}")?;
//! let graph = Graph::of("m.hlo", &module, &GraphOptions::default()).expect("all of it is shown");
//! assert!(graph.render(Format::Dot).contains("label=\"%n\\nnegate f32[8]\""));
//! # Ok(())
//! # }
//! ```

mod dot;
mod html;
mod select;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use hlo_passes::analysis::{CallGraph, PostOrder};
use hlo_text::ir::{ComputationId, InstructionId};
use hlo_text::{Module, PrintOptions};

use crate::diff::{DiffOptions, Kind, ModuleDiff};

/// How far around an instruction is shown unless another distance is asked for.
pub const DEFAULT_RADIUS: usize = 3;

/// What a graph is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For Graphviz.
    Dot,
    /// A page with everything in it.
    Html,
}

/// What of a module is shown.
#[derive(Clone, Debug, Default)]
pub struct GraphOptions {
    /// Only what is around the instruction of this name, and how many steps; `None`: everything.
    pub around: Option<(String, usize)>,
}

/// Why there is no graph: no instruction has the name asked for, and what similar name there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchInstruction {
    /// The name asked for.
    pub name: String,
    /// One that is almost the same.
    pub close: Option<String>,
}

/// An instruction.
#[derive(Clone, Debug)]
struct Node {
    id: InstructionId,
    /// What became of it, if there are two modules.
    change: Option<Kind>,
    /// The node of the other module that is the same thing.
    counterpart: Option<usize>,
}

/// A computation with those of its instructions that are shown.
#[derive(Clone, Debug)]
struct Cluster {
    id: ComputationId,
    nodes: Vec<Node>,
    /// How many instructions it has beside those.
    hidden: usize,
}

/// A module with what is shown of it.
struct Side<'m> {
    title: String,
    module: &'m Module,
    /// The entry first, then callers before those they call.
    clusters: Vec<Cluster>,
    /// By instruction: the number of its node.
    numbers: HashMap<InstructionId, usize>,
}

/// One module, or two beside each other.
pub struct Graph<'m> {
    sides: Vec<Side<'m>>,
    /// Where what was asked for is shown, if a module doesn't have it.
    note: Option<String>,
}

impl<'m> Graph<'m> {
    /// The graph of a module; `title` is what the reader calls it, its file for example.
    ///
    /// # Errors
    /// The options name an instruction that isn't there.
    pub fn of(title: &str, module: &'m Module, options: &GraphOptions) -> Result<Self, NoSuchInstruction> {
        let around = around(module, options)?;
        if let (None, Some((name, _))) = (&around, &options.around) {
            return Err(no_such_instruction(name, [module]));
        }
        Ok(Self { sides: vec![Side::new(title, module, around.as_deref())], note: None })
    }

    /// The graphs of two modules with what is different. An instruction that is asked for may be in either.
    ///
    /// # Errors
    /// The options name an instruction that is in neither.
    pub fn of_both(
        before: (&str, &'m Module),
        after: (&str, &'m Module),
        options: &GraphOptions,
    ) -> Result<Self, NoSuchInstruction> {
        let diff = ModuleDiff::new(before.1, after.1, &DiffOptions::default());
        let mut note = None;
        let mut shown = [around(before.1, options)?, around(after.1, options)?];
        if let Some((name, radius)) = &options.around {
            if shown.iter().all(Option::is_none) {
                return Err(no_such_instruction(name, [before.1, after.1]));
            }
            let modules = [(before.0, before.1), (after.0, after.1)];
            for (side, other) in [(0, 1), (1, 0)] {
                if shown[side].is_none()
                    && let Some(start) = select::find(modules[other].1, name)
                {
                    let counterparts = counterparts(&diff, other);
                    let place = elsewhere(start, modules[other], modules[side], &counterparts, *radius);
                    shown[side] = Some(place.shown);
                    note = place.note;
                }
            }
        }
        let mut sides = vec![
            Side::new(before.0, before.1, shown[0].as_deref()),
            Side::new(after.0, after.1, shown[1].as_deref()),
        ];
        mark(&mut sides, &diff);
        Ok(Self { sides, note })
    }

    /// What is shown in the place of an instruction that one of the modules doesn't have, if one was asked for.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// How many instructions are shown, in all modules together.
    pub fn instruction_count(&self) -> usize {
        self.sides.iter().map(|side| side.numbers.len()).sum()
    }

    /// The graph as text, ending with a line feed; the same for the same modules.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Dot => dot::render(self),
            Format::Html => html::render(self),
        }
    }
}

/// The instructions around the one asked for, if one is and it is there.
fn around(module: &Module, options: &GraphOptions) -> Result<Option<Vec<InstructionId>>, NoSuchInstruction> {
    let Some((name, radius)) = &options.around else { return Ok(None) };
    Ok(select::find(module, name).map(|id| select::around(module, id, *radius)))
}

/// By instruction of one module (0: before): the same thing in the other.
fn counterparts(diff: &ModuleDiff<'_>, side: usize) -> HashMap<InstructionId, InstructionId> {
    let pairs = diff.computations.iter().flat_map(|computation| &computation.instructions);
    let pairs = pairs.filter_map(|pair| Some((pair.before?, pair.after?)));
    pairs.map(|(before, after)| if side == 0 { (before, after) } else { (after, before) }).collect()
}

/// What a module shows of an instruction that only the other one has by name.
struct Elsewhere {
    shown: Vec<InstructionId>,
    note: Option<String>,
}

/// What module `to` shows of `start`, an instruction of `from`: what is around its counterpart; if it has none, what is
/// around the counterparts of its operands and users, among which is what stands in its place.
fn elsewhere(
    start: InstructionId,
    from: (&str, &Module),
    to: (&str, &Module),
    counterparts: &HashMap<InstructionId, InstructionId>,
    radius: usize,
) -> Elsewhere {
    if let Some(&counterpart) = counterparts.get(&start) {
        return Elsewhere { shown: select::around(to.1, counterpart, radius), note: None };
    }
    let same = |ids: Vec<InstructionId>| -> Vec<InstructionId> {
        ids.iter().filter_map(|id| counterparts.get(id).copied()).collect()
    };
    let nearest = same(select::near(from.1, &[start], 1));
    // If all that is next to it is gone as well, what is further away will do.
    let starts = if nearest.is_empty() { same(select::near(from.1, &[start], radius)) } else { nearest };
    let shown = select::near(to.1, &starts, radius.saturating_sub(1).max(1));
    let name = from.1.name_of(start);
    let missing = format!("%{name} is not in {}", to.0);
    let replacements = replacements(start, from.1, to.1, counterparts);
    let note = match &replacements[..] {
        _ if shown.is_empty() => format!("{missing}, and nothing near it either"),
        [] => format!("{missing}; what is left of its neighbours is shown there"),
        names => format!("{missing}; its users have {} there", names.join(", ")),
    };
    Elsewhere { shown, note: Some(note) }
}

/// What users of `start` have in its place in the other module, with `%`, each once.
fn replacements(
    start: InstructionId,
    from: &Module,
    to: &Module,
    counterparts: &HashMap<InstructionId, InstructionId>,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for user in from.live_instructions(from.instruction(start).parent) {
        let Some(&counterpart) = counterparts.get(&user) else { continue };
        let (old, new) = (from.operands(user), to.operands(counterpart));
        for (&operand, &now) in old.iter().zip(new) {
            if operand == start && old.len() == new.len() {
                names.push(format!("%{}", to.name_of(now)));
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

fn no_such_instruction<const N: usize>(name: &str, modules: [&Module; N]) -> NoSuchInstruction {
    let names = modules.iter().flat_map(|module| {
        let instructions = module.computations().iter().flat_map(|&id| module.live_instructions(id));
        instructions.map(|id| module.name_of(id))
    });
    let close = hlo_text::diagnostic::did_you_mean(name, names).map(str::to_owned);
    NoSuchInstruction { name: name.to_owned(), close }
}

/// Notes what became of the nodes of two modules.
fn mark(sides: &mut [Side<'_>], diff: &ModuleDiff<'_>) {
    let [before, after] = sides else { return };
    let mut changes: [HashMap<InstructionId, (Kind, Option<usize>)>; 2] = Default::default();
    for pair in diff.computations.iter().flat_map(|computation| &computation.instructions) {
        let kind = pair.kind();
        let old = pair.before.and_then(|id| before.numbers.get(&id)).copied();
        let new = pair.after.and_then(|id| after.numbers.get(&id)).copied();
        pair.before.and_then(|id| changes[0].insert(id, (kind, new)));
        pair.after.and_then(|id| changes[1].insert(id, (kind, old)));
    }
    for (side, changes) in [before, after].into_iter().zip(&changes) {
        for node in side.clusters.iter_mut().flat_map(|cluster| &mut cluster.nodes) {
            if let Some(&(kind, counterpart)) = changes.get(&node.id) {
                node.change = Some(kind);
                node.counterpart = counterpart;
            }
        }
    }
}

impl<'m> Side<'m> {
    fn new(title: &str, module: &'m Module, shown: Option<&[InstructionId]>) -> Self {
        let mut wanted = vec![shown.is_none(); module.instruction_id_limit()];
        for id in shown.unwrap_or_default() {
            wanted[id.index()] = true;
        }
        let mut computations = CallGraph::of(module).post_order();
        computations.reverse();
        computations.sort_by_key(|&id| id != module.entry());
        let mut order = PostOrder::default();
        let mut side =
            Self { title: title.to_owned(), module, clusters: Vec::new(), numbers: HashMap::new() };
        for id in computations {
            let list = match module.header.is_scheduled {
                true => module.live_instructions(id).collect(),
                false => order.of(module, id),
            };
            let all = list.len();
            let nodes: Vec<Node> = list
                .into_iter()
                .filter(|id| wanted[id.index()])
                .map(|id| Node { id, change: None, counterpart: None })
                .collect();
            if nodes.is_empty() {
                continue;
            }
            for node in &nodes {
                let number = side.numbers.len();
                side.numbers.insert(node.id, number);
            }
            side.clusters.push(Cluster { id, hidden: all - nodes.len(), nodes });
        }
        side
    }

    /// What a reader sees of an instruction first: `negate f32[8]`.
    fn summary(&self, id: InstructionId) -> String {
        let instruction = self.module.instruction(id);
        format!("{} {}", instruction.opcode, shortened(&self.module.shape_text(instruction.shape, false)))
    }

    /// The whole instruction.
    fn text(&self, id: InstructionId) -> String {
        let root = if self.module.is_root(id) { "ROOT " } else { "" };
        format!("{root}{}", self.module.print_instruction(id, &PrintOptions::default()))
    }
}

/// Longest shape in a node, in characters.
const MAX_SHAPE: usize = 60;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHAPE) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// What became of an instruction, in one word.
fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Same => "same",
        Kind::Renamed => "renamed",
        Kind::Moved => "moved",
        Kind::Changed => "changed",
        Kind::Added => "added",
        Kind::Removed => "removed",
    }
}
