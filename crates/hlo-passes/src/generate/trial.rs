//! Passes in any order over a generated module, and what must hold after each.

use std::collections::BTreeMap;

use hlo_text::ir::{ElementType, InstructionId, Shape};
use hlo_text::{Module, ParseOptions, PrintOptions, VerifyOptions, Violation, parse_module, verify};

use super::{Choices, generate};
use crate::options::PassRequest;
use crate::pass::{PassContext, Resources};
use crate::pipeline::{ErrorKind, NoObserver, Pipeline, Selection};
use crate::registry::{self, PassInfo, Status};
use crate::side_effects::EffectCounts;

/// What became of a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// How often each pass ran, and how many rewrites it made.
    pub passes: BTreeMap<&'static str, (u64, u64)>,
    /// What passes refused to do: key and message.
    pub refused: Vec<(&'static str, String)>,
}

/// What a pass did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The pass as `--passes` takes it; empty if the generated module itself is wrong.
    pub pass: String,
    /// What is wrong.
    pub what: String,
    /// The module before the pass.
    pub before: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "--passes='{}': {}\nbefore it:\n{}", self.pass, self.what, self.before)
    }
}

/// The passes that can be run.
fn implemented() -> Vec<&'static PassInfo> {
    registry::all().filter(|info| matches!(info.status, Status::Implemented(_))).collect()
}

/// Generates a module of about `size` instructions and runs up to `passes` passes over it, in any order and with any of
/// their options that make sense.
///
/// After each, the module must be valid; reading what it prints must give a module that prints the same; and no side
/// effect may be lost but those the row of the pass declares. A pass may refuse, which ends the trial.
///
/// # Errors
/// One of these doesn't hold.
pub fn try_passes(choices: &mut Choices<'_>, passes: usize, size: usize) -> Result<Trial, Box<Fault>> {
    let known = implemented();
    // Decided before the module is, so that bytes that decide on the module can be changed without these.
    let count = 1 + choices.below(passes);
    let chosen: Vec<&PassInfo> =
        (0..count).filter_map(|_| known.get(choices.below(known.len())).copied()).collect();
    let variants: Vec<usize> = (0..count).map(|_| choices.below(256)).collect();
    let text = generate(choices, size);
    let fault = |pass: &str, what: String, before: &str| {
        Box::new(Fault { pass: pass.to_owned(), what, before: before.to_owned() })
    };
    let mut module = match parse_module(&text, &ParseOptions::default()) {
        Ok(parsed) => parsed.module,
        Err(errors) => {
            let first = errors.first().map(|error| error.message.clone()).unwrap_or_default();
            return Err(fault("", format!("it can't be read: {first}"), &text));
        }
    };
    let mut printed = checked(&module).map_err(|what| fault("", what, &text))?;
    let mut effects = EffectCounts::of(&module);
    let mut trial = Trial::default();
    for (info, variant) in chosen.into_iter().zip(variants) {
        let request = request(info, variant, &module);
        let resources = Weights::of(&module);
        let selection = Selection { passes: vec![request.clone()], ..Selection::default() };
        let pipeline = Pipeline::new(&selection)
            .map_err(|error| fault(&request.to_string(), format!("it can't be run: {error}"), &printed))?;
        let mut context =
            PassContext { resources: &resources, wants_remarks: variant & 1 == 1, ..PassContext::default() };
        match pipeline.run(&mut module, &mut context, &mut NoObserver) {
            Ok(_) => {}
            Err(error) if error.kind == ErrorKind::Failed => {
                trial.refused.push((info.key, error.error.to_string()));
                return Ok(trial);
            }
            Err(error) => {
                return Err(fault(&request.to_string(), format!("it can't be run: {error}"), &printed));
            }
        }
        let after = checked(&module).map_err(|what| fault(&request.to_string(), what, &printed))?;
        let now = EffectCounts::of(&module);
        if let Some(effect) = effects.lost(&now, info) {
            let (before, left) = (effects.count(effect), now.count(effect));
            let what = format!("of {before} side effects of kind {effect:?} {left} are left");
            return Err(fault(&request.to_string(), what, &printed));
        }
        let entry = trial.passes.entry(info.key).or_default();
        *entry = (entry.0 + 1, entry.1 + context.rewrites);
        (printed, effects) = (after, now);
    }
    Ok(trial)
}

/// What a valid module prints; what it prints must be read as the same.
fn checked(module: &Module) -> Result<String, String> {
    if let Some(violation) = verify(module, &VerifyOptions::default()).iter().find(|it| it.is_error()) {
        return Err(describe(module, violation));
    }
    let options = PrintOptions { print_large_constants: true, ..PrintOptions::default() };
    let printed = module.to_text(&options);
    let parsed = read_back(&printed)?;
    let again = parsed.to_text(&options);
    if again != printed {
        // Reading gives elements of tuples the origins of what they are, and some instructions the layouts of their
        // operands. What is left must be the same, and all of it must stay so.
        let shown =
            PrintOptions { print_original_value: false, include_layout_in_shapes: false, ..options.clone() };
        same(&module.to_text(&shown), &parsed.to_text(&shown))?;
        same(&again, &read_back(&again)?.to_text(&options))?;
    }
    Ok(printed)
}

fn read_back(printed: &str) -> Result<Module, String> {
    let parsed = parse_module(printed, &ParseOptions::default()).map_err(|errors| {
        let first = errors.first().map(|error| error.message.clone()).unwrap_or_default();
        format!("what it prints can't be read: {first}\n{printed}")
    })?;
    Ok(parsed.module)
}

