//! lit's own configuration files are Python programs, which are not run here. What can be read off
//! one without running it goes into the lit.toml that is suggested instead.

use std::path::{Path, PathBuf};

use regex::Regex;

/// Names of the Python files that mark a suite, `prefix` being `lit` unless `--config-prefix`.
const NAMES: [&str; 4] = [".site.cfg.py", ".site.cfg", ".cfg.py", ".cfg"];

/// The Python configuration in a folder, if there is one.
pub fn find(dir: &Path, prefix: &str) -> Option<PathBuf> {
    NAMES.iter().map(|name| dir.join(format!("{prefix}{name}"))).find(|path| path.is_file())
}

/// What the user should be told about a Python configuration.
pub fn note(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let target = path.with_file_name(super::config::FILE_NAME);
    format!(
        "{} is a Python program, which is not run. Write {} instead, beginning with:\n{}",
        path.display(),
        target.display(),
        suggest(&text)
    )
}

/// A lit.toml with what the Python text says in plain assignments.
fn suggest(text: &str) -> String {
    let mut out = String::new();
    if let Some(name) = strings(text, "name").first() {
        out.push_str(&format!("    name = {}\n", toml_string(name)));
    }
    for (field, key) in
        [("suffixes", "suffixes"), ("excludes", "excludes"), ("available_features", "features")]
    {
        let values = strings(text, field);
        if !values.is_empty() {
            let values: Vec<String> = values.iter().map(|value| toml_string(value)).collect();
            out.push_str(&format!("    {key} = [{}]\n", values.join(", ")));
        }
    }
    if out.is_empty() {
        out.push_str("    suffixes = [\".hlo\"]\n");
    }
    if text.contains("substitutions") {
        out.push_str("    [substitutions]\n    # \"%{name}\" = \"text\"\n");
    }
    out
}

fn toml_string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// String literals assigned to `config.FIELD`, alone or in a list, set or tuple.
fn strings(text: &str, field: &str) -> Vec<String> {
    // Both patterns are fixed but for a field name from the calls above.
    let Ok(assignment) = Regex::new(&format!(
        r#"(?m)^\s*config\.{field}\s*=\s*(?:set\()?(?:[\[{{(]([^\]}})]*)|("[^"\n]*"|'[^'\n]*'))"#
    )) else {
        return Vec::new();
    };
    let Some(found) = assignment.captures(text) else { return Vec::new() };
    let body = found.get(1).or_else(|| found.get(2)).map_or("", |body| body.as_str());
    let mut values = Vec::new();
    let mut rest = body;
    while let Some(open) = rest.find(['"', '\'']) {
        let quote = &rest[open..open + 1];
        let Some(length) = rest[open + 1..].find(quote) else { break };
        values.push(rest[open + 1..open + 1 + length].to_owned());
        rest = &rest[open + 1 + length + 1..];
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestion() {
        let text = "import lit\nconfig.name = 'X Y'\nconfig.suffixes = ['.hlo', \".mlir\"]\n\
                    config.excludes = set(['Inputs'])\nconfig.substitutions.append(('a', 'b'))\n";
        assert_eq!(
            suggest(text),
            "    name = \"X Y\"\n    suffixes = [\".hlo\", \".mlir\"]\n    excludes = [\"Inputs\"]\n\
             \x20   [substitutions]\n    # \"%{name}\" = \"text\"\n"
        );
        assert_eq!(suggest(""), "    suffixes = [\".hlo\"]\n");
    }
}
