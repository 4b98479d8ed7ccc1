//! Orders of computations and instructions, and graphs that are deep or have bodies without end.

use super::*;

#[test]
fn order_of_computations() {
    let b = control_flow();
    assert_eq!(b.computation_names(&PrintOptions::default()), ["%b", "%c", "%e"], "body before condition");
    let in_creation_order = with(|o| o.canonicalize_computations = true);
    assert_eq!(b.computation_names(&in_creation_order), ["%c", "%b", "%e"]);
    assert_eq!(asynchronous().computation_names(&in_creation_order), ["%e"], "hidden here, too");
}

#[test]
fn callee_after_caller() {
    // Branches {x2, x1} where x2 calls x1: both are marked when the conditional is met.
    let mut b = Builder::new();
    let x1 = b.computation("x1", &[("a", Parameter, &[])]);
    let x2 = b.computation("x2", &[("a2", Parameter, &[]), ("c", Call, &["a2"])]);
    b.attributes("c", &[(AttrKey::ToApply, AttrValue::Computation(x1))]);
    b.computation("alone", &[("q", Parameter, &[])]);
    b.computation("e", &[("p", Parameter, &[]), ("k", Conditional, &["p", "p", "p"])]);
    let branches = b.value(Value::Computations(vec![x2, x1]));
    b.attributes("k", &[(AttrKey::BranchComputations, branches)]);
    assert_eq!(b.computation_names(&PrintOptions::default()), ["%alone", "%x2", "%x1", "%e"]);
}

#[test]
fn post_order() {
    let mut b = Builder::new();
    let e = b.computation(
        "e",
        &[
            ("a", Parameter, &[]),
            ("b", Abs, &["a"]),
            ("c", Negate, &["a"]),
            ("d", Abs, &["a"]),
            ("dead", Negate, &["d"]),
            ("r", Negate, &["a"]),
            ("t", Tuple, &["r", "b", "c", "d", "b"]),
        ],
    );
    b.control("r", &["b", "c", "d"]);
    assert_eq!(b.instruction_names(e), ["a", "d", "dead", "c", "b", "r", "t"]);
    assert!(b.body(&PrintOptions::default()).contains("negate(%a), control-predecessors={%b, %c, %d}\n"));
    assert!(!b.body(&with(|o| o.print_control_dependencies = false)).contains("control"));
    assert_eq!(b.instruction_names(e).len(), 7);

    b.module.header.is_scheduled = true;
    let text = b.body(&PrintOptions::default());
    let names = text.lines().filter_map(|line| line.trim().split_once(" = "));
    let names: Vec<_> = names.map(|(name, _)| name).collect();
    assert_eq!(names, ["%a", "%b", "%c", "%d", "%dead", "%r", "ROOT %t"]);
}

#[test]
fn fusion_bodies_are_not_scheduled() {
    let mut b = Builder::new();
    let fused = b.computation(
        "fused",
        &[("p", Parameter, &[]), ("x", Abs, &["p"]), ("y", Negate, &["p"]), ("z", Add, &["y", "x"])],
    );
    let called = b.computation(
        "called",
        &[("p1", Parameter, &[]), ("x1", Abs, &["p1"]), ("y1", Negate, &["p1"]), ("z1", Add, &["y1", "x1"])],
    );
    b.computation("e", &[("q", Parameter, &[]), ("f", Fusion, &["q"]), ("c", Call, &["f"])]);
    b.attributes("f", &[(AttrKey::Calls, AttrValue::Computation(fused))]);
    b.attributes("c", &[(AttrKey::ToApply, AttrValue::Computation(called))]);
    b.module.header.is_scheduled = true;
    let text = b.body(&PrintOptions::default());
    let at = |name: &str| text.find(name).unwrap();
    assert!(at("%y =") < at("%x ="));
    assert!(at("%x1 =") < at("%y1 ="));
}

#[test]
fn long_chains_need_no_stack() {
    let mut b = Builder::new();
    let names: Vec<String> = (0..200_000).map(|index| format!("n{index}")).collect();
    let id = b.computation("e", &[("n0", Parameter, &[])]);
    for (index, name) in names.iter().enumerate().skip(1) {
        b.module.operand_pool.push(InstructionId::from_index(index - 1));
        let name = b.module.strings_mut().intern(name.as_bytes());
        let operands = PoolRange::new(index - 1, 1);
        let negate = Instruction { name, operands, opcode: Negate, ..b.module.instructions[0].clone() };
        b.module.instructions.push(negate);
    }
    let all = (0..names.len()).map(InstructionId::from_index);
    let computation = b.module.computations[id.index()].as_mut().unwrap();
    computation.root = InstructionId::from_index(names.len() - 1);
    // Users before operands, so that the walk goes all the way down at once.
    computation.instructions = all.rev().collect();
    assert!(b.instruction_names(id) == names);
}

