//! `hlo-check PATH...`: runs tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use hlo_text::diagnostic::did_you_mean;

use super::Streams;
use crate::lit;

/// Runs lit tests in this process: `hlo-check lit-tests/`.
#[derive(Parser)]
#[command(name = "hlo-check", version, after_help = super::subcommand_help())]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) lit: lit::cli::Options,

    /// Write the generated CHECK lines of failing tests anew
    #[arg(long, help_heading = "Execution", conflicts_with = "watch")]
    pub(super) update: bool,
}

/// Runs the tests `args` (the program's own name first) asks for.
pub(super) fn run(args: Vec<OsString>) -> ExitCode {
    let arguments = match lit::cli::arguments(args.into_iter(), std::env::var("LIT_OPTS").ok()) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(lit::cli::USAGE);
        }
    };
    let cli = Cli::parse_from(arguments);
    for hint in hints(&cli.lit.paths, Path::new("")) {
        eprintln!("{hint}");
    }
    let status = lit::run_all(&cli.lit, &crate::host()).and_then(|run| {
        if !cli.update {
            return Ok(run.status);
        }
        let mut out = std::io::stdout();
        let mut err = std::io::stderr();
        let mut streams = Streams { color: false, ..Streams::of_process(&[], &mut out, &mut err) };
        update_failing(&run, &mut streams)
    });
    match status {
        Ok(status) => ExitCode::from(status),
        // Nobody reads on: nothing to say, and nobody to say it to.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(lit::cli::USAGE)
        }
    }
}

/// Updates the tests of a run that failed; gives the exit status, which is that of the run unless all are mended.
pub(super) fn update_failing(run: &lit::run::Run, streams: &mut Streams<'_>) -> std::io::Result<u8> {
    let failing = run.outcomes.iter().filter(|(_, result)| result.code.is_failure());
    let failing: Vec<_> = failing.map(|(test, _)| test.clone()).collect();
    if failing.is_empty() {
        return Ok(run.status);
    }
    let updated = super::update::failing(&failing, streams)?;
    Ok(if updated == failing.len() { 0 } else { run.status })
}

/// What was probably meant by paths that aren't there: subcommands (by the first) or their neighbours.
pub(super) fn hints(paths: &[PathBuf], current_dir: &Path) -> Vec<String> {
    let hint = |(index, path): (usize, &PathBuf)| {
        let path = current_dir.join(path);
        if path.exists() {
            return None;
        }
        let name = path.file_name()?.to_str()?;
        let folder = path.parent()?;
        let subcommands = super::SUBCOMMANDS.iter().filter(|_| index == 0 && folder == current_dir);
        let is_first = index == 0 && folder == current_dir;
        if is_first && crate::debug::commands::find(name).is_some_and(|command| command.name == name) {
            return Some(format!(
                "note: there is no '{name}'; `{name}` is a command at the prompt of `hlo-check debug`"
            ));
        }
        let subcommands = subcommands.filter(|subcommand| subcommand.summary.is_some());
        if let Some(close) = did_you_mean(name, subcommands.map(|subcommand| subcommand.name)) {
            return Some(format!("note: there is no '{name}'; did you mean the subcommand `{close}`?"));
        }
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = std::fs::read_dir(here).ok()?;
        let mut neighbours: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        neighbours.sort_unstable();
        let close = did_you_mean(name, neighbours.iter().map(String::as_str))?;
        let (absent, present) = (path.display(), folder.join(close));
        Some(format!("note: there is no '{absent}'; did you mean '{}'?", present.display()))
    };
    paths.iter().enumerate().filter_map(hint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_almost_right_are_guessed() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("lit-tests")).expect("a folder");
        std::fs::write(dir.path().join("lit-tests/a.hlo"), "").expect("a file");
        let of = |paths: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            hints(&paths, dir.path())
        };
        assert_eq!(
            of(&["filechek", "dif"]),
            ["note: there is no 'filechek'; did you mean the subcommand `filecheck`?"]
        );
        assert_eq!(
            of(&["pass"]),
            ["note: there is no 'pass'; `pass` is a command at the prompt of `hlo-check debug`"]
        );
        for (path, close) in [("lit-test", "lit-tests"), ("lit-tests/b.hlo", "lit-tests/a.hlo")] {
            let found = of(&["lit-tests", path]);
            let close = dir.path().join(close);
            assert!(found[0].ends_with(&format!("did you mean '{}'?", close.display())), "{found:?}");
        }
        assert!(
            of(&["lit-tests", "lit-tests/a.hlo", "nothing/like/it", "somewhere else", "/", ".."]).is_empty()
        );
    }
}
