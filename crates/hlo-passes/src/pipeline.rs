//! Runs passes by name, in the caller's order.

use std::sync::atomic::{AtomicBool, Ordering};

use hlo_text::Module;

use crate::edit::{EditCounts, Editor};
use crate::hash::ExactHasher;
use crate::options::{GlobalOption, OptionValues, PassRequest};
use crate::pass::{Pass, PassContext, PassError, PassResult};
use crate::registry::codes::{ADDED_AFTER_RUN, NOT_FOUND, coded_error};
use crate::registry::{self, PassInfo, Status};

/// Which passes run: what `--passes`, `--skip-pass` and their XLA spellings say.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The passes in the order they run; a pass may be there more than once.
    pub passes: Vec<PassRequest>,
    /// Keys that don't run, whatever the list says.
    pub skip: Vec<String>,
    /// Nothing runs.
    pub disable_all: bool,
    /// Options for all passes that they are for and that aren't given others, with their texts. Of several that set
    /// the same the last counts.
    pub options: Vec<(&'static GlobalOption, String)>,
}

/// An error of the driver, in its words.
pub fn driver_error(code: &'static str) -> PipelineError {
    request_error(PassError::new(coded_error(code).map_or("", |error| error.text)).code(code))
}

fn request_error(error: PassError) -> PipelineError {
    PipelineError { pass: None, kind: ErrorKind::Request, error }
}

/// What came of one pass.
#[derive(Clone, Debug)]
pub struct PassOutcome {
    /// The pass.
    pub info: &'static PassInfo,
    /// Whether anything that prints changed.
    pub changed: bool,
    /// Instructions that came and went.
    pub counts: EditCounts,
}

/// Who watches a pipeline: clocks, dumps, verifiers. Every method may do nothing.
pub trait Observer {
    /// A pass is about to run.
    ///
    /// # Errors
    /// The pipeline must stop.
    fn before_pass(&mut self, _index: usize, _info: &'static PassInfo, _module: &Module) -> PassResult<()> {
        Ok(())
    }

    /// A pass has run, successfully.
    ///
    /// # Errors
    /// The pipeline must stop: the module is not as it should be.
    fn after_pass(&mut self, _index: usize, _outcome: &PassOutcome, _module: &Module) -> PassResult<()> {
        Ok(())
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

struct Step {
    info: &'static PassInfo,
    /// As it was asked for.
    request: PassRequest,
    pass: Box<dyn Pass>,
    options: OptionValues,
}

/// Whose fault it is that a pipeline stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// What is asked for makes no sense: a pass or an option that doesn't exist, a value of another type.
    Request,
    /// The pass is known, but not there.
    Unimplemented,
    /// A pass or the observer failed.
    Failed,
}

/// Why a pipeline stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineError {
    /// The pass that failed, and its place in the list.
    pub pass: Option<(usize, &'static str)>,
    /// Whose fault it is.
    pub kind: ErrorKind,
    /// What is wrong.
    pub error: PassError,
}

impl std::fmt::Display for PipelineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.pass {
            Some((_, key)) => write!(f, "{key}: {}", self.error),
            // The code is the driver's, which words these otherwise.
            None => f.write_str(&self.error.message),
        }
    }
}

impl std::error::Error for PipelineError {}

/// A list of passes, ready to run.
pub struct Pipeline {
    steps: Vec<Step>,
    skipped: Vec<&'static str>,
    has_run: AtomicBool,
}

impl Pipeline {
    /// The pipeline `selection` describes. Every key of the list is looked up, also those that are skipped.
    ///
    /// # Errors
    /// A key is not in the registry, its pass is not implemented, or it doesn't take the options given.
    pub fn new(selection: &Selection) -> Result<Self, PipelineError> {
        let mut pipeline = Self::of_passes([]);
        for name in &selection.skip {
            // Passes of XLA that aren't here don't run in any case.
            if registry::find(name).is_none() && !registry::is_stock_name(name) {
                return Err(unknown_pass(name));
            }
        }
        for request in &selection.passes {
            let info = registry::find(&request.key).ok_or_else(|| unknown_pass(&request.key))?;
            if selection.disable_all || selection.skip.contains(&request.key) {
                pipeline.skipped.push(info.key);
                continue;
            }
            let mut request = request.clone();
            for (global, text) in selection.options.iter().rev() {
                let is_given = request.options.iter().any(|(name, _)| name == global.option);
                if !is_given && global.is_for(info.key, info.options) {
                    request.options.push((global.option.to_owned(), text.clone()));
                }
            }
            pipeline.add(&request)?;
        }
        Ok(pipeline)
    }

