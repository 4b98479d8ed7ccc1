//! One list of passes over one module: what came of it, whatever happened.

use hlo_passes::options::parse_pass_list;
use hlo_passes::pass::{Fuel, Place, Remark, RemarkKind, Resources};
use hlo_passes::pipeline::{ErrorKind, NoObserver, Selection};
use hlo_passes::registry::PassInfo;
use hlo_passes::verify::VerifyingObserver;
use hlo_passes::{PassContext, Pipeline};
use hlo_text::ir::InstructionId;
use hlo_text::{Module, VerifyOptions};

use super::world::World;
use crate::cli::exit;
use crate::opt::crash::{Reproducer, lossless, place_of};
use crate::opt::pipelines::expand_list;
use crate::panics;

/// What is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Passes as `--passes` takes them.
    pub(crate) passes: String,
    /// How many rewrites may happen; `None`: no limit.
    pub(crate) fuel: Option<u64>,
    /// The instruction that passes are asked about.
    pub(crate) about: Option<InstructionId>,
}

impl Request {
    /// All rewrites of `passes`.
    pub(crate) fn of(passes: impl Into<String>) -> Self {
        Self { passes: passes.into(), fuel: None, about: None }
    }

    /// The first `count` rewrites of `passes`.
    pub(crate) fn first(passes: impl Into<String>, count: u64) -> Self {
        Self { fuel: Some(count), ..Self::of(passes) }
    }
}

/// Why a run stopped.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The exit status of a command that ends with it.
    pub(crate) status: u8,
    /// What is wrong, without a final line break.
    pub(crate) message: String,
    /// What else is to be said, a line each.
    pub(crate) notes: Vec<String>,
    /// The option, in words, that a pass lacks if that is all.
    pub(crate) lacks: Option<String>,
    /// Why `passes` can't get through with the module, and the pass, if a test that shows it is to be written.
    reproduce: Option<(&'static str, &'static str)>,
}

impl Failure {
    fn new(status: u8, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), notes: Vec::new(), lacks: None, reproduce: None }
    }

    /// A wish that makes no sense.
    pub(crate) fn usage(message: &str) -> Self {
        Self::new(exit::USAGE, message)
    }

    /// All of it, for people.
    pub(crate) fn text(&self) -> String {
        let mut text = self.message.clone();
        for note in &self.notes {
            text.push('\n');
            text.push_str(note);
        }
        text
    }
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Run {
    /// The module afterwards.
    pub(crate) module: Module,
    /// Whether anything that prints changed.
    pub(crate) changed: bool,
    /// Rewrites that the passes made.
    pub(crate) rewrites: u64,
    /// Instructions before and after.
    pub(crate) instructions: (usize, usize),
    /// What the passes said of instructions.
    pub(crate) remarks: Vec<Remark>,
    /// What the original tools would log.
    pub(crate) log: Vec<String>,
}

impl Run {
    /// How many times the passes say why they leave something alone.
    pub(crate) fn missed_count(&self) -> usize {
        self.remarks.iter().filter(|remark| remark.kind == RemarkKind::Missed).count()
    }

    /// What the passes say they did.
    pub(crate) fn applied(&self) -> impl Iterator<Item = &Remark> {
        self.remarks.iter().filter(|remark| remark.kind == RemarkKind::Applied)
    }
}

/// The list of passes `text` names.
///
/// # Errors
/// It isn't a list, or names what isn't there.
pub(crate) fn pipeline(text: &str, world: &World) -> Result<Pipeline, Failure> {
    let usage = |message: String| Failure::new(exit::USAGE, message);
    let passes =
        parse_pass_list(text).and_then(|list| expand_list(list, &world.current_dir, world)).map_err(usage)?;
    if passes.is_empty() {
        return Err(usage("which pass? `hlo-opt --list-passes=long` shows them".to_owned()));
    }
    let selection = Selection { passes, ..Selection::default() };
    Pipeline::new(&selection).map_err(|error| {
        let status = if error.kind == ErrorKind::Request { exit::USAGE } else { exit::PASS };
        Failure::new(status, error.to_string())
    })
}

