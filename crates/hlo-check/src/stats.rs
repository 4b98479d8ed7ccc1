//! What is in a module, counted.
//!
//! ```
//! use hlo_check::stats::Stats;
//! # fn main() -> Result<(), Vec<hlo_text::diagnostic::Diagnostic>> {
//! let module = hlo_text::parse("HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n  ROOT n = f32[8] negate(p)\n}")?;
//! let stats = Stats::of(&module);
//! assert_eq!((stats.instructions, stats.depth, stats.parameter_bytes), (2, 2, 32));
//! assert!(stats.render().starts_with("module m: 2 instructions in 1 computation\n"));
//! # Ok(())
//! # }
//! ```

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use hlo_passes::analysis::{CallGraph, PostOrder, is_collective};
use hlo_text::ir::{AttrKey, ComputationId, InstructionId, Opcode, Shape, ShapeId};
use hlo_text::{Module, PrintOptions};
use serde_json::{Value, json};

/// How many shapes and how many large results the text for people shows; JSON has all shapes.
const SHOWN: usize = 10;

/// How often an opcode occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpcodeCount {
    /// The opcode.
    pub opcode: Opcode,
    /// Number of instructions.
    pub count: usize,
}

/// How often results have a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeCount {
    /// As printed, without layouts.
    pub shape: String,
    /// Number of instructions.
    pub count: usize,
    /// Size of one, in bytes.
    pub bytes: u64,
}

/// Collectives that do the same among the same devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectiveCount {
    /// The opcode.
    pub opcode: Opcode,
    /// The groups, or the pairs of sources and targets, as printed; empty if there are none.
    pub groups: String,
    /// Number of instructions.
    pub count: usize,
    /// What they work on, in bytes: the sum of all operands' sizes.
    pub bytes: u64,
}

/// A large result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeResult {
    /// The instruction's name.
    pub instruction: String,
    /// Its computation's name.
    pub computation: String,
    /// Its shape as printed, without layouts.
    pub shape: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// What is in a module. Sizes are in bytes, of shapes without padding; types of less than a byte take one unless the
/// layout says how many bits elements take; bounded dimensions count at their bounds, unbounded ones make the size
/// 0. Sums stop at `u64::MAX`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// The module's name.
    pub name: String,
    /// Number of computations.
    pub computations: usize,
    /// Those of them that are never called, the entry aside.
    pub uncalled_computations: usize,
    /// Number of instructions in all computations.
    pub instructions: usize,
    /// Number of instructions in the entry.
    pub entry_instructions: usize,
    /// The longest chain of instructions in which each needs the one before, from the entry's parameters to the
    /// end; an instruction that calls computations is as long as the longest of them, and itself.
    pub depth: u64,
    /// How deeply computations call each other, 1 for an entry that calls nothing.
    pub call_depth: u64,
    /// Number of the entry's parameters.
    pub parameters: usize,
    /// Their size.
    pub parameter_bytes: u64,
    /// Size of the entry's result.
    pub result_bytes: u64,
    /// Size of all constants.
    pub constant_bytes: u64,
    /// Size of the results of all other instructions that make something: parameters and what only passes values on
    /// (`tuple`, `get-tuple-element`, `bitcast` and the like) are left out.
    pub computed_bytes: u64,
    /// Most frequent first.
    pub opcodes: Vec<OpcodeCount>,
    /// Most frequent first.
    pub shapes: Vec<ShapeCount>,
    /// Largest first, at most ten, of what counts in [`Stats::computed_bytes`] and constants.
    pub largest: Vec<LargeResult>,
    /// Targets of custom-calls by name.
    pub custom_call_targets: Vec<(String, usize)>,
    /// By opcode; the `-done` halves are left out.
    pub collectives: Vec<CollectiveCount>,
}

