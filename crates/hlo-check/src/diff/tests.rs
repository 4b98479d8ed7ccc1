//! What is the same thing, and what is said of the rest.

use super::*;

fn module(text: &str) -> Module {
    hlo_text::parse(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

/// The module with these lines in its entry.
fn entry(lines: &[&str]) -> String {
    format!("HloModule m\n\nENTRY e {{\n  {}\n}}\n", lines.join("\n  "))
}

fn diff_with(before: &str, after: &str, options: &DiffOptions) -> (Counts, String) {
    let (before, after) = (module(before), module(after));
    let diff = ModuleDiff::new(&before, &after, options);
    let text = diff.render(&RenderOptions::default());
    assert_eq!(diff.is_empty(), text.is_empty(), "{text}");
    (diff.counts(), text)
}

fn diff(before: &str, after: &str) -> (Counts, String) {
    diff_with(before, after, &DiffOptions::default())
}

const NONE: Counts = Counts {
    added: 0,
    removed: 0,
    changed: 0,
    renamed: 0,
    moved: 0,
    computations_added: 0,
    computations_removed: 0,
    computations_renamed: 0,
    header: 0,
};

const P: &str = "p = f32[2] parameter(0)";

#[test]
fn order_means_nothing_without_a_schedule() {
    let lines = ["a = f32[2] abs(p)", "b = f32[2] sine(p)", "ROOT c = f32[2] add(a, b)"];
    let before = entry(&[P, lines[0], lines[1], lines[2]]);
    let after = entry(&[P, lines[1], lines[0], lines[2]]);
    assert_eq!(diff(&before, &after), (NONE, String::new()));
    let scheduled = |text: &str| text.replace("HloModule m", "HloModule m, is_scheduled=true");
    let (counts, text) = diff(&scheduled(&before), &scheduled(&after));
    assert_eq!(counts, Counts { moved: 1, ..NONE });
    assert!(text.contains("\n> %b = f32[2]{0} sine(%p)\n"), "{text}");
    let (counts, text) = diff(&before, &scheduled(&before));
    assert_eq!(counts, Counts { header: 1, ..NONE });
    assert_eq!(text, "HloModule\n+ is_scheduled=true\n");
}

#[test]
fn a_module_is_what_it_prints() {
    use hlo_passes::structure::structural_hash;
    use hlo_text::PrintOptions;
    // Sugar leaves out names.
    let print = PrintOptions {
        print_large_constants: true,
        syntax_sugar_async_ops: false,
        ..PrintOptions::default()
    };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit-tests");
    let mut count = 0;
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten();
    for path in files.map(walkdir::DirEntry::into_path).filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for case in text.split("// -----\n") {
            let Ok(module) = hlo_text::parse_module(case, &hlo_text::ParseOptions::default()) else {
                continue;
            };
            let module = module.module;
            let again = hlo_text::parse_module(&module.to_text(&print), &hlo_text::ParseOptions::default());
            let again = again.unwrap_or_else(|errors| panic!("{}: {errors:?}", path.display())).module;
            let diff = ModuleDiff::new(&module, &again, &DiffOptions::default());
            assert!(diff.is_empty(), "{}: {}", path.display(), diff.render(&RenderOptions::default()));
            assert_eq!(structural_hash(&module), structural_hash(&again), "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 300, "only {count} modules");
}

#[test]
fn a_changed_instruction_is_shown_with_its_words() {
    let before = entry(&[P, "a = f32[2] abs(p)", "ROOT c = f32[2] add(a, p)"]);
    let after = entry(&[P, "a = f32[2] sine(p)", "ROOT c = f32[2] add(p, a)"]);
    let (counts, text) = diff(&before, &after);
    assert_eq!(counts, Counts { changed: 2, ..NONE });
    assert_eq!(
        text,
        "ENTRY %e\n  %p = f32[2]{0} parameter(0)\n\
         - %a = f32[2]{0} abs(%p)\n?                ^^^\n\
         + %a = f32[2]{0} sine(%p)\n?                ^^^^\n\
         - ROOT %c = f32[2]{0} add(%a, %p)\n?                         ^^  ^^\n\
         + ROOT %c = f32[2]{0} add(%p, %a)\n?                         ^^  ^^\n"
    );
}

#[test]
fn users_of_something_renamed_are_the_same() {
    let before = entry(&[P, "a = f32[2] abs(p)", "ROOT c = f32[2] add(a, a)"]);
    let after = entry(&[P, "z.9 = f32[2] abs(p)", "ROOT c = f32[2] add(z.9, z.9)"]);
    let (counts, text) = diff(&before, &after);
    assert_eq!(counts, Counts { renamed: 1, ..NONE });
    assert!(text.contains("~ %z.9 = f32[2]{0} abs(%p)  (was %a)\n"), "{text}");
    assert_eq!(diff_with(&before, &after, &DiffOptions { names: false, ..DiffOptions::default() }).0, NONE);
}

#[test]
fn numbers_in_names_don_t_mislead() {
    // Everything is numbered anew because of the instruction in front.
    let before = entry(&[
        P,
        "add.1 = f32[2] add(p, p)",
        "add.2 = f32[2] add(add.1, p)",
        "add.3 = f32[2] add(add.2, p)",
        "ROOT r = (f32[2]) tuple(add.3)",
    ]);
    let after = entry(&[
        P,
        "mul = f32[2] multiply(p, p)",
        "add.1 = f32[2] add(mul, mul)",
        "add.2 = f32[2] add(p, p)",
        "add.3 = f32[2] add(add.2, p)",
        "add.4 = f32[2] add(add.3, p)",
        "ROOT r = (f32[2], f32[2]) tuple(add.4, add.1)",
    ]);
    let (counts, text) = diff(&before, &after);
    assert_eq!(counts, Counts { added: 2, renamed: 3, changed: 1, header: 1, ..NONE }, "{text}");
}

#[test]
fn users_tell_copies_apart() {
    // The copies have changed places, and names say nothing.
    let lines = |names: [&str; 7]| {
        let [a, b, c, d, e, f, r] = names;
        entry(&[
            P,
            &format!("{a} = f32[2] abs(p)"),
            &format!("{b} = f32[2] sine({a}), metadata={{op_name=\"one\"}}"),
            &format!("{c} = f32[2] cosine({b})"),
            &format!("{d} = f32[2] abs(p)"),
            &format!("{e} = f32[2] sine({d}), metadata={{op_name=\"two\"}}"),
            &format!("{f} = f32[2] tan({e})"),
            &format!("ROOT {r} = (f32[2], f32[2]) tuple({c}, {f})"),
        ])
    };
    let before = lines(["abs.1", "sine.1", "cosine.1", "abs.2", "sine.2", "tan.1", "tuple"]);
    let after = lines(["abs.2", "sine.2", "cosine.7", "abs.5", "sine.1", "tan.7", "tuple.9"]);
    let (counts, text) = diff_with(&before, &after, &DiffOptions { names: false, ..DiffOptions::default() });
    assert_eq!(counts, NONE, "{text}");
}

#[test]
fn names_lead_where_passes_keep_them() {
    // A new instruction computes what an old one did, which computes something else now.
    let before = entry(&[P, "a = f32[2] abs(p)", "b = f32[2] sine(a)", "ROOT c = f32[2] add(a, b)"]);
    let after = entry(&[
        P,
        "a = f32[2] cosine(p)",
        "b = f32[2] sine(a)",
        "n = f32[2] abs(p)",
        "ROOT c = f32[2] add(n, b)",
    ]);
    let (counts, text) = diff(&before, &after);
    // Structure finds that `n` is the old `a`; the names of the others stay.
    assert_eq!(counts.removed, 0, "{text}");
    assert_eq!(counts.added, 1, "{text}");
}

#[test]
fn a_change_of_what_everything_depends_on_is_one_change() {
    let before = entry(&[P, "x = f32[2] abs(p)", "y = f32[2] sine(x)", "ROOT z = f32[2] cosine(y)"]);
    let after = entry(&[
        "q = f32[2] parameter(0), sharding={replicated}",
        "x.1 = f32[2] abs(q)",
        "y.1 = f32[2] sine(x.1)",
        "ROOT z.1 = f32[2] cosine(y.1)",
    ]);
    let (counts, text) = diff(&before, &after);
    assert_eq!(counts, Counts { changed: 1, renamed: 3, ..NONE }, "{text}");
    assert_eq!(
        diff_with(&before, &after, &DiffOptions { names: false, ..DiffOptions::default() }).0,
        Counts { changed: 1, ..NONE }
    );
}

#[test]
fn every_aspect_is_told() {
    let of = |before: &str, after: &str| {
        let lines = |line: &str| entry(&[P, "q = f32[2] parameter(1)", line, "ROOT r = (f32[2]) tuple(p)"]);
        let (before, after) = (module(&lines(before)), module(&lines(after)));
        let diff = ModuleDiff::new(&before, &after, &DiffOptions::default());
        let changed: Vec<Aspects> = diff.computations[0]
            .instructions
            .iter()
            .filter(|instruction| instruction.kind() != Kind::Same)
            .map(|instruction| instruction.aspects)
            .collect();
        assert_eq!(changed.len(), 1);
        changed[0].iter().map(Aspect::name).collect::<Vec<_>>()
    };
    assert_eq!(of("x = f32[2] abs(p)", "x = f32[2] sine(p)"), ["opcode"]);
    assert_eq!(of("x = f32[2] abs(p)", "x = f32[2] abs(q)"), ["operands"]);
    assert_eq!(of("x = f32[2] convert(p)", "x = f16[2] convert(p)"), ["shape"]);
    assert_eq!(
        of(
            "x = f32[2,2]{1,0} broadcast(p), dimensions={0}",
            "x = f32[2,2]{0,1} broadcast(p), dimensions={0}"
        ),
        ["layout"]
    );
    assert_eq!(
        of("x = f32[2,2] broadcast(p), dimensions={0}", "x = f32[2,2] broadcast(p), dimensions={1}"),
        ["attributes"]
    );
    assert_eq!(of("x = f32[] constant(1)", "x = f32[] constant(2)"), ["constant"]);
    assert_eq!(
        of("x = f32[2] abs(p), control-predecessors={q}", "x = f32[2] abs(p)"),
        ["control predecessors"]
    );
    assert_eq!(
        of("x = f32[2] abs(p), metadata={op_name=\"a\"}", "x = f32[2] abs(p), metadata={op_name=\"b\"}"),
        ["metadata"]
    );
    assert_eq!(
        of("x = (s32[], f32[2]) tuple(q, p)", "x = (s32[], f32[2]) tuple(q, p), backend_config=\"1\""),
        ["attributes"]
    );
}

#[test]
fn metadata_can_be_left_out() {
    let before = entry(&[P, "ROOT x = f32[2] abs(p), metadata={op_name=\"a\"}"]);
    let after = entry(&[P, "ROOT x = f32[2] abs(p), metadata={op_name=\"b\"}"]);
    assert_eq!(diff(&before, &after).0, Counts { changed: 1, ..NONE });
    assert_eq!(
        diff_with(&before, &after, &DiffOptions { metadata: false, ..DiffOptions::default() }),
        (NONE, String::new())
    );
}

const CALLS: &str = "HloModule m\n\n\
    f {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] abs(x)\n}\n\n\
    g {\n  v = f32[2] parameter(0)\n  ROOT w = f32[2] sine(v)\n}\n\n\
    ENTRY e {\n  p = f32[2] parameter(0)\n  a = f32[2] call(p), to_apply=f\n  ROOT b = f32[2] call(a), to_apply=g\n}\n";

#[test]
fn computations_are_found_by_name_structure_or_caller() {
    let renamed = CALLS.replace("f {", "f.1 {").replace("to_apply=f", "to_apply=f.1");
    let (counts, text) = diff(CALLS, &renamed);
    assert_eq!(counts, Counts { computations_renamed: 1, ..NONE });
    assert_eq!(text, "%f -> %f.1\n  ... 2 instructions that are the same\n");
    // Renamed and changed: only the call tells.
    let (counts, text) = diff(CALLS, &renamed.replace("abs(x)", "cosine(x)"));
    assert_eq!(counts, Counts { computations_renamed: 1, changed: 1, ..NONE }, "{text}");
    // The names have changed places, and nothing else.
    let swapped = CALLS
        .replace("f {", "h {")
        .replace("g {", "f {")
        .replace("h {", "g {")
        .replace("to_apply=f", "to_apply=h")
        .replace("to_apply=g", "to_apply=f")
        .replace("to_apply=h", "to_apply=g");
    let (counts, text) = diff_with(CALLS, &swapped, &DiffOptions { names: false, ..DiffOptions::default() });
    assert!(counts.added + counts.removed == 0, "{text}");
}

#[test]
fn computations_come_and_go() {
    let inlined = "HloModule m\n\n\
        f {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] abs(x)\n}\n\n\
        ENTRY e {\n  p = f32[2] parameter(0)\n  a = f32[2] call(p), to_apply=f\n  ROOT w = f32[2] sine(a)\n}\n";
    let (counts, text) = diff(CALLS, inlined);
    assert_eq!(
        counts,
        Counts { computations_removed: 1, moved: 0, changed: 1, removed: 2, ..NONE },
        "{text}"
    );
    assert!(text.contains("+ ROOT %w = f32[2]{0} sine(%a)"), "{text}");
    assert!(text.contains("\n%g (removed)\n- %v = f32[2]{0} parameter(0)\n"), "{text}");
    let (counts, _) = diff(inlined, CALLS);
    assert_eq!((counts.computations_added, counts.computations_removed), (1, 0));
}

#[test]
fn removed_instructions_stand_where_they_were() {
    let before = entry(&[
        P,
        "a = f32[2] abs(p)",
        "b = f32[2] sine(a)",
        "d = f32[2] tan(b)",
        "ROOT c = f32[2] cosine(p)",
    ]);
    let after = entry(&[P, "ROOT c = f32[2] cosine(p)"]);
    let (counts, text) = diff(&before, &after);
    assert_eq!(counts, Counts { removed: 3, ..NONE });
    let gone: Vec<&str> = text.lines().filter(|line| line.starts_with('-')).collect();
    assert_eq!(gone.len(), 3, "{text}");
    assert_eq!(text.lines().last(), Some("  ROOT %c = f32[2]{0} cosine(%p)"));
}

#[test]
fn the_module_line_counts() {
    let (counts, text) = diff(
        &entry(&["ROOT p = f32[2] parameter(0)"]),
        &entry(&["ROOT p = f32[2] parameter(0)"]).replace(
            "HloModule m",
            "HloModule n, replica_count=2, num_partitions=4, alias_passthrough_params=true",
        ),
    );
    assert_eq!(counts, Counts { header: 4, ..NONE });
    assert_eq!(
        text,
        "HloModule\n- HloModule m\n?           ^\n+ HloModule n\n?           ^\n\
         + alias_passthrough_params=true\n+ replica_count=2\n+ num_partitions=4\n"
    );
}

#[test]
fn a_summary_says_how_much() {
    let before = module(&entry(&[P, "a = f32[2] abs(p)", "ROOT b = f32[2] abs(a)"]));
    let after = module(&entry(&[P, "c = f32[2] sine(p)", "d = f32[2] tan(c)", "ROOT b = f32[2] abs(d)"]));
    let summary = |a, b| ModuleDiff::new(a, b, &DiffOptions::default()).summary();
    assert_eq!(summary(&before, &after), "2 instructions added, 1 removed, 1 changed");
    assert_eq!(summary(&before, &before), "no differences");
}

#[test]
fn colours_mark_words() {
    let before = module(&entry(&[P, "ROOT b = f32[2] abs(p)"]));
    let after = module(&entry(&[P, "ROOT b = f32[2] sine(p)"]));
    let diff = ModuleDiff::new(&before, &after, &DiffOptions::default());
    let text = diff.render(&RenderOptions { color: true, context: 0, ..RenderOptions::default() });
    assert!(text.contains("\x1b[31m- ROOT %b = f32[2]{0} \x1b[7mabs\x1b[27m(%p)\x1b[0m\n"), "{text:?}");
    assert!(!text.contains('?'), "{text:?}");
}

#[test]
fn places_that_stay_are_as_many_as_can_be() {
    let of =
        |places: &[usize]| longest_increasing(&places.iter().map(|&place| Some(place)).collect::<Vec<_>>());
    assert_eq!(of(&[0, 1, 2]), [true, true, true]);
    assert_eq!(of(&[2, 0, 1]), [false, true, true]);
    assert!(of(&[]).is_empty());
    assert_eq!(longest_increasing(&[None, Some(1), None, Some(0)]).iter().filter(|&&stays| stays).count(), 1);
}
