//! `inline-weights`: parameters that are weights become constants, read from numpy files.
//!
//! A folder holds `metadata.json`, which names a file for each parameter number, as torch-neuronx writes it:
//!
//! ```text
//! {"model_files": "graph.hlo", "version": "1.0", "weights": {"1": "weights/1.npy"}}
//! ```
//!
//! ```text
//! --passes='inline-weights{dir=model}'
//!
//! w = f32[2] parameter(1)
//! m = f32[2] multiply(x, w)
//!
//! constant = f32[2] constant({1.5, -2})
//! m = f32[2] multiply(x, constant)
//! ```
//!
//! The parameters go, from the highest number down, and those behind them move up: with their entry layout, aliases,
//! donors, propagation flags and the `valid_inputs` list of the module's frontend attributes. A constant takes over metadata,
//! shardings (`sharding=` and Shardy's, which is a frontend attribute) and control edges.
//!
//! Files: `.npy` of versions 1 to 3, both byte orders and both orders of dimensions. `|V2` is `bf16`; `|V1` any type of at
//! most 8 bits that numpy doesn't know; `<f1` is `f8e5m2`, which ml_dtypes writes so.
//!
//! Option: `dir`, the folder.
//!
//! Errors, all found before anything is changed:
//!
//! * `NCC_MOD003`: `metadata.json` can't be read or says something else than above; also paths that could lead out of the
//!   folder: absolute ones, those with a part `..`, and those with a backslash or a colon.
//! * `Corrupted input dir, model file does not exist!`: the model file or a `.npy` file is missing or damaged.
//! * `NCC_INL002`: `numpy file type mismatch`, looked at first. `NCC_INL001`: `mismatching layout for parameter`.
//! * `Computation … has no parameter number …`.
//! * An alias or a donor names a weight.
//!
//! Confidence: certain; conversion of byte and dimension orders is ours.

use hlo_text::ir::{
    Attr, AttrKey, AttrValue, ElementClass, ElementType, Elements, InstructionId, Literal, LiteralData,
    NewInstruction, Opcode, Value,
};
use serde_json::Value as Json;
use smallvec::SmallVec;

use super::npy::{self, NpyArray, NpyError};
use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Pass, PassContext, PassError, PassResult};
use crate::passes::targets::json_type;
use crate::registry::codes::{MODEL_FOLDER, WEIGHT_DIMENSIONS, WEIGHT_TYPE};

/// The pass.
pub(crate) struct InlineWeights;

/// Its options.
pub(crate) const OPTIONS: &[OptionInfo] =
    &[OptionInfo { name: "dir", kind: OptionType::Text(""), doc: "The folder with `metadata.json`." }];

const METADATA: &str = "metadata.json";
const CORRUPTED: &str = "Corrupted input dir, model file does not exist!";

/// A parameter and what it becomes.
struct Weight {
    parameter: InstructionId,
    literal: Literal,
}

impl Pass for InlineWeights {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let dir = context.options.text("dir").trim_end_matches('/').to_owned();
        if dir.is_empty() {
            return Err(PassError::lacking_option("option `dir` must name the folder of the weights"));
        }
        let mut files = read_metadata(context, &dir)?;
        // Removing a parameter renumbers those behind it, so the highest comes first.
        files.sort_by_key(|file| std::cmp::Reverse(file.0));
        let mut weights = Vec::with_capacity(files.len());
        for (number, path) in files {
            let parameters = &edit.computation(edit.entry()).parameters;
            let parameter = usize::try_from(number).ok().and_then(|number| parameters.get(number)).copied();
            let Some(parameter) = parameter else {
                let name = edit.computation_name(edit.entry());
                return Err(PassError::new(format!("Computation {name} has no parameter number {number}.")));
            };
            if !context.may_rewrite(edit, parameter) {
                continue;
            }
            context.applied(edit, parameter, format_args!("parameter {number} becomes what `{path}` holds"));
            let file = format!("{dir}/{path}");
            let bytes = context.resources.read(&file);
            let bytes =
                bytes.map_err(|error| PassError::at(edit, parameter, format!("{CORRUPTED} {error}")))?;
            weights.push(Weight { parameter, literal: literal(edit, parameter, number, &path, bytes)? });
        }
        let parameters: Vec<InstructionId> = weights.iter().map(|weight| weight.parameter).collect();
        edit.check_removable_parameters(&parameters)?;
        for weight in weights {
            replace(edit, weight)?;
        }
        edit.remove_entry_parameters(&parameters)?;
        if context.wants_remarks {
            for &parameter in &edit.computation(edit.entry()).parameters {
                context.missed(edit, parameter, "no weight is listed for it");
            }
        }
        Ok(())
    }
}

