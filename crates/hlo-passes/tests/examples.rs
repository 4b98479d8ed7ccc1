//! The examples that explanations show are what passes do. `HLO_BLESS=1 cargo test -p hlo-passes --test examples` writes
//! what comes after; read it before committing it.

use std::path::Path;

use hlo_passes::PassContext;
use hlo_passes::options::parse_pass_list;
use hlo_passes::pass::Resources;
use hlo_passes::pipeline::{NoObserver, Pipeline, Selection};
use hlo_passes::registry::{PassInfo, Status, all};
use hlo_passes::verify::VerifyingObserver;
use hlo_text::{ParseOptions, PrintOptions, VerifyOptions, parse_module};

/// The folder of the example of `inline-weights`.
struct Model;

impl Resources for Model {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        if path == "model/metadata.json" {
            return Ok(br#"{"model_files": "g.hlo", "version": "1.0", "weights": {"1": "w.npy"}}"#.to_vec());
        }
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend([1.5f32, -2.0].iter().flat_map(|number| number.to_le_bytes()));
        Ok(file)
    }

    fn setting(&self, _name: &str) -> Option<String> {
        None
    }
}

fn run(info: &PassInfo, options: &str, before: &str) -> String {
    let mut module = parse_module(before, &ParseOptions::strict()).expect("a strict module").module;
    let passes = parse_pass_list(&format!("{}{{{options}}}", info.key)).expect("a list");
    let pipeline = Pipeline::new(&Selection { passes, ..Selection::default() }).expect("good options");
    let mut context = PassContext { resources: &Model, ..PassContext::default() };
    let mut inner = NoObserver;
    let mut observer = VerifyingObserver::new(VerifyOptions::default(), &mut inner);
    if let Err(error) = pipeline.run(&mut module, &mut context, &mut observer) {
        panic!("{error}");
    }
    module.to_text(&PrintOptions::default())
}

#[test]
fn every_pass_that_runs_has_an_example_and_does_what_it_shows() {
    for info in all().filter(|info| matches!(info.status, Status::Implemented(_))) {
        let Some(example) = info.example() else { panic!("{} has no example", info.key) };
        let after = run(info, example.options, example.before);
        if std::env::var_os("HLO_BLESS").is_some() {
            let options = match example.options {
                "" => String::new(),
                options => format!("// {{{options}}}\n"),
            };
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/registry/examples").join(info.key);
            let text = format!("{options}{}// =>\n{}\n", example.before, after.trim_end());
            std::fs::write(path.with_extension("hlo"), text).expect("it can be written");
        } else {
            assert_eq!(after.trim_end(), example.after, "{}", info.key);
        }
    }
}
