//! `replace-minimum-constant`: minus infinity in masks becomes the lowest finite value.
//!
//! Attention masks are filled with minus infinity, and infinity minus infinity is NaN. All computations are visited.
//!
//! ```text
//! ninf = f32[] constant(-inf)                            ninf = f32[] constant(-3.40282347e+38)
//! b    = f32[4] broadcast(ninf), dimensions={}      =>   b    = f32[4] broadcast(ninf), dimensions={}
//! m    = f32[4] minimum(p, b)                            m    = f32[4] minimum(p, b)
//! ```
//!
//! 1. A scalar constant that is minus infinity, of type `f16` (becomes -65504), `bf16` (-3.38953139e38), `f32`
//!    (-3.40282347e38) or `f64` (-1.79769313486231571e308), is a mask where it is, directly or through one broadcast,
//! 2. an operand of `minimum`, or
//! 3. the lower or upper bound of `clamp` (operand 0 or 2), or
//! 4. the array or the update of `dynamic-update-slice` (operand 0 or 1).
//!
//! 5. If all its uses are masks the constant is replaced and keeps its name.
//! 6. If some are, these get a new constant (and a new broadcast, if the broadcast has other uses, too); the others, the
//!    start value of a `reduce` say, keep minus infinity.
//!
//! Left alone, with a remark:
//!
//! 7. constants none of whose uses is a mask
//! 8. constants that are the lowest finite value already: nothing changes
//! 9. constants that are no scalars, and those of other types
//! 10. constants with control dependencies, and broadcasts with control dependencies some of whose uses are masks: these
//!     would no longer run when the broadcast lets them. A broadcast all of whose uses are masks keeps its edges
//!
//! Confidence: high; that only matching uses are replaced is ours.

use hlo_text::ir::{ElementType, InstructionId, Literal, Opcode};

use crate::analysis::in_post_order_of_all;
use crate::edit::Editor;
use crate::pass::{Finding, Pass, PassContext, PassResult, Place};

/// The pass.
pub(crate) struct ReplaceMinimumConstant;

/// The lowest finite value of the types the pass is about.
fn lowest_finite(element_type: ElementType) -> Option<f64> {
    match element_type {
        ElementType::F16 => Some(-65504.0),
        // Eight bits of precision, the exponent range of f32.
        ElementType::Bf16 => Some(-f64::from(f32::from_bits(0x7f7f_0000))),
        ElementType::F32 => Some(f64::from(f32::MIN)),
        ElementType::F64 => Some(f64::MIN),
        _ => None,
    }
}

/// The uses of a constant that are masks.
#[derive(Default)]
struct Uses {
    /// Users and the numbers of their operands.
    direct: Vec<(InstructionId, usize)>,
    /// Broadcasts all of whose uses are masks.
    whole_broadcasts: Vec<InstructionId>,
    /// Broadcasts with other uses, too, and those that are masks.
    split_broadcasts: Vec<(InstructionId, Vec<(InstructionId, usize)>)>,
    /// Whether there are uses that are no masks.
    has_others: bool,
    /// Whether there are masks that stay because a broadcast has control dependencies.
    are_held: bool,
}

impl Uses {
    fn is_empty(&self) -> bool {
        self.direct.is_empty() && self.whole_broadcasts.is_empty() && self.split_broadcasts.is_empty()
    }
}

impl Pass for ReplaceMinimumConstant {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let computations = edit.computations().to_vec();
        let mut found = Vec::new();
        in_post_order_of_all(edit, &computations, |id| {
            if let Some((lowest, uses)) = find(edit, id).or_report(edit, id, context) {
                found.push((id, lowest, uses));
            }
        });
        for (id, lowest, uses) in found {
            if context.may_rewrite(edit, id) {
                replace(edit, id, lowest, uses, context)?;
            }
        }
        Ok(())
    }
}

fn find(edit: &Editor<'_>, id: InstructionId) -> Finding<(f64, Uses)> {
    if edit.instruction(id).opcode != Opcode::Constant {
        return Finding::Other;
    }
    let (Some(array), Some(elements)) = (edit.shape_of(id).as_array(), edit.constant_elements(id)) else {
        return Finding::Other;
    };
    let Some(value) = elements.f64(0).filter(|_| array.element_type.is_float()) else {
        return Finding::Other;
    };
    let Some(lowest) = lowest_finite(array.element_type) else {
        return if value == f64::NEG_INFINITY {
            Finding::near(format!("there is no floor for type {}", array.element_type.name()))
        } else {
            Finding::Other
        };
    };
    if value == lowest {
        return Finding::near("it is the lowest finite value already");
    }
    if value != f64::NEG_INFINITY {
        return Finding::Other;
    }
    if array.rank() != 0 {
        return Finding::near("it is not a scalar");
    }
    if edit.has_control_dependencies(id) {
        return Finding::near("it has control dependencies");
    }
    let uses = uses_of(edit, id);
    if uses.is_empty() && uses.are_held {
        return Finding::near("its broadcast has control dependencies, and other uses than masks");
    }
    if uses.is_empty() {
        return Finding::near("it is not a mask: it feeds no minimum, clamp or dynamic-update-slice");
    }
    Finding::Match((lowest, uses))
}

