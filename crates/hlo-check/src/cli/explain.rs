//! `hlo-check explain CODE|KEY`.

use std::io::{self, Write};
use std::process::ExitCode;

use super::exit;

/// Explains a diagnostic code or a pass.
pub(super) fn run(command: &str, args: Vec<String>) -> ExitCode {
    let [topic] = &args[..] else {
        eprintln!(
            "usage: {command} CODE|PASS\n\nCODE is a diagnostic's, HLO0001 and so on; `all` explains every one."
        );
        return ExitCode::from(exit::USAGE);
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let status = crate::explain::run(topic, &mut out, &mut io::stderr());
    match status.and_then(|status| out.flush().map(|()| status)) {
        Ok(status) => ExitCode::from(status),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(exit::USAGE)
        }
    }
}
