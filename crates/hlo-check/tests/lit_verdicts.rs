//! Every file below `tests/lit/verdicts` must end as `expected.txt` says. The verdicts there are
//! those of LLVM's lit; `tools/lit_diff.py` asks it again.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Parser;
use hlo_check::lit;

mod lit_tools;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: lit::cli::Options,
}

/// Copies a folder, so that tests write beside the copy.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            if entry.file_name() != "Output" {
                copy(&entry.path(), &target);
            }
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn expected(folder: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder.join("expected.txt")).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (codes, name) = line.split_once(' ').unwrap();
            let ours = codes.split('/').next().unwrap();
            (name.to_owned(), ours.to_owned())
        })
        .collect()
}

#[test]
fn verdicts() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("verdicts");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lit/verdicts"), &folder);
    let host = lit::Host { tools: lit_tools::all(), ..lit::Host::default() };
    let folder_name = folder.to_string_lossy();
    let args = ["lit", "-q", "-j2", "-v", "-Dparam=given", "--order=lexical", &folder_name];
    let options = Cli::parse_from(args).options;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = lit::run::Streams { out: &mut out, err: &mut err };
    let run = lit::run::run(&options, &host, &lit::cli::Environment::default(), &mut streams).unwrap();
    let found: BTreeMap<String, String> = run
        .outcomes
        .iter()
        .map(|(test, result)| (test.path.clone(), result.code.name().to_owned()))
        .collect();
    let expected = expected(&folder);
    let mut wrong = String::new();
    for name in expected.keys().chain(found.keys().filter(|name| !expected.contains_key(*name))) {
        let (want, have) = (expected.get(name), found.get(name));
        if want != have {
            let log = run.outcomes.iter().find(|(test, _)| test.path == *name);
            let log = log.map_or("", |(_, result)| &result.output);
            wrong.push_str(&format!("{name}: expected {want:?}, got {have:?}\n{log}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}{}", String::from_utf8_lossy(&err));
}
