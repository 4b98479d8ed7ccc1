//! `emit-offloaded-dropout`: random masks with a threshold become calls of the dropout kernel.
//!
//! All computations are visited.
//!
//! ```text
//! u    = f32[8] rng(f32[] constant(0), f32[] constant(1)), distribution=rng_uniform
//! mask = pred[8] compare(u, f32[8] broadcast(f32[] constant(0.75))), direction=LT
//! d    = f32[8] divide(x, f32[8] broadcast(f32[] constant(0.75)))
//! o    = f32[8] select(mask, d, f32[8] broadcast(f32[] constant(0)))
//!
//! c    = (f32[8], pred[8]) custom-call(x, f32[] constant(0.25), u32[] constant(0)), custom_call_target="AwsNeuronDropout"
//! o    = f32[8] get-tuple-element(c), index=0
//! ```
//!
//! The call takes the array, the probability to drop an element, and a seed; it gives the array with elements dropped and
//! the others scaled, and the mask of those that were kept. A dropout is:
//!
//! 1. `rng` with a uniform distribution from 0 to 1, which only a `compare` with a constant reads (in either order);
//!    elements below the threshold (`LT`, `LE`) or not below it (`GE`, `GT`) are true in the mask
//! 2. `select` with the mask of the array and zeros, or the other way round, or
//! 3. `multiply` of the array and the mask converted to numbers (or `select(mask, 1, 0)`)
//! 4. and a division by the probability to keep an element, or a multiplication with its inverse: of the array, of the
//!    converted mask, or of the result
//!
//! 5. If others read the mask they read the kernel's (its negation, if the mask was true for dropped elements).
//! 6. The `rng` and its bounds go.
//!
//! Seeds are numbers from `seed` on (behind the largest comes 0), a new one for each dropout, none that a call of the
//! kernel in the module has already. They are constants: what runs more than once, in a loop, as a function with several
//! callers, or because the program does, has the same mask each time, where `rng` drew anew. The log says
//! `Replaced N dropout sequences` if there were any.
//!
//! Left alone, with a remark:
//!
//! 7. other bounds than 0 and 1, bounds that are not constants
//! 8. random numbers that are read by anything else
//! 9. masks that aren't applied, or without a division: that is another function
//! 10. a division by something else than the probability to keep an element
//! 11. thresholds that are no constants, or leave nothing to keep as far as the kernel's f32 can tell
//! 12. a mask that also has an effect on the array (the array would depend on its own mask)
//! 13. control dependencies
//! 14. dynamic dimensions, or shapes that differ
//!
//! Option: `seed` (0). The numbers drawn are others than before. Confidence: medium; operands and results of the call are
//! ours.

use hlo_text::ir::words::{ComparisonDirection, RandomDistribution};
use hlo_text::ir::{
    ArrayShape, AttrKey, AttrValue, ElementType, Elements, InstructionId, Literal, LiteralData, Opcode, Shape,
};

use crate::Set;
use crate::analysis::in_post_order_of_all;
use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Finding, HAS_CONTROL_DEPENDENCIES, Pass, PassContext, PassError, PassResult, Place};

/// Where the seeds begin.
pub(crate) const SEED: OptionInfo = OptionInfo {
    name: "seed",
    kind: OptionType::Integer(0),
    doc: "Seed of the first dropout; those after it count up.",
};

/// What is called.
const TARGET: &str = "AwsNeuronDropout";

/// How many instructions are looked at to find out that an array doesn't depend on a mask.
const MAX_SEARCH: usize = 4096;

/// The pass.
pub(crate) struct EmitOffloadedDropout;

struct Dropout {
    rng: InstructionId,
    compare: InstructionId,
    /// Whether the mask is true for what is kept.
    mask_keeps: bool,
    array: InstructionId,
    output: InstructionId,
    drop_probability: f64,
    /// What reads the mask and stands before the array, in order.
    moving: Vec<InstructionId>,
}

impl Pass for EmitOffloadedDropout {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let computations = edit.computations().to_vec();
        let mut draws = Vec::new();
        in_post_order_of_all(edit, &computations, |id| {
            if edit.instruction(id).opcode == Opcode::Rng {
                draws.push(id);
            }
        });
        if draws.is_empty() {
            return Ok(());
        }
        let mut seeds = Seeds::of(edit, context.options.integer(SEED.name))?;
        let mut places = Places::of(edit);
        let mut count = 0;
        for rng in draws {
            // Looked for anew each time: an earlier rewrite may have changed what is around it.
            let Some(found) = find(edit, rng, &places).or_report(edit, rng, context) else { continue };
            if context.may_rewrite(edit, rng) {
                rewrite(edit, &found, seeds.next(), &mut places, context)?;
                count += 1;
            }
        }
        if count > 0 {
            context.log.push(format!("Replaced {count} dropout sequences"));
        }
        Ok(())
    }
}

