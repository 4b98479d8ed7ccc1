//! Pipelines run again and again.

use hlo_passes::fixpoint::{self, DEFAULT_LIMIT, End, Fixpoint};
use hlo_passes::pipeline::{NoObserver, Pipeline};
use hlo_passes::registry;
use hlo_passes::{Editor, Pass, PassContext, PassResult};
use hlo_text::ir::Opcode;
use hlo_text::{Module, ParseOptions, parse_module};

const TEXT: &str = "HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  ROOT r = f32[2] negate(p)
}";

/// Gives every instruction with the first opcode the second.
struct Swap(Opcode, Opcode);

impl Pass for Swap {
    fn run(&self, edit: &mut Editor<'_>, context: &mut PassContext<'_>) -> PassResult<()> {
        let entry = edit.entry();
        for id in edit.computation(entry).instructions.clone() {
            if edit.instruction(id).opcode == self.0 && context.may_rewrite(edit, id) {
                let operand = edit.operands(id)[0];
                let new = edit.add_unary(self.1, operand)?;
                edit.replace_instruction(id, new)?;
            }
        }
        Ok(())
    }
}

fn run(passes: Vec<(&str, Swap)>, limit: usize) -> (Fixpoint, Module) {
    let passes = passes
        .into_iter()
        .map(|(key, pass)| (registry::find(key).expect("a key"), Box::new(pass) as Box<dyn Pass>));
    let pipeline = Pipeline::of_passes(passes);
    let mut module = parse_module(TEXT, &ParseOptions::default()).expect("HLO").module;
    let found = fixpoint::run(&pipeline, &mut module, &mut PassContext::default(), &mut NoObserver, limit)
        .expect("they run");
    (found, module)
}

fn undone(found: &Fixpoint) -> Vec<String> {
    found.undone.iter().map(ToString::to_string).collect()
}

#[test]
fn the_end_is_when_nothing_changes() {
    let (found, module) = run(
        vec![("dce", Swap(Opcode::Sine, Opcode::Cosine)), ("stub", Swap(Opcode::Negate, Opcode::Sine))],
        DEFAULT_LIMIT,
    );
    assert_eq!((found.rounds, found.end), (3, End::Reached));
    assert_eq!(found.to_string(), "nothing changes any more after 3 rounds");
    let root = module.computation(module.entry()).root;
    assert_eq!(module.instruction(root).opcode, Opcode::Cosine);
}

#[test]
fn passes_that_undo_one_another_are_named() {
    // Within a round: the module is the same after it, names aside.
    let (found, _) = run(
        vec![("dce", Swap(Opcode::Negate, Opcode::Sine)), ("stub", Swap(Opcode::Sine, Opcode::Negate))],
        DEFAULT_LIMIT,
    );
    assert_eq!(undone(&found), ["`stub` undoes what `dce` does"]);
    assert_eq!(found.rounds, 1);
    // Over two rounds.
    let (found, _) = run(
        vec![
            ("stub", Swap(Opcode::Sine, Opcode::Negate)),
            ("cse", Swap(Opcode::Cosine, Opcode::Sine)),
            ("dce", Swap(Opcode::Negate, Opcode::Cosine)),
        ],
        DEFAULT_LIMIT,
    );
    assert_eq!(found.end, End::Oscillates(2), "{found}");
    assert!(found.to_string().contains("don't come to an end"));
    assert!(!found.undone.is_empty());
}

#[test]
fn there_is_a_limit() {
    let chain = vec![
        ("stub", Swap(Opcode::Tanh, Opcode::Cosine)),
        ("cse", Swap(Opcode::Sine, Opcode::Tanh)),
        ("dce", Swap(Opcode::Negate, Opcode::Sine)),
    ];
    let (found, _) = run(chain, 2);
    assert_eq!((found.rounds, found.end), (2, End::Limit));
    assert_eq!(found.to_string(), "the passes still change something after 2 rounds");
}
