//! One module on its way through `hlo-opt`.

use std::io;
use std::time::Instant;

use hlo_passes::fixpoint::{self, Fixpoint};
use hlo_passes::pass::{Remark, Resources};
use hlo_passes::pipeline::{NoObserver, Observer, PipelineError};
use hlo_passes::verify::{BrokenModule, VerifyingObserver};
use hlo_passes::{PassContext, Pipeline};
use hlo_text::diagnostic::{Code, Source};
use hlo_text::{Module, VerifyOptions, Violation, verify};

use super::arguments::{Arguments, ErrorFormat};
use super::crash::{Crash, Reproduced};
use super::resources::FileResources;
use super::split::ends_case;
use super::watch::Watcher;
use super::{Streams, complain};
use crate::cli::exit;
use crate::input::{self, Format, Input, Refused};
use crate::{output, panics, roundtrip};

/// What the verifier says of the input.
#[derive(Clone, Copy)]
enum Verdict {
    Valid,
    /// All that is wrong with it is the type of comparisons.
    ComparisonTypes,
    Invalid,
}

/// A text that holds one module.
#[derive(Clone, Copy)]
pub(super) struct Unit<'b> {
    /// The file it is from.
    pub(super) name: &'b str,
    /// Where it begins in that file.
    pub(super) first_line: usize,
    pub(super) bytes: &'b [u8],
}

impl<'b> Unit<'b> {
    /// Reads it, runs the passes, prints it; the exit status, or the error of a stream.
    pub(super) fn run(
        self,
        arguments: &Arguments,
        pipeline: &Pipeline,
        resources: &FileResources<'_>,
        streams: &mut Streams<'_>,
    ) -> io::Result<u8> {
        let format = arguments.error_format;
        let begun = Instant::now();
        let parsed = match self.read(arguments) {
            Ok(parsed) => parsed,
            Err(mut refused) => {
                crate::pasted::advise(&mut refused.diagnostics, self.bytes, arguments.input_name());
                if let Some(first) = refused.diagnostics.first_mut()
                    && ends_case(self.bytes, first.primary.span.start as usize)
                {
                    first.help =
                        Some("--split-input-file reads what lines `// -----` divide one by one".to_owned());
                }
                let source = self.place(refused.source(self.name));
                for diagnostic in &refused.diagnostics {
                    complain::diagnostic(diagnostic, source, format, streams)?;
                }
                return Ok(exit::PARSE);
            }
        };
        if !parsed.warnings.is_empty() {
            let source = self.place(parsed.source(self.name));
            complain::diagnostics(&parsed.warnings, source, arguments, streams)?;
            if arguments.warnings_are_errors {
                return Ok(exit::PARSE);
            }
        }
        let parsing = begun.elapsed();
        let begun = Instant::now();
        let mut rules = arguments.verify;
        if !arguments.no_verify {
            match self.report_violations(&parsed, arguments, streams)? {
                Verdict::Valid => {}
                Verdict::ComparisonTypes => rules.check_comparison_types = false,
                Verdict::Invalid => return Ok(exit::VERIFY),
            }
        }
        let Input { mut module, proto, .. } = parsed;
        let first_new = module.literal_id_limit();
        let mut context = arguments.context(resources);
        let mut watcher =
            Watcher::new(arguments, pipeline, resources.current_dir, self.first_line, &mut *streams.err);
        watcher.phase("parse", parsing);
        if !arguments.no_verify {
            watcher.phase("verify", begun.elapsed());
        }
        if let Err(message) = watcher.begin(&module) {
            writeln!(streams.err, "error: {message}")?;
            return Ok(exit::USAGE);
        }
        let mut broken = None;
        let result = panics::guard(|| {
            if arguments.no_verify {
                return run_passes(arguments, pipeline, &mut module, &mut context, &mut watcher);
            }
            let mut verifying = VerifyingObserver::new(rules, &mut watcher);
            let result = run_passes(arguments, pipeline, &mut module, &mut context, &mut verifying);
            broken = verifying.broken;
            result
        });
        let begun = Instant::now();
        let is_good = matches!(&result, Ok(Ok(end)) if end.as_ref().is_none_or(|end| end.end.is_stable()));
        let output = arguments.output_options();
        let prepare = || output::prepare(&module, proto.as_ref(), &output);
        let mut prepared = None;
        if arguments.watch.timing.is_some() && is_good {
            prepared = Some(match prepare() {
                Ok((prepared, warnings)) => Ok((prepared.in_memory()?, warnings)),
                Err(error) => Err(error),
            });
            watcher.phase("print", begun.elapsed());
        }
        watcher.finish()?;
        let mut is_refused = false;
        for line in &context.log {
            match line.strip_prefix("warning: ").filter(|_| arguments.warnings_are_errors) {
                Some(warning) => {
                    is_refused = true;
                    writeln!(streams.err, "error: {warning} (without `--Werror` this is a warning)")?;
                }
                None => writeln!(streams.err, "{line}")?,
            }
        }
        let shown = |remark: &&Remark| {
            arguments.remark_passes.is_empty() || arguments.remark_passes.iter().any(|key| key == remark.pass)
        };
        for remark in context.remarks.iter().filter(shown) {
            complain::remark(remark, format, streams.err)?;
        }
        let end = match result {
            Ok(Ok(end)) => end,
            Ok(Err(error)) => {
                complain::pipeline(&error, format, streams.err)?;
                if let Some(broken) = broken {
                    let before = self.before_pass(&broken, arguments, pipeline, resources);
                    complain::broken(&broken, before.as_deref(), format, streams.err)?;
                    let unit = Reproduced { arguments, pipeline, resources, bytes: self.bytes };
                    let reproducer = unit.write("invalid", broken.pass, broken.runs);
                    complain::reproducer(&reproducer, format, streams.err)?;
                }
                let is_usage = error.error.is_bad_option || error.error.lacks_option;
                return Ok(if is_usage { exit::USAGE } else { exit::PASS });
            }
            Err(message) => {
                let crash = Crash { message, module: &module, context: &context, pipeline };
                crash.report(arguments, self.bytes, resources, streams.err)?;
                return Ok(exit::CRASH);
            }
        };
        if let Some(end) = end {
            complain::fixpoint(&end, format, streams.err)?;
            if !end.end.is_stable() {
                return Ok(exit::PASS);
            }
        }
        if is_refused {
            return Ok(exit::PASS);
        }
        if output.format == Format::Hlo {
            complain::left_out(&module, first_new, &output.print, format, streams.err)?;
        }
        let nowhere = Source::without_text(self.name);
        let (prepared, mut warnings) = match prepared.unwrap_or_else(prepare) {
            Ok(prepared) => prepared,
            Err(error) => {
                complain::diagnostic(&error, nowhere, format, streams)?;
                return Ok(exit::USAGE);
            }
        };
        warnings.extend(roundtrip::losses(&module, proto.as_ref(), &output, arguments.verify_roundtrip));
        if arguments.warnings_are_errors && !warnings.is_empty() {
            complain::diagnostics(&warnings, nowhere, arguments, streams)?;
            return Ok(exit::PASS);
        }
        prepared.write_to(&mut *streams.out)?;
        complain::diagnostics(&warnings, nowhere, arguments, streams)?;
        Ok(0)
    }

