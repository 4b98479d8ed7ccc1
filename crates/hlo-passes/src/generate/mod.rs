//! Valid modules made up by chance, full of what passes look for.
//!
//! They are text, as users' modules are: reading one is part of what is tried. Everything they have is something that
//! XLA's verifier accepts; instructions are typed as they are made. The same decisions give the same text.

mod choices;
mod collectives;
mod control;
mod data;
mod effects;
mod elementwise;
mod generator;
mod patterns;
mod reductions;
mod trial;
mod types;

pub use choices::Choices;
pub use trial::{Fault, Trial, try_passes};

use generator::{Generator, Value};
use types::Type;

/// How many instructions a module has by default, about.
pub const DEFAULT_SIZE: usize = 100;

/// The largest number of instructions that can be asked for.
pub const MAX_SIZE: usize = 10_000_000;

/// The text of a module of about `size` instructions, at most [`MAX_SIZE`].
///
/// With bytes for decisions it ends when they are used up.
pub fn generate(choices: &mut Choices<'_>, size: usize) -> String {
    let mut g = Generator::new(choices);
    let size = size.min(MAX_SIZE);
    patterns::add_one(&mut g);
    while g.made() < size && !g.choices.is_exhausted() {
        patterns::add_one(&mut g);
    }
    let results = g.results();
    let root = match &results[..] {
        [only] if !g.choices.one_in(2) => only.clone(),
        _ => g.tuple(&results),
    };
    let header = header(&mut g, &root, &results);
    g.finish(&root, &header)
}

/// What follows the name of the module.
fn header(g: &mut Generator<'_, '_>, root: &Value, results: &[Value]) -> String {
    let mut header = String::new();
    if let Some(aliases) = aliases(g, root, results) {
        header.push_str(&format!(", input_output_alias={{ {} }}", aliases.join(", ")));
    }
    for (name, count) in [("replica_count", g.devices.replicas), ("num_partitions", g.devices.partitions)] {
        if count > 0 {
            header.push_str(&format!(", {name}={count}"));
        }
    }
    if g.choices.one_in(8) {
        header.push_str(", frontend_attributes={from=\"chance\"}");
    }
    header
}

/// Results that share the buffer of a parameter like them.
fn aliases(g: &mut Generator<'_, '_>, root: &Value, results: &[Value]) -> Option<Vec<String>> {
    if !matches!(root.ty, Type::Tuple(_)) || g.choices.one_in(3) {
        return None;
    }
    let mut aliases = Vec::new();
    let mut free: Vec<(usize, Value)> = g.parameters().iter().cloned().enumerate().collect();
    for (output, result) in results.iter().enumerate() {
        let like = free.iter().position(|(_, parameter)| {
            let is_plain = |value: &Value| matches!(value.ty, Type::Array(..)) && !value.has_layout;
            parameter.ty == result.ty && is_plain(parameter) && is_plain(result)
        });
        if let Some(at) = like
            && g.choices.one_in(2)
        {
            let (parameter, _) = free.swap_remove(at);
            let kind = g.choices.pick(&["may-alias", "must-alias"]);
            aliases.push(format!("{{{output}}}: ({parameter}, {{}}, {kind})"));
        }
    }
    (!aliases.is_empty()).then_some(aliases)
}
