//! Shapes of operands that nothing defines, read off the instructions that use them.

use super::scan::{Parts, shape_length, skip_blanks, split_list};

/// A shape, and how sure it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Guess {
    pub(super) shape: String,
    /// Whether the instruction could have no other.
    pub(super) is_certain: bool,
}

/// The shape of a value nobody says anything of.
pub(super) const UNKNOWN: &str = "f32[]";

fn certain(shape: impl Into<String>) -> Guess {
    Guess { shape: shape.into(), is_certain: true }
}

fn likely(shape: impl Into<String>) -> Guess {
    Guess { shape: shape.into(), is_certain: false }
}

/// An array's shape as text.
#[derive(Clone, Debug)]
pub(super) struct Array<'t> {
    pub(super) element: &'t str,
    dimensions: Vec<&'t str>,
}

impl<'t> Array<'t> {
    /// Reads `f32[2,3]{1,0}`.
    pub(super) fn of(text: &'t str) -> Option<Self> {
        let (element, rest) = text.trim().split_once('[')?;
        let (dimensions, _) = rest.split_once(']')?;
        let is_name = !element.is_empty() && element.chars().all(|c| c.is_ascii_alphanumeric());
        let dimensions = dimensions.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
        is_name.then_some(Self { element, dimensions })
    }

    /// The same element type with other dimensions.
    fn with(&self, dimensions: &[&str]) -> String {
        format!("{}[{}]", self.element, dimensions.join(","))
    }

    /// The same dimensions with another element type.
    fn typed(&self, element: &str) -> String {
        format!("{element}[{}]", self.dimensions.join(","))
    }

    fn size(&self, dimension: usize) -> Option<i64> {
        self.dimensions.get(dimension)?.trim_start_matches("<=").parse().ok()
    }
}

/// The elements of a tuple's shape.
pub(super) fn elements(shape: &str) -> Option<Vec<&str>> {
    let inner = shape.trim().strip_prefix('(')?.strip_suffix(')')?;
    Some(split_list(inner).into_iter().map(|part| skip_blanks(part).trim_end()).collect())
}

/// The scalar of an array's element type.
pub(super) fn scalar(shape: &str) -> Option<String> {
    Array::of(shape).map(|array| format!("{}[]", array.element))
}

/// What a use is looked at with.
pub(super) struct Use<'u, 't> {
    /// The instruction.
    pub(super) user: &'u Parts<'t>,
    /// Which of its operands is meant.
    pub(super) index: usize,
    /// The shapes of all its operands, where they are known.
    pub(super) operands: &'u [Option<String>],
    /// The shape of parameter `index` of a computation in the text.
    pub(super) parameter: &'u dyn Fn(&str, usize) -> Option<String>,
}

/// The shape the operand must, or may, have.
pub(super) fn of_operand(site: &Use<'_, '_>) -> Guess {
    let (user, index) = (site.user, site.index);
    if user.shape.is_empty() {
        // The result has the shape of an operand more often than not.
        let other = site.operands.iter().flatten().next();
        return likely(other.map_or(UNKNOWN, String::as_str));
    }
    let tuple = elements(user.shape);
    if let Some(elements) = &tuple {
        return of_tuple_operand(site, elements);
    }
    let Some(result) = Array::of(user.shape) else {
        return likely(if user.shape.starts_with("token") { "token[]" } else { UNKNOWN });
    };
    match user.opcode {
        "select" if index == 0 => likely(result.typed("pred")),
        "compare" => match site.operands.iter().flatten().find_map(|other| Array::of(other)) {
            Some(other) => certain(other.with(&other.dimensions)),
            None => likely(result.typed("f32")),
        },
        "is-finite" => likely(result.typed("f32")),
        "real" | "imag" => certain(result.typed(if result.element == "f64" { "c128" } else { "c64" })),
        "complex" => certain(result.typed(if result.element == "c128" { "f64" } else { "f32" })),
        "broadcast" => {
            let dimensions = user.numbers("dimensions");
            let sizes: Vec<&str> =
                dimensions.iter().filter_map(|&it| result.dimensions.get(it).copied()).collect();
            certain(result.with(&sizes))
        }
        "transpose" => {
            let mut sizes = result.dimensions.clone();
            for (&from, &size) in user.numbers("dimensions").iter().zip(&result.dimensions) {
                if let Some(place) = sizes.get_mut(from) {
                    *place = size;
                }
            }
            certain(result.with(&sizes))
        }
        "get-tuple-element" => {
            let place = user.attribute("index").and_then(|index| index.parse().ok()).unwrap_or(0);
            likely(tuple_with(&[(place, user.shape.to_owned())]))
        }
        "dot" => dot(site, &result),
        "reduce" | "reduce-window" | "select-and-scatter" if index * 2 >= user.operands.len() => {
            match (user.opcode, index) {
                // The source of a scatter is of the size of windows, which is not known.
                ("select-and-scatter", 1) => likely(user.shape),
                _ => certain(format!("{}[]", result.element)),
            }
        }
        "reduce" => likely(unreduced(user, &result)),
        "slice" => {
            let limits = user.attribute("slice").unwrap_or_default();
            let limits: Vec<&str> =
                limits.split('[').skip(1).filter_map(|part| part.split([':', ']']).nth(1)).collect();
            likely(result.with(&limits))
        }
        "pad" if index == 1 => certain(format!("{}[]", result.element)),
        "pad" => unpadded(user, &result),
        "concatenate" => rest_of_concatenation(site, &result),
        "dynamic-slice" if index > 0 => likely("s32[]"),
        "dynamic-update-slice" if index > 1 => likely("s32[]"),
        "dynamic-update-slice" if index == 0 => certain(user.shape),
        "gather" => gather(user, index, &result),
        "scatter" if index == 0 => certain(user.shape),
        "conditional" => conditional(site),
        "call" | "fusion" | "map" | "custom-call" | "async-start" => callee_parameter(site),
        "add-dependency" if index == 1 => certain("token[]"),
        "after-all" => certain("token[]"),
        "iota" | "rng" | "rng-uniform" => likely(format!("{}[]", result.element)),
        "reshape" | "bitcast" | "convert" | "bitcast-convert" | "reduce-window" | "all-gather"
        | "copy-done" | "reduce-scatter" | "convolution" | "dynamic-slice" | "all-to-all" | "scatter"
        | "sort" | "topk" | "get-dimension-size" | "select-and-scatter" | "triangular-solve"
        | "dynamic-reshape" => likely(user.shape),
        _ => certain(user.shape),
    }
}

