//! How many mangled texts `hlo-check debug` can still load: `paste_score [--seed=N] [--rounds=N] [-v] FOLDER...`
//!
//! Every `.hlo` file of the folders that can be read as it is gets mangled in each of the ways people do it, with a
//! seeded source of randomness. Prints for each way how many texts became a module, how many of those modules are
//! valid, and what stood in the way of the others. Exit status 1 if fewer than 98 % load or anything panics.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hlo_check::debug::paste;
use hlo_text::{ParseOptions, VerifyOptions, parse_bytes, verify};

/// The share of mangled texts that have to load, in percent.
const FLOOR: f64 = 98.0;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is more than 0.
    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

type Mangle = fn(&str, &mut Random) -> String;

fn each_line(text: &str, mut change: impl FnMut(usize, &str) -> String) -> String {
    text.lines().enumerate().fold(String::new(), |mut out, (index, line)| {
        out.push_str(&change(index, line));
        out.push('\n');
        out
    })
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn fences(text: &str, random: &mut Random) -> String {
    let language = ["", "hlo", "text", "mlir"][random.below(4)];
    let before =
        ["", "Here is the module:\n\n", "The dump from `XLA_FLAGS=--xla_dump_to=x`:\n"][random.below(3)];
    let after = ["", "\nAny idea why this is slow?\n"][random.below(2)];
    format!("{before}```{language}\n{text}```\n{after}")
}

fn one_fence(text: &str, random: &mut Random) -> String {
    if random.below(2) == 0 { format!("```hlo\n{text}") } else { format!("{text}\n```\nthanks!\n") }
}

fn glog(text: &str, random: &mut Random) -> String {
    let pid = random.below(100_000);
    each_line(text, |index, line| {
        format!(
            "I0000 00:00:1700000{:03}.{:06} {pid:>7} hlo_pass_pipeline.cc:{}] {line}",
            index % 1000,
            index,
            100 + index % 7
        )
    })
}

fn old_glog(text: &str, random: &mut Random) -> String {
    let pid = random.below(100_000);
    each_line(text, |index, line| {
        format!(
            "I1130 12:{:02}:{:02}.123456 {pid:>5} dumping.cc:{}] {line}",
            index / 60 % 60,
            index % 60,
            index % 500
        )
    })
}

fn tensorflow_log(text: &str, _: &mut Random) -> String {
    each_line(text, |index, line| {
        format!(
            "2024-03-01 10:{:02}:{:02}.{index:06}: I xla/service/hlo_module.cc:{}] {line}",
            index / 60 % 60,
            index % 60,
            index % 900 + 1
        )
    })
}

fn python_log(text: &str, random: &mut Random) -> String {
    let form = random.below(5);
    each_line(text, |index, line| {
        let time = format!("{:02}:{:02}", index / 60 % 60, index % 60);
        match form {
            0 => format!("INFO:root:{line}"),
            1 => format!("2024-03-01 10:{time},123 - jax._src.dispatch - DEBUG - {line}"),
            2 => format!("[2024-03-01 10:{time},123] [INFO] [compiler.py:12] {line}"),
            3 => format!("2024-03-01T10:{time}.0000000Z {line}"),
            _ => format!("2024-03-01 10:{time} INFO {line}"),
        }
    })
}

fn worker_log(text: &str, random: &mut Random) -> String {
    let form = random.below(3);
    each_line(text, |_, line| match form {
        0 => format!("(RayTrainWorker pid=4242, ip=10.0.0.7) {line}"),
        1 => format!("[rank3]: {line}"),
        _ => format!("2024-03-01T10:11:12.123456789Z stderr F {line}"),
    })
}

fn quoted(text: &str, random: &mut Random) -> String {
    let mark = if random.below(2) == 0 { "> " } else { "> > " };
    each_line(text, |_, line| format!("{mark}{line}"))
}

fn colored(text: &str, _: &mut Random) -> String {
    each_line(text, |index, line| {
        if index % 3 == 0 {
            format!("\u{1b}[1;32m{line}\u{1b}[0m")
        } else {
            line.replace(" = ", "\u{1b}[31m = \u{1b}[m")
        }
    })
}

fn line_numbers(text: &str, random: &mut Random) -> String {
    let form = random.below(3);
    each_line(text, |index, line| match form {
        0 => format!("{:6}\t{line}", index + 1),
        1 => format!("{:>4} | {line}", index + 1),
        _ => format!("{}:{line}", index + 1),
    })
}

fn all_added(text: &str, _: &mut Random) -> String {
    let body = each_line(text, |_, line| format!("+{line}"));
    format!(
        "diff --git a/m.hlo b/m.hlo\nnew file mode 100644\nindex 0000000..1234567\n--- /dev/null\n+++ b/m.hlo\n@@ -0,0 +1,{} @@\n{body}",
        text.lines().count()
    )
}

fn unified(text: &str, random: &mut Random) -> String {
    let mut out = String::from("--- before.hlo\n+++ after.hlo\n");
    let lines: Vec<&str> = text.lines().collect();
    let _ = writeln!(out, "@@ -1,{0} +1,{0} @@", lines.len());
    for line in lines {
        if random.below(10) == 0 && line.contains(" = ") {
            let _ = writeln!(out, "-{}\n+{line}", line.replacen(" = ", ".old = ", 1));
        } else {
            let _ = writeln!(out, " {line}");
        }
    }
    out
}

fn bare_markers(text: &str, random: &mut Random) -> String {
    each_line(text, |_, line| format!("{} {line}", if random.below(6) == 0 { "+" } else { " " }))
}

fn no_header(text: &str, _: &mut Random) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("HloModule"));
    lines.fold(String::new(), |out, line| out + line + "\n")
}

