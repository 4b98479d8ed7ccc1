//! Modules built by hand, and what XLA prints for their text.

mod order;
mod text;

use super::*;
use crate::ir::{
    Attr, AttrKey, AttrValue, Computation, ComputationId, ElementType, Instruction, InstructionId, PoolRange,
    ShapeId, Value,
};
use Opcode::{
    Abs, Add, AsyncDone, AsyncStart, AsyncUpdate, Call, Conditional, Fusion, Negate, Parameter, Reduce,
    ReduceScatter, Tuple, While,
};

/// A module under construction. Names of computations and instructions must be unique.
struct Builder {
    module: Module,
    scalar: ShapeId,
}

impl Builder {
    fn new() -> Self {
        let mut module = Module::new("m.1");
        let scalar = module.shapes_mut().array(ElementType::F32, &[]);
        Self { module, scalar }
    }

    /// A computation of `name = opcode(operands)`; what a parameter has for operands is its number. The last
    /// instruction is the root, the last computation the entry.
    fn computation(&mut self, name: &str, instructions: &[(&str, Opcode, &[&str])]) -> ComputationId {
        let id = ComputationId::from_index(self.module.computations.len());
        self.module.computations.push(None);
        let mut ids = Vec::new();
        let mut parameters = std::collections::BTreeMap::new();
        for &(name, opcode, operands) in instructions {
            let instruction = InstructionId::from_index(self.module.instructions.len());
            ids.push(instruction);
            let start = self.module.operand_pool.len();
            let mut parameter_number = 0;
            if opcode == Parameter {
                parameter_number = operands.first().map_or(0, |number| number.parse().unwrap());
                parameters.insert(parameter_number, instruction);
            } else {
                for operand in operands {
                    let operand = self.find(operand);
                    self.module.operand_pool.push(operand);
                }
            }
            let instruction = Instruction {
                name: self.module.strings_mut().intern(name.as_bytes()),
                shape: self.scalar,
                operands: PoolRange::new(start, self.module.operand_pool.len() - start),
                attributes: PoolRange::default(),
                metadata: None,
                parent: id,
                literal: None,
                parameter_number,
                opcode,
                has_control_predecessors: false,
                removed: false,
            };
            self.module.instructions.push(instruction);
        }
        self.module.computations[id.index()] = Some(Computation {
            name: self.module.strings.intern(name.as_bytes()),
            root: *ids.last().unwrap(),
            instructions: ids,
            parameters: parameters.into_values().collect(),
            execution_thread: None,
        });
        self.module.computation_order.push(id);
        self.module.entry = Some(id);
        id
    }

    fn find(&self, name: &str) -> InstructionId {
        let symbol = self.module.strings().lookup(name.as_bytes()).unwrap();
        let index = self.module.instructions.iter().rposition(|instruction| instruction.name == symbol);
        InstructionId::from_index(index.unwrap())
    }

    /// Replaces the attributes of an instruction.
    fn attributes(&mut self, name: &str, attributes: &[(AttrKey, AttrValue)]) {
        let id = self.find(name);
        let start = self.module.attribute_pool.len();
        self.module.attribute_pool.extend(attributes.iter().map(|&(key, value)| Attr { key, value }));
        self.module.instructions[id.index()].attributes = PoolRange::new(start, attributes.len());
    }

    fn control(&mut self, name: &str, predecessors: &[&str]) {
        let id = self.find(name);
        let predecessors = predecessors.iter().map(|name| self.find(name)).collect();
        self.module.control_predecessors.insert(id, predecessors);
        self.module.instructions[id.index()].has_control_predecessors = true;
    }

    fn value(&mut self, value: Value) -> AttrValue {
        AttrValue::Value(self.module.intern_value(value))
    }

    fn string(&mut self, text: &str) -> AttrValue {
        AttrValue::String(self.module.strings_mut().intern(text.as_bytes()))
    }

