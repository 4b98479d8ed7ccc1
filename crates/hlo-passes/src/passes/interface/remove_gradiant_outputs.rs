//! `remove-gradiant-outputs`: drops results that share the buffer of a parameter, such as updated states and gradients.
//!
//! An element of the root tuple goes if the alias table has an entry for it, of either kind and with whatever part of
//! a parameter.
//!
//! ```text
//! HloModule m, input_output_alias={ {1}: (1, {}, must-alias) }
//!   grad = f32[4] multiply(p0, p1)
//!   ROOT t = (f32[4], f32[4]) tuple(loss, grad)
//!
//! HloModule m
//!   ROOT t = (f32[4]) tuple(loss)
//! ```
//!
//! **The values are thrown away**: what is left is the forward part. What was only computed for them is removed, but
//! for parameters and side effects. The outputs behind a dropped one move up, and the entry layout, shardings and original
//! values with them. The tuple keeps its name; if all elements go, an empty tuple is left. A warning in the log names
//! what was dropped.
//!
//! Left alone: roots that are no `tuple`; elements of which only a part has an alias.
//!
//! Confidence: high. (The spelling is the key's own.)

use super::remove_passthrough_outputs::drop_outputs;
use crate::edit::Editor;
use crate::pass::{Pass, PassContext, PassResult};

/// The pass.
pub(crate) struct RemoveGradiantOutputs;

impl Pass for RemoveGradiantOutputs {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        drop_outputs(edit, context, "alias parameters", |edit, context, element, alias| {
            if alias.is_none() {
                context.missed(edit, element, "its output has no alias");
            }
            alias.map(|_| "it aliases a parameter")
        })
    }
}
