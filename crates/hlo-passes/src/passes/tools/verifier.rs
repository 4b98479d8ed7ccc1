//! `verifier`: stops at a module that breaks a rule.

use hlo_text::{VerifyOptions, Violation, verify};

use crate::edit::Editor;
use crate::options::{OptionInfo, OptionType};
use crate::pass::{Pass, PassContext, PassError, PassResult};

/// What the pass takes.
pub(crate) const OPTIONS: &[OptionInfo] = &[
    OptionInfo { name: "layout-sensitive", kind: OptionType::Flag(false), doc: "layouts must fit as well" },
    OptionInfo {
        name: "allow-mixed-precision",
        kind: OptionType::Flag(false),
        doc: "operands may be floating-point numbers of different widths",
    },
];

/// The pass.
pub(crate) struct Verifier;

impl Pass for Verifier {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let options = VerifyOptions {
            layout_sensitive: context.options.flag("layout-sensitive"),
            allow_mixed_precision: context.options.flag("allow-mixed-precision"),
            ..VerifyOptions::default()
        };
        let violations = verify(edit, &options);
        let Some(first) = violations.into_iter().find(Violation::is_error) else { return Ok(()) };
        let error = match first.instruction {
            Some(id) => PassError::at(edit, id, first.message),
            None => PassError::new(first.message),
        };
        Err(error.code(first.code.as_str()))
    }
}