/// Parameter numbers and files, each number once.
fn read_metadata(context: &PassContext<'_>, dir: &str) -> PassResult<Vec<(i64, String)>> {
    let fail = |message: String| PassError::new(message).code(MODEL_FOLDER);
    let path = format!("{dir}/{METADATA}");
    let unreadable = |why: String| {
        fail(format!("Please ensure metadata.json exists and has read permissions. `{path}`: {why}"))
    };
    let bytes = context.resources.read(&path).map_err(unreadable)?;
    let json = crate::passes::json::parse(&bytes).map_err(|error| unreadable(error.to_string()))?;
    let field = |name: &str| json.get(name).ok_or_else(|| unreadable(format!("there is no `{name}`")));
    let text = |value: &Json, what: &str| match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(fail(format!("type must be string, but is {}: {what} of `{path}`", json_type(value)))),
    };
    let inside = |file: String| {
        if leads_inside(&file) {
            Ok(file)
        } else {
            let why =
                "it must name something below the folder, without `..`, `\\`, `:` and a `/` at the start";
            Err(fail(format!("`{file}` of `{path}` is refused: {why}")))
        }
    };
    let model = inside(text(field("model_files")?, "`model_files`")?)?;
    if !context.resources.exists(&format!("{dir}/{model}")) {
        return Err(PassError::new(format!("{CORRUPTED} `{dir}/{model}`")));
    }
    let weights = field("weights")?;
    let weights = weights.as_object().ok_or_else(|| {
        fail(format!("type must be object, but is {}: `weights` of `{path}`", json_type(weights)))
    })?;
    let mut files = Vec::with_capacity(weights.len());
    let mut numbers = crate::Set::default();
    for (key, value) in weights {
        let is_decimal =
            !key.is_empty() && key.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<i64> = key.parse().ok().filter(|_| is_decimal);
        let number = number
            .ok_or_else(|| fail(format!("`{key}` is no parameter number: a key of `weights` of `{path}`")))?;
        if !numbers.insert(number) {
            return Err(fail(format!("parameter {number} is listed twice in `{path}`")));
        }
        files.push((number, inside(text(value, &format!("weight {number}"))?)?));
    }
    Ok(files)
}

/// Whether a path is relative and stays below where it starts, on every system and whatever links there are: one that
/// leads up doesn't, even if it leads down again.
fn leads_inside(path: &str) -> bool {
    !path.contains(['\\', ':', '\0'])
        && path.split('/').all(|part| part != "..")
        && path.split('/').any(|part| !matches!(part, "" | "."))
        && !path.starts_with('/')
}

/// The values of a file as a literal of the parameter's shape.
fn literal(
    edit: &Editor<'_>,
    parameter: InstructionId,
    number: i64,
    path: &str,
    bytes: Vec<u8>,
) -> PassResult<Literal> {
    let fail = |message: String| PassError::at(edit, parameter, message);
    let shape = edit.instruction(parameter).shape;
    let shown = edit.shape_text(shape, false);
    let wrong_type = |description: &str| {
        let message =
            format!("numpy file type mismatch: parameter {number} is {shown}, `{path}` holds {description}");
        fail(message).code(WEIGHT_TYPE)
    };
    let array = match npy::read(bytes) {
        Ok(array) => array,
        Err(NpyError::Type(description)) => return Err(wrong_type(&description)),
        Err(error) => return Err(fail(format!("{CORRUPTED} `{path}`: {error}"))),
    };
    let mismatch = |array: &NpyArray| {
        let dimensions: Vec<String> = array.dimensions.iter().map(i64::to_string).collect();
        let of_file = dimensions.join(",");
        let message = format!(
            "mismatching layout for parameter {number}: it is {shown}, `{path}` has dimensions [{of_file}]"
        );
        fail(message).code(WEIGHT_DIMENSIONS)
    };
    let Some(wanted) = edit.shape(shape).as_array() else { return Err(mismatch(&array)) };
    if !holds(&array, wanted.element_type) {
        return Err(wrong_type(&array.description));
    }
    if wanted.is_dynamic() || wanted.dimensions != array.dimensions {
        return Err(mismatch(&array));
    }
    let (description, mut data) = (array.description, array.data);
    extend_signs(&mut data, wanted.element_type);
    let elements = Elements::from_bytes(wanted.element_type, data);
    let elements =
        elements.ok_or_else(|| wrong_type(&format!("{description} with values the type doesn't have")))?;
    Ok(Literal { shape, data: LiteralData::Dense(elements) })
}

