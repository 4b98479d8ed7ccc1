//! What passes say of instructions, as it is shown.

use hlo_passes::pass::Remark;
use hlo_text::Module;
use hlo_text::PrintOptions;
use hlo_text::diagnostic::did_you_mean;
use hlo_text::ir::{AttrKey, ComputationId, InstructionId, Opcode};

use super::asked::Asked;
use super::source::Source;
use super::style::shorten;

/// A remark in one line.
pub(crate) fn line(remark: &Remark, with_pass: bool) -> String {
    let pass = if with_pass { format!("{}: ", remark.pass) } else { String::new() };
    let (instruction, computation) = (&remark.place.instruction, &remark.place.computation);
    format!("  {pass}{}: `{instruction}` in `{computation}`: {}\n", remark.kind.name(), remark.text)
}

/// Up to `limit` remarks, a line each.
pub(crate) fn lines<'r>(
    remarks: impl Iterator<Item = &'r Remark>,
    with_pass: bool,
    limit: usize,
    more: &str,
) -> String {
    let (mut out, mut hidden) = (String::new(), 0);
    for (index, remark) in remarks.enumerate() {
        if index < limit {
            out.push_str(&line(remark, with_pass));
        } else {
            hidden += 1;
        }
    }
    if hidden > 0 {
        out.push_str(&format!("  ... and {hidden} more{more}\n"));
    }
    out
}

/// The instruction called `name`; computations may be named before it (`computation/instruction`).
pub(crate) fn instruction_called(module: &Module, name: &str) -> Option<InstructionId> {
    let name = name.trim_start_matches('%');
    let all = module.computations().iter().flat_map(|&id| &module.computation(id).instructions);
    all.copied().find(|&id| module.name_of(id) == name)
}

/// What `print` writes before the entry computation, and what it may be called by.
const ENTRY: &str = "ENTRY";

/// The computation called `name`; `ENTRY` for the entry computation.
pub(crate) fn computation_called(module: &Module, name: &str) -> Option<ComputationId> {
    let name = name.trim_start_matches('%');
    let named = module.computations().iter().copied().find(|&id| module.computation_name(id) == name);
    named.or_else(|| (name == ENTRY).then(|| module.entry()))
}

/// An instruction as it is shown: with the number of its line, and with the part underlined that `words` are about.
///
/// The part is what `words` quote, if the instruction has it, otherwise the opcode.
pub(crate) fn excerpt(module: &Module, source: &Source, id: InstructionId, words: &str) -> String {
    let text = shorten(module.print_instruction(id, &PrintOptions::default()).trim());
    let number = source.map.instruction(id).map(|span| source.line(span.start).to_string());
    let margin = number.as_deref().unwrap_or("new");
    let opcode = module.instruction(id).opcode.name();
    let quoted = words.split('`').skip(1).step_by(2);
    let name = module.name_of(id);
    let part = quoted.filter(|part| *part != name && !part.is_empty()).find_map(|part| word_at(&text, part));
    let (start, length) = part
        .or_else(|| text.find(&format!(" {opcode}(")).map(|at| (at + 1, opcode.len())))
        .unwrap_or((0, text.len()));
    let (before, marked) = (text.get(..start).unwrap_or_default(), text.get(start..start + length));
    let blanks = " ".repeat(before.chars().count());
    let marks = "^".repeat(marked.map_or(1, |marked| marked.chars().count().max(1)));
    let gap = " ".repeat(margin.len());
    format!("    {margin} | {text}\n    {gap} | {blanks}{marks}\n")
}

/// Where `part` stands in `text` as whole words, and its length.
fn word_at(text: &str, part: &str) -> Option<(usize, usize)> {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    text.match_indices(part).map(|(at, _)| at).find_map(|at| {
        let before = text.get(..at)?.chars().next_back();
        let after = text.get(at + part.len()..)?.chars().next();
        let alone = !before.is_some_and(inside) && !after.is_some_and(inside);
        alone.then_some((at, part.len()))
    })
}

/// The message for a name that no instruction has: what is called almost so, or what has it as its target or opcode.
pub(crate) fn no_instruction(module: &Module, name: &str, asked: Asked<'_>) -> String {
    let name = name.trim_start_matches('%');
    let all = || module.computations().iter().flat_map(|&id| &module.computation(id).instructions).copied();
    let advice = named_otherwise(module, all(), name);
    let advice = advice.or_else(|| {
        let close = did_you_mean(name, all().map(|id| module.name_of(id)))?;
        Some(format!("; did you mean `{close}`?"))
    });
    let advice = advice.or_else(|| {
        let targets =
            all().filter_map(|id| std::str::from_utf8(module.string(id, AttrKey::CustomCallTarget)?).ok());
        let close = did_you_mean(name, targets)?.to_owned();
        named_otherwise(module, all(), &close)
    });
    let advice = advice.unwrap_or_else(|| format!(": {}", asked.names()));
    format!("there is no instruction `{name}`{advice}")
}

/// Which instructions have `word` as the target of their call, or as their opcode.
fn named_otherwise(
    module: &Module,
    all: impl Iterator<Item = InstructionId> + Clone,
    word: &str,
) -> Option<String> {
    let said = |what: &str, found: &mut dyn Iterator<Item = InstructionId>| {
        let first = found.next()?;
        let more = match found.count() {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        Some(format!("; `{word}` is the {what} of `{}`{more}", module.name_of(first)))
    };
    let is_target =
        |id: &InstructionId| module.string(*id, AttrKey::CustomCallTarget) == Some(word.as_bytes());
    said("target", &mut all.clone().filter(is_target)).or_else(|| {
        let opcode = Opcode::from_name(word)?;
        said("opcode", &mut all.filter(|&id| module.instruction(id).opcode == opcode))
    })
}
