//! Arithmetic, comparisons, masks.

use hlo_text::ir::{ElementClass, ElementType};

use super::generator::{Generator, Scope, Value};
use super::types::Type;

const DIRECTIONS: [&str; 6] = ["EQ", "NE", "LT", "LE", "GT", "GE"];

pub(super) fn unary(g: &mut Generator<'_, '_>) {
    let x = g.any();
    let opcode = match x.ty.element().map(ElementType::class) {
        Some(ElementClass::Float) => g.choices.pick(&[
            "negate",
            "exponential",
            "tanh",
            "log",
            "sqrt",
            "rsqrt",
            "abs",
            "sine",
            "cosine",
            "floor",
            "ceil",
            "sign",
            "logistic",
            "exponential-minus-one",
            "log-plus-one",
            "cbrt",
            "erf",
            "round-nearest-even",
        ]),
        Some(ElementClass::Signed) => g.choices.pick(&["negate", "abs", "sign", "not", "popcnt"]),
        Some(ElementClass::Unsigned) => g.choices.pick(&["not", "popcnt", "count-leading-zeros"]),
        Some(ElementClass::Complex) => g.choices.pick(&["negate", "exponential", "log", "tanh"]),
        _ => "not",
    };
    g.add(x.ty.clone(), opcode, &[&x], "");
}

pub(super) fn binary(g: &mut Generator<'_, '_>) {
    let x = g.any();
    let y = g.value(&x.ty);
    let opcode = match x.ty.element().map(ElementType::class) {
        Some(ElementClass::Float) => g.choices.pick(&[
            "add",
            "multiply",
            "subtract",
            "divide",
            "maximum",
            "minimum",
            "power",
            "atan2",
            "remainder",
        ]),
        Some(ElementClass::Signed | ElementClass::Unsigned) => g.choices.pick(&[
            "add",
            "multiply",
            "subtract",
            "maximum",
            "minimum",
            "and",
            "or",
            "xor",
            "divide",
            "remainder",
            "shift-left",
            "shift-right-logical",
        ]),
        Some(ElementClass::Complex) => g.choices.pick(&["add", "multiply", "subtract", "divide"]),
        _ => g.choices.pick(&["and", "or", "xor", "maximum", "minimum"]),
    };
    let first = g.add(x.ty.clone(), opcode, &[&x, &y], "");
    // The same once more, or nearly so.
    match g.choices.below(6) {
        4 => {
            let again = g.add(x.ty.clone(), opcode, &[&x, &y], "");
            g.add(x.ty.clone(), opcode, &[&first, &again], "");
        }
        5 => {
            g.add(x.ty.clone(), opcode, &[&y, &x], "");
        }
        _ => {}
    }
}

fn compare(g: &mut Generator<'_, '_>, x: &Value, y: &Value) -> Value {
    let class = x.ty.element().map(ElementType::class);
    let direction = match class {
        Some(ElementClass::Complex) => g.choices.pick(&["EQ", "NE"]),
        _ => g.choices.pick(&DIRECTIONS),
    };
    let kind = match (class, g.choices.one_in(4)) {
        (Some(ElementClass::Float), true) => ", type=TOTALORDER",
        _ => "",
    };
    g.add(x.ty.of(ElementType::Pred), "compare", &[x, y], &format!("direction={direction}{kind}"))
}

/// A comparison, perhaps of a value with itself, perhaps compared with a constant.
pub(super) fn comparison(g: &mut Generator<'_, '_>) {
    let x = g.any();
    let y = if g.choices.one_in(3) { x.clone() } else { g.value(&x.ty) };
    let mut inner = compare(g, &x, &y);
    for _ in 0..g.choices.below(3) {
        let word = g.choices.pick(&["false", "true"]);
        let mut constant = g.constant(ElementType::Pred, word);
        if inner.ty.rank() > 0 {
            constant = g.add(inner.ty.clone(), "broadcast", &[&constant], "dimensions={}");
        }
        inner =
            if g.choices.one_in(2) { compare(g, &inner, &constant) } else { compare(g, &constant, &inner) };
    }
}

pub(super) fn select(g: &mut Generator<'_, '_>) {
    let x = g.any();
    let y = g.value(&x.ty);
    let mask = g.value(&x.ty.of(ElementType::Pred));
    g.add(x.ty.clone(), "select", &[&mask, &x, &y], "");
}

