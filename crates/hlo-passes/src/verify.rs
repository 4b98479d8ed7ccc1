//! Checks between passes: whether each pass leaves a valid module.

use hlo_text::diagnostic::Code;
use hlo_text::ir::InstructionId;
use hlo_text::{Module, PrintOptions, VerifyOptions, Violation, verify};

use crate::pass::{PassError, PassResult, Place};
use crate::pipeline::{Observer, PassOutcome};
use crate::registry::PassInfo;

/// What is wrong with a module after a pass.
#[derive(Clone, Debug)]
pub struct BrokenModule {
    /// How many passes had run before, over all runs of the pipeline.
    pub runs: usize,
    /// The pass.
    pub pass: &'static str,
    /// Every rule that is broken.
    pub violations: Vec<Violation>,
    /// The first instruction that breaks one, and its text after the pass. [`Module::print_instruction`] of the same
    /// id in the module before the pass tells what it was.
    pub instruction: Option<(InstructionId, String)>,
}

impl BrokenModule {
    /// The text of the broken instruction in `before`, the module before the pass; `None` if it wasn't there.
    pub fn instruction_in(&self, before: &Module) -> Option<String> {
        let (id, _) = self.instruction.as_ref()?;
        let is_there = id.index() < before.instruction_id_limit() && !before.is_removed(*id);
        is_there.then(|| before.print_instruction(*id, &PrintOptions::default()))
    }
}

/// The pass that gives comparisons the type that fits what they compare.
const LEGALIZE_COMPARE: &str = "legalize-compare";

/// What is to become of comparisons of a type that doesn't fit what they compare.
#[derive(Clone, Copy, PartialEq)]
enum Comparisons {
    /// There may be such.
    Free,
    /// There may be such until a pass comes after the one that puts them right.
    Legalized,
    /// They are errors.
    Checked,
}

/// Verifies the module after every pass that changes it, and passes everything on to another observer.
pub struct VerifyingObserver<'o> {
    options: VerifyOptions,
    inner: &'o mut dyn Observer,
    /// Passes that have run.
    runs: usize,
    /// What has become of comparisons of the wrong type.
    comparisons: Comparisons,
    /// What was found, if the pipeline stopped for that.
    pub broken: Option<BrokenModule>,
}

impl<'o> VerifyingObserver<'o> {
    /// Verifies as `options` say, but that types of comparisons are checked from the first pass after `legalize-compare`
    /// on in any case.
    pub fn new(options: VerifyOptions, inner: &'o mut dyn Observer) -> Self {
        let comparisons = match options.check_comparison_types {
            true => Comparisons::Checked,
            false => Comparisons::Free,
        };
        Self { options, inner, runs: 0, comparisons, broken: None }
    }
}

impl Observer for VerifyingObserver<'_> {
    fn before_pass(&mut self, index: usize, info: &'static PassInfo, module: &Module) -> PassResult<()> {
        self.inner.before_pass(index, info, module)
    }

    fn after_pass(&mut self, index: usize, outcome: &PassOutcome, module: &Module) -> PassResult<()> {
        self.inner.after_pass(index, outcome, module)?;
        let runs = self.runs;
        self.runs += 1;
        let is_legalizer = outcome.info.key == LEGALIZE_COMPARE;
        let mut is_due = false;
        match self.comparisons {
            Comparisons::Free if is_legalizer => self.comparisons = Comparisons::Legalized,
            Comparisons::Legalized if !is_legalizer => {
                (self.comparisons, is_due) = (Comparisons::Checked, true);
                self.options.check_comparison_types = true;
            }
            _ => {}
        }
        if !outcome.changed && !is_due {
            return Ok(());
        }
        let mut violations = verify(module, &self.options);
        violations.retain(Violation::is_error);
        let Some(first) = violations.first() else { return Ok(()) };
        let is_left = is_due && first.code == Code::ComparisonType;
        let message = match is_left {
            true => format!(
                "{}; `{LEGALIZE_COMPARE}` has run, but changes the entry computation only",
                first.message
            ),
            false => format!("the pass left an invalid module: {}", first.message),
        };
        let mut error = PassError::new(message).code(Code::as_str(first.code));
        error.place = first.instruction.map(|id| Box::new(Place::of(module, id)));
        if is_left {
            // No pass broke it.
            return Err(error);
        }
        let shown = |id| (id, module.print_instruction(id, &PrintOptions::default()));
        // What refers to something that is gone can't be printed.
        let printable = first.code != Code::RemovedReference;
        let instruction = first.instruction.filter(|_| printable).map(shown);
        self.broken = Some(BrokenModule { runs, pass: outcome.info.key, violations, instruction });
        Err(error)
    }
}
