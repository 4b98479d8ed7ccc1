//! `convert-inputs-to-optimal-shape`: entry parameters get a shape the device reads better; the graph puts the old view
//! back.
//!
//! An entry says how the new shape comes from the old one: reshape, then transpose, either of which may be left out.
//! In the graph the parameter of the new shape is transposed back, then reshaped back; steps that change nothing are
//! left out.
//!
//! ```text
//! --passes='convert-inputs-to-optimal-shape{inputs=p:2x3:1x0}'
//!
//! p = f32[6] parameter(0)
//! n = f32[6] negate(p)
//!
//! p = f32[3,2] parameter(0)
//! transpose = f32[2,3] transpose(p), dimensions={1,0}
//! reshape = f32[6] reshape(transpose)
//! n = f32[6] negate(reshape)
//! ```
//!
//! Options: `inputs`, entries `NAME:SIZES:PERMUTATION` with `x` between numbers, such as `p:2x3:1x0`, `p:2x3` or
//! `p::1x0`; `inputs-file`, a JSON file with a list of objects `{"input_name": "p", "reshape": [2, 3], "transpose": [1, 0]}`
//! (on its own or as the only field of an object) or an object from names to such objects. Dimension `i` of the new shape is dimension `transpose[i]` of the reshaped one.
//!
//! The parameter keeps its name, number, metadata and frontend attributes, and gets the default layout; so does the entry
//! layout. An alias of it can't hold any more and is dropped, with a warning in the log.
//!
//! Limits: names that are not entry parameters of a static array, sizes with another number of elements, and lists that
//! are no permutation are errors, found before anything is changed. A parameter whose sharding cuts it into tiles stays.
//! A second run permutes again; with new sizes alone it changes nothing.
//!
//! Confidence: medium; what the steps mean is ours.

use hlo_text::diagnostic::did_you_mean;
use hlo_text::ir::{
    ArrayShape, Attr, AttrKey, AttrValue, ElementType, InstructionId, Opcode, Shape, ShapeId, Sharding,
    ShardingKind, Value,
};
use serde_json::Value as Json;

use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Pass, PassContext, PassError, PassResult};
use crate::passes::targets::{json_text, json_type, read_json};
use crate::{Map, Set};

/// The pass.
pub(crate) struct ConvertInputsToOptimalShape;

/// Its options.
pub(crate) const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "inputs",
        kind: OptionType::List,
        doc: "Entries `NAME:SIZES:PERMUTATION` with `x` between numbers, such as `p:2x3:1x0`.",
    },
    OptionInfo {
        name: "inputs-file",
        kind: OptionType::Text(""),
        doc: "JSON file with more entries: objects of `input_name`, `reshape` and `transpose`.",
    },
];

/// What the user wants of a parameter.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    reshape: Option<Vec<i64>>,
    transpose: Option<Vec<i64>>,
}

/// The same, checked.
struct Plan {
    parameter: InstructionId,
    element_type: ElementType,
    /// Sizes between reshape and transpose.
    sizes: Vec<i64>,
    permutation: Vec<i64>,
}

impl Plan {
    fn is_transposed(&self) -> bool {
        !self.permutation.iter().copied().eq(0..self.permutation.len() as i64)
    }
}

impl Pass for ConvertInputsToOptimalShape {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let mut entries = Vec::new();
        for text in context.options.list("inputs") {
            entries.push(parse_entry(text)?);
        }
        let path = context.options.text("inputs-file");
        if !path.is_empty() {
            entries.extend(parse_file(&read_json(context, path)?, path)?);
        }
        let parameters = edit.computation(edit.entry()).parameters.iter();
        let known: Map<&str, InstructionId> = parameters.map(|&id| (edit.name_of(id), id)).collect();
        let mut seen = Set::default();
        let mut plans = Vec::with_capacity(entries.len());
        for entry in entries {
            let plan = plan(edit, entry, &known)?;
            if !seen.insert(plan.parameter) {
                return Err(PassError::at(edit, plan.parameter, "there are two entries for this parameter"));
            }
            plans.push(plan);
        }
        drop(known);
        let mut shapes = Vec::with_capacity(plans.len());
        plans.retain(|plan| {
            let shape = wanted_shape(edit, plan, context);
            shapes.extend(shape.map(|shape| (plan.parameter, shape)));
            shape.is_some()
        });
        let old_shapes: Vec<ShapeId> =
            plans.iter().map(|plan| edit.instruction(plan.parameter).shape).collect();
        for alias in edit.set_entry_parameter_shapes(&shapes) {
            let parameter = edit.computation(edit.entry()).parameters[alias.parameter as usize];
            let (name, index) = (edit.name_of(parameter), alias.output_index);
            let old_shape = plans.iter().zip(&old_shapes).find(|(plan, _)| plan.parameter == parameter);
            let is_same = old_shape.is_some_and(|(_, &old)| edit.instruction(parameter).shape == old);
            // A square one that is transposed.
            let why = if is_same { "elements are in another order" } else { "shapes differ" };
            let message = format!("warning: the alias of output {index:?} with `{name}` is dropped: {why}");
            context.log.push(message);
        }
        for (plan, old_shape) in plans.iter().zip(old_shapes) {
            give_users_the_old_shape(edit, plan, old_shape)?;
        }
        if context.wants_remarks {
            for &parameter in &edit.computation(edit.entry()).parameters {
                if !seen.contains(&parameter) {
                    context.missed(edit, parameter, "there is no entry for it");
                }
            }
        }
        Ok(())
    }
}