/// The tuple whose elements at these places are of these shapes.
pub(super) fn tuple_with(known: &[(usize, String)]) -> String {
    /// More elements than that are a mistake rather than a tuple.
    const MAX_ELEMENTS: usize = 10_000;
    let length = known.iter().map(|(place, _)| place + 1).max().unwrap_or(0).min(MAX_ELEMENTS);
    let mut elements = vec![UNKNOWN; length];
    for (place, shape) in known {
        if let Some(element) = elements.get_mut(*place) {
            *element = shape;
        }
    }
    format!("({})", elements.join(", "))
}

/// Operands of instructions that give tuples.
fn of_tuple_operand(site: &Use<'_, '_>, elements: &[&str]) -> Guess {
    let (user, index) = (site.user, site.index);
    let element = |at: usize| elements.get(at).copied().unwrap_or(UNKNOWN);
    match user.opcode {
        "tuple" | "sort" | "all-reduce" | "all-to-all" | "collective-permute" | "collective-broadcast" => {
            certain(element(index))
        }
        "while" | "copy" | "opt-barrier" | "optimization-barrier" | "domain" | "add-dependency" => {
            certain(user.shape)
        }
        "get-tuple-element" => {
            let place = user.attribute("index").and_then(|index| index.parse().ok()).unwrap_or(0);
            likely(tuple_with(&[(place, user.shape.to_owned())]))
        }
        "reduce" | "reduce-window" | "scan" => {
            let inputs = elements.len();
            let array = Array::of(element(index % inputs.max(1)));
            match array {
                Some(array) if index >= inputs => certain(format!("{}[]", array.element)),
                Some(array) => likely(unreduced(user, &array)),
                None => likely(UNKNOWN),
            }
        }
        "conditional" => conditional(site),
        "call" | "fusion" | "custom-call" | "async-start" => callee_parameter(site),
        _ => likely(element(index)),
    }
}

/// An operand of a reduction, whose reduced dimensions could have any size.
fn unreduced(user: &Parts<'_>, result: &Array<'_>) -> String {
    let mut reduced = user.numbers("dimensions");
    reduced.sort_unstable();
    let mut sizes = result.dimensions.clone();
    for place in reduced {
        sizes.insert(place.min(sizes.len()), "1");
    }
    result.with(&sizes)
}

fn unpadded(user: &Parts<'_>, result: &Array<'_>) -> Guess {
    let padding = user.attribute("padding").unwrap_or_default();
    let sizes = padding.split('x').enumerate().map(|(dimension, part)| {
        let mut numbers = part.split('_').map(|number| number.parse::<i64>().unwrap_or(0));
        let (low, high) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let interior = numbers.next().unwrap_or(0).max(0);
        let inner = result.size(dimension).unwrap_or(0).saturating_sub(low).saturating_sub(high);
        // `n` elements have `n - 1` gaps.
        (inner.saturating_add(interior)).max(0) / interior.saturating_add(1).max(1)
    });
    let sizes: Vec<String> = sizes.map(|size| size.to_string()).collect();
    let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
    certain(result.with(&sizes))
}

