//! What calls computations: loops, conditionals, calls, fusions, and tuples and barriers around them.

use hlo_text::ir::ElementType;

use super::generator::{Generator, Scope, Value};
use super::patterns;
use super::types::Type;

/// What a computation takes: a few arrays.
fn arguments(g: &mut Generator<'_, '_>, count: usize) -> Vec<Value> {
    (0..count).map(|_| g.any()).collect()
}

fn types(values: &[Value]) -> Vec<Type> {
    values.iter().map(|value| value.ty.clone()).collect()
}

/// Some instructions, and a value of a type.
fn fill(g: &mut Generator<'_, '_>, result: &Type) -> Value {
    for _ in 0..=g.choices.below(3) {
        patterns::add_one(g);
    }
    g.value(result)
}

/// What a computation may give: an array, or a tuple of some.
fn result_type(g: &mut Generator<'_, '_>) -> Type {
    let element = g.element();
    let first = g.array(element);
    match g.choices.below(4) {
        0 => Type::Tuple(vec![first, Type::scalar(ElementType::S32)]),
        3 => Type::Tuple(vec![first.clone(), Type::Tuple(vec![first]), Type::Tuple(Vec::new())]),
        _ => first,
    }
}

pub(super) fn call(g: &mut Generator<'_, '_>) {
    let count = g.choices.below(3);
    let given = arguments(g, count);
    let ty = result_type(g);
    let callee = g.computation(Scope::Whole, &types(&given), |g, _| fill(g, &ty));
    for _ in 0..=g.choices.below(2) {
        let operands: Vec<&Value> = given.iter().collect();
        let result = g.add(callee.ty.clone(), "call", &operands, &format!("to_apply={}", callee.name));
        if g.choices.one_in(2) {
            g.tuple_elements(&result);
        }
    }
}

pub(super) fn conditional(g: &mut Generator<'_, '_>) {
    let ty = result_type(g);
    let by_index = g.choices.one_in(2);
    let branches = if by_index { g.choices.pick(&[2, 1, 3]) } else { 2 };
    let given = arguments(g, branches);
    let mut names = Vec::new();
    for argument in &given {
        let branch = g.computation(Scope::Whole, std::slice::from_ref(&argument.ty), |g, _| {
            let result = fill(g, &ty);
            g.unsharded(result)
        });
        names.push(branch.name);
    }
    let (index, attributes) = if by_index {
        let index = g.value(&Type::scalar(ElementType::S32));
        (index, format!("branch_computations={{{}}}", names.join(", ")))
    } else {
        let index = g.value(&Type::scalar(ElementType::Pred));
        (index, format!("true_computation={}, false_computation={}", names[0], names[1]))
    };
    let operands: Vec<&Value> = std::iter::once(&index).chain(&given).collect();
    let result = g.add(ty, "conditional", &operands, &attributes);
    if g.choices.one_in(2) {
        g.tuple_elements(&result);
    }
}

/// A loop that counts, or one that ends when a flag it carries says so.
pub(super) fn while_loop(g: &mut Generator<'_, '_>) {
    let counter = Type::scalar(ElementType::S32);
    let carried = arguments(g, 2);
    let zero = g.constant(ElementType::S32, "0");
    let start: Vec<Value> = std::iter::once(zero).chain(carried).collect();
    let state = Type::Tuple(types(&start));
    let turns = 1 + g.choices.below(4);
    let counts = !g.choices.one_in(4);
    let condition = g.computation(Scope::Whole, std::slice::from_ref(&state), |g, given| {
        let pred = Type::scalar(ElementType::Pred);
        if !counts {
            return fill(g, &pred);
        }
        let at = g.tuple_element(&given[0], 0);
        let end = g.constant(ElementType::S32, &turns.to_string());
        g.add(pred, "compare", &[&at, &end], "direction=LT")
    });
    let body = g.computation(Scope::Whole, std::slice::from_ref(&state), |g, given| {
        let mut elements = g.tuple_elements(&given[0]);
        let one = g.constant(ElementType::S32, "1");
        let next = g.add(counter, "add", &[&elements[0], &one], "");
        for element in elements.iter_mut().skip(1) {
            *element = fill(g, &element.ty.clone());
        }
        elements[0] = next;
        g.tuple(&elements)
    });
    let start = g.tuple(&start);
    let attributes = format!("condition={}, body={}", condition.name, body.name);
    let result = g.add(state, "while", &[&start], &attributes);
    g.tuple_elements(&result);
}

