//! Texts of older and newer XLA versions: lenient reading takes them with a warning, keeps everything and prints it
//! in today's spelling or, if asked, in theirs; strict reading refuses them as XLA does.

use hlo_text::diagnostic::Code;
use hlo_text::{ParseOptions, Parsed, PrintOptions, parse_module};

fn lenient(text: &str) -> Parsed {
    match parse_module(text, &ParseOptions::default()) {
        Ok(parsed) => parsed,
        Err(errors) => panic!("{text}\n{:?}", errors.first()),
    }
}

fn entry(lines: &str) -> String {
    format!(
        "HloModule m\n\nplus {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}}\n\n\
         ENTRY e {{\n  p = f32[8]{{0}} parameter(0)\n  q = f32[8]{{0}} parameter(1)\n  {lines}\n}}\n"
    )
}

fn full() -> PrintOptions {
    PrintOptions { print_large_constants: true, ..PrintOptions::default() }
}

/// The text is read with a warning of the kind `code`, strict reading refuses it; gives both prints.
#[track_caller]
fn prints(text: &str, code: Code) -> (String, String) {
    let parsed = lenient(text);
    assert!(parsed.warnings.iter().any(|warning| warning.code == code), "{text}\n{:?}", parsed.warnings);
    assert!(parse_module(text, &ParseOptions::strict()).is_err(), "strict reading takes {text}");
    let today = parsed.module.to_text(&full());
    let as_read = parsed.module.to_text(&PrintOptions { syntax_as_read: true, ..full() });
    for printed in [&today, &as_read] {
        let again = lenient(printed);
        assert_eq!(&again.module.to_text(&full()), &today, "{printed}");
    }
    (today, as_read)
}

#[test]
fn attributes_that_are_kept_as_they_are() {
    let rows: &[(Code, &str, &str)] = &[
        (Code::Dialect, "ROOT r = f32[8]{0} negate(p), OUTER", "outer_dimension_partitions={2}"),
        (
            Code::Dialect,
            "ROOT r = (f32[2]{0}, s32[2]{0}) topk(p), k=2, largest=true, OUTER",
            "is_stable=true",
        ),
        (
            Code::Dialect,
            "ROOT r = f32[8]{0} collective-broadcast(p), replica_groups={{0,1}}, OUTER",
            "has_dynamic_root=false",
        ),
        (
            Code::Dialect,
            "a = f32[2,4]{1,0} reshape(p)\n  b = f32[4,2]{1,0} reshape(q)\n  \
             ROOT r = f32[2,2]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, OUTER",
            "sparsity=L.1@2:4",
        ),
        (
            Code::Dialect,
            "a = f32[1,4,2]{2,1,0} reshape(p)\n  b = f32[4,2,1]{2,1,0} reshape(q)\n  \
             ROOT r = f32[1,1,1]{2,1,0} convolution(a, b), window={size=4}, dim_labels=b0f_0io->b0f, OUTER",
            "algorithm=dot_bf16_bf16_f32",
        ),
        (
            Code::UnknownAttributeKept,
            "ROOT r = f32[8]{0} negate(p), OUTER",
            "of_tomorrow={a=[1,2] b=\"x,}\"}",
        ),
    ];
    for &(code, line, attribute) in rows {
        let (today, as_read) = prints(&entry(&line.replace("OUTER", attribute)), code);
        assert!(today.contains(&format!(", {attribute}\n")), "{today}");
        assert_eq!(today, as_read);
    }
}

#[test]
fn unspecified_version_of_a_custom_call() {
    let text = entry(
        "ROOT r = f32[8]{0} custom-call(p), custom_call_target=\"T\", api_version=API_VERSION_UNSPECIFIED, \
         backend_config=\"\\\"a\\\" eyJh\"",
    );
    let (today, as_read) = prints(&text, Code::Dialect);
    // XLA has no name for it today.
    assert!(today.contains(", custom_call_target=\"T\", backend_config=\"\\\"a\\\" eyJh\"\n"), "{today}");
    assert!(as_read.contains(", api_version=API_VERSION_UNSPECIFIED, backend_config="), "{as_read}");
}

#[test]
fn order_of_comparisons() {
    let (today, as_read) =
        prints(&entry("ROOT r = pred[8]{0} compare(p, q), direction=LT, order=TOTAL"), Code::Dialect);
    assert!(today.contains("direction=LT, type=TOTALORDER\n"), "{today}");
    assert!(as_read.contains("direction=LT, order=TOTAL\n"), "{as_read}");
    // What is the order anyway is not shown.
    for (types, order) in [("s32", "TOTAL"), ("f32", "PARTIAL")] {
        let line = format!("{types} ROOT r = pred[8]{{0}} compare(x, x), direction=GE, order={order}");
        let line = line.replacen(types, &format!("x = {types}[8]{{0}} parameter(2)\n "), 1);
        let (today, _) = prints(&entry(&line), Code::Dialect);
        assert!(today.contains("direction=GE\n"), "{today}");
    }
    let twice = entry("ROOT r = pred[8]{0} compare(p, q), direction=LT, type=FLOAT, order=TOTAL");
    assert!(parse_module(&twice, &ParseOptions::default()).is_err());
    let wrong = entry("ROOT r = pred[8]{0} compare(p, q), direction=LT, order=SIDEWAYS");
    assert!(parse_module(&wrong, &ParseOptions::default()).is_err());
}

