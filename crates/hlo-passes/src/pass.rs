//! What a pass is, and what it gets beside the module: options, remarks, fuel, a seed and resources.

use std::borrow::Cow;
use std::fmt;

use hlo_text::Module;
use hlo_text::ir::{ComputationId, InstructionId};

use crate::analysis::in_post_order_of_all;
use crate::edit::Editor;
use crate::options::OptionValues;

/// A rewrite of a module.
///
/// Whether it changed anything is found out by the pipeline, see [`crate::hash::exact_hash`]. (XLA asks the pass;
/// its expanders say yes when anything matched.)
pub trait Pass: Send + Sync {
    /// Rewrites the module.
    ///
    /// # Errors
    /// The module can't be rewritten; it may have been changed in part.
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()>;
}

/// What a pass gives.
pub type PassResult<T> = Result<T, PassError>;

/// Why a pass stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassError {
    /// A stable code such as `NCC_OPT001`, if there is one.
    pub code: Option<&'static str>,
    /// What is wrong, without a final period.
    pub message: String,
    /// The instruction in question.
    pub place: Option<Box<Place>>,
    /// Whether the pass only lacks an option that it can't do without.
    pub lacks_option: bool,
    /// Whether the value of an option is none that the pass takes.
    pub is_bad_option: bool,
}

impl PassError {
    /// An error of the module as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: None, message: message.into(), place: None, lacks_option: false, is_bad_option: false }
    }

    /// An error about an instruction.
    pub fn at(module: &Module, instruction: InstructionId, message: impl Into<String>) -> Self {
        Self { place: Some(Box::new(Place::of(module, instruction))), ..Self::new(message) }
    }

    /// The error of a pass that isn't given an option it can't do without; the message says which.
    pub fn lacking_option(message: impl Into<String>) -> Self {
        Self { lacks_option: true, ..Self::new(message) }
    }

    /// The error of a pass that doesn't take what an option says; `takes` is what it does.
    pub fn bad_option(name: &str, takes: &str, given: &str) -> Self {
        let message = format!("option `{name}` takes {takes}, not `{given}`");
        Self { is_bad_option: true, ..Self::new(message) }
    }

    /// The same with a stable code.
    #[must_use]
    pub fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }
}

impl fmt::Display for PassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(code) = self.code {
            write!(f, "[{code}] ")?;
        }
        if let Some(place) = &self.place {
            write!(f, "instruction `{}` of computation `{}`: ", place.instruction, place.computation)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for PassError {}

/// An instruction by name: what stays meaningful when the instruction is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the instruction.
    pub instruction: String,
    /// Name of its computation.
    pub computation: String,
}

impl Place {
    /// The names of `instruction` and its computation.
    pub fn of(module: &Module, instruction: InstructionId) -> Self {
        Self {
            instruction: module.name_of(instruction).to_owned(),
            computation: module.computation_name(module.instruction(instruction).parent).to_owned(),
        }
    }
}

/// What kind of thing a [`Remark`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemarkKind {
    /// A rewrite happened.
    Applied,
    /// A rewrite that might be expected did not happen.
    Missed,
    /// Something else worth knowing.
    Note,
}

impl RemarkKind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Missed => "missed",
            Self::Note => "note",
        }
    }
}

/// What a pass says about an instruction: the answer to "why did it (not) fire?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The pass.
    pub pass: &'static str,
    /// What kind of thing it says.
    pub kind: RemarkKind,
    /// The instruction, named as it was when the remark was made.
    pub place: Place,
    /// The reason, or what was done.
    pub text: String,
}

/// Files and settings from outside, for the passes that need them.
pub trait Resources {
    /// The contents of a file, named relative to the folder given.
    ///
    /// # Errors
    /// Why it can't be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;

    /// Whether there is such a file.
    fn exists(&self, path: &str) -> bool {
        self.read(path).is_ok()
    }

    /// The value of an environment setting.
    fn setting(&self, name: &str) -> Option<String>;

    /// A number that is another one in each run, `None` if there is no source of such numbers.
    fn entropy(&self) -> Option<u32> {
        None
    }
}

/// No files, no settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoResources;

impl Resources for NoResources {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!("`{path}` can't be read: no folder was given"))
    }

    fn setting(&self, _name: &str) -> Option<String> {
        None
    }
}

