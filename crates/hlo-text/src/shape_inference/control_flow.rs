//! Control flow and tuples.

use crate::diagnostic::Code;
use crate::ir::{ArrayShape, AttrKey as K, ElementType, Shape, ShapeId, Value};
use crate::parser::MAX_NESTING_DEPTH;

use super::Inferred;
use super::error::{ShapeError, ShapeResult};
use super::rule::{Rule, Signature, index_below};
use super::types::{TypeMatch, array_text, scalar};

/// `while(init)`
pub(super) fn while_loop(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let init = rule.operand(0)?;
    let (condition, body) = (rule.computation(K::Condition)?, rule.computation(K::Body)?);
    for (key, computation) in [(K::Condition, &condition), (K::Body, &body)] {
        if computation.arity() != 1 {
            let message = format!("{} must take 1 parameter, but takes {}", key.name(), computation.arity());
            return Err(ShapeError::attribute(key, message));
        }
    }
    if !rule.compatible_with_array(condition.result, &scalar(ElementType::Pred), TypeMatch::Exact) {
        let message = format!("the condition must give pred[], not {}", rule.text(condition.result));
        return Err(ShapeError::attribute(K::Condition, message).by(Code::WhilePredicate));
    }
    for (key, what, other) in [
        (K::Condition, "the condition's parameter", condition.parameter(0)),
        (K::Body, "the body's parameter", body.parameter(0)),
        (K::Body, "the initial value", init),
    ] {
        if !rule.compatible(body.result, other, TypeMatch::Exact) {
            let message =
                format!("the body gives {}, but {what} is {}", rule.text(body.result), rule.text(other));
            return Err(ShapeError::attribute(key, message));
        }
    }
    Ok(Inferred::Existing(init))
}

/// The branches of a conditional in order of their index, with the attributes that name them.
fn branches<'a>(rule: &Rule<'a>, index: &ArrayShape) -> ShapeResult<Vec<(K, Signature<'a>)>> {
    match (index.rank(), index.element_type) {
        (0, ElementType::Pred) if rule.attribute(K::BranchComputations).is_none() => {
            let keys = [K::TrueComputation, K::FalseComputation];
            keys.into_iter().map(|key| Ok((key, rule.computation(key)?))).collect()
        }
        (0, ElementType::S32) => match rule.required_value(K::BranchComputations)? {
            Value::Computations(ids) => {
                let key = K::BranchComputations;
                ids.iter().map(|&id| Ok((key, rule.signature(key, id)?))).collect()
            }
            _ => Err(ShapeError::attribute(
                K::BranchComputations,
                "branch_computations= must name computations",
            )),
        },
        _ => {
            let message = format!("a conditional chooses by pred[] or s32[], not by {}", array_text(index));
            Err(ShapeError::operand(0, message).by(Code::BranchIndex))
        }
    }
}

/// `conditional(index, branch operands...)`
pub(super) fn conditional(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let branches = branches(rule, rule.array(0)?)?;
    let operands = rule.request.operands.get(1..).unwrap_or(&[]);
    let Some(((_, first), _)) = branches.split_first() else {
        let message = "a conditional needs at least one branch";
        return Err(ShapeError::attribute(K::BranchComputations, message));
    };
    if operands.len() != branches.len() {
        let message = format!("{} branches, but {} operands for them", branches.len(), operands.len());
        return Err(ShapeError::instruction(message).by(Code::WrongOperandCount));
    }
    let mut results = Vec::with_capacity(branches.len());
    for (index, ((key, branch), &operand)) in branches.iter().zip(operands).enumerate() {
        if branch.arity() != 1 {
            let message = format!("branch {index} must take 1 parameter, but takes {}", branch.arity());
            return Err(ShapeError::attribute(*key, message));
        }
        if !rule.compatible(operand, branch.parameter(0), TypeMatch::Exact) {
            let message = format!(
                "branch {index} takes {}, but its operand is {}",
                rule.text(branch.parameter(0)),
                rule.text(operand)
            );
            return Err(ShapeError::operand(index + 1, message));
        }
        if !rule.compatible(branch.result, first.result, TypeMatch::Exact) {
            let message = format!(
                "the branches must give the same shape, but give {} and {}",
                rule.text(first.result),
                rule.text(branch.result)
            );
            return Err(ShapeError::attribute(*key, message));
        }
        if !results.contains(&branch.result) {
            results.push(branch.result);
        }
    }
    either_dynamic(rule, &results, 0)
}