impl Stats {
    /// Counts what is in `module`.
    pub fn of(module: &Module) -> Self {
        let graph = CallGraph::of(module);
        let sizes = Sizes::new(module);
        let entry = module.computation(module.entry());
        let mut opcodes = vec![0usize; Opcode::ALL.len()];
        let mut shapes: HashMap<ShapeId, usize> = HashMap::new();
        let mut targets: BTreeMap<String, usize> = BTreeMap::new();
        let mut collectives: BTreeMap<(Opcode, String), (usize, u64)> = BTreeMap::new();
        let (mut constant_bytes, mut computed_bytes) = (0u64, 0u64);
        let mut results: Vec<(u64, InstructionId)> = Vec::new();
        let mut instructions = 0;
        for &computation in module.computations() {
            for id in module.live_instructions(computation) {
                let instruction = module.instruction(id);
                let opcode = instruction.opcode;
                instructions += 1;
                opcodes[opcode as usize] += 1;
                *shapes.entry(instruction.shape).or_default() += 1;
                let bytes = sizes.of(instruction.shape);
                if opcode == Opcode::Constant {
                    constant_bytes = constant_bytes.saturating_add(bytes);
                } else if makes_something(opcode) {
                    computed_bytes = computed_bytes.saturating_add(bytes);
                }
                if opcode == Opcode::Constant || makes_something(opcode) {
                    results.push((bytes, id));
                }
                if let Some(target) = module.string(id, AttrKey::CustomCallTarget) {
                    *targets.entry(String::from_utf8_lossy(target).into_owned()).or_default() += 1;
                }
                if is_collective(opcode) && !is_second_half(opcode) {
                    let operands = module.operands(id).iter();
                    let bytes = operands
                        .map(|&operand| sizes.of(module.instruction(operand).shape))
                        .fold(0u64, u64::saturating_add);
                    let slot = collectives.entry((opcode, groups(module, id))).or_default();
                    slot.0 += 1;
                    slot.1 = slot.1.saturating_add(bytes);
                }
            }
        }
        // The largest first, and those that are equally large as the module has them.
        results.sort_by_key(|&(bytes, id)| (std::cmp::Reverse(bytes), id));
        results.truncate(SHOWN);
        let largest = results.into_iter().map(|(bytes, id)| LargeResult {
            instruction: module.name_of(id).to_owned(),
            computation: module.computation_name(module.instruction(id).parent).to_owned(),
            shape: module.shape_text(module.instruction(id).shape, false),
            bytes,
        });
        let largest = largest.collect();
        let mut by_text: BTreeMap<String, (usize, u64)> = BTreeMap::new();
        for (id, count) in shapes {
            let slot = by_text.entry(module.shape_text(id, false)).or_default();
            slot.0 += count;
            slot.1 = slot.1.max(sizes.of(id));
        }
        let mut shapes: Vec<ShapeCount> =
            by_text.into_iter().map(|(shape, (count, bytes))| ShapeCount { shape, count, bytes }).collect();
        shapes.sort_by_key(|shape| std::cmp::Reverse(shape.count));
        let counts = Opcode::ALL.iter().zip(opcodes).filter(|(_, count)| *count > 0);
        let mut opcodes: Vec<OpcodeCount> =
            counts.map(|(&opcode, count)| OpcodeCount { opcode, count }).collect();
        opcodes.sort_by_key(|row| std::cmp::Reverse(row.count));
        let (depth, call_depth) = depths(module, &graph);
        let parameter_shapes = entry.parameters.iter().map(|&id| module.instruction(id).shape);
        Self {
            name: String::from_utf8_lossy(module.strings().get(module.name)).into_owned(),
            computations: module.computations().len(),
            uncalled_computations: module
                .computations()
                .iter()
                .filter(|&&id| id != module.entry() && graph.callers(id).is_empty())
                .count(),
            instructions,
            entry_instructions: module.live_instructions(module.entry()).count(),
            depth,
            call_depth,
            parameters: entry.parameters.len(),
            parameter_bytes: parameter_shapes.map(|shape| sizes.of(shape)).fold(0, u64::saturating_add),
            result_bytes: sizes.of(module.instruction(entry.root).shape),
            constant_bytes,
            computed_bytes,
            opcodes,
            shapes,
            largest,
            custom_call_targets: targets.into_iter().collect(),
            collectives: collectives
                .into_iter()
                .map(|((opcode, groups), (count, bytes))| CollectiveCount { opcode, groups, count, bytes })
                .collect(),
        }
    }

