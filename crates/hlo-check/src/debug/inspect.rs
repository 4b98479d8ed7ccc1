//! Looking at a module: an instruction and what is around it, searches, lists.

use std::collections::BTreeSet;
use std::collections::HashMap;

use hlo_passes::Editor;
use hlo_passes::analysis::CallGraph;
use hlo_text::ir::{ComputationId, InstructionId, Opcode, ShapeId};
use hlo_text::{Fragment, Module, PrintOptions, parse};
use regex::Regex;

use super::remarks::computation_called;
use super::style::{Tint, counted, paint, shorten};

/// How many instructions a search or a list shows.
const SHOWN_INSTRUCTIONS: usize = 50;

/// How many users, operands and steps of a path are shown.
const SHOWN_NEIGHBOURS: usize = 20;

/// The largest neighbourhood that can be asked for: beyond it, `print` shows more.
pub(crate) const MAX_RADIUS: usize = 16;

/// An instruction in one line.
fn line(module: &Module, id: InstructionId) -> String {
    let root = if module.computation(module.instruction(id).parent).root == id { "ROOT " } else { "" };
    format!("{root}{}", shorten(module.print_instruction(id, &PrintOptions::default()).trim()))
}

/// An instruction: itself, its shape, its operands and users up to `radius` steps away, and the way to the root.
pub(crate) fn show(module: &Module, id: InstructionId, radius: usize, color: bool) -> String {
    // The editor knows users; nothing is edited.
    let mut copy = module.clone();
    let edit = Editor::new(&mut copy);
    let heading = |text: &str| paint(color, Tint::Strong, text);
    let parent = module.instruction(id).parent;
    let mut out = format!("{}\n", line(module, id));
    out.push_str(&format!("{} {}\n", heading("computation:"), module.computation_name(parent)));
    let shape = module.instruction(id).shape;
    out.push_str(&format!(
        "{} {}{}\n",
        heading("shape:"),
        module.shape_text(shape, true),
        size_of(module, shape)
    ));
    let mut calls = Vec::new();
    module.for_each_called_computation(id, |callee| calls.push(module.computation_name(callee)));
    if !calls.is_empty() {
        out.push_str(&format!("{} {}\n", heading("calls:"), calls.join(", ")));
    }
    around(&mut out, &edit, id, radius, &heading("operands:"), |edit, at| edit.operands(at));
    around(&mut out, &edit, id, radius, &heading("users:"), |edit, at| edit.users(at));
    out.push_str(&format!("{} {}\n", heading("to the root:"), path_to_root(&edit, id)));
    out
}

/// The bytes of an array.
fn size_of(module: &Module, shape: ShapeId) -> String {
    let Some(array) = module.shape(shape).as_array() else { return String::new() };
    let bytes = array.element_count().and_then(|count| {
        count.checked_mul(i64::try_from(array.element_type.storage_bytes()).unwrap_or(i64::MAX))
    });
    bytes.map_or_else(String::new, |bytes| format!(" ({bytes} bytes)"))
}

/// What is `radius` steps away at most, indented by distance.
fn around(
    out: &mut String,
    edit: &Editor<'_>,
    id: InstructionId,
    radius: usize,
    heading: &str,
    next: for<'e> fn(&'e Editor<'_>, InstructionId) -> &'e [InstructionId],
) {
    if next(edit, id).is_empty() {
        out.push_str(&format!("{heading} none\n"));
        return;
    }
    out.push_str(&format!("{heading}\n"));
    let mut seen = BTreeSet::from([id]);
    let mut pending: Vec<(InstructionId, usize)> =
        next(edit, id).iter().rev().map(|&neighbour| (neighbour, 1)).collect();
    let (mut shown, mut hidden) = (0, 0);
    while let Some((at, distance)) = pending.pop() {
        if !seen.insert(at) {
            continue;
        }
        if shown < SHOWN_NEIGHBOURS {
            out.push_str(&format!("{}{}\n", "  ".repeat(distance), line(edit, at)));
            shown += 1;
        } else {
            hidden += 1;
        }
        if distance < radius {
            pending.extend(next(edit, at).iter().rev().map(|&neighbour| (neighbour, distance + 1)));
        }
    }
    if hidden > 0 {
        out.push_str(&format!("  ... and {}\n", counted(hidden, "more instruction")));
    }
}

/// The shortest way through users to the root of the computation, and from there through callers to the entry's.
fn path_to_root(edit: &Editor<'_>, id: InstructionId) -> String {
    let graph = CallGraph::of(edit);
    let mut steps = vec![edit.name_of(id).to_owned()];
    let mut at = id;
    let mut visited = BTreeSet::new();
    loop {
        let computation = edit.instruction(at).parent;
        let root = edit.computation(computation).root;
        match way(edit, at, root) {
            Some(way) => steps.extend(way.iter().map(|&id| edit.name_of(id).to_owned())),
            None => {
                steps.push("(the root doesn't need it)".to_owned());
                break;
            }
        }
        if computation == edit.entry() || !visited.insert(computation) {
            break;
        }
        let Some(&caller) = graph.callers(computation).first() else {
            steps.push(format!("(nobody calls {})", edit.computation_name(computation)));
            break;
        };
        steps.push(format!(
            "{} in {}",
            edit.name_of(caller),
            edit.computation_name(edit.instruction(caller).parent)
        ));
        at = caller;
    }
    if steps.len() > SHOWN_NEIGHBOURS {
        let hidden = steps.len() - SHOWN_NEIGHBOURS;
        let tail = steps.split_off(steps.len() - SHOWN_NEIGHBOURS / 2);
        steps.truncate(SHOWN_NEIGHBOURS / 2);
        steps.push(format!("({hidden} more)"));
        steps.extend(tail);
    }
    steps.join(" -> ")
}

