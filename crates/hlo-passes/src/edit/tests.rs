//! Tests of the editor on modules built by hand.

use hlo_text::Module;
use hlo_text::ir::{
    AttrKey, AttrValue, ComputationId, ElementType, InstructionId, NewInstruction, Opcode, ShapeId,
};

use super::{Editor, ReplaceOptions};

/// A module with one computation, and the shape `f32[2]`.
pub(crate) fn module() -> (Module, ComputationId, ShapeId) {
    let mut module = Module::new("m");
    let shape = module.shapes_mut().array(ElementType::F32, &[2]);
    let entry = module.add_computation("e");
    module.set_entry(entry);
    (module, entry, shape)
}

/// Adds an instruction without attributes.
pub(crate) fn add(
    module: &mut Module,
    parent: ComputationId,
    opcode: Opcode,
    shape: ShapeId,
    operands: &[InstructionId],
) -> InstructionId {
    module.add_instruction(parent, NewInstruction::new(opcode, shape, operands))
}

fn names(edit: &Editor<'_>, id: ComputationId) -> Vec<String> {
    edit.post_order(id).into_iter().map(|id| edit.name_of(id).to_owned()).collect()
}

#[test]
fn the_same_opcode_keeps_the_name_and_another_does_not() {
    let (mut module, entry, f32) = module();
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let n = add(&mut module, entry, Opcode::Negate, f32, &[p]);
    let root = add(&mut module, entry, Opcode::Sine, f32, &[n]);
    module.set_root(entry, root);
    let mut edit = Editor::new(&mut module);
    let again = edit.add(entry, Opcode::Negate, f32, &[p], &[]);
    assert_eq!(edit.name_of(again), "negate.1");
    assert_eq!(edit.replace_instruction(n, again), Ok(true));
    assert_eq!(edit.name_of(again), "negate");
    let cosine = edit.add(entry, Opcode::Cosine, f32, &[again], &[]);
    assert_eq!(edit.replace_instruction(root, cosine), Ok(true));
    assert_eq!(names(&edit, entry), ["parameter", "negate", "cosine"]);
    assert!(edit.is_root(cosine));
}

#[test]
fn custom_calls_keep_the_name_only_with_the_same_target() {
    let (mut module, entry, f32) = module();
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let mut edit = Editor::new(&mut module);
    for (target, kept) in [("a", "custom-call"), ("b", "custom-call.3")] {
        let old = edit.add_custom_call(entry, f32, &[p], "a");
        edit.set_root(old);
        let new = edit.add_custom_call(entry, f32, &[p], target);
        assert_eq!(edit.replace_instruction(old, new), Ok(true));
        assert_eq!(edit.name_of(new), kept);
    }
}

#[test]
fn attributes_are_copied_unless_there_are_some() {
    let (mut module, entry, f32) = module();
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let old = add(&mut module, entry, Opcode::Negate, f32, &[p]);
    module.set_root(entry, old);
    let mut edit = Editor::new(&mut module);
    let name = edit.intern("framework/op");
    let metadata = edit.intern_metadata(hlo_text::ir::Metadata { op_name: Some(name), ..Default::default() });
    edit.set_metadata(old, Some(metadata));
    edit.set_attribute(old, AttrKey::Sharding, Some(AttrValue::Int(1)));
    edit.set_attribute(old, AttrKey::FrontendAttributes, Some(AttrValue::Int(2)));
    edit.set_attribute(old, AttrKey::Statistics, Some(AttrValue::Int(3)));
    let new = edit.add(entry, Opcode::Sine, f32, &[p], &[]);
    edit.set_attribute(new, AttrKey::Sharding, Some(AttrValue::Int(9)));
    assert_eq!(edit.replace_instruction(old, new), Ok(true));
    assert_eq!(edit.instruction(new).metadata, Some(metadata));
    assert_eq!(edit.int(new, AttrKey::Sharding), Some(9));
    assert_eq!(edit.int(new, AttrKey::FrontendAttributes), Some(2));
    assert_eq!(edit.int(new, AttrKey::Statistics), None, "only what XLA copies is copied");
}

