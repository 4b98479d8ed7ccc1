//! Reading, printing and verifying real modules, in bytes of text per second.
//!
//! `cargo bench -p hlo-text` takes the modules of `lit-tests/real`; `HLO_BENCH_FILES` names others, separated as in `PATH`.
//! `tools/bench_vs_xla.py` sets the same beside XLA.

use std::fmt;
use std::path::{Path, PathBuf};

use divan::Bencher;
use divan::counter::BytesCount;
use hlo_text::{ParseOptions, PrintOptions, VerifyOptions, parse_module, verify};

fn main() {
    divan::main();
}

/// A module's text and what the table calls it.
struct Input {
    name: String,
    text: String,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn inputs() -> Vec<Input> {
    let paths: Vec<PathBuf> = match std::env::var_os("HLO_BENCH_FILES") {
        Some(paths) => std::env::split_paths(&paths).collect(),
        None => {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit-tests/real");
            let mut paths: Vec<_> = std::fs::read_dir(folder)
                .expect("the folder of real modules")
                .map(|entry| entry.expect("an entry").path())
                .collect();
            paths.sort();
            paths
        }
    };
    let read = |path: PathBuf| Input {
        name: path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        text: std::fs::read_to_string(&path).expect("a readable module"),
    };
    paths.into_iter().map(read).collect()
}

#[divan::bench(args = inputs())]
fn parse(bencher: Bencher<'_, '_>, input: &Input) {
    bencher
        .counter(BytesCount::of_str(&input.text))
        .bench_local(|| parse_module(&input.text, &ParseOptions::default()).expect("a valid module"));
}

#[divan::bench(args = inputs())]
fn print(bencher: Bencher<'_, '_>, input: &Input) {
    let module = parse_module(&input.text, &ParseOptions::default()).expect("a valid module").module;
    let options = PrintOptions::default();
    bencher.counter(BytesCount::new(module.to_text(&options).len())).bench_local(|| module.to_text(&options));
}

#[divan::bench(args = inputs())]
fn verifier(bencher: Bencher<'_, '_>, input: &Input) {
    let module = parse_module(&input.text, &ParseOptions::default()).expect("a valid module").module;
    bencher
        .counter(BytesCount::of_str(&input.text))
        .bench_local(|| verify(&module, &VerifyOptions::default()));
}