    /// For programs: one object.
    pub fn to_json(&self) -> Value {
        let opcodes: serde_json::Map<String, Value> =
            self.opcodes.iter().map(|row| (row.opcode.name().to_owned(), row.count.into())).collect();
        let targets: serde_json::Map<String, Value> =
            self.custom_call_targets.iter().map(|(name, count)| (name.clone(), (*count).into())).collect();
        let shapes = self.shapes.iter();
        let shapes =
            shapes.map(|row| json!({"shape": row.shape, "count": row.count, "bytes_each": row.bytes}));
        let collectives = self.collectives.iter().map(|row| {
            json!({"opcode": row.opcode.name(), "groups": row.groups, "count": row.count, "operand_bytes": row.bytes})
        });
        let largest = self.largest.iter().map(|row| {
            json!({
                "instruction": row.instruction, "computation": row.computation,
                "shape": row.shape, "bytes": row.bytes,
            })
        });
        json!({
            "module": self.name,
            "computations": self.computations,
            "uncalled_computations": self.uncalled_computations,
            "instructions": self.instructions,
            "entry_instructions": self.entry_instructions,
            "depth": self.depth,
            "call_depth": self.call_depth,
            "parameters": self.parameters,
            "parameter_bytes": self.parameter_bytes,
            "result_bytes": self.result_bytes,
            "constant_bytes": self.constant_bytes,
            "computed_bytes": self.computed_bytes,
            "opcodes": opcodes,
            "shapes": shapes.collect::<Vec<_>>(),
            "largest": largest.collect::<Vec<_>>(),
            "custom_call_targets": targets,
            "collectives": collectives.collect::<Vec<_>>(),
        })
    }

    /// For people: a few tables.
    pub fn render(&self) -> String {
        let mut out = String::new();
        // Writing to a string can't fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let plural =
            |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        writeln!(
            out,
            "module {}: {} in {}",
            self.name,
            plural(self.instructions, "instruction"),
            plural(self.computations, "computation")
        )?;
        writeln!(
            out,
            "  entry        {}, {} ({}) -> {}",
            plural(self.entry_instructions, "instruction"),
            plural(self.parameters, "parameter"),
            size(self.parameter_bytes),
            size(self.result_bytes)
        )?;
        writeln!(out, "  depth        {} instructions, calls {} deep", self.depth, self.call_depth)?;
        writeln!(
            out,
            "  bytes        constants {}, computed {}",
            size(self.constant_bytes),
            size(self.computed_bytes)
        )?;
        if self.uncalled_computations > 0 {
            writeln!(out, "  never called {}", plural(self.uncalled_computations, "computation"))?;
        }
        writeln!(out, "\nopcodes:")?;
        for row in &self.opcodes {
            writeln!(out, "{:>8} {}", row.count, row.opcode.name())?;
        }
        writeln!(out, "\nshapes of results:")?;
        for row in self.shapes.iter().take(SHOWN) {
            writeln!(out, "{:>8} {} ({} each)", row.count, row.shape, size(row.bytes))?;
        }
        if self.shapes.len() > SHOWN {
            writeln!(out, "         and {} other shapes", self.shapes.len() - SHOWN)?;
        }
        if !self.largest.is_empty() {
            writeln!(out, "\nlargest results:")?;
            for row in &self.largest {
                writeln!(
                    out,
                    "{:>12} %{} in %{}: {}",
                    size(row.bytes),
                    row.instruction,
                    row.computation,
                    row.shape
                )?;
            }
        }
        if !self.custom_call_targets.is_empty() {
            writeln!(out, "\ncustom-call targets:")?;
            for (target, count) in &self.custom_call_targets {
                writeln!(out, "{count:>8} {target}")?;
            }
        }
        if !self.collectives.is_empty() {
            writeln!(out, "\ncollectives:")?;
            for row in &self.collectives {
                let groups = if row.groups.is_empty() { "all devices" } else { &row.groups };
                writeln!(
                    out,
                    "{:>8} {} of {} among {groups}",
                    row.count,
                    row.opcode.name(),
                    size(row.bytes)
                )?;
            }
        }
        Ok(())
    }
}

