//! Many elements to one: reduces, dots, windows, sorts, softmax.

use hlo_text::ir::ElementType;

use super::elementwise::{reducer, reduction};
use super::generator::{Generator, Scope, Value};
use super::types::{Type, list};

/// A reduce of `x` along its last dimension.
fn reduce_last(g: &mut Generator<'_, '_>, x: &Value, init: &str, opcode: &str) -> Value {
    let (Some(element), Some((_, sizes))) = (x.ty.element(), x.ty.sizes().split_last()) else {
        return x.clone();
    };
    let apply = reducer(g, element, opcode);
    let init = g.constant(element, init);
    let attributes = format!("dimensions={{{}}}, to_apply={apply}", sizes.len());
    g.add(Type::Array(element, sizes.to_vec()), "reduce", &[x, &init], &attributes)
}

pub(super) fn reduce(g: &mut Generator<'_, '_>) {
    let element = g.element();
    let ty = g.array_of_rank(element, 1);
    let x = g.value(&ty);
    let (init, opcode) = reduction(g, element);
    reduce_last(g, &x, init, opcode);
}

/// The largest element and its place.
pub(super) fn argmax(g: &mut Generator<'_, '_>) {
    let element = g.choices.pick(&[ElementType::F32, ElementType::Bf16, ElementType::S32]);
    let ty = g.array_of_rank(element, 1);
    let index = g.choices.pick(&[ElementType::S32, ElementType::U32]);
    let last = ty.rank() - 1;
    let values = g.value(&ty);
    let along = if g.choices.one_in(8) { 0 } else { last };
    let places = g.add(ty.of(index), "iota", &[], &format!("iota_dimension={along}"));
    let start = match element {
        ElementType::S32 => "-2147483648",
        _ => g.choices.pick(&["-inf", "-inf", "0"]),
    };
    let (start, zero) = (g.constant(element, start), g.constant(index, "0"));
    let (v, i) = (Type::scalar(element), Type::scalar(index));
    let apply = g.computation(Scope::Part, &[v.clone(), i.clone(), v.clone(), i.clone()], |g, given| {
        let pred = Type::scalar(ElementType::Pred);
        let direction = g.choices.pick(&["GE", "GT", "LE"]);
        let mut wins =
            g.add(pred.clone(), "compare", &[&given[0], &given[2]], &format!("direction={direction}"));
        if g.choices.one_in(3) {
            let same = g.add(pred.clone(), "compare", &[&given[0], &given[2]], "direction=EQ");
            let before = g.add(pred.clone(), "compare", &[&given[1], &given[3]], "direction=LT");
            let tie = g.add(pred.clone(), "and", &[&same, &before], "");
            wins = g.add(pred.clone(), "or", &[&wins, &tie], "");
        }
        if g.choices.one_in(4) {
            let nan = g.add(pred.clone(), "compare", &[&given[0], &given[0]], "direction=NE");
            wins = g.add(pred, "or", &[&wins, &nan], "");
        }
        let value = g.add(v, "select", &[&wins, &given[0], &given[2]], "");
        let place = g.add(i, "select", &[&wins, &given[1], &given[3]], "");
        g.tuple(&[value, place])
    });
    let sizes = &ty.sizes()[..last];
    let result = Type::Tuple(vec![Type::Array(element, sizes.to_vec()), Type::Array(index, sizes.to_vec())]);
    let attributes = format!("dimensions={{{last}}}, to_apply={}", apply.name);
    let both = g.add(result, "reduce", &[&values, &places, &start, &zero], &attributes);
    for index in 0..g.choices.below(3) {
        g.tuple_element(&both, index);
    }
}

pub(super) fn dot(g: &mut Generator<'_, '_>) {
    let element = g.element_of(|element| element.is_float() || element.is_integer());
    let x = g.value(&Type::Array(element, vec![2, 4]));
    let y = g.value(&Type::Array(element, vec![4, 2]));
    let attributes = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    g.add(Type::Array(element, vec![2, 2]), "dot", &[&x, &y], attributes);
    if element.is_float() && g.choices.one_in(3) {
        let image = g.value(&Type::Array(element, vec![1, 4, 4, 2]));
        let kernel = g.value(&Type::Array(element, vec![2, 2, 2, 2]));
        let attributes = "window={size=2x2 stride=2x2}, dim_labels=b01f_01io->b01f";
        g.add(Type::Array(element, vec![1, 2, 2, 2]), "convolution", &[&image, &kernel], attributes);
    }
}

/// A softmax as front ends write it, perhaps without the part that keeps it from overflowing.
pub(super) fn softmax(g: &mut Generator<'_, '_>) {
    let element = g.choices.pick(&[ElementType::F32, ElementType::Bf16]);
    let ty = g.array_of_rank(element, 1);
    let dimensions = format!("dimensions={{{}}}", list(&(0..ty.rank() - 1).collect::<Vec<_>>()));
    let mut x = g.value(&ty);
    if !g.choices.one_in(4) {
        let largest = reduce_last(g, &x, "-inf", "maximum");
        let largest = g.add(ty.clone(), "broadcast", &[&largest], &dimensions);
        x = g.add(ty.clone(), "subtract", &[&x, &largest], "");
    }
    let powers = g.add(ty.clone(), "exponential", &[&x], "");
    let sum = reduce_last(g, &powers, "0", "add");
    let sum = g.add(ty.clone(), "broadcast", &[&sum], &dimensions);
    g.add(ty, "divide", &[&powers, &sum], "");
}

pub(super) fn window(g: &mut Generator<'_, '_>) {
    let element = g.element_of(ElementType::is_float);
    let x = g.value(&Type::Array(element, vec![4, 4]));
    let init = g.constant(element, "0");
    let apply = reducer(g, element, "add");
    let attributes = format!("window={{size=2x2 stride=2x2}}, to_apply={apply}");
    g.add(Type::Array(element, vec![2, 2]), "reduce-window", &[&x, &init], &attributes);
}

pub(super) fn sort(g: &mut Generator<'_, '_>) {
    let element = g.element_of(|element| element.is_float() || element.is_integer());
    let ty = g.array_of_rank(element, 1);
    let places = ty.of(ElementType::S32);
    let (scalar, place) = (Type::scalar(element), Type::scalar(ElementType::S32));
    let less = g.computation(Scope::Part, &[scalar.clone(), scalar, place.clone(), place], |g, given| {
        let pred = Type::scalar(ElementType::Pred);
        let less = g.add(pred.clone(), "compare", &[&given[0], &given[1]], "direction=LT");
        if g.choices.one_in(3) {
            let no = g.constant(ElementType::Pred, "false");
            return g.add(pred, "compare", &[&less, &no], "direction=NE");
        }
        less
    });
    let (x, y) = (g.value(&ty), g.value(&places));
    let attributes = format!("dimensions={{0}}, is_stable=true, to_apply={}", less.name);
    let sorted = g.add(Type::Tuple(vec![ty, places]), "sort", &[&x, &y], &attributes);
    g.tuple_element(&sorted, 1);
}