/// A pass with its options, and what follows it.
pub(crate) fn split_name(args: &str) -> (&str, &str) {
    let args = args.trim();
    let end = match (args.find('{'), args.find(char::is_whitespace)) {
        // Blanks may stand between options.
        (Some(open), blank) if blank.is_none_or(|blank| open < blank) => args.rfind('}').map(|at| at + 1),
        (_, blank) => blank,
    };
    let (passes, name) = args.split_at_checked(end.unwrap_or(args.len())).unwrap_or((args, ""));
    (passes.trim(), name.trim())
}

/// The row of the only pass that `text` names.
///
/// # Errors
/// As those of [`pipeline`]; or there are several.
pub(crate) fn single(text: &str, world: &World) -> Result<&'static PassInfo, Failure> {
    let (pass, rest) = split_name(text);
    if !rest.is_empty() && !pass.ends_with(',') && !rest.starts_with([',', '{']) {
        return Err(Failure::usage(&format!("one pass is taken, not `{rest}` behind `{pass}`")));
    }
    let pipeline = pipeline(text, world)?;
    let mut keys = pipeline.keys();
    match (keys.next().and_then(hlo_passes::registry::find), keys.next()) {
        (Some(info), None) => Ok(info),
        _ => Err(Failure::new(exit::USAGE, format!("`{text}` is more than one pass"))),
    }
}

/// Runs `request` over a copy of `module`. With `verifies`, every pass that changes the module has to leave a valid
/// one. A panic or an invalid module leaves a file that shows it again, if `world` says where.
///
/// # Errors
/// The passes can't be run to their end.
pub(crate) fn run(module: &Module, request: &Request, verifies: bool, world: &World) -> Result<Run, Failure> {
    let pipeline = pipeline(&request.passes, world)?;
    run_pipeline(module, &pipeline, request, verifies, world)
}

/// As [`run`], for a list of passes that has been looked up.
pub(crate) fn run_pipeline(
    module: &Module,
    pipeline: &Pipeline,
    request: &Request,
    verifies: bool,
    world: &World,
) -> Result<Run, Failure> {
    let resources: &dyn Resources = world;
    let mut context = PassContext {
        resources,
        fuel: Fuel { total: request.fuel, per_pass: Vec::new() },
        wants_remarks: true,
        asked_about: request.about,
        ..PassContext::default()
    };
    let mut after = module.clone();
    let mut broken = None;
    let result = panics::guard(|| {
        if !verifies {
            return pipeline.run(&mut after, &mut context, &mut NoObserver);
        }
        let mut nobody = NoObserver;
        let rules = VerifyOptions { check_comparison_types: false, ..VerifyOptions::default() };
        let mut observer = VerifyingObserver::new(rules, &mut nobody);
        let result = pipeline.run(&mut after, &mut context, &mut observer);
        broken = observer.broken;
        result
    });
    let changed = match result {
        Ok(Ok(changed)) => changed,
        Ok(Err(error)) => {
            let mut failure = Failure::new(exit::PASS, error.to_string());
            failure.lacks = error.error.lacks_option.then(|| error.error.message.clone());
            if let Some(broken) = broken {
                if let Some((_, text)) = &broken.instruction {
                    let before = broken.instruction_in(module);
                    let before = before.as_deref().unwrap_or("there was no such instruction");
                    failure.notes.push(format!("  before: {before}"));
                    failure.notes.push(format!("  after:  {text}"));
                }
                failure.reproduce = Some(("invalid", broken.pass));
            }
            return Err(reproduced(failure, module, request, world));
        }
        Err(message) => {
            let pass = context.pass;
            let mut failure = Failure::new(exit::CRASH, format!("pass {pass} panicked: {message}"));
            failure.notes.push(match place_of(&after, &context) {
                Some(Place { instruction, computation }) => {
                    format!("  at instruction `{instruction}` of computation `{computation}`")
                }
                None => "  before it came to an instruction".to_owned(),
            });
            failure.reproduce = Some(("crash", pass));
            return Err(reproduced(failure, module, request, world));
        }
    };
    Ok(Run {
        changed,
        rewrites: context.rewrites,
        instructions: (module.instruction_count(), after.instruction_count()),
        remarks: context.remarks,
        log: context.log,
        module: after,
    })
}

