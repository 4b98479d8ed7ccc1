//! What small integers are on each device: slice indices worked out of `partition-id`, `replica-id` and loop counters.

use hlo_text::Module;
use hlo_text::ir::words::{ComparisonDirection, ComparisonType};
use hlo_text::ir::{AttrKey, AttrValue, ElementClass, ElementType, InstructionId, LiteralId, Opcode, Shape};
use smallvec::SmallVec;

use super::comparison_type;
use crate::Map;

/// Instructions that are followed to find out what a number is.
pub(crate) const MAX_SCALAR_STEPS: usize = 64;

/// A number as a function of the device and of variables.
pub(crate) struct DeviceScalar {
    /// Operands before users; the last one is the result.
    steps: Vec<Step>,
}

/// Where a number is to be known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DevicePoint<'v> {
    pub(crate) replica: i64,
    pub(crate) partition: i64,
    /// The values of the variables, by number.
    pub(crate) variables: &'v [i128],
}

struct Step {
    kind: StepKind,
    element_type: ElementType,
    operands: SmallVec<[usize; 3]>,
}

enum StepKind {
    Constant(i128),
    Variable(usize),
    PartitionId,
    ReplicaId,
    /// The operand, in another type or shape.
    Same,
    Compare(ComparisonDirection),
    /// An element of a constant; the operands are its indices.
    Element(LiteralId, SmallVec<[i64; 4]>),
    Arithmetic(Opcode),
}

impl DeviceScalar {
    /// The number that `root` is, an array of one integer. What `variable` gives a number is taken as given. `None` if it
    /// takes too many instructions or depends on something else.
    pub(crate) fn of(
        module: &Module,
        root: InstructionId,
        variable: impl Fn(InstructionId) -> Option<usize>,
    ) -> Option<Self> {
        let mut steps = Vec::new();
        let mut places: Map<InstructionId, usize> = Map::default();
        let mut open = vec![(root, false)];
        let mut seen = 0;
        while let Some((id, operands_done)) = open.pop() {
            if places.contains_key(&id) {
                continue;
            }
            let (kind, operands) = step_kind(module, id, &variable)?;
            if operands_done {
                let operands = operands.iter().map(|operand| places.get(operand).copied());
                let operands = operands.collect::<Option<_>>()?;
                let element_type = module.shape_of(id).element_type()?;
                places.insert(id, steps.len());
                steps.push(Step { kind, element_type, operands });
            } else {
                seen += 1;
                if seen > MAX_SCALAR_STEPS {
                    return None;
                }
                open.push((id, true));
                open.extend(operands.iter().map(|&operand| (operand, false)));
            }
        }
        Some(Self { steps })
    }

    /// The numbers of the variables it depends on, some perhaps more than once.
    pub(crate) fn variables(&self) -> impl Iterator<Item = usize> + '_ {
        self.steps.iter().filter_map(|step| match step.kind {
            StepKind::Variable(number) => Some(number),
            _ => None,
        })
    }

    /// The number at a point; `None` if it isn't defined there.
    pub(crate) fn at(&self, module: &Module, point: DevicePoint<'_>) -> Option<i128> {
        let mut values: SmallVec<[i128; MAX_SCALAR_STEPS]> = SmallVec::new();
        for step in &self.steps {
            let value = step.value(module, point, &values)?;
            values.push(wrap(value, step.element_type));
        }
        values.last().copied()
    }
}

