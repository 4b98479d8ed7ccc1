//! One module on its way through `hlo-opt`.

use std::borrow::Cow;
use std::io;

use hlo_passes::pipeline::{NoObserver, Observer};
use hlo_passes::verify::{BrokenModule, VerifyingObserver};
use hlo_passes::{PassContext, Pipeline};
use hlo_text::diagnostic::{Severity, Source};
use hlo_text::{Parsed, PrintOptions, Violation, parse_bytes, verify};

use super::arguments::{Arguments, ErrorFormat};
use super::crash::Crash;
use super::resources::FileResources;
use super::{Streams, complain};
use crate::cli::exit;
use crate::panics;

/// A text that holds one module.
#[derive(Clone, Copy)]
pub(super) struct Unit<'b> {
    /// The file it is from.
    pub(super) name: &'b str,
    /// Where it begins in that file.
    pub(super) first_line: usize,
    pub(super) bytes: &'b [u8],
}

impl Unit<'_> {
    /// Reads it, runs the passes, prints it; the exit status, or the error of a stream.
    pub(super) fn run(
        self,
        arguments: &Arguments,
        pipeline: &Pipeline,
        resources: &FileResources<'_>,
        streams: &mut Streams<'_>,
    ) -> io::Result<u8> {
        let format = arguments.error_format;
        let source = |text| Source::new(self.name, text).starting_at(self.first_line);
        let parsed = match parse_bytes(self.bytes, &arguments.parse) {
            Ok(parsed) => parsed,
            Err(rejected) => {
                let source = source(&rejected.text);
                for diagnostic in &rejected.diagnostics {
                    complain::diagnostic(diagnostic, source, format, streams)?;
                }
                return Ok(exit::PARSE);
            }
        };
        if !parsed.warnings.is_empty() {
            // The bytes have just been read as text.
            let text: Cow<'_, str> = String::from_utf8_lossy(self.bytes);
            for warning in &parsed.warnings {
                let mut warning = Cow::Borrowed(warning);
                if arguments.warnings_are_errors {
                    warning.to_mut().severity = Severity::Error;
                }
                complain::diagnostic(&warning, source(&text), format, streams)?;
            }
            if arguments.warnings_are_errors {
                return Ok(exit::PARSE);
            }
        }
        if !arguments.no_verify && self.report_violations(&parsed, arguments, streams)? {
            return Ok(exit::VERIFY);
        }
        let mut module = parsed.module;
        let mut context = PassContext { resources, ..arguments.context() };
        let (mut nobody, mut inner) = (NoObserver, NoObserver);
        let mut verifying = VerifyingObserver::new(arguments.verify, &mut inner);
        let observer: &mut dyn Observer = if arguments.no_verify { &mut nobody } else { &mut verifying };
        let result = panics::guard(|| pipeline.run(&mut module, &mut context, observer));
        let result = match result {
            Ok(result) => result,
            Err(message) => {
                let crash = Crash { message, module: &module, context: &context, pipeline };
                crash.report(arguments, self.bytes, resources, streams.err)?;
                return Ok(exit::CRASH);
            }
        };
        for line in &context.log {
            writeln!(streams.err, "{line}")?;
        }
        for remark in &context.remarks {
            complain::remark(remark, format, streams.err)?;
        }
        if let Err(error) = result {
            complain::pipeline(&error, format, streams.err)?;
            if let Some(broken) = verifying.broken {
                let before = self.before_pass(&broken, arguments, pipeline, resources);
                complain::broken(&broken, before.as_deref(), format, streams.err)?;
            }
            return Ok(exit::PASS);
        }
        module.write_to(&mut *streams.out, &arguments.print)?;
        Ok(0)
    }

    /// Says which rules the input breaks; whether it can't be used.
    fn report_violations(
        self,
        parsed: &Parsed,
        arguments: &Arguments,
        streams: &mut Streams<'_>,
    ) -> io::Result<bool> {
        let mut violations = verify(&parsed.module, &arguments.verify);
        violations.retain(Violation::is_error);
        if violations.is_empty() {
            return Ok(false);
        }
        let text = String::from_utf8_lossy(self.bytes);
        let source = Source::new(self.name, &text).starting_at(self.first_line);
        for violation in &violations {
            let diagnostic = violation.diagnostic(&parsed.source_map);
            complain::diagnostic(&diagnostic, source, arguments.error_format, streams)?;
        }
        if arguments.error_format == ErrorFormat::Human {
            writeln!(streams.err, "note: --no-verify leaves out these checks")?;
        }
        Ok(true)
    }

    /// The instruction that a pass broke, as it was before that pass. Nothing is kept of the modules between passes:
    /// the passes before it run once more.
    fn before_pass(
        self,
        broken: &BrokenModule,
        arguments: &Arguments,
        pipeline: &Pipeline,
        resources: &FileResources<'_>,
    ) -> Option<String> {
        let (id, _) = broken.instruction.as_ref()?;
        let mut module = parse_bytes(self.bytes, &arguments.parse).ok()?.module;
        let mut context = PassContext { resources, ..arguments.context() };
        pipeline.run_first(broken.index, &mut module, &mut context, &mut NoObserver).ok()?;
        let is_there = id.index() < module.instruction_id_limit() && !module.is_removed(*id);
        is_there.then(|| module.print_instruction(*id, &PrintOptions::default()))
    }
}

impl ErrorFormat {
    /// Whether messages are for programs.
    pub(super) fn is_json(self) -> bool {
        self == Self::Json
    }
}
