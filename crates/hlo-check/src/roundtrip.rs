//! What is lost on the way from one form of a module to another.

use hlo_text::Module;
use hlo_text::diagnostic::Diagnostic;
use hlo_text::proto::{self, Source};

use crate::input::Format;
use crate::output::OutputOptions;

/// What the output that `options` describe doesn't carry of `module`, which came from `source` if that is a protocol
/// buffer.
pub(crate) fn losses(
    module: &Module,
    source: Option<&Source<'_>>,
    options: &OutputOptions,
) -> Vec<Diagnostic> {
    match (options.format, source) {
        (Format::Hlo, Some(source)) => proto::lost_in_text(module, source, &options.print),
        (Format::Hlo, None) => Vec::new(),
        (Format::Proto(_), Some(source)) if !options.keep_container => proto::lost_container(source),
        (Format::Proto(_), Some(_)) => Vec::new(),
        (Format::Proto(_), None) => proto::lost_in_proto(module),
    }
}
