//! Whole runs: options, reports, exit statuses, sharding, limits, panics, cases of split files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{CommandFactory, Parser};
use hlo_check::lit;
use hlo_check::lit::bazel::Bazel;
use hlo_check::lit::cli::Environment;

mod lit_tools;
mod suite;

use suite::Folder;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: lit::cli::Options,
}

struct Suite {
    folder: Folder,
}

struct Outcome {
    status: u8,
    out: String,
    err: String,
}

impl Suite {
    fn new(files: &[(&str, &str)]) -> Self {
        let suite = Suite { folder: Folder::new(files) };
        suite.write("lit.toml", "name = \"s\"\nsuffixes = [\".t\"]\n");
        suite
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    fn write(&self, name: &str, text: &str) {
        self.folder.write(name, text);
    }

    fn run_in(&self, environment: &Environment, args: &[&str]) -> Outcome {
        let root = self.folder.root().to_string_lossy().into_owned();
        let args = ["lit"].into_iter().chain(args.iter().copied()).chain([root.as_str()]);
        let options = Cli::try_parse_from(args).unwrap_or_else(|error| panic!("{error}")).options;
        let host = lit::Host { tools: lit_tools::all(), ..lit::Host::default() };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut streams = lit::run::Streams { out: &mut out, err: &mut err };
        let run = lit::run::run(&options, &host, environment, &mut streams).unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Outcome { status: run.status, out: text(out), err: text(err) }
    }

    fn run(&self, args: &[&str]) -> Outcome {
        self.run_in(&Environment::default(), args)
    }
}

const PASS: &str = "RUN: true\n";
const FAIL: &str = "RUN: false\n";

fn lit_variables(pairs: &[(&str, &str)]) -> Environment {
    let lit: BTreeMap<String, String> =
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    Environment { lit, bazel: Bazel::default() }
}

/// Without the line that depends on the clock.
fn stable(text: &str) -> String {
    text.lines()
        .map(|line| if line.starts_with("Testing Time: ") { "Testing Time: T" } else { line })
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn options_are_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn report_and_exit_status() {
    let suite = Suite::new(&[("a.t", PASS), ("d/b.t", FAIL), ("c.t", "XFAIL: *\nRUN: false")]);
    let run = suite.run(&["-j1", "--order=lexical"]);
    assert_eq!(run.status, 1);
    assert_eq!(
        stable(&run.out),
        "-- Testing: 3 tests, 1 workers --\n\
         PASS: s :: a.t (1 of 3)\n\
         XFAIL: s :: c.t (2 of 3)\n\
         FAIL: s :: d/b.t (3 of 3)\n\
         ********************\n\
         Failed Tests (1):\n\
         \x20 s :: d/b.t\n\
         \n\n\
         Testing Time: T\n\
         \n\
         Total Discovered Tests: 3\n\
         \x20 Passed           : 1 (33.33%)\n\
         \x20 Expectedly Failed: 1 (33.33%)\n\
         \x20 Failed           : 1 (33.33%)\n"
    );
    assert_eq!(suite.run(&["--filter=[AC]\\.t"]).status, 0);
    assert_eq!(suite.run(&["--ignore-fail"]).status, 0);
}

#[test]
fn logs() {
    let suite =
        Suite::new(&[("a.t", "RUN: echo x | up\nRUN: echo 'a  b' > %t && status 3 oops"), ("b.t", PASS)]);
    let run = suite.run(&["-v", "-j1", "--order=lexical"]);
    let start = run.out.find("****").unwrap();
    let end = run.out.find("PASS: s :: b.t").unwrap();
    let temp = suite.path("Output/a.t.tmp").display().to_string();
    assert_eq!(
        &run.out[start..end],
        format!(
            "******************** TEST 's :: a.t' FAILED ********************\n\
             Exit Code: 3\n\
             \n\
             Command Output (stdout):\n\
             --\n\
             # RUN: at line 1\n\
             echo x | up\n\
             # executed command: echo x\n\
             # executed command: up\n\
             # .---command stdout------------\n\
             # | X\n\
             # `-----------------------------\n\
             # RUN: at line 2\n\
             echo 'a  b' > {temp} && status 3 oops\n\
             # executed command: echo 'a  b'\n\
             # executed command: status 3 oops\n\
             # .---command stderr------------\n\
             # | oops\n\
             # `-----------------------------\n\
             # error: command failed with exit status: 3\n\
             # run again: status 3 oops\n\
             \n\
             --\n\
             \n\
             ********************\n"
        )
    );
    assert!(!suite.run(&[]).out.contains("Exit Code"));
    assert_eq!(suite.run(&["-a"]).out.matches("Exit Code: 0").count(), 1);
}

#[test]
fn levels_of_output() {
    let suite = Suite::new(&[("a.t", PASS), ("b.t", FAIL)]);
    let lines = |args: &[&str], wanted: &str| suite.run(args).out.matches(wanted).count();
    assert_eq!(lines(&["-q"], "PASS: "), 0);
    assert_eq!(lines(&["-q"], "FAIL: "), 1);
    assert_eq!(lines(&["-q"], "Testing Time"), 0);
    assert_eq!(lines(&["-q"], "Passed"), 0);
    assert_eq!(lines(&["-s"], "PASS: "), 0);
    assert_eq!(lines(&["-s"], "Testing:  0.. 10.. "), 1);
    assert_eq!(lines(&["--print-result-after=off"], " :: b.t ("), 0);
    assert_eq!(lines(&["--print-result-after=off", "-v"], "Exit Code: 1"), 1);
    assert_eq!(lines(&["--test-output=all"], "Exit Code: "), 2);
    assert_eq!(lines(&["--show-pass"], "Passed Tests (1):\n  s :: a.t\n"), 1);
}

#[test]
fn shown_lists() {
    let suite = Suite::new(&[
        ("u.t", "REQUIRES: no\nRUN: true"),
        ("x.t", "XFAIL: *\nRUN: false"),
        ("f.t", "ALLOW_RETRIES: 1\nRUN: echo x >> %t && cat %t | not count 1"),
        ("e.t", PASS),
    ]);
    let run = suite.run(&[
        "--show-unsupported",
        "--show-xfail",
        "--show-flakypass",
        "--show-excluded",
        "--filter-out=e\\.t",
    ]);
    for heading in [
        "Excluded Tests (1)",
        "Unsupported Tests (1)",
        "Passed With Retry Tests (1)",
        "Expectedly Failed Tests (1)",
    ] {
        assert!(run.out.contains(heading), "{heading} in {}", run.out);
    }
    assert!(run.out.contains("FLAKYPASS: s :: f.t (1 of 3, 2 of 2 attempts)"), "{}", run.out);
    assert!(run.out.contains("-- Testing: 3 of 4 tests"), "{}", run.out);
}

#[test]
fn filters() {
    let suite = Suite::new(&[("a.t", PASS), ("b.t", FAIL), ("d/a2.t", PASS)]);
    let tests = |args: &[&str]| suite.run(args).out.matches(" :: ").count();
    assert_eq!(tests(&["--filter=A"]), 2);
    assert_eq!(tests(&["--filter=s :: d/"]), 1);
    assert_eq!(tests(&["--filter-out=B"]), 2);
    assert_eq!(tests(&["--max-tests=1", "--order=lexical"]), 1);
    let run = suite.run_in(&lit_variables(&[("LIT_FILTER", "a2")]), &[]);
    assert!(run.out.contains("PASS: s :: d/a2.t (1 of 1)"), "{}", run.out);
    let run = suite.run_in(&lit_variables(&[("LIT_FILTER_OUT", "a")]), &["-q"]);
    assert_eq!(run.status, 1);
    let run = suite.run(&["--filter=nothing"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("filter did not match any tests (of 3 discovered)."), "{}", run.err);
    assert_eq!(suite.run(&["--filter=nothing", "--allow-empty-runs"]).status, 0);
    assert_eq!(suite.run(&["--filter=("]).status, 2);
}

#[test]
fn failed_last_time() {
    let suite = Suite::new(&[("a.t", PASS), ("z.t", FAIL)]);
    suite.run(&[]);
    assert!(suite.run(&["-j1"]).out.contains("FAIL: s :: z.t (1 of 2)"), "failures come first");
    let run = suite.run(&["--filter-failed"]);
    assert!(run.out.contains("-- Testing: 1 of 2 tests"), "{}", run.out);
    suite.write(".lit_test_times.txt", "nonsense");
    assert!(suite.run(&[]).err.contains("malformed timing data"));
}

#[test]
fn times_are_not_recorded_on_request() {
    let suite = Suite::new(&[("a.t", PASS)]);
    suite.run(&["--skip-test-time-recording"]);
    assert!(!suite.path(".lit_test_times.txt").exists());
    assert!(Cli::try_parse_from(["lit", "--skip-test-time-recording", "--time-tests", "x"]).is_err());
    let run = suite.run(&["--time-tests=all"]);
    assert!(run.out.contains("Slowest Tests (1 of 1):"), "{}", run.out);
    assert!(suite.path(".lit_test_times.txt").exists());
}

#[test]
fn lists_of_names() {
    let suite =
        Suite::new(&[("a.t", FAIL), ("b.t", "XFAIL: *\nRUN: true"), ("c.t", "UNSUPPORTED: true\nRUN: true")]);
    assert_eq!(suite.run(&[]).status, 1);
    let run = suite.run(&["--xfail=a.t", "--xfail-not=s :: b.t", "--unsupported-not=c.t;x"]);
    assert_eq!(run.status, 0, "{}", run.out);
    assert!(run.out.contains("PASS: s :: c.t"), "{}", run.out);
    let run = suite.run(&["--unsupported=a.t;b.t"]);
    assert!(run.out.contains("Unsupported: 3"), "{}", run.out);
    let run = suite.run(&["--exclude-xfail", "--filter=b"]);
    assert!(run.out.contains("EXCLUDED: s :: b.t"), "{}", run.out);
    let names = lit_variables(&[("LIT_XFAIL", "a.t"), ("LIT_XFAIL_NOT", "b.t")]);
    assert_eq!(suite.run_in(&names, &[]).status, 0);
}

#[test]
fn listings() {
    let suite = Suite::new(&[
        ("b.t", "REQUIRES: x && {{y.*}}\nUNSUPPORTED: z\nXFAIL: *\nRUN: false"),
        ("a/c.t", PASS),
    ]);
    assert_eq!(suite.run(&["--show-tests"]).out, "-- Available Tests --\n  s :: a/c.t\n  s :: b.t\n");
    let run = suite.run(&["--show-suites"]);
    assert!(run.out.starts_with("-- Test Suites --\n  s - 2 tests\n    Source Root: "), "{}", run.out);
    assert_eq!(suite.run(&["--show-used-features"]).out, "x z {{y.*}}\n");
}

#[test]
fn shards() {
    let files: Vec<(String, &str)> = (0..7).map(|n| (format!("{n}.t"), PASS)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let suite = Suite::new(&files);
    let mut seen = 0;
    for shard in 1..=3 {
        let run = suite.run(&["--num-shards=3", &format!("--run-shard={shard}"), "--order=lexical"]);
        seen += run.out.matches("PASS: ").count();
        assert!(run.err.contains(&format!("Selecting shard {shard}/3 = ")), "{}", run.err);
    }
    assert_eq!(seen, 7);
    let run = suite
        .run_in(&lit_variables(&[("LIT_NUM_SHARDS", "7"), ("LIT_RUN_SHARD", "7")]), &["--order=lexical"]);
    assert!(run.out.contains("PASS: s :: 6.t (1 of 1)"), "{}", run.out);
    let run = suite.run(&["--num-shards=100", "--run-shard=50"]);
    assert_eq!(run.status, 0);
    assert!(run.err.contains("shard does not contain any tests"), "{}", run.err);
    assert_eq!(suite.run(&["--num-shards=3"]).status, 2);
    assert_eq!(suite.run(&["--num-shards=3", "--run-shard=4"]).status, 2);
}

#[test]
fn bazel_protocol() {
    let suite = Suite::new(&[("a.t", "RUN: echo x > %t"), ("b.t", FAIL), ("c.t", PASS)]);
    let out = tempfile::tempdir().unwrap();
    let path = |name: &str| out.path().join(name).display().to_string();
    let variables = BTreeMap::from([
        ("TEST_TOTAL_SHARDS", "2".to_owned()),
        ("TEST_SHARD_INDEX", "0".to_owned()),
        ("TEST_SHARD_STATUS_FILE", path("status")),
        ("XML_OUTPUT_FILE", path("out.xml")),
        ("TEST_TMPDIR", path("tmp")),
        ("TESTBRIDGE_TEST_ONLY", "[ac]\\.t".to_owned()),
    ]);
    let bazel = Bazel::from_variables(|name| variables.get(name).cloned());
    let environment = Environment { bazel, ..Environment::default() };
    let run = suite.run_in(&environment, &["--order=lexical"]);
    assert_eq!(run.status, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("PASS: s :: a.t (1 of 1)"), "{}", run.out);
    assert!(out.path().join("status").exists());
    assert!(out.path().join("tmp/lit/s/Output/a.t.tmp").exists());
    let xml = std::fs::read_to_string(out.path().join("out.xml")).unwrap();
    assert!(xml.contains("<testsuite name=\"s\" tests=\"1\" failures=\"0\" skipped=\"0\""), "{xml}");
    assert!(!suite.path("Output").exists());
}

#[test]
fn stopping_early() {
    let suite = Suite::new(&[("a.t", FAIL), ("b.t", FAIL), ("c.t", PASS), ("d.t", "RUN: nap 5000")]);
    let run = suite.run(&["--max-failures=1", "--order=lexical", "-j1", "--show-skipped"]);
    assert_eq!(run.status, 1);
    assert!(run.err.contains("reached maximum number of test failures, skipping remaining tests"));
    assert!(run.out.contains("Skipped Tests (3):"), "{}", run.out);
    let run = suite.run(&["--max-time=2", "--filter=[cd]\\.t", "--order=lexical", "-j1"]);
    assert!(run.err.contains("warning: reached timeout, skipping remaining tests"), "{}", run.err);
    assert!(run.out.contains("Skipped : 1"), "{}", run.out);
}

#[test]
fn time_limits() {
    // `nap` can't be interrupted: its thread is left behind.
    let suite = Suite::new(&[("a.t", "RUN: nap 20000"), ("b.t", "RUN: true")]);
    let begun = Instant::now();
    let run = suite.run(&["--timeout=1", "-j1", "--order=lexical", "-v"]);
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert!(run.out.contains("TIMEOUT: s :: a.t (1 of 2)"), "{}", run.out);
    assert!(run.out.contains("Timeout: Reached timeout of 1 seconds"), "{}", run.out);
    assert!(run.out.contains("PASS: s :: b.t (2 of 2)"), "{}", run.out);
    assert_eq!(run.status, 1);
}

#[test]
fn long_tests_are_mentioned_while_they_run() {
    let suite = Suite::new(&[("a.t", "RUN: true\nRUN: nap 2500"), ("b.t", PASS)]);
    let run = suite.run(&["--heartbeat=1", "-j2", "--order=lexical"]);
    assert_eq!(run.status, 0);
    assert!(run.err.contains("lit: note: still running after 1 s: s :: a.t, line 2\n"), "{}", run.err);
    assert!(!run.err.contains("b.t"), "{}", run.err);
    assert_eq!(suite.run(&["--heartbeat=0"]).err, "");
}

#[cfg(unix)]
#[test]
fn time_limit_ends_programs() {
    let suite = Suite::new(&[("a.t", "RUN: sleep 30")]);
    suite.write("lit.toml", "name = \"s\"\nsuffixes = [\".t\"]\nexternal-tools = [\"sleep\"]\ntimeout = 1");
    let begun = Instant::now();
    let run = suite.run(&[]);
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert!(run.out.contains("TIMEOUT: s :: a.t"), "{}", run.out);
}

#[cfg(unix)]
#[test]
fn programs_run_only_when_allowed() {
    let suite = Suite::new(&[(
        "a.t",
        "RUN: echo x | tr x y > %t\nRUN: echo y | diff - %t\nRUN: sh -c 'echo a; echo b >&2; echo c' 2>&1 | up > %t.2\nRUN: cat %t.2 | count 3",
    )]);
    let run = suite.run(&["-v"]);
    assert!(run.out.contains("FAIL: s :: a.t"), "{}", run.out);
    assert!(
        run.out.contains(
            "'tr': command not found: it is neither built in nor named in external-tools of lit.toml"
        ),
        "{}",
        run.out
    );
    for tools in ["[\"tr\", \"sh\"]", "true"] {
        suite.write("lit.toml", &format!("name = \"s\"\nsuffixes = [\".t\"]\nexternal-tools = {tools}"));
        let run = suite.run(&["-v"]);
        assert_eq!(run.status, 0, "{}", run.out);
    }
}

#[test]
fn programs_known_to_be_absent() {
    let suite = Suite::new(&[("a.t", "RUN: clang %s"), ("b.t", "RUN: not absent --x | up")]);
    suite.write("lit.toml", "name = \"s\"\nsuffixes = [\".t\"]\nunsupported-tools = [\"clang\"]");
    let xml = suite.path("x.xml").display().to_string();
    let run = suite.run(&["--xunit-xml-output", &xml, "-a"]);
    assert_eq!(run.status, 0);
    assert!(run.out.contains("UNSUPPORTED: s :: a.t"), "{}", run.out);
    assert!(run.out.contains("absent can't do '--x'"), "{}", run.out);
    let xml = std::fs::read_to_string(xml).unwrap();
    assert!(xml.contains("<skipped message=\"clang is not available\"/>"), "{xml}");
}

#[test]
fn panics_stay_in_their_test() {
    let suite = Suite::new(&[
        ("a.t", "RUN: crash now"),
        ("b.t", "RUN: not --crash crash now 2>&1 | up > %t\nRUN: sed -n '1p' %t | count 1"),
        ("c.t", PASS),
    ]);
    let run = suite.run(&["-v", "-j2"]);
    assert!(run.out.contains("# | crash: panicked: crashed with 1 arguments (at "), "{}", run.out);
    assert!(run.out.contains("# error: command failed with exit status: -6"), "{}", run.out);
    assert!(run.out.contains("FAIL: s :: a.t") && run.out.contains("PASS: s :: b.t"), "{}", run.out);
}

#[test]
fn cases_of_one_file_run_apart() {
    let cases = |text: &str| [text; 8].join("// -----\n");
    let suite = Suite::new(&[]);
    suite.write("a.t", "RUN: cases 400 < %S/in > %t\nRUN: cat %t | count 16\nRUN: sed -n '1p' %t > %t.2 && echo A | diff - %t.2\n");
    suite.write("in", &cases("a\nb\n"));
    let begun = Instant::now();
    // One test, so all but one of the workers are free for cases; they are not taken away.
    suite.write("b.t", PASS);
    suite.write("c.t", PASS);
    suite.write("d.t", PASS);
    let run = suite.run(&["-j4", "-v"]);
    assert_eq!(run.status, 0, "{}", run.out);
    assert!(begun.elapsed() < Duration::from_millis(8 * 400), "cases ran one after the other");

    suite.write("in", "a\n// -----\npanic\n// -----\nc\n");
    suite.write(
        "a.t",
        "RUN: not --crash cases 1 < %S/in > %t\nRUN: echo A > %t.2 && echo C >> %t.2 && diff %t %t.2",
    );
    let run = suite.run(&["-j4", "-v"]);
    assert_eq!(run.status, 0, "{}", run.out);
}

#[test]
fn output_does_not_depend_on_the_number_of_workers() {
    let files: Vec<(String, String)> = (0..40)
        .map(|n| (format!("{n:02}.t"), format!("RUN: nap {}\nRUN: status {}", (40 - n) % 7, n % 5)))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let suite = Suite::new(&files);
    let run = |workers: &str| {
        let text = suite.run(&["-v", "--order=lexical", workers]).out;
        text.replacen("1 workers", "N workers", 1).replacen("8 workers", "N workers", 1)
    };
    assert_eq!(stable(&run("-j1")), stable(&run("-j8")));
}

#[test]
fn random_order_is_reproducible() {
    let files: Vec<(String, &str)> = (0..20).map(|n| (format!("{n:02}.t"), PASS)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let suite = Suite::new(&files);
    let run = |seed: &str| stable(&suite.run(&["--shuffle", "-j1", seed]).out);
    assert_eq!(run("--seed=1"), run("--seed=1"));
    assert_ne!(run("--seed=1"), run("--seed=2"));
    assert_ne!(run("--seed=1"), stable(&suite.run(&["--order=lexical", "-j1"]).out));
}

#[test]
fn reports() {
    let suite = Suite::new(&[
        ("d.x/a.t", "RUN: status 1 ']]>'"),
        ("b.t", PASS),
        ("c.t", "REQUIRES: no\nRUN: true"),
        ("e.t", PASS),
    ]);
    let path = |name: &str| suite.path(name).display().to_string();
    let run = suite.run(&[
        "-o",
        &path("r.json"),
        "--xunit-xml-output",
        &path("r.xml"),
        "--resultdb-output",
        &path("r.db"),
        "--time-trace-output",
        &path("r.trace"),
        "--report=github",
        "--filter-out=e\\.t",
        "--order=lexical",
    ]);
    assert_eq!(run.status, 1);
    let read = |name: &str| std::fs::read_to_string(suite.path(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("r.json")).unwrap();
    let tests = json["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 3);
    assert_eq!((&tests[0]["name"], &tests[0]["code"]), (&"s :: b.t".into(), &"PASS".into()));
    assert!(tests[2]["output"].as_str().unwrap().starts_with("Exit Code: 1\n"));
    let xml = read("r.xml");
    assert!(xml.contains("tests=\"4\" failures=\"1\" skipped=\"2\""), "{xml}");
    assert!(xml.contains("<testcase classname=\"s.d_x\" name=\"a.t\""), "{xml}");
    assert!(xml.contains("]]]]><![CDATA[>"), "{xml}");
    assert!(xml.contains("<skipped message=\"Test not selected (--filter, --max-tests)\"/>"), "{xml}");
    assert!(
        xml.contains("<skipped message=\"Test requires the following unavailable features: no\"/>"),
        "{xml}"
    );
    let db: serde_json::Value = serde_json::from_str(&read("r.db")).unwrap();
    assert_eq!(db["tests"][2]["status"], "FAIL");
    let trace: serde_json::Value = serde_json::from_str(&read("r.trace")).unwrap();
    assert_eq!(trace["traceEvents"].as_array().unwrap().len(), 2);
    assert!(run.out.contains("d.x/a.t,line=1,title=FAIL%3A s %3A%3A d.x/a.t::]]>\n"), "{}", run.out);

    suite.run(&["-o", &path("r.json"), "--report-failures-only"]);
    let json: serde_json::Value = serde_json::from_str(&read("r.json")).unwrap();
    assert_eq!(json["tests"].as_array().unwrap().len(), 1);
    let run = suite.run(&["-o", &path("no/such/r.json")]);
    assert_eq!(run.status, 2);
}

#[test]
fn nothing_is_executed_on_request() {
    let suite = Suite::new(&[
        ("a.t", "RUN: touch %t.made\nRUN: no-such-thing | %{p}"),
        ("b.t", "no run line"),
        ("c.t", "RUN: echo 'x"),
    ]);
    let run = suite.run(&["--no-execute", "--order=lexical"]);
    assert!(run.out.contains("PASS: s :: a.t") && run.out.contains("PASS: s :: c.t"), "{}", run.out);
    assert!(run.out.contains("UNRESOLVED: s :: b.t"), "{}", run.out);
    let run = suite.run(&["--show-commands", "-Dp=q", "--order=lexical", "-v"]);
    assert!(run.out.contains("# RUN: at line 2\nno-such-thing | q\n"), "{}", run.out);
    assert!(run.out.contains("UNRESOLVED: s :: c.t"), "{}", run.out);
    assert!(run.out.contains("missing quote character ' (column 6 of the command)"), "{}", run.out);
    assert!(!suite.path("Output").exists());
}

#[test]
fn usage_errors() {
    let empty = Suite::new(&[]);
    let run = empty.run(&[]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("did not discover any tests for provided path(s)"), "{}", run.err);
    let broken = Suite::new(&[("a.t", PASS)]);
    broken.write("lit.toml", "nam = 1");
    let run = broken.run(&[]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("unknown field `nam`") && run.err.contains("errors, exiting"), "{}", run.err);
    for args in [["lit", "-j0", "x"], ["lit", "--max-failures=0", "x"], ["lit", "--order=odd", "x"]] {
        assert_eq!(Cli::try_parse_from(args).err().map(|error| error.exit_code()), Some(2));
    }
}

#[test]
fn python_configuration_gets_a_note() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("lit.cfg.py"), "config.suffixes = ['.t']\n").unwrap();
    std::fs::write(dir.path().join("a.t"), PASS).unwrap();
    let host = lit::Host { suffixes: vec![".t".to_owned()], ..lit::Host::default() };
    let found = lit::discover(&[dir.path().to_owned()], &host);
    assert_eq!(found.tests.len(), 1);
    assert!(found.notes[0].contains("lit.toml instead"), "{}", found.notes[0]);
}

#[test]
fn one_test_by_itself() {
    let suite = Suite::new(&[("a.t", "RUN: cases 1 < %s | up | count 1\n"), ("b.t", FAIL), ("c.x", PASS)]);
    let host = lit::Host { tools: lit_tools::all(), ..lit::Host::default() };
    let code = |name: &str| lit::run_one(&suite.path(name), &host).code.name();
    assert_eq!(code("a.t"), "PASS");
    assert_eq!(code("b.t"), "FAIL");
    assert_eq!(code("c.x"), "UNRESOLVED");
    assert_eq!(code("missing.t"), "UNRESOLVED");
}

#[test]
fn groups_limit_parallelism() {
    let files: Vec<(String, &str)> =
        (0..4).map(|n| (format!("{n}.t"), "RUN: mkdir -p %S/lock && ls %S/lock | count 0\nRUN: touch %S/lock/x && nap 30 && rm %S/lock/x")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let suite = Suite::new(&files);
    suite.write(
        "lit.toml",
        "name = \"s\"\nsuffixes = [\".t\"]\nparallelism-group = \"g\"\n[parallelism-groups]\ng = 1\n",
    );
    assert_eq!(suite.run(&["-j4", "-v"]).status, 0);
}

#[test]
fn options_in_a_variable() {
    let words = lit::cli::extra_arguments("-v --filter='a b' \"-Dx=\\\"y\\\"\" c\\ d").unwrap();
    assert_eq!(words, ["-v", "--filter=a b", "-Dx=\"y\"", "c d"]);
    assert!(lit::cli::extra_arguments("'").is_err());
}

#[test]
fn watching() {
    let suite = Suite::new(&[
        ("a.t", "RUN: up < %S/in.txt | count 1"),
        ("b.t", "RUN: up %S/in.txt | count 1\nRUN: true"),
        ("c.t", PASS),
        ("in.txt", "x\n"),
    ]);
    let root = suite.folder.root().display().to_string();
    let options = Cli::parse_from(["lit", "--watch", "--order=lexical", "-j1", &root]).options;
    let host = lit::Host { tools: lit_tools::all(), ..lit::Host::default() };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = lit::run::Streams { out: &mut out, err: &mut err };
    let mut step = 0;
    let changes = std::iter::from_fn(|| {
        step += 1;
        Some(vec![match step {
            1 => suite.path("in.txt"),
            2 => suite.path("c.t"),
            3 => suite.path("Output/a.t.tmp"),
            4 => {
                suite.write("new.t", FAIL);
                suite.path("new.t")
            }
            5 => suite.path("lit.toml"),
            _ => return None,
        }])
    });
    let environment = Environment::default();
    let status = lit::watch::run_for(&options, &host, &environment, &mut streams, changes).unwrap();
    assert_eq!(status, 1);
    let out = String::from_utf8(out).unwrap();
    let headers: Vec<&str> = out.lines().filter(|line| line.starts_with("-- Testing")).collect();
    assert_eq!(
        headers,
        [
            "-- Testing: 3 tests, 1 workers --",
            "-- Testing: 2 tests, 1 workers --",
            "-- Testing: 1 tests, 1 workers --",
            "-- Testing: 1 tests, 1 workers --",
            "-- Testing: 4 tests, 1 workers --",
        ]
    );
}
