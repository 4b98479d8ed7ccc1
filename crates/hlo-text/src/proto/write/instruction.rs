//! `HloInstructionProto`.

use smallvec::SmallVec;

use super::super::fault::{InField, Read};
use super::super::forms::{Form, form};
use super::super::schema::{hlo_instruction_proto as i, precision_config};
use super::super::wire::Writer;
use super::Encoder;
use super::literal::write_literal;
use super::metadata::write_metadata;
use super::shape::write_shape;
use super::sharding::groups_field;
use super::values::write_value;
use crate::ir::words::ComparisonType;
use crate::ir::{AttrKey, AttrKind, AttrValue, InstructionId, Opcode, OperandFormat, Value};

/// A field of the message.
#[derive(Clone, Copy)]
enum Part {
    Name,
    Opcode,
    Shape,
    Metadata,
    Literal,
    ParameterNumber,
    Id,
    Operands,
    ControlPredecessors,
    Calls,
    Attribute(AttrKey, AttrValue, Form),
    /// A number that is written although the instruction doesn't say it.
    Int(i64),
    /// The same of a word.
    Text(&'static str),
    /// The message of an attribute that is not given.
    Empty,
    /// Precisions of the operands, if they are not given.
    Precisions,
}

impl Encoder<'_> {
    /// Appends the fields of an instruction, in the order of their numbers.
    pub(super) fn instruction(&mut self, w: &mut Writer, id: InstructionId) -> Read<()> {
        let mut parts = self.parts(id);
        parts.sort_by_key(|part| part.0);
        let mut at = 0;
        while let Some(&(number, part)) = parts.get(at) {
            let end = at + parts[at..].iter().take_while(|part| part.0 == number).count();
            let inner: SmallVec<[Part; 8]> = parts[at..end].iter().map(|part| part.1).collect();
            let is_inside =
                |part: &Part| matches!(part, Part::Attribute(_, _, Form::Inside(..)) | Part::Precisions);
            if inner.iter().any(is_inside) {
                self.message(w, id, number, &inner);
            } else {
                self.part(w, id, number, part)?;
            }
            at = end;
        }
        Ok(())
    }

    fn parts(&self, id: InstructionId) -> SmallVec<[(u32, Part); 24]> {
        let module = self.module;
        let instruction = module.instruction(id);
        let opcode = instruction.opcode;
        let mut parts: SmallVec<[(u32, Part); 24]> = SmallVec::from_slice(&[
            (i::NAME, Part::Name),
            (i::OPCODE, Part::Opcode),
            (i::SHAPE, Part::Shape),
            (i::METADATA, Part::Metadata),
            (i::ID, Part::Id),
            (i::OPERAND_IDS, Part::Operands),
        ]);
        if instruction.literal.is_some() && !self.omit_literal {
            parts.push((i::LITERAL, Part::Literal));
        }
        if opcode.operand_format() == OperandFormat::ParameterNumber {
            parts.push((i::PARAMETER_NUMBER, Part::ParameterNumber));
        }
        if !module.control_predecessors(id).is_empty() {
            parts.push((i::CONTROL_PREDECESSOR_IDS, Part::ControlPredecessors));
        }
        let mut calls = false;
        for attr in module.attributes(id) {
            let (number, form) = form(attr.key, opcode);
            match form {
                Form::Call => calls = true,
                Form::None if attr.key == AttrKey::PermuteSliceSizes => {
                    parts.push((
                        i::DYNAMIC_SLICE_SIZES,
                        Part::Attribute(attr.key, attr.value, Form::Structure),
                    ));
                }
                Form::None => {}
                _ => {
                    let number = match attr.value {
                        AttrValue::Value(value) => match module.value(value) {
                            Value::ReplicaGroups(groups) => groups_field(groups),
                            _ => number,
                        },
                        _ => number,
                    };
                    parts.push((number, Part::Attribute(attr.key, attr.value, form)));
                    if attr.key == AttrKey::OperandLayoutConstraints {
                        parts.push((i::CONSTRAIN_LAYOUT, Part::Int(1)));
                    }
                }
            }
        }
        if calls {
            parts.push((i::CALLED_COMPUTATION_IDS, Part::Calls));
        }
        // What XLA writes whether it says something or not.
        let has = |parts: &[(u32, Part)], number| parts.iter().any(|part| part.0 == number);
        let always: &[(u32, Part)] = match opcode {
            Opcode::Convolution => &[
                (i::FEATURE_GROUP_COUNT, Part::Int(1)),
                (i::BATCH_GROUP_COUNT, Part::Int(1)),
                (i::SPARSITY_CONFIG, Part::Empty),
                (i::WINDOW, Part::Empty),
            ],
            Opcode::CustomCall => &[
                (i::FEATURE_GROUP_COUNT, Part::Int(1)),
                (i::BATCH_GROUP_COUNT, Part::Int(1)),
                (i::CUSTOM_CALL_API_VERSION, Part::Int(1)),
            ],
            Opcode::ReduceWindow | Opcode::SelectAndScatter => &[(i::WINDOW, Part::Empty)],
            Opcode::Cholesky => &[(i::CHOLESKY_OPTIONS, Part::Empty)],
            Opcode::TriangularSolve => &[(i::TRIANGULAR_SOLVE_OPTIONS, Part::Empty)],
            _ => &[],
        };
        let common = [(i::FRONTEND_ATTRIBUTES, Part::Empty), (i::STATISTICS_VIZ, Part::Empty)];
        for &(number, part) in always.iter().chain(&common) {
            if !has(&parts, number) {
                parts.push((number, part));
            }
        }
        if opcode == Opcode::Compare && module.attribute(id, AttrKey::ComparisonType).is_none() {
            parts.push((i::COMPARISON_TYPE, Part::Text(self.default_comparison(id).name())));
        }
        let is_precise = opcode.presence(AttrKey::OperandPrecision).is_some();
        if is_precise && module.attribute(id, AttrKey::OperandPrecision).is_none() {
            parts.push((i::PRECISION_CONFIG, Part::Precisions));
        }
        parts
    }

