//! FileCheck as a program: files of check text, input, and what LLVM's FileCheck 19 answers to them.
//!
//! A case holds `args:` (a JSON list) and `exit:`, then the sections `check`, `input` and `stderr`, each
//! after a line `=== NAME`; the line end before such a line belongs to it.

use std::collections::BTreeMap;
use std::path::Path;

use hlo_check::filecheck::cli::{Caller, Files, run_as};
use hlo_check::tool::Invocation;

struct InMemory(BTreeMap<&'static str, Vec<u8>>);

impl Files for InMemory {
    fn stdin(&mut self) -> Vec<u8> {
        Vec::new()
    }

    fn read(&mut self, path: &Path) -> std::io::Result<Vec<u8>> {
        let name = path.to_str().unwrap_or_default();
        self.0.get(name).cloned().ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

fn section<'t>(text: &'t str, name: &str, end: Option<&str>) -> &'t str {
    let head = format!("=== {name}\n");
    let start = text.find(&head).unwrap_or_else(|| panic!("no section {name}")) + head.len();
    match end {
        Some(next) => {
            let stop = text.find(&format!("\n=== {next}\n")).unwrap_or_else(|| panic!("no section {next}"));
            &text[start..stop]
        }
        None => &text[start..],
    }
}

fn run(args: Vec<String>, check: &str, input: &str) -> (i32, String) {
    let mut args = args;
    args.extend(["check.txt", "--input-file", "input.txt"].map(str::to_owned));
    let invocation = Invocation { args, ..Invocation::default() };
    let files = [("check.txt", check.as_bytes().to_vec()), ("input.txt", input.as_bytes().to_vec())];
    let caller = Caller { command: "FileCheck", colors: false, offers_rerun: true };
    let output = run_as(caller, &invocation, &mut InMemory(files.into_iter().collect()));
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn cases_give_what_llvm_gives() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filecheck");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the cases").map(|entry| entry.expect("a case").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "case"));
    paths.sort();
    assert!(paths.len() > 80, "only {} cases", paths.len());
    let mut wrong = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let head = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap_or_else(|| panic!("{path:?}: no {name}"))
        };
        let args: Vec<String> = serde_json::from_str(head("args: ")).expect("a JSON list");
        let exit: i32 = head("exit: ").parse().expect("a number");
        let check = section(&text, "check", Some("input"));
        let input = section(&text, "input", Some("stderr"));
        let stderr = section(&text, "stderr", None);
        let got = run(args, check, input);
        if got != (exit, stderr.to_owned()) {
            wrong.push(format!("{}: exit {}\n{}", path.display(), got.0, got.1));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn adversarial_patterns_end() {
    let long = "a".repeat(20_000);
    for pattern in [
        "{{(a*)*b}}",
        "{{((a*)*)*c}}",
        "{{(a|aa)+$}}b",
        "{{(.*)(.*)(.*)(.*)(.*)x}}",
        "{{((.*a){20})}}x",
        "{{(a*)(a*)(a*)\\1\\2\\3b}}",
        "{{(([a-z]+)+)\\2x}}",
        "[[X:.*]] [[X]]",
        "{{.*.*.*.*.*.*.*.*.*=.*}}",
    ] {
        let started = std::time::Instant::now();
        let (status, stderr) = run(Vec::new(), &format!("CHECK: {pattern}\n"), &format!("{long}\n"));
        assert_eq!(status, 1, "{pattern}: {stderr}");
        assert!(started.elapsed().as_secs() < 60, "{pattern} took {:?}", started.elapsed());
    }
}

#[test]
fn giving_up_is_said() {
    // No two equal halves make an odd number, which takes trying all ways to cut.
    let input = format!("{}c\n", "a".repeat(3001));
    let (status, stderr) = run(Vec::new(), "CHECK: {{^((a*)(a*)(a*)(a*)(a*)(a*))\\1c}}\n", &input);
    assert_eq!(status, 1);
    assert!(stderr.contains("matching gave up after"), "{stderr}");
}

#[test]
fn hostile_check_files_do_no_harm() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    let nots: String = (0..2000).map(|index| format!("CHECK-NOT: q{index}\n")).collect();
    for check in [
        format!("CHECK: {{{{{}}}}}\n", deep("(", ")")),
        format!("CHECK: [[#{}]]\n", deep("(", ")")),
        format!("CHECK: [[#{}]]\n", deep("add(1,", ")")),
        format!("CHECK: [[#1{}]]\n", "+1".repeat(100_000)),
        format!("CHECK: [[X:{}]]\n", "[".repeat(100_000)),
        "CHECK: {{((((a{255}){255}){255}){255})}}\n".to_owned(),
        "CHECK: [[#%.4294967295u,N:]]\n".to_owned(),
        "CHECK: [[#%.65536x,1]]\n".to_owned(),
        "CHECK-COUNT-2147483647: a\n".to_owned(),
        format!("CHECK: {}\n", "[[".repeat(50_000)),
        nots,
    ] {
        let (status, _) = run(Vec::new(), &check, "a\n");
        assert!((0..=2).contains(&status), "{}", &check[..40]);
    }
}

#[test]
fn rich_messages_show_how_far_a_pattern_got() {
    let check = "CHECK: [[A:%[a-z]+]] = f32[4]\nCHECK: add([[A]], {{%[a-z]+}}), foo={1}\n";
    let input = "%p = f32[4] parameter(0)\n%r = add(%p, %q), foo={2}\n";
    let (status, stderr) = run(vec!["--diagnostics=rich".to_owned()], check, input);
    assert_eq!(status, 1);
    for part in [
        "filecheck::not-found",
        "found on line 2 of the input",
        "but not followed by this",
        "first difference",
        "A = \"%p\"",
        "pattern: add([[A]], {{%[a-z]+}}), foo={1}",
        "input:   add(%p, %q), foo={2}",
        "run again: FileCheck --diagnostics=rich check.txt --input-file input.txt",
    ] {
        assert!(stderr.contains(part), "no `{part}` in\n{stderr}");
    }
    assert!(!stderr.contains("Input was:"), "{stderr}");
}

#[test]
fn lints_are_off_unless_asked_for() {
    let check = "CHECK: a\nCHECKNEXT: b\n";
    assert_eq!(run(Vec::new(), check, "a\n"), (0, String::new()));
    let (status, stderr) = run(vec!["--lint".to_owned()], check, "a\n");
    assert_eq!(status, 0);
    assert!(stderr.contains("misspelt-directive"), "{stderr}");
}
