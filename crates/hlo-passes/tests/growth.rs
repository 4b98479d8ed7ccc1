//! Calls that double at every step: refused before anything is copied.

use std::fmt::Write as _;

use hlo_passes::analysis::MAX_COPIED_INSTRUCTIONS;
use hlo_passes::options::parse_pass_list;
use hlo_passes::pass::{Fuel, PassContext, PassError};
use hlo_passes::pipeline::{NoObserver, Pipeline, Selection};
use hlo_text::{Module, ParseOptions, PrintOptions, parse_module};

/// `k0` has one instruction beside its parameter; each of the others calls the one before twice.
fn doubling(levels: usize) -> Module {
    let mut text = "HloModule m\nk0 { p = f32[] parameter(0) ROOT r = f32[] negate(p) }\n".to_owned();
    for level in 1..=levels {
        let entry = if level == levels { "ENTRY " } else { "" };
        let callee = level - 1;
        writeln!(
            text,
            "{entry}k{level} {{ p = f32[] parameter(0) q = f32[] call(p), to_apply=k{callee} \
             ROOT r = f32[] call(q), to_apply=k{callee} }}"
        )
        .expect("strings take everything");
    }
    parse_module(&text, &ParseOptions::default()).expect("the test's text is HLO").module
}

fn run(module: &mut Module, passes: &str, context: &mut PassContext<'_>) -> Result<bool, PassError> {
    let passes = parse_pass_list(passes).expect("a list");
    let pipeline =
        Pipeline::new(&Selection { passes, ..Selection::default() }).expect("the passes are there");
    pipeline.run(module, context, &mut NoObserver).map_err(|error| error.error)
}

#[test]
fn copies_that_double_are_refused_before_they_are_made() {
    // Level n is inlined as 2^n instructions: all calls together copy 2 + 4 + ... + 2^40. Flattening copies what one of
    // the two calls of each level calls, with everything below: 5 * 2^n - 3 instructions for levels 0 to 39.
    for (pass, copied, place) in [
        ("call-inliner", "2199023255550", ("q.23", "k24")),
        ("flatten-call-graph", "5497558138755", ("r.22", "k22")),
    ] {
        let mut module = doubling(40);
        let before = module.to_text(&PrintOptions::default());
        let error = run(&mut module, pass, &mut PassContext::default()).expect_err("it is too large");
        let place_of_error = error.place.expect("a call");
        assert_eq!((place_of_error.instruction.as_str(), place_of_error.computation.as_str()), place);
        assert_eq!(
            error.message,
            format!(
                "the module of 122 instructions would get {copied} more by copying, here and elsewhere; at most \
                 {MAX_COPIED_INSTRUCTIONS} may be copied"
            )
        );
        assert_eq!(module.to_text(&PrintOptions::default()), before);
    }
}

#[test]
fn numbers_of_copies_do_not_overflow() {
    for pass in ["call-inliner", "flatten-call-graph"] {
        let error = run(&mut doubling(400), pass, &mut PassContext::default()).expect_err("it is too large");
        assert!(error.message.contains("at least 18446744073709551615 more"), "{}", error.message);
    }
}

#[test]
fn what_is_small_enough_or_not_rewritten_is_left_to_the_pass() {
    let mut module = doubling(8);
    assert_eq!(run(&mut module, "call-inliner", &mut PassContext::default()), Ok(true));
    assert_eq!(module.instruction_count(), 1 + (1 << 8));
    // Every computation is called once: 2^(8-n) copies of level n, of 3 instructions but for the lowest.
    let mut module = doubling(8);
    assert_eq!(run(&mut module, "flatten-call-graph", &mut PassContext::default()), Ok(true));
    assert_eq!(module.instruction_count(), 2 * 256 + 3 * 255);
    // Fuel bounds the copies as well.
    for pass in ["call-inliner", "flatten-call-graph"] {
        let fuel = Fuel { total: Some(2), ..Fuel::default() };
        let mut context = PassContext { fuel, ..PassContext::default() };
        assert_eq!(run(&mut doubling(40), pass, &mut context), Ok(true), "{pass}");
    }
}
