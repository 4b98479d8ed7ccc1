//! One module on its way through `hlo-opt`.

use std::borrow::Cow;
use std::io;

use hlo_passes::Pipeline;
use hlo_passes::pipeline::NoObserver;
use hlo_text::diagnostic::{Severity, Source};
use hlo_text::parse_bytes;

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
        let mut module = parsed.module;
        let mut context = arguments.context(resources);
        let result = panics::guard(|| pipeline.run(&mut module, &mut context, &mut NoObserver));
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
            return Ok(exit::PASS);
        }
        module.write_to(&mut *streams.out, &arguments.print)?;
        Ok(0)
    }
}

impl ErrorFormat {
    /// Whether messages are for programs.
    pub(super) fn is_json(self) -> bool {
        self == Self::Json
    }
}