/// A size as people read it: `96 bytes`, `1.50 KiB`.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" });
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.2} {}", UNITS[unit])
}

/// Whether an instruction's result is memory of its own, as far as its opcode tells.
fn makes_something(opcode: Opcode) -> bool {
    use Opcode as O;
    !matches!(
        opcode,
        O::Parameter
            | O::Constant
            | O::Tuple
            | O::GetTupleElement
            | O::Bitcast
            | O::AddDependency
            | O::AfterAll
            | O::OptBarrier
            | O::Domain
            | O::Call
            | O::While
            | O::Conditional
    )
}

/// Whether the opcode only waits for another.
fn is_second_half(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::AllGatherDone | Opcode::AllReduceDone | Opcode::CollectivePermuteDone)
}

/// Who exchanges with whom, as printed.
fn groups(module: &Module, id: InstructionId) -> String {
    let value = [AttrKey::ReplicaGroups, AttrKey::SourceTargetPairs].into_iter().find_map(|key| match module
        .attribute(
        id, key,
    )? {
        hlo_text::ir::AttrValue::Value(value) => Some(value),
        _ => None,
    });
    let text = value.map(|value| module.value_text(value, &PrintOptions::default())).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    if text == "{}" { String::new() } else { text }
}

/// Sizes of shapes in bytes, each found out once.
struct Sizes {
    known: Vec<u64>,
}

impl Sizes {
    fn new(module: &Module) -> Self {
        let mut sizes = Self { known: Vec::with_capacity(module.shapes().len()) };
        // Elements stand before the tuples they are in.
        for (_, shape) in module.shapes().iter() {
            let size = sizes.measure(shape);
            sizes.known.push(size);
        }
        sizes
    }

    fn of(&self, id: ShapeId) -> u64 {
        self.known.get(id.index()).copied().unwrap_or_default()
    }

    fn measure(&self, shape: &Shape) -> u64 {
        match shape {
            Shape::Token | Shape::Opaque => 0,
            Shape::Buffer(element) => self.of(*element),
            Shape::Tuple(elements) => {
                elements.iter().map(|&element| self.of(element)).fold(0, u64::saturating_add)
            }
            Shape::Array(array) => {
                let stated = array.layout.as_ref().map_or(0, |layout| layout.element_size_in_bits);
                let bits = u64::try_from(stated).ok().filter(|&bits| bits > 0);
                let bits = bits.unwrap_or(8 * array.element_type.storage_bytes() as u64);
                let count = match array.element_count() {
                    Some(count) => u64::try_from(count).unwrap_or_default(),
                    // An unbounded dimension, or more than can be counted.
                    None if array.dimensions.iter().any(|&size| size < 0) => 0,
                    None => u64::MAX,
                };
                let bits = u128::from(count) * u128::from(bits);
                u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
            }
        }
    }
}

