//! Instructions that the user names, in an option or in a JSON file.

use std::collections::HashMap;

use hlo_text::diagnostic::did_you_mean;
use hlo_text::ir::{ComputationId, InstructionId, Opcode};
use serde_json::Value as Json;

use crate::Set;
use crate::analysis::in_post_order_of_all;
use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{PassContext, PassError, PassResult};

/// The option with the names.
pub(crate) const TARGETS: OptionInfo =
    OptionInfo { name: "targets", kind: OptionType::List, doc: "Names of the instructions." };

/// The option with the file.
pub(crate) const TARGETS_FILE: OptionInfo = OptionInfo {
    name: "targets-file",
    kind: OptionType::Text(""),
    doc: "JSON file with more names: a list, or an object whose `targets` is one.",
};

/// What JSON calls the type of a value.
pub(crate) fn json_type(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// Reads a JSON file.
pub(crate) fn read_json(context: &PassContext<'_>, path: &str) -> PassResult<Json> {
    let bytes = context.resources.read(path).map_err(PassError::new)?;
    super::json::parse(&bytes).map_err(|error| PassError::new(format!("`{path}` is not JSON: {error}")))
}

/// A text of a JSON file.
pub(crate) fn json_text<'j>(value: &'j Json, path: &str) -> PassResult<&'j str> {
    value
        .as_str()
        .ok_or_else(|| PassError::new(format!("`{path}`: type must be string, but is {}", json_type(value))))
}

/// The instructions that the options `targets` and `targets-file` name, each once, in post-order: what is made for them doesn't
/// depend on how the list is written.
pub(crate) fn find_targets(edit: &Editor<'_>, context: &PassContext<'_>) -> PassResult<Vec<InstructionId>> {
    let mut names = context.options.list(TARGETS.name).to_vec();
    let path = context.options.text(TARGETS_FILE.name);
    if !path.is_empty() {
        let json = read_json(context, path)?;
        let list = match &json {
            Json::Object(object) => object.get("targets"),
            other => Some(other),
        };
        let list = list.and_then(Json::as_array).ok_or_else(|| {
            PassError::new(format!("`{path}` must hold a list of names, or an object whose `targets` is one"))
        })?;
        for name in list {
            names.push(json_text(name, path)?.to_owned());
        }
    }
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut known: HashMap<&str, InstructionId> = HashMap::new();
    for &computation in edit.computations() {
        known.extend(edit.live_instructions(computation).map(|id| (edit.name_of(id), id)));
    }
    let mut seen = Set::default();
    for name in &names {
        let name = name.trim().trim_start_matches('%');
        let Some(&id) = known.get(name) else {
            let hint = match did_you_mean(name, known.keys().copied()) {
                Some(close) => format!("; did you mean `{close}`?"),
                None => String::new(),
            };
            return Err(PassError::new(format!("there is no instruction `{name}`{hint}")));
        };
        seen.insert(id);
    }
    let parents: Set<ComputationId> = seen.iter().map(|&id| edit.instruction(id).parent).collect();
    let mut computations = edit.computations().to_vec();
    computations.retain(|computation| parents.contains(computation));
    let mut targets = Vec::with_capacity(seen.len());
    in_post_order_of_all(edit, &computations, |id| {
        if seen.contains(&id) {
            targets.push(id);
        }
    });
    Ok(targets)
}

/// Whether a computation is the body of an asynchronous operation, which holds that operation and nothing else.
pub(crate) fn is_async_body(edit: &Editor<'_>, computation: ComputationId) -> bool {
    edit.callers(computation).iter().any(|&caller| {
        matches!(
            edit.instruction(caller).opcode,
            Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone
        )
    })
}
