//! `hlo-check hash` and `hlo-check diff --structural`: modules compared by what they compute, not by how they are
//! written.

use std::collections::HashMap;
use std::io;

use hlo_passes::analysis::CallGraph;
use hlo_passes::hash::ModuleHash;
use hlo_passes::structure::{StructuralHasher, structural_hash};
use hlo_text::ir::{ComputationId, InstructionId};
use hlo_text::{Module, ParseOptions, PrintOptions};

use super::options::{ERROR_FORMAT, Syntax, Words, flag};
use super::{Streams, exit, load};

/// How many differing instructions are shown.
const SHOWN_DIFFERENCES: usize = 10;
/// The longest line of an instruction that is shown in full, in characters.
const SHOWN_COLUMNS: usize = 160;

pub(super) const HASH_SYNTAX: Syntax = Syntax {
    operands: "FILE...",
    words: Words::Files,
    options: &[flag("--computations", "adds the hash of every computation that is used"), ERROR_FORMAT],
    about: "Prints a hash of each module that leaves out names, metadata, ids, the order of independent instructions and\n\
            computations nobody calls; `-` is standard input.",
    notes: "Exit status: 0 fine, 2 wrong usage or unreadable file, 3 not HLO text.",
};

/// Prints the structural hash of each file, or of each computation that is used.
pub(super) fn hash(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let given = match HASH_SYNTAX.read_some(command, args, "file", streams)? {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let mut worst = 0;
    for &path in &given.operands {
        let module = match load::module(path, &ParseOptions::default(), given.error_format(), streams)? {
            Ok(parsed) => parsed.module,
            Err(status) => {
                worst = worst.max(status);
                continue;
            }
        };
        writeln!(streams.out, "{}  {path}", structural_hash(&module))?;
        if given.has("--computations") {
            let mut hasher = StructuralHasher::default();
            hasher.hash_computations(&module);
            for id in used_computations(&module) {
                writeln!(streams.out, "  {}  {}", hasher.computation(id), module.computation_name(id))?;
            }
        }
    }
    Ok(worst)
}

/// Says whether two modules compute the same in the same way, and if not, where they differ.
pub(super) fn compare(
    (left, a): (&str, &Module),
    (right, b): (&str, &Module),
    streams: &mut Streams<'_>,
) -> io::Result<u8> {
    if structural_hash(a) == structural_hash(b) {
        return Ok(0);
    }
    writeln!(streams.out, "--- {left}\n+++ {right}")?;
    describe(a, b, streams)?;
    Ok(exit::CHECK)
}

/// The computations the entry reaches, callees first.
fn used_computations(module: &Module) -> Vec<ComputationId> {
    let mut used = vec![false; module.computation_id_limit()];
    let mut pending = vec![module.entry()];
    while let Some(id) = pending.pop() {
        if std::mem::replace(&mut used[id.index()], true) {
            continue;
        }
        for &instruction in &module.computation(id).instructions {
            module.for_each_called_computation(instruction, |callee| pending.push(callee));
        }
    }
    CallGraph::of(module).post_order().into_iter().filter(|id| used[id.index()]).collect()
}

/// The instructions of one module that the other has no counterpart of, in the order of the computations.
struct Side<'m> {
    module: &'m Module,
    hashes: Vec<(ModuleHash, InstructionId)>,
}

impl<'m> Side<'m> {
    fn new(module: &'m Module) -> Self {
        let mut hasher = StructuralHasher::default();
        hasher.hash_computations(module);
        let hashes = used_computations(module)
            .into_iter()
            .flat_map(|id| &module.computation(id).instructions)
            .map(|&id| (hasher.instruction(id), id));
        Side { module, hashes: hashes.collect() }
    }

    fn counts(&self) -> HashMap<ModuleHash, usize> {
        let mut counts = HashMap::new();
        for (hash, _) in &self.hashes {
            *counts.entry(*hash).or_insert(0) += 1;
        }
        counts
    }

    /// Those that are more often here than `there`. An instruction differs if anything it needs does, so those whose
    /// operands and callees are all matched come first: they are where the difference begins.
    fn unmatched(&self, mut there: HashMap<ModuleHash, usize>) -> Vec<InstructionId> {
        let mut unmatched = vec![false; self.module.instruction_id_limit()];
        let mut found = Vec::new();
        for &(hash, id) in &self.hashes {
            match there.get_mut(&hash) {
                Some(count) if *count > 0 => *count -= 1,
                _ => {
                    unmatched[id.index()] = true;
                    found.push(id);
                }
            }
        }
        let is_first = |&id: &InstructionId| {
            let needs = self.module.operands(id).iter().chain(self.module.control_predecessors(id));
            !needs.into_iter().any(|need| unmatched[need.index()])
        };
        let (mut first, rest): (Vec<_>, Vec<_>) = found.into_iter().partition(is_first);
        first.extend(rest);
        first
    }
}

fn describe(a: &Module, b: &Module, streams: &mut Streams<'_>) -> io::Result<()> {
    let (left, right) = (Side::new(a), Side::new(b));
    let (left_counts, right_counts) = (left.counts(), right.counts());
    let mut silent = true;
    for (sign, side, there) in [('-', &left, right_counts), ('+', &right, left_counts)] {
        let unmatched = side.unmatched(there);
        silent &= unmatched.is_empty();
        for &id in unmatched.iter().take(SHOWN_DIFFERENCES) {
            let instruction = side.module.print_instruction(id, &PrintOptions::default());
            let computation = side.module.computation_name(side.module.instruction(id).parent);
            let shown: String = instruction.trim().chars().take(SHOWN_COLUMNS).collect();
            let dots = if shown.len() < instruction.trim().len() { "..." } else { "" };
            writeln!(streams.out, "{sign} {computation}: {shown}{dots}")?;
        }
        if unmatched.len() > SHOWN_DIFFERENCES {
            writeln!(streams.out, "{sign} and {} more that differ", unmatched.len() - SHOWN_DIFFERENCES)?;
        }
    }
    if silent {
        writeln!(streams.out, "the instructions are the same; the roots or the headers differ")?;
    }
    Ok(())
}
