//! Result shapes: what is stated against what follows.

use crate::diagnostic::Code;
use crate::ir::{
    ArrayShape, AttrKey, ElementClass, ElementType, InstructionId, Opcode, Shape, ShapeId, UNBOUNDED, words,
};
use crate::shape_inference::{InferRequest, Inferred, ShapeErrorSubject, inferred_for_verifier};

use super::equality::{COMPATIBLE, EQUAL, EQUAL_ORDER, FLOATS_ALIKE, Layouts, Sameness};
use super::facts::Floats;
use super::{Check, Verifier};

/// How the result shape of an opcode is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// Layouts never count.
    Loose,
    /// In layout-sensitive checks the shapes are equal.
    Exact,
    /// In layout-sensitive checks the shapes are equal but for tiles and places.
    Order,
    /// The rule itself looks at the stated shape.
    None,
}

/// How an opcode's result is compared, and whether its operands may be floating-point numbers of different widths.
fn comparison(opcode: Opcode) -> (Comparison, bool) {
    use Comparison as C;
    use Opcode as O;
    match opcode {
        O::Call
        | O::Conditional
        | O::CopyDone
        | O::GetTupleElement
        | O::Outfeed
        | O::OptBarrier
        | O::RecvDone
        | O::SendDone
        | O::Tuple
        | O::While => (C::Exact, true),
        O::Constant | O::Infeed | O::CopyStart | O::Send | O::Recv => (C::Order, true),
        O::DynamicUpdateSlice => (C::Exact, false),
        O::AllGather
        | O::AllGatherDone
        | O::AllGatherStart
        | O::AllReduce
        | O::AllReduceDone
        | O::AllReduceStart
        | O::CollectivePermute
        | O::CollectivePermuteDone
        | O::CollectivePermuteStart
        | O::Convolution
        | O::Domain
        | O::Dot
        | O::RaggedDot
        | O::ReducePrecision
        | O::ReduceWindow
        | O::ScaledDot
        | O::Sort => (C::Loose, true),
        O::AsyncDone
        | O::AsyncStart
        | O::AsyncUpdate
        | O::Bitcast
        | O::Broadcast
        | O::CustomCall
        | O::DynamicReshape
        | O::Fusion
        | O::Iota
        | O::Parameter
        | O::Reshape
        | O::Rng
        | O::RngBitGenerator
        | O::Scan => (C::None, true),
        _ => (C::Loose, false),
    }
}