/// How many rewrites may still happen.
#[derive(Clone, Debug, Default)]
pub struct Fuel {
    /// Over all passes; `None`: no limit.
    pub total: Option<u64>,
    /// For each pass of that name, over all its runs.
    pub per_pass: Vec<(String, u64)>,
}

impl Fuel {
    /// How often `pass` may still rewrite.
    fn left(&self, pass: &str) -> u64 {
        let own = self.per_pass.iter().filter(|(name, _)| name == pass).map(|(_, left)| *left);
        own.chain(self.total).min().unwrap_or(u64::MAX)
    }

    /// Takes one unit, if all tanks that matter to `pass` have one.
    fn take(&mut self, pass: &str) -> bool {
        let own = self.per_pass.iter_mut().filter(|(name, _)| name == pass);
        let mut tanks: Vec<&mut u64> = own.map(|(_, left)| left).chain(self.total.as_mut()).collect();
        if tanks.iter().any(|left| **left == 0) {
            return false;
        }
        tanks.iter_mut().for_each(|left| **left -= 1);
        true
    }
}

/// What a pass gets beside the module.
pub struct PassContext<'r> {
    /// Where files and settings come from.
    pub resources: &'r dyn Resources,
    /// Where randomness starts.
    pub seed: u64,
    /// How many rewrites may still happen.
    pub fuel: Fuel,
    /// Whether remarks are kept.
    pub wants_remarks: bool,
    /// Remarks so far.
    pub remarks: Vec<Remark>,
    /// Lines that the original tools log.
    pub log: Vec<String>,
    /// Rewrites so far, over all passes.
    pub rewrites: u64,
    /// The pass that runs; set by the pipeline.
    pub pass: &'static str,
    /// Its place in the list; set by the pipeline.
    pub index: usize,
    /// The instruction it was last known to work on: what to name when it panics.
    pub current: Option<InstructionId>,
    /// The instruction somebody asks about. Of it, passes say what would be too much to say of every instruction.
    pub asked_about: Option<InstructionId>,
    /// Its options; set by the pipeline.
    pub options: OptionValues,
}

impl Default for PassContext<'_> {
    fn default() -> Self {
        Self {
            resources: &NoResources,
            seed: 0,
            fuel: Fuel::default(),
            wants_remarks: false,
            remarks: Vec::new(),
            log: Vec::new(),
            rewrites: 0,
            pass: "",
            index: 0,
            current: None,
            asked_about: None,
            options: OptionValues::default(),
        }
    }
}

impl PassContext<'_> {
    /// Asks whether another rewrite may happen at `instruction`, and counts it. Every rewrite of every pass must
    /// ask; when the fuel is spent the answer is no.
    pub fn may_rewrite(&mut self, module: &Module, instruction: InstructionId) -> bool {
        let pass = self.pass;
        self.current = Some(instruction);
        if !self.fuel.take(pass) {
            self.missed(module, instruction, "out of fuel");
            return false;
        }
        self.rewrites += 1;
        true
    }

    /// How many more rewrites the running pass may make.
    pub fn rewrites_left(&self) -> u64 {
        self.fuel.left(self.pass)
    }

    /// Says that `instruction` has been or is about to be rewritten.
    pub fn applied(&mut self, module: &Module, instruction: InstructionId, what: impl fmt::Display) {
        self.remark(RemarkKind::Applied, module, instruction, what);
    }

    /// Says why `instruction` stays as it is.
    pub fn missed(&mut self, module: &Module, instruction: InstructionId, why: impl fmt::Display) {
        self.remark(RemarkKind::Missed, module, instruction, why);
    }

    /// Says why `instruction` stays as it is, if somebody asks about it: reasons that most instructions have.
    pub fn missed_if_asked(&mut self, module: &Module, instruction: InstructionId, why: impl fmt::Display) {
        if self.asked_about == Some(instruction) {
            self.missed(module, instruction, why);
        }
    }

    /// Says something else about `instruction`.
    pub fn note(&mut self, module: &Module, instruction: InstructionId, what: impl fmt::Display) {
        self.remark(RemarkKind::Note, module, instruction, what);
    }

    fn remark(
        &mut self,
        kind: RemarkKind,
        module: &Module,
        instruction: InstructionId,
        text: impl fmt::Display,
    ) {
        if self.wants_remarks {
            self.push_remark(kind, Place::of(module, instruction), text);
        }
    }

    /// Says that what was at `place` has been rewritten.
    pub fn applied_at(&mut self, place: Place, what: impl fmt::Display) {
        if self.wants_remarks {
            self.push_remark(RemarkKind::Applied, place, what);
        }
    }

    /// Takes back what remarks from number `first` on say of rewrites: the pass has failed, and nothing comes of them.
    pub(crate) fn withdraw_applied(&mut self, first: usize) {
        let mut number = 0;
        self.remarks.retain(|remark| {
            number += 1;
            number <= first || remark.kind != RemarkKind::Applied
        });
    }

    fn push_remark(&mut self, kind: RemarkKind, place: Place, text: impl fmt::Display) {
        self.remarks.push(Remark { pass: self.pass, kind, place, text: text.to_string() });
    }
}

