//! `HloInstructionProto`.

use super::super::fault::{Fault, FaultKind, InField, Read};
use super::super::forms::Form;
use super::super::schema::{hlo_instruction_proto as i, hlo_instruction_proto::MESSAGE};
use super::super::wire::{Field, Fields};
use super::plan::{Plan, Row};
use super::sharding::{iota_groups, replica_group};
use super::{Reader, Seen, values};
use crate::diagnostic::did_you_mean;
use crate::ir::{
    Attr, AttrKey, AttrValue, ComputationId, Domain, ElementType, InstructionId, Opcode, ReplicaGroups,
    Shape, ShapeId, Value,
};
use crate::parser::builder::InstructionParts;

/// Where the first and the last field with some number are in a list of fields.
pub(super) type Slot = [u32; 2];

/// How many numbers are kept apart; the last slot is for all from there on, which nobody looks for.
pub(super) const SLOTS: usize = 128;

/// The bit of `number` in sets of fields.
#[inline]
pub(super) fn bit(number: u32) -> u128 {
    1 << slot(number)
}

#[inline]
fn slot(number: u32) -> usize {
    (number as usize).min(SLOTS - 1)
}

/// The fields of a message, to look them up.
#[derive(Clone, Copy)]
struct Given<'f, 'b> {
    fields: &'f [Field<'b>],
    /// A bit for each number that is there: most that are looked for are not.
    numbers: u128,
    /// Of those numbers, by number; others have anything. Empty for short messages.
    slots: &'f [Slot],
}

impl<'f, 'b> Given<'f, 'b> {
    /// The fields of a short message.
    fn new(fields: &'f [Field<'b>]) -> Self {
        let numbers = fields.iter().fold(0, |numbers, field| numbers | bit(field.number));
        Self { fields, numbers, slots: &[] }
    }

    /// The fields from the first to the last one with that number.
    #[inline]
    fn range(self, number: u32) -> &'f [Field<'b>] {
        if self.numbers & bit(number) == 0 {
            return &[];
        }
        let slot = self.slots.get(slot(number));
        let range = slot.and_then(|&[first, last]| self.fields.get(first as usize..=last as usize));
        range.unwrap_or(self.fields)
    }

    /// The field; of several the last one counts.
    #[inline]
    fn get(self, number: u32) -> Option<&'f Field<'b>> {
        self.range(number).iter().rfind(|field| field.number == number)
    }

    /// All fields with that number.
    #[inline]
    fn all(self, number: u32) -> impl Iterator<Item = &'f Field<'b>> {
        self.range(number).iter().filter(move |field| field.number == number)
    }

    fn ints(self, number: u32) -> Read<Vec<i64>> {
        let mut list = Vec::new();
        self.all(number).try_for_each(|field| field.int64s(&mut list)).within(name_of(number))?;
        Ok(list)
    }

    fn int(self, number: u32) -> Read<i64> {
        self.get(number).map_or(Ok(0), Field::int64).within(name_of(number))
    }

    fn bytes(self, number: u32) -> Read<&'b [u8]> {
        self.get(number).map_or(Ok(&[][..]), Field::bytes).within(name_of(number))
    }
}

fn name_of(number: u32) -> &'static str {
    MESSAGE.field(number).map_or("", |field| field.name)
}

impl<'b> Reader<'b> {
    /// Adds the instruction in `bytes` to the computation in the making.
    pub(super) fn instruction(&mut self, bytes: &'b [u8]) -> Read<(i64, InstructionId)> {
        let (mut fields, mut slots) = (std::mem::take(&mut self.fields), std::mem::take(&mut self.slots));
        fields.clear();
        let mut numbers = 0;
        let read = Fields::new(bytes).try_for_each(|field| {
            let field = field?;
            if let Some(slot) = slots.get_mut(slot(field.number)) {
                let place = fields.len() as u32;
                let first = if numbers & bit(field.number) == 0 { place } else { slot[0] };
                *slot = [first, place];
            }
            numbers |= bit(field.number);
            fields.push(field);
            Ok(())
        });
        let given = Given { fields: &fields, numbers, slots: &slots };
        let result = read.and_then(|()| self.instruction_of(given));
        let result =
            result.map_err(|fault| fault.named(given.get(i::NAME).map_or(&[][..], |field| field.bytes)));
        (self.fields, self.slots) = (fields, slots);
        result
    }