/// Seeds that no dropout has.
struct Seeds {
    next: u32,
    used: Set<u32>,
}

impl Seeds {
    fn of(edit: &Editor<'_>, first: i64) -> PassResult<Self> {
        let next = u32::try_from(first)
            .map_err(|_| PassError::bad_option(SEED.name, "a number below 2^32", &first.to_string()))?;
        let mut used = Set::default();
        for &computation in edit.computations() {
            for id in edit.live_instructions(computation) {
                let target = edit.string(id, AttrKey::CustomCallTarget);
                if let &[_, _, seed] = edit.operands(id)
                    && target == Some(TARGET.as_bytes())
                {
                    used.extend(
                        edit.uniform_constant(seed).and_then(|elements| u32::try_from(elements.u64(0)?).ok()),
                    );
                }
            }
        }
        Ok(Self { next, used })
    }

    /// A seed that hasn't been used. There are more of them than a module has instructions.
    fn next(&mut self) -> i64 {
        while !self.used.insert(self.next) {
            self.next = self.next.wrapping_add(1);
        }
        i64::from(self.next)
    }
}

/// The number that all elements are.
fn number(edit: &Editor<'_>, id: InstructionId) -> Option<f64> {
    let elements = edit.uniform_constant(id)?;
    elements.element_type().is_float().then(|| elements.f64(0)).flatten()
}

fn find(edit: &Editor<'_>, rng: InstructionId, places: &Places) -> Finding<Dropout> {
    if edit.attribute(rng, AttrKey::Distribution) != Some(AttrValue::Word(RandomDistribution::Uniform.word()))
    {
        return Finding::near("its distribution is not uniform");
    }
    let &[low, high] = edit.operands(rng) else { return Finding::Other };
    if number(edit, low) != Some(0.0) || number(edit, high) != Some(1.0) {
        return Finding::near("its bounds are not the constants 0 and 1");
    }
    if edit.is_root(rng) {
        return Finding::near("the random values are read by others, too: they are the root");
    }
    let &[compare] = edit.users(rng) else {
        return Finding::near("the random values are read by others, too, or not at all");
    };
    if edit.instruction(compare).opcode != Opcode::Compare {
        return Finding::near("the random values are not compared with a threshold");
    }
    let Some((threshold, true_below)) = threshold(edit, compare, rng) else {
        return Finding::near("the threshold is not a constant");
    };
    if edit.has_control_dependencies(rng) || edit.has_control_dependencies(compare) {
        return Finding::near(HAS_CONTROL_DEPENDENCIES);
    }
    let precision = edit.element_type(rng).and_then(precision).unwrap_or(0);
    let true_probability = if true_below { threshold } else { 1.0 - threshold };
    let mut reason = "the mask is not applied to an array";
    for &user in edit.users(compare) {
        for use_of_mask in uses_of_mask(edit, user) {
            let keep = if use_of_mask.mask_keeps { true_probability } else { 1.0 - true_probability };
            // The kernel takes an f32, in which little to keep may be nothing, as 0 is.
            if !(keep <= 1.0 && ((1.0 - keep) as f32) < 1.0) {
                reason = "the threshold leaves nothing to keep, or is no probability";
                continue;
            }
            let Some((array, output)) = scaled(edit, &use_of_mask, keep, precision) else {
                reason = "nothing is divided by the probability to keep an element";
                continue;
            };
            let found = Dropout {
                rng,
                compare,
                mask_keeps: use_of_mask.mask_keeps,
                array,
                output,
                drop_probability: 1.0 - keep,
                moving: Vec::new(),
            };
            match check(edit, &found, places) {
                Ok(moving) => return Finding::Match(Dropout { moving, ..found }),
                Err(why) => reason = why,
            }
        }
    }
    Finding::near(reason)
}

/// The constant the random values are compared with, and whether the result is true below it.
fn threshold(edit: &Editor<'_>, compare: InstructionId, rng: InstructionId) -> Option<(f64, bool)> {
    let &[lhs, rhs] = edit.operands(compare) else { return None };
    let Some(AttrValue::Word(word)) = edit.attribute(compare, AttrKey::Direction) else { return None };
    use ComparisonDirection as D;
    let is_less = match D::from_word(word)? {
        D::Lt | D::Le => true,
        D::Gt | D::Ge => false,
        D::Eq | D::Ne => return None,
    };
    if lhs == rng { Some((number(edit, rhs)?, is_less)) } else { Some((number(edit, lhs)?, !is_less)) }
}