fn rest_of_concatenation(site: &Use<'_, '_>, result: &Array<'_>) -> Guess {
    let Some(&dimension) = site.user.numbers("dimensions").first() else { return likely(site.user.shape) };
    let sizes = site.operands.iter().flatten();
    let known: i64 = sizes.filter_map(|shape| Array::of(shape)?.size(dimension)).fold(0, i64::saturating_add);
    let missing = site.operands.iter().filter(|shape| shape.is_none()).count().max(1);
    let left = result.size(dimension).unwrap_or(0).saturating_sub(known).max(0);
    let count = i64::try_from(missing).unwrap_or(1);
    // Equal parts, and what is left over to the first.
    let first = site.operands.iter().position(Option::is_none) == Some(site.index);
    let size = (left / count + if first { left % count } else { 0 }).to_string();
    let mut sizes = result.dimensions.clone();
    if let Some(place) = sizes.get_mut(dimension) {
        *place = &size;
    }
    Guess { shape: result.with(&sizes), is_certain: missing == 1 }
}

fn dot(site: &Use<'_, '_>, result: &Array<'_>) -> Guess {
    let (mine, other) = if site.index == 0 { ("lhs", "rhs") } else { ("rhs", "lhs") };
    let numbers = |side: &str, what: &str| site.user.numbers(&format!("{side}_{what}_dims"));
    let (batch, contracting) = (numbers(mine, "batch"), numbers(mine, "contracting"));
    let across = site.operands.get(1 - site.index.min(1)).and_then(Option::as_ref);
    let across = across.and_then(|shape| Array::of(shape));
    let free = result.dimensions.len().saturating_sub(batch.len());
    let across_contracting = numbers(other, "contracting");
    let own_free = match &across {
        Some(array) => {
            free.saturating_sub(array.dimensions.len().saturating_sub(batch.len() + across_contracting.len()))
        }
        // Weights are matrices more often than not.
        None if site.index == 0 => free.saturating_sub(1),
        None => free.min(1),
    };
    let begin = batch.len() + if site.index == 0 { 0 } else { free - own_free };
    let mut free_sizes = result.dimensions.iter().skip(begin).take(own_free);
    let rank = batch.len() + contracting.len() + own_free;
    let mut sizes = Vec::new();
    for dimension in 0..rank {
        let size = if let Some(place) = batch.iter().position(|&it| it == dimension) {
            result.dimensions.get(place).copied()
        } else if let Some(place) = contracting.iter().position(|&it| it == dimension) {
            let there = across_contracting.get(place);
            across.as_ref().and_then(|array| array.dimensions.get(*there?).copied())
        } else {
            free_sizes.next().copied()
        };
        sizes.push(size.unwrap_or("1"));
    }
    Guess { shape: result.with(&sizes), is_certain: across.is_some() }
}

fn gather(user: &Parts<'_>, index: usize, result: &Array<'_>) -> Guess {
    if index == 0 {
        let sizes = user.numbers("slice_sizes");
        let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
        return likely(result.with(&sizes));
    }
    let offsets = user.numbers("offset_dims");
    let kept = result.dimensions.iter().enumerate().filter(|(at, _)| !offsets.contains(at));
    let mut sizes: Vec<&str> = kept.map(|(_, size)| *size).collect();
    let vector = user.numbers("index_vector_dim").first().copied().unwrap_or(0);
    let length = user.numbers("start_index_map").len().to_string();
    sizes.insert(vector.min(sizes.len()), &length);
    likely(format!("s32[{}]", sizes.join(",")))
}

/// The operands of a conditional: what decides, then one for each branch.
fn conditional(site: &Use<'_, '_>) -> Guess {
    let user = site.user;
    let Some(branch) = site.index.checked_sub(1) else {
        let by_flag = user.attribute("true_computation").is_some();
        return certain(if by_flag { "pred[]" } else { "s32[]" });
    };
    let listed = user.attribute("branch_computations").map(super::scan::names).unwrap_or_default();
    let name = match listed.get(branch) {
        Some(name) => Some(*name),
        None => user
            .attribute(if branch == 0 { "true_computation" } else { "false_computation" })
            .map(|name| name.trim_start_matches('%')),
    };
    match name.and_then(|name| (site.parameter)(name, 0)) {
        Some(shape) => certain(shape),
        None => likely(UNKNOWN),
    }
}

/// An operand that is a parameter of the computation that is called.
fn callee_parameter(site: &Use<'_, '_>) -> Guess {
    let callee = site.user.attribute("to_apply").or_else(|| site.user.attribute("calls"));
    let name = callee.map(|name| name.trim_start_matches('%'));
    match name.and_then(|name| (site.parameter)(name, site.index)) {
        // What a map calls takes elements.
        Some(shape) if site.user.opcode == "map" => match (Array::of(&shape), Array::of(site.user.shape)) {
            (Some(element), Some(result)) => certain(result.typed(element.element)),
            _ => certain(shape),
        },
        Some(shape) => certain(shape),
        None => likely(if shape_length(site.user.shape) > 0 && elements(site.user.shape).is_none() {
            site.user.shape
        } else {
            UNKNOWN
        }),
    }
}
