//! `replace-rng`: replaces random numbers by constants drawn once, so that runs can be compared.
//!
//! Every `rng`, in every computation and used or not, becomes a constant; one with a tuple result becomes a tuple of
//! constants.
//!
//! ```text
//! --passes=replace-rng
//!
//! lo = f32[] constant(0)
//! hi = f32[] constant(1)
//! r = f32[3] rng(lo, hi), distribution=rng_uniform
//!
//! constant = f32[3] constant({0.5488135, 0.71518934, 0.60276335})
//! ```
//!
//! How numbers are drawn: by `std::mt19937`, instruction after instruction in the order of computations, in post-order.
//!
//! * Floating point, uniform: two words make a fraction of 53 bits, which is scaled to `[lo, hi)` and rounded to the
//!   type; what rounding makes `hi` is drawn again.
//! * Integers: `lo + word mod (hi - lo)`; types of more than 32 bits take two words, the high one first.
//! * `pred`: the low bit of a word, whatever the bounds.
//! * Normal: pairs by Box and Muller, the cosine's first, scaled by the deviation and moved by the mean.
//!
//! Bounds that are not constants are applied by instructions: the constant then holds what doesn't depend on them.
//!
//! Options:
//!
//! * `seed`: a number below 2^32, or `random` for another seed in each run. 0 by default.
//! * `mode`: `sample` as above, or `raw` as the original: elements are filled with the bits that libstdc++'s
//!   `uniform_int_distribution` gives, for integers between constant bounds, otherwise over all bit patterns of the
//!   type, whatever the distribution.
//! * `fold-rng-bit-generator`: `rng-bit-generator` becomes random bits too, with its state handed on unchanged. It
//!   is a function of its state, so this changes what it gives.
//!
//! Limits: an `rng` with control edges, a dynamic shape, a type or distribution without meaning (a normal one of a type
//! without negative numbers, too), or bounds out of order stays, with a remark. A result of more than 2^28 elements is
//! an error.
//!
//! Confidence: certain that it is done; how numbers are drawn is ours, but for `raw`.

use hlo_text::ir::words::RandomDistribution;
use hlo_text::ir::{
    ArrayShape, AttrKey, AttrValue, ElementClass, ElementType, Elements, InstructionId, Literal, LiteralData,
    Opcode, Shape, ShapeId,
};
use hlo_text::number::{decode_float, encode_float};

use super::random::Source;
use crate::analysis::in_post_order_of_all;
use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Pass, PassContext, PassError, PassResult};

/// How many elements of one instruction are drawn at most.
pub(crate) const MAX_DRAWN_ELEMENTS: i64 = 1 << 28;

/// The pass.
pub(crate) struct ReplaceRng;

/// Its options.
pub(crate) const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "seed",
        kind: OptionType::Text("0"),
        doc: "Where the random numbers start: below 2^32, or `random`.",
    },
    OptionInfo {
        name: "mode",
        kind: OptionType::Text("sample"),
        doc: "`sample` follows the distribution, `raw` fills in bits as the original does.",
    },
    OptionInfo {
        name: "fold-rng-bit-generator",
        kind: OptionType::Flag(false),
        doc: "Replaces rng-bit-generator as well.",
    },
];

/// What an element of a result is drawn from.
#[derive(Clone, Copy)]
enum Law {
    /// All bit patterns.
    Bits,
    /// All bit patterns, as libstdc++ draws them.
    RawBits,
    /// `pred`.
    Coin,
    /// `low + word mod range`.
    Integer {
        low: i128,
        range: i128,
    },
    /// The same as libstdc++ draws it.
    RawInteger {
        low: i128,
        range: i128,
    },
    /// Between these.
    Uniform {
        low: f64,
        high: f64,
    },
    Normal {
        mean: f64,
        deviation: f64,
    },
}

/// What is done with what was drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Finish {
    Nothing,
    /// `drawn * (b - a) + a`
    Range,
    /// `drawn * b + a`
    Deviation,
    /// `drawn mod (b - a) + a`, unsigned.
    Modulo,
}

