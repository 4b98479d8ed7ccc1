//! `cargo run --release -p hlo-passes --example try_passes -- FIRST COUNT [SIZE]`: passes in any order over the generated
//! modules of some seeds; the faults, and how often each pass fired and refused.

use std::collections::BTreeMap;
use std::process::ExitCode;

use hlo_passes::generate::{Choices, try_passes};

/// Passes per module.
const PASSES: usize = 12;

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let at = |index: usize, default| numbers.get(index).copied().unwrap_or(default);
    let (first, count, size) = (at(0, 0), at(1, 100), at(2, 60) as usize);
    let mut passes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut refused: BTreeMap<&str, u64> = BTreeMap::new();
    let mut faults = 0;
    for seed in first..first + count {
        match try_passes(&mut Choices::from_seed(seed), PASSES, size) {
            Ok(trial) => {
                for (key, (runs, rewrites)) in trial.passes {
                    let all = passes.entry(key).or_default();
                    *all = (all.0 + runs, all.1 + rewrites);
                }
                trial.refused.iter().for_each(|(key, _)| *refused.entry(key).or_default() += 1);
            }
            Err(fault) => {
                faults += 1;
                println!("seed {seed}: {fault}");
            }
        }
    }
    println!("{:50} {:>8} {:>9} {:>8}", "pass", "runs", "rewrites", "refused");
    for (key, (runs, rewrites)) in passes {
        println!("{key:50} {runs:>8} {rewrites:>9} {:>8}", refused.get(key).unwrap_or(&0));
    }
    println!("{faults} faults in {count} modules");
    if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
