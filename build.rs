//! Writes one test per file of lit-tests/, for tests/lit.rs to include.
//!
//! Folders become modules and files functions, so that names can be filtered: `cargo test -p hlo-lit-tests text::literals`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What test files end with.
const SUFFIX: &str = "hlo";

/// The tests of a folder.
#[derive(Default)]
struct Folder {
    folders: BTreeMap<String, Folder>,
    files: BTreeMap<String, PathBuf>,
}

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("lit-tests");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut out = String::new();
    write_folder(&mut out, &read_folder(&root)?, 0);
    let path = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("lit_tests.rs");
    std::fs::write(path, out)
}

fn read_folder(path: &Path) -> std::io::Result<Folder> {
    let mut folder = Folder::default();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            // Names with a dot in front are not the suite's; `Inputs` and `Output` hold no tests.
            if name.starts_with('.') || name == "Inputs" || name == "Output" {
                continue;
            }
            let inner = read_folder(&entry.path())?;
            if !inner.folders.is_empty() || !inner.files.is_empty() {
                folder.folders.insert(identifier(&name), inner);
            }
        } else if let Some(stem) = Path::new(&name).file_stem().filter(|_| has_suffix(&name)) {
            let mut identifier = identifier(&stem.to_string_lossy());
            while folder.files.contains_key(&identifier) {
                identifier.push('_');
            }
            folder.files.insert(identifier, entry.path());
        }
    }
    Ok(folder)
}

fn has_suffix(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == SUFFIX)
}

/// A Rust identifier that looks like `name`; raw, since `while` is a good name for a test.
fn identifier(name: &str) -> String {
    let mut out: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    match out.as_str() {
        // The words that can't be raw identifiers.
        "self" | "Self" | "super" | "crate" | "_" => out + "_",
        _ => format!("r#{out}"),
    }
}

fn write_folder(out: &mut String, folder: &Folder, depth: usize) {
    let indent = "    ".repeat(depth);
    for (name, path) in &folder.files {
        let path = path.display().to_string();
        // Writing to a string can't fail.
        let _ = write!(
            out,
            "{indent}#[test]\n{indent}fn {name}() {{\n{indent}    crate::run({path:?});\n{indent}}}\n"
        );
    }
    for (name, inner) in &folder.folders {
        let _ = writeln!(out, "{indent}mod {name} {{");
        write_folder(out, inner, depth + 1);
        let _ = writeln!(out, "{indent}}}");
    }
}
