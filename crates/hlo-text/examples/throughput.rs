//! Times parsing and printing for tools/bench_vs_xla.py: reads lines `ROUNDS PATH`, answers each with a JSON line of
//! CPU seconds (best of the rounds) for parsing, printing and verifying, the bytes live after a parse (kept text
//! included), and those the verifier allocates in all.

use std::alloc::System;
use std::io::{self, BufRead, Write};

use cpu_time::ThreadTime;
use hlo_text::{ParseOptions, PrintOptions, VerifyOptions, parse_module, verify};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let Some((rounds, path)) = line.split_once(' ') else { continue };
        let rounds: u32 = rounds.parse().unwrap_or(1);
        let text = std::fs::read_to_string(path)?;
        let options = ParseOptions::strict();
        let mut parse = f64::INFINITY;
        let mut render = f64::INFINITY;
        let mut live = 0;
        let mut kept = None;
        for _ in 0..rounds {
            drop(kept.take());
            let region = Region::new(ALLOCATOR);
            let start = ThreadTime::now();
            let parsed = parse_module(&text, &options);
            parse = parse.min(start.elapsed().as_secs_f64());
            let change = region.change();
            live = text.len() + change.bytes_allocated - change.bytes_deallocated;
            match parsed {
                Ok(parsed) => kept = Some(parsed),
                Err(errors) => {
                    writeln!(out, "{{\"error\": {:?}}}", errors[0].message)?;
                    break;
                }
            }
        }
        let Some(parsed) = kept else { continue };
        let print_options = PrintOptions::default();
        let mut printed = 0;
        for _ in 0..rounds {
            let start = ThreadTime::now();
            printed = std::hint::black_box(parsed.module.to_text(&print_options)).len();
            render = render.min(start.elapsed().as_secs_f64());
        }
        let mut check = f64::INFINITY;
        let (mut violations, mut verify_bytes) = (0, 0);
        for _ in 0..rounds {
            let region = Region::new(ALLOCATOR);
            let start = ThreadTime::now();
            violations = std::hint::black_box(verify(&parsed.module, &VerifyOptions::default())).len();
            check = check.min(start.elapsed().as_secs_f64());
            verify_bytes = region.change().bytes_allocated;
        }
        writeln!(
            out,
            "{{\"parse\": {parse}, \"print\": {render}, \"verify\": {check}, \"live\": {live}, \"printed\": {printed}, \
             \"violations\": {violations}, \"verify_bytes\": {verify_bytes}}}"
        )?;
        out.flush()?;
    }
    Ok(())
}
