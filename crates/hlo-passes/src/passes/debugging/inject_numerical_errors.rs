//! `inject-numerical-errors`: adds a constant to the results of chosen instructions, to see how far an error spreads.
//!
//! For each target `x`, in any computation, all users get `x.inj_error = add(x, broadcast(constant))` instead, the
//! root's place included.
//!
//! ```text
//! --passes='inject-numerical-errors{targets=mul error=0.001}'
//!
//! mul = f32[2,3] multiply(a, a)
//! ROOT n = f32[2,3] negate(mul)
//!
//! mul = f32[2,3] multiply(a, a)
//! constant = f32[] constant(0.001)
//! broadcast = f32[2,3] broadcast(constant), dimensions={}
//! mul.inj_error = f32[2,3] add(mul, broadcast)
//! ROOT n = f32[2,3] negate(mul.inj_error)
//! ```
//!
//! Options: `targets` (names), `targets-file` (a JSON file with more), `error` (0.001). Without a target the log says
//! `No targets specified.`, otherwise `Modified N`.
//!
//! Limits: a target must give a static array of a floating-point type in which the error is neither 0 nor infinite;
//! anything else is an error, found before anything is changed: so are names that don't exist, what begins or goes on with
//! an asynchronous operation (`copy-start`, `async-update`) and what is inside of one. What ends one (`copy-done`) gives a
//! value like any other. The sum takes metadata and sharding over. Control edges stay with the target. A
//! second run adds a second error.
//!
//! Confidence: high; the options are ours.

use hlo_text::ir::{AttrKey, Elements, InstructionId, Literal, LiteralData, NewInstruction, Opcode, ShapeId};

use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Pass, PassContext, PassError, PassResult};
use crate::passes::targets::{TARGETS, TARGETS_FILE, find_targets, is_async_body};

/// The pass.
pub(crate) struct InjectNumericalErrors;

/// Its options.
pub(crate) const OPTIONS: &[OptionInfo] = &[
    TARGETS,
    TARGETS_FILE,
    OptionInfo { name: "error", kind: OptionType::Text("0.001"), doc: "What is added: a decimal number." },
];

/// A target that can be changed.
struct Target {
    id: InstructionId,
    shape: ShapeId,
    error: Literal,
}

impl Pass for InjectNumericalErrors {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let text = context.options.text("error");
        let error: f64 =
            text.parse().map_err(|_| PassError::bad_option("error", "a decimal number", text))?;
        let ids = find_targets(edit, context)?;
        if ids.is_empty() {
            context.log.push("No targets specified.".to_owned());
            return Ok(());
        }
        let mut targets = Vec::with_capacity(ids.len());
        for id in ids {
            targets.push(check(edit, id, error)?);
        }
        let mut modified = 0;
        for target in targets {
            if context.may_rewrite(edit, target.id) {
                context.applied(edit, target.id, format_args!("{error} is added to its result"));
                inject(edit, target)?;
                modified += 1;
            }
        }
        context.log.push(format!("Modified {modified}"));
        Ok(())
    }
}

fn check(edit: &mut Editor<'_>, id: InstructionId, error: f64) -> PassResult<Target> {
    let fail = |edit: &Editor<'_>, message: String| Err(PassError::at(edit, id, message));
    let instruction = edit.instruction(id);
    let (shape, opcode, parent) = (instruction.shape, instruction.opcode, instruction.parent);
    let Some(array) = edit.shape(shape).as_array() else {
        return fail(edit, "no error can be added: its result is not an array".to_owned());
    };
    let element_type = array.element_type;
    if !element_type.is_float() {
        let name = element_type.name();
        return fail(edit, format!("no error can be added: {name} is not a floating-point type"));
    }
    if array.is_dynamic() {
        return fail(edit, "no error can be added: its result has dynamic dimensions".to_owned());
    }
    if opcode == Opcode::AllReduceStart || is_async_body(edit, parent) {
        return fail(edit, "no error can be added: it is part of an asynchronous operation".to_owned());
    }
    let elements = Elements::from_f64s(element_type, [error]);
    let value = elements.as_ref().and_then(|elements| elements.f64(0));
    match (elements, value) {
        (Some(elements), Some(value)) if value != 0.0 && value.is_finite() => {
            let scalar = edit.array_shape(element_type, &[]);
            let error = Literal { shape: scalar, data: LiteralData::Dense(elements) };
            Ok(Target { id, shape, error })
        }
        (_, value) => {
            let (name, value) = (element_type.name(), value.unwrap_or(f64::NAN));
            fail(edit, format!("no error can be added: {error:?} is {value} in {name}"))
        }
    }
}

fn inject(edit: &mut Editor<'_>, target: Target) -> PassResult<()> {
    let Target { id, shape, error } = target;
    let instruction = edit.instruction(id);
    let (parent, metadata) = (instruction.parent, instruction.metadata);
    let name = format!("{}.inj_error", edit.name_of(id));
    let constant = edit.add_constant(parent, error);
    let broadcast = edit.add_broadcast_of_scalar(constant, shape);
    let attributes: Vec<_> =
        edit.attributes(id).iter().filter(|attr| attr.key == AttrKey::Sharding).copied().collect();
    let operands = [id, broadcast];
    let new = NewInstruction {
        name: &name,
        metadata,
        attributes: &attributes,
        ..NewInstruction::new(Opcode::Add, shape, &operands)
    };
    let sum = edit.add_instruction(parent, new);
    edit.replace_all_uses(id, sum)
}
