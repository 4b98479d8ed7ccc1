//! Tests of moving callees into their callers, against copying them.

use hlo_text::ir::{AttrKey, InstructionId, Opcode};
use hlo_text::{Module, ParseOptions, PrintOptions, parse_module};

use super::{EditCounts, Editor, KnownNeeds};
use crate::analysis::CallGraph;
use crate::passes::stock::dce::dead_computations;

fn parse(text: &str) -> Module {
    parse_module(text, &ParseOptions::default()).expect("the module of a test is valid").module
}

/// All calls, those in callees first.
fn calls(edit: &Editor<'_>) -> Vec<InstructionId> {
    let order = CallGraph::of(edit).post_order().into_iter();
    let all = order.flat_map(|id| edit.post_order(id));
    all.filter(|&id| edit.instruction(id).opcode == Opcode::Call).collect()
}

/// Everything about a module that passes can see, by name.
fn facts(edit: &Editor<'_>) -> Vec<String> {
    let name = |&id: &InstructionId| edit.name_of(id).to_owned();
    let list = |ids: &[InstructionId]| ids.iter().map(name).collect::<Vec<_>>();
    let mut facts = vec![edit.to_text(&PrintOptions::default())];
    for &id in edit.computations() {
        let computation = edit.computation(id);
        let mut callers = list(edit.callers(id));
        callers.sort_unstable();
        let parameters = list(&computation.parameters);
        facts.push(format!("{}: {parameters:?} {callers:?}", edit.computation_name(id)));
        for id in edit.live_instructions(id) {
            let (users, successors) = (list(edit.users(id)), list(edit.control_successors(id)));
            let predecessors = list(edit.control_predecessors(id));
            facts.push(format!("{}: {users:?} {predecessors:?} {successors:?}", edit.name_of(id)));
        }
    }
    facts
}

/// What inlining all calls leaves, and how many instructions were made. The lists of users and the like are there
/// `before` or made in between.
fn inlined(text: &str, moves: bool, before: bool) -> (Vec<String>, EditCounts, usize) {
    let mut module = parse(text);
    let made = module.instruction_id_limit();
    let mut edit = Editor::new(&mut module);
    if before {
        facts(&edit);
    }
    for call in calls(&edit) {
        if moves {
            let root = edit.inline_call_and_drop_callee(call, &mut KnownNeeds::default()).expect("a call");
            assert!(!edit.is_removed(root));
        } else {
            edit.inline_call(call).expect("a call");
        }
    }
    let dead = dead_computations(&edit);
    edit.remove_computations(&dead);
    edit.compact();
    (facts(&edit), edit.counts().clone(), edit.instruction_id_limit() - made)
}

/// Moving must leave what copying leaves; gives how many instructions each made.
#[track_caller]
fn moving_is_copying(text: &str) -> [usize; 2] {
    let mut made = [0; 2];
    for before in [false, true] {
        let (copied, copy_counts, copies) = inlined(text, false, before);
        let (moved, move_counts, moves) = inlined(text, true, before);
        assert_eq!(moved, copied);
        assert_eq!(move_counts.added, copy_counts.added);
        assert_eq!(move_counts.removed, copy_counts.removed);
        made = [copies, moves];
    }
    made
}

#[test]
fn names_and_users_are_those_of_copies() {
    let made = moving_is_copying(
        "HloModule m
        f { x = f32[] parameter(0) y = f32[] parameter(1) last = f32[] sine(y) dead = f32[] cosine(last)
            a = f32[] add(x, y) ROOT b = f32[] subtract(a, last) }
        ENTRY e { p = f32[] parameter(0) n = f32[] negate(p) c = f32[] call(n, p), to_apply=f
            t = f32[] tanh(n) a = f32[] add(c, t) ROOT d = f32[] multiply(a, p) }",
    );
    assert_eq!(made, [4, 0]);
}

#[test]
fn the_last_of_several_calls_moves() {
    let made = moving_is_copying(
        "HloModule m
        f { x = f32[] parameter(0) s = f32[] sine(x) ROOT n = f32[] negate(s) }
        ENTRY e { p = f32[] parameter(0) a = f32[] call(p), to_apply=f b = f32[] call(a), to_apply=f
            ROOT c = f32[] call(b), to_apply=f }",
    );
    assert_eq!(made, [6, 4]);
}

