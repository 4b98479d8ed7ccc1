//! Counts of what a module has.

use std::collections::BTreeMap;

use hlo_passes::analysis::is_collective;
use hlo_text::Module;
use hlo_text::ir::{AttrKey, Opcode};

use super::style::counted;

/// Opcodes, targets of custom calls and collectives, the most frequent first.
pub(crate) fn text(module: &Module) -> String {
    let mut opcodes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut targets: BTreeMap<String, usize> = BTreeMap::new();
    let mut collectives = 0;
    for &computation in module.computations() {
        for &id in &module.computation(computation).instructions {
            let opcode = module.instruction(id).opcode;
            *opcodes.entry(opcode.name()).or_default() += 1;
            collectives += usize::from(is_collective(opcode));
            if opcode == Opcode::CustomCall {
                let target = module.string(id, AttrKey::CustomCallTarget).unwrap_or_default();
                *targets.entry(String::from_utf8_lossy(target).into_owned()).or_default() += 1;
            }
        }
    }
    let computations = counted(module.computations().len(), "computation");
    let instructions = counted(module.instruction_count(), "instruction");
    let mut out = format!("{computations}, {instructions}, {}\n", counted(collectives, "collective"));
    let mut table = |heading: &str, counts: Vec<(&str, usize)>| {
        if counts.is_empty() {
            return;
        }
        out.push_str(&format!("{heading}:\n"));
        let mut counts = counts;
        counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        for (name, count) in counts {
            out.push_str(&format!("{count:>7} {name}\n"));
        }
    };
    table("opcodes", opcodes.into_iter().collect());
    table("custom calls", targets.iter().map(|(name, count)| (name.as_str(), *count)).collect());
    out
}