fn no_percent(text: &str, _: &mut Random) -> String {
    text.replace('%', "")
}

fn cut_end(text: &str, random: &mut Random) -> String {
    text[..floor(text, random.below(text.len()) + 1)].to_owned()
}

fn cut_begin(text: &str, random: &mut Random) -> String {
    text[floor(text, random.below(text.len()))..].to_owned()
}

fn cut_both(text: &str, random: &mut Random) -> String {
    let begin = floor(text, random.below(text.len()));
    let end = floor(text, begin + random.below(text.len() - begin) + 1);
    text[begin..end].to_owned()
}

fn cut_middle(text: &str, random: &mut Random) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = random.below(lines.len());
    let to = from + random.below((lines.len() - from).min(40)) + 1;
    let mark = ["", "...\n", "  ...\n", "[...]\n", "  // ...\n"][random.below(5)];
    let (head, tail) = (&lines[..from], &lines[to.min(lines.len())..]);
    format!("{}\n{mark}{}\n", head.join("\n"), tail.join("\n"))
}

fn few_lines(text: &str, random: &mut Random) -> String {
    // People copy lines with instructions, not those of tables.
    let lines: Vec<&str> = text.lines().collect();
    let with_instructions: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].contains(" = ")).collect();
    let Some(&from) = with_instructions.get(random.below(with_instructions.len().max(1))) else {
        return text.to_owned();
    };
    lines.iter().skip(from).take(1 + random.below(20)).fold(String::new(), |out, line| out + line + "\n")
}

fn one_computation(text: &str, random: &mut Random) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let opens: Vec<usize> =
        (0..lines.len()).filter(|&at| lines[at].ends_with('{') && !lines[at].starts_with(' ')).collect();
    let Some(&from) = opens.get(random.below(opens.len().max(1))) else { return text.to_owned() };
    let length = lines[from..].iter().position(|line| line.starts_with('}')).unwrap_or(0);
    lines[from..=from + length].join("\n") + "\n"
}

fn log_of_a_part(text: &str, random: &mut Random) -> String {
    let part = cut_both(text, random);
    if random.below(2) == 0 { glog(&part, random) } else { python_log(&part, random) }
}

fn fenced_lines(text: &str, random: &mut Random) -> String {
    let part = few_lines(text, random);
    let part = if random.below(2) == 0 { no_percent(&part, random) } else { part };
    fences(&part, random)
}

fn quoted_part(text: &str, random: &mut Random) -> String {
    let part = cut_end(text, random);
    quoted(&part, random)
}

/// The ways, by name.
const WAYS: &[(&str, Mangle)] = &[
    ("as it is", |text, _| text.to_owned()),
    ("fences", fences),
    ("one fence", one_fence),
    ("glog", glog),
    ("old glog", old_glog),
    ("tensorflow log", tensorflow_log),
    ("python log", python_log),
    ("worker log", worker_log),
    ("quoted", quoted),
    ("colours", colored),
    ("line numbers", line_numbers),
    ("added in a diff", all_added),
    ("unified diff", unified),
    ("diff markers", bare_markers),
    ("no header", no_header),
    ("no percent", no_percent),
    ("end cut off", cut_end),
    ("beginning cut off", cut_begin),
    ("both cut off", cut_both),
    ("lines missing", cut_middle),
    ("a few lines", few_lines),
    ("one computation", one_computation),
    ("log of a part", log_of_a_part),
    ("fenced lines", fenced_lines),
    ("quoted part", quoted_part),
];

#[derive(Default)]
struct Score {
    texts: usize,
    loaded: usize,
    valid: usize,
    panicked: usize,
    without_help: usize,
    /// Texts of which no instruction is left.
    empty: usize,
    time: std::time::Duration,
}

/// Whether a line with an instruction of the original is whole in the mangled text.
fn has_instruction(text: &str, mangled: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| line.contains(" = ") && line.contains('('));
    let mut lines = lines.filter(|line| !line.starts_with("HloModule") && !line.starts_with("//"));
    lines.any(|line| mangled.contains(line) || mangled.contains(&line.replace('%', "")))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "hlo"));
    files.sort();
    files
}

