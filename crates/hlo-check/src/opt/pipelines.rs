//! The user's named pipelines: those of the nearest `lit.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use hlo_passes::options::PassRequest;
use hlo_passes::pass::Resources;
use hlo_passes::registry::{expand, needs_definitions};
use serde::Deserialize;

use crate::lit::config::{FILE_NAME, PIPELINES_VARIABLE};

/// The part of a `lit.toml` that is of interest here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    pipelines: BTreeMap<String, String>,
}

/// The list with its pipelines replaced by their passes. Those of users are looked for from `current_dir` on, or in the
/// settings.
///
/// # Errors
/// One of them is unknown or faulty, or so is the file that defines it.
pub(crate) fn expand_list(
    list: Vec<PassRequest>,
    current_dir: &Path,
    settings: &dyn Resources,
) -> Result<Vec<PassRequest>, String> {
    let defined = if needs_definitions(&list) { definitions(current_dir, settings)? } else { Vec::new() };
    expand(list, &defined)
}

/// Names and lists: a test runner says them in a variable, one per line; otherwise they are in the nearest `lit.toml`
/// upward from the current directory.
fn definitions(current_dir: &Path, settings: &dyn Resources) -> Result<Vec<(String, String)>, String> {
    if let Some(lines) = settings.setting(PIPELINES_VARIABLE) {
        let pairs = lines.lines().filter_map(|line| line.split_once('='));
        return Ok(pairs.map(|(name, list)| (name.to_owned(), list.to_owned())).collect());
    }
    let start = std::path::absolute(current_dir.join(".")).unwrap_or_default();
    let Some(path) = start.ancestors().map(|dir| dir.join(FILE_NAME)).find(|path| path.is_file()) else {
        return Ok(Vec::new());
    };
    read(&path).map_err(|error| format!("can't read {}: {}", path.display(), error.trim_end()))
}

fn read(path: &Path) -> Result<Vec<(String, String)>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let file: File = toml::from_str(&text).map_err(|error| error.to_string())?;
    Ok(file.pipelines.into_iter().collect())
}
