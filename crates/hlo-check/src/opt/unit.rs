//! One module on its way through `hlo-opt`.

use std::borrow::Cow;
use std::io;
use std::time::Instant;

use hlo_passes::Pipeline;
use hlo_passes::fixpoint;
use hlo_passes::pass::Remark;
use hlo_text::diagnostic::{Severity, Source};
use hlo_text::parse_bytes;

use super::arguments::{Arguments, ErrorFormat};
use super::crash::Crash;
use super::resources::FileResources;
use super::watch::Watcher;
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
        let begun = Instant::now();
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
        let mut module = parsed.module;
        let mut context = arguments.context(resources);
        let mut watcher =
            Watcher::new(arguments, pipeline, resources.current_dir, self.first_line, &mut *streams.err);
        watcher.phase("parse", begun.elapsed());
        if let Err(message) = watcher.begin(&module) {
            writeln!(streams.err, "error: {message}")?;
            return Ok(exit::USAGE);
        }
        let result = panics::guard(|| match arguments.fixpoint {
            None => pipeline.run(&mut module, &mut context, &mut watcher).map(|_| None),
            Some(limit) => fixpoint::run(pipeline, &mut module, &mut context, &mut watcher, limit).map(Some),
        });
        let begun = Instant::now();
        let mut text = Vec::new();
        // Only a print that is timed is kept in memory.
        let is_timed = arguments.watch.timing.is_some();
        let is_good = matches!(&result, Ok(Ok(end)) if end.as_ref().is_none_or(|end| end.end.is_stable()));
        if is_timed && is_good {
            module.write_to(&mut text, &arguments.print)?;
            watcher.phase("print", begun.elapsed());
        }
        watcher.finish()?;
        for line in &context.log {
            writeln!(streams.err, "{line}")?;
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
                return Ok(exit::PASS);
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
        if is_timed {
            streams.out.write_all(&text)?;
        } else {
            module.write_to(&mut *streams.out, &arguments.print)?;
        }
        Ok(0)
    }
}

impl ErrorFormat {
    /// Whether messages are for programs.
    pub(super) fn is_json(self) -> bool {
        self == Self::Json
    }
}
