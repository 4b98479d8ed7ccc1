//! Whatever stands in a test file, reading it ends with a result or a message.

use std::path::PathBuf;

use hlo_check::lit::boolean_expr::{BooleanExpr, Features};
use hlo_check::lit::directives;
use hlo_check::lit::shell::parser;
use hlo_check::lit::substitution::{Substitutions, TestPaths};

const PIECES: [&str; 44] = [
    "RUN:",
    "XFAIL:",
    "REQUIRES:",
    "DEFINE:",
    "REDEFINE:",
    "UNSUPPORTED:",
    "ALLOW_RETRIES:",
    "END.",
    "%",
    "%%",
    "%s",
    "%t",
    "%{",
    "%}",
    "%if ",
    "%else",
    "%(line",
    "+1)",
    "%{x}",
    " = ",
    "\\\n",
    "\n",
    "\r",
    "|",
    "||",
    "&&",
    "&",
    ";",
    "<",
    ">",
    "2>&1",
    ">>",
    "'",
    "\"",
    "\\",
    "*",
    "[",
    "{{",
    "}}",
    "(",
    "!",
    "a",
    " ",
    "\u{e9}",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }

    fn text(&mut self, longest: usize) -> String {
        let length = self.below(longest);
        (0..length).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }
}

#[test]
fn random_files() {
    let paths = TestPaths {
        source: PathBuf::from("/s/a"),
        temp_dir: PathBuf::from("/o"),
        temp_base: PathBuf::from("/o/a"),
    };
    let features: Features = ["a".to_owned()].into_iter().collect();
    let mut random = Random(7);
    let (mut scripts, mut lines, mut trees, mut conditions) = (0, 0, 0, 0);
    for _ in 0..10_000 {
        let text = random.text(30);
        scripts += usize::from(directives::parse(text.as_bytes()).is_ok());
        let line = random.text(14);
        if let Ok(line) = Substitutions::new(&[], &paths, &features, Some(3)).apply(&line) {
            lines += 1;
            trees += usize::from(parser::parse(&line, random.below(2) == 0).is_ok());
        }
        conditions += usize::from(BooleanExpr::parse(&random.text(6)).is_ok());
    }
    // The generator is of use only if much of what it makes is read to the end.
    for (what, count) in
        [("scripts", scripts), ("lines", lines), ("trees", trees), ("conditions", conditions)]
    {
        assert!(count > 100, "{what}: {count}");
    }
}

#[test]
fn random_bytes() {
    let mut random = Random(9);
    for _ in 0..5_000 {
        let length = random.below(60);
        let mut bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        bytes.extend_from_slice(b"RUN:");
        bytes.extend((0..20).map(|_| random.below(256) as u8));
        // Either verdict is fine.
        let _ = directives::parse(&bytes);
    }
}

#[test]
fn a_large_file_is_read_in_one_pass() {
    // A hundred thousand keywords: quadratic reading would not end.
    let text = "RUN: true\n".repeat(100_000);
    let script = directives::parse(text.as_bytes()).unwrap();
    assert_eq!(script.lines.len(), 100_000);
    assert_eq!(script.lines.last().map(|line| line.start_line), Some(100_000));
}

mod lit_tools;

