//! Rules that no text breaks, only a faulty pass.

use super::*;
use crate::ir::{AttrValue, ElementType, Layout, Literal, Opcode, ReplicaGroups, Shape, Value};
use crate::{ParseOptions, parse_module};

fn parse(text: &str) -> Module {
    parse_module(text, &ParseOptions::default()).expect("the test's text is HLO").module
}

fn codes(module: &Module) -> Vec<Code> {
    verify(module, &VerifyOptions::default()).into_iter().map(|violation| violation.code).collect()
}

fn named(module: &Module, name: &str) -> InstructionId {
    let ids = module.computations().iter().flat_map(|&computation| module.live_instructions(computation));
    ids.into_iter().find(|&id| module.name_of(id) == name).expect("there is such an instruction")
}

const TEXT: &str = "HloModule m
other {
  x = f32[4] parameter(0)
  ROOT y = f32[4] sine(x)
}
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  b = f32[4] add(a, p)
  ROOT c = f32[4] call(b), to_apply=other
}";

#[test]
fn what_is_gone_or_elsewhere_is_not_referred_to() {
    let module = parse(TEXT);
    assert_eq!(codes(&module), []);
    let mut gone = module.clone();
    gone.remove_instruction(named(&gone, "a"));
    assert_eq!(codes(&gone), [Code::RemovedReference]);
    let mut elsewhere = module.clone();
    elsewhere.set_operand(named(&module, "b"), 0, named(&module, "y"));
    assert_eq!(codes(&elsewhere), [Code::RemovedReference]);
    let mut uncalled = module.clone();
    let other = module.computations()[0];
    uncalled.remove_computations(&[other]);
    assert_eq!(codes(&uncalled), [Code::RemovedReference]);
}

#[test]
fn nothing_depends_on_itself() {
    let mut module = parse(TEXT);
    module.set_operand(named(&module, "a"), 0, named(&module, "b"));
    assert_eq!(codes(&module), [Code::OperandCycle]);
    let mut module = parse(TEXT);
    module.add_control_dependency(named(&module, "b"), named(&module, "a"));
    assert_eq!(codes(&module), [Code::OperandCycle]);
    // Another order is none.
    let mut module = parse(TEXT);
    let entry = module.entry();
    let mut order = module.computation(entry).instructions.clone();
    order.reverse();
    module.set_instruction_order(entry, order.clone());
    assert_eq!(codes(&module), []);
    module.header.is_scheduled = true;
    assert_eq!(codes(&module), [Code::ScheduleOrder]);
}

#[test]
fn a_long_chain_out_of_order_takes_no_stack() {
    const LENGTH: usize = 100_000;
    let mut text = String::from("HloModule m\nENTRY e {\n i0 = f32[] parameter(0)\n");
    for index in 1..LENGTH {
        text.push_str(&format!(" i{index} = f32[] negate(i{})\n", index - 1));
    }
    text.push_str("}\n");
    let mut module = parse(&text);
    let entry = module.entry();
    let mut order = module.computation(entry).instructions.clone();
    order.reverse();
    module.set_instruction_order(entry, order);
    assert_eq!(codes(&module), []);
}

#[test]
fn names_are_unique_in_the_module() {
    let mut module = parse(TEXT);
    let name = module.instruction(named(&module, "x")).name;
    module.set_name(named(&module, "a"), name);
    assert_eq!(codes(&module), [Code::RepeatedName]);
}

#[test]
fn layouts_name_every_dimension() {
    let mut module = parse(TEXT);
    let Shape::Array(mut array) = module.shape_of(named(&module, "a")).clone() else { panic!("an array") };
    array.layout = Some(Layout::default_for_rank(2));
    let shape = module.shapes_mut().intern(Shape::Array(array));
    module.set_shape(named(&module, "a"), shape);
    assert_eq!(codes(&module), [Code::LayoutRank]);
}

#[test]
fn constants_have_their_literal() {
    let mut module = parse("HloModule m\nENTRY e {\n  a = f32[] constant(1)\n  ROOT b = f32[] negate(a)\n}");
    let literal = Literal::scalar(module.shapes_mut(), ElementType::S32, 1).expect("a literal");
    let literal = module.add_literal(literal);
    module.set_literal(named(&module, "a"), literal);
    assert_eq!(codes(&module), [Code::ConstantShape]);
}

#[test]
fn conditionals_choose_by_an_index() {
    let text = "HloModule m
first {
  x = f32[] parameter(0)
  ROOT y = f32[] negate(x)
}
ENTRY e {
  i = s32[] parameter(0)
  p = f32[] parameter(1)
  j = s64[] parameter(2)
  ROOT c = f32[] conditional(i, p), branch_computations={first}
}";
    let mut module = parse(text);
    assert_eq!(codes(&module), []);
    module.set_operand(named(&module, "c"), 0, named(&module, "j"));
    assert_eq!(codes(&module), [Code::BranchIndex]);
}