#[test]
fn control_edges_prevent_replacement_unless_they_are_relayed() {
    let (mut module, entry, f32) = module();
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let first = add(&mut module, entry, Opcode::Sine, f32, &[p]);
    let old = add(&mut module, entry, Opcode::Negate, f32, &[p]);
    let last = add(&mut module, entry, Opcode::Add, f32, &[p, old]);
    module.set_root(entry, last);
    module.add_control_dependency(first, old);
    module.add_control_dependency(old, last);
    let mut edit = Editor::new(&mut module);
    let new = edit.add(entry, Opcode::Cosine, f32, &[p], &[]);
    assert_eq!(edit.replace_instruction(old, new), Ok(false));
    assert_eq!(edit.operands(last), [p, old]);
    let options = ReplaceOptions { relay_control_dependencies: true, ..ReplaceOptions::default() };
    assert_eq!(edit.replace_with(old, new, options), Ok(true));
    assert_eq!(edit.operands(last), [p, new]);
    assert_eq!(edit.control_predecessors(new), [first]);
    assert_eq!(edit.control_predecessors(last), [new]);
    assert_eq!(edit.control_successors(first), [new]);
    assert!(edit.is_removed(old));
}

#[test]
fn dead_operands_go_but_not_parameters_nor_side_effects() {
    let (mut module, entry, f32) = module();
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let effect = add(&mut module, entry, Opcode::Rng, f32, &[]);
    let a = add(&mut module, entry, Opcode::Add, f32, &[p, effect]);
    let b = add(&mut module, entry, Opcode::Negate, f32, &[a]);
    module.set_root(entry, b);
    let mut edit = Editor::new(&mut module);
    assert_eq!(edit.replace_instruction(b, p), Ok(true));
    assert!(edit.is_removed(a) && edit.is_removed(b));
    assert!(!edit.is_removed(effect) && !edit.is_removed(p));
    assert!(edit.users(p).is_empty() && edit.users(effect).is_empty());
}

#[test]
fn shapes_must_be_compatible() {
    let (mut module, entry, f32) = module();
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let scalar = module.shapes_mut().array(ElementType::F32, &[]);
    let q = add(&mut module, entry, Opcode::Parameter, scalar, &[]);
    module.set_root(entry, p);
    let mut edit = Editor::new(&mut module);
    let error = edit.replace_instruction(p, q).expect_err("shapes differ");
    assert!(error.message.contains("\"parameter\" (f32[2]) vs \"parameter.1\" (f32[])"), "{error}");
}

#[test]
fn an_instruction_that_uses_the_old_one_keeps_that_use() {
    let (mut module, entry, f32) = module();
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let root = add(&mut module, entry, Opcode::Add, f32, &[p, p]);
    module.set_root(entry, root);
    let mut edit = Editor::new(&mut module);
    let copy = edit.add(entry, Opcode::Copy, f32, &[p], &[]);
    assert_eq!(edit.replace_all_uses(p, copy), Ok(()));
    assert_eq!(edit.operands(copy), [p]);
    assert_eq!(edit.operands(root), [copy, copy]);
    assert_eq!(edit.users(p), [copy]);
    assert_eq!(edit.users(copy), [root]);
}

#[test]
fn equal_operands_of_a_fusion_become_one() {
    let (mut module, entry, f32) = module();
    let body = module.add_computation("body");
    let x = add(&mut module, body, Opcode::Parameter, f32, &[]);
    let y = add(&mut module, body, Opcode::Parameter, f32, &[]);
    let sum = add(&mut module, body, Opcode::Add, f32, &[x, y]);
    module.set_root(body, sum);
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let q = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let n = add(&mut module, entry, Opcode::Negate, f32, &[q]);
    let fusion = add(&mut module, entry, Opcode::Fusion, f32, &[p, n]);
    module.set_attribute(fusion, AttrKey::Calls, Some(AttrValue::Computation(body)));
    module.set_root(entry, fusion);
    let mut edit = Editor::new(&mut module);
    assert_eq!(edit.replace_instruction(n, p), Ok(true));
    assert_eq!(edit.operands(fusion), [p]);
    assert_eq!(edit.operands(sum), [x, x]);
    assert_eq!(edit.computation(body).parameters, [x]);
}

#[test]
fn channel_ids_are_scanned_once_and_grow() {
    let (mut module, entry, f32) = module();
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let mut edit = Editor::new(&mut module);
    assert_eq!(edit.next_channel_id().ok(), Some(1));
    let channel = [hlo_text::ir::Attr { key: AttrKey::ChannelId, value: AttrValue::Int(7) }];
    edit.add(entry, Opcode::AllGather, f32, &[p], &channel);
    assert_eq!(edit.next_channel_id().ok(), Some(8));
    assert_eq!(edit.next_channel_id().ok(), Some(9));
}