/// A pass that replaces single instructions. [`Expander`] is its driver.
pub trait OpExpander: Send + Sync {
    /// Whether the instruction is to be expanded.
    fn matches(&self, edit: &Editor<'_>, instruction: InstructionId, context: &mut PassContext<'_>) -> bool;

    /// What replaces the instruction: a new instruction or an existing one; `None`: nothing does.
    ///
    /// All matches are found before the first expansion, so operands may have been replaced since, and what the
    /// expansion makes is not looked at again.
    ///
    /// # Errors
    /// The instruction can't be expanded.
    fn expand(
        &self,
        edit: &mut Editor<'_>,
        instruction: InstructionId,
        context: &mut PassContext<'_>,
    ) -> PassResult<Option<InstructionId>>;
}

/// Runs an [`OpExpander`] as XLA's driver does: collect in post-order over all computations that are not fused,
/// then expand in that order.
pub struct Expander<E>(pub E);

impl<E: OpExpander> Pass for Expander<E> {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        expand_matches(
            edit,
            context,
            |edit, id, context| self.0.matches(edit, id, context),
            |edit, id, context| self.0.expand(edit, id, context),
        )
    }
}

/// Whether the computation is part of an instruction: of a fusion, or of an asynchronous start, which has to be one
/// instruction.
fn is_body(edit: &Editor<'_>, id: ComputationId) -> bool {
    edit.is_fusion_computation(id) || edit.is_async_computation(id)
}

/// What [`Expander`] does, for expanders that keep something from one expansion to the next.
pub(crate) fn expand_matches(
    edit: &mut Editor<'_>,
    context: &mut PassContext<'_>,
    mut matches: impl FnMut(&Editor<'_>, InstructionId, &mut PassContext<'_>) -> bool,
    mut expand: impl FnMut(
        &mut Editor<'_>,
        InstructionId,
        &mut PassContext<'_>,
    ) -> PassResult<Option<InstructionId>>,
) -> PassResult<()> {
    let computations: Vec<ComputationId> =
        edit.computations().iter().copied().filter(|&id| !is_body(edit, id)).collect();
    let mut found = Vec::new();
    in_post_order_of_all(edit, &computations, |instruction| {
        context.current = Some(instruction);
        if matches(edit, instruction, context) {
            found.push(instruction);
        }
    });
    for instruction in found {
        if edit.is_removed(instruction) || !context.may_rewrite(edit, instruction) {
            continue;
        }
        if let Some(new) = expand(edit, instruction, context)?
            && new != instruction
        {
            edit.replace_instruction(instruction, new)?;
        }
    }
    Ok(())
}

/// What looking at an instruction found.
pub(crate) enum Finding<T> {
    /// It is to be rewritten, and what is needed for that.
    Match(T),
    /// It looks like something the pass rewrites, but isn't, and why.
    Near(Cow<'static, str>),
    /// It is nothing the pass is about.
    Other,
}

impl<T> Finding<T> {
    /// A near miss.
    pub(crate) fn near(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Near(why.into())
    }

    /// The match; a near miss is reported.
    pub(crate) fn or_report(
        self,
        module: &Module,
        id: InstructionId,
        context: &mut PassContext<'_>,
    ) -> Option<T> {
        match self {
            Self::Match(found) => Some(found),
            Self::Near(why) => {
                context.missed(module, id, why);
                None
            }
            Self::Other => None,
        }
    }
}

/// Why an instruction with control edges stays.
pub(crate) const HAS_CONTROL_DEPENDENCIES: &str = "it has control dependencies, so it can't be replaced";