/// Extends the signs of integers of less than a byte: files have just their bits, as ml_dtypes keeps them.
fn extend_signs(data: &mut [u8], element_type: ElementType) {
    let bits = element_type.bits();
    if element_type.class() != ElementClass::Signed || bits >= 8 {
        return;
    }
    let sign = 1u8 << (bits - 1);
    for byte in data {
        if *byte >> bits == 0 && *byte & sign != 0 {
            *byte |= u8::MAX << bits;
        }
    }
}

/// Whether elements of the file are values of the type.
fn holds(array: &NpyArray, element_type: ElementType) -> bool {
    let bits = element_type.bits();
    let size = bits as usize / 8;
    match array.kind.letter {
        'b' => element_type == ElementType::Pred,
        'i' => element_type.class() == ElementClass::Signed && size == array.kind.bytes,
        'u' => element_type.class() == ElementClass::Unsigned && size == array.kind.bytes,
        'f' if array.kind.bytes == 1 => element_type == ElementType::F8E5M2,
        'f' => {
            let known = matches!(element_type, ElementType::F16 | ElementType::F32 | ElementType::F64);
            known && size == array.kind.bytes
        }
        'c' => element_type.class() == ElementClass::Complex && size == array.kind.bytes,
        // What numpy has no name for.
        _ if array.kind.bytes == 2 => element_type == ElementType::Bf16,
        _ => (element_type.is_float() && bits <= 8) || (element_type.is_integer() && bits < 8),
    }
}

fn replace(edit: &mut Editor<'_>, weight: Weight) -> PassResult<()> {
    let Weight { parameter, literal } = weight;
    let instruction = edit.instruction(parameter);
    let (parent, metadata, shape) = (instruction.parent, instruction.metadata, instruction.shape);
    let mut attributes: SmallVec<[Attr; 2]> =
        edit.attributes(parameter).iter().filter(|attr| attr.key == AttrKey::Sharding).copied().collect();
    if let Some(shardy) = edit.shardy_sharding(parameter) {
        let value = AttrValue::Value(edit.intern_value(Value::FrontendAttributes(vec![shardy])));
        attributes.push(Attr { key: AttrKey::FrontendAttributes, value });
    }
    let literal = Some(edit.add_literal(literal));
    let new = NewInstruction {
        literal,
        metadata,
        attributes: &attributes,
        ..NewInstruction::new(Opcode::Constant, shape, &[])
    };
    let constant = edit.add_instruction(parent, new);
    edit.copy_control_dependencies(parameter, constant);
    edit.drop_control_dependencies(parameter);
    edit.replace_all_uses(parameter, constant)
}

#[cfg(test)]
mod tests {
    use hlo_text::ir::ElementType;

    use super::npy::{NpyArray, NpyKind};
    use super::{holds, leads_inside};

    #[test]
    fn paths_stay_inside() {
        for path in ["a.npy", "weights/1.npy", "./a", "a..b/c", "...", "a//b"] {
            assert!(leads_inside(path), "{path}");
        }
        for path in ["", ".", "..", "../a", "a/../../b", "/a", "a/..", "..\\a", "C:/a", "a\0b", "/"] {
            assert!(!leads_inside(path), "{path}");
        }
    }

    #[test]
    fn each_kind_of_file_holds_its_types() {
        for (letter, bytes, types) in [
            ('b', 1, "pred"),
            ('i', 1, "s8"),
            ('i', 2, "s16"),
            ('i', 4, "s32"),
            ('i', 8, "s64"),
            ('u', 1, "u8"),
            ('u', 2, "u16"),
            ('u', 4, "u32"),
            ('u', 8, "u64"),
            ('f', 1, "f8e5m2"),
            ('f', 2, "f16"),
            ('f', 4, "f32"),
            ('f', 8, "f64"),
            ('c', 8, "c64"),
            ('c', 16, "c128"),
            ('V', 2, "bf16"),
        ] {
            let kind = NpyKind { letter, bytes };
            let array = NpyArray { kind, description: String::new(), dimensions: vec![], data: vec![] };
            let held = ElementType::ALL.iter().filter(|&&element_type| holds(&array, element_type));
            let held: Vec<&str> = held.map(|element_type| element_type.name()).collect();
            assert_eq!(held, [types], "{letter}{bytes}");
        }
        // Every type of at most eight bits that numpy has no name for.
        let kind = NpyKind { letter: 'V', bytes: 1 };
        let array = NpyArray { kind, description: String::new(), dimensions: vec![], data: vec![] };
        for &element_type in ElementType::ALL {
            let is_small = element_type.bits() <= 8
                && !matches!(element_type.name(), "pred" | "s8" | "u8" | "token" | "opaque" | "tuple");
            assert_eq!(
                holds(&array, element_type),
                is_small && element_type.is_array_element(),
                "{element_type:?}"
            );
        }
    }
}
