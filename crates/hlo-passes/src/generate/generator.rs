//! The module under construction.

use std::fmt::Write;

use hlo_text::ir::ElementType;

use super::choices::Choices;
use super::types::{Type, list, literal};
use crate::Set;

/// A value of the computation under construction.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) ty: Type,
    /// Whether it has another layout than the default one.
    pub(super) has_layout: bool,
    pub(super) is_sharded: bool,
}

/// Where instructions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The entry: everything is allowed, parameters are made where they are wanted.
    Entry,
    /// A computation that runs as a whole, as the body of a loop does.
    Whole,
    /// A part of another instruction, as the body of a fusion is: no side effects, nothing that communicates.
    Part,
}

/// A computation under construction.
struct Body {
    scope: Scope,
    /// How many computations are around it.
    depth: usize,
    /// The name and the text of each instruction.
    lines: Vec<(String, String)>,
    /// What may be used.
    values: Vec<Value>,
    parameters: Vec<Value>,
    /// The names of what some instruction uses.
    used: Set<String>,
    /// The last of a chain of tokens.
    token: Option<Value>,
}

impl Body {
    fn new(scope: Scope, depth: usize) -> Self {
        Self {
            scope,
            depth,
            lines: Vec::new(),
            values: Vec::new(),
            parameters: Vec::new(),
            used: Set::default(),
            token: None,
        }
    }
}

/// Devices that take part in collectives, as the header has them; 0 if it says nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Devices {
    pub(super) replicas: usize,
    pub(super) partitions: usize,
}

/// The module under construction.
pub(super) struct Generator<'c, 'b> {
    pub(super) choices: &'c mut Choices<'b>,
    pub(super) devices: Devices,
    /// The finished computations.
    text: String,
    body: Body,
    next_name: usize,
    next_channel: usize,
    /// Instructions so far.
    made: usize,
}

/// Element types, the ones that passes look for most often.
const ELEMENTS: [ElementType; 16] = [
    ElementType::F32,
    ElementType::S32,
    ElementType::F32,
    ElementType::Bf16,
    ElementType::U32,
    ElementType::F32,
    ElementType::Pred,
    ElementType::F16,
    ElementType::S32,
    ElementType::F64,
    ElementType::S64,
    ElementType::U8,
    ElementType::S8,
    ElementType::Bf16,
    ElementType::C64,
    ElementType::F32,
];

/// Sizes of arrays. All have at most 64 elements, and few of them are different, so that values fit together.
const SIZES: [&[usize]; 12] =
    [&[4], &[], &[2, 4], &[8], &[4, 4], &[1], &[2, 4, 2], &[4, 2], &[1, 4], &[8, 8], &[2], &[4, 1, 8]];

/// How many values are looked through for one of a type.
const SEARCHED: usize = 200;

impl<'c, 'b> Generator<'c, 'b> {
    pub(super) fn new(choices: &'c mut Choices<'b>) -> Self {
        let devices =
            Devices { replicas: choices.pick(&[0, 1, 2, 4]), partitions: choices.pick(&[0, 1, 2, 4]) };
        Self {
            choices,
            devices,
            text: String::new(),
            body: Body::new(Scope::Entry, 0),
            next_name: 0,
            next_channel: 1,
            made: 0,
        }
    }

    pub(super) fn made(&self) -> usize {
        self.made
    }

    pub(super) fn scope(&self) -> Scope {
        self.body.scope
    }

    pub(super) fn depth(&self) -> usize {
        self.body.depth
    }

    /// The parameters of the computation under construction.
    pub(super) fn parameters(&self) -> &[Value] {
        &self.body.parameters
    }

    /// A name nobody has. Some end in a number and some don't, which renaming treats differently.
    fn name(&mut self, base: &str) -> String {
        self.next_name += 1;
        match self.next_name % 5 {
            0 => format!("{base}_{}x", self.next_name),
            _ => format!("{base}.{}", self.next_name),
        }
    }

    pub(super) fn channel(&mut self) -> usize {
        self.next_channel += 1;
        self.next_channel - 1
    }

    pub(super) fn element(&mut self) -> ElementType {
        self.choices.pick(&ELEMENTS)
    }

    /// An element type for which `accepts` holds, `F32` at the worst.
    pub(super) fn element_of(&mut self, accepts: impl Fn(ElementType) -> bool) -> ElementType {
        let first = self.choices.below(ELEMENTS.len());
        let order = ELEMENTS[first..].iter().chain(&ELEMENTS[..first]);
        order.copied().find(|&element| accepts(element)).unwrap_or(ElementType::F32)
    }