    fn instruction_of(&mut self, given: Given<'_, 'b>) -> Read<(i64, InstructionId)> {
        let opcode = opcode(given.bytes(i::OPCODE)?)?;
        let name = self.name(given.bytes(i::NAME)?);
        let id = given.int(i::ID)?;
        let shape =
            given.get(i::SHAPE).ok_or_else(|| Fault::value("an instruction has a shape").within("shape"))?;
        let shape = shape.bytes().and_then(|bytes| self.shape(bytes)).within("shape")?;
        let mut operands = std::mem::take(&mut self.operands);
        operands.clear();
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes.clear();
        for field in given.all(i::OPERAND_IDS) {
            self.instruction_ids(field, i::OPERAND_IDS, &mut operands)?;
        }
        let mut control_predecessors = Vec::new();
        for field in given.all(i::CONTROL_PREDECESSOR_IDS) {
            self.instruction_ids(field, i::CONTROL_PREDECESSOR_IDS, &mut control_predecessors)?;
        }
        if control_predecessors.len() > 1 {
            let mut seen = Seen::default();
            control_predecessors.retain(|&predecessor| seen.insert(predecessor));
        }
        let metadata = match given.get(i::METADATA) {
            Some(field) => field.bytes().and_then(|bytes| self.metadata_id(bytes)).within("metadata")?,
            None => None,
        };
        let literal = match given.get(i::LITERAL) {
            Some(field) if opcode == Opcode::Constant => {
                let literal = field.bytes().and_then(|bytes| self.literal_id(bytes)).within("literal")?;
                let module = self.module();
                if !module.shapes().compatible(module.literal(literal).shape, shape) {
                    let message = "the literal has another shape than the constant";
                    return Err(Fault::value(message).within("literal"));
                }
                Some(literal)
            }
            None if opcode == Opcode::Constant => {
                return Err(Fault::value("a constant has a literal").within("literal"));
            }
            _ => None,
        };
        let parameter_number = match opcode {
            Opcode::Parameter => self.parameter_number(given.int(i::PARAMETER_NUMBER)?)?,
            _ => 0,
        };
        let calls = self.calls(given, opcode, shape, &operands, &mut attributes)?;
        let plan = Plan::of(opcode);
        if plan.fields & given.numbers != 0 {
            for row in plan.rows.iter().filter(|row| row.fields & given.numbers != 0) {
                if let Some(value) = self.attribute(given, opcode, row, shape, &operands)? {
                    attributes.push(Attr { key: row.key, value });
                }
            }
        }
        if let Some(called) = calls {
            attributes.push(called);
        }
        let parts = InstructionParts {
            name,
            opcode,
            shape,
            operands: &operands,
            attributes: &attributes,
            control_predecessors,
            metadata,
            literal,
            parameter_number,
        };
        let added = self.builder.add_parts(parts);
        self.operands = operands;
        self.attributes = attributes;
        let added = added.map_err(|error| Fault::new(FaultKind::Checked(error.code), error.message))?;
        if !self.instructions.insert(id, added) {
            return Err(Fault::new(FaultKind::Id, format!("two instructions have the id {id}")).within("id"));
        }
        Ok((id, added))
    }

    fn parameter_number(&self, number: i64) -> Read<i64> {
        // There can't be more parameters than instructions, of which each takes some bytes.
        match usize::try_from(number) {
            Ok(wanted) if wanted < self.size => Ok(number),
            _ => Err(Fault::value(format!("there is no parameter {number}")).within("parameter_number")),
        }
    }

