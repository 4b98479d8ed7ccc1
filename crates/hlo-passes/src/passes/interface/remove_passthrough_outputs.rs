//! `remove-passthrough-outputs`: drops results that only hand an aliased parameter back.
//!
//! An element of the root tuple goes if it is an entry parameter and the alias table says that this very output
//! shares the buffer of the whole of that parameter: the caller has the value already.
//!
//! ```text
//! HloModule m, input_output_alias={ {0}: (0, {}, must-alias), {1}: (1, {}, may-alias) }
//!   ROOT t = (f32[4], f32[4]) tuple(p0, n)
//!
//! HloModule m, input_output_alias={ {0}: (1, {}, may-alias) }
//!   ROOT t = (f32[4]) tuple(n)
//! ```
//!
//! The outputs behind a dropped one move up, and the entry layout, the alias table, shardings and original values
//! with them; maps of outputs kept outside must follow. The tuple keeps its name, unless it is read by others and
//! so stays as it is beside a new one; if all elements go, an empty tuple is left. Parameters are never removed. A
//! warning in the log names what was dropped.
//!
//! Left alone: roots that are no `tuple`; parameters that are returned without an alias, or with an alias of another
//! output; aliases of a part of a parameter or of an element of a nested tuple; parameters behind another instruction
//! such as `copy`.
//!
//! Confidence: high; that the alias must be the output's own is our reading.

use hlo_text::ir::{InputOutputAlias, InstructionId, Opcode};

use crate::Map;
use crate::edit::{Editor, ResultSource};
use crate::pass::{Pass, PassContext, PassResult};

/// How many dropped outputs the warning lists.
const MAX_LISTED: usize = 20;

/// The pass.
pub(crate) struct RemovePassthroughOutputs;

impl Pass for RemovePassthroughOutputs {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        drop_outputs(edit, context, "hand aliased parameters back", |edit, context, element, alias| {
            let number = edit.instruction(element).parameter_number;
            if edit.instruction(element).opcode != Opcode::Parameter {
                if alias.is_some() {
                    context.missed(edit, element, "it is an aliased output, but no parameter");
                }
                return None;
            }
            let Some(alias) = alias else {
                context.missed(edit, element, "it is returned, but the output has no alias");
                return None;
            };
            if alias.parameter != i64::from(number) || !alias.parameter_index.is_empty() {
                context.missed(edit, element, "it is returned, but the output's alias is not with all of it");
                return None;
            }
            Some("it is the aliased parameter")
        })
    }
}

/// Drops those elements of the root tuple for which `reason` gives one; it gets the element and the alias of the
/// output that is this element. The log says that outputs that do `what` are dropped.
pub(super) fn drop_outputs(
    edit: &mut Editor<'_>,
    context: &mut PassContext<'_>,
    what: &str,
    reason: impl Fn(
        &Editor<'_>,
        &mut PassContext<'_>,
        InstructionId,
        Option<&InputOutputAlias>,
    ) -> Option<&'static str>,
) -> PassResult<()> {
    let root = edit.computation(edit.entry()).root;
    if edit.instruction(root).opcode != Opcode::Tuple {
        context.missed(edit, root, "the root is no tuple");
        return Ok(());
    }
    let mut aliases: Map<i64, &InputOutputAlias> = Map::default();
    for alias in &edit.header.input_output_alias {
        match alias.output_index[..] {
            [index] => {
                aliases.insert(index, alias);
            }
            [] => context.missed(edit, root, "the alias of the tuple as a whole is of no element"),
            [index, ..] => {
                let element = usize::try_from(index).ok().and_then(|index| edit.operands(root).get(index));
                let why = "only a part of this output has an alias";
                context.missed(edit, element.copied().unwrap_or(root), why);
            }
        }
    }
    let mut kept = Vec::new();
    let mut dropped = Vec::new();
    for (index, &element) in edit.operands(root).iter().enumerate() {
        let alias = aliases.get(&(index as i64)).copied();
        match reason(edit, context, element, alias) {
            Some(reason) if context.may_rewrite(edit, root) => {
                context.applied(edit, element, format_args!("output {index} is dropped: {reason}"));
                dropped.push(index.to_string());
            }
            _ => kept.push((element, ResultSource::Element(index))),
        }
    }
    drop(aliases);
    if !dropped.is_empty() {
        let more = dropped.len().saturating_sub(MAX_LISTED);
        let list = dropped[..dropped.len() - more].join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        context.log.push(format!("warning: outputs that {what} are dropped: {list}{more}"));
        edit.set_results(&kept);
    }
    Ok(())
}
