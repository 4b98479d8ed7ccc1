//! Reading a module as a protocol buffer beside reading it as text, in the same run: `proto_throughput [--rounds=N] FILE...`
//! prints CPU time per instruction (best of the rounds) and what was allocated at most per byte of the input.

use std::alloc::System;

use cpu_time::ThreadTime;
use hlo_text::proto::{self, ReadOptions};
use hlo_text::{Dialect, ParseOptions, PrintOptions, parse_module};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Nanoseconds of the fastest of `rounds` runs, and the bytes the last one left allocated.
fn measure<T>(rounds: u32, mut run: impl FnMut() -> T) -> (f64, isize) {
    let (mut best, mut live) = (f64::INFINITY, 0);
    for _ in 0..rounds {
        let region = Region::new(ALLOCATOR);
        let start = ThreadTime::now();
        let result = std::hint::black_box(run());
        best = best.min(start.elapsed().as_secs_f64() * 1e9);
        let change = region.change();
        live = change.bytes_allocated as isize - change.bytes_deallocated as isize;
        drop(result);
    }
    (best, live)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (options, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let rounds =
        options.iter().find_map(|option| option.strip_prefix("--rounds=")?.parse().ok()).unwrap_or(10);
    println!("instructions  text ns  proto ns  text/proto  write ns  live/byte  file");
    let (mut text_total, mut proto_total) = (0.0, 0.0);
    for file in files {
        let text = std::fs::read_to_string(&file)?;
        let Ok(parsed) = parse_module(&text, &ParseOptions::strict()) else { continue };
        // The text that has the same in it: all constants, and nothing that XLA's printer would leave out.
        let print = PrintOptions { print_large_constants: true, ..PrintOptions::default() };
        let text = parsed.module.to_text(&print);
        let Ok(written) = proto::write(&parsed.module, None) else { continue };
        let bytes = written.bytes;
        let count = parsed.module.instruction_count() as f64;
        let read_options = ReadOptions { dialect: Dialect::Strict, encoding: None };
        let (parse, _) = measure(rounds, || parse_module(&text, &ParseOptions::strict()).is_ok());
        let (read, _) = measure(rounds, || proto::read(&bytes, &read_options).is_ok());
        let (_, live) = measure(1, || proto::read(&bytes, &read_options));
        let (write, _) = measure(rounds, || proto::write(&parsed.module, None).is_ok());
        println!(
            "{count:12} {:8.0} {:9.0} {:11.2} {:9.0} {:10.2}  {file}",
            parse / count,
            read / count,
            parse / read,
            write / count,
            live as f64 / bytes.len() as f64,
        );
        text_total += parse;
        proto_total += read;
    }
    println!("all files: text/proto {:.2}", text_total / proto_total);
    Ok(())
}
