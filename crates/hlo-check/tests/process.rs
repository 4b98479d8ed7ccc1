//! The program as a process: what can only be seen from outside.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

mod suite;

use suite::Folder;

const PROGRAM: &str = env!("CARGO_BIN_EXE_hlo-check");

struct Suite {
    folder: Folder,
}

impl Suite {
    fn new(config: &str, files: &[(&str, &str)]) -> Self {
        let suite = Suite { folder: Folder::new(files) };
        suite.write("lit.toml", &format!("name = \"s\"\nsuffixes = [\".hlo\"]\n{config}"));
        suite
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    fn write(&self, name: &str, text: &str) {
        self.folder.write(name, text);
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(args).arg(self.folder.root());
        command
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command in a POSIX shell that finds the program under test.
#[cfg(unix)]
fn in_shell(command: &str) -> Output {
    let folder = Path::new(PROGRAM).parent().expect("it is in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).expect("no colons");
    // Not the folder of the test: the command says where it belongs.
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env("PATH", path).current_dir(std::env::temp_dir());
    shell.output().expect("there is a shell")
}

/// The commands that the log of a run offers.
fn offered(log: &str) -> Vec<&str> {
    log.lines().filter_map(|line| line.strip_prefix("# run again: ")).collect()
}

#[cfg(unix)]
#[test]
fn a_report_offers_a_command_that_repeats_the_failure() {
    let module = "HloModule m\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n";
    let cases = [
        ("// RUN: hlo-opt %s --passes=dce | FileCheck %s\n// CHECK: absent\n", " | "),
        ("// RUN: cat %s | hlo-opt - | FileCheck %s --check-prefix='CHECK'\n// CHECK: absent\n", " | "),
        ("// RUN: hlo-opt %s > %t 2>&1 && FileCheck %s < %t\n// CHECK: absent\n", "<"),
        ("// RUN: hlo-opt %s > it && FileCheck %s < it\n// CHECK: absent\n", "cd "),
        ("// RUN: hlo-opt %s | FileCheck %s '-DX=a b' --input-file=-\n// CHECK: [[X]]\n", "'-DX=a b'"),
        // What a shell doesn't have is repeated with the whole test.
        (
            "// RUN: not false | not FileCheck %s --allow-empty\n// RUN: env A=b FileCheck %s < %s\n// CHECK: absent{{$}}\n",
            " -v ",
        ),
        ("// RUN: export A=b\n// RUN: echo a | FileCheck %s\n// CHECK: absent\n", " -v "),
        ("// RUN: echo %t* a | FileCheck %s\n// CHECK: absent\n", " -v "),
    ];
    for (head, expected) in cases {
        let suite = Suite::new("", &[("one.hlo", &format!("{head}{module}"))]);
        let first = suite.command(&["-v"]).output().expect("it runs");
        assert_eq!(first.status.code(), Some(1), "{}", text(&first.stdout));
        let log = text(&first.stdout);
        let commands = offered(&log);
        let Some(command) = commands.last() else { panic!("{head}: no command in\n{log}") };
        assert!(command.contains(expected), "{command}");
        let again = in_shell(command);
        assert_eq!(again.status.code(), Some(1), "{command}\n{}", text(&again.stderr));
        let said = text(&again.stdout) + &text(&again.stderr);
        assert!(said.contains("absent") || said.contains("a b"), "{command}\n{said}");
    }
    // Variables of the test's own are not in the shell.
    let test = ("a.hlo", "// RUN: echo a | FileCheck %s\n// CHECK: absent\n");
    let suite = Suite::new("environment = { A = \"b\" }\n", &[test]);
    let log = text(&suite.command(&["-v"]).output().expect("it runs").stdout);
    assert!(offered(&log)[0].starts_with("hlo-check -v /"), "{log}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_with_a_summary_of_what_ran() {
    let files = [
        ("a.hlo", "// RUN: true\n"),
        ("b.hlo", "// RUN: false\n"),
        ("c.hlo", "// RUN: sleep 600\n"),
        ("d.hlo", "// RUN: echo begun > %t\n"),
        ("e.hlo", "// RUN: sleep 600\n"),
    ];
    for (filter, status) in [("", 1), ("--filter-out=b.hlo", 0)] {
        let suite = Suite::new("external-tools = [\"sleep\"]\n", &files);
        let mut command = suite.command(&["-j2", "--order=lexical", "--show-skipped"]);
        command.args(filter.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = suite.path("out.json");
        command.arg("-o").arg(&output);
        let mut child = command.spawn().expect("it starts");
        // By then the two that can end have.
        let begun = Instant::now();
        while !suite.path("Output/d.hlo.tmp").exists() && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(500));
        let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).expect("small")).expect("not 0");
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it takes signals");
        let begun = Instant::now();
        while child.try_wait().expect("it is ours").is_none() {
            assert!(begun.elapsed() < Duration::from_secs(20), "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
        let done = child.wait_with_output().expect("it is ours");
        let (out, err) = (text(&done.stdout), text(&done.stderr));
        assert_eq!(done.status.code(), Some(status), "{out}{err}");
        assert!(err.contains("interrupted by user, skipping remaining tests"), "{err}");
        let tests = if status == 1 { 5 } else { 4 };
        for part in [
            format!("PASS: s :: a.hlo (1 of {tests})"),
            "PASS: s :: d.hlo".to_owned(),
            "Skipped Tests (2):\n  s :: c.hlo\n  s :: e.hlo\n".to_owned(),
            "Total Discovered Tests: 5\n".to_owned(),
        ] {
            assert!(out.contains(&part), "no `{part}` in\n{out}");
        }
        assert_eq!(out.contains("FAIL: s :: b.hlo"), status == 1);
        let json = std::fs::read_to_string(output).expect("reports are written");
        assert!(json.contains("s :: d.hlo") && !json.contains("s :: c.hlo"), "{json}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let tests: Vec<(String, &str)> = (0..400).map(|n| (format!("{n}.hlo"), "// RUN: true\n")).collect();
    let files: Vec<(&str, &str)> = tests.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let suite = Suite::new("", &files);
    let mut child =
        suite.command(&["-a"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    drop(child.stdout.take());
    let done = child.wait_with_output().expect("it is ours");
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
}

#[test]
fn hlo_opt_ends_quietly_when_nobody_reads_on() {
    // More than a pipe holds.
    let body: String = (1..20_000).map(|n| format!("  a{n} = f32[2] negate(a{})\n", n - 1)).collect();
    let module = format!("HloModule m\nENTRY e {{\n  a0 = f32[2] parameter(0)\n{body}}}\n");
    let suite = Suite::new("", &[("m.hlo", &module)]);
    for options in
        [&["--passes=dce"][..], &["--passes=stub", "--print-ir-after-all"], &["--list-passes=json"]]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hlo-opt"));
        command.arg(suite.path("m.hlo")).args(options).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().expect("it is ours").code(), Some(0), "{options:?}");
    }
}

/// The tests a run reports, of those a to i.
fn reported(out: &str) -> Vec<char> {
    ('a'..='i').filter(|name| out.contains(&format!(": s :: {name}.hlo ("))).collect()
}

#[test]
fn shards_share_the_tests_of_a_suite() {
    let names: Vec<String> = ('a'..='i').map(|name| format!("{name}.hlo")).collect();
    let files: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), "// RUN: echo a > %t\n")).collect();
    let suite = Suite::new("", &files);
    for way in ["options", "variables", "bazel"] {
        let mut seen = Vec::new();
        for shard in 0..4 {
            let mut command = suite.command(&[]);
            match way {
                "options" => command.args(["--num-shards=4", &format!("--run-shard={}", shard + 1)]),
                "variables" => {
                    command.env("LIT_NUM_SHARDS", "4").env("LIT_RUN_SHARD", (shard + 1).to_string())
                }
                _ => command
                    .env("TEST_TOTAL_SHARDS", "4")
                    .env("TEST_SHARD_INDEX", shard.to_string())
                    .env("TEST_SHARD_STATUS_FILE", suite.path("status"))
                    .env("TEST_TMPDIR", suite.path(&format!("tmp{shard}")))
                    .env("XML_OUTPUT_FILE", suite.path("out.xml")),
            };
            let done = command.output().expect("it runs");
            assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
            let tests = reported(&text(&done.stdout));
            assert!((2..=3).contains(&tests.len()), "{way} {shard}: {tests:?}");
            if way == "bazel" {
                assert!(std::fs::remove_file(suite.path("status")).is_ok());
                let xml = std::fs::read_to_string(suite.path("out.xml")).expect("a report");
                assert_eq!(xml.matches("<testcase ").count(), tests.len(), "{xml}");
                assert!(suite.path(&format!("tmp{shard}")).is_dir());
            }
            seen.extend(tests);
        }
        seen.sort_unstable();
        assert_eq!(seen, ('a'..='i').collect::<Vec<_>>(), "{way}");
    }
}

#[cfg(unix)]
#[test]
fn bazel_hands_tests_over_as_links() {
    let suite = Suite::new("", &[("x/a.hlo", "// RUN: echo a | FileCheck %s\n// CHECK: a\n")]);
    let run_files = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(run_files.path().join("x")).expect("a folder");
    for name in ["lit.toml", "x/a.hlo"] {
        std::os::unix::fs::symlink(suite.path(name), run_files.path().join(name)).expect("a link");
    }
    let mut command = Command::new(PROGRAM);
    command.arg("x").current_dir(run_files.path()).env("TEST_TMPDIR", suite.path("tmp"));
    command.env("TESTBRIDGE_TEST_ONLY", "a.hlo");
    let done = command.output().expect("it runs");
    assert!(text(&done.stdout).contains("PASS: s :: x/a.hlo (1 of 1)"), "{}", text(&done.stdout));
    assert!(!run_files.path().join("x/Output").exists() && suite.path("tmp/lit/s/x/Output").exists());
}