    fn instruction_ids(&mut self, field: &Field<'b>, number: u32, out: &mut Vec<InstructionId>) -> Read<()> {
        let mut bad = None;
        let (instructions, first) = (&self.instructions, self.first_instruction);
        field
            .varints(|bits| match instructions.get(bits as i64) {
                Some(id) if id.index() >= first => out.push(id),
                other => bad = bad.or(Some((bits as i64, other.is_some()))),
            })
            .within(name_of(number))?;
        match bad {
            None => Ok(()),
            Some((id, elsewhere)) => {
                let message = match elsewhere {
                    true => format!("instruction {id} is in another computation"),
                    false => format!("no instruction before this one has the id {id}"),
                };
                Err(Fault::new(FaultKind::Id, message).within(name_of(number)))
            }
        }
    }

    /// The computations the instruction calls, which are attributes of several names. Those with a name of their own
    /// are pushed to `attributes`, a list is returned.
    fn calls(
        &mut self,
        given: Given<'_, 'b>,
        opcode: Opcode,
        _shape: ShapeId,
        operands: &[InstructionId],
        attributes: &mut Vec<Attr>,
    ) -> Read<Option<Attr>> {
        let mut called: smallvec::SmallVec<[ComputationId; 4]> = smallvec::SmallVec::new();
        let mut bad = None;
        for field in given.all(i::CALLED_COMPUTATION_IDS) {
            let computations = &self.computations;
            field
                .varints(|bits| match computations.get(&(bits as i64)) {
                    Some(&id) => called.push(id),
                    None => bad = bad.or(Some(bits as i64)),
                })
                .within("called_computation_ids")?;
        }
        if let Some(id) = bad {
            let message = format!("no computation before this one has the id {id}");
            return Err(Fault::new(FaultKind::Id, message).within("called_computation_ids"));
        }
        let is_pred = || {
            let first = operands.first().map(|&operand| self.builder.module_ref().shape_of(operand));
            first.and_then(Shape::as_array).is_some_and(|array| array.element_type == ElementType::Pred)
        };
        let keys: &[AttrKey] = match opcode {
            Opcode::While => &[AttrKey::Body, AttrKey::Condition],
            Opcode::Conditional if is_pred() => &[AttrKey::TrueComputation, AttrKey::FalseComputation],
            Opcode::SelectAndScatter => &[AttrKey::Select, AttrKey::Scatter],
            Opcode::Conditional => return Ok(self.call_list(AttrKey::BranchComputations, &called)),
            Opcode::CustomCall if called.is_empty() => return Ok(None),
            Opcode::CustomCall => return Ok(self.call_list(AttrKey::CalledComputations, &called)),
            // These two may repeat what their start says.
            Opcode::AsyncUpdate | Opcode::AsyncDone => return Ok(None),
            _ if opcode.presence(AttrKey::Calls).is_some() => &[AttrKey::Calls],
            _ if opcode.presence(AttrKey::ToApply).is_some() => &[AttrKey::ToApply],
            _ => &[],
        };
        if keys.len() != called.len() {
            let message = format!(
                "`{opcode}` calls {} computation{}, but {} {} given",
                keys.len(),
                if keys.len() == 1 { "" } else { "s" },
                called.len(),
                if called.len() == 1 { "is" } else { "are" }
            );
            return Err(Fault::value(message).within("called_computation_ids"));
        }
        let values = called.iter().map(|&id| AttrValue::Computation(id));
        attributes.extend(keys.iter().zip(values).map(|(&key, value)| Attr { key, value }));
        Ok(None)
    }

    fn call_list(&mut self, key: AttrKey, called: &[ComputationId]) -> Option<Attr> {
        let value = self.module().intern_value(Value::Computations(called.to_vec()));
        Some(Attr { key, value: AttrValue::Value(value) })
    }

