//! Edits on synthetic modules of 10 thousand to 640 thousand instructions: the time per instruction must not grow.
//!
//! `cargo bench -p hlo-passes` prints nanoseconds per instruction for each size.

use std::time::Instant;

use hlo_passes::options::parse_pass_list;
use hlo_passes::pipeline::{NoObserver, Pipeline, Selection};
use hlo_passes::{Editor, PassContext};
use hlo_text::Module;
use hlo_text::ir::{
    Attr, AttrKey, AttrValue, ComputationId, ElementType, InstructionId, NewInstruction, Opcode, ShapeId,
};

const SIZES: [usize; 4] = [10_000, 40_000, 160_000, 640_000];

/// A module under construction: its entry with one parameter, and the shape of everything.
struct Input {
    module: Module,
    entry: ComputationId,
    shape: ShapeId,
    parameter: InstructionId,
}

impl Input {
    fn new() -> Self {
        let mut module = Module::new("m");
        let shape = module.shapes_mut().array(ElementType::F32, &[2]);
        let entry = module.add_computation("e");
        module.set_entry(entry);
        let parameter = module.add_instruction(entry, NewInstruction::new(Opcode::Parameter, shape, &[]));
        Self { module, entry, shape, parameter }
    }

    fn add(&mut self, opcode: Opcode, operands: &[InstructionId], attributes: &[Attr]) -> InstructionId {
        let new = NewInstruction { attributes, ..NewInstruction::new(opcode, self.shape, operands) };
        self.module.add_instruction(self.entry, new)
    }

    /// A chain of `n` unary instructions that ends in the root.
    fn chain(n: usize) -> Self {
        let mut input = Self::new();
        let mut last = input.parameter;
        for _ in 0..n {
            last = input.add(Opcode::Negate, &[last], &[]);
        }
        input.module.set_root(input.entry, last);
        input
    }

    /// `n` dead instructions that all use the parameter.
    fn fan(n: usize) -> Self {
        let mut input = Self::new();
        for _ in 0..n {
            input.add(Opcode::Negate, &[input.parameter], &[]);
        }
        let root = input.add(Opcode::Sine, &[input.parameter], &[]);
        input.module.set_root(input.entry, root);
        input
    }

    /// A chain of `n / 2` calls of one small computation.
    fn calls(n: usize) -> Self {
        let mut input = Self::new();
        let callee = input.module.add_computation("f");
        let x =
            input.module.add_instruction(callee, NewInstruction::new(Opcode::Parameter, input.shape, &[]));
        let n1 = input.module.add_instruction(callee, NewInstruction::new(Opcode::Negate, input.shape, &[x]));
        let n2 = input.module.add_instruction(callee, NewInstruction::new(Opcode::Sine, input.shape, &[n1]));
        input.module.set_root(callee, n2);
        let calls = [Attr { key: AttrKey::ToApply, value: AttrValue::Computation(callee) }];
        let mut last = input.parameter;
        for _ in 0..n / 2 {
            last = input.add(Opcode::Call, &[last], &calls);
        }
        input.module.set_root(input.entry, last);
        input
    }

    /// `n / 2` elements of one wide tuple, chained.
    fn tuple(n: usize) -> Self {
        let mut input = Self::new();
        let elements = vec![input.parameter; n / 2];
        let tuple_shape = hlo_text::ir::Shape::Tuple(vec![input.shape; n / 2]);
        let tuple_shape = input.module.shapes_mut().intern(tuple_shape);
        let new = NewInstruction::new(Opcode::Tuple, tuple_shape, &elements);
        let tuple = input.module.add_instruction(input.entry, new);
        let mut last = input.parameter;
        for index in 0..n / 2 {
            let index = [Attr { key: AttrKey::Index, value: AttrValue::Int(index as i64) }];
            let element = input.add(Opcode::GetTupleElement, &[tuple], &index);
            last = input.add(Opcode::Add, &[last, element], &[]);
        }
        input.module.set_root(input.entry, last);
        input
    }
}

fn run_passes(input: &mut Input, passes: &str) {
    let passes = parse_pass_list(passes).expect("a list");
    let pipeline = Pipeline::new(&Selection { passes, ..Selection::default() }).expect("known keys");
    pipeline.run(&mut input.module, &mut PassContext::default(), &mut NoObserver).expect("they run");
}

/// Replaces every instruction of a chain by another one.
fn replace_all(input: &mut Input) {
    let mut edit = Editor::new(&mut input.module);
    for id in edit.post_order(input.entry) {
        if edit.instruction(id).opcode == Opcode::Negate {
            let operand = edit.operands(id)[0];
            let new = edit.add(input.entry, Opcode::Negate, input.shape, &[operand], &[]);
            edit.replace_instruction(id, new).expect("equal shapes");
        }
    }
}

/// Moves all uses of the parameter, which has very many, one user at a time.
fn move_users(input: &mut Input) {
    let mut edit = Editor::new(&mut input.module);
    let other = edit.add(input.entry, Opcode::Cosine, input.shape, &[input.parameter], &[]);
    for user in edit.users(input.parameter).to_vec() {
        if user != other {
            edit.set_operand(user, 0, other);
        }
    }
}

type Case = (&'static str, fn(usize) -> Input, fn(&mut Input));

const CASES: &[Case] = &[
    ("replace every instruction of a chain", Input::chain, replace_all),
    ("move the users of one instruction", Input::fan, move_users),
    ("dce of dead users of one instruction", Input::fan, |input| run_passes(input, "dce")),
    ("inline calls of one computation", Input::calls, |input| run_passes(input, "call-inliner")),
    ("flatten calls of one computation", Input::calls, |input| run_passes(input, "flatten-call-graph")),
    ("simplify elements of a wide tuple", Input::tuple, |input| run_passes(input, "tuple-simplifier")),
    ("cse of equal users of one instruction", Input::fan, |input| run_passes(input, "cse")),
];

fn main() {
    println!("nanoseconds per instruction");
    print!("{:40}", "");
    SIZES.iter().for_each(|size| print!("{size:>10}"));
    println!();
    for (name, make, run) in CASES {
        print!("{name:40}");
        for size in SIZES {
            let mut input = make(size);
            let start = Instant::now();
            run(&mut input);
            print!("{:10.0}", start.elapsed().as_secs_f64() * 1e9 / size as f64);
        }
        println!();
    }
}
