//! What is said of a pass that leaves an invalid module.

use hlo_passes::PassResult;
use hlo_passes::edit::EditCounts;
use hlo_passes::pipeline::{NoObserver, Observer, PassOutcome};
use hlo_passes::registry;
use hlo_passes::verify::VerifyingObserver;
use hlo_text::diagnostic::Code;
use hlo_text::ir::{ElementType, InstructionId, Opcode};
use hlo_text::{Module, ParseOptions, VerifyOptions, parse_module};

fn parse(text: &str) -> Module {
    parse_module(text, &ParseOptions::default()).expect("the test's text is HLO").module
}

const TEXT: &str = "HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  dead = f32[2] sine(p)
  ROOT n = f32[2] negate(p)
}";

fn after(module: &Module, changed: bool) -> (PassResult<()>, Option<hlo_passes::verify::BrokenModule>) {
    let info = registry::find("dce").expect("a pass");
    let outcome = PassOutcome { info, changed, counts: EditCounts::default() };
    let mut nobody = NoObserver;
    let mut observer = VerifyingObserver::new(VerifyOptions::default(), &mut nobody);
    let result = observer.after_pass(3, &outcome, module);
    (result, observer.broken)
}

fn negate(module: &Module) -> InstructionId {
    let entry = module.computation(module.entry());
    let is_negate = |id: &&InstructionId| module.instruction(**id).opcode == Opcode::Negate;
    *entry.instructions.iter().find(is_negate).expect("one negate")
}

#[test]
fn a_broken_module_names_pass_instruction_and_rule() {
    let mut module = parse(TEXT);
    assert!(after(&module, true).0.is_ok());
    let id = negate(&module);
    let other = module.shapes_mut().array(ElementType::F32, &[3]);
    module.set_shape(id, other);
    let (result, broken) = after(&module, true);
    let error = result.expect_err("the module is invalid");
    assert_eq!(error.code, Some(Code::ResultShape.as_str()));
    assert_eq!(error.place.expect("a place").instruction, "n");
    assert!(error.message.starts_with("the pass left an invalid module: "), "{}", error.message);
    let broken = broken.expect("something is broken");
    assert_eq!((broken.runs, broken.pass, broken.violations.len()), (0, "dce", 2));
    let codes: Vec<Code> = broken.violations.iter().map(|violation| violation.code).collect();
    assert_eq!(codes, [Code::ResultShape, Code::EntryResult]);
    assert_eq!(broken.instruction, Some((id, "%n = f32[3]{0} negate(%p)".to_owned())));
    // What a pass has not touched is not looked at again.
    assert!(after(&module, false).0.is_ok());
}