impl Pass for ReplaceRng {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let mut source = Source::new(seed(context)?);
        let is_raw = match context.options.text("mode") {
            "sample" => false,
            "raw" => true,
            other => {
                return Err(PassError::bad_option("mode", "`sample` or `raw`", other));
            }
        };
        let fold_generators = context.options.flag("fold-rng-bit-generator");
        let mut found = Vec::new();
        let computations = edit.computations().to_vec();
        in_post_order_of_all(edit, &computations, |id| match edit.instruction(id).opcode {
            Opcode::Rng | Opcode::RngBitGenerator => found.push(id),
            _ => {}
        });
        for id in found {
            let is_generator = edit.instruction(id).opcode == Opcode::RngBitGenerator;
            if is_generator && !fold_generators {
                context.missed(
                    edit,
                    id,
                    "it is a function of its state; option `fold-rng-bit-generator` replaces it",
                );
                continue;
            }
            if edit.has_control_dependencies(id) {
                context.missed(edit, id, "it has control dependencies, so it can't be replaced");
                continue;
            }
            let plan =
                if is_generator { plan_generator(edit, id, is_raw) } else { plan_rng(edit, id, is_raw) };
            let plan = match plan {
                Ok(plan) => plan,
                Err(why) => {
                    context.missed(edit, id, why);
                    continue;
                }
            };
            check_size(edit, id, &plan)?;
            if !context.may_rewrite(edit, id) {
                continue;
            }
            context.applied(edit, id, "its numbers are drawn now");
            let new = make(edit, id, &plan, &mut source)?;
            edit.replace_instruction(id, new)?;
        }
        Ok(())
    }
}

fn seed(context: &PassContext<'_>) -> PassResult<u32> {
    let text = context.options.text("seed");
    if text == "random" {
        let entropy = context.resources.entropy();
        return entropy.ok_or_else(|| PassError::new("there is no source of randomness for `seed=random`"));
    }
    text.parse().map_err(|_| PassError::bad_option("seed", "a number below 2^32 or `random`", text))
}

/// What replaces an instruction.
struct Plan {
    /// The operand that is the first element of the result.
    state: Option<InstructionId>,
    /// The constants, one for each array of the result.
    arrays: Vec<(ShapeId, Law, Finish)>,
    is_tuple: bool,
}

fn plan_generator(edit: &Editor<'_>, id: InstructionId, is_raw: bool) -> Result<Plan, String> {
    let (Some(&[_, bits]), &[state]) = (edit.shape_of(id).as_tuple(), edit.operands(id)) else {
        return Err("its result is not a state and an array".to_owned());
    };
    let array = drawable(edit, bits)?;
    if array.element_type.class() == ElementClass::Complex {
        return Err("complex numbers can't be drawn".to_owned());
    }
    let law = if is_raw { Law::RawBits } else { Law::Bits };
    Ok(Plan { state: Some(state), arrays: vec![(bits, law, Finish::Nothing)], is_tuple: true })
}

fn plan_rng(edit: &Editor<'_>, id: InstructionId, is_raw: bool) -> Result<Plan, String> {
    let shape = edit.instruction(id).shape;
    let (shapes, is_tuple) = match edit.shape(shape) {
        Shape::Tuple(elements) => (elements.clone(), true),
        _ => (vec![shape], false),
    };
    let arrays = shapes.into_iter().map(|shape| {
        let (law, finish) = law(edit, id, shape, is_raw)?;
        Ok((shape, law, finish))
    });
    Ok(Plan { state: None, arrays: arrays.collect::<Result<_, String>>()?, is_tuple })
}

/// The array, if numbers can be drawn for it.
fn drawable<'e>(edit: &'e Editor<'_>, shape: ShapeId) -> Result<&'e ArrayShape, String> {
    let array = edit.shape(shape).as_array().ok_or("its result is not an array")?;
    if array.is_dynamic() {
        return Err("its result has dynamic dimensions".to_owned());
    }
    Ok(array)
}

