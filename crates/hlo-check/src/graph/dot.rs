//! Graphs for Graphviz.

use std::fmt::Write;

use hlo_passes::analysis::is_collective;
use hlo_text::ir::Opcode;

use super::{Graph, Node, Side, word};
use crate::diff::Kind;

/// Fill colours of what passes or people look for; everything else is white.
fn opcode_color(opcode: Opcode) -> &'static str {
    use Opcode as O;
    match opcode {
        O::Parameter => "#fff4c2",
        O::Constant | O::Iota => "#e6e6e6",
        O::Dot | O::Convolution | O::RaggedDot | O::ScaledDot => "#cfe2ff",
        O::CustomCall => "#e5d0ff",
        O::Fusion | O::Call | O::While | O::Conditional => "#d3f0dc",
        opcode if is_collective(opcode) => "#ffd9c2",
        _ => "#ffffff",
    }
}

fn change_color(kind: Kind) -> &'static str {
    match kind {
        Kind::Same => "#ffffff",
        Kind::Renamed | Kind::Moved => "#fff4c2",
        Kind::Changed => "#ffd9a0",
        Kind::Added => "#b7f0c1",
        Kind::Removed => "#ffc2c2",
    }
}

/// A text in quotes. A backslash that is not an escape of ours is doubled, control characters become blanks.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

pub(super) fn render(graph: &Graph<'_>) -> String {
    let mut out = String::new();
    // Writing to a string can't fail.
    let _ = write_graph(&mut out, graph);
    out
}

fn write_graph(out: &mut String, graph: &Graph<'_>) -> std::fmt::Result {
    let title = graph.sides.iter().map(|side| side.title.as_str()).collect::<Vec<_>>().join(" | ");
    writeln!(out, "digraph {} {{", quoted(&title))?;
    writeln!(out, "  node [shape=box, style=filled, fillcolor=white, fontname=monospace];")?;
    for (number, side) in graph.sides.iter().enumerate() {
        write_side(out, side, number, graph.sides.len() > 1)?;
    }
    writeln!(out, "}}")
}

fn write_side(out: &mut String, side: &Side<'_>, number: usize, is_one_of_two: bool) -> std::fmt::Result {
    if is_one_of_two {
        writeln!(out, "  subgraph cluster_{number} {{\n    label={};", quoted(&side.title))?;
    }
    for (index, cluster) in side.clusters.iter().enumerate() {
        let module = side.module;
        let entry = if cluster.id == module.entry() { "ENTRY " } else { "" };
        let hidden = match cluster.hidden {
            0 => String::new(),
            hidden => format!(" ({hidden} more)"),
        };
        let label = format!("{entry}%{}{hidden}", module.computation_name(cluster.id));
        writeln!(out, "    subgraph cluster_{number}_{index} {{\n      label={};", quoted(&label))?;
        for node in &cluster.nodes {
            write_node(out, side, node, number)?;
        }
        writeln!(out, "    }}")?;
    }
    if is_one_of_two {
        writeln!(out, "  }}")?;
    }
    for node in side.clusters.iter().flat_map(|cluster| &cluster.nodes) {
        write_edges(out, side, node, number)?;
    }
    Ok(())
}

fn write_node(out: &mut String, side: &Side<'_>, node: &Node, number: usize) -> std::fmt::Result {
    let module = side.module;
    let id = side.numbers.get(&node.id).copied().unwrap_or_default();
    let label = quoted(&format!("%{}\n{}", module.name_of(node.id), side.summary(node.id)));
    let fill = match node.change {
        Some(kind) => change_color(kind),
        None => opcode_color(module.instruction(node.id).opcode),
    };
    let root = if module.is_root(node.id) { ", penwidth=2" } else { "" };
    let tip = match node.change {
        Some(kind) => format!("{}: {}", word(kind), side.text(node.id)),
        None => side.text(node.id),
    };
    writeln!(
        out,
        "      n{number}_{id} [label={label}, fillcolor={}{root}, tooltip={}];",
        quoted(fill),
        quoted(&tip)
    )
}

fn write_edges(out: &mut String, side: &Side<'_>, node: &Node, number: usize) -> std::fmt::Result {
    let module = side.module;
    let Some(to) = side.numbers.get(&node.id) else { return Ok(()) };
    let operands = module.operands(node.id);
    for (index, operand) in operands.iter().enumerate() {
        let Some(from) = side.numbers.get(operand) else { continue };
        let label = if operands.len() > 1 { format!(" [headlabel=\"{index}\"]") } else { String::new() };
        writeln!(out, "  n{number}_{from} -> n{number}_{to}{label};")?;
    }
    for predecessor in module.control_predecessors(node.id) {
        if let Some(from) = side.numbers.get(predecessor) {
            writeln!(out, "  n{number}_{from} -> n{number}_{to} [style=dashed, color=gray];")?;
        }
    }
    let mut callees = Vec::new();
    module.for_each_called_computation(node.id, |callee| callees.push(callee));
    for callee in callees {
        if let Some(from) = side.numbers.get(&module.computation(callee).root) {
            writeln!(out, "  n{number}_{from} -> n{number}_{to} [style=dotted, label=\"calls\"];")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn nothing_gets_out_of_quotes() {
        assert_eq!(quoted("a\"];b\\\nc\u{7}"), "\"a\\\"];b\\\\\\nc \"");
    }
}