#[test]
fn layout_constraints_are_those_of_the_operands() {
    let text = "HloModule m
ENTRY e {
  p = f32[2,3]{1,0} parameter(0)
  q = f32[3,2]{1,0} parameter(1)
  ROOT c = f32[2,3]{1,0} custom-call(p), custom_call_target=\"w\", operand_layout_constraints={f32[2,3]{0,1}}
}";
    let mut module = parse(text);
    assert_eq!(codes(&module), []);
    module.set_operand(named(&module, "c"), 0, named(&module, "q"));
    assert_eq!(codes(&module), [Code::CustomCallLayouts]);
}

#[test]
fn global_device_numbers_need_a_channel() {
    let text = "HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  ROOT g = f32[8] all-gather(p), channel_id=1, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true
}";
    let mut module = parse(text);
    assert_eq!(codes(&module), []);
    let id = named(&module, "g");
    let none = module.intern_value(Value::ReplicaGroups(ReplicaGroups::default()));
    let mut without_groups = module.clone();
    without_groups.set_attribute(id, AttrKey::ReplicaGroups, Some(AttrValue::Value(none)));
    assert_eq!(codes(&without_groups), [Code::GroupsMissing]);
    module.set_attribute(id, AttrKey::ChannelId, None);
    assert_eq!(codes(&module), [Code::GroupMode]);
}

#[test]
fn the_number_of_violations_is_limited() {
    let mut text = String::from("HloModule m\nENTRY e {\n p = f32[4] parameter(0)\n");
    for index in 0..100 {
        text.push_str(&format!(" i{index} = f32[5] negate(p)\n"));
    }
    text.push_str("}\n");
    let module = parse(&text);
    assert_eq!(codes(&module).len(), DEFAULT_MAX_VIOLATIONS);
    let options = VerifyOptions { max_violations: 3, ..VerifyOptions::default() };
    assert_eq!(verify(&module, &options).len(), 3);
}

#[test]
fn warnings_hide_no_errors() {
    let mut text = String::from("HloModule m\nENTRY e {\n p = u32[4] parameter(0)\n");
    for index in 0..100 {
        text.push_str(&format!(" k{index} = pred[4] compare(p, p), direction=EQ, type=SIGNED\n"));
    }
    text.push_str(" n = u32[5] negate(p)\n}\n");
    let options = VerifyOptions { check_comparison_types: false, ..VerifyOptions::default() };
    let found = verify(&parse(&text), &options);
    assert_eq!(found.iter().filter(|it| !it.is_error()).count(), DEFAULT_MAX_VIOLATIONS);
    assert_eq!(
        found.iter().filter(|it| it.is_error()).map(|it| it.code).collect::<Vec<_>>(),
        [Code::ResultShape]
    );
}

#[test]
fn shapes_that_share_their_parts_are_looked_at_once() {
    // Written out, each of these has half a million parts, in two orders of the layout.
    let doubled = |name: &str, layout: &str| {
        let mut text = format!(" {name}0 = f32[2,3]{layout} parameter({})\n", usize::from(name == "b"));
        for level in 1..19 {
            text.push_str(&format!(" {name}{level} = tuple({name}{0}, {name}{0})\n", level - 1));
        }
        text
    };
    let mut text = format!("HloModule m\nENTRY e {{\n{}{}", doubled("a", "{1,0}"), doubled("b", "{0,1}"));
    for index in 0..200 {
        text.push_str(&format!(" copy{index} = copy(a18)\n"));
    }
    text.push_str("}\n");
    let mut module = parse(&text);
    let other = module.instruction(named(&module, "b18")).shape;
    for index in 0..200 {
        module.set_shape(named(&module, &format!("copy{index}")), other);
    }
    module.settle_entry_layout();
    assert_eq!(codes(&module), []);
}

#[test]
fn every_opcode_is_verified_without_operands_and_attributes() {
    // Whatever a pass leaves out, nothing panics.
    for &opcode in Opcode::ALL {
        let mut module = parse(TEXT);
        let (entry, p) = (module.entry(), named(&module, "p"));
        let shapes = [
            module.shapes_mut().array(ElementType::F32, &[]),
            module.instruction(p).shape,
            module.shapes_mut().intern(Shape::Tuple(Vec::new())),
            module.shapes_mut().intern(Shape::Token),
        ];
        for shape in shapes {
            for count in 0..7 {
                let operands = vec![p; count];
                module.add_instruction(entry, crate::ir::NewInstruction::new(opcode, shape, &operands));
            }
        }
        let options = VerifyOptions { max_violations: usize::MAX, ..VerifyOptions::default() };
        verify(&module, &options);
        verify(&module, &VerifyOptions { layout_sensitive: true, ..options });
    }
}
