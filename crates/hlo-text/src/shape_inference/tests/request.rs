//! Requests written as instructions whose operands are shapes: `pad(f32[4], f32[]), padding=1_2_1`. A called
//! computation is written as its signature: `to_apply=(f32[], f32[])->f32[]`.

use crate::ir::{
    Attr, AttrKey, AttrKind, AttrValue, Computation, ComputationId, ConvolutionDimensionNumbers, Instruction,
    InstructionId, Module, Opcode, PaddingDimension, PoolRange, Presence, ShapeId, SliceRange,
    SparsityConfig, TensorSparsity, Value, Window, WindowDimension,
};
use crate::lexer::Cursor;
use crate::parser::{Dialect, ValueContext};
use crate::shape_inference::{InferRequest, ShapeError, infer_shape, infer_shape_extended};

/// A request with the module its ids belong to.
pub(super) struct Request {
    pub(super) module: Module,
    opcode: Opcode,
    operands: Vec<ShapeId>,
    attributes: Vec<Attr>,
}

/// Splits at commas that are not inside brackets.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut start = 0;
    let mut parts = Vec::new();
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(text[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// The end of the brackets that begin the text.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    panic!("no closing bracket in {text:?}")
}

fn numbers(text: &str) -> Vec<i64> {
    let inner = text.trim_start_matches('{').trim_end_matches('}');
    split(inner).into_iter().map(|number| number.parse().unwrap_or_else(|_| panic!("{text:?}"))).collect()
}

fn sizes(text: &str) -> Vec<i64> {
    text.split('x').map(|number| number.parse().unwrap_or_else(|_| panic!("{text:?}"))).collect()
}

fn pads(text: &str) -> Vec<PaddingDimension> {
    let dimension = |text: &str| {
        let parts: Vec<i64> = text.split('_').map(|number| number.parse().expect("a number")).collect();
        PaddingDimension { low: parts[0], high: parts[1], interior: parts.get(2).copied().unwrap_or(0) }
    };
    if text.is_empty() { Vec::new() } else { text.split('x').map(dimension).collect() }
}

fn window(text: &str) -> Window {
    let mut window = Window::default();
    for part in text.trim_matches(['{', '}']).split_whitespace() {
        let (name, value) = part.split_once('=').expect("name=value");
        if name == "size" {
            window.dimensions = sizes(value)
                .into_iter()
                .map(|size| WindowDimension {
                    size,
                    stride: 1,
                    padding_low: 0,
                    padding_high: 0,
                    window_dilation: 1,
                    base_dilation: 1,
                    window_reversal: false,
                })
                .collect();
            continue;
        }
        if name == "pad" {
            for (dim, pad) in window.dimensions.iter_mut().zip(pads(value)) {
                (dim.padding_low, dim.padding_high) = (pad.low, pad.high);
            }
            continue;
        }
        for (dim, number) in window.dimensions.iter_mut().zip(sizes(value)) {
            match name {
                "stride" => dim.stride = number,
                "lhs_dilate" => dim.base_dilation = number,
                "rhs_dilate" => dim.window_dilation = number,
                _ => panic!("{name}"),
            }
        }
    }
    window
}

fn labels(text: &str) -> ConvolutionDimensionNumbers {
    let (input, rest) = text.split_once('_').expect("labels");
    let (kernel, output) = rest.split_once("->").expect("labels");
    let at = |part: &str, label: char| part.find(label).expect("a label") as i64;
    let spatial = |part: &str| -> Vec<i64> {
        let digits = part.chars().filter(char::is_ascii_digit).count();
        (0..digits).map(|digit| at(part, char::from(b'0' + digit as u8))).collect()
    };
    ConvolutionDimensionNumbers {
        input_batch: at(input, 'b'),
        input_feature: at(input, 'f'),
        input_spatial: spatial(input),
        kernel_input_feature: at(kernel, 'i'),
        kernel_output_feature: at(kernel, 'o'),
        kernel_spatial: spatial(kernel),
        output_batch: at(output, 'b'),
        output_feature: at(output, 'f'),
        output_spatial: spatial(output),
    }
}

fn slices(text: &str) -> Vec<SliceRange> {
    let range = |text: &str| {
        let parts: Vec<i64> =
            text.trim_matches(['[', ']']).split(':').map(|it| it.parse().expect("a number")).collect();
        SliceRange { start: parts[0], limit: parts[1], stride: parts.get(2).copied().unwrap_or(1) }
    };
    split(text.trim_start_matches('{').trim_end_matches('}')).into_iter().map(range).collect()
}

/// Takes a shape of `text` into `module`.
pub(super) fn shape(module: &mut Module, text: &str) -> ShapeId {
    let mut warnings = Vec::new();
    let mut context = ValueContext { module, dialect: Dialect::Strict, warnings: &mut warnings };
    let mut cursor = Cursor::new(text);
    let id =
        crate::parser::shape::parse_shape(&mut cursor, &mut context).unwrap_or_else(|_| panic!("{text:?}"));
    assert_eq!(cursor.token(), crate::lexer::Token::Eof, "{text:?}");
    id
}

fn instruction(module: &mut Module, parent: ComputationId, opcode: Opcode, shape: ShapeId) -> InstructionId {
    let name = module.strings_mut().intern(b"x");
    module.instructions.push(Instruction {
        name,
        shape,
        operands: PoolRange::default(),
        attributes: PoolRange::default(),
        metadata: None,
        parent,
        literal: None,
        parameter_number: 0,
        opcode,
        has_control_predecessors: false,
        removed: false,
    });
    InstructionId::from_index(module.instructions.len() - 1)
}

fn computation(module: &mut Module, signature: &str) -> ComputationId {
    let id = ComputationId::from_index(module.computations.len());
    let end = closing(signature);
    let mut parameters = Vec::new();
    for text in split(&signature[1..end]) {
        let shape = shape(module, text);
        parameters.push(instruction(module, id, Opcode::Parameter, shape));
    }
    let result = signature[end + 1..].trim().strip_prefix("->").expect("a signature");
    let result = shape(module, result);
    let root = instruction(module, id, Opcode::CustomCall, result);
    let instructions = parameters.iter().copied().chain([root]).collect();
    let name = module.strings_mut().intern(b"c");
    let computation = Computation { name, instructions, parameters, root, execution_thread: None };
    module.computations.push(Some(computation));
    id
}

fn attribute(module: &mut Module, opcode: Opcode, text: &str) -> Attr {
    let (name, value) = text.split_once('=').expect("name=value");
    let rows: &[(AttrKey, Presence)] = opcode.info().attributes;
    let key = rows.iter().map(|row| row.0).find(|key| key.name() == name);
    let key = key.unwrap_or_else(|| panic!("{opcode} has no {name}"));
    let of_value = |module: &mut Module, value| AttrValue::Value(module.intern_value(value));
    let value = match key.kind() {
        AttrKind::Bool => AttrValue::Bool(value == "true"),
        AttrKind::Int => AttrValue::Int(value.parse().expect("a number")),
        AttrKind::Float => AttrValue::Float(value.parse().expect("a number")),
        AttrKind::Word(vocabulary) => AttrValue::Word(vocabulary.find(value).expect("a word")),
        AttrKind::Computation => AttrValue::Computation(computation(module, value)),
        AttrKind::Computations => {
            let signatures = split(&value[1..value.len() - 1]);
            let ids = signatures.into_iter().map(|signature| computation(module, signature)).collect();
            of_value(module, Value::Computations(ids))
        }
        AttrKind::Ints => of_value(module, Value::Ints(numbers(value))),
        AttrKind::IntLists => {
            let lists = split(&value[1..value.len() - 1]).into_iter().map(numbers).collect();
            of_value(module, Value::IntLists(lists))
        }
        AttrKind::Window => of_value(module, Value::Window(window(value))),
        AttrKind::Padding => of_value(module, Value::Padding(pads(value))),
        AttrKind::DimLabels => of_value(module, Value::DimLabels(labels(value))),
        AttrKind::Slice => of_value(module, Value::Slice(slices(value))),
        AttrKind::SparsityConfig => {
            let (present, block) = value.split_once('x').expect("AxB");
            let sparsity = (present.parse().expect("a number"), block.parse().expect("a number"));
            let rhs = Some(TensorSparsity { sparsity, dimension: 0, stride: 0 });
            of_value(module, Value::SparsityConfig(SparsityConfig { lhs: None, rhs }))
        }
        kind => panic!("{kind:?} is not written in these tests"),
    };
    Attr { key, value }
}

impl Request {
    /// Reads a request.
    pub(super) fn new(text: &str) -> Self {
        let mut module = Module::new("m");
        let (name, rest) = text.split_at(text.find('(').expect("operands"));
        let opcode = Opcode::from_name(name).unwrap_or_else(|| panic!("{name}"));
        let end = closing(rest);
        let operands = split(&rest[1..end]).into_iter().map(|text| shape(&mut module, text)).collect();
        let attributes = split(&rest[end + 1..]);
        let attributes = attributes.into_iter().map(|text| attribute(&mut module, opcode, text)).collect();
        Self { module, opcode, operands, attributes }
    }

    /// The shape the parser infers.
    pub(super) fn infer(&mut self) -> Result<ShapeId, ShapeError> {
        let Self { module, opcode, operands, attributes } = self;
        infer_shape(&InferRequest { opcode: *opcode, operands, attributes }, module)
    }

    /// The shape it ought to have, given what is stated.
    pub(super) fn infer_extended(&mut self, stated: Option<&str>) -> Result<ShapeId, ShapeError> {
        let stated = stated.map(|text| shape(&mut self.module, text));
        let Self { module, opcode, operands, attributes } = self;
        infer_shape_extended(&InferRequest { opcode: *opcode, operands, attributes }, stated, module)
    }

    /// What was inferred, in words.
    pub(super) fn describe(&self, id: ShapeId) -> String {
        format!("{:?}", self.module.shape(id))
    }
}