/// How a mask is applied.
struct UseOfMask {
    kind: UseKind,
    mask_keeps: bool,
}

enum UseKind {
    /// Array or zero.
    Select { data: InstructionId, result: InstructionId },
    /// Ones and zeros, to multiply with.
    Numbers(InstructionId),
}

fn uses_of_mask(edit: &Editor<'_>, user: InstructionId) -> Vec<UseOfMask> {
    match (edit.instruction(user).opcode, edit.operands(user)) {
        // A mask that is chosen is no number, so neither is what it is chosen with.
        (Opcode::Select, &[_, on_true, on_false]) => {
            let is =
                |id, value: f64| number(edit, id).is_some_and(|number| number.to_bits() == value.to_bits());
            let mut uses = Vec::new();
            let mut add = |kind, mask_keeps| uses.push(UseOfMask { kind, mask_keeps });
            if is(on_true, 1.0) && is(on_false, 0.0) {
                add(UseKind::Numbers(user), true);
            }
            if is(on_true, 0.0) && is(on_false, 1.0) {
                add(UseKind::Numbers(user), false);
            }
            if is(on_false, 0.0) {
                add(UseKind::Select { data: on_true, result: user }, true);
            } else if is(on_true, 0.0) {
                add(UseKind::Select { data: on_false, result: user }, false);
            }
            uses
        }
        (Opcode::Convert, _) if edit.element_type(user).is_some_and(ElementType::is_float) => {
            vec![UseOfMask { kind: UseKind::Numbers(user), mask_keeps: true }]
        }
        _ => Vec::new(),
    }
}

/// The array before and after dropping and scaling.
fn scaled(
    edit: &Editor<'_>,
    mask: &UseOfMask,
    keep: f64,
    threshold_precision: i32,
) -> Option<(InstructionId, InstructionId)> {
    // What `id` scales by the inverse of the probability, as far as the element types can say. Threshold and divisor
    // are rounded, and what is lost in `1 - threshold` weighs more when that is small.
    let unscaled = |id| {
        let (of, factor) = scaling(edit, id)?;
        let precision = edit.element_type(id).and_then(precision)?.min(threshold_precision);
        let tolerance = 4.0 * f64::powi(2.0, -precision) / keep;
        ((factor * keep - 1.0).abs() <= tolerance).then_some(of)
    };
    // What scales `id`.
    let rescaled =
        |id: InstructionId| edit.users(id).iter().copied().find(|&user| unscaled(user) == Some(id));
    match mask.kind {
        UseKind::Select { data, result } => match unscaled(data) {
            Some(array) => Some((array, result)),
            None => Some((data, rescaled(result)?)),
        },
        UseKind::Numbers(numbers) => {
            let product = |factor: InstructionId| {
                edit.users(factor).iter().find_map(|&user| match edit.operands(user) {
                    &[lhs, rhs] if edit.instruction(user).opcode == Opcode::Multiply && lhs != rhs => {
                        let other = if lhs == factor { rhs } else { lhs };
                        number(edit, other).is_none().then_some((other, user))
                    }
                    _ => None,
                })
            };
            if let Some(scaled_numbers) = rescaled(numbers) {
                return product(scaled_numbers);
            }
            let (data, result) = product(numbers)?;
            match unscaled(data) {
                Some(array) => Some((array, result)),
                None => Some((data, rescaled(result)?)),
            }
        }
    }
}

/// What is scaled by a constant, and the factor.
fn scaling(edit: &Editor<'_>, id: InstructionId) -> Option<(InstructionId, f64)> {
    match (edit.instruction(id).opcode, edit.operands(id)) {
        (Opcode::Divide, &[lhs, rhs]) => Some((lhs, 1.0 / number(edit, rhs)?)),
        (Opcode::Multiply, &[lhs, rhs]) => match number(edit, rhs) {
            Some(factor) => Some((lhs, factor)),
            None => Some((rhs, number(edit, lhs)?)),
        },
        _ => None,
    }
}

/// How many bits of a fraction the type has.
fn precision(element_type: ElementType) -> Option<i32> {
    match element_type {
        ElementType::F64 => Some(52),
        ElementType::F32 => Some(23),
        ElementType::F16 => Some(10),
        ElementType::Bf16 => Some(7),
        _ => None,
    }
}