#[test]
fn computations_that_others_call_stay() {
    let text = "HloModule m
        f { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }
        g { x = f32[] parameter(0) ROOT s = f32[] sine(x) }
        ENTRY e { p = f32[4] parameter(0) z = f32[] parameter(1) r = f32[] reduce(p, z), dimensions={0}, to_apply=f
            c = f32[] call(r, z), to_apply=f k = f32[] fusion(c), kind=kLoop, calls=g
            ROOT d = f32[] call(k), to_apply=g }";
    assert_eq!(moving_is_copying(text), [2, 2]);
    let mut module = parse(text);
    let mut edit = Editor::new(&mut module);
    for call in calls(&edit) {
        edit.inline_call_and_drop_callee(call, &mut KnownNeeds::default()).expect("a call");
    }
    edit.compact();
    assert_eq!(edit.computations().len(), 3);
}

#[test]
fn control_edges_follow() {
    moving_is_copying(
        "HloModule m
        f { x = f32[] parameter(0) y = f32[] parameter(1) s = f32[] sine(x), control-predecessors={y}
            c = f32[] cosine(x), control-predecessors={s, x} t = f32[] tanh(x), control-predecessors={s, c}
            ROOT n = f32[] add(t, y), control-predecessors={c} }
        ENTRY e { p = f32[] parameter(0) q = f32[] negate(p) r = f32[] exponential(p)
            a = f32[] call(p, q), to_apply=f, control-predecessors={r}
            l = f32[] log(p), control-predecessors={a} ROOT m = f32[] add(a, l) }",
    );
}

#[test]
fn metadata_original_values_and_what_is_called_get_their_prefixes() {
    moving_is_copying(
        r#"HloModule m
        body { x = f32[] parameter(0) ROOT n = f32[] negate(x), metadata={op_name="n"} }
        cond { x = f32[] parameter(0) ROOT k = pred[] constant(false), metadata={op_name="k"} }
        f { x = f32[] parameter(0) w = f32[] while(x), condition=cond, body=body, metadata={op_name="w"}
            ROOT s = f32[] sine(w), origin={{"s"}}, frontend_attributes={a="b"} }
        ENTRY e { p = f32[] parameter(0)
            a = f32[] call(p), to_apply=f, metadata={op_name="outer/one"}, origin={{"call"}}, sharding={replicated}
            ROOT b = f32[] call(a), to_apply=f, metadata={op_name="outer/two"}, is_composite=true,
              frontend_attributes={composite.name="c",composite.version="1",composite.attributes="{}",x="y"} }"#,
    );
}

#[test]
fn bodies_are_copied() {
    moving_is_copying(
        "HloModule m
        inner { x = f32[] parameter(0) ROOT s = f32[] sine(x) }
        fused { x = f32[] parameter(0) a = f32[] fusion(x), kind=kLoop, calls=inner ROOT n = f32[] negate(a) }
        wrapped { x = f32[] parameter(0) ROOT c = f32[] custom-call(x), custom_call_target=\"t\" }
        g { x = f32[] parameter(0) k = f32[] fusion(x), kind=kLoop, calls=fused
            s = ((f32[]), f32[], s32[]) async-start(k), calls=wrapped ROOT d = f32[] async-done(s) }
        f { x = f32[] parameter(0) ROOT c = f32[] call(x), to_apply=g }
        ENTRY e { p = f32[] parameter(0) a = f32[] call(p), to_apply=f ROOT b = f32[] call(a), to_apply=f }",
    );
}

#[test]
fn parameters_and_constants_may_be_roots() {
    moving_is_copying(
        "HloModule m
        f { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] parameter(2) n = f32[] negate(x) }
        g { x = f32[] parameter(0) ROOT k = f32[] constant(1) }
        ENTRY e { p = f32[] parameter(0) a = f32[] call(p, p, p), to_apply=f b = f32[] call(a), to_apply=g
            ROOT t = (f32[], f32[]) tuple(a, b) }",
    );
}