fn law(edit: &Editor<'_>, id: InstructionId, shape: ShapeId, is_raw: bool) -> Result<(Law, Finish), String> {
    let element_type = drawable(edit, shape)?.element_type;
    let distribution = match edit.attribute(id, AttrKey::Distribution) {
        Some(AttrValue::Word(word)) => RandomDistribution::from_word(word),
        _ => None,
    };
    let &[a, b] = edit.operands(id) else {
        return Err("it does not have two operands".to_owned());
    };
    let is_normal = match distribution {
        Some(RandomDistribution::Uniform) => false,
        Some(RandomDistribution::Normal) => true,
        Some(RandomDistribution::Invalid) | None => return Err("its distribution is not known".to_owned()),
    };
    // Instructions for bounds need these to be scalars of the result's type.
    let fits = [a, b].iter().all(|&bound| {
        matches!(edit.shape_of(bound), Shape::Array(array) if array.rank() == 0 && array.element_type == element_type)
    });
    if !fits {
        return Err("its operands are not scalars of its type".to_owned());
    }
    let constants = constant(edit, a).zip(constant(edit, b));
    match element_type.class() {
        ElementClass::Complex | ElementClass::NotArray => Err("complex numbers can't be drawn".to_owned()),
        ElementClass::Float if is_raw => Ok((Law::RawBits, Finish::Nothing)),
        ElementClass::Float
            if is_normal && decode_float(element_type, encode_float(element_type, -1.0)).is_nan() =>
        {
            Err(format!("{} has no negative numbers, as a normal distribution has", element_type.name()))
        }
        ElementClass::Float if is_normal => Ok(match constants {
            Some((mean, deviation)) => {
                let value = |elements: &Elements| elements.f64(0).unwrap_or(f64::NAN);
                (Law::Normal { mean: value(mean), deviation: value(deviation) }, Finish::Nothing)
            }
            None => (Law::Normal { mean: 0.0, deviation: 1.0 }, Finish::Deviation),
        }),
        ElementClass::Float => match constants {
            Some((low, high)) => {
                let value = |elements: &Elements| elements.f64(0).unwrap_or(f64::NAN);
                let (low, high) = (value(low), value(high));
                if low < high && (high - low).is_finite() {
                    Ok((Law::Uniform { low, high }, Finish::Nothing))
                } else if low < high && low.is_finite() && high.is_finite() {
                    Err(format!(
                        "{} has no number as large as the range from {low:e} to {high:e}",
                        element_type.name()
                    ))
                } else {
                    Err(format!("there are no numbers to draw from {low} to below {high}"))
                }
            }
            None => Ok((Law::Uniform { low: 0.0, high: 1.0 }, Finish::Range)),
        },
        _ if is_normal => Err(format!("{} has no normal distribution", element_type.name())),
        ElementClass::Pred if is_raw => Ok((Law::RawInteger { low: 0, range: 2 }, Finish::Nothing)),
        ElementClass::Pred => Ok((Law::Coin, Finish::Nothing)),
        ElementClass::Signed | ElementClass::Unsigned => match constants {
            Some((low, high)) => {
                let (low, high) = (integer(low), integer(high));
                let range = high - low;
                if range <= 0 {
                    return Err(format!("there are no numbers to draw from {low} to below {high}"));
                }
                let law = if is_raw { Law::RawInteger { low, range } } else { Law::Integer { low, range } };
                Ok((law, Finish::Nothing))
            }
            None if is_raw => Ok((Law::RawBits, Finish::Nothing)),
            None => Ok((Law::Bits, Finish::Modulo)),
        },
    }
}

/// The scalar a constant holds.
fn constant<'e>(edit: &'e Editor<'_>, id: InstructionId) -> Option<&'e Elements> {
    let instruction = edit.instruction(id);
    let literal = instruction.literal.filter(|_| instruction.opcode == Opcode::Constant)?;
    edit.literal(literal).elements().filter(|elements| elements.len() == 1)
}

fn integer(elements: &Elements) -> i128 {
    match (elements.i64(0), elements.u64(0)) {
        (Some(value), _) => i128::from(value),
        (None, Some(value)) => i128::from(value),
        (None, None) => 0,
    }
}

fn check_size(edit: &Editor<'_>, id: InstructionId, plan: &Plan) -> PassResult<()> {
    let mut total = 0i64;
    for (shape, ..) in &plan.arrays {
        let count = edit.shape(*shape).as_array().and_then(ArrayShape::element_count);
        total = total.saturating_add(count.unwrap_or(i64::MAX));
    }
    if total > MAX_DRAWN_ELEMENTS {
        let message = format!("it has more than the {MAX_DRAWN_ELEMENTS} elements that can be drawn");
        return Err(PassError::at(edit, id, message));
    }
    Ok(())
}

fn make(
    edit: &mut Editor<'_>,
    id: InstructionId,
    plan: &Plan,
    source: &mut Source,
) -> PassResult<InstructionId> {
    let mut elements: Vec<InstructionId> = plan.state.into_iter().collect();
    for &(shape, law, finish) in &plan.arrays {
        let drawn = draw(edit, id, shape, law, finish, source)?;
        elements.push(apply_bounds(edit, id, shape, drawn, finish)?);
    }
    if plan.is_tuple {
        let parent = edit.instruction(id).parent;
        return Ok(edit.add_tuple(parent, &elements));
    }
    elements.first().copied().ok_or_else(|| PassError::at(edit, id, "it has no result"))
}

/// Adds the constant.
fn draw(
    edit: &mut Editor<'_>,
    id: InstructionId,
    shape: ShapeId,
    law: Law,
    finish: Finish,
    source: &mut Source,
) -> PassResult<InstructionId> {
    let array = edit.shape(shape).as_array().cloned();
    let count =
        array.as_ref().and_then(ArrayShape::element_count).and_then(|count| usize::try_from(count).ok());
    let (Some(array), Some(count)) = (array, count) else {
        return Err(PassError::at(edit, id, "its result is not an array"));
    };
    // What `remainder` is to take is unsigned.
    let element_type =
        if finish == Finish::Modulo { unsigned(array.element_type) } else { array.element_type };
    let shape = edit.with_element_type(shape, element_type);
    let elements = sample(element_type, count, law, source);
    let elements = elements.ok_or_else(|| PassError::at(edit, id, "its type has no values"))?;
    let parent = edit.instruction(id).parent;
    Ok(edit.add_constant(parent, Literal { shape, data: LiteralData::Dense(elements) }))
}