    pub(super) fn array(&mut self, element: ElementType) -> Type {
        Type::Array(element, self.choices.pick(&SIZES).to_vec())
    }

    /// Sizes of at least `rank` dimensions.
    pub(super) fn array_of_rank(&mut self, element: ElementType, rank: usize) -> Type {
        let ty = self.array(element);
        if ty.rank() >= rank { ty } else { Type::Array(element, [2, 4, 4][..rank.min(3)].to_vec()) }
    }

    /// Any array.
    pub(super) fn any(&mut self) -> Value {
        let element = self.element();
        let ty = self.array(element);
        self.value(&ty)
    }

    /// A value of a type: an old one or a new one.
    pub(super) fn value(&mut self, ty: &Type) -> Value {
        // The latest ones: chains get longer, and the cost of a search doesn't grow with the module.
        let latest = self.body.values.iter().rev().take(SEARCHED);
        let found: Vec<&Value> = latest.filter(|value| value.ty == *ty).take(8).collect();
        if !found.is_empty() && !self.choices.one_in(8) {
            return found[self.choices.below(found.len())].clone();
        }
        self.new_value(ty)
    }

    /// A new value of a type.
    pub(super) fn new_value(&mut self, ty: &Type) -> Value {
        if self.body.scope == Scope::Entry && !ty.has_token() && !self.choices.one_in(4) {
            return self.parameter(ty);
        }
        match ty {
            Type::Array(element, sizes) => {
                let number = self.choices.below(4);
                if sizes.is_empty() {
                    return self.constant(*element, &literal(*element, number));
                }
                if self.choices.one_in(3) {
                    return self.table(ty, number);
                }
                let scalar = self.constant(*element, &literal(*element, number));
                self.add(ty.clone(), "broadcast", &[&scalar], "dimensions={}")
            }
            Type::Tuple(elements) => {
                let elements: Vec<Value> = elements.iter().map(|element| self.value(element)).collect();
                self.tuple(&elements)
            }
            Type::Token => self.add(Type::Token, "after-all", &[], ""),
        }
    }

    /// A constant array that counts from a number.
    fn table(&mut self, ty: &Type, first: usize) -> Value {
        let Some(element) = ty.element() else { return self.value(ty) };
        let text = nested(element, ty.sizes(), &mut (first..).map(|number| number % 100));
        self.add_text(ty.clone(), "constant", &text, "")
    }

    pub(super) fn parameter(&mut self, ty: &Type) -> Value {
        let number = self.body.parameters.len();
        let parameter = self.add_text(ty.clone(), "parameter", &number.to_string(), "");
        self.body.parameters.push(parameter.clone());
        parameter
    }

    pub(super) fn constant(&mut self, element: ElementType, text: &str) -> Value {
        self.add_text(Type::scalar(element), "constant", text, "")
    }

    /// A constant array written out.
    pub(super) fn constant_array(&mut self, ty: &Type, text: &str) -> Value {
        self.add_text(ty.clone(), "constant", text, "")
    }

    pub(super) fn tuple(&mut self, elements: &[Value]) -> Value {
        let ty = Type::Tuple(elements.iter().map(|element| element.ty.clone()).collect());
        let operands: Vec<&Value> = elements.iter().collect();
        self.add(ty, "tuple", &operands, "")
    }

    /// Element `index` of a tuple; the value itself if it is none.
    pub(super) fn tuple_element(&mut self, tuple: &Value, index: usize) -> Value {
        let Type::Tuple(elements) = &tuple.ty else { return tuple.clone() };
        let Some(ty) = elements.get(index).cloned() else { return tuple.clone() };
        self.add(ty, "get-tuple-element", &[tuple], &format!("index={index}"))
    }

    /// The value, or the same without a sharding: branches must be sharded alike.
    pub(super) fn unsharded(&mut self, value: Value) -> Value {
        match &value.ty {
            _ if !value.is_sharded => value,
            Type::Tuple(_) => {
                let elements = self.tuple_elements(&value);
                self.tuple(&elements)
            }
            ty => {
                let operand = value.name.clone();
                let name = self.name("copy");
                let line = format!("{name} = {ty} copy({operand})");
                self.body.used.insert(operand);
                self.body.lines.push((name.clone(), line));
                Value { name, ty: ty.clone(), has_layout: false, is_sharded: false }
            }
        }
    }

