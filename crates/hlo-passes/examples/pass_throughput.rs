//! Times lists of passes for tools/bench_passes_vs_xla.py: reads lines `ROUNDS PASSES PATH`, answers each with a JSON line
//! of CPU seconds, the best of the rounds, each on a fresh module: for the passes with the hashes that tell whether
//! they changed something, and for verifying the module as it was read.

use std::io::{self, BufRead, Write};

use cpu_time::ThreadTime;
use hlo_passes::PassContext;
use hlo_passes::options::parse_pass_list;
use hlo_passes::pipeline::{NoObserver, Pipeline, Selection};
use hlo_text::{ParseOptions, VerifyOptions, parse_module, verify};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.splitn(3, ' ');
        let (Some(rounds), Some(passes), Some(path)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        match times(rounds.parse().unwrap_or(1), passes, path) {
            Ok((passes, verify)) => writeln!(out, "{{\"passes\": {passes}, \"verify\": {verify}}}")?,
            Err(error) => writeln!(out, "{{\"error\": {error:?}}}")?,
        }
        out.flush()?;
    }
    Ok(())
}

/// The best times for the passes and for the verifier.
fn times(rounds: u32, passes: &str, path: &str) -> Result<(f64, f64), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let selection = Selection { passes: parse_pass_list(passes)?, ..Selection::default() };
    let (mut in_passes, mut in_verifier) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        let parsed =
            parse_module(&text, &ParseOptions::strict()).map_err(|errors| errors[0].message.clone())?;
        let mut module = parsed.module;
        let pipeline = Pipeline::new(&selection).map_err(|error| error.to_string())?;
        let start = ThreadTime::now();
        std::hint::black_box(verify(&module, &VerifyOptions::default()));
        in_verifier = in_verifier.min(start.elapsed().as_secs_f64());
        let start = ThreadTime::now();
        let ran = pipeline.run(&mut module, &mut PassContext::default(), &mut NoObserver);
        in_passes = in_passes.min(start.elapsed().as_secs_f64());
        ran.map_err(|error| error.to_string())?;
    }
    Ok((in_passes, in_verifier))
}