fn sample(element_type: ElementType, count: usize, law: Law, source: &mut Source) -> Option<Elements> {
    let width = element_type.bits();
    let patterns = |mut next: Box<dyn FnMut() -> u64 + '_>| {
        if element_type.is_float() {
            let size = element_type.storage_bytes();
            let mask = u64::MAX >> (64 - width);
            let mut bytes = Vec::with_capacity(count * size);
            (0..count).for_each(|_| bytes.extend_from_slice(&(next() & mask).to_le_bytes()[..size]));
            Elements::from_bytes(element_type, bytes)
        } else if element_type == ElementType::Pred {
            Elements::from_i64s(element_type, (0..count).map(|_| (next() & 1) as i64))
        } else {
            Elements::from_i64s(element_type, (0..count).map(|_| next() as i64))
        }
    };
    match law {
        Law::Bits => patterns(Box::new(|| source.bits(width))),
        Law::RawBits => {
            let last = if element_type == ElementType::Pred { 1 } else { u64::MAX >> (64 - width) };
            patterns(Box::new(|| source.uniform_int(last)))
        }
        Law::Coin => patterns(Box::new(|| source.bits(1))),
        Law::Integer { low, range } => Elements::from_i64s(
            element_type,
            (0..count).map(|_| (low + i128::from(source.bits(width)) % range) as i64),
        ),
        Law::RawInteger { low, range } => {
            let last = (range - 1) as u64;
            let drawn = (0..count).map(|_| (low + i128::from(source.uniform_int(last))) as i64);
            Elements::from_i64s(element_type, drawn)
        }
        Law::Uniform { low, high } => {
            let drawn = (0..count).map(|_| {
                loop {
                    let exact = low + source.fraction() * (high - low);
                    let rounded = decode_float(element_type, encode_float(element_type, exact));
                    if rounded < high {
                        break rounded;
                    }
                }
            });
            Elements::from_f64s(element_type, drawn)
        }
        Law::Normal { mean, deviation } => {
            let pairs = (0..count.div_ceil(2)).flat_map(|_| source.normals());
            Elements::from_f64s(element_type, pairs.take(count).map(|number| mean + deviation * number))
        }
    }
}

fn unsigned(element_type: ElementType) -> ElementType {
    match element_type {
        ElementType::S1 => ElementType::U1,
        ElementType::S2 => ElementType::U2,
        ElementType::S4 => ElementType::U4,
        ElementType::S8 => ElementType::U8,
        ElementType::S16 => ElementType::U16,
        ElementType::S32 => ElementType::U32,
        ElementType::S64 => ElementType::U64,
        other => other,
    }
}

/// Adds the instructions that apply bounds that are not constants.
fn apply_bounds(
    edit: &mut Editor<'_>,
    id: InstructionId,
    shape: ShapeId,
    drawn: InstructionId,
    finish: Finish,
) -> PassResult<InstructionId> {
    let &[a, b] = edit.operands(id) else { return Ok(drawn) };
    let scaled = match finish {
        Finish::Nothing => return Ok(drawn),
        Finish::Range | Finish::Deviation => {
            let scale = if finish == Finish::Range { edit.add_binary(Opcode::Subtract, b, a)? } else { b };
            let scale = edit.add_broadcast_of_scalar(scale, shape);
            edit.add_binary(Opcode::Multiply, drawn, scale)?
        }
        Finish::Modulo => {
            let range = edit.add_binary(Opcode::Subtract, b, a)?;
            let drawn_shape = edit.instruction(drawn).shape;
            let range = reinterpret(edit, range, drawn);
            let range = edit.add_broadcast_of_scalar(range, drawn_shape);
            let rest = edit.add_binary(Opcode::Remainder, drawn, range)?;
            reinterpret(edit, rest, a)
        }
    };
    let start = edit.add_broadcast_of_scalar(a, shape);
    edit.add_binary(Opcode::Add, scaled, start)
}

/// The same bits as the element type of `like`, which has the same width.
fn reinterpret(edit: &mut Editor<'_>, value: InstructionId, like: InstructionId) -> InstructionId {
    let (of_value, wanted) = (edit.element_type(value), edit.element_type(like));
    match wanted {
        Some(wanted) if of_value != Some(wanted) => {
            let instruction = edit.instruction(value);
            let (parent, shape) = (instruction.parent, instruction.shape);
            let shape = edit.with_element_type(shape, wanted);
            edit.add(parent, Opcode::BitcastConvert, shape, &[value], &[])
        }
        _ => value,
    }
}
