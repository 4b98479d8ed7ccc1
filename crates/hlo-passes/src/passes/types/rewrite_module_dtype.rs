//! `rewrite-module-dtype`: gives every array of one element type another one, in the whole module.
//!
//! ```text
//! --passes='rewrite-module-dtype{from=f32 to=bf16}'
//!
//! a = f32[2] parameter(0)
//! c = f32[2] constant({1, 2})
//! ROOT n = f32[2] add(a, c)
//!
//! a = bf16[2] parameter(0)
//! c = bf16[2] constant({1, 2})
//! ROOT n = bf16[2] add(a, c)
//! ```
//!
//! Results, tuples, reducers, loop and fusion bodies, shapes in attributes and the entry layout change together. Constants
//! are converted by value: rounded between floating-point types (from `f64` to `f16` and `bf16` by way of `f32`, as XLA
//! folds such conversions), exactly otherwise. Comparisons of the default type follow. Conversions that now convert nothing
//! stay. What custom calls do with other types is theirs; text in `backend_config` is not touched.
//!
//! Options: `from` and `to`, element types such as `f32`; both must be given. `overflow=saturate` makes finite floats that
//! are too large, such as masks of -3.4e38, the largest finite ones of the new type.
//!
//! Errors, after which the module is as it was:
//!
//! * a constant has a value that the new type doesn't have: too large, not an integer, NaN;
//! * an opcode fixes the type somewhere: `partition-id` (u32), `get-dimension-size` (s32), selectors and comparisons
//!   (pred), contexts of transfers (u32), the generator's state (u64), pairs of real and complex types, reinterpreted bits;
//! * an opcode doesn't take the new type, such as slice indices of a floating-point type, or random numbers that would be
//!   complex.
//!
//! A second run finds nothing to do. Confidence: high; that the pair is an option is ours.

use hlo_text::ir::{ElementType, Overflow};

use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Pass, PassContext, PassError, PassResult};

/// The pass.
pub(crate) struct RewriteModuleDtype;

/// Its options.
pub(crate) const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "from",
        kind: OptionType::Text(""),
        doc: "The element type to replace, such as `f32`.",
    },
    OptionInfo { name: "to", kind: OptionType::Text(""), doc: "The element type to put in its place." },
    OptionInfo {
        name: "overflow",
        kind: OptionType::Text("error"),
        doc: "What becomes of floating-point constants that are too large: `error`, or `saturate` to the largest finite value.",
    },
];

impl Pass for RewriteModuleDtype {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let from = element_type(context, "from")?;
        let to = element_type(context, "to")?;
        let overflow = match context.options.text("overflow") {
            "error" => Overflow::Refuse,
            "saturate" => Overflow::Saturate,
            other => {
                return Err(PassError::bad_option("overflow", "`error` or `saturate`", other));
            }
        };
        let root = edit.computation(edit.entry()).root;
        if from == to {
            context.missed(edit, root, "both types are the same");
            return Ok(());
        }
        if !context.may_rewrite(edit, root) {
            return Ok(());
        }
        let (from_name, to_name) = (from.name(), to.name());
        match edit.change_element_type(from, to, overflow)? {
            0 => context.missed(edit, root, format_args!("nothing has element type {from_name}")),
            count => {
                let what = format_args!("{count} instructions change from {from_name} to {to_name}");
                context.applied(edit, root, what);
            }
        }
        Ok(())
    }
}

fn element_type(context: &PassContext<'_>, option: &str) -> PassResult<ElementType> {
    let text = context.options.text(option);
    let element_type = ElementType::from_name(text).filter(|element_type| element_type.is_array_element());
    element_type.ok_or_else(|| {
        if text.is_empty() {
            PassError::lacking_option(format!("option `{option}` must name an element type"))
        } else {
            PassError::bad_option(option, "an element type such as `f32`", text)
        }
    })
}
