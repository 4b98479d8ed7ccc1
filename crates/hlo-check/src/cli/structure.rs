//! `hlo-check hash` and `hlo-check diff`: modules compared by what they compute, not by how they are
//! written.

use std::collections::HashMap;
use std::io;

use hlo_passes::analysis::CallGraph;
use hlo_passes::hash::ModuleHash;
use hlo_passes::structure::{StructuralHasher, structural_hash};
use hlo_text::diagnostic::Report;
use hlo_text::ir::{ComputationId, InstructionId};
use hlo_text::{Module, ParseOptions, PrintOptions};

use super::{Streams, exit};
use crate::input;

/// How many differing instructions are shown.
const SHOWN_DIFFERENCES: usize = 10;
/// The longest line of an instruction that is shown in full, in characters.
const SHOWN_COLUMNS: usize = 160;

/// Prints the structural hash of each file, or of each computation that is used.
pub(super) fn hash(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    if super::asks_for_help(args) {
        writeln!(streams.out, "{}", usage_of_hash(command))?;
        return Ok(0);
    }
    let mut by_computation = false;
    let mut paths = Vec::new();
    for arg in args {
        match arg.as_str() {
            "--computations" => by_computation = true,
            option if option.starts_with('-') && option != "-" => {
                return misused(&usage_of_hash(command), streams);
            }
            path => paths.push(path),
        }
    }
    if paths.is_empty() {
        return misused(&usage_of_hash(command), streams);
    }
    let mut worst = 0;
    for path in paths {
        let module = match parse(path, streams)? {
            Ok(module) => module,
            Err(status) => {
                worst = worst.max(status);
                continue;
            }
        };
        writeln!(streams.out, "{}  {path}", structural_hash(&module))?;
        if by_computation {
            let mut hasher = StructuralHasher::default();
            hasher.hash_computations(&module);
            for id in used_computations(&module) {
                writeln!(streams.out, "  {}  {}", hasher.computation(id), module.computation_name(id))?;
            }
        }
    }
    Ok(worst)
}

fn misused(usage: &str, streams: &mut Streams<'_>) -> io::Result<u8> {
    writeln!(streams.err, "{usage}")?;
    Ok(exit::USAGE)
}

fn usage_of_hash(command: &str) -> String {
    format!(
        "usage: {command} [--computations] FILE|-...\n\n\
         Prints a hash of each module that leaves out names, metadata, ids, the order of independent instructions and\n\
         computations nobody calls. --computations adds that of every computation."
    )
}

/// Says whether two modules compute the same in the same way, and if not, where they differ.
pub(super) fn diff(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    if super::asks_for_help(args) {
        writeln!(streams.out, "{}", usage_of_diff(command))?;
        return Ok(0);
    }
    let paths: Vec<&String> = args.iter().filter(|arg| *arg != "--structural").collect();
    let is_option = |path: &String| path.starts_with('-') && path != "-";
    let [left, right] = paths[..] else { return misused(&usage_of_diff(command), streams) };
    if is_option(left) || is_option(right) {
        return misused(&usage_of_diff(command), streams);
    }
    let a = match parse(left, streams)? {
        Ok(module) => module,
        Err(status) => return Ok(status),
    };
    let b = match parse(right, streams)? {
        Ok(module) => module,
        Err(status) => return Ok(status),
    };
    if structural_hash(&a) == structural_hash(&b) {
        return Ok(0);
    }
    writeln!(streams.out, "--- {left}\n+++ {right}")?;
    describe(&a, &b, streams)?;
    Ok(exit::CHECK)
}

fn usage_of_diff(command: &str) -> String {
    format!(
        "usage: {command} [--structural] A B\n\n\
         Compares two modules; names, metadata, ids, the order of independent instructions and computations nobody\n\
         calls don't count (--structural, the only way there is). Exit status: 0 equal, 1 different, 2 unreadable,\n\
         3 not HLO text."
    )
}

/// Reads a module; the exit status if it can't be, which has been explained then.
fn parse(path: &str, streams: &mut Streams<'_>) -> io::Result<Result<Module, u8>> {
    let name = if path == "-" { "<stdin>" } else { path };
    let bytes = match streams.read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(streams.err, "error: can't read {name}: {error}")?;
            return Ok(Err(exit::USAGE));
        }
    };
    match input::read(&bytes, None, &ParseOptions::default()) {
        Ok(input) => Ok(Ok(input.module)),
        Err(refused) => {
            for diagnostic in &refused.diagnostics {
                let report = Report::new(diagnostic, refused.source(name));
                streams.err.write_all(report.render(false).as_bytes())?;
            }
            Ok(Err(exit::PARSE))
        }
    }
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