/// Reads `NAME:SIZES:PERMUTATION`.
fn parse_entry(text: &str) -> PassResult<Entry> {
    let malformed = || PassError::bad_option("inputs", "entries such as `p:2x3:1x0`", text);
    let numbers = |text: &str| -> PassResult<Option<Vec<i64>>> {
        if text.is_empty() {
            return Ok(None);
        }
        text.split('x')
            .map(|number| number.parse().map_err(|_| malformed()))
            .collect::<PassResult<_>>()
            .map(Some)
    };
    let mut parts = text.split(':');
    let name = parts.next().map(|name| name.trim().trim_start_matches('%')).filter(|name| !name.is_empty());
    let reshape = numbers(parts.next().unwrap_or_default())?;
    let transpose = numbers(parts.next().unwrap_or_default())?;
    match (name, parts.next()) {
        (Some(name), None) => Ok(Entry { name: name.to_owned(), reshape, transpose }),
        _ => Err(malformed()),
    }
}

/// What entries of a file may say; the name stands before them in an object.
const FIELDS: [&str; 3] = ["input_name", "reshape", "transpose"];

fn parse_file(json: &Json, path: &str) -> PassResult<Vec<Entry>> {
    let numbers = |object: &Json, field: &str| -> PassResult<Option<Vec<i64>>> {
        let value = match object.get(field) {
            None | Some(Json::Null) => return Ok(None),
            Some(value) => value,
        };
        let wrong = |value: &Json| {
            PassError::new(format!(
                "`{path}`: `{field}` must be a list of numbers, but has {}",
                json_type(value)
            ))
        };
        let list = value.as_array().ok_or_else(|| wrong(value))?;
        let integer = |number: &Json| {
            let message = || format!("`{path}`: `{field}` must be a list of integers, but has {number}");
            number
                .as_i64()
                .ok_or_else(|| if number.is_number() { PassError::new(message()) } else { wrong(number) })
        };
        list.iter().map(integer).collect::<PassResult<_>>().map(Some)
    };
    let entry = |name: &str, object: &Json| {
        if !object.is_object() {
            let message = format!("`{path}`: type must be object, but is {}", json_type(object));
            return Err(PassError::new(message));
        }
        for key in object.as_object().into_iter().flat_map(|object| object.keys()) {
            if !FIELDS.contains(&key.as_str()) {
                let close = did_you_mean(key, FIELDS)
                    .map_or_else(String::new, |close| format!("; did you mean `{close}`?"));
                return Err(PassError::new(format!("`{path}`: an entry has no field `{key}`{close}")));
            }
        }
        let (reshape, transpose) = (numbers(object, "reshape")?, numbers(object, "transpose")?);
        Ok(Entry { name: name.trim_start_matches('%').to_owned(), reshape, transpose })
    };
    // A list may stand in an object of its own.
    let json = match json {
        Json::Object(object) => match object.iter().next() {
            Some((_, list @ Json::Array(_))) if object.len() == 1 => list,
            _ => json,
        },
        _ => json,
    };
    match json {
        Json::Object(object) => object.iter().map(|(name, object)| entry(name, object)).collect(),
        Json::Array(list) => list
            .iter()
            .map(|object| match object.get("input_name") {
                Some(name) => entry(json_text(name, path)?, object),
                None => Err(PassError::new(format!("`{path}`: an entry has no `input_name`"))),
            })
            .collect(),
        other => Err(PassError::new(format!("`{path}` must hold entries, but is a {}", json_type(other)))),
    }
}