#[test]
fn channel_ids_end() {
    let (mut module, entry, f32) = module();
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let mut edit = Editor::new(&mut module);
    let channel = |id| [hlo_text::ir::Attr { key: AttrKey::ChannelId, value: AttrValue::Int(id) }];
    let gather = edit.add(entry, Opcode::AllGather, f32, &[p], &channel(i64::MAX - 1));
    assert_eq!(edit.next_channel_id().ok(), Some(i64::MAX));
    assert!(edit.next_channel_id().is_err());
    assert!(edit.next_channel_id().is_err());
    edit.set_attribute(gather, AttrKey::ChannelId, Some(AttrValue::Int(i64::MIN)));
    drop(edit);
    assert_eq!(Editor::new(&mut module).next_channel_id().ok(), Some(1));
}

#[test]
fn side_effects_are_seen_through_calls_and_forgotten_with_their_cause() {
    let (mut module, entry, f32) = module();
    let inner = module.add_computation("inner");
    let random = add(&mut module, inner, Opcode::Rng, f32, &[]);
    let plain = add(&mut module, inner, Opcode::PartitionId, f32, &[]);
    module.set_root(inner, plain);
    let outer = module.add_computation("outer");
    let call = add(&mut module, outer, Opcode::Call, f32, &[]);
    module.set_attribute(call, AttrKey::ToApply, Some(AttrValue::Computation(inner)));
    module.set_root(outer, call);
    let root = add(&mut module, entry, Opcode::Call, f32, &[]);
    module.set_attribute(root, AttrKey::ToApply, Some(AttrValue::Computation(outer)));
    module.set_root(entry, root);
    let mut edit = Editor::new(&mut module);
    assert!(edit.has_side_effect(root) && edit.has_side_effect(call) && !edit.has_side_effect(plain));
    edit.remove_instruction(random);
    assert!(!edit.has_side_effect(root));
}

#[test]
fn inlining_maps_parameters_copies_edges_and_prefixes_names() {
    let (mut module, entry, f32) = module();
    let callee = module.add_computation("f");
    let x = add(&mut module, callee, Opcode::Parameter, f32, &[]);
    let n = add(&mut module, callee, Opcode::Negate, f32, &[x]);
    let s = add(&mut module, callee, Opcode::Sine, f32, &[x]);
    let sum = add(&mut module, callee, Opcode::Add, f32, &[n, s]);
    module.add_control_dependency(n, s);
    module.set_root(callee, sum);
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let call = add(&mut module, entry, Opcode::Call, f32, &[p]);
    module.set_attribute(call, AttrKey::ToApply, Some(AttrValue::Computation(callee)));
    let root = add(&mut module, entry, Opcode::Tanh, f32, &[call]);
    module.set_root(entry, root);
    let mut edit = Editor::new(&mut module);
    let outer = edit.intern("outer");
    let metadata =
        edit.intern_metadata(hlo_text::ir::Metadata { op_name: Some(outer), ..Default::default() });
    edit.set_metadata(call, Some(metadata));
    let copies = edit.inline_call(call).expect("a call");
    assert!(edit.is_removed(call));
    assert_eq!(edit.operands(root), [copies[&sum]]);
    assert_eq!(edit.operands(copies[&n]), [p]);
    assert_eq!(edit.control_predecessors(copies[&s]), [copies[&n]]);
    assert_eq!(edit.instruction(copies[&n]).metadata, Some(metadata));
    assert_eq!(edit.name_of(copies[&n]), "negate.1");
}

#[test]
fn shapes_are_inferred_and_misfits_named() {
    let (mut module, entry, f32) = module();
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let other = module.shapes_mut().array(ElementType::F32, &[3]);
    let q = add(&mut module, entry, Opcode::Parameter, other, &[]);
    let mut edit = Editor::new(&mut module);
    let sum = edit.add_binary(Opcode::Add, p, p).expect("equal shapes");
    assert_eq!(edit.instruction(sum).shape, f32);
    let finite = edit.add_unary(Opcode::IsFinite, sum).expect("floats");
    assert_eq!(edit.shape_text(edit.instruction(finite).shape, false), "pred[2]");
    let half = edit.add_convert(p, ElementType::Bf16).expect("floats");
    assert_eq!(edit.shape_text(edit.instruction(half).shape, true), "bf16[2]{0}");
    let error = edit.add_binary(Opcode::Add, p, q).expect_err("other sizes");
    assert!(error.message.contains("f32[2]") && error.message.contains("f32[3]"), "{error}");
}

