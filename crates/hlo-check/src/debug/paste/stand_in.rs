//! Computations in the place of those that are called but not in the text: their shapes are known, what they do isn't.

use super::scan::{Parts, names};
use super::shapes::{Array, elements, scalar};

/// The target of the custom call that a stand-in consists of.
pub(crate) const TARGET: &str = "not-in-the-pasted-text";

/// A computation called `name`, of which nothing is known but that `user` calls it as `key`. `operands` are the shapes of
/// the operands. `None`: they don't say enough.
pub(super) fn make(name: &str, user: &Parts<'_>, key: &str, operands: &[Option<String>]) -> Option<String> {
    let (parameters, result) = signature(name, user, key, operands)?;
    let mut text = format!("%{name} {{\n");
    let mut list = Vec::new();
    for (number, shape) in parameters.iter().enumerate() {
        text.push_str(&format!("  %{name}.parameter.{number} = {shape} parameter({number})\n"));
        list.push(format!("%{name}.parameter.{number}"));
    }
    let list = list.join(", ");
    text.push_str(&format!(
        "  ROOT %{name}.result = {result} custom-call({list}), custom_call_target=\"{TARGET}\"\n}}\n"
    ));
    Some(text)
}

/// The shapes of the parameters and the result.
fn signature(
    name: &str,
    user: &Parts<'_>,
    key: &str,
    operands: &[Option<String>],
) -> Option<(Vec<String>, String)> {
    let result = (!user.shape.is_empty()).then(|| user.shape.to_owned());
    // The element types of what the instruction gives.
    let scalars = || -> Option<Vec<String>> {
        let shape = result.as_deref()?;
        elements(shape).unwrap_or_else(|| vec![shape]).into_iter().map(scalar).collect()
    };
    let twice = |scalars: Vec<String>| scalars.iter().chain(&scalars).cloned().collect::<Vec<_>>();
    let together = |scalars: &[String]| match scalars {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    };
    match (user.opcode, key) {
        ("while", "condition") => Some((vec![result?], "pred[]".to_owned())),
        ("while", _) => Some((vec![result.clone()?], result?)),
        ("sort", _) => {
            let pairs = scalars()?.iter().flat_map(|scalar| [scalar.clone(), scalar.clone()]).collect();
            Some((pairs, "pred[]".to_owned()))
        }
        ("select-and-scatter", "select") => Some((twice(scalars()?), "pred[]".to_owned())),
        ("reduce" | "reduce-window" | "select-and-scatter" | "scatter", _) => {
            let scalars = scalars()?;
            Some((twice(scalars.clone()), together(&scalars)))
        }
        ("all-reduce" | "all-reduce-start" | "reduce-scatter", _) => {
            // One for all operands.
            let scalar = scalars()?.into_iter().next()?;
            Some((vec![scalar.clone(), scalar.clone()], scalar))
        }
        ("map", _) => {
            let parameters: Option<Vec<String>> =
                operands.iter().map(|shape| scalar(shape.as_deref()?)).collect();
            Some((parameters?, scalars()?.into_iter().next()?))
        }
        ("conditional", _) => {
            let listed = user.attribute("branch_computations").map(names).unwrap_or_default();
            let branch = listed.iter().position(|it| *it == name);
            let branch = branch.unwrap_or(usize::from(key == "false_computation"));
            Some((vec![operands.get(branch + 1)?.clone()?], result?))
        }
        ("async-start", _) => {
            // (operands, result, context)
            let start = result?;
            let parts = elements(&start)?;
            let parameters = elements(parts.first()?)?.into_iter().map(str::to_owned).collect();
            Some((parameters, (*parts.get(1)?).to_owned()))
        }
        _ => Some((operands.iter().cloned().collect::<Option<_>>()?, result?)),
    }
    .filter(|(parameters, result)| {
        // Shapes that are no shapes would only move the fault.
        parameters.iter().chain([result]).all(|shape| {
            Array::of(shape).is_some() || elements(shape).is_some() || shape.starts_with("token")
        })
    })
}
