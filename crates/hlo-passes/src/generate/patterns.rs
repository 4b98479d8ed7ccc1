//! What modules are made of, and how often.

use super::generator::{Generator, Scope};
use super::{collectives, control, data, effects, elementwise, reductions};

type Pattern = fn(&mut Generator<'_, '_>);

/// What may be anywhere.
const PLAIN: &[Pattern] = &[
    elementwise::unary,
    elementwise::binary,
    elementwise::comparison,
    elementwise::select,
    elementwise::clamp,
    elementwise::convert,
    elementwise::minus_infinity,
    elementwise::type_changing,
    data::reshape,
    data::transpose,
    data::slices,
    data::broadcasts,
    data::table_entry,
    data::table_entry,
    data::row_look_up,
    data::scatter,
    reductions::reduce,
    reductions::argmax,
    reductions::dot,
    reductions::softmax,
    reductions::window,
    reductions::sort,
    control::tuples,
    control::map,
    effects::constants,
    effects::kernel,
];

/// What is only in computations that run as a whole.
const WHOLE: &[Pattern] = &[
    control::call,
    control::conditional,
    control::while_loop,
    control::fusion,
    control::barrier,
    control::barrier,
    control::asynchronous,
    collectives::all_reduce,
    collectives::gather_and_scatter,
    collectives::all_to_all,
    collectives::permute,
    collectives::threaded,
    collectives::chunks,
    collectives::ring,
    collectives::place,
    effects::transfer,
    effects::device_print,
    effects::random,
    effects::dropout,
    effects::custom_call,
    effects::collective_call,
];

/// How deep computations call one another.
const MAX_DEPTH: usize = 3;

/// Adds an instruction or a few.
pub(super) fn add_one(g: &mut Generator<'_, '_>) {
    let whole = if g.scope() == Scope::Part { 0 } else { WHOLE.len() };
    let at = g.choices.below(PLAIN.len() + whole);
    match PLAIN.get(at) {
        Some(pattern) => pattern(g),
        // Calls come first in the list: deep inside there are none.
        None if g.depth() < MAX_DEPTH => WHOLE[at - PLAIN.len()](g),
        None => elementwise::binary(g),
    }
}