#[test]
fn cloning_copies_bodies_but_not_callees() {
    let (mut module, entry, f32) = module();
    let fused = module.add_computation("fused");
    let x = add(&mut module, fused, Opcode::Parameter, f32, &[]);
    let n = add(&mut module, fused, Opcode::Negate, f32, &[x]);
    module.set_root(fused, n);
    let callee = module.add_computation("callee");
    let y = add(&mut module, callee, Opcode::Parameter, f32, &[]);
    module.set_root(callee, y);
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let fusion = add(&mut module, entry, Opcode::Fusion, f32, &[p]);
    module.set_attribute(fusion, AttrKey::Calls, Some(AttrValue::Computation(fused)));
    let call = add(&mut module, entry, Opcode::Call, f32, &[fusion]);
    module.set_attribute(call, AttrKey::ToApply, Some(AttrValue::Computation(callee)));
    module.set_root(entry, call);
    module.add_control_dependency(fusion, call);
    let mut edit = Editor::new(&mut module);
    assert_eq!(edit.callers(callee), [call]);
    let (clone, copies) = edit.clone_computation(entry, "clone");
    assert_eq!(edit.computation_name(clone), "e.clone");
    assert_eq!(edit.computation(clone).root, copies[&call]);
    assert_eq!(edit.called(copies[&call], AttrKey::ToApply), Some(callee));
    assert_eq!(edit.callers(callee), [call, copies[&call]]);
    assert_eq!(edit.control_predecessors(copies[&call]), [copies[&fusion]]);
    let body = edit.called(copies[&fusion], AttrKey::Calls).expect("a fusion");
    assert_eq!(edit.computation_name(body), "fused.clone");
    assert_eq!(edit.computation(clone).parameters, [copies[&p]]);
}

#[test]
fn users_stay_right_through_random_edits() {
    let (mut module, entry, f32) = module();
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let mut ids = vec![p];
    let mut state = 12345u64;
    let mut random = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let mut edit = Editor::new(&mut module);
    for step in 0..2000 {
        ids.retain(|&id| !edit.is_removed(id));
        let (a, b) = (ids[random(ids.len())], ids[random(ids.len())]);
        match step % 4 {
            0 | 1 => ids.push(edit.add(entry, Opcode::Add, f32, &[a, b], &[])),
            2 if a != p && !edit.depends_on(b, a) => {
                edit.replace_instruction(a, b).expect("equal shapes");
            }
            _ => edit.remove_with_dead_operands(a),
        }
    }
    for &id in &ids {
        if edit.is_removed(id) {
            continue;
        }
        let mut expected: Vec<_> =
            edit.live_instructions(entry).filter(|&user| edit.operands(user).contains(&id)).collect();
        let mut actual = edit.users(id).to_vec();
        expected.sort_unstable();
        actual.sort_unstable();
        assert_eq!(actual, expected);
    }
}

#[test]
fn comparing_what_has_no_values_is_an_error_in_the_words_of_xla() {
    use crate::pass::{Pass, PassContext};
    let (mut module, entry, f32) = module();
    let tuple = module.shapes_mut().intern(hlo_text::ir::Shape::Tuple(vec![f32]));
    let token = module.shapes_mut().intern(hlo_text::ir::Shape::Token);
    let opaque = module.shapes_mut().intern(hlo_text::ir::Shape::Opaque);
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    for (shape, name) in [(tuple, "TUPLE"), (token, "TOKEN"), (opaque, "OPAQUE_TYPE")] {
        let q = add(&mut module, entry, Opcode::Parameter, shape, &[]);
        let compare = add(&mut module, entry, Opcode::Compare, f32, &[p, q]);
        module.set_root(entry, compare);
        let mut edit = Editor::new(&mut module);
        let error = crate::passes::legalize::compare::LegalizeCompare
            .run(&mut edit, &mut PassContext::default())
            .expect_err("no default type");
        assert_eq!(error.message, format!("Unexpected: {name}"));
        edit.set_root(p);
        edit.remove_with_dead_operands(compare);
    }
}

#[test]
fn inlining_ends_at_the_bound() {
    let (mut module, entry, f32) = module();
    let callee = module.add_computation("f");
    let x = add(&mut module, callee, Opcode::Parameter, f32, &[]);
    let n = add(&mut module, callee, Opcode::Negate, f32, &[x]);
    module.set_root(callee, n);
    let p = add(&mut module, entry, Opcode::Parameter, f32, &[]);
    let call = add(&mut module, entry, Opcode::Call, f32, &[p]);
    module.set_attribute(call, AttrKey::ToApply, Some(AttrValue::Computation(callee)));
    module.set_root(entry, call);
    let mut edit = Editor::new(&mut module);
    edit.copied = crate::analysis::MAX_COPIED_INSTRUCTIONS - 1;
    let error = edit.inline_call(call).expect_err("two instructions are too many");
    assert_eq!(error.message, "inlining here would make more than 16777216 copies");
    edit.reset_counts();
    edit.inline_call(call).expect("there is room again");
}