fn same(printed: &str, again: &str) -> Result<(), String> {
    if printed == again {
        return Ok(());
    }
    let lines = printed.lines().zip(again.lines()).find(|(first, second)| first != second);
    let (first, second) = lines.unwrap_or_default();
    Err(format!("what it prints is read as something else:\n{first}\n{second}"))
}

fn describe(module: &Module, violation: &Violation) -> String {
    let at = violation.instruction.filter(|id| id.index() < module.instruction_id_limit());
    let line = at.map(|id| module.print_instruction(id, &PrintOptions::default())).unwrap_or_default();
    format!("the module is invalid: {}: {}\n{line}", violation.code.as_str(), violation.message)
}

/// The pass with options that fit the module, if it needs any.
fn request(info: &'static PassInfo, variant: usize, module: &Module) -> PassRequest {
    let options = match info.key {
        "partition-embeding-ops" => pairs([
            ("shards", ["2", "0", "4"][variant % 3]),
            ("mode", ["shard", "shard", "shard", "param"][variant / 3 % 4]),
        ]),
        "replace-rng" => pairs([
            ("mode", ["sample", "raw"][variant % 2]),
            ("fold-rng-bit-generator", ["false", "true"][variant / 2 % 2]),
        ]),
        "inject-numerical-errors" | "inject-prints" => pairs([("targets", &*some_name(module, variant))]),
        "convert-inputs-to-optimal-shape" => match input(module, variant) {
            Some(input) => pairs([("inputs", &*input)]),
            None => Vec::new(),
        },
        "rewrite-module-dtype" => {
            let (from, to) =
                [("f32", "bf16"), ("bf16", "f32"), ("f64", "f32"), ("s64", "s32"), ("f32", "f16")]
                    [variant % 5];
            pairs([("from", from), ("to", to), ("overflow", ["error", "saturate"][variant / 5 % 2])])
        }
        "add-logit-output" => pairs([("mode", ["append", "replace"][variant % 2])]),
        "hilo-conditional-to-select" => pairs([("force-loops", ["false", "true"][variant % 2])]),
        "transform-variadic-reduce" | "aws_neuron_resolve_self_comparison" => {
            pairs([("assume-no-nan", ["false", "true"][variant % 2])])
        }
        "legalize-device-assignment" => pairs([("skip-transfers", ["true", "false"][variant % 2])]),
        "strip-metadata" => pairs([("origin", ["false", "true"][variant % 2])]),
        _ => Vec::new(),
    };
    PassRequest { key: info.key.to_owned(), options }
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

/// The name of some instruction.
fn some_name(module: &Module, variant: usize) -> String {
    let computations = module.computations();
    let all = computations.iter().flat_map(|&computation| module.live_instructions(computation));
    let ids: Vec<InstructionId> = all.collect();
    ids.get(variant * 7 % ids.len().max(1)).map(|&id| module.name_of(id).to_owned()).unwrap_or_default()
}

/// An entry parameter that is an array, turned about and made flat.
fn input(module: &Module, variant: usize) -> Option<String> {
    let parameters = &module.computation(module.entry()).parameters;
    let parameter = *parameters.get(variant % parameters.len().max(1))?;
    let array = module.shape_of(parameter).as_array()?;
    let count = array.element_count().filter(|&count| count > 0)?;
    Some(format!("{}:{}:1x0", module.name_of(parameter), format_args!("{count}x1")))
}

/// A folder of weights for every other parameter of the module.
struct Weights {
    files: BTreeMap<String, Vec<u8>>,
}

impl Weights {
    fn of(module: &Module) -> Self {
        let mut files = BTreeMap::from([("graph.hlo".to_owned(), Vec::new())]);
        let mut listed = Vec::new();
        for (number, &parameter) in
            module.computation(module.entry()).parameters.iter().enumerate().step_by(2)
        {
            if let Some(file) = weight(module.shape_of(parameter)) {
                listed.push(format!("\"{number}\": \"weights/{number}.npy\""));
                files.insert(format!("weights/{number}.npy"), file);
            }
        }
        let metadata = format!(
            "{{\"model_files\": \"graph.hlo\", \"version\": \"1.0\", \"weights\": {{{}}}}}",
            listed.join(", ")
        );
        files.insert("metadata.json".to_owned(), metadata.into_bytes());
        Self { files }
    }
}

/// A file of zeros for an array of a type that numpy knows.
fn weight(shape: &Shape) -> Option<Vec<u8>> {
    let array = shape.as_array()?;
    let kind = match array.element_type {
        ElementType::F32 => "<f4",
        ElementType::F64 => "<f8",
        ElementType::F16 => "<f2",
        ElementType::Bf16 => "|V2",
        ElementType::S32 => "<i4",
        ElementType::U8 => "|u1",
        ElementType::Pred => "|b1",
        _ => return None,
    };
    let sizes: String = array.dimensions.iter().map(|size| format!("{size},")).collect();
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes}), }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(u16::try_from(header.len()).ok()?.to_le_bytes());
    file.extend(header.as_bytes());
    let count = usize::try_from(array.element_count()?).ok()?;
    file.resize(file.len() + count * array.element_type.storage_bytes(), 0);
    Some(file)
}

impl Resources for Weights {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let path = path.trim_start_matches("./");
        self.files.get(path).cloned().ok_or_else(|| format!("`{path}` doesn't exist"))
    }

    fn setting(&self, _name: &str) -> Option<String> {
        None
    }
}
