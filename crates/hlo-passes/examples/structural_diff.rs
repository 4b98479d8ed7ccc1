//! Says of pairs of HLO files, one pair per line of standard input with a tab between, whether they are structurally
//! equal: `equal`, `equal-after-dce` or `different`, or what is wrong with one.

use std::io::BufRead;

use hlo_passes::options::PassRequest;
use hlo_passes::pipeline::{NoObserver, Selection};
use hlo_passes::structure::structural_hash;
use hlo_passes::{PassContext, Pipeline};
use hlo_text::Module;

fn read(path: &str) -> Result<Module, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let parsed = hlo_text::parse_module(&text, &hlo_text::ParseOptions::default());
    parsed.map(|parsed| parsed.module).map_err(|_| format!("{path}: not HLO"))
}

fn without_dead_code(module: &mut Module) -> Result<(), String> {
    let dce = PassRequest { key: "dce".to_owned(), ..PassRequest::default() };
    let selection = Selection { passes: vec![dce], ..Selection::default() };
    let pipeline = Pipeline::new(&selection).map_err(|error| error.to_string())?;
    let run = pipeline.run(module, &mut PassContext::default(), &mut NoObserver);
    run.map(|_| ()).map_err(|error| error.to_string())
}

fn compare(line: &str) -> Result<&'static str, String> {
    let (a, b) = line.split_once('\t').ok_or("no tab")?;
    let (mut a, mut b) = (read(a)?, read(b)?);
    if structural_hash(&a) == structural_hash(&b) {
        return Ok("equal");
    }
    without_dead_code(&mut a)?;
    without_dead_code(&mut b)?;
    Ok(if structural_hash(&a) == structural_hash(&b) { "equal-after-dce" } else { "different" })
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        match line.map_err(|error| error.to_string()).and_then(|line| compare(&line)) {
            Ok(verdict) => println!("{verdict}"),
            Err(error) => println!("error {error}"),
        }
    }
}