/// What an instruction does, and of which operands, if it gives one integer.
fn step_kind(
    module: &Module,
    id: InstructionId,
    variable: &impl Fn(InstructionId) -> Option<usize>,
) -> Option<(StepKind, SmallVec<[InstructionId; 3]>)> {
    use Opcode as O;
    let Shape::Array(array) = module.shape_of(id) else { return None };
    let is_integral = array.element_type.is_integer() || array.element_type == ElementType::Pred;
    if !is_integral || array.is_dynamic() || array.element_count() != Some(1) {
        return None;
    }
    if let Some(number) = variable(id) {
        return Some((StepKind::Variable(number), SmallVec::new()));
    }
    let instruction = module.instruction(id);
    let operands: SmallVec<[InstructionId; 3]> = SmallVec::from_slice(module.operands(id));
    let kind = match instruction.opcode {
        O::Constant => {
            let elements = module.literal(instruction.literal?).elements()?;
            StepKind::Constant(integer(elements, 0)?)
        }
        O::PartitionId => StepKind::PartitionId,
        O::ReplicaId => StepKind::ReplicaId,
        O::Convert | O::Reshape | O::Bitcast | O::Broadcast | O::Copy => StepKind::Same,
        O::Compare => {
            // Both orders of integers are that of their values; an order of the other kind is not.
            let default = module.shape_of(*operands.first()?).element_type().map(ElementType::class);
            let by_value = match comparison_type(module, id)? {
                ComparisonType::Signed => default == Some(ElementClass::Signed),
                ComparisonType::Unsigned => default != Some(ElementClass::Signed),
                ComparisonType::Float | ComparisonType::FloatTotalOrder => false,
            };
            match module.attribute(id, AttrKey::Direction)? {
                AttrValue::Word(word) if by_value => StepKind::Compare(ComparisonDirection::from_word(word)?),
                _ => return None,
            }
        }
        O::DynamicSlice => {
            let (&table, indices) = operands.split_first()?;
            let table_instruction = module.instruction(table);
            let literal = table_instruction.literal.filter(|_| table_instruction.opcode == O::Constant)?;
            let sizes = &module.shape_of(table).as_array()?.dimensions;
            if indices.len() != sizes.len() {
                return None;
            }
            let kind = StepKind::Element(literal, SmallVec::from_slice(sizes));
            return Some((kind, SmallVec::from_slice(indices)));
        }
        O::Add
        | O::Subtract
        | O::Multiply
        | O::Divide
        | O::Remainder
        | O::Maximum
        | O::Minimum
        | O::And
        | O::Or
        | O::Xor
        | O::ShiftLeft
        | O::ShiftRightLogical
        | O::Select
        | O::Clamp => StepKind::Arithmetic(instruction.opcode),
        _ => return None,
    };
    Some((kind, operands))
}

fn integer(elements: &hlo_text::ir::Elements, index: usize) -> Option<i128> {
    elements.i64(index).map(i128::from).or_else(|| elements.u64(index).map(i128::from))
}

/// The low bits of a number as a value of the type.
fn wrap(value: i128, element_type: ElementType) -> i128 {
    let unused = 128 - element_type.bits();
    match element_type.class() {
        ElementClass::Pred => i128::from(value != 0),
        ElementClass::Signed => value << unused >> unused,
        _ => ((value as u128) << unused >> unused) as i128,
    }
}

impl Step {
    fn value(&self, module: &Module, point: DevicePoint<'_>, values: &[i128]) -> Option<i128> {
        let operand = |index: usize| self.operands.get(index).and_then(|&place| values.get(place)).copied();
        match &self.kind {
            StepKind::Constant(value) => Some(*value),
            StepKind::Variable(number) => point.variables.get(*number).copied(),
            StepKind::PartitionId => Some(i128::from(point.partition)),
            StepKind::ReplicaId => Some(i128::from(point.replica)),
            StepKind::Same => operand(0),
            StepKind::Compare(direction) => {
                let order = operand(0)?.cmp(&operand(1)?);
                Some(i128::from(match direction {
                    ComparisonDirection::Eq => order.is_eq(),
                    ComparisonDirection::Ne => order.is_ne(),
                    ComparisonDirection::Ge => order.is_ge(),
                    ComparisonDirection::Gt => order.is_gt(),
                    ComparisonDirection::Le => order.is_le(),
                    ComparisonDirection::Lt => order.is_lt(),
                }))
            }
            StepKind::Element(literal, sizes) => {
                let mut place = 0usize;
                for (index, &size) in sizes.iter().enumerate() {
                    // Slices stay inside.
                    let at = operand(index)?.clamp(0, i128::from(size.max(1) - 1));
                    place = place.checked_mul(usize::try_from(size).ok()?)?.checked_add(at as usize)?;
                }
                integer(module.literal(*literal).elements()?, place)
            }
            StepKind::Arithmetic(opcode) => self.arithmetic(*opcode, operand),
        }
    }

