//! Exit statuses of the subcommands, which RUN lines can't tell apart.

use std::path::Path;

use hlo_check::cli::CheckTool;
use hlo_check::tool::{Invocation, Tool};

const MODULE: &str = "HloModule m\n\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n";

/// The status of `hlo-check` with these arguments, in `dir`.
fn status(dir: &Path, args: &[&str]) -> i32 {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    CheckTool.run(&Invocation { args, current_dir: dir.to_owned(), ..Invocation::default() }).status
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("a.hlo", MODULE.to_owned()),
        ("b.hlo", MODULE.replace("f32[2]", "f32[3]")),
        ("broken.hlo", MODULE.replace("parameter", "paramter")),
    ] {
        std::fs::write(dir.path().join(name), text).expect("a file");
    }
    dir
}

#[test]
fn diff_says_whether_there_is_a_difference() {
    let dir = folder();
    let status = |args: &[&str]| status(dir.path(), args);
    for mode in [&["diff"][..], &["diff", "--structural"], &["diff", "--text"]] {
        assert_eq!(status(&[mode, &["a.hlo", "a.hlo"]].concat()), 0);
        assert_eq!(status(&[mode, &["a.hlo", "b.hlo"]].concat()), 1);
        assert_eq!(status(&[mode, &["a.hlo", "absent.hlo"]].concat()), 2);
        assert_eq!(status(&[mode, &["a.hlo"]].concat()), 2);
    }
    assert_eq!(status(&["diff", "a.hlo", "broken.hlo"]), 2);
    assert_eq!(status(&["diff", "--text", "--structural", "a.hlo", "b.hlo"]), 2);
    assert_eq!(status(&["diff", "--context=x", "a.hlo", "b.hlo"]), 2);
    assert_eq!(status(&["diff", "--help"]), 0);
}

#[test]
fn stats_says_what_was_wrong_with_the_input() {
    let dir = folder();
    let status = |args: &[&str]| status(dir.path(), args);
    assert_eq!(status(&["stats", "a.hlo"]), 0);
    assert_eq!(status(&["stats", "absent.hlo", "a.hlo"]), 2);
    assert_eq!(status(&["stats", "broken.hlo", "a.hlo"]), 3);
    assert_eq!(status(&["stats"]), 2);
}