    /// How operands of this type are compared when the instruction doesn't say it.
    fn default_comparison(&self, id: InstructionId) -> ComparisonType {
        let operand = self.module.operands(id).first().map(|&operand| self.module.shape_of(operand));
        let class = operand.and_then(|shape| shape.as_array()).map(|array| array.element_type.class());
        class.map_or(ComparisonType::Unsigned, ComparisonType::default_of)
    }

    fn part(&mut self, w: &mut Writer, id: InstructionId, number: u32, part: Part) -> Read<()> {
        let module = self.module;
        let instruction = module.instruction(id);
        match part {
            Part::Name => w.bytes(number, module.strings().get(instruction.name)),
            Part::Opcode => w.bytes(number, instruction.opcode.name().as_bytes()),
            Part::Shape => w.message(number, |w| write_shape(w, module, instruction.shape)),
            Part::Metadata => w.message(number, |w| {
                if let Some(metadata) = instruction.metadata {
                    write_metadata(w, module, module.metadata(metadata));
                }
            }),
            Part::Literal => {
                if let Some(literal) = instruction.literal {
                    self.literal(w, number, id, module.literal(literal))?;
                }
            }
            Part::ParameterNumber => w.int(number, instruction.parameter_number.into()),
            Part::Id => w.int(number, self.ids.instruction(id)),
            Part::Operands => {
                w.ints(number, module.operands(id).iter().map(|&operand| self.ids.instruction(operand)));
            }
            Part::ControlPredecessors => {
                let predecessors = module.control_predecessors(id);
                w.ints(number, predecessors.iter().map(|&predecessor| self.ids.instruction(predecessor)));
            }
            Part::Calls => {
                let mut called: SmallVec<[i64; 4]> = SmallVec::new();
                module.for_each_called_computation(id, |callee| called.push(self.ids.computation(callee)));
                w.ints(number, called);
            }
            Part::Int(value) => w.int(number, value),
            Part::Text(text) => w.bytes(number, text.as_bytes()),
            Part::Empty => w.always_bytes(number, &[]),
            Part::Attribute(_, AttrValue::Literal(literal), _) => {
                self.literal(w, number, id, module.literal(literal))?;
            }
            Part::Attribute(key, value, form) => self.attribute(w, number, key, value, form),
            // Only within messages, see `message`.
            Part::Precisions => {}
        }
        Ok(())
    }