pub(super) fn fusion(g: &mut Generator<'_, '_>) {
    let count = 1 + g.choices.below(2);
    let given = arguments(g, count);
    let body = g.computation(Scope::Part, &types(&given), |g, _| {
        for _ in 0..=g.choices.below(3) {
            patterns::add_one(g);
        }
        g.all_unused()
    });
    let kind = g.choices.pick(&["kLoop", "kInput", "kOutput", "kCustom"]);
    let operands: Vec<&Value> = given.iter().collect();
    let result = g.add(body.ty.clone(), "fusion", &operands, &format!("kind={kind}, calls={}", body.name));
    // Of some results only some are taken, or one several times.
    if let Type::Tuple(elements) = &result.ty
        && !elements.is_empty()
        && g.choices.one_in(2)
    {
        for _ in 0..=g.choices.below(elements.len()) {
            let index = g.choices.below(elements.len());
            g.tuple_element(&result, index);
        }
    }
}

/// A function of one element at a time, perhaps with a conditional in it.
pub(super) fn map(g: &mut Generator<'_, '_>) {
    let element = g.element_of(ElementType::is_float);
    let ty = g.array_of_rank(element, 1);
    let x = g.value(&ty);
    let scalar = Type::scalar(element);
    let has_choice = g.choices.one_in(2);
    let body = g.computation(Scope::Part, std::slice::from_ref(&scalar), |g, given| {
        let x = &given[0];
        if !has_choice {
            return g.add(scalar.clone(), "tanh", &[x], "");
        }
        let branch = |g: &mut Generator<'_, '_>, opcode| {
            let branch = g.computation(Scope::Part, std::slice::from_ref(&scalar), |g, given| {
                let result = g.add(scalar.clone(), opcode, &[&given[0]], "");
                g.unsharded(result)
            });
            branch.name
        };
        let (positive, negative) = (branch(g, "negate"), branch(g, "abs"));
        let zero = g.constant(element, "0");
        let is_positive = g.add(Type::scalar(ElementType::Pred), "compare", &[x, &zero], "direction=GT");
        let attributes = format!("true_computation={positive}, false_computation={negative}");
        g.add(scalar.clone(), "conditional", &[&is_positive, x, x], &attributes)
    });
    let dimensions: Vec<usize> = (0..ty.rank()).collect();
    let attributes = format!("dimensions={{{}}}, to_apply={}", super::types::list(&dimensions), body.name);
    g.add(ty, "map", &[&x], &attributes);
}

pub(super) fn tuples(g: &mut Generator<'_, '_>) {
    let count = g.choices.below(4);
    let elements = arguments(g, count);
    let mut tuple = g.tuple(&elements);
    if g.choices.one_in(4) {
        tuple = g.tuple(&[tuple]);
        tuple = g.tuple_element(&tuple, 0);
    }
    let elements = g.tuple_elements(&tuple);
    if g.choices.one_in(2) {
        g.tuple(&elements);
    }
}

pub(super) fn barrier(g: &mut Generator<'_, '_>) {
    let count = 1 + g.choices.below(3);
    let mut elements = arguments(g, count);
    if g.scope() != Scope::Part && g.choices.one_in(4) {
        elements.push(g.token());
    }
    let before = if g.choices.one_in(6) { elements[0].clone() } else { g.tuple(&elements) };
    let after = g.add(before.ty.clone(), "opt-barrier", &[&before], "");
    for (index, element) in g.tuple_elements(&after).into_iter().enumerate() {
        if element.ty == Type::Token {
            g.set_token(element);
        } else if index == 0 {
            g.add(element.ty.clone(), "copy", &[&element], "");
        }
    }
}

/// Something that is started in one place and awaited in another.
pub(super) fn asynchronous(g: &mut Generator<'_, '_>) {
    let x = g.any();
    let ty = x.ty.clone();
    if g.choices.one_in(3) {
        let state = Type::Tuple(vec![ty.clone(), ty.clone(), Type::scalar(ElementType::U32)]);
        let start = g.add_once(state, "copy-start", &[&x], "");
        patterns::add_one(g);
        g.add(ty, "copy-done", &[&start], "");
        return;
    }
    let body = g.computation(Scope::Part, std::slice::from_ref(&ty), |g, given| {
        g.add(ty.clone(), "custom-call", &[&given[0]], "custom_call_target=\"later\"")
    });
    let parts = vec![Type::Tuple(vec![ty.clone()]), ty.clone(), Type::scalar(ElementType::U32)];
    let state = Type::Tuple(parts);
    let start = g.add_once(state.clone(), "async-start", &[&x], &format!("calls={}", body.name));
    let last = if g.choices.one_in(3) { g.add_once(state, "async-update", &[&start], "") } else { start };
    g.add(ty, "async-done", &[&last], "");
}