/// Whether an operand can be a mask.
fn may_have_masks(edit: &Editor<'_>, user: InstructionId) -> bool {
    matches!(edit.instruction(user).opcode, Opcode::Minimum | Opcode::Clamp | Opcode::DynamicUpdateSlice)
}

/// Whether a value in this place is a mask.
fn is_mask(edit: &Editor<'_>, user: InstructionId, operand: usize) -> bool {
    match edit.instruction(user).opcode {
        Opcode::Minimum => true,
        Opcode::Clamp => operand == 0 || operand == 2,
        Opcode::DynamicUpdateSlice => operand < 2,
        _ => false,
    }
}

/// The uses of a value as a mask, and whether it has others.
fn masks_of(edit: &Editor<'_>, value: InstructionId) -> (Vec<(InstructionId, usize)>, bool) {
    let mut masks = Vec::new();
    let mut has_others = edit.is_root(value);
    for &user in edit.users(value) {
        // Others can have many operands, and be users of many values.
        if !may_have_masks(edit, user) {
            has_others = true;
            continue;
        }
        for (index, &operand) in edit.operands(user).iter().enumerate() {
            if operand == value {
                if is_mask(edit, user, index) {
                    masks.push((user, index));
                } else {
                    has_others = true;
                }
            }
        }
    }
    (masks, has_others)
}

fn uses_of(edit: &Editor<'_>, constant: InstructionId) -> Uses {
    let (direct, _) = masks_of(edit, constant);
    let mut uses = Uses { direct, has_others: edit.is_root(constant), ..Uses::default() };
    for &user in edit.users(constant) {
        if edit.instruction(user).opcode != Opcode::Broadcast {
            let has_other_place = || {
                let mut operands = edit.operands(user).iter().enumerate();
                operands.any(|(index, &operand)| operand == constant && !is_mask(edit, user, index))
            };
            uses.has_others |= !may_have_masks(edit, user) || has_other_place();
            continue;
        }
        let (masks, has_others) = masks_of(edit, user);
        let has_edges = has_others && edit.has_control_dependencies(user);
        if masks.is_empty() || has_edges {
            uses.has_others = true;
            uses.are_held |= has_edges && !masks.is_empty();
        } else if has_others {
            uses.has_others = true;
            uses.split_broadcasts.push((user, masks));
        } else {
            uses.whole_broadcasts.push(user);
        }
    }
    uses
}

fn replace(
    edit: &mut Editor<'_>,
    old: InstructionId,
    lowest: f64,
    uses: Uses,
    context: &mut PassContext<'_>,
) -> PassResult<()> {
    let instruction = edit.instruction(old);
    let (parent, shape) = (instruction.parent, instruction.shape);
    let Some(element_type) = edit.element_type(old) else { return Ok(()) };
    let Some(elements) = hlo_text::ir::Elements::from_f64s(element_type, [lowest]) else { return Ok(()) };
    let new = edit.add_constant(parent, Literal { shape, data: hlo_text::ir::LiteralData::Dense(elements) });
    let place = Place::of(edit, old);
    if !uses.has_others {
        edit.replace_instruction(old, new)?;
        context.applied_at(place, format_args!("{lowest:e} instead of minus infinity"));
        return Ok(());
    }
    context
        .applied_at(place, format_args!("{lowest:e} instead of minus infinity in masks, other uses keep it"));
    edit.set_metadata(new, edit.instruction(old).metadata);
    for (user, index) in uses.direct {
        edit.set_operand(user, index, new);
    }
    for broadcast in uses.whole_broadcasts {
        edit.set_operand(broadcast, 0, new);
    }
    for (broadcast, masks) in uses.split_broadcasts {
        let copy = edit.copy_instruction(broadcast, parent, &[new]);
        for (user, index) in masks {
            edit.set_operand(user, index, copy);
        }
    }
    Ok(())
}