/// `count` computations, each calling the one before `calls` times.
fn call_chain(count: usize, calls: usize) -> Builder {
    let mut b = Builder::new();
    let mut callee = b.computation("f0", &[("p0", Parameter, &[])]);
    for index in 1..count {
        let names: Vec<String> = (0..=calls).map(|call| format!("c{index}_{call}")).collect();
        let operands: Vec<[&str; 1]> = names.iter().map(|name| [name.as_str()]).collect();
        let mut steps: Vec<(&str, Opcode, &[&str])> = vec![(&names[0], Parameter, &[])];
        for call in 1..=calls {
            steps.push((&names[call], Call, &operands[call - 1]));
        }
        let id = b.computation(&format!("f{index}"), &steps);
        for name in &names[1..] {
            b.attributes(name, &[(AttrKey::ToApply, AttrValue::Computation(callee))]);
        }
        callee = id;
    }
    b
}

#[test]
fn deep_calls_need_no_stack() {
    let b = call_chain(3000, 1);
    let names = b.computation_names(&PrintOptions::default());
    assert!(names.into_iter().eq((0..3000).map(|index| format!("%f{index}"))));
}

#[test]
fn bodies_nest_up_to_the_limit() {
    let nested = |count| {
        let b = call_chain(count, 1);
        b.module.print_computation(b.module.entry(), &PrintOptions::canonical())
    };
    let text = nested(MAX_BODY_DEPTH + 1);
    assert_eq!(text.matches("to_apply=\n").count(), MAX_BODY_DEPTH);
    assert_eq!(text.matches("to_apply=f").count(), 0);
    let text = nested(MAX_BODY_DEPTH + 2);
    assert_eq!(text.matches("to_apply=\n").count(), MAX_BODY_DEPTH);
    assert_eq!(text.matches("to_apply=f0\n").count(), 1, "below the limit computations are named");
}

#[test]
fn bodies_repeat_up_to_the_limit() {
    let b = call_chain(40, 2);
    let options = PrintOptions::canonical();
    let mut printer = Printer::new(&b.module, &options);
    printer.max_body_instructions = 1000;
    let mut out = Vec::new();
    let scope = Scope { indent: 0, depth: 0, in_computation: true };
    printer.computation(&mut out, b.module.entry(), computation::Order::Post, scope);
    assert!((900..=1000).contains(&printer.body_instructions));
    assert!(String::from_utf8(out).unwrap().contains("to_apply=f"));
}

/// Numbers that look random, the same every time.
fn pseudorandom(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    }
}

/// Post-order by its definition: a recursive walk from every instruction without users.
fn plain_post_order(operands: &[Vec<usize>]) -> Vec<usize> {
    fn visit(index: usize, operands: &[Vec<usize>], order: &mut Vec<usize>) {
        if !order.contains(&index) {
            operands[index].iter().for_each(|&operand| visit(operand, operands, order));
            order.push(index);
        }
    }
    let mut order = Vec::new();
    for index in 0..operands.len() {
        if !operands.iter().flatten().any(|&operand| operand == index) {
            visit(index, operands, &mut order);
        }
    }
    order
}

#[test]
fn post_order_of_random_graphs() {
    let mut in_order = 0;
    for seed in 0..3000 {
        let mut below = pseudorandom(seed);
        let count = 1 + below(9);
        let mut operands: Vec<Vec<usize>> = (0..count)
            .map(|index| if index == 0 { vec![] } else { (0..below(4)).map(|_| below(index)).collect() })
            .collect();
        if seed % 2 == 0 {
            // As XLA would print it.
            let order = plain_post_order(&operands);
            let place = |index: usize| order.iter().position(|&at| at == index).unwrap();
            operands =
                order.iter().map(|&index| operands[index].iter().map(|&at| place(at)).collect()).collect();
        }
        let names: Vec<String> = (0..count).map(|index| format!("n{index}")).collect();
        let lists: Vec<Vec<&str>> =
            operands.iter().map(|list| list.iter().map(|&index| names[index].as_str()).collect()).collect();
        let mut steps = Vec::new();
        for (name, list) in names.iter().zip(&lists) {
            steps.push((name.as_str(), Tuple, list.as_slice()));
        }
        let mut b = Builder::new();
        // The walk has to deal with computations whose ids don't start at 0.
        b.computation("before", &[("p", Parameter, &[]), ("q", Abs, &["p"])]);
        let id = b.computation("c", &steps);
        let expected = plain_post_order(&operands);
        in_order += usize::from(expected.is_sorted());
        let expected: Vec<&str> = expected.iter().map(|&index| names[index].as_str()).collect();
        assert_eq!(b.instruction_names(id), expected, "{operands:?}");
    }
    assert!((1000..2900).contains(&in_order), "both ways are tried, {in_order} are in order");
}