    /// All elements of a tuple.
    pub(super) fn tuple_elements(&mut self, tuple: &Value) -> Vec<Value> {
        let count = if let Type::Tuple(elements) = &tuple.ty { elements.len() } else { 0 };
        (0..count).map(|index| self.tuple_element(tuple, index)).collect()
    }

    /// The token that orders what comes next.
    pub(super) fn token(&mut self) -> Value {
        match self.body.token.take() {
            Some(token) => token,
            None => self.add(Type::Token, "after-all", &[], ""),
        }
    }

    pub(super) fn set_token(&mut self, token: Value) {
        self.body.token = Some(token);
    }

    /// Adds an instruction; what it gives may be used by those that follow.
    pub(super) fn add(&mut self, ty: Type, opcode: &str, operands: &[&Value], attributes: &str) -> Value {
        let value = self.add_once(ty, opcode, operands, attributes);
        self.body.values.push(value.clone());
        value
    }

    /// Adds an instruction that nobody uses by chance: the first half of a pair.
    pub(super) fn add_once(
        &mut self,
        ty: Type,
        opcode: &str,
        operands: &[&Value],
        attributes: &str,
    ) -> Value {
        self.body.used.extend(operands.iter().map(|operand| operand.name.clone()));
        let names: Vec<&str> = operands.iter().map(|operand| operand.name.as_str()).collect();
        self.push(ty, opcode, &names.join(", "), attributes)
    }

    fn add_text(&mut self, ty: Type, opcode: &str, operands: &str, attributes: &str) -> Value {
        let value = self.push(ty, opcode, operands, attributes);
        self.body.values.push(value.clone());
        value
    }

    fn push(&mut self, ty: Type, opcode: &str, operands: &str, attributes: &str) -> Value {
        self.made += 1;
        let name = self.name(opcode);
        let layout = self.layout(&ty).unwrap_or_default();
        let mut line = format!("{name} = {ty}{layout} {opcode}({operands})");
        if !attributes.is_empty() {
            line.push_str(", ");
            line.push_str(attributes);
        }
        self.decorate(&mut line, &ty, opcode);
        let is_sharded = line.contains("sharding=");
        self.body.lines.push((name.clone(), line));
        Value { name, ty, has_layout: !layout.is_empty(), is_sharded }
    }

    /// Now and then another layout than the default one.
    fn layout(&mut self, ty: &Type) -> Option<String> {
        let rank = ty.rank();
        (rank > 1 && self.choices.one_in(16)).then(|| format!("{{{}}}", list(&(0..rank).collect::<Vec<_>>())))
    }

    /// Adds what any instruction may have.
    fn decorate(&mut self, line: &mut String, ty: &Type, opcode: &str) {
        let has_attributes = line.contains("frontend_attributes");
        let mut say = |text: &str| {
            line.push_str(", ");
            line.push_str(text);
        };
        match self.choices.below(24) {
            18 => {
                let name = self.choices.pick(&["jit(f)/mul", "aten::add", "softmax"]);
                say(&format!(
                    "metadata={{op_type=\"t\" op_name=\"{name}\" source_file=\"a.py\" source_line=3}}"
                ));
            }
            // What a loop carries must be sharded alike in all places.
            19 if !matches!((ty, opcode), (Type::Tuple(_), "tuple" | "parameter" | "while")) => {
                if let Some(sharding) = self.sharding(ty) {
                    say(&format!("sharding={sharding}"));
                }
            }
            20 if !has_attributes => {
                say(self.choices.pick(&[
                    "frontend_attributes={k=\"v\"}",
                    "frontend_attributes={xla.sdy.sharding=\"s\"}",
                ]));
            }
            21 if opcode != "parameter" && !opcode.ends_with("-done") => {
                // Anything before is fine: edges only go back.
                let at = self.choices.below(self.body.lines.len());
                if let Some((before, _)) = self.body.lines.get(at) {
                    say(&format!("control-predecessors={{{before}}}"));
                }
            }
            22 => {
                if let Some(tree) = origin(ty) {
                    say(&format!("origin={{{tree}}}"));
                }
            }
            23 if opcode == "parameter" && matches!(ty, Type::Array(..)) => {
                say("parameter_replication={true}");
            }
            _ => {}
        }
    }