fn main() -> ExitCode {
    let (mut seed, mut rounds, mut verbose, mut only, mut folders) = (1u64, 1u64, false, None, Vec::new());
    for arg in std::env::args().skip(1) {
        if let Some(value) = arg.strip_prefix("--seed=") {
            seed = value.parse().expect("a number");
        } else if let Some(value) = arg.strip_prefix("--rounds=") {
            rounds = value.parse().expect("a number");
        } else if let Some(value) = arg.strip_prefix("--way=") {
            only = Some(value.to_owned());
        } else if arg == "-v" {
            verbose = true;
        } else {
            folders.push(PathBuf::from(arg));
        }
    }
    let mut scores: BTreeMap<usize, Score> = BTreeMap::new();
    let mut reasons: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let (mut used, mut unreadable) = (0, 0);
    std::panic::set_hook(Box::new(|_| {}));
    for (number, path) in folders.iter().flat_map(|folder| files(folder)).enumerate() {
        let bytes = std::fs::read(&path).expect("a file");
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if text.trim().is_empty() || parse_bytes(text.as_bytes(), &ParseOptions::default()).is_err() {
            unreadable += 1;
            continue;
        }
        used += 1;
        for (way, (name, mangle)) in WAYS.iter().enumerate() {
            if only.as_ref().is_some_and(|only| only != name) {
                continue;
            }
            for round in 0..rounds {
                let mut random = Random(seed ^ (number as u64) << 32 ^ (way as u64) << 16 ^ round);
                let mangled = mangle(&text, &mut random);
                if mangled.trim().is_empty() {
                    continue;
                }
                let score = scores.entry(way).or_default();
                score.texts += 1;
                let begun = std::time::Instant::now();
                let what = format!("{} ({name}, round {round})", path.display());
                let loaded = catch_unwind(|| paste::load(mangled.as_bytes()));
                score.time += begun.elapsed();
                match loaded {
                    Err(_) => {
                        score.panicked += 1;
                        println!("panic: {what}");
                    }
                    Ok(Ok(repaired)) => {
                        score.loaded += 1;
                        let found = verify(&repaired.parsed.module, &VerifyOptions::default());
                        score.valid += usize::from(!found.iter().any(|violation| violation.is_error()));
                        if verbose && only.is_some() {
                            for repair in &repaired.repairs {
                                println!("{what}: {repair}");
                            }
                            for violation in found.iter().take(1) {
                                println!("{what}: INVALID {}", violation.message);
                            }
                        }
                    }
                    Ok(Err(failed)) => {
                        let first = &failed.diagnostics[0];
                        if failed.is_empty && !has_instruction(&text, &mangled) {
                            // Nothing that was in the text could have been loaded.
                            score.texts -= 1;
                            score.empty += 1;
                            assert!(first.help.is_some());
                            continue;
                        }
                        score.without_help += usize::from(first.help.is_none());
                        let quoted: String =
                            first.message.split('`').step_by(2).collect::<Vec<_>>().join("`_`");
                        let reason = reasons.entry(format!("{} {quoted}", first.code.as_str())).or_default();
                        reason.0 += 1;
                        if reason.1.is_empty() {
                            let start = first.place().span.start as usize;
                            let (line, _) = hlo_check::input::line_and_column(&failed.text, start);
                            let line = failed.text.lines().nth(line - 1).unwrap_or_default();
                            reason.1 = format!(
                                "{what}: {}: {}",
                                first.message,
                                line.chars().take(200).collect::<String>()
                            );
                        }
                    }
                }
            }
        }
    }
    println!("{used} modules; {unreadable} can't be read unmangled and don't count");
    let mut total = Score::default();
    for (way, score) in &scores {
        let share = 100.0 * score.loaded as f64 / score.texts.max(1) as f64;
        let valid = 100.0 * score.valid as f64 / score.loaded.max(1) as f64;
        println!(
            "{:<18} {:>6} of {:>6} load {share:>6.2} %, of which valid {valid:>6.2} %, {:.1} s",
            WAYS[*way].0,
            score.loaded,
            score.texts,
            score.time.as_secs_f64()
        );
        total.texts += score.texts;
        total.loaded += score.loaded;
        total.valid += score.valid;
        total.panicked += score.panicked;
        total.without_help += score.without_help;
        total.empty += score.empty;
    }
    let share = 100.0 * total.loaded as f64 / total.texts.max(1) as f64;
    let valid = 100.0 * total.valid as f64 / total.loaded.max(1) as f64;
    println!(
        "all: {} of {} load, {share:.2} %; {valid:.2} % of those are valid; {} panics; {} diagnostics without advice; {} texts \
         without any instruction don't count",
        total.loaded, total.texts, total.panicked, total.without_help, total.empty
    );
    if verbose {
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (reason, (count, example)) in reasons {
            println!("{count:>5} {reason}\n      {example}");
        }
    }
    ExitCode::from(u8::from(share < FLOOR || total.panicked > 0))
}