    fn literal(
        &mut self,
        w: &mut Writer,
        number: u32,
        id: InstructionId,
        literal: &crate::ir::Literal,
    ) -> Read<()> {
        let (mut result, mut elided) = (Ok(()), false);
        w.message(number, |w| result = write_literal(w, self.module, literal, &mut elided));
        if elided {
            self.elided.push(id);
        }
        result.within("literal")
    }

    /// Appends a message that several attributes are in.
    fn message(&self, w: &mut Writer, id: InstructionId, number: u32, parts: &[Part]) {
        let mut inner: SmallVec<[(u32, Part); 8]> = parts
            .iter()
            .map(|&part| match part {
                Part::Attribute(_, _, Form::Inside(inner, _)) => (inner, part),
                _ => (precision_config::OPERAND_PRECISION, part),
            })
            .collect();
        inner.sort_by_key(|part| part.0);
        w.message(number, |w| {
            let mut at = 0;
            while let Some(&(inner_number, part)) = inner.get(at) {
                let same = inner[at..].iter().take_while(|part| part.0 == inner_number).count();
                match part {
                    Part::Attribute(_, _, Form::Inside(_, Form::Inside(..))) => {
                        let nested: SmallVec<[Part; 8]> = inner[at..at + same]
                            .iter()
                            .map(|&(_, part)| match part {
                                Part::Attribute(key, value, Form::Inside(_, form)) => {
                                    Part::Attribute(key, value, *form)
                                }
                                part => part,
                            })
                            .collect();
                        self.message(w, id, inner_number, &nested);
                    }
                    Part::Attribute(key, value, Form::Inside(_, form)) => {
                        self.attribute(w, inner_number, key, value, *form);
                    }
                    // The precisions themselves, in a message that an algorithm is in, too.
                    Part::Attribute(_, AttrValue::Value(value), _) => {
                        if let Value::Precision(list) = self.module.value(value) {
                            w.ints(inner_number, list.iter().map(|precision| precision.word().into()));
                        }
                    }
                    Part::Precisions => {
                        // Products have two factors, whatever else their operands are.
                        let count = match self.module.instruction(id).opcode {
                            Opcode::CustomCall => self.module.operands(id).len(),
                            _ => 2,
                        };
                        w.ints(inner_number, std::iter::repeat_n(0, count));
                    }
                    _ => {}
                }
                at += same;
            }
        });
    }

    fn attribute(&self, w: &mut Writer, number: u32, key: AttrKey, value: AttrValue, form: Form) {
        let module = self.module;
        match (value, form) {
            (AttrValue::Bool(flag), _) if key == AttrKey::IsAssociative => {
                w.int(number, if flag { 1 } else { 2 });
            }
            (AttrValue::Bool(flag), _) => w.bool(number, flag),
            (AttrValue::Int(value), Form::OptionalInt) => w.always_int(number, value),
            (AttrValue::Int(value), Form::OneInt) => w.ints(number, [value]),
            (AttrValue::Int(value), _) => w.int(number, value),
            (AttrValue::Float(value), _) => w.float(number, value),
            (AttrValue::Word(word), Form::Word(words)) => w.int(number, words.number(word).into()),
            (AttrValue::Word(word), _) => {
                if let AttrKind::Word(vocabulary) = key.kind()
                    && let Some(text) = vocabulary.words().get(usize::from(word))
                {
                    w.bytes(number, text.as_bytes());
                }
            }
            (AttrValue::String(text), _) => w.bytes(number, module.strings().get(text)),
            (AttrValue::Shape(shape), _) => w.message(number, |w| write_shape(w, module, shape)),
            (AttrValue::Value(value), _) => write_value(w, module, key, number, module.value(value)),
            // Literals and computations are written elsewhere; what is raw has no field.
            (AttrValue::Computation(_) | AttrValue::Literal(_) | AttrValue::Raw(_), _) => {}
        }
    }
}