/// The longest chain of instructions from the entry's parameters on, and how deeply it calls.
fn depths(module: &Module, graph: &CallGraph) -> (u64, u64) {
    let mut chains = vec![0u64; module.computation_id_limit()];
    let mut calls = vec![0u64; module.computation_id_limit()];
    let mut depth = vec![0u64; module.instruction_id_limit()];
    let mut order = PostOrder::default();
    for computation in graph.post_order() {
        let mut longest = 0;
        for id in order.of(module, computation) {
            let needs = module.operands(id).iter().chain(module.control_predecessors(id));
            let before = needs.map(|need| depth[need.index()]).max().unwrap_or_default();
            let mut inner = 0;
            module.for_each_called_computation(id, |callee| inner = inner.max(chains[callee.index()]));
            depth[id.index()] = before.saturating_add(inner).saturating_add(1);
            longest = longest.max(depth[id.index()]);
        }
        chains[computation.index()] = longest;
        let deepest = graph.callees(computation).iter().map(|&callee: &ComputationId| calls[callee.index()]);
        calls[computation.index()] = 1 + deepest.max().unwrap_or_default();
    }
    let entry = module.entry().index();
    (chains[entry], calls[entry])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(text: &str) -> Stats {
        let module = hlo_text::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
        Stats::of(&module)
    }

    #[test]
    fn depth_goes_through_calls() {
        let stats = stats(
            "HloModule m\n\nf {\n  x = f32[2] parameter(0)\n  y = f32[2] abs(x)\n  ROOT z = f32[2] sine(y)\n}\n\n\
             unused {\n  ROOT u = f32[2] parameter(0)\n}\n\n\
             ENTRY e {\n  p = f32[2] parameter(0)\n  c = f32[2] call(p), to_apply=f\n  ROOT n = f32[2] negate(c)\n}\n",
        );
        assert_eq!((stats.depth, stats.call_depth), (6, 2));
        assert_eq!((stats.computations, stats.uncalled_computations), (3, 1));
        assert_eq!((stats.instructions, stats.entry_instructions), (7, 3));
        assert_eq!(stats.computed_bytes, 3 * 8);
        assert_eq!(stats.opcodes[0], OpcodeCount { opcode: Opcode::Parameter, count: 3 });
        assert_eq!(stats.shapes, [ShapeCount { shape: "f32[2]".to_owned(), count: 7, bytes: 8 }]);
    }

    #[test]
    fn sizes_are_those_of_the_shapes() {
        let of = |shape: &str| {
            stats(&format!("HloModule m\n\nENTRY e {{\n  ROOT p = {shape} parameter(0)\n}}\n"))
                .parameter_bytes
        };
        assert_eq!(of("f32[2,3]"), 24);
        assert_eq!(of("pred[]"), 1);
        assert_eq!(of("s4[3]"), 3);
        assert_eq!(of("s4[3]{0:E(4)}"), 2);
        assert_eq!(of("(c128[2], token[], (bf16[]))"), 34);
        assert_eq!(of("f32[<=8]"), 32);
        assert_eq!(of("f32[?,4]"), 0);
        assert_eq!(of("f32[4,0]"), 0);
        assert_eq!(of("(f64[4611686018427387904], f64[4])"), u64::MAX);
    }

    #[test]
    fn sizes_are_readable() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.00 KiB"),
            (1 << 20, "1.00 MiB"),
            (u64::MAX, "16.00 EiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn collectives_and_targets_are_told() {
        let stats = stats(
            "HloModule m, replica_count=4\n\ns {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n\
             ENTRY e {\n  p = f32[256] parameter(0)\n  r = f32[256] all-reduce(p), replica_groups={{0,1},{2,3}}, to_apply=s\n  \
             q = f32[256] all-reduce(r), replica_groups={{0,1},{2,3}}, to_apply=s\n  \
             t = f32[256] all-reduce(q), replica_groups={}, to_apply=s\n  \
             ROOT k = f32[256] custom-call(t), custom_call_target=\"AwsNeuronGelu\"\n}\n",
        );
        let rows: Vec<(&str, usize, u64)> =
            stats.collectives.iter().map(|row| (row.groups.as_str(), row.count, row.bytes)).collect();
        assert_eq!(rows, [("", 1, 1024), ("{{0,1},{2,3}}", 2, 2048)]);
        assert_eq!(stats.custom_call_targets, [("AwsNeuronGelu".to_owned(), 1)]);
        let text = stats.render();
        assert!(text.contains("       2 all-reduce of 2.00 KiB among {{0,1},{2,3}}\n"), "{text}");
        assert!(text.contains("       1 all-reduce of 1.00 KiB among all devices\n"), "{text}");
        assert_eq!(stats.to_json()["custom_call_targets"]["AwsNeuronGelu"], 1);
    }
}
