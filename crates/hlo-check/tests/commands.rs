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

/// The example in the help of a subcommand: the words after `hlo-check`, up to a redirection.
fn example(dir: &Path, subcommand: &str) -> Option<Vec<String>> {
    let args = vec![subcommand.to_owned(), "--help".to_owned()];
    let output = CheckTool.run(&Invocation { args, current_dir: dir.to_owned(), ..Invocation::default() });
    assert_eq!(output.status, 0, "{subcommand}");
    let help = String::from_utf8(output.stdout).expect("text");
    let line = help.lines().find_map(|line| line.strip_prefix("Example: hlo-check "))?.to_owned();
    Some(line.split(' ').take_while(|word| *word != ">").map(str::to_owned).collect())
}

#[test]
fn the_examples_of_the_help_can_be_run() {
    let dir = folder();
    std::fs::create_dir(dir.path().join("lit-tests")).expect("a folder");
    std::fs::write(dir.path().join("lit.toml"), "name = \"t\"\nsuffixes = [\".hlo\"]\n").expect("a file");
    for name in ["model.hlo", "before.hlo", "after.hlo", "lit-tests/my-test.hlo"] {
        std::fs::write(dir.path().join(name), MODULE).expect("a file");
    }
    let test = format!("// RUN: hlo-opt %s | FileCheck %s\n{MODULE}");
    std::fs::write(dir.path().join("new-test.hlo"), test).expect("a file");
    for subcommand in ["diff", "stats", "update", "fmt", "graph", "completions", "verify", "explain"] {
        let words = example(dir.path(), subcommand).expect("an example");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(words.first(), Some(&subcommand));
        assert_eq!(status(dir.path(), &words), 0, "{words:?}");
    }
    assert!(dir.path().join("graph.html").exists());
}

#[test]
fn fmt_update_and_graph_say_what_was_wrong() {
    let dir = folder();
    let status = |args: &[&str]| status(dir.path(), args);
    assert_eq!(status(&["fmt", "--check", "a.hlo"]), 0);
    std::fs::write(dir.path().join("wide.hlo"), MODULE.replace("  ROOT", "      ROOT")).expect("a file");
    assert_eq!(status(&["fmt", "--check", "wide.hlo", "a.hlo"]), 1);
    assert_eq!(status(&["fmt", "absent.hlo"]), 2);
    assert_eq!(status(&["fmt", "broken.hlo"]), 3);
    assert_eq!(status(&["graph", "a.hlo", "absent.hlo"]), 2);
    assert_eq!(status(&["graph", "broken.hlo"]), 3);
    assert_eq!(status(&["graph", "a.hlo", "--around=q"]), 2);
    assert_eq!(status(&["graph", "a.hlo", "-o", "no such folder/x.html"]), 2);
    assert_eq!(status(&["update", "no such folder"]), 2);
    assert_eq!(status(&["completions"]), 2);
}
