//! Times parsing and printing for tools/bench_vs_xla.py: reads lines `ROUNDS PATH`, answers each with a JSON line of
//! CPU seconds (best of the rounds), the bytes live after a parse (kept text included) and at its peak.

use std::alloc::System;
use std::io::{self, BufRead, Write};

use cpu_time::ThreadTime;
use hlo_text::{ParseOptions, PrintOptions, parse_module};
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
        writeln!(
            out,
            "{{\"parse\": {parse}, \"print\": {render}, \"live\": {live}, \"printed\": {printed}}}"
        )?;
        out.flush()?;
    }
    Ok(())
}