    /// Puts a pass at the end.
    ///
    /// # Errors
    /// The key is not in the registry, its pass is not implemented, it doesn't take the options given, or the
    /// pipeline has run already.
    pub fn add(&mut self, request: &PassRequest) -> Result<(), PipelineError> {
        if *self.has_run.get_mut() {
            return Err(driver_error(ADDED_AFTER_RUN));
        }
        let info = registry::find(&request.key).ok_or_else(|| unknown_pass(&request.key))?;
        let index = self.steps.len();
        let failed = |kind, message| PipelineError {
            pass: Some((index, info.key)),
            kind,
            error: PassError::new(message),
        };
        let pass = match info.status {
            Status::Implemented(make) => make(),
            Status::Identity(_) => Box::new(Identity),
            Status::Unimplemented(reason) => {
                let message = format!("this pass is not implemented: {reason}");
                return Err(failed(ErrorKind::Unimplemented, message));
            }
        };
        let options = OptionValues::resolve(info.options, &request.options)
            .map_err(|message| failed(ErrorKind::Request, message))?;
        self.steps.push(Step { info, request: request.clone(), pass, options });
        Ok(())
    }

    /// A pipeline of passes that need not be in the registry, with the defaults of their options.
    pub fn of_passes(passes: impl IntoIterator<Item = (&'static PassInfo, Box<dyn Pass>)>) -> Self {
        let step = |(info, pass): (&'static PassInfo, _)| {
            // Defaults are values of their own types.
            let options = OptionValues::resolve(info.options, &[]).unwrap_or_default();
            let request = PassRequest { key: info.key.to_owned(), options: Vec::new() };
            Step { info, request, pass, options }
        };
        Self {
            steps: passes.into_iter().map(step).collect(),
            skipped: Vec::new(),
            has_run: AtomicBool::new(false),
        }
    }

    /// The passes at these places, as `--passes` takes them; what lies beyond the end is left out.
    pub fn list(&self, places: std::ops::Range<usize>) -> String {
        let steps = self.steps.iter().take(places.end).skip(places.start);
        steps.map(|step| step.request.to_string()).collect::<Vec<_>>().join(",")
    }

    /// The keys that run, in order.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.steps.iter().map(|step| step.info.key)
    }

    /// Runs all passes and says whether anything that prints changed.
    ///
    /// # Errors
    /// A pass or the observer failed; the module may have been changed.
    pub fn run(
        &self,
        module: &mut Module,
        context: &mut PassContext<'_>,
        observer: &mut dyn Observer,
    ) -> Result<bool, PipelineError> {
        self.run_first(usize::MAX, module, context, observer)
    }

    /// Runs the first `count` passes, like [`Pipeline::run`].
    ///
    /// # Errors
    /// As [`Pipeline::run`].
    pub fn run_first(
        &self,
        count: usize,
        module: &mut Module,
        context: &mut PassContext<'_>,
        observer: &mut dyn Observer,
    ) -> Result<bool, PipelineError> {
        self.has_run.store(true, Ordering::Relaxed);
        for key in &self.skipped {
            context.log.push(format!("Skipping pass: {key}"));
        }
        let mut hasher = ExactHasher::default();
        let mut editor = Editor::new(module);
        let first = (!self.steps.is_empty()).then(|| hasher.hash(&editor));
        let mut before = first;
        for (index, step) in self.steps.iter().enumerate().take(count) {
            let failed =
                |error| PipelineError { pass: Some((index, step.info.key)), kind: ErrorKind::Failed, error };
            observer.before_pass(index, step.info, &editor).map_err(failed)?;
            context.pass = step.info.key;
            context.index = index;
            context.current = None;
            context.options = step.options.clone();
            editor.reset_counts();
            let remarks = context.remarks.len();
            let result = step.pass.run(&mut editor, context);
            editor.compact();
            if result.is_err() {
                context.withdraw_applied(remarks);
            }
            result.map_err(failed)?;
            let after = if editor.is_touched() { Some(hasher.hash(&editor)) } else { before };
            let outcome =
                PassOutcome { info: step.info, changed: after != before, counts: editor.counts().clone() };
            before = after;
            observer.after_pass(index, &outcome, &editor).map_err(failed)?;
        }
        Ok(before != first)
    }
}

/// The error for a key that isn't in the registry: XLA's sentence, and what was meant.
fn unknown_pass(name: &str) -> PipelineError {
    let mut message = format!("Pass {name} not found.");
    if name.starts_with('@') {
        message.push_str(" Pipelines stand in lists of passes to run only.");
    } else if let Some(close) = registry::nearest(name) {
        message.push_str(&format!(" Did you mean `{close}`?"));
    }
    request_error(PassError::new(message).code(NOT_FOUND))
}

/// Changes nothing, by design.
struct Identity;

impl Pass for Identity {
    fn run(&self, _edit: &mut Editor<'_>, _context: &mut PassContext<'_>) -> PassResult<()> {
        Ok(())
    }
}
