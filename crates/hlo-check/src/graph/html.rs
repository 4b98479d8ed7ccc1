//! Graphs for browsers: one page with the data, a style and a script in it, which loads nothing.

use serde::Serialize;

use super::{Graph, Side, word};
use crate::diff::Kind;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What the script gets.
#[derive(Serialize)]
struct Data<'g> {
    sides: Vec<SideData<'g>>,
}

#[derive(Serialize)]
struct SideData<'g> {
    title: &'g str,
    module: String,
    computations: Vec<ComputationData<'g>>,
    nodes: Vec<NodeData<'g>>,
}

#[derive(Serialize)]
struct ComputationData<'g> {
    name: &'g str,
    entry: bool,
    /// Number of its first node; the others follow.
    first: usize,
    count: usize,
    hidden: usize,
    /// How many nodes are not the same in the other module.
    changes: usize,
}

/// Short keys: there are many of these.
#[derive(Serialize)]
struct NodeData<'g> {
    /// Name.
    n: &'g str,
    /// Opcode and shape.
    s: String,
    /// The instruction as printed.
    t: String,
    /// Nodes of the operands that are shown.
    o: Vec<usize>,
    /// Indices of the computations it calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    c: Vec<usize>,
    /// What became of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<&'static str>,
    /// The same thing in the other module.
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<usize>,
}

/// Text between tags, or in an attribute in double quotes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

pub(super) fn render(graph: &Graph<'_>) -> String {
    let data = Data { sides: graph.sides.iter().map(side_data).collect() };
    // In JSON `<` is in strings only; without it nothing ends the element the data is in.
    let json = serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c");
    let title = graph.sides.iter().map(|side| side.title.as_str()).collect::<Vec<_>>().join(" → ");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <script type=\"application/json\" id=\"data\">{json}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(&title)
    )
}

fn side_data<'g>(side: &'g Side<'_>) -> SideData<'g> {
    let module = side.module;
    let mut places = vec![None; module.computation_id_limit()];
    for (index, cluster) in side.clusters.iter().enumerate() {
        places[cluster.id.index()] = Some(index);
    }
    let mut first = 0;
    let computations = side.clusters.iter().map(|cluster| {
        let count = cluster.nodes.len();
        let begins = first;
        first += count;
        let is_change = |change: &Option<Kind>| change.is_some_and(|kind| kind != Kind::Same);
        ComputationData {
            name: module.computation_name(cluster.id),
            entry: cluster.id == module.entry(),
            first: begins,
            count,
            hidden: cluster.hidden,
            changes: cluster.nodes.iter().filter(|node| is_change(&node.change)).count(),
        }
    });
    let computations = computations.collect();
    let nodes = side.clusters.iter().flat_map(|cluster| &cluster.nodes).map(|node| {
        let mut callees = Vec::new();
        module.for_each_called_computation(node.id, |callee| callees.extend(places[callee.index()]));
        NodeData {
            n: module.name_of(node.id),
            s: side.summary(node.id),
            t: side.text(node.id),
            o: module.operands(node.id).iter().filter_map(|id| side.numbers.get(id).copied()).collect(),
            c: callees,
            k: node.change.map(word),
            p: node.counterpart,
        }
    });
    SideData {
        title: &side.title,
        module: String::from_utf8_lossy(module.strings().get(module.name)).into_owned(),
        computations,
        nodes: nodes.collect(),
    }
}
