//! What is lost on the way from one form of a module to another.

use hlo_text::Module;
use hlo_text::diagnostic::Diagnostic;
use hlo_text::proto::{self, Encoding, Source};

use crate::input::Format;
use crate::output::{self, OutputOptions};

/// What the output that `options` describe doesn't carry of `module`, which came from `source` if that is a protocol
/// buffer. Without `verify` only what no form of that kind has a place for, so that nothing is written twice.
pub(crate) fn losses(
    module: &Module,
    source: Option<&Source<'_>>,
    options: &OutputOptions,
    verify: bool,
) -> Vec<Diagnostic> {
    let Format::Proto(encoding) = options.format else {
        return match source {
            Some(source) if verify => proto::lost_in_text(module, source, &options.print),
            _ => Vec::new(),
        };
    };
    let mut found = match source {
        None if verify => proto::lost_in_proto(module),
        None => proto::without_field(module),
        Some(source) if verify && !options.keep_container => proto::lost_container(source),
        Some(_) => Vec::new(),
    };
    if verify
        && encoding == Encoding::Text
        && let Ok((bytes, container, _)) = output::message(module, source, options)
    {
        found.extend(proto::lost_in_text_format(&bytes, container));
    }
    found
}