/// Runs the tests of a folder; exit status, standard output, standard error.
fn run(paths: &[&std::path::Path], args: &[&str]) -> (u8, String, String) {
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Cli {
        #[command(flatten)]
        options: hlo_check::lit::cli::Options,
    }
    let paths = paths.iter().map(|path| path.to_string_lossy().into_owned());
    let args: Vec<String> = std::iter::once("lit".to_owned())
        .chain(args.iter().map(|&arg| arg.to_owned()))
        .chain(paths)
        .collect();
    let options = Cli::try_parse_from(args).unwrap_or_else(|error| panic!("{error}")).options;
    let host = hlo_check::lit::Host {
        tools: lit_tools::all(),
        suffixes: vec![".t".to_owned()],
        ..hlo_check::lit::Host::default()
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = hlo_check::lit::run::Streams { out: &mut out, err: &mut err };
    let run = hlo_check::lit::run::run(&options, &host, &Default::default(), &mut streams).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (run.status, text(out), text(err))
}

#[test]
fn odd_files() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("RUN: echo {} | count 1\n", "x".repeat(2_000_000));
    let deep = format!("RUN: {}true\n", "env ".repeat(100_000));
    let not = format!("RUN: {}true\n", "not ".repeat(100_001));
    let parts = format!("RUN: true{}\n", " && true".repeat(20_000));
    let pipes = format!("RUN: true{}\n", " | true".repeat(20_000));
    let conditions = format!("RUN: true\nREQUIRES: {}a{}\n", "(".repeat(50_000), ")".repeat(50_000));
    let nested = format!("RUN: {}true{}\n", "%if a %{ ".repeat(50_000), " %}".repeat(50_000));
    for (name, bytes, verdict) in [
        ("empty.t", &b""[..], "UNRESOLVED"),
        ("no-newline.t", b"RUN: true", "PASS"),
        ("crlf.t", b"RUN: echo a \\\r\nRUN:   b | count 1\r\nXFAIL: nothing\r\n", "PASS"),
        ("old-mac.t", b"RUN: true\rRUN: false\r", "PASS"),
        ("bom.t", b"\xef\xbb\xbfRUN: true\n", "PASS"),
        ("bytes.t", b"\xff\xfe\x00\x80 RUN: true\n\xc3\n", "PASS"),
        ("bytes-in-command.t", b"RUN: echo \xff\n", "UNRESOLVED"),
        ("nul.t", b"RUN: echo a\0b | count 1\n", "PASS"),
        ("nul-in-file.t", b"RUN: echo a > %t\0b\n", "UNRESOLVED"),
        ("nul-in-program.t", b"RUN: ech\0o a\n", "FAIL"),
        ("nul-alone.t", b"RUN: \0\n", "FAIL"),
        ("long.t", long.as_bytes(), "PASS"),
        ("deep.t", deep.as_bytes(), "PASS"),
        ("not.t", not.as_bytes(), "FAIL"),
        ("parts.t", parts.as_bytes(), "PASS"),
        ("pipes.t", pipes.as_bytes(), "PASS"),
        ("conditions.t", conditions.as_bytes(), "UNRESOLVED"),
        ("nested.t", nested.as_bytes(), "UNRESOLVED"),
        ("only-operator.t", b"RUN: |\n", "UNRESOLVED"),
        ("background.t", b"RUN: true &\n", "UNRESOLVED"),
        ("open-quote.t", b"RUN: echo 'a\n", "UNRESOLVED"),
        ("empty-word.t", b"RUN: '' a\n", "UNRESOLVED"),
        ("no-command.t", b"RUN:\n", "PASS"),
        ("dangling.t", b"RUN: true \\\n", "UNRESOLVED"),
        ("self-reference.t", b"DEFINE: %{a} = %{a}\nRUN: echo %{a} | count 1\n", "PASS"),
        ("write-folder.t", b"RUN: mkdir -p %t && echo a > %t\n", "UNRESOLVED"),
        ("read-absent.t", b"RUN: up < %t.absent\n", "UNRESOLVED"),
        ("loop.t", b"RUN: echo > %t.a && env env env not not true\n", "PASS"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let (_, out, _) = run(&[&path], &["-j1", "--skip-test-time-recording"]);
        assert!(
            out.contains(&format!("{verdict}: ")),
            "{name} is not {verdict}: {}",
            &out[..out.len().min(2000)]
        );
    }
    // All of them at once, on two threads, in any order.
    let (status, out, _) = run(&[folder.path()], &["-j2", "--shuffle"]);
    assert_eq!(status, 1);
    assert!(out.contains("Total Discovered Tests: 28\n"), "{out}");
}

#[cfg(unix)]
#[test]
fn odd_folders() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let write = |name: &str, text: &str| {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("lit.toml", "name = \"s\"\nsuffixes = [\".t\"]\n");
    // Two tests of one name, in two folders and (by a link) in one.
    write("a/x.t", "RUN: echo a > %t && count 1 < %t\n");
    write("b/x.t", "RUN: echo a > %t && count 1 < %t\n");
    let deep: String = (0..60).map(|n| format!("d{n}/")).collect();
    write(&format!("{deep}x.t"), "RUN: echo a > %t && count 1 < %t\n");
    symlink("..", root.join("a/up")).unwrap();
    symlink("self", root.join("a/self")).unwrap();
    symlink("nowhere.t", root.join("a/dangling.t")).unwrap();
    write("a/space in name.t", "RUN: true\n");
    let (status, out, err) = run(&[root], &["-j2"]);
    assert!(out.contains("PASS: s :: a/x.t") && out.contains("PASS: s :: b/x.t"), "{out}{err}");
    assert!(out.contains(&format!("PASS: s :: {deep}x.t")), "{out}");
    assert!(out.contains("UNRESOLVED: s :: a/dangling.t"), "nothing is skipped silently: {out}");
    // Each once, though a link leads round in a circle.
    assert_eq!(out.matches(":: a/x.t").count(), 1, "{out}");
    assert_eq!(status, 1);
    // A test that is named twice runs once.
    let twice = root.join("b/x.t");
    let (status, out, _) = run(&[&twice, &twice, &root.join("b")], &["-j2"]);
    assert_eq!((status, out.matches("PASS:").count()), (0, 1), "{out}");
    // Several shards of one suite write beside one another.
    for shard in ["1", "2"] {
        let (status, _, _) = run(&[&root.join("a/x.t"), &twice], &["--num-shards=2", "--run-shard", shard]);
        assert_eq!(status, 0);
    }
    // Where nothing can be written, tests say so. (Nothing stops root.)
    if rustix::process::getuid().is_root() {
        return;
    }
    write("locked/x.t", "RUN: echo a > %t\n");
    let set = |mode| {
        std::fs::set_permissions(root.join("locked"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(0o555);
    let (status, out, _) = run(&[&root.join("locked")], &["-j1"]);
    set(0o755);
    assert!(status == 1 && out.contains("UNRESOLVED: s :: locked/x.t"), "{out}");
}

#[test]
fn places_that_cannot_be_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("x.t", "RUN: true\n");
    let absent = folder.path().join("absent/out.xml");
    let absent = absent.to_string_lossy();
    for option in ["--xunit-xml-output", "-o", "--resultdb-output", "--time-trace-output"] {
        let (status, out, err) = run(&[folder.path()], &[option, &absent]);
        assert_eq!(status, 2, "{option}");
        // The report on the terminal is not lost with the file.
        assert!(out.contains("PASS: ") && err.contains("can't write"), "{out}{err}");
    }
    // A file stands where the folder for output should be.
    std::fs::remove_dir_all(folder.path().join("Output")).unwrap();
    write("Output", "");
    let (status, out, err) = run(&[folder.path()], &[]);
    assert!(status == 1 && out.contains("UNRESOLVED: "), "{out}{err}");
}

#[test]
fn cases_of_two_tests_may_write_to_one_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in 0..40 {
        let text = "RUN: rm -rf %t && mkdir %t && echo a > %t/f && count 1 < %t/f\n".repeat(5);
        std::fs::write(folder.path().join(format!("{name}.t")), text).unwrap();
    }
    let (status, out, err) = run(&[folder.path()], &["-j8"]);
    assert_eq!(status, 0, "{out}{err}");
}