    fn text(&self, options: &PrintOptions) -> String {
        let text = self.module.to_text(options);
        let mut written = Vec::new();
        self.module.write_to(&mut written, options).unwrap();
        assert!(text.as_bytes() == written, "both ways to print give the same");
        text
    }

    /// The text without the header line.
    fn body(&self, options: &PrintOptions) -> String {
        self.text(options).split_once("\n\n").unwrap().1.to_owned()
    }

    /// The names of the computations as they are printed.
    fn computation_names(&self, options: &PrintOptions) -> Vec<String> {
        let text = self.body(options);
        let heads = text.lines().filter(|line| line.ends_with('{') && !line.starts_with(' '));
        heads.map(|line| line.trim_start_matches("ENTRY ").split_once(' ').unwrap().0.to_owned()).collect()
    }

    /// The names of the instructions of a computation as they are printed.
    fn instruction_names(&self, id: ComputationId) -> Vec<String> {
        let options = with(|o| o.print_percent = false);
        let text = self.module.print_computation(id, &options);
        let lines = text.lines().filter_map(|line| line.trim().split_once(" = "));
        lines.map(|(name, _)| name.trim_start_matches("ROOT ").to_owned()).collect()
    }
}

fn with(change: impl FnOnce(&mut PrintOptions)) -> PrintOptions {
    let mut options = PrintOptions::default();
    change(&mut options);
    options
}

/// A reduction with as many operands as need an index comment.
fn reduction() -> Builder {
    let mut b = Builder::new();
    let sum = b.computation(
        "sum.3",
        &[("x.1", Parameter, &["0"]), ("y.1", Parameter, &["1"]), ("z", Add, &["x.1", "y.1"])],
    );
    b.computation(
        "e.7",
        &[("p", Parameter, &["0"]), ("r.9", Reduce, &["p", "p", "p", "p", "p", "p"]), ("t", Tuple, &["r.9"])],
    );
    let dimensions = b.value(Value::Ints(vec![1]));
    b.attributes(
        "r.9",
        &[(AttrKey::Dimensions, dimensions), (AttrKey::ToApply, AttrValue::Computation(sum))],
    );
    b
}

/// A while, a conditional and a call of two computations.
fn control_flow() -> Builder {
    let mut b = Builder::new();
    let condition = b.computation("c", &[("c1", Parameter, &[])]);
    let body = b.computation("b", &[("b1", Parameter, &[])]);
    b.computation(
        "e",
        &[
            ("p", Parameter, &[]),
            ("w", While, &["p"]),
            ("k", Conditional, &["w", "w", "w"]),
            ("l", Call, &["k"]),
        ],
    );
    b.attributes(
        "w",
        &[
            (AttrKey::Condition, AttrValue::Computation(condition)),
            (AttrKey::Body, AttrValue::Computation(body)),
        ],
    );
    let branches = b.value(Value::Computations(vec![body, condition]));
    b.attributes("k", &[(AttrKey::BranchComputations, branches)]);
    b.attributes(
        "l",
        &[(AttrKey::ToApply, AttrValue::Computation(body)), (AttrKey::IsComposite, AttrValue::Bool(true))],
    );
    b
}

/// A start, an update and a done of a computation that negates its parameter.
fn asynchronous() -> Builder {
    let mut b = Builder::new();
    let wrapped =
        b.computation("async_wrapped", &[("async_param", Parameter, &[]), ("n", Negate, &["async_param"])]);
    b.computation(
        "e",
        &[
            ("p", Parameter, &[]),
            ("s", AsyncStart, &["p"]),
            ("u", AsyncUpdate, &["s"]),
            ("d", AsyncDone, &["u"]),
        ],
    );
    let thread = b.string("t");
    b.attributes(
        "s",
        &[(AttrKey::AsyncExecutionThread, thread), (AttrKey::Calls, AttrValue::Computation(wrapped))],
    );
    b
}