    fn arithmetic(&self, opcode: Opcode, operand: impl Fn(usize) -> Option<i128>) -> Option<i128> {
        let (a, b) = (operand(0)?, operand(1)?);
        let bits = i128::from(self.element_type.bits());
        Some(match opcode {
            Opcode::Add => a + b,
            Opcode::Subtract => a - b,
            Opcode::Multiply => a.wrapping_mul(b),
            Opcode::Divide => a.checked_div(b)?,
            Opcode::Remainder => a.checked_rem(b)?,
            Opcode::Maximum => a.max(b),
            Opcode::Minimum => a.min(b),
            Opcode::And => a & b,
            Opcode::Or => a | b,
            Opcode::Xor => a ^ b,
            Opcode::ShiftLeft | Opcode::ShiftRightLogical if !(0..bits).contains(&b) => 0,
            Opcode::ShiftLeft => a << b,
            // Without the sign, that is, as bits of the type.
            Opcode::ShiftRightLogical => (a & ((1i128 << bits) - 1)) >> b,
            Opcode::Select => {
                if a != 0 {
                    b
                } else {
                    operand(2)?
                }
            }
            Opcode::Clamp => b.max(a).min(operand(2)?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The root of a module's entry on partition 2 of replica 1, with the parameter `v` for a variable.
    fn evaluate(body: &str, variable: i128) -> Option<i128> {
        let text = format!("HloModule m\nENTRY e {{\n{body}\n}}");
        let parsed = hlo_text::parse_module(&text, &hlo_text::ParseOptions::default());
        let module = parsed.unwrap_or_else(|errors| panic!("{body}: {errors:?}")).module;
        let entry = module.computation(module.entry());
        let first = entry.parameters.first().copied();
        let scalar = DeviceScalar::of(&module, entry.root, |id| (Some(id) == first).then_some(0))?;
        scalar.at(&module, DevicePoint { replica: 1, partition: 2, variables: &[variable] })
    }

    #[test]
    fn ids_and_arithmetic() {
        let ids = "p = u32[] partition-id()\nr = u32[] replica-id()\nten = u32[] constant(10)\n";
        for (root, value) in [
            ("add(p, r)", 3),
            ("subtract(r, p)", 0xffff_ffff),
            ("multiply(p, ten)", 20),
            ("divide(ten, p)", 5),
            ("remainder(ten, p)", 0),
            ("maximum(p, r)", 2),
            ("minimum(p, r)", 1),
            ("and(p, ten)", 2),
            ("or(p, r)", 3),
            ("xor(p, ten)", 8),
            ("shift-left(r, p)", 4),
            ("shift-right-logical(ten, p)", 2),
            ("shift-left(r, ten)", 1024),
            ("clamp(p, r, ten)", 2),
        ] {
            assert_eq!(evaluate(&format!("{ids}ROOT x = u32[] {root}"), 0), Some(value), "{root}");
        }
        let shift = "p = u8[] constant(3)\nn = u8[] constant(8)\nROOT s = u8[] shift-left(p, n)";
        assert_eq!(evaluate(shift, 0), Some(0));
        assert_eq!(
            evaluate("p = u32[] partition-id()\nz = u32[] constant(0)\nROOT d = u32[] divide(p, z)", 0),
            None
        );
    }

    #[test]
    fn types_wrap_and_compare() {
        assert_eq!(evaluate("v = s32[] parameter(0)\nROOT c = u8[] convert(v)", -1), Some(255));
        assert_eq!(evaluate("v = s8[] parameter(0)\nROOT c = s8[] add(v, v)", 100), Some(-56));
        let select = "v = s32[] parameter(0)\nz = s32[] constant(0)\nl = pred[] compare(v, z), direction=LT\nROOT s = s32[] select(l, z, v)";
        assert_eq!((evaluate(select, -4), evaluate(select, 4)), (Some(0), Some(4)));
        let unsigned = "v = s32[] parameter(0)\nROOT l = pred[] compare(v, v), direction=LT, type=UNSIGNED";
        assert_eq!(evaluate(unsigned, 0), None);
    }

    #[test]
    fn tables_are_read() {
        let table = "v = s32[] parameter(0)\nz = s32[] constant(0)\nt = s32[2,3] constant({{1,2,3},{4,5,6}})\nd = s32[1,1] dynamic-slice(t, v, z), dynamic_slice_sizes={1,1}\nROOT r = s32[] reshape(d)";
        assert_eq!((evaluate(table, 0), evaluate(table, 1), evaluate(table, 9)), (Some(1), Some(4), Some(4)));
    }

    #[test]
    fn other_values_are_not_known() {
        for body in [
            "v = s32[] parameter(0)\nw = s32[] parameter(1)\nROOT a = s32[] add(v, w)",
            "v = f32[] parameter(0)\nROOT a = f32[] add(v, v)",
            "v = s32[] parameter(0)\nROOT b = s32[2] broadcast(v), dimensions={}",
            "v = s32[] parameter(0)\nROOT b = s32[] popcnt(v)",
        ] {
            assert_eq!(evaluate(body, 1), None, "{body}");
        }
        let chain: String =
            (0..MAX_SCALAR_STEPS).map(|n| format!("a{} = s32[] add(a{n}, a{n})\n", n + 1)).collect();
        let chain = format!("a0 = s32[] parameter(0)\n{chain}ROOT r = s32[] negate(a{MAX_SCALAR_STEPS})");
        assert_eq!(evaluate(&chain, 1), None);
    }
}