fn plan(edit: &Editor<'_>, entry: Entry, known: &Map<&str, InstructionId>) -> PassResult<Plan> {
    let Entry { name, reshape, transpose } = entry;
    let Some(&parameter) = known.get(name.as_str()) else {
        let hint = match did_you_mean(&name, known.keys().copied()) {
            Some(close) => format!("; did you mean `{close}`?"),
            None => String::new(),
        };
        return Err(PassError::new(format!("there is no entry parameter `{name}`{hint}")));
    };
    let fail = |message: String| Err(PassError::at(edit, parameter, message));
    let old = match edit.shape_of(parameter) {
        Shape::Array(array) if !array.is_dynamic() => array,
        _ => return fail("it can't be reshaped: it is not a static array".to_owned()),
    };
    let sizes = reshape.unwrap_or_else(|| old.dimensions.clone());
    let negative = sizes.iter().any(|&size| size < 0);
    let count = ArrayShape::new(old.element_type, sizes.clone()).element_count();
    if negative || count.is_none() || count != old.element_count() {
        let shown = edit.shape_text(edit.instruction(parameter).shape, false);
        return fail(format!("it can't be reshaped: {shown} does not have the elements of {sizes:?}"));
    }
    let permutation = transpose.unwrap_or_else(|| (0..sizes.len() as i64).collect());
    let mut sorted = permutation.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..sizes.len() as i64) {
        let rank = sizes.len();
        return fail(format!(
            "it can't be transposed: {permutation:?} is no permutation of {rank} dimensions"
        ));
    }
    Ok(Plan { parameter, element_type: old.element_type, sizes, permutation })
}

/// Whether a sharding only fits the dimensions there are.
fn is_cut(edit: &Editor<'_>, id: InstructionId) -> bool {
    let cuts = |kind: &ShardingKind| match kind {
        ShardingKind::Tiled(_) => true,
        ShardingKind::Named(named) => !named.dimensions.is_empty(),
        _ => false,
    };
    match edit.value_of(id, AttrKey::Sharding) {
        Some(Value::Sharding(Sharding::Single(single))) => cuts(&single.kind),
        _ => false,
    }
}

/// The shape that a parameter gets, if it is to be changed.
fn wanted_shape(edit: &mut Editor<'_>, plan: &Plan, context: &mut PassContext<'_>) -> Option<ShapeId> {
    let parameter = plan.parameter;
    let old_shape = edit.instruction(parameter).shape;
    let is_reshaped = edit.shape(old_shape).as_array()?.dimensions != plan.sizes;
    if !is_reshaped && !plan.is_transposed() {
        context.missed(edit, parameter, "it has the wanted shape already");
        return None;
    }
    if is_cut(edit, parameter) {
        context.missed(edit, parameter, "its sharding cuts it into tiles");
        return None;
    }
    if !context.may_rewrite(edit, parameter) {
        return None;
    }
    let sizes: Vec<i64> = plan.permutation.iter().map(|&from| plan.sizes[from as usize]).collect();
    let new_shape = edit.array_shape(plan.element_type, &sizes);
    if context.wants_remarks {
        let (old, new) = (edit.shape_text(old_shape, false), edit.shape_text(new_shape, false));
        let order = if old == new { ", its elements in another order" } else { "" };
        context.applied(edit, parameter, format_args!("{old} becomes {new}{order}"));
    }
    Some(new_shape)
}

/// Undoes a parameter's change for all that use it.
fn give_users_the_old_shape(edit: &mut Editor<'_>, plan: &Plan, old_shape: ShapeId) -> PassResult<()> {
    let is_reshaped = edit.shape(old_shape).as_array().is_some_and(|old| old.dimensions != plan.sizes);
    let mut view = plan.parameter;
    if plan.is_transposed() {
        let mut inverse = vec![0; plan.permutation.len()];
        for (to, &from) in plan.permutation.iter().enumerate() {
            inverse[from as usize] = to as i64;
        }
        let shape = if is_reshaped { edit.array_shape(plan.element_type, &plan.sizes) } else { old_shape };
        view = put_between(edit, view, Opcode::Transpose, shape, Some(inverse))?;
    }
    if is_reshaped {
        put_between(edit, view, Opcode::Reshape, old_shape, None)?;
    }
    Ok(())
}

/// Adds an instruction on `source` that all users of `source` use instead.
fn put_between(
    edit: &mut Editor<'_>,
    source: InstructionId,
    opcode: Opcode,
    shape: ShapeId,
    dimensions: Option<Vec<i64>>,
) -> PassResult<InstructionId> {
    let dimensions = dimensions.map(|dimensions| {
        let value = AttrValue::Value(edit.intern_value(Value::Ints(dimensions)));
        Attr { key: AttrKey::Dimensions, value }
    });
    let parent = edit.instruction(source).parent;
    let new = edit.add(parent, opcode, shape, &[source], dimensions.as_slice());
    edit.replace_all_uses(source, new)?;
    Ok(new)
}