/// A clamp of anything that has an order, by scalars or arrays.
pub(super) fn clamp(g: &mut Generator<'_, '_>) {
    let element = g.element_of(|element| element.is_float() || element.is_integer());
    let ty = g.array(element);
    let x = g.value(&ty);
    let bounds = if g.choices.one_in(2) { ty.clone() } else { Type::scalar(element) };
    let (low, high) = (g.value(&bounds), g.value(&bounds));
    g.add(ty, "clamp", &[&low, &x, &high], "");
}

pub(super) fn convert(g: &mut Generator<'_, '_>) {
    let x = g.any();
    let is_complex = x.ty.element().is_some_and(|element| element.class() == ElementClass::Complex);
    let to = g.element_of(|element| is_complex == (element.class() == ElementClass::Complex));
    let converted = g.add(x.ty.of(to), "convert", &[&x], "");
    if g.choices.one_in(2) {
        g.add(x.ty.clone(), "convert", &[&converted], "");
    }
}

/// A mask of minus infinity.
pub(super) fn minus_infinity(g: &mut Generator<'_, '_>) {
    let element = g.element_of(ElementType::is_float);
    let ty = g.array_of_rank(element, 1);
    let x = g.value(&ty);
    let scalar = g.constant(element, "-inf");
    let mask = g.add(ty.clone(), "broadcast", &[&scalar], "dimensions={}");
    for _ in 0..=g.choices.below(3) {
        match g.choices.below(6) {
            0 => g.add(ty.clone(), "minimum", &[&x, &mask], ""),
            1 => g.add(ty.clone(), "clamp", &[&mask, &x, &mask], ""),
            2 => g.add(ty.clone(), "clamp", &[&scalar, &x, &scalar], ""),
            3 => {
                let zero = g.constant(ElementType::S32, "0");
                let mut operands = vec![&mask, &x];
                operands.extend(vec![&zero; ty.rank()]);
                g.add(ty.clone(), "dynamic-update-slice", &operands, "")
            }
            4 => g.add(ty.clone(), "maximum", &[&x, &mask], ""),
            _ => {
                let keep = g.value(&ty.of(ElementType::Pred));
                g.add(ty.clone(), "select", &[&keep, &x, &mask], "")
            }
        };
    }
}

/// Opcodes whose results have another type than their operands.
pub(super) fn type_changing(g: &mut Generator<'_, '_>) {
    match g.choices.below(5) {
        0 => {
            let element = g.element_of(ElementType::is_float);
            let ty = g.array(element);
            let x = g.value(&ty);
            g.add(ty.of(ElementType::Pred), "is-finite", &[&x], "");
        }
        1 => {
            let ty = g.array(ElementType::F32);
            let (re, im) = (g.value(&ty), g.value(&ty));
            let number = g.add(ty.of(ElementType::C64), "complex", &[&re, &im], "");
            let part = g.choices.pick(&["real", "imag"]);
            g.add(ty, part, &[&number], "");
        }
        2 => {
            let ty = g.array(ElementType::F32);
            let x = g.value(&ty);
            g.add(ty.of(ElementType::U32), "bitcast-convert", &[&x], "");
        }
        3 => {
            let element = g.element_of(ElementType::is_float);
            let ty = g.array(element);
            let x = g.value(&ty);
            g.add(ty, "reduce-precision", &[&x], "exponent_bits=5, mantissa_bits=3");
        }
        _ => {
            let element = g.element();
            let ty = g.array(element);
            let x = g.value(&ty);
            g.add(ty, "copy", &[&x], "");
        }
    }
}

/// A computation of two scalars, as reduces and the like call.
pub(super) fn reducer(g: &mut Generator<'_, '_>, element: ElementType, opcode: &str) -> String {
    let scalar = Type::scalar(element);
    let reducer = g.computation(Scope::Part, &[scalar.clone(), scalar.clone()], |g, given| {
        g.add(scalar, opcode, &[&given[0], &given[1]], "")
    });
    reducer.name
}

/// The neutral element and the opcode of some reduction of a type.
pub(super) fn reduction(g: &mut Generator<'_, '_>, element: ElementType) -> (&'static str, &'static str) {
    match element.class() {
        ElementClass::Pred => g.choices.pick(&[("false", "or"), ("true", "and")]),
        ElementClass::Float => g.choices.pick(&[("0", "add"), ("-inf", "maximum"), ("inf", "minimum")]),
        ElementClass::Complex => ("(0, 0)", "add"),
        _ => g.choices.pick(&[("0", "add"), ("0", "maximum"), ("1", "multiply")]),
    }
}