/// The shortest way from `from`, which is left out, to `root`.
fn way(edit: &Editor<'_>, from: InstructionId, root: InstructionId) -> Option<Vec<InstructionId>> {
    let mut before: HashMap<InstructionId, InstructionId> = HashMap::new();
    let mut level = vec![from];
    while !level.is_empty() && from != root && !before.contains_key(&root) {
        let mut next = Vec::new();
        for &at in &level {
            for &user in edit.users(at) {
                if user != from && !before.contains_key(&user) {
                    before.insert(user, at);
                    next.push(user);
                }
            }
        }
        level = next;
    }
    let mut way = Vec::new();
    let mut at = root;
    while at != from {
        way.push(at);
        at = *before.get(&at)?;
    }
    way.reverse();
    Some(way)
}

/// What a search is for.
enum Wanted {
    Opcode(Opcode),
    /// A shape without layout, as it prints.
    Shape(String),
    Text(Regex),
}

impl Wanted {
    fn of(text: &str) -> Result<Self, String> {
        if let Some(opcode) = Opcode::from_name(text) {
            return Ok(Self::Opcode(opcode));
        }
        if let Ok(shape) = parse::<Fragment<ShapeId>>(text) {
            return Ok(Self::Shape(shape.module.shape_text(shape.value, false)));
        }
        match Regex::new(text) {
            Ok(regex) => Ok(Self::Text(regex)),
            Err(error) => {
                let reason = error.to_string();
                let reason = reason.lines().last().unwrap_or_default();
                Err(format!("`{text}` is no opcode, no shape and no regular expression: {reason}"))
            }
        }
    }

    fn matches(&self, module: &Module, id: InstructionId) -> bool {
        let instruction = module.instruction(id);
        match self {
            Self::Opcode(opcode) => instruction.opcode == *opcode,
            Self::Shape(shape) => module.shape_text(instruction.shape, false) == *shape,
            Self::Text(regex) => {
                regex.is_match(module.print_instruction(id, &PrintOptions::default()).trim())
            }
        }
    }
}

/// The instructions of an opcode, of a shape, or with a text.
///
/// # Errors
/// What is wanted is nothing of the kind.
pub(crate) fn find(module: &Module, wanted: &str) -> Result<String, String> {
    let wanted = Wanted::of(wanted)?;
    let (mut out, mut count) = (String::new(), 0);
    for &computation in module.computations() {
        let mut is_first = true;
        for &id in &module.computation(computation).instructions {
            if !wanted.matches(module, id) {
                continue;
            }
            count += 1;
            if count <= SHOWN_INSTRUCTIONS {
                if is_first {
                    out.push_str(&format!("{}:\n", module.computation_name(computation)));
                    is_first = false;
                }
                out.push_str(&format!("  {}\n", line(module, id)));
            }
        }
    }
    if count > SHOWN_INSTRUCTIONS {
        out.push_str(&format!("... and {} more\n", count - SHOWN_INSTRUCTIONS));
    }
    out.push_str(&format!("{}\n", counted(count, "instruction")));
    Ok(out)
}

/// The computations, or those whose names have `filter` in them; the instructions of one that is called just that.
///
/// # Errors
/// There is none.
pub(crate) fn list(module: &Module, filter: &str) -> Result<String, String> {
    let filter = filter.trim_start_matches('%');
    if let Some(id) = computation_called(module, filter) {
        let instructions = &module.computation(id).instructions;
        let shown = instructions.iter().take(SHOWN_INSTRUCTIONS);
        let mut out: String = shown.map(|&id| format!("  {}\n", line(module, id))).collect();
        if instructions.len() > SHOWN_INSTRUCTIONS {
            let hidden = instructions.len() - SHOWN_INSTRUCTIONS;
            out.push_str(&format!("... and {hidden} more (`print {filter}`)\n"));
        }
        return Ok(out);
    }
    let lines = module.computations().iter().filter(|&&id| module.computation_name(id).contains(filter));
    let out: String = lines.map(|&id| summary(module, id)).collect();
    if out.is_empty() {
        return Err(format!("there is no computation with `{filter}` in its name"));
    }
    Ok(out)
}

fn summary(module: &Module, id: ComputationId) -> String {
    let entry = if id == module.entry() { "ENTRY " } else { "" };
    let computation = module.computation(id);
    let count = counted(computation.instructions.len(), "instruction");
    let result = module.shape_text(module.instruction(computation.root).shape, false);
    format!("  {entry}{}: {count}, gives {}\n", module.computation_name(id), shorten(&result))
}
