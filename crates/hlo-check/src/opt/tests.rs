use super::*;

const MODULE: &str = "HloModule m\n\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n";

fn opt(args: &[&str], stdin: &str) -> Output {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    OptTool.run(&Invocation { args, stdin: stdin.into(), ..Invocation::default() })
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("messages are UTF-8")
}

#[test]
fn options_have_one_dash_or_two_and_values_after_a_blank() {
    let expected = opt(&["--passes=dce", "--print=short"], MODULE);
    assert_eq!((expected.status, text(&expected.stderr)), (0, ""));
    for args in [
        &["-passes=dce", "-print=short"][..],
        &["--passes", "dce", "-print", "short", "-"],
        &["-print", "short"],
    ] {
        assert_eq!(opt(args, MODULE), expected, "{args:?}");
    }
}

#[test]
fn exit_statuses_tell_faults_apart() {
    for (args, stdin, status, message) in [
        (&["--pases=dce"][..], MODULE, exit::USAGE, "did you mean `--passes`?"),
        (&["a.hlo", "b.hlo"], MODULE, exit::USAGE, "two inputs are given"),
        (&["no-such-folder/a.hlo"], MODULE, exit::USAGE, "can't read no-such-folder/a.hlo"),
        (&["--print-option=print_percnt=true"], MODULE, exit::USAGE, "did you mean `print_percent`?"),
        (&["--passes=dec"], MODULE, exit::USAGE, "INVALID_ARGUMENT: Pass dec not found. Did you mean `dce`?"),
        (&["--passes=dce", "--skip-pass=dec"], MODULE, exit::USAGE, "Did you mean `dce`?"),
        (&["--passes=dce{x=1}"], MODULE, exit::USAGE, "dce: there is no option `x`"),
        (&["--passes="], MODULE, exit::USAGE, "No valid Hlo passes specified"),
        (&["--passes={a=1}"], MODULE, exit::USAGE, "error: --passes: expected the name of a pass before `{`"),
        (&["-o"], MODULE, exit::USAGE, "error: -o: takes a value: FILE"),
        (&["--print"], MODULE, exit::USAGE, "error: --print: takes a value: PRESET"),
        (
            &["--split-input-file"],
            "HloModule m\n//-----\n",
            exit::PARSE,
            "<stdin>:2:1: error: this line is almost",
        ),
        (
            &["--split-input-file", "--error-format=json"],
            "HloModule m\n//-----\n",
            exit::PARSE,
            "\"span\":{\"line\":2,\"column\":1}",
        ),
        (&["--platform=gpu"], MODULE, exit::USAGE, "UNSUPPORTED: --platform=gpu"),
        (&["--error-format=short"], "HloModule m\n%", exit::PARSE, "<stdin>:2:"),
        (&["--error-format=short"], "module @m {\n}", exit::PARSE, "error[HLO0002]"),
    ] {
        let output = opt(args, stdin);
        assert_eq!(output.status, i32::from(status), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(message), "{args:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn cases_of_a_split_file_are_units_of_their_own() {
    let stdin = format!("{MODULE}// -----\nHloModule\n// -----\n{MODULE}");
    let args = ["--split-input-file", "--error-format=short"];
    let whole = opt(&args, &stdin);
    assert_eq!(whole.status, i32::from(exit::PARSE));
    assert_eq!(text(&whole.stdout).matches("// -----\n").count(), 2);
    assert!(text(&whole.stderr).starts_with("<stdin>:7:"), "{}", text(&whole.stderr));

    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    let invocation = Invocation { args, stdin: stdin.into_bytes(), ..Invocation::default() };
    let parts = OptTool.split(&invocation).expect("it can be split");
    assert_eq!(parts.len(), 3);
    let outputs = parts.iter().map(|part| OptTool.run(part)).collect();
    assert_eq!(OptTool.join(&invocation, outputs), whole);
}

#[test]
fn passes_that_are_known_but_not_provided_are_unsupported() {
    let reason = |list: &str| {
        let args = vec![format!("--passes={list}")];
        OptTool.unsupported(&Invocation { args, ..Invocation::default() })
    };
    assert_eq!(reason("dce,legalize-compare"), None);
    assert_eq!(reason("no-such-pass"), None);
    let stock = reason("dce,algsimp").expect("it is XLA's");
    assert!(stock.contains("algsimp"), "{stock}");
    // Outside of tests, running one is an error that says why, never nothing at all.
    for info in registry::all().filter(|info| matches!(info.status, Status::Unimplemented(_))) {
        assert!(reason(info.key).is_some_and(|reason| reason.contains(info.key)), "{}", info.key);
        let output = opt(&[&format!("--passes={}", info.key)], MODULE);
        assert_eq!(output.status, i32::from(exit::PASS), "{}", info.key);
        let message = format!("{}: this pass is not implemented: ", info.key);
        assert!(text(&output.stderr).contains(&message), "{}", text(&output.stderr));
    }
}

#[test]
fn json_diagnostics_have_places() {
    let output =
        opt(&["--error-format=json"], "HloModule m\n\nENTRY e {\n  ROOT p = f32[2] paramter(0)\n}\n");
    let line: serde_json::Value = serde_json::from_slice(&output.stderr).expect("one JSON object");
    assert_eq!(line["code"], "HLO0003");
    assert_eq!((line["span"]["line"].as_u64(), line["span"]["column"].as_u64()), (Some(4), Some(19)));
}

#[test]
fn whitelists_and_blacklists_follow_xla() {
    let keys = |args: &[&str]| -> Vec<&str> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let arguments = arguments::parse(&args).expect("good options");
        Pipeline::new(&arguments.selection()).expect("known passes").keys().collect()
    };
    let passes = "--passes=dce,call-inliner,dce,tuple-simplifier";
    assert_eq!(keys(&[passes, "--skip-pass=dce"]), ["call-inliner", "tuple-simplifier"]);
    assert_eq!(keys(&[passes, "--xla_enable_hlo_passes_only=dce"]), ["dce", "dce"]);
    let disabled = "--xla_disable_hlo_passes=dce";
    assert!(keys(&[passes, "--xla_enable_hlo_passes_only=dce", disabled]).is_empty());
    assert!(keys(&[passes, "--xla_disable_all_hlo_passes"]).is_empty());
}

/// What a run says that ends with `status` and prints nothing; files go to `scratch`.
fn failure(pipeline: &Pipeline, module: &str, options: &[&str], scratch: &Path, status: u8) -> String {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams { out: &mut out, err: &mut err, color: false };
    let resources =
        FileResources { current_dir: Path::new(""), scratch_dir: scratch, environment: Environment::Process };
    let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
    let arguments = arguments::parse(&options).expect("options");
    let unit = Unit { name: "m.hlo", first_line: 1, bytes: module.as_bytes() };
    let found = unit.run(&arguments, pipeline, &resources, &mut streams).expect("memory");
    assert_eq!((found, out.len()), (status, 0));
    text(&err).to_owned()
}

/// Panics at every negation.
struct Faulty;

impl hlo_passes::Pass for Faulty {
    fn run(
        &self,
        edit: &mut hlo_passes::Editor<'_>,
        context: &mut hlo_passes::PassContext<'_>,
    ) -> hlo_passes::PassResult<()> {
        let entry = edit.entry();
        for id in edit.computation(entry).instructions.clone() {
            if context.may_rewrite(edit, id) && edit.instruction(id).opcode == hlo_text::ir::Opcode::Negate {
                panic!("no way back");
            }
        }
        Ok(())
    }
}

#[test]
fn a_pass_that_panics_is_named_and_leaves_a_reproducer() {
    let info = |key| registry::find(key).expect("a key");
    let dce = registry::find("dce").expect("a key");
    let Status::Implemented(make_dce) = dce.status else { panic!("dce runs") };
    let pipeline = Pipeline::of_passes([
        (dce, make_dce()),
        (info("stub"), Box::new(Faulty) as Box<dyn hlo_passes::Pass>),
        (dce, make_dce()),
    ]);
    let module = "HloModule m\n\nENTRY e {\n  p = f32[2] parameter(0)\n  dead = f32[2] sine(p)\n  ROOT n = f32[2] negate(p)\n}\n";
    let folder = tempfile::tempdir().expect("a folder");
    let run = |scratch: &Path| failure(&pipeline, module, &[], scratch, exit::CRASH);
    let said = run(folder.path());
    assert!(said.contains("error: pass stub panicked: no way back (at "), "{said}");
    assert!(said.contains("  at instruction `n` of computation `e`\n"), "{said}");
    let path =
        said.split("reproducer: hlo-opt ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a path");
    assert!(said.ends_with(&format!("{path} --passes=stub\n")), "{said}");
    let file = std::fs::read_to_string(path).expect("it is there");
    assert!(file.starts_with("// RUN: hlo-opt %s --passes=stub\nHloModule m"), "{file}");
    // What the passes before it removed is gone.
    assert!(file.contains("negate(") && !file.contains("sine("), "{file}");
    let said = run(&folder.path().join("no such folder"));
    assert!(said.contains("can't be written"), "{said}");
}

/// Makes every negation wider than its operand.
struct Widening;

impl hlo_passes::Pass for Widening {
    fn run(
        &self,
        edit: &mut hlo_passes::Editor<'_>,
        context: &mut hlo_passes::PassContext<'_>,
    ) -> hlo_passes::PassResult<()> {
        let entry = edit.entry();
        for id in edit.computation(entry).instructions.clone() {
            if context.may_rewrite(edit, id) && edit.instruction(id).opcode == hlo_text::ir::Opcode::Negate {
                let wide = edit.array_shape(hlo_text::ir::ElementType::F32, &[3]);
                edit.set_shape(id, wide);
            }
        }
        Ok(())
    }
}

#[test]
fn a_pass_that_leaves_an_invalid_module_leaves_a_reproducer() {
    let info = |key| registry::find(key).expect("a key");
    let Status::Implemented(make_dce) = info("dce").status else { panic!("dce runs") };
    let pipeline = Pipeline::of_passes([
        (info("dce"), make_dce()),
        (info("stub"), Box::new(Widening) as Box<dyn hlo_passes::Pass>),
    ]);
    let folder = tempfile::tempdir().expect("a folder");
    let module = "HloModule m\n\nENTRY e {\n  p = f32[2] parameter(0)\n  dead = f32[2] sine(p)\n  n = f32[2] negate(p)\n  ROOT t = (f32[2]) tuple(n)\n}\n";
    let run = |options: &[&str]| failure(&pipeline, module, options, folder.path(), exit::PASS);
    let said = run(&["--layout-sensitive"]);
    let command = said.split("note: reproducer: hlo-opt ").nth(1).expect("a reproducer").trim_end();
    let (path, options) = command.split_once(' ').expect("options");
    assert_eq!(options, "--passes=stub --layout-sensitive");
    assert!(path.contains("invalid-stub-"), "{path}");
    let file = std::fs::read_to_string(path).expect("it is there");
    assert!(file.starts_with("// RUN: hlo-opt %s --passes=stub --layout-sensitive\nHloModule m"), "{file}");
    // The module is the one the pass got.
    assert!(file.contains("%n = f32[2]{0} negate(%p)") && !file.contains("sine("), "{file}");
    assert!(run(&["--error-format=json"]).contains("\"reproducer\":\"hlo-opt "));
}

#[test]
fn the_example_of_the_help_can_be_run() {
    let mut help = Vec::new();
    arguments::write_help(&mut help).expect("memory");
    assert!(text(&help).contains(&format!("--passes='{}'", arguments::EXAMPLE)));
    let arguments =
        arguments::parse(&[format!("--passes={}", arguments::EXAMPLE)]).expect("the list is well formed");
    if let Err(error) = Pipeline::new(&arguments.selection()) {
        panic!("{error}");
    }
}

#[test]
fn names_in_xlas_options_that_are_misspelt_are_noted() {
    for option in ["--xla_enable_hlo_passes_only=dec", "--xla_disable_hlo_passes=dec"] {
        let output = opt(&["--passes=dce", option], MODULE);
        assert_eq!(output.status, 0);
        assert!(text(&output.stderr).contains("note: there is no pass `dec`; did you mean `dce`?"));
    }
}

#[test]
fn cases_without_text_print_nothing() {
    let input = format!("// RUN: x\n// -----\n{MODULE}\n// -----\n\n// -----\n{MODULE}\n// -----\n");
    let whole = opt(&["--split-input-file"], &input);
    assert_eq!((whole.status, text(&whole.stderr)), (0, ""));
    assert_eq!(text(&whole.stdout).matches("HloModule").count(), 2);
    assert_eq!(text(&whole.stdout).matches("// -----").count(), 1);
}