    /// The value of an attribute, `None` if it is not given. What proto3 leaves out is filled in for those that must be
    /// there.
    fn attribute(
        &mut self,
        given: Given<'_, 'b>,
        opcode: Opcode,
        row: &Row,
        shape: ShapeId,
        operands: &[InstructionId],
    ) -> Read<Option<AttrValue>> {
        let &Row { key, number, form, needed, .. } = row;
        if key == AttrKey::BackendConfig
            && given.get(number).is_none()
            && let Some(field) = given.get(i::BACKEND_CONFIG_PAYLOAD)
        {
            let text = field.bytes().and_then(|bytes| self.payload(bytes));
            let text = text.within("backend_config_payload")?.filter(|text| !text.is_empty());
            return Ok(text.map(|text| AttrValue::String(self.module().strings_mut().intern(text))));
        }
        match form {
            Form::Structure => self.structure(given, opcode, key, number, shape, operands),
            Form::None if key == AttrKey::PermuteSliceSizes => self.permute_sizes(given, operands),
            Form::None | Form::Call => Ok(None),
            Form::Inside(inner, form) => {
                self.inside(given, number, inner, form, needed).within(name_of(number))
            }
            _ => self.simple(given, number, form, needed).within(name_of(number)),
        }
    }

    /// The value of a field that holds no message; faults have no path yet.
    fn simple(
        &mut self,
        given: Given<'_, 'b>,
        number: u32,
        form: Form,
        needed: bool,
    ) -> Read<Option<AttrValue>> {
        let field = given.get(number);
        if field.is_none() && !needed {
            return Ok(None);
        }
        let int = || field.map_or(Ok(0), Field::int64);
        Ok(Some(match form {
            Form::Bool => AttrValue::Bool(int()? != 0),
            Form::Int | Form::OptionalInt => AttrValue::Int(int()?),
            Form::PositiveInt => match int()? {
                number @ 1.. => AttrValue::Int(number),
                _ => return Ok(None),
            },
            Form::Float => AttrValue::Float(field.map_or(Ok(0.0), Field::float)?),
            Form::WordText(vocabulary) => {
                let text = field.map_or(Ok(&[][..]), Field::bytes)?;
                let text = String::from_utf8_lossy(text);
                match vocabulary.find(&text) {
                    Some(word) => AttrValue::Word(word),
                    None if text.is_empty() && !needed => return Ok(None),
                    None => {
                        let words = vocabulary.words();
                        let text = crate::diagnostic::shorten(&text);
                        return Err(Fault::value(format!("`{text}` is none of {}", words.join(", "))));
                    }
                }
            }
            Form::Text => {
                let text = field.map_or(Ok(&[][..]), Field::bytes)?;
                if text.is_empty() && !needed {
                    return Ok(None);
                }
                AttrValue::String(self.module().strings_mut().intern(text))
            }
            Form::Ints => {
                let mut list = Vec::new();
                given.all(number).try_for_each(|field| field.int64s(&mut list))?;
                AttrValue::Value(self.ints(list))
            }
            Form::OneInt => {
                let mut list = Vec::new();
                given.all(number).try_for_each(|field| field.int64s(&mut list))?;
                match list[..] {
                    [only] => AttrValue::Int(only),
                    _ => return Err(Fault::value(format!("one number belongs here, not {}", list.len()))),
                }
            }
            Form::Word(words) => {
                let number = field.map_or(Ok(0), Field::int32)?;
                match words.word(number) {
                    Some(word) => AttrValue::Word(word),
                    None => {
                        let message = format!("{number} is no value of {}", words.enumeration.name);
                        return Err(Fault::value(message));
                    }
                }
            }
            Form::Inside(..) | Form::Structure | Form::Call | Form::None => return Ok(None),
        }))
    }

