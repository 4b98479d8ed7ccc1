//! What an opcode asks of its operands and attributes, and its result shape: the checks XLA's parser makes.
//!
//! Everything else (do sizes fit, are indices in range) is the verifier's business. Where XLA's constructors abort
//! the process there is a diagnostic.

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{AttrKey, AttrValue, ElementType, Opcode, Shape, ShapeId, Value, words};
use crate::shape_inference::{
    InferRequest, MAX_TUPLE_NODES, ShapeErrorKind, infer_shape, infer_shape_extended,
};

use super::builder::{Builder, Frame};
use super::{MAX_NESTING_DEPTH, ParseResult};

impl Builder<'_> {
    pub(super) fn error<T>(&self, code: Code, span: Span, message: impl Into<String>) -> ParseResult<T> {
        Err(Diagnostic::new(code, span, message).boxed())
    }

    /// An error in the instruction `frame`, all of which XLA's parser has read before it stops.
    pub(super) fn error_in<T>(
        &self,
        code: Code,
        frame: &Frame,
        message: impl Into<String>,
    ) -> ParseResult<T> {
        Err(Diagnostic::new(code, frame.after, message).focus(frame.opcode_at, "").boxed())
    }

    /// Checks the complete instruction `frame` and gives its result shape.
    pub(super) fn check_and_shape(&mut self, frame: &Frame) -> ParseResult<ShapeId> {
        self.check_opcode(frame)?;
        let computed = if self.from_parts { None } else { self.computed_shape(frame)? };
        let shape = match (computed, frame.shape) {
            (Some(computed), _) => computed,
            (None, Some(shape)) => shape,
            (None, None) => self.inferred_shape(frame)?,
        };
        self.check_extent(frame, shape)?;
        self.check_result(frame, shape)?;
        Ok(shape)
    }

    /// What is not in the text can be larger than the text.
    fn check_extent(&self, frame: &Frame, shape: ShapeId) -> ParseResult<()> {
        let extent = self.module.shapes.extent(shape);
        if extent.depth as usize > MAX_NESTING_DEPTH {
            let message = format!("the result shape is nested more than {MAX_NESTING_DEPTH} levels deep");
            return self.error(Code::TooDeep, frame.opcode_at, message);
        }
        if extent.nodes as usize > MAX_TUPLE_NODES && frame.shape != Some(shape) {
            let message = format!("the result shape consists of more than {MAX_TUPLE_NODES} shapes");
            return self.error(Code::TooLarge, frame.opcode_at, message);
        }
        Ok(())
    }

    fn inferred_shape(&mut self, frame: &Frame) -> ParseResult<ShapeId> {
        let operands: smallvec::SmallVec<[ShapeId; 4]> =
            self.operands_of(frame).iter().map(|&operand| self.module.instruction(operand).shape).collect();
        let attributes: smallvec::SmallVec<[crate::ir::Attr; 4]> =
            self.pending(frame).iter().map(|pending| pending.attr).collect();
        let request =
            InferRequest { opcode: frame.word.opcode, operands: &operands, attributes: &attributes };
        let mut result = infer_shape(&request, &mut self.module);
        if self.infer_shapes && matches!(&result, Err(error) if error.kind == ShapeErrorKind::NotInferable) {
            result = infer_shape_extended(&request, None, &mut self.module);
        }
        result.map_err(|error| {
            let message = format!("no result shape can be inferred: {}", error.message);
            let code = match error.kind {
                ShapeErrorKind::NotInferable if self.infer_shapes => Code::MissingShape,
                ShapeErrorKind::NotInferable | ShapeErrorKind::Invalid => Code::ShapeInference,
            };
            Diagnostic::new(code, frame.after, message)
                .focus(frame.opcode_at, "")
                .help("fix the operands, or write the result shape before the opcode")
                .boxed()
        })
    }

    /// The result shape of opcodes whose declared shape XLA replaces.
    fn computed_shape(&mut self, frame: &Frame) -> ParseResult<Option<ShapeId>> {
        let operand = |index| self.operand_shape(frame, index);
        let shapes = &self.module.shapes;
        let shape = match frame.word.opcode {
            Opcode::AfterAll | Opcode::Outfeed => Shape::Token,
            Opcode::AddDependency => return Ok(operand(0)),
            Opcode::Send => {
                let (Some(data), token) = (operand(0), self.module.shapes.intern(Shape::Token)) else {
                    return Ok(None);
                };
                let context = self.module.shapes.array(ElementType::U32, &[]);
                Shape::Tuple(vec![data, context, token])
            }
            Opcode::SendDone => Shape::Token,
            Opcode::Infeed | Opcode::Recv | Opcode::RecvDone => {
                let declared = frame.shape.and_then(|shape| shapes.get(shape).as_tuple());
                let received = operand(0).and_then(|shape| shapes.get(shape).as_tuple());
                // The data of a done is that of its recv.
                let from =
                    if frame.word.opcode == Opcode::RecvDone { received.or(declared) } else { declared };
                let Some(&data) = from.and_then(|elements| elements.first()) else {
                    let message =
                        format!("the result of `{}` is a tuple that is not empty", frame.word.opcode);
                    return self.error_in(Code::ShapeForm, frame, message);
                };
                let token = self.module.shapes.intern(Shape::Token);
                if frame.word.opcode == Opcode::Recv {
                    let context = self.module.shapes.array(ElementType::U32, &[]);
                    Shape::Tuple(vec![data, context, token])
                } else {
                    Shape::Tuple(vec![data, token])
                }
            }
            Opcode::Constant => {
                return Ok(self.pending_literal.map(|literal| self.module.literal(literal).shape));
            }
            _ => return Ok(None),
        };
        Ok(Some(self.module.shapes.intern(shape)))
    }

    /// The checks that don't need the result shape.
    fn check_opcode(&mut self, frame: &Frame) -> ParseResult<()> {
        let operands = self.operands.len() - frame.operands;
        let opcode = frame.word.opcode;
        match opcode {
            Opcode::Compare => self.check_compare(frame),
            Opcode::Concatenate | Opcode::Sort => self.one_dimension(frame, "exactly one dimension"),
            Opcode::AllGather
            | Opcode::AllGatherStart
            | Opcode::GetDimensionSize
            | Opcode::SetDimensionSize => self.first_dimension(frame),
            Opcode::ReduceScatter => {
                self.check_global_device_ids(frame)?;
                self.first_dimension(frame)
            }
            Opcode::AllReduce | Opcode::AllReduceStart => self.check_global_device_ids(frame),
            Opcode::AllToAll => match self.given_ints(frame, AttrKey::Dimensions) {
                Some(dimensions) if dimensions.len() != 1 => {
                    self.one_dimension(frame, "at most one dimension")
                }
                _ => Ok(()),
            },
            Opcode::RaggedAllToAll => match self.given_ints(frame, AttrKey::Dimensions) {
                Some(dimensions) if dimensions.len() > 1 => {
                    self.one_dimension(frame, "at most one dimension")
                }
                _ => Ok(()),
            },
            Opcode::Conditional => self.check_conditional(frame, operands),
            Opcode::CollectivePermute | Opcode::CollectivePermuteStart => self.check_permute(frame, operands),
            Opcode::CustomCall => self.check_custom_call(frame, operands),
            Opcode::Dot => {
                if operands < 2 {
                    let message = format!("`dot` takes 2 operands, but {operands} is given");
                    return self.error(Code::OperandCount, frame.paren_at, message);
                }
                // XLA drops the others.
                self.operands.truncate(frame.operands + 2);
                Ok(())
            }
            Opcode::DynamicSlice => self.check_dynamic_index(frame, operands, 1),
            Opcode::DynamicUpdateSlice => self.check_dynamic_index(frame, operands, 2),
            Opcode::DynamicReshape if operands == 0 => {
                self.error(Code::OperandCount, frame.paren_at, "`dynamic-reshape` takes at least one operand")
            }
            Opcode::Reduce | Opcode::ReduceWindow if !operands.is_multiple_of(2) => {
                let message = format!(
                    "`{opcode}` takes as many initial values as inputs, but {operands} operands are given"
                );
                Err(Diagnostic::new(Code::OperandCount, frame.after, message)
                    .focus(frame.opcode_at, "an even number of operands")
                    .boxed())
            }
            Opcode::Scatter if operands % 2 != 1 => {
                let message = format!(
                    "`scatter` takes inputs, indices and as many updates as inputs, but {operands} operands are given"
                );
                Err(Diagnostic::new(Code::OperandCount, frame.after, message)
                    .focus(frame.opcode_at, "an odd number of operands")
                    .boxed())
            }
            Opcode::Scan => self.check_scan(frame, operands),
            Opcode::Copy => match self.operand_shape(frame, 0).map(|shape| self.module.shape(shape)) {
                Some(Shape::Opaque) => {
                    self.error(Code::ShapeForm, frame.opcode_at, "an `opaque` value cannot be copied")
                }
                _ => Ok(()),
            },
            // The verifier looks at channels.
            Opcode::RecvDone | Opcode::SendDone if !self.from_parts => self.check_channel(frame),
            Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone => self.check_async(frame),
            _ => Ok(()),
        }
    }

    fn one_dimension(&self, frame: &Frame, what: &str) -> ParseResult<()> {
        match self.given_ints(frame, AttrKey::Dimensions) {
            Some(dimensions) if dimensions.len() == 1 => Ok(()),
            found => {
                let count = found.map_or(0, <[i64]>::len);
                let message = format!("`{}` has {what}, but {count} are given", frame.word.opcode);
                self.error(Code::BadAttributeValue, self.key_span(frame, AttrKey::Dimensions), message)
            }
        }
    }

    /// XLA uses the first entry and ignores others.
    fn first_dimension(&mut self, frame: &Frame) -> ParseResult<()> {
        let Some(dimensions) = self.given_ints(frame, AttrKey::Dimensions) else { return Ok(()) };
        match *dimensions {
            [_] => Ok(()),
            [first, ..] if self.strict() => {
                let value = self.module.intern_value(Value::Ints(vec![first]));
                self.set(frame, AttrKey::Dimensions, AttrValue::Value(value));
                Ok(())
            }
            _ => self.one_dimension(frame, "exactly one dimension"),
        }
    }

    fn check_compare(&mut self, frame: &Frame) -> ParseResult<()> {
        let class = match self.operand_shape(frame, 0).map(|shape| self.module.shape(shape)) {
            Some(Shape::Array(array)) => array.element_type.class(),
            Some(_) => {
                return self.error(Code::ShapeForm, frame.opcode_at, "only arrays can be compared");
            }
            None => return Ok(()),
        };
        let default = words::ComparisonType::default_of(class);
        if self.given(frame, AttrKey::ComparisonType) == Some(AttrValue::Word(default.word())) {
            self.remove(frame, AttrKey::ComparisonType);
        }
        Ok(())
    }

    fn check_global_device_ids(&mut self, frame: &Frame) -> ParseResult<()> {
        if self.from_parts {
            // The verifier looks at it.
            return Ok(());
        }
        let global = self.given_flag(frame, AttrKey::UseGlobalDeviceIds);
        let has = |key| self.given(frame, key).is_some();
        if global && !has(AttrKey::ChannelId) && !has(AttrKey::Mode) {
            let message = "`use_global_device_ids=true` needs a `channel_id`";
            let error = Diagnostic::new(Code::BadAttributeValue, frame.paren_at, message)
                .also(self.key_span(frame, AttrKey::UseGlobalDeviceIds), "given here");
            // With `mode=` XLA reads it, and prints it without, which it can't read.
            if self.strict() {
                return Err(error.boxed());
            }
            self.warnings.push(error.warning());
        }
        Ok(())
    }

    fn check_conditional(&mut self, frame: &Frame, operands: usize) -> ParseResult<()> {
        let first = self.operand_shape(frame, 0).map(|shape| self.module.shape(shape));
        let at = frame.after_operands.unwrap_or(frame.opcode_at);
        let element_type = match first {
            Some(Shape::Array(array)) if array.rank() == 0 => array.element_type,
            Some(_) => {
                let message = "the first operand of `conditional` is a scalar";
                return Err(Diagnostic::new(Code::ShapeForm, at, message).focus(frame.opcode_at, "").boxed());
            }
            None => return self.error(Code::OperandCount, frame.paren_at, "`conditional` needs operands"),
        };
        let keys: &[AttrKey] = match element_type {
            ElementType::Pred => &[AttrKey::TrueComputation, AttrKey::FalseComputation],
            ElementType::S32 => &[AttrKey::BranchComputations],
            _ => {
                let message = "the first operand of `conditional` is `pred[]` or `s32[]`";
                return Err(Diagnostic::new(Code::ShapeForm, at, message).focus(frame.opcode_at, "").boxed());
            }
        };
        let missing =
            keys.iter().filter(|&&key| self.given(frame, key).is_none()).map(|key| key.name()).min();
        if let Some(name) = missing {
            let message = format!("`conditional` needs the attribute `{name}`");
            return Err(Diagnostic::new(Code::MissingAttribute, at, message)
                .focus(frame.opcode_at, "")
                .help(format!("add `, {name}=...`"))
                .boxed());
        }
        let branches = match self.given(frame, AttrKey::BranchComputations) {
            Some(AttrValue::Value(value)) => match self.module.value(value) {
                Value::Computations(list) => list.len(),
                _ => 0,
            },
            _ => 2,
        };
        if branches == 0 || operands != branches + 1 {
            let message = format!(
                "`conditional` has one operand for each branch beside the first, but {} for {branches}",
                operands - 1
            );
            return self.error(Code::OperandCount, frame.paren_at, message);
        }
        Ok(())
    }

    fn check_permute(&self, frame: &Frame, operands: usize) -> ParseResult<()> {
        if let Some(AttrValue::Value(value)) = self.given(frame, AttrKey::SourceTargetPairs)
            && let Value::IntLists(lists) = self.module.value(value)
            && lists.iter().any(|list| list.len() != 2)
        {
            let key = self.key_span(frame, AttrKey::SourceTargetPairs);
            let message = "`source_target_pairs` is a list of pairs";
            return Err(Diagnostic::new(Code::BadAttributeValue, frame.after, message)
                .focus(key, "")
                .boxed());
        }
        let slices = match self.given(frame, AttrKey::PermuteSliceSizes) {
            Some(AttrValue::Value(value)) => !self.module.value(value).is_empty(),
            _ => false,
        };
        if slices && operands != 4 {
            let message = format!(
                "`{}` with `slice_sizes` has 4 operands, but {operands} are given",
                frame.word.opcode
            );
            return self.error_in(Code::OperandCount, frame, message);
        }
        Ok(())
    }

    fn check_custom_call(&mut self, frame: &Frame, operands: usize) -> ParseResult<()> {
        if let Some(AttrValue::Word(word)) = self.given(frame, AttrKey::ApiVersion)
            && word == words::ApiVersion::Unspecified.word()
            && !self.from_parts
        {
            let span = self.key_span(frame, AttrKey::ApiVersion);
            let message = "`API_VERSION_UNSPECIFIED` is of an older XLA";
            let error = Diagnostic::new(Code::Dialect, span, message)
                .help("leave `api_version` out, or give the version the target was registered with");
            if self.strict() {
                return Err(error.boxed());
            }
            self.warnings.push(error.warning());
        }
        if let Some(AttrValue::Value(value)) = self.given(frame, AttrKey::OperandLayoutConstraints) {
            let constraints = match self.module.value(value) {
                Value::Shapes(shapes) => shapes.clone(),
                _ => Vec::new(),
            };
            let span = self.key_span(frame, AttrKey::OperandLayoutConstraints);
            if constraints.len() != operands {
                let message = format!("{operands} operands, but {} layout constraints", constraints.len());
                return self.error(Code::OperandShape, span, message);
            }
            for (index, &constraint) in constraints.iter().enumerate() {
                let Some(actual) = self.operand_shape(frame, index) else { continue };
                if !self.module.shapes.compatible(constraint, actual) {
                    let text = |shape| crate::printer::shape::shape_text(&self.module, shape, true);
                    let message = format!(
                        "the layout constraint of operand {index} is `{}`, but the operand is `{}`",
                        text(constraint),
                        text(actual)
                    );
                    return self.error(Code::OperandShape, span, message);
                }
            }
            if self.from_parts {
                return Ok(());
            }
            // XLA drops the computations then.
            self.remove(frame, AttrKey::ToApply);
            self.remove(frame, AttrKey::CalledComputations);
            return Ok(());
        }
        if let Some(computation) = self.given_computation(frame, AttrKey::ToApply) {
            self.remove(frame, AttrKey::ToApply);
            let value = self.module.intern_value(Value::Computations(vec![computation]));
            self.set(frame, AttrKey::CalledComputations, AttrValue::Value(value));
        }
        Ok(())
    }

    /// `dynamic-slice` and `dynamic-update-slice`: one index per dimension, or a vector of them.
    fn check_dynamic_index(&self, frame: &Frame, operands: usize, data: usize) -> ParseResult<()> {
        if operands < data {
            let message = format!("`{}` takes at least {data} operands", frame.word.opcode);
            return self.error_in(Code::OperandCount, frame, message);
        }
        let rank_of = |index| {
            let shape = self.operand_shape(frame, index)?;
            Some(self.module.shape(shape).as_array()?.rank())
        };
        let rank = rank_of(0).unwrap_or(0);
        let vector = operands == data + 1 && rank_of(data) == Some(1);
        if !vector && operands != data + rank {
            let message = format!(
                "`{}` takes {data} operand{} and {rank} indices here, or a vector of indices, but {operands} operands are given",
                frame.word.opcode,
                if data == 1 { "" } else { "s" },
            );
            return self.error_in(Code::OperandCount, frame, message);
        }
        Ok(())
    }

    fn check_scan(&self, frame: &Frame, operands: usize) -> ParseResult<()> {
        if let Some(dimensions) = self.given_ints(frame, AttrKey::Dimensions)
            && dimensions.len() != 1
        {
            let message = format!("`scan` has exactly one dimension, but {} are given", dimensions.len());
            let key = self.key_span(frame, AttrKey::Dimensions);
            return Err(Diagnostic::new(Code::BadAttributeValue, frame.after, message)
                .focus(key, "")
                .boxed());
        }
        let carries = self.given_int(frame, AttrKey::NumCarries).unwrap_or(0);
        if i64::try_from(operands).is_ok_and(|operands| operands < carries) || carries < 0 {
            let message = format!("`scan` has {carries} carries, but {operands} operands");
            return self.error_in(Code::OperandCount, frame, message);
        }
        let called = self.given_computation(frame, AttrKey::ToApply);
        let called = called.and_then(|id| self.module.computations[id.index()].as_ref());
        if let Some(computation) = called
            && computation.parameters.len() != operands
        {
            let message = format!(
                "`scan` has {operands} operands, but its computation has {} parameters",
                computation.parameters.len()
            );
            return self.error_in(Code::OperandCount, frame, message);
        }
        Ok(())
    }

    /// `recv-done` and `send-done` are on the channel of what they wait for.
    fn check_channel(&self, frame: &Frame) -> ParseResult<()> {
        let Some(&operand) = self.operands_of(frame).first() else { return Ok(()) };
        if !matches!(
            self.module.instruction(operand).opcode,
            Opcode::Send | Opcode::Recv | Opcode::SendDone | Opcode::RecvDone
        ) {
            return Ok(());
        }
        let theirs = self.module.int(operand, AttrKey::ChannelId);
        let ours = self.given_int(frame, AttrKey::ChannelId);
        if theirs == ours {
            return Ok(());
        }
        let text =
            |channel: Option<i64>| channel.map_or("no channel".to_owned(), |id| format!("channel {id}"));
        let message =
            format!("`{}` is on {}, but its operand on {}", frame.word.opcode, text(ours), text(theirs));
        Err(Diagnostic::new(Code::BadAttributeValue, self.key_span(frame, AttrKey::ChannelId), message)
            .also(self.spans[operand.index()], "the operand")
            .boxed())
    }

    /// The checks that need the result shape.
    fn check_result(&mut self, frame: &Frame, shape: ShapeId) -> ParseResult<()> {
        let operands = self.operands.len() - frame.operands;
        match frame.word.opcode {
            Opcode::Tuple => match self.module.shape(shape) {
                Shape::Tuple(elements) if elements.len() == operands => Ok(()),
                Shape::Tuple(elements) => {
                    let message = format!(
                        "the tuple has {operands} operands, but its shape {} elements",
                        elements.len()
                    );
                    self.error(Code::OperandCount, frame.paren_at, message)
                }
                _ => self.error(Code::ShapeForm, frame.opcode_at, "the shape of a tuple is a tuple shape"),
            },
            Opcode::ReplicaId | Opcode::PartitionId => {
                let wanted = self.module.shapes.array(ElementType::U32, &[]);
                if self.module.shapes.compatible(shape, wanted) {
                    return Ok(());
                }
                let message = format!("the result of `{}` is `u32[]`", frame.word.opcode);
                self.error(Code::ShapeForm, frame.opcode_at, message)
            }
            Opcode::Reshape => self.check_reshape(frame, shape),
            Opcode::DynamicReshape => {
                let rank = self.module.shape(shape).as_array().map_or(0, |array| array.rank());
                if operands == rank + 1 {
                    return self.check_reshape(frame, shape);
                }
                let message = format!(
                    "`dynamic-reshape` takes one size for each of the {rank} dimensions of the result"
                );
                self.error(Code::OperandCount, frame.paren_at, message)
            }
            Opcode::Map => {
                let rank = self.module.shape(shape).as_array().map_or(0, |array| array.rank());
                let value = self.module.intern_value(Value::Ints((0..rank as i64).collect()));
                self.set(frame, AttrKey::Dimensions, AttrValue::Value(value));
                Ok(())
            }
            _ => Ok(()),
        }?;
        self.check_leaves(frame, shape)
    }

    fn check_reshape(&self, frame: &Frame, shape: ShapeId) -> ParseResult<()> {
        let Some(operand) = self.operand_shape(frame, 0) else { return Ok(()) };
        let (Some(from), Some(to)) =
            (self.module.shape(operand).as_array(), self.module.shape(shape).as_array())
        else {
            return self.error(Code::ShapeForm, frame.opcode_at, "only arrays can be reshaped");
        };
        let unbounded = |dimensions: &[i64]| dimensions.contains(&crate::ir::UNBOUNDED);
        if unbounded(&from.dimensions)
            || unbounded(&to.dimensions)
            || from.element_count() == to.element_count()
        {
            return Ok(());
        }
        let text = |shape| crate::printer::shape::shape_text(&self.module, shape, false);
        let message =
            format!("`{}` cannot be reshaped to `{}`: the element counts differ", text(operand), text(shape));
        self.error(Code::ShapeForm, frame.opcode_at, message)
    }

    /// Attributes that have an entry for each leaf of the result.
    fn check_leaves(&mut self, frame: &Frame, shape: ShapeId) -> ParseResult<()> {
        if let Some(AttrValue::Value(value)) = self.given(frame, AttrKey::ParameterReplication) {
            let span = self.key_span(frame, AttrKey::ParameterReplication);
            if frame.word.opcode != Opcode::Parameter {
                let message = "only parameters have `parameter_replication`";
                return self.error(Code::BadAttributeValue, span, message);
            }
            let leaves = self.module.shapes.leaf_count(shape);
            if let Value::Bools(flags) = self.module.value(value)
                && flags.len() != leaves
            {
                let message =
                    format!("the parameter has {leaves} leaves, but {} flags are given", flags.len());
                return Err(Diagnostic::new(Code::BadAttributeValue, frame.after, message)
                    .focus(span, "")
                    .boxed());
            }
        }
        if let Some(AttrValue::Value(value)) = self.given(frame, AttrKey::Sharding)
            && matches!(self.module.shape(shape), Shape::Tuple(_))
            && let Value::Sharding(sharding @ crate::ir::Sharding::Single(_)) = self.module.value(value)
        {
            let leaves = self.module.shapes.leaf_count(shape).max(1);
            let repeated = sharding.clone().repeat_for_leaves(leaves);
            let value = self.module.intern_value(Value::Sharding(repeated));
            self.set(frame, AttrKey::Sharding, AttrValue::Value(value));
        }
        Ok(())
    }
}