impl Verifier<'_> {
    /// No dimension of the result is of unknown size.
    pub(super) fn check_unbounded(&self, id: InstructionId) -> Check {
        if self.options.allow_unbounded_dynamism || !self.facts.of(self.shape_id(id)).has_unbounded {
            return Ok(());
        }
        let message = format!("`{}` is {}: sizes must be known or bounded", self.name(id), self.text_of(id));
        Err(self.wrong(Code::UnboundedSize, id, message).help("give a bound instead: `<=N`"))
    }

    /// The result shape follows from operands and attributes.
    pub(super) fn check_shape(&mut self, id: InstructionId) {
        use Opcode as O;
        let opcode = self.opcode(id);
        let module = self.module;
        let before = self.found.len();
        match opcode {
            O::Parameter => {}
            O::CustomCall => self.note(self.check_custom_call(id)),
            O::Bitcast => {}
            O::Fusion => self.note(self.check_fusion_signature(id)),
            O::Call => self.note(self.check_call(id)),
            O::While => self.note(self.check_while(id)),
            O::Conditional => self.note(self.check_conditional(id)),
            O::AsyncStart | O::AsyncUpdate | O::AsyncDone => {
                let check = self.check_async(id);
                self.note(check);
            }
            O::Scan => self.note(self.check_scan(id)),
            O::Constant => self.note(self.check_constant(id)),
            _ => {
                // Groups first: how shapes change depends on them. So XLA does with comparisons and scales.
                self.note(match opcode {
                    O::Sort => self.check_sort(id),
                    O::ScaledDot => self.check_scales(id),
                    _ => self.check_collective(id),
                });
                if self.found.len() > before {
                    return;
                }
                let mut operands = std::mem::take(&mut self.operand_shapes);
                operands.clear();
                operands.extend(module.operands(id).iter().map(|&id| module.instruction(id).shape));
                self.note(self.check_inferred(id, opcode, &operands));
                self.operand_shapes = operands;
            }
        }
        // More is only asked of what has the right form.
        if self.found.len() > before {
            return;
        }
        let more = match opcode {
            O::Map | O::Reduce | O::ReduceWindow => self.check_applied_types(id),
            O::Rng => self.check_rng(id),
            O::AddDependency => self.check_token(id, 1),
            O::Infeed => self.check_token(id, 0),
            O::Outfeed => self.check_token(id, 1).and_then(|()| self.check_outfeed(id)),
            _ => Ok(()),
        };
        self.note(more);
    }

    fn check_inferred(&self, id: InstructionId, opcode: Opcode, operands: &[ShapeId]) -> Check {
        let module = self.module;
        let stated = self.shape_id(id);
        let request = InferRequest { opcode, operands, attributes: module.attributes(id) };
        let inferred = inferred_for_verifier(&request, stated, module).map_err(|error| {
            let message = format!("`{}` is not a valid {opcode}: {}", self.name(id), error.message);
            let violation = self.wrong(error.code(opcode), id, message);
            match error.subject {
                ShapeErrorSubject::Operand(index) => match module.operands(id).get(index) {
                    Some(&operand) => violation.also(operand, format!("operand {index}")),
                    None => violation,
                },
                ShapeErrorSubject::Instruction | ShapeErrorSubject::Attribute(_) => violation,
            }
        })?;
        let (comparison, mixed) = comparison(opcode);
        if comparison == Comparison::None {
            return Ok(());
        }
        if !mixed && !self.options.allow_mixed_precision {
            self.check_precision(id, operands)?;
        }
        if !self.notion(id, opcode, comparison).of_inferred(module.shapes(), &inferred, stated) {
            let inferred = self.inferred_text(&inferred);
            let stated = self.text(stated);
            let message = format!(
                "`{}` is stated to be {stated}, but its operands and attributes give {inferred}",
                self.name(id)
            );
            // What a copy is of stands in its shape.
            let code = if opcode == Opcode::CopyStart { Code::CopyBuffers } else { Code::ResultShape };
            return Err(self
                .wrong(code, id, message)
                .label(format!("stated: {stated}; inferred: {inferred}")));
        }
        Ok(())
    }

    /// What is asked of the result shape.
    fn notion(&self, id: InstructionId, opcode: Opcode, comparison: Comparison) -> Sameness {
        match comparison {
            _ if !self.options.layout_sensitive && comparison != Comparison::Loose => COMPATIBLE,
            Comparison::Exact if opcode == Opcode::DynamicUpdateSlice && self.is_in_fusion(id) => {
                Sameness { layouts: Layouts::Untiled, ..EQUAL }
            }
            Comparison::Exact => EQUAL,
            Comparison::Order => EQUAL_ORDER,
            Comparison::Loose | Comparison::None => {
                if self.options.allow_mixed_precision {
                    FLOATS_ALIKE
                } else {
                    COMPATIBLE
                }
            }
        }
    }

    /// Whether the instruction belongs to the computation of a fusion.
    pub(super) fn is_in_fusion(&self, id: InstructionId) -> bool {
        self.uses.callers(self.module.instruction(id).parent).fusion.is_some()
    }

    /// A shape in words that is in no table.
    fn inferred_text(&self, inferred: &Inferred) -> String {
        match inferred {
            Inferred::Existing(id) => self.text(*id),
            Inferred::Token => "token[]".to_owned(),
            Inferred::Buffer(inner) => format!("b({})", self.inferred_text(inner)),
            Inferred::Tuple(elements) => {
                let texts: Vec<String> = elements.iter().map(|element| self.inferred_text(element)).collect();
                format!("({})", texts.join(", "))
            }
            Inferred::Array(array) if self.options.layout_sensitive => {
                crate::printer::shape::array_text(array, true)
            }
            Inferred::Array(array) => crate::shape_inference::array_text(array),
        }
    }

    /// All floating-point arrays among the operands are of one width.
    fn check_precision(&self, id: InstructionId, operands: &[ShapeId]) -> Check {
        let mut floats = Floats::None;
        for (index, &operand) in operands.iter().enumerate() {
            floats = floats.and(self.facts.of(operand).floats);
            let Floats::Mixed(one, other) = floats else { continue };
            let message = format!(
                "the operands of {} `{}` mix {} and {}",
                self.opcode(id),
                self.name(id),
                one.name(),
                other.name()
            );
            let violation = self.wrong(Code::MixedPrecision, id, message);
            let violation = match self.module.operands(id).get(index) {
                Some(&operand) => violation.also(operand, format!("this is {}", self.text_of(operand))),
                None => violation,
            };
            return Err(violation.help("bring the operands to one type with a convert"));
        }
        Ok(())
    }

    fn check_constant(&self, id: InstructionId) -> Check {
        let module = self.module;
        let Some(literal) = module.instruction(id).literal else {
            return Err(self.wrong(
                Code::ConstantShape,
                id,
                format!("constant `{}` has no literal", self.name(id)),
            ));
        };
        let (literal, stated) = (module.literal(literal).shape, self.shape_id(id));
        let how = if self.options.layout_sensitive {
            Sameness { dynamic: false, ..EQUAL_ORDER }
        } else {
            COMPATIBLE
        };
        if how.of(module.shapes(), literal, stated) {
            return Ok(());
        }
        let message = format!(
            "constant `{}` is stated to be {}, but its literal is {}",
            self.name(id),
            self.text(stated),
            self.text(literal)
        );
        Err(self.wrong(Code::ConstantShape, id, message))
    }

    fn check_token(&self, id: InstructionId, index: usize) -> Check {
        let Some(&operand) = self.module.operands(id).get(index) else { return Ok(()) };
        if matches!(self.module.shape_of(operand), Shape::Token) {
            return Ok(());
        }
        let message = format!(
            "operand {index} of {} `{}` must be a token, but is {}",
            self.opcode(id),
            self.name(id),
            self.text_of(operand)
        );
        Err(self.wrong(Code::NotAToken, id, message).also(operand, "the operand"))
    }

    fn check_outfeed(&self, id: InstructionId) -> Check {
        let (Some(crate::ir::AttrValue::Shape(stated)), Some(&operand)) =
            (self.module.attribute(id, AttrKey::OutfeedShape), self.module.operands(id).first())
        else {
            return Ok(());
        };
        if self.is_same(stated, self.shape_id(operand)) {
            return Ok(());
        }
        let message = format!(
            "outfeed `{}` states {}, but is given {}",
            self.name(id),
            self.text(stated),
            self.text_of(operand)
        );
        Err(self.wrong(Code::OutfeedShape, id, message).also(operand, "the operand"))
    }

    fn check_rng(&self, id: InstructionId) -> Check {
        let word = match self.module.attribute(id, AttrKey::Distribution) {
            Some(crate::ir::AttrValue::Word(word)) => words::RandomDistribution::from_word(word),
            _ => None,
        };
        let class = self.module.shape_of(id).as_array().map(|array| array.element_type.class());
        let fits = match word {
            Some(words::RandomDistribution::Normal) => class == Some(ElementClass::Float),
            Some(words::RandomDistribution::Uniform) => class != Some(ElementClass::Complex),
            Some(words::RandomDistribution::Invalid) | None => false,
        };
        if fits {
            return Ok(());
        }
        let name = word.map_or("no distribution", words::RandomDistribution::name);
        let message = format!("rng `{}` can't give {} of {name}", self.name(id), self.text_of(id));
        Err(self.wrong(Code::RandomOperands, id, message))
    }

    /// The scales of a scaled dot divide what they scale.
    fn check_scales(&self, id: InstructionId) -> Check {
        let wrong = |message: String| {
            Err(self.wrong(Code::ScaledDot, id, format!("scaled-dot `{}`: {message}", self.name(id))))
        };
        let array = |index: usize| -> Option<&ArrayShape> {
            self.module.shape_of(*self.module.operands(id).get(index)?).as_array()
        };
        let (Some(lhs), Some(rhs), Some(lhs_scale), Some(rhs_scale)) =
            (array(0), array(1), array(2), array(3))
        else {
            return Ok(());
        };
        for (side, operand, scale, key) in [
            ("left", lhs, lhs_scale, AttrKey::LhsContractingDims),
            ("right", rhs, rhs_scale, AttrKey::RhsContractingDims),
        ] {
            if is_no_scale(operand, scale) {
                continue;
            }
            let text = crate::shape_inference::array_text;
            if operand.rank() != scale.rank() {
                return wrong(format!(
                    "the {side} scale {} must have the rank of {}",
                    text(scale),
                    text(operand)
                ));
            }
            let contracting = self.module.ints(id, key).map_or(0, <[i64]>::len);
            if contracting != 1 {
                return wrong(format!(
                    "the {side} side must have one contracting dimension, but has {contracting}"
                ));
            }
            let divides = |(&size, &scale): (&i64, &i64)| {
                size == UNBOUNDED || scale == UNBOUNDED || size.checked_rem(scale) == Some(0)
            };
            if !operand.dimensions.iter().zip(&scale.dimensions).all(divides) {
                return wrong(format!("the {side} scale {} must divide {}", text(scale), text(operand)));
            }
        }
        if lhs_scale.rank() == 0 && rhs_scale.rank() == 0 {
            return wrong("at least one scale must not be a scalar".to_owned());
        }
        Ok(())
    }
}

/// XLA's way to leave out a scale: a single `bf16` one against a larger `bf16` operand.
fn is_no_scale(operand: &ArrayShape, scale: &ArrayShape) -> bool {
    let bf16 = |array: &ArrayShape| array.element_type == ElementType::Bf16;
    let single = |array: &ArrayShape| array.dimensions.iter().all(|&size| size == 1);
    bf16(operand) && bf16(scale) && single(scale) && !single(operand)
}