/// The first of shapes that go together, its dimensions dynamic where they are in any.
fn either_dynamic(rule: &Rule<'_>, ids: &[ShapeId], depth: usize) -> ShapeResult<Inferred> {
    let (&first, others) = match ids.split_first() {
        Some(split) if depth <= MAX_NESTING_DEPTH => split,
        _ => return Err(ShapeError::instruction("the result of a conditional is nested too deeply")),
    };
    if others.is_empty() {
        return Ok(Inferred::Existing(first));
    }
    match rule.module.shape(first) {
        Shape::Array(array) => {
            let mut result = array.clone();
            for other in others.iter().filter_map(|&id| rule.module.shape(id).as_array()) {
                for (mark, &dynamic) in result.dynamic.iter_mut().zip(&other.dynamic) {
                    *mark |= dynamic;
                }
            }
            Ok(Inferred::Array(result))
        }
        Shape::Tuple(elements) => {
            let merged = (0..elements.len()).map(|index| {
                let mut members: Vec<ShapeId> = Vec::new();
                for &id in ids {
                    let member = rule.module.shape(id).as_tuple().and_then(|it| it.get(index));
                    members.extend(member.filter(|member| !members.contains(member)));
                }
                either_dynamic(rule, &members, depth + 1)
            });
            Ok(Inferred::Tuple(merged.collect::<ShapeResult<_>>()?))
        }
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => Ok(Inferred::Existing(first)),
    }
}

/// The result of the computation of attribute `key`, whose parameters must go with the operands. Operands beyond
/// the parameters are an error only if `exact`.
fn applied(rule: &Rule<'_>, key: K, exact: bool) -> ShapeResult<Inferred> {
    let computation = rule.computation(key)?;
    let (arity, count) = (computation.arity(), rule.operand_count());
    if arity > count || exact && arity < count {
        let message = format!(
            "the computation takes {} parameters, but {} has {} operands",
            arity,
            rule.opcode(),
            count
        );
        return Err(ShapeError::attribute(key, message));
    }
    for (index, parameter) in computation.parameters().enumerate() {
        let operand = rule.operand(index)?;
        if !rule.compatible(parameter, operand, TypeMatch::Exact) {
            let message = format!(
                "parameter {index} of the computation is {}, but operand {index} is {}",
                rule.text(parameter),
                rule.text(operand)
            );
            return Err(ShapeError::operand(index, message));
        }
    }
    Ok(Inferred::Existing(computation.result))
}

/// `call(arguments...)`
pub(super) fn call(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    applied(rule, K::ToApply, true)
}

/// `fusion(arguments...)`
pub(super) fn fusion(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    applied(rule, K::Calls, false)
}

/// `get-tuple-element(tuple)`
pub(super) fn get_tuple_element(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    let id = rule.operand(0)?;
    let index = rule.int(K::Index)?;
    let Some(elements) = rule.module.shape(id).as_tuple() else {
        let message = format!("get-tuple-element takes a tuple, not {}", rule.text(id));
        return Err(ShapeError::operand(0, message));
    };
    let element = index_below(index, elements.len()).map(|index| elements[index]);
    element.map(Inferred::Existing).ok_or_else(|| {
        let message =
            format!("index={index} is no element of {}, which has {}", rule.text(id), elements.len());
        ShapeError::attribute(K::Index, message)
    })
}

/// `add-dependency(value, token)`: the value. The token is only checked by XLA's verifier.
pub(super) fn add_dependency(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    super::data_movement::same_as(rule, 0)
}