    /// The value of a field of the messages in the fields with that number.
    fn inside(
        &mut self,
        given: Given<'_, 'b>,
        number: u32,
        inner: u32,
        form: &'static Form,
        needed: bool,
    ) -> Read<Option<AttrValue>> {
        let mut fields: smallvec::SmallVec<[Field<'b>; 8]> = smallvec::SmallVec::new();
        if let Some(outer) = given.get(number) {
            for field in Fields::new(outer.bytes()?) {
                fields.push(field?);
            }
        }
        match *form {
            Form::Inside(innermost, form) => self.inside(Given::new(&fields), inner, innermost, form, needed),
            form => self.simple(Given::new(&fields), inner, form, needed),
        }
    }

    fn structure(
        &mut self,
        given: Given<'_, 'b>,
        opcode: Opcode,
        key: AttrKey,
        number: u32,
        shape: ShapeId,
        operands: &[InstructionId],
    ) -> Read<Option<AttrValue>> {
        let name = name_of(number);
        let value = match key {
            AttrKey::ReplicaGroups => Value::ReplicaGroups(self.replica_groups(given)?),
            AttrKey::OperandLayoutConstraints => {
                if given.int(i::CONSTRAIN_LAYOUT)? == 0 {
                    return Ok(None);
                }
                let mut shapes = Vec::new();
                for (index, field) in given.all(number).enumerate() {
                    shapes.push(field.bytes().and_then(|bytes| self.shape(bytes)).at(name, index)?);
                }
                Value::Shapes(shapes)
            }
            AttrKey::IsAssociative => return Ok(Some(AttrValue::Bool(given.int(number)? == 1))),
            AttrKey::Slice => {
                let mut ranges = Vec::new();
                for (index, field) in given.all(number).enumerate() {
                    ranges.push(field.bytes().and_then(values::slice_range).at(name, index)?);
                }
                Value::Slice(ranges)
            }
            AttrKey::SourceTargetPairs => {
                let mut pairs = Vec::new();
                for (index, field) in given.all(number).enumerate() {
                    pairs.push(field.bytes().and_then(values::source_target_pair).at(name, index)?);
                }
                Value::IntLists(pairs)
            }
            AttrKey::OutputToOperandAliasing => {
                let mut aliases = Vec::new();
                for (index, field) in given.all(number).enumerate() {
                    let alias = field.bytes().and_then(values::operand_aliasing).at(name, index)?;
                    if usize::try_from(alias.operand).is_ok_and(|operand| operand < operands.len()) {
                        aliases.push(alias);
                    } else {
                        let message = format!("there is no operand {}", alias.operand);
                        return Err(Fault::value(message).at(name, index));
                    }
                }
                Value::Aliasing(aliases)
            }
            AttrKey::Domain => {
                let mut side = |number| {
                    let field = given.get(number);
                    let sharding = field.map(|field| field.bytes().and_then(|bytes| self.sharding(bytes)));
                    sharding.unwrap_or_else(|| Ok(crate::ir::Sharding::replicated())).within(name_of(number))
                };
                // What the text calls the exit is the side of the operand, which is the entry here.
                let exit = side(i::DOMAIN_ENTRY_SHARDING)?;
                Value::Domain(Domain { entry: side(i::DOMAIN_EXIT_SHARDING)?, exit })
            }
            AttrKey::Padding => Value::Padding(
                given
                    .get(number)
                    .map_or(Ok(Vec::new()), |field| field.bytes().and_then(values::padding))
                    .within(name)?,
            ),
            _ => {
                let Some(field) = given.get(number) else { return Ok(None) };
                return self.message_value(field, opcode, key, shape).within(name);
            }
        };
        Ok(Some(AttrValue::Value(self.module().intern_value(value))))
    }

    /// The value of a message that stands alone; equal ones are looked at once.
    fn message_value(
        &mut self,
        field: &Field<'b>,
        opcode: Opcode,
        key: AttrKey,
        shape: ShapeId,
    ) -> Read<Option<AttrValue>> {
        let bytes = field.bytes()?;
        if bytes.is_empty() && matches!(key, AttrKey::FrontendAttributes | AttrKey::Statistics) {
            return Ok(None);
        }
        let place = match self.values.get(key as u8, bytes) {
            Ok(value) => return Ok(value),
            Err(place) => place,
        };
        let value = match key {
            AttrKey::Window => Value::Window(values::window(bytes)?),
            AttrKey::DimLabels => Value::DimLabels(values::dimension_numbers(bytes)?),
            AttrKey::OperandPrecision => Value::Precision(values::precisions(bytes)?),
            AttrKey::FrontendAttributes => Value::FrontendAttributes(self.frontend_attributes(bytes)?),
            AttrKey::Sharding => Value::Sharding(self.sharding(bytes)?),
            AttrKey::Statistics => Value::Statistics(self.statistics(bytes)?),
            AttrKey::ResultAccuracy => Value::ResultAccuracy(values::accuracy(bytes)?),
            AttrKey::Origin => {
                // The same bytes may mean something else for another shape.
                let nodes = self.module().shapes().extent(shape).nodes;
                let value = Value::OriginalValue(self.original_value(bytes, nodes as usize)?);
                return Ok(Some(AttrValue::Value(self.module().intern_value(value))));
            }
            AttrKey::SparsityConfig => Value::SparsityConfig(values::sparsity(bytes)?),
            AttrKey::ParameterReplication => Value::Bools(values::replication(bytes)?),
            AttrKey::OutfeedShape => return Ok(Some(AttrValue::Shape(self.shape(bytes)?))),
            AttrKey::Literal => {
                return Ok(Some(AttrValue::Literal(self.literal_id(bytes)?)));
            }
            _ => {
                debug_assert!(false, "{opcode} {key:?} has no reader");
                return Ok(None);
            }
        };
        let is_absent = matches!(key, AttrKey::ParameterReplication | AttrKey::Window) && value.is_empty();
        let value = (!is_absent).then(|| AttrValue::Value(self.module().intern_value(value)));
        self.values.insert(place, key as u8, bytes, value);
        Ok(value)
    }

    /// The groups of a collective in today's forms or the one before.
    fn replica_groups(&mut self, given: Given<'_, 'b>) -> Read<ReplicaGroups> {
        if let Some(field) = given.get(i::IOTA_COLLECTIVE_DEVICE_LIST) {
            return iota_groups(field).within(name_of(field.number));
        }
        if let Some(field) = given.get(i::MESH_AXES_REPLICA_GROUP_LIST) {
            return self.mesh_groups(field).within(name_of(field.number));
        }
        if let Some(field) = given.get(i::COLLECTIVE_DEVICE_LIST) {
            return self.device_list(field).within(name_of(field.number));
        }
        let mut groups = Vec::new();
        for (index, field) in given.all(i::REPLICA_GROUPS).enumerate() {
            groups.push(field.bytes().and_then(replica_group).at("replica_groups", index)?);
        }
        Ok(ReplicaGroups::Lists(groups))
    }

    /// The `slice_sizes` of a collective permute: one after the other, each with as many numbers as the operand has
    /// dimensions.
    fn permute_sizes(&mut self, given: Given<'_, 'b>, operands: &[InstructionId]) -> Read<Option<AttrValue>> {
        let sizes = given.ints(i::DYNAMIC_SLICE_SIZES)?;
        if sizes.is_empty() {
            return Ok(None);
        }
        let module = self.module();
        let first = operands.first().map(|&operand| module.shape_of(operand));
        let ranks: Vec<usize> = match first {
            Some(Shape::Tuple(elements)) => {
                let rank = |&element| module.shape(element).as_array().map_or(0, |array| array.rank());
                elements.iter().map(rank).collect()
            }
            Some(Shape::Array(array)) => vec![array.rank()],
            _ => Vec::new(),
        };
        let mut lists = Vec::new();
        let mut rest = sizes.as_slice();
        let mut ranks = ranks.iter().copied().cycle();
        while !rest.is_empty() {
            let rank = ranks.next().filter(|&rank| rank > 0).unwrap_or(1).min(rest.len());
            let (list, after) = rest.split_at(rank);
            lists.push(list.to_vec());
            rest = after;
        }
        Ok(Some(AttrValue::Value(self.module().intern_value(Value::IntLists(lists)))))
    }

    fn ints(&mut self, list: Vec<i64>) -> crate::ir::ValueId {
        self.module().intern_value(Value::Ints(list))
    }
}

fn opcode(text: &[u8]) -> Read<Opcode> {
    std::str::from_utf8(text).ok().and_then(Opcode::from_name).ok_or_else(|| {
        let name = String::from_utf8_lossy(text);
        let mut message = format!("there is no opcode `{}`", crate::diagnostic::shorten(&name));
        if let Some(close) = did_you_mean(&name, Opcode::ALL.iter().map(|opcode| opcode.name())) {
            message.push_str(&format!("; did you mean `{close}`?"));
        }
        Fault::value(message).within("opcode")
    })
}