#[test]
fn in_scheduled_modules_nothing_moves() {
    let made = moving_is_copying(
        "HloModule m, is_scheduled=true
        f { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }
        ENTRY e { a = f32[] parameter(0) b = f32[] parameter(1) late = f32[] negate(a)
            c = f32[] call(a, b), to_apply=f ROOT d = f32[] add(c, late) }",
    );
    assert_eq!(made, [1, 1]);
}

/// Every level calls the next one, so that copying makes as many instructions at every level as there are below.
#[test]
fn chains_of_calls_make_no_instructions() {
    const LEVELS: usize = 60;
    let mut text = "HloModule m\nlevel0 { x = f32[] parameter(0) ROOT s = f32[] sine(x) }\n".to_owned();
    for level in 1..LEVELS {
        text.push_str(&format!(
            "level{level} {{ x = f32[] parameter(0) n = f32[] negate(x) ROOT c = f32[] call(n), to_apply=level{} }}\n",
            level - 1
        ));
    }
    let last = LEVELS - 1;
    text.push_str(&format!(
        "ENTRY e {{ p = f32[] parameter(0) ROOT c = f32[] call(p), to_apply=level{last} }}\n"
    ));
    assert_eq!(moving_is_copying(&text), [LEVELS * (LEVELS + 1) / 2, 0]);
}

#[test]
fn misfits_change_nothing() {
    let text = "HloModule m
        f { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }
        ENTRY e { p = f32[] parameter(0) c = f32[] call(p, p), to_apply=f ROOT n = f32[] negate(c) }";
    let mut module = parse(text);
    let mut edit = Editor::new(&mut module);
    let call = calls(&edit)[0];
    let root = edit.computation(edit.entry()).root;
    let error = edit.inline_call_and_drop_callee(root, &mut KnownNeeds::default()).expect_err("no call");
    assert_eq!(error.message, "only a `call` can be inlined");
    let p = edit.operands(call)[0];
    edit.set_operands(call, &[p]);
    let before = facts(&edit);
    for inline in [
        |edit: &mut Editor<'_>, call| edit.inline_call(call).map(|_| ()),
        |edit: &mut Editor<'_>, call| {
            edit.inline_call_and_drop_callee(call, &mut KnownNeeds::default()).map(|_| ())
        },
    ] {
        let error = inline(&mut edit, call).expect_err("an operand is missing");
        assert_eq!(error.message, "the callee's parameter 1 has no operand");
    }
    assert_eq!(facts(&edit), before);
    assert!(edit.called(call, AttrKey::ToApply).is_some());
}

/// Random programs: the search from both ends gives what the search from one end does.
#[test]
fn what_depends_on_an_instruction_is_what_leads_to_it() {
    let mut state = 99u64;
    let mut random = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let mut counts = [0; 2];
    for _ in 0..40 {
        let mut text = "HloModule m\nENTRY e {\n i0 = f32[] parameter(0)\n".to_owned();
        for number in 1..30 {
            let [operand, other, before] = [random(number), random(number), random(number)];
            let edge =
                if random(3) == 0 { format!(", control-predecessors={{i{before}}}") } else { String::new() };
            text += &match random(4) {
                0 => format!(" i{number} = f32[] constant({number}){edge}\n"),
                1 => format!(" i{number} = f32[] add(i{operand}, i{other}){edge}\n"),
                _ => format!(" i{number} = f32[] negate(i{operand}){edge}\n"),
            };
        }
        let mut module = parse(&(text + " ROOT r = f32[] constant(0)\n}"));
        let edit = Editor::new(&mut module);
        let all: Vec<InstructionId> = edit.live_instructions(edit.entry()).collect();
        let mut known = KnownNeeds::default();
        let mut earlier = all[0];
        for _ in 0..40 {
            if random(4) == 0 {
                earlier = all[random(all.len())];
            }
            let laters: Vec<InstructionId> = (0..1 + random(6)).map(|_| all[random(all.len())]).collect();
            let expected: Vec<bool> = laters.iter().map(|&later| edit.depends_on(later, earlier)).collect();
            assert_eq!(edit.which_depend_on(&laters, earlier, &mut known), expected);
            for is_dependent in expected {
                counts[usize::from(is_dependent)] += 1;
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}