/// Writes the test that shows a failure again, and says where.
fn reproduced(mut failure: Failure, module: &Module, request: &Request, world: &World) -> Failure {
    if let (Some((kind, pass)), Some(folder)) = (failure.reproduce, world.reproducers()) {
        let text = lossless(module);
        let passes = &request.passes;
        let reproducer = Reproducer { kind, pass, passes, options: &[], text: text.as_bytes() };
        failure.notes.push(match reproducer.write(folder) {
            Ok(command) => format!("  reproducer: {command}"),
            Err(message) => format!("  {message}"),
        });
    }
    failure
}

#[cfg(test)]
mod tests {
    use hlo_passes::{Editor, Pass, PassResult, registry};
    use hlo_text::ir::{ElementType, Opcode};

    use super::*;

    /// Gives the root another shape.
    struct Breaks;

    impl Pass for Breaks {
        fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
            let root = edit.computation(edit.entry()).root;
            if context.may_rewrite(edit, root) {
                let shape = edit.array_shape(ElementType::F32, &[3]);
                edit.set_shape(root, shape);
            }
            Ok(())
        }
    }

    /// Panics at the root.
    struct Panics;

    impl Pass for Panics {
        fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
            let root = edit.computation(edit.entry()).root;
            assert!(!context.may_rewrite(edit, root), "no way back");
            Ok(())
        }
    }

    const MODULE: &str =
        "HloModule m\n\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT n = f32[2] negate(p)\n}\n";

    fn outcome(
        pass: Box<dyn Pass>,
        verifies: bool,
        fuel: Option<u64>,
    ) -> (Result<Run, Failure>, Vec<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        let world = World { scratch_dir: Some(folder.path().to_owned()), ..World::default() };
        let module: Module = hlo_text::parse(MODULE).expect("HLO");
        let pipeline = Pipeline::of_passes([(registry::find("stub").expect("a key"), pass)]);
        let request = Request { fuel, ..Request::of("stub") };
        let result = run_pipeline(&module, &pipeline, &request, verifies, &world);
        assert_eq!(module.instruction(module.computation(module.entry()).root).opcode, Opcode::Negate);
        let files = std::fs::read_dir(folder.path()).expect("the folder");
        let text = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path()).expect("a file");
        (result, files.map(|entry| text(entry.expect("an entry"))).collect())
    }

    #[test]
    fn passes_that_panic_leave_a_test_that_shows_it() {
        let (result, files) = outcome(Box::new(Panics), true, None);
        let failure = result.expect_err("it panics");
        let text = failure.text();
        assert_eq!(failure.status, exit::CRASH);
        assert!(text.starts_with("pass stub panicked: no way back (at "), "{text}");
        assert!(text.contains("at instruction `n` of computation `e`\n  reproducer: hlo-opt "), "{text}");
        assert_eq!(files.len(), 1);
        assert!(files[0].starts_with("// RUN: hlo-opt %s --passes=stub\nHloModule m"), "{}", files[0]);
    }

    #[test]
    fn passes_that_leave_invalid_modules_leave_a_test_that_shows_it() {
        let (result, files) = outcome(Box::new(Breaks), true, None);
        let failure = result.expect_err("the module is invalid");
        let text = failure.text();
        assert_eq!(failure.status, exit::PASS);
        assert!(text.contains("the pass left an invalid module"), "{text}");
        assert!(text.contains("before: %n = f32[2]{0} negate(%p)"), "{text}");
        assert!(text.contains("after:  %n = f32[3]{0} negate(%p)"), "{text}");
        assert!(text.contains("  reproducer: hlo-opt ") && files.len() == 1, "{text}");
        // The module as it was before.
        assert!(files[0].contains("f32[2]{0} negate(%p)"), "{}", files[0]);
    }

    #[test]
    fn nobody_is_held_to_leave_valid_modules_that_got_invalid_ones() {
        let (result, files) = outcome(Box::new(Breaks), false, None);
        assert!(result.expect("it runs").changed && files.is_empty());
    }

    #[test]
    fn passes_stop_without_fuel() {
        for pass in [Box::new(Breaks) as Box<dyn Pass>, Box::new(Panics)] {
            let (result, files) = outcome(pass, true, Some(0));
            let run = result.expect("it runs");
            assert!(!run.changed && run.rewrites == 0 && files.is_empty());
        }
    }
}
