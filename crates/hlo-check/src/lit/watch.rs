//! `--watch`: after the first run, run again what a saved file affects.
//!
//! A test is affected by its own file and by the files its commands named when it last ran; a
//! lit.toml affects the tests below it; a new file may be a test itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use notify::{EventKind, RecursiveMode, Watcher as _};

use super::Host;
use super::cli::{Environment, Options};
use super::config::FILE_NAME;
use super::run::{Run, Streams, run};
use super::shell::exec::normalize;

/// Saves that follow one another this closely count as one.
const SETTLE: Duration = Duration::from_millis(80);

/// What is known of the tests that have run.
#[derive(Debug, Default)]
pub struct Known {
    /// Test file to the files its commands named.
    inputs: BTreeMap<PathBuf, Vec<PathBuf>>,
}

impl Known {
    /// Takes in a run.
    pub fn learn(&mut self, run: &Run) {
        for (test, result) in &run.outcomes {
            self.inputs.insert(test.source(), result.inputs.clone());
        }
    }

    /// What to run after `changed` was saved: test files, or folders with a new configuration.
    pub fn affected(&self, changed: &Path, suffixes: &[String]) -> Vec<PathBuf> {
        let in_output = changed.components().any(|part| part.as_os_str() == "Output");
        let name = changed.file_name().unwrap_or_default().to_string_lossy();
        // What tests write doesn't set them off; neither do editors' and our own dot files.
        if in_output || name.starts_with('.') {
            return Vec::new();
        }
        if name == FILE_NAME {
            return changed.parent().map(Path::to_owned).into_iter().collect();
        }
        let mut affected: Vec<PathBuf> = self
            .inputs
            .iter()
            .filter(|(source, inputs)| {
                source.as_path() == changed || inputs.iter().any(|input| input == changed)
            })
            .map(|(source, _)| source.clone())
            .collect();
        let is_new = affected.is_empty() && suffixes.iter().any(|end| name.ends_with(end.as_str()));
        if is_new && changed.is_file() {
            affected.push(changed.to_owned());
        }
        affected
    }
}

/// Runs, and runs again for every batch of `changes`.
///
/// # Errors
/// A stream can't be written to.
pub fn run_for(
    options: &Options,
    host: &Host,
    environment: &Environment,
    streams: &mut Streams<'_>,
    changes: impl Iterator<Item = Vec<PathBuf>>,
) -> std::io::Result<u8> {
    let mut known = Known::default();
    let first = run(options, host, environment, streams)?;
    known.learn(&first);
    let mut status = first.status;
    let mut again = options.clone();
    // The first run chose; what it chose is run again whatever its name.
    (again.filter, again.filter_out, again.filter_failed) = (None, None, false);
    (again.num_shards, again.run_shard, again.max_tests) = (None, None, None);
    let environment = &Environment::default();
    for changed in changes {
        let suffixes = suffixes(&first, host);
        let mut paths: Vec<PathBuf> =
            changed.iter().flat_map(|path| known.affected(path, &suffixes)).collect();
        paths.sort_unstable();
        paths.dedup();
        if paths.is_empty() {
            continue;
        }
        again.paths = paths;
        let next = run(&again, host, environment, streams)?;
        known.learn(&next);
        status = next.status;
    }
    Ok(status)
}

fn suffixes(run: &Run, host: &Host) -> Vec<String> {
    let mut suffixes = host.suffixes.clone();
    for (test, _) in &run.outcomes {
        suffixes.extend(test.config.suffixes.iter().cloned());
    }
    suffixes.sort_unstable();
    suffixes.dedup();
    suffixes
}

/// Runs, and goes on until the process is ended.
///
/// # Errors
/// The files can't be watched, or a stream can't be written to.
pub fn run_forever(
    options: &Options,
    host: &Host,
    environment: &Environment,
    streams: &mut Streams<'_>,
) -> std::io::Result<u8> {
    let (sender, receiver) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if let Ok(event) = event
            && matches!(event.kind, EventKind::Create(_) | EventKind::Modify(_))
        {
            // The receiver is gone only when everything ends.
            let _ = sender.send(event.paths);
        }
    })
    .map_err(std::io::Error::other)?;
    let cwd = std::env::current_dir()?;
    for path in &options.paths {
        let path = normalize(&cwd.join(path));
        // A file's folder is watched: what the test reads is mostly beside it.
        let dir = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(&path) };
        watcher.watch(dir, RecursiveMode::Recursive).map_err(std::io::Error::other)?;
    }
    let changes = std::iter::from_fn(move || {
        let mut paths: Vec<PathBuf> = receiver.recv().ok()?;
        while let Ok(more) = receiver.recv_timeout(SETTLE) {
            paths.extend(more);
        }
        Some(paths)
    });
    let status = run_for(options, host, environment, streams, changes);
    drop(watcher);
    status
}