#[test]
fn spelling_is_kept_beside_the_value() {
    let (today, as_read) = prints(
        &entry("ROOT r = f32[8]{0} negate(p), sharding={mesh['x'=2,'y'=2], [{'y'}], unreduced=max{'x'}}"),
        Code::Dialect,
    );
    assert!(as_read.contains("sharding={mesh['x'=2,'y'=2], [{'y'}], unreduced=max{'x'}}"), "{as_read}");
    assert!(today.contains("sharding={mesh["), "{today}");
}

#[test]
fn elements_of_tuples_as_operands() {
    let text = entry(
        "t = (f32[8]{0}, (f32[8]{0}, f32[8]{0})) tuple(p, (f32[8]{0}, f32[8]{0}) tuple(p, q))\n  \
         ROOT r = f32[8]{0} add(f32[8]{0} %t#1#0, t#1#0)",
    );
    let (today, _) = prints(&text, Code::Dialect);
    let lines: Vec<&str> = today.lines().map(str::trim).collect();
    assert!(
        lines.contains(&"%get-tuple-element.anon = (f32[8]{0}, f32[8]{0}) get-tuple-element(%t), index=1")
    );
    assert!(lines.contains(
        &"%get-tuple-element.anon.1 = f32[8]{0} get-tuple-element(%get-tuple-element.anon), index=0"
    ));
    let root = "ROOT %r = f32[8]{0} add(%get-tuple-element.anon.1, %get-tuple-element.anon.1)";
    assert!(lines.contains(&root), "{today}");
    for (operand, code) in [
        ("t#2", Code::OutOfRange),
        ("t#0#0", Code::OutOfRange),
        ("t#-1", Code::OutOfRange),
        ("t#x", Code::UnexpectedToken),
        ("nothing#0", Code::UndefinedInstruction),
        ("f32[9]{0} t#0", Code::OperandShape),
    ] {
        let text = entry(&format!(
            "t = (f32[8]{{0}}, f32[8]{{0}}) tuple(p, q)\n  ROOT r = f32[8]{{0}} negate({operand})"
        ));
        let errors = parse_module(&text, &ParseOptions::default()).expect_err(operand);
        assert_eq!(errors[0].code, code, "{operand}");
    }
}

#[test]
fn updates_that_bring_operands() {
    let text = "HloModule m\n\nwork {\n  a = f32[4]{0} parameter(0)\n  b = f32[4]{0} parameter(1)\n  \
                ROOT c = f32[4]{0} add(a, b)\n}\n\nENTRY e {\n  p = f32[4]{0} parameter(0)\n  q = f32[4]{0} parameter(1)\n  \
                s = ((f32[4]{0}), (), s32[]) async-start(p), calls=work\n  \
                u = ((f32[4]{0}, f32[4]{0}), f32[4]{0}, s32[]) async-update(s, q)\n  \
                ROOT d = f32[4]{0} async-done(u)\n}\n";
    let (today, _) = prints(text, Code::Dialect);
    assert!(today.contains("%s = ((f32[4]{0}), (), s32[]) async-start(%p), calls=%work"), "{today}");
    assert!(today.contains("async-update(%s, %q)"), "{today}");
    let wrong = text.replace("async-update(s, q)", "async-update(q, s)");
    assert!(parse_module(&wrong, &ParseOptions::default()).is_err());
    let wrong = text.replace("async-done(u)", "async-done(u, q)");
    assert!(parse_module(&wrong, &ParseOptions::default()).is_err());
}

#[test]
fn headers() {
    let text = "HloModule m, debug_attributes={\n  {\"c\"}:({callback_id=123})\n}\n\nENTRY e {\n  ROOT c = f32[] constant(1), origin={{\"c\"}}\n}\n";
    let (today, _) = prints(text, Code::Dialect);
    assert!(today.contains(", debug_attributes={\n  {\"c\"}:({callback_id=123})\n}\n\n"), "{today}");
}

#[test]
fn reserved_words_as_names() {
    // XLA's short form leaves `%` out, even before names that are reserved words then.
    let text = "HloModule m\n\n%replicated {\n  ROOT %true = f32[] parameter(0)\n}\n\nENTRY %HloModule {\n  \
                %nan = f32[] parameter(0)\n  %ROOT = f32[] add(%nan, %nan)\n  %ENTRY = f32[] call(%ROOT), to_apply=%replicated\n  \
                ROOT %inf = f32[] call(%ENTRY), to_apply=%replicated, control-predecessors={%nan}\n}\n";
    let module = lenient(text).module;
    let short = module.to_text(&PrintOptions::short_parsable());
    assert!(short.contains("\n  ROOT inf = f32[] call(ENTRY), to_apply=replicated\n"), "{short}");
    let again = lenient(&short).module;
    assert_eq!(again.to_text(&PrintOptions::short_parsable()), short);
    assert!(parse_module(&short, &ParseOptions::strict()).is_err());
}