/// Whether nothing is in the way; gives what must move behind the array.
fn check(edit: &Editor<'_>, found: &Dropout, places: &Places) -> Result<Vec<InstructionId>, &'static str> {
    let shapes = [found.array, found.output].map(|id| edit.shape_of(id).as_array());
    let (&[Some(array), Some(output)], Some(mask)) = (&shapes, edit.shape_of(found.compare).as_array())
    else {
        return Err("the shapes of array, mask and result differ");
    };
    if array.element_type != output.element_type
        || array.dimensions != output.dimensions
        || array.dimensions != mask.dimensions
    {
        return Err("the shapes of array, mask and result differ");
    }
    if array.is_dynamic() || output.is_dynamic() || mask.is_dynamic() {
        return Err("a dimension is dynamic");
    }
    if edit.has_control_dependencies(found.output) {
        return Err(HAS_CONTROL_DEPENDENCIES);
    }
    let before = places.before_array(edit, found.array, found.compare);
    before.ok_or("the array may depend on the mask")
}

/// A place in an order in which instructions can run: first by the number in the order at the start, then by when the
/// instruction came to stand behind that one.
type Position = (u32, u32);

/// Places of instructions, kept right while masks come to depend on arrays.
#[derive(Default)]
struct Places {
    /// By instruction.
    places: Vec<Position>,
    moved: u32,
}

impl Places {
    fn of(edit: &Editor<'_>) -> Self {
        let mut places = Self { places: vec![(0, 0); edit.instruction_id_limit()], moved: 0 };
        for &computation in edit.computations() {
            for (number, id) in edit.post_order(computation).into_iter().enumerate() {
                places.places[id.index()] = (number as u32, 0);
            }
        }
        places
    }

    fn get(&self, id: InstructionId) -> Position {
        self.places.get(id.index()).copied().unwrap_or_default()
    }

    /// What needs the result of `mask` and stands before the array, or at its number: if the mask is to need the array,
    /// all of it must move. `None` if the array is among it, or if there is too much of it.
    fn before_array(
        &self,
        edit: &Editor<'_>,
        array: InstructionId,
        mask: InstructionId,
    ) -> Option<Vec<InstructionId>> {
        let (end, _) = self.get(array);
        let mut seen = Set::from_iter([mask]);
        let mut open = vec![mask];
        let mut found = Vec::new();
        while let Some(next) = open.pop() {
            if next == array || seen.len() > MAX_SEARCH {
                return None;
            }
            let later = edit.users(next).iter().chain(edit.control_successors(next)).copied();
            for user in later {
                if self.get(user).0 <= end && seen.insert(user) {
                    open.push(user);
                    found.push(user);
                }
            }
        }
        found.sort_unstable_by_key(|&id| self.get(id));
        Some(found)
    }

    /// Puts an instruction behind all that stand at the number of another one.
    fn put_behind(&mut self, id: InstructionId, other: InstructionId) {
        if self.places.len() <= id.index() {
            self.places.resize(id.index() + 1, (0, 0));
        }
        self.moved += 1;
        self.places[id.index()] = (self.get(other).0, self.moved);
    }
}

fn rewrite(
    edit: &mut Editor<'_>,
    found: &Dropout,
    seed: i64,
    places: &mut Places,
    context: &mut PassContext<'_>,
) -> PassResult<()> {
    let place = Place::of(edit, found.output);
    let parent = edit.instruction(found.output).parent;
    let (output_shape, mask_shape) =
        (edit.instruction(found.output).shape, edit.instruction(found.compare).shape);
    let elements = Elements::from_f64s(ElementType::F32, [found.drop_probability]);
    let Some(elements) = elements else { return Ok(()) };
    let scalar = edit.intern_shape(Shape::Array(ArrayShape::new(ElementType::F32, Vec::new())));
    let probability = Literal { shape: scalar, data: LiteralData::Dense(elements) };
    let probability = edit.add_constant(parent, probability);
    let seed = edit.add_scalar_constant(parent, ElementType::U32, seed)?;
    let shape = edit.tuple_shape(&[output_shape, mask_shape]);
    let call = edit.add_custom_call(parent, shape, &[found.array, probability, seed], TARGET);
    let output = edit.add_get_tuple_element(call, 0)?;
    let mut new = vec![call, output];
    edit.replace_instruction(found.output, output)?;
    // The mask went with the output, unless others read it.
    if !edit.is_removed(found.compare) {
        let kept = edit.add_get_tuple_element(call, 1)?;
        let mask = if found.mask_keeps { kept } else { edit.add_unary(Opcode::Not, kept)? };
        edit.replace_all_uses(found.compare, mask)?;
        edit.remove_with_dead_operands(found.compare);
        new.extend([kept, mask]);
    }
    if !edit.is_removed(found.rng) {
        edit.remove_with_dead_operands(found.rng);
    }
    for id in new.into_iter().chain(found.moving.iter().copied()) {
        places.put_behind(id, found.array);
    }
    context.applied_at(place, format_args!("a call of {TARGET}"));
    Ok(())
}