    /// Reads the module.
    pub(super) fn read(self, arguments: &Arguments) -> Result<Input<'b>, Refused<'b>> {
        input::read(self.bytes, arguments.format, &arguments.parse)
    }

    /// The source where it is in the file.
    fn place<'t>(&self, source: Source<'t>) -> Source<'t> {
        match source.first_line {
            0 => source,
            _ => source.starting_at(self.first_line),
        }
    }

    /// Says which rules the input breaks. That comparisons are of a type that doesn't fit what they compare is a warning:
    /// `legalize-compare` is for such modules.
    fn report_violations(
        self,
        parsed: &Input<'_>,
        arguments: &Arguments,
        streams: &mut Streams<'_>,
    ) -> io::Result<Verdict> {
        let rules = VerifyOptions { check_comparison_types: false, ..arguments.verify };
        let mut violations = verify(&parsed.module, &rules);
        violations.retain(|violation| violation.is_error() || violation.code == Code::ComparisonType);
        if violations.is_empty() {
            return Ok(Verdict::Valid);
        }
        let is_valid = !violations.iter().any(Violation::is_error);
        let source = self.place(parsed.source(self.name));
        let diagnostics: Vec<_> = violations.iter().map(|violation| parsed.diagnostic(violation)).collect();
        complain::diagnostics(&diagnostics, source, arguments, streams)?;
        if is_valid && !arguments.warnings_are_errors {
            return Ok(Verdict::ComparisonTypes);
        }
        if arguments.error_format == ErrorFormat::Human {
            writeln!(streams.err, "note: --no-verify leaves out these checks")?;
        }
        Ok(Verdict::Invalid)
    }

    /// The instruction that a pass broke, as it was before that pass. Nothing is kept of the modules between passes:
    /// the passes before it run once more.
    fn before_pass(
        self,
        broken: &BrokenModule,
        arguments: &Arguments,
        pipeline: &Pipeline,
        resources: &dyn Resources,
    ) -> Option<String> {
        broken.instruction.as_ref()?;
        let mut module = self.read(arguments).ok()?.module;
        let mut context = arguments.context(resources);
        // The pipeline may have run more than once.
        let length = pipeline.keys().count().max(1);
        for _ in 0..broken.runs / length {
            pipeline.run(&mut module, &mut context, &mut NoObserver).ok()?;
        }
        pipeline.run_first(broken.runs % length, &mut module, &mut context, &mut NoObserver).ok()?;
        broken.instruction_in(&module)
    }
}

/// Runs the passes once, or until they change nothing more.
fn run_passes(
    arguments: &Arguments,
    pipeline: &Pipeline,
    module: &mut Module,
    context: &mut PassContext<'_>,
    observer: &mut dyn Observer,
) -> Result<Option<Fixpoint>, PipelineError> {
    match arguments.fixpoint {
        None => pipeline.run(module, context, observer).map(|_| None),
        Some(limit) => fixpoint::run(pipeline, module, context, observer, limit).map(Some),
    }
}

impl ErrorFormat {
    /// Whether messages are for programs.
    pub(super) fn is_json(self) -> bool {
        self == Self::Json
    }
}