    fn sharding(&mut self, ty: &Type) -> Option<String> {
        match ty {
            Type::Array(_, sizes) => {
                let tiled = sizes.first().is_some_and(|size| size % 2 == 0) && self.devices.partitions > 1;
                Some(match self.choices.below(if tiled { 3 } else { 2 }) {
                    0 => "{replicated}".to_owned(),
                    1 => "{maximal device=0}".to_owned(),
                    _ => {
                        let ones = ",1".repeat(sizes.len() - 1);
                        let count = self.devices.partitions;
                        let rest = if count > 2 { format!(",{}", count / 2) } else { String::new() };
                        let last = if count > 2 { " last_tile_dim_replicate" } else { "" };
                        format!("{{devices=[2{ones}{rest}]<=[{count}]{last}}}")
                    }
                })
            }
            Type::Tuple(elements) if !ty.has_token() && !elements.is_empty() => {
                let all: Option<Vec<String>> =
                    elements.iter().map(|element| self.sharding(element)).collect();
                // Nested tuples are sharded leaf by leaf.
                let flat = all?.join(", ").replace("{{", "{").replace("}}", "}");
                Some(format!("{{{flat}}}"))
            }
            _ => None,
        }
    }

    /// Makes a computation with such parameters; `fill` gives its result. Its name and the type of the result.
    pub(super) fn computation(
        &mut self,
        scope: Scope,
        parameters: &[Type],
        fill: impl FnOnce(&mut Self, &[Value]) -> Value,
    ) -> Value {
        let name = self.name("region");
        let depth = self.body.depth + 1;
        let outer = std::mem::replace(&mut self.body, Body::new(scope, depth));
        let values: Vec<Value> = parameters.iter().map(|ty| self.parameter(ty)).collect();
        let root = fill(self, &values);
        let body = std::mem::replace(&mut self.body, outer);
        self.write(&name, &body, &root);
        Value { name, ..root }
    }

    fn write(&mut self, header: &str, body: &Body, root: &Value) {
        let _ = writeln!(self.text, "{header} {{");
        for (name, line) in &body.lines {
            let _ = writeln!(self.text, "  {}{line}", if *name == root.name { "ROOT " } else { "" });
        }
        self.text.push_str("}\n\n");
    }

    /// What nothing uses, as one value: in fusions everything leads to the result.
    pub(super) fn all_unused(&mut self) -> Value {
        let body = &self.body;
        let unused = body.values.iter().filter(|value| !body.used.contains(&value.name));
        let unused: Vec<Value> = unused.cloned().collect();
        match &unused[..] {
            [only] => only.clone(),
            _ => self.tuple(&unused),
        }
    }

    /// Ends the module.
    pub(super) fn finish(mut self, root: &Value, header: &str) -> String {
        let body = std::mem::replace(&mut self.body, Body::new(Scope::Entry, 0));
        self.write("ENTRY main", &body, root);
        format!("HloModule generated{header}\n\n{}", self.text)
    }

    /// Values that the entry may return, the latest first.
    pub(super) fn results(&mut self) -> Vec<Value> {
        let wanted = 1 + self.choices.below(6);
        let mut results = Vec::new();
        for value in self.body.values.iter().rev() {
            let take = results.len() < wanted && (results.is_empty() || !self.choices.one_in(3));
            if take && !value.ty.has_token() {
                results.push(value.clone());
            }
        }
        results
    }
}

/// The tree of an original value; empty tuples and tokens have none.
fn origin(ty: &Type) -> Option<String> {
    match ty {
        Type::Tuple(elements) if !elements.is_empty() => {
            let trees: Option<Vec<String>> = elements.iter().map(origin).collect();
            Some(format!("({})", trees?.join(", ")))
        }
        Type::Tuple(_) | Type::Token => None,
        Type::Array(..) => Some("{\"o\"}".to_owned()),
    }
}

impl Devices {
    /// How many there are, at least 1.
    pub(super) fn count(self) -> usize {
        self.replicas.max(1) * self.partitions.max(1)
    }
}

/// Numbers from an iterator as an array is written.
fn nested(element: ElementType, sizes: &[usize], numbers: &mut impl Iterator<Item = usize>) -> String {
    match sizes.split_first() {
        None => literal(element, numbers.next().unwrap_or(0)),
        Some((&size, rest)) => {
            let parts: Vec<String> = (0..size).map(|_| nested(element, rest, numbers)).collect();
            format!("{{{}}}", parts.join(", "))
        }
    }
}
