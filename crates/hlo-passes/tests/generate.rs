//! Generated modules are valid, print what they were read from, and are the same for the same seed.

use std::collections::BTreeMap;

use hlo_passes::generate::{Choices, generate, try_passes};
use hlo_text::diagnostic::{Report, Source};
use hlo_text::{Module, ParseOptions, PrintOptions, VerifyOptions, parse_module, verify};

fn read(text: &str, what: &str) -> Module {
    match parse_module(text, &ParseOptions::default()) {
        Ok(parsed) => parsed.module,
        Err(errors) => {
            let report = Report::new(&errors[0], Source::new(what, text)).render(false);
            panic!("{what} can't be read:\n{report}")
        }
    }
}

fn check(text: &str, what: &str) {
    let module = read(text, what);
    let violations = verify(&module, &VerifyOptions::default());
    let errors: Vec<_> = violations.iter().filter(|violation| violation.is_error()).collect();
    assert!(errors.is_empty(), "{what}: {:?}\n{text}", errors[0].message);
    let options = PrintOptions { print_large_constants: true, ..PrintOptions::default() };
    let printed = module.to_text(&options);
    assert_eq!(read(&printed, what).to_text(&options), printed, "{what}");
}

#[test]
fn modules_of_seeds_are_valid_and_round_trip() {
    for seed in 0..400 {
        let size = 10 + 3 * (seed as usize % 100);
        let text = generate(&mut Choices::from_seed(seed), size);
        check(&text, &format!("seed {seed}, size {size}"));
        assert_eq!(
            text,
            generate(&mut Choices::from_seed(seed), size),
            "the same seed gives the same module"
        );
    }
}

#[test]
fn modules_of_bytes_are_valid() {
    for length in 0..300 {
        let bytes: Vec<u8> = (0..length).map(|at: usize| (at * at + 7 * length) as u8).collect();
        check(&generate(&mut Choices::from_bytes(&bytes), 1000), &format!("{length} bytes"));
    }
}

#[test]
fn every_size_is_about_kept() {
    for size in [0, 1, 100, 5000] {
        let text = generate(&mut Choices::from_seed(1), size);
        let made = text.lines().filter(|line| line.contains(" = ")).count();
        assert!((size..size + 200).contains(&made), "{made} instructions for {size}");
    }
}

#[test]
fn passes_in_any_order_keep_modules_valid() {
    let mut fired: BTreeMap<&str, u64> = BTreeMap::new();
    let mut refused: BTreeMap<(&str, String), u64> = BTreeMap::new();
    let first = std::env::var("HLO_FIRST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let count = std::env::var("HLO_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let mut faults = Vec::new();
    for seed in first..first + count {
        match try_passes(&mut Choices::from_seed(seed), 12, 60) {
            Ok(trial) => {
                trial
                    .passes
                    .iter()
                    .for_each(|(key, (_, rewrites))| *fired.entry(key).or_default() += rewrites);
                trial.refused.into_iter().for_each(|refusal| *refused.entry(refusal).or_default() += 1);
            }
            Err(fault) => faults.push(format!("seed {seed}: {fault}")),
        }
    }
    assert!(faults.is_empty(), "{} faults, the first of them: {}", faults.len(), faults[0]);
    println!("{fired:?}\n{refused:#?}");
}
