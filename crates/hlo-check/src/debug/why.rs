//! Why a pass leaves instructions alone.

use std::collections::{BTreeMap, HashMap, VecDeque};

use hlo_passes::Editor;
use hlo_passes::pass::{Remark, RemarkKind};
use hlo_passes::registry::PassInfo;
use hlo_text::Module;
use hlo_text::ir::{InstructionId, Opcode};

use super::engine::Run;
use super::remarks::{excerpt, line, lines};
use super::source::Source;
use super::style::counted;

/// How many instructions are shown for one reason.
const SHOWN_PER_REASON: usize = 3;

/// How many reasons are shown.
const SHOWN_REASONS: usize = 20;

/// The answer to "why doesn't this pass fire?", for the module before the pass and its run.
///
/// With an instruction, what was said of it and then of those around it, near ones first. Without, reasons that few
/// instructions share come first: what stops a single instruction is nearer to a match than what rules out many.
pub(crate) fn explain(
    info: &'static PassInfo,
    module: &Module,
    source: &Source,
    run: &Run,
    instruction: Option<InstructionId>,
) -> String {
    let mut out = String::new();
    let missed: Vec<&Remark> = run.remarks.iter().filter(|it| it.kind == RemarkKind::Missed).collect();
    match instruction {
        Some(id) => about_one(&mut out, info, module, source, run, id),
        None => {
            if run.changed {
                let rewrites = counted(run.rewrites as usize, "rewrite");
                out.push_str(&format!("{} fires here: {rewrites}\n", info.key));
                out.push_str(&lines(run.applied(), false, SHOWN_REASONS, ""));
            } else {
                out.push_str(&format!("{} changes nothing here\n", info.key));
            }
            if missed.is_empty() && !run.changed {
                out.push_str("no instruction came near to what it rewrites\n");
                out.push_str(&looks_at(info, module, run));
            }
            by_reason(&mut out, module, source, &missed);
        }
    }
    out
}

/// The remarks, those with the rarest reasons first.
fn by_reason(out: &mut String, module: &Module, source: &Source, missed: &[&Remark]) {
    // Reasons that differ only in what they quote are one.
    let mut groups: Vec<(String, Vec<&Remark>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for &remark in missed {
        let reason: String = remark.text.split('`').step_by(2).collect::<Vec<_>>().join("`_`");
        let place = *places.entry(reason.clone()).or_insert_with(|| {
            groups.push((reason, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(remark);
    }
    groups.sort_by_key(|(_, remarks)| remarks.len());
    let index = NameIndex::new(module);
    for (_, remarks) in groups.iter().take(SHOWN_REASONS) {
        for remark in remarks.iter().take(SHOWN_PER_REASON) {
            show(out, module, source, remark, index.get(&remark.place.instruction));
        }
        if remarks.len() > SHOWN_PER_REASON {
            out.push_str(&format!(
                "  ... and {} for the same reason\n",
                counted(remarks.len() - SHOWN_PER_REASON, "more instruction")
            ));
        }
    }
    if groups.len() > SHOWN_REASONS {
        out.push_str(&format!("... and {}\n", counted(groups.len() - SHOWN_REASONS, "more reason")));
    }
}

fn show(out: &mut String, module: &Module, source: &Source, remark: &Remark, id: Option<InstructionId>) {
    out.push_str(&line(remark, false));
    if let Some(id) = id {
        out.push_str(&excerpt(module, source, id, &remark.text));
    }
}

/// What was said of `id`; if nothing was, what the pass is about, and what was said of its neighbours.
fn about_one(
    out: &mut String,
    info: &'static PassInfo,
    module: &Module,
    source: &Source,
    run: &Run,
    id: InstructionId,
) {
    let name = module.name_of(id);
    let own: Vec<&Remark> = run.remarks.iter().filter(|it| it.place.instruction == name).collect();
    if !own.is_empty() {
        let order = |remark: &&Remark| remark.kind != RemarkKind::Missed;
        let (missed, others): (Vec<_>, Vec<_>) = own.into_iter().partition(|remark| !order(remark));
        for remark in missed.into_iter().chain(others) {
            show(out, module, source, remark, Some(id));
        }
        return;
    }
    let is_there = id.index() < run.module.instruction_id_limit() && !run.module.is_removed(id);
    let opcode = module.instruction(id).opcode;
    if is_there {
        out.push_str(&format!("{} says nothing of `{name}` ({opcode})\n", info.key));
    } else {
        out.push_str(&format!("{} removes `{name}` ({opcode}) without saying why\n", info.key));
    }
    out.push_str(&excerpt(module, source, id, ""));
    out.push_str(&looks_at(info, module, run));
    let distances = distances(module, id);
    let index = NameIndex::new(module);
    let mut near: Vec<(usize, &Remark, InstructionId)> = run
        .remarks
        .iter()
        .filter_map(|remark| {
            let other = index.get(&remark.place.instruction)?;
            Some((*distances.get(&other)?, remark, other))
        })
        .collect();
    near.sort_by_key(|(distance, ..)| *distance);
    if !near.is_empty() {
        out.push_str("around it:\n");
    }
    for (distance, remark, other) in near.iter().take(SHOWN_PER_REASON) {
        out.push_str(&format!("  {} away", counted(*distance, "step")));
        show(out, module, source, remark, Some(*other));
    }
}

/// How far around an instruction others are looked at.
const NEIGHBOURHOOD: usize = 4;

/// How many instructions a neighbourhood may have; what is called by thousands has no more of a neighbourhood than this.
const MAX_NEIGHBOURS: usize = 10_000;

/// The instructions near `id` through operands and users, with their distances.
fn distances(module: &Module, id: InstructionId) -> BTreeMap<InstructionId, usize> {
    let mut module = module.clone();
    let edit = Editor::new(&mut module);
    let mut found = BTreeMap::from([(id, 0)]);
    let mut pending = VecDeque::from([(id, 0)]);
    while let Some((at, distance)) = pending.pop_front() {
        if distance == NEIGHBOURHOOD || found.len() > MAX_NEIGHBOURS {
            continue;
        }
        for &next in edit.operands(at).iter().chain(edit.users(at)) {
            if let std::collections::btree_map::Entry::Vacant(entry) = found.entry(next) {
                entry.insert(distance + 1);
                pending.push_back((next, distance + 1));
            }
        }
    }
    found
}

/// Instructions by name, for many look-ups.
struct NameIndex<'m>(HashMap<&'m str, InstructionId>);

impl<'m> NameIndex<'m> {
    fn new(module: &'m Module) -> Self {
        let all = module.computations().iter().flat_map(|&id| &module.computation(id).instructions);
        Self(all.map(|&id| (module.name_of(id), id)).collect())
    }

    fn get(&self, name: &str) -> Option<InstructionId> {
        self.0.get(name).copied()
    }
}

/// Which instructions the pass is about: what it does, and the opcodes of those it has said something of in this
/// module.
fn looks_at(info: &'static PassInfo, module: &Module, run: &Run) -> String {
    let mut out = format!("{}: {}\n", info.key, info.doc);
    let index = NameIndex::new(module);
    let mut said: Vec<Opcode> = run
        .remarks
        .iter()
        .filter_map(|remark| index.get(&remark.place.instruction))
        .map(|id| module.instruction(id).opcode)
        .collect();
    said.sort_unstable();
    said.dedup();
    if !said.is_empty() {
        let names: Vec<&str> = said.iter().map(|opcode| opcode.name()).collect();
        out.push_str(&format!("here it said something of {}\n", names.join(", ")));
    }
    out
}
