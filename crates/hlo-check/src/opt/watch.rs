//! What `hlo-opt` shows of passes as they run: the module before and after, differences, dumps, times, counts.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hlo_passes::Pipeline;
use hlo_passes::edit::EditCounts;
use hlo_passes::hash::ModuleHash;
use hlo_passes::pass::{PassError, PassResult};
use hlo_passes::pipeline::{Observer, PassOutcome};
use hlo_passes::registry::PassInfo;
use hlo_passes::structure::structural_hash;
use hlo_text::ir::Opcode;
use hlo_text::{Module, PrintOptions};
use serde_json::{Map, Value, json};
use similar::TextDiff;

use super::arguments::Arguments;
use super::crash::quote;

/// How long a difference between two texts is optimised before it is shown as it is.
const DIFF_PATIENCE: Duration = Duration::from_secs(10);

/// What is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) before: Which,
    pub(super) after: Which,
    /// Differences that passes make.
    pub(super) diff: bool,
    /// Folder for the module after each pass.
    pub(super) dump_dir: Option<String>,
    pub(super) timing: Option<Form>,
    pub(super) stats: Option<Form>,
}

/// Around which passes the module is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Which {
    pub(super) all: bool,
    /// Those that change something.
    pub(super) changing: bool,
    pub(super) keys: Vec<String>,
}

impl Which {
    fn covers(&self, key: &str) -> bool {
        self.all || self.keys.iter().any(|known| known == key)
    }
}

/// How tables are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// For people.
    #[default]
    Text,
    /// One JSON object in a line.
    Json,
}

/// What a pass did to the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Nothing,
    /// Names, metadata, the order of independent instructions.
    Names,
    Structure,
    /// Something; nobody asked what.
    Something,
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing changed",
            Self::Names => "only names, metadata or order changed",
            Self::Structure | Self::Something => "changed",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Nothing => "no",
            Self::Names => "names",
            Self::Structure | Self::Something => "yes",
        }
    }
}

/// A run of a pass.
struct Row {
    key: &'static str,
    time: Duration,
    change: Change,
    instructions: (usize, usize),
    counts: EditCounts,
}

/// Shows what it is asked to while passes run.
pub(super) struct Watcher<'w> {
    options: &'w Options,
    arguments: &'w Arguments,
    pipeline: &'w Pipeline,
    err: &'w mut dyn Write,
    /// What is wrong with `err`.
    fault: Option<io::Error>,
    /// The passes that have run, as `--passes` takes them.
    done: Vec<String>,
    /// The module before the pass that runs, if it will be needed.
    text: Option<String>,
    structure: Option<ModuleHash>,
    instructions: usize,
    begun: Instant,
    rows: Vec<Row>,
    /// Times of what is not a pass.
    phases: Vec<(&'static str, Duration)>,
    dump: Option<PathBuf>,
}

impl<'w> Watcher<'w> {
    /// A watcher of a run over the module that begins on line `first_line` of its file.
    pub(super) fn new(
        arguments: &'w Arguments,
        pipeline: &'w Pipeline,
        current_dir: &Path,
        first_line: usize,
        err: &'w mut dyn Write,
    ) -> Self {
        let options = &arguments.watch;
        let dump = options.dump_dir.as_ref().map(|dir| {
            let dir = current_dir.join(dir);
            // Cases of one file, which may run at once, don't write to the same names.
            if arguments.split_input_file { dir.join(format!("line{first_line:04}")) } else { dir }
        });
        Watcher {
            options,
            arguments,
            pipeline,
            err,
            fault: None,
            done: Vec::new(),
            text: None,
            structure: None,
            instructions: 0,
            begun: Instant::now(),
            rows: Vec::new(),
            phases: Vec::new(),
            dump,
        }
    }

    /// Takes in the time something took that is not a pass.
    pub(super) fn phase(&mut self, name: &'static str, time: Duration) {
        self.phases.push((name, time));
    }

    /// Takes in the module as it was read.
    ///
    /// # Errors
    /// The folder of the dumps can't be written to.
    pub(super) fn begin(&mut self, module: &Module) -> Result<(), String> {
        if self.options.stats.is_some() {
            self.structure = Some(structural_hash(module));
        }
        let Some(dir) = &self.dump else { return Ok(()) };
        std::fs::create_dir_all(dir).map_err(|error| format!("can't make {}: {error}", dir.display()))?;
        self.dump_module("input", module)
    }

    fn dump_module(&mut self, what: &str, module: &Module) -> Result<(), String> {
        let Some(dir) = &self.dump else { return Ok(()) };
        let path = dir.join(format!("{:04}.{what}.hlo", self.done.len()));
        let mut text = format!("// {}\n", self.command(dir)).into_bytes();
        let options = PrintOptions { print_large_constants: true, ..PrintOptions::default() };
        text.extend_from_slice(module.to_text(&options).as_bytes());
        std::fs::write(&path, text).map_err(|error| format!("can't write {}: {error}", path.display()))
    }

    /// The command that gives the module as it is now.
    fn command(&self, dir: &Path) -> String {
        let mut command = String::from("hlo-opt ");
        // One of several modules of a file, and what came through a pipe, stand only here.
        let is_a_file = !self.arguments.split_input_file && self.arguments.input != "-";
        if self.done.is_empty() && is_a_file {
            command.push_str(&quote(&self.arguments.input));
        } else {
            command.push_str(&quote(&dir.join("0000.input.hlo").to_string_lossy()));
        }
        if self.arguments.no_verify {
            command.push_str(" --no-verify");
        }
        if !self.done.is_empty() {
            command.push_str(&format!(" --passes={}", quote(&self.done.join(","))));
            self.arguments.fuel.iter().for_each(|fuel| command.push_str(&format!(" --fuel={fuel}")));
        }
        command.push_str(" --print-large-constants");
        command
    }

    fn shown(&self, module: &Module) -> String {
        module.to_text(&self.arguments.print)
    }

    fn say(&mut self, text: &str) -> PassResult<()> {
        self.err.write_all(text.as_bytes()).map_err(|error| {
            self.fault = Some(error);
            PassError::new("what was asked for can't be shown")
        })
    }

    fn show(&mut self, when: &str, key: &str, text: &str) -> PassResult<()> {
        let number = self.done.len();
        self.say(&format!("// -----// IR {when} {key} (pass {number}) //----- //\n{text}"))
    }

    fn watch_after(&mut self, outcome: &PassOutcome, module: &Module) -> PassResult<()> {
        let key = outcome.info.key;
        let changed = outcome.changed;
        let shows_after =
            self.options.after.covers(key) || (changed && (self.options.after.changing || self.options.diff));
        let after = if shows_after { self.shown(module) } else { String::new() };
        let before = self.text.take();
        if changed
            && self.options.before.changing
            && !self.options.before.covers(key)
            && let Some(before) = &before
        {
            self.show("before", key, before)?;
        }
        if self.options.after.covers(key) || (changed && self.options.after.changing) {
            self.show("after", key, &after)?;
        }
        if changed
            && self.options.diff
            && let Some(before) = &before
        {
            let number = self.done.len();
            let names = (format!("before {key} (pass {number})"), format!("after {key} (pass {number})"));
            let diff = TextDiff::configure().timeout(DIFF_PATIENCE).diff_lines(before.as_str(), &after);
            let diff = diff.unified_diff().header(&names.0, &names.1).to_string();
            // What prints may be left out of this print.
            let diff =
                if diff.is_empty() { format!("{key}: no difference in what is printed\n") } else { diff };
            self.say(&diff)?;
        }
        self.dump_module(key, module).map_err(PassError::new)
    }

    /// Writes the tables.
    ///
    /// # Errors
    /// Those of the stream.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if self.options.diff
            && !self.rows.is_empty()
            && self.rows.iter().all(|row| row.change == Change::Nothing)
        {
            writeln!(self.err, "--print-ir-diff: no pass changed anything")?;
        }
        match self.options.stats {
            None => {}
            Some(Form::Text) => self.write_stats()?,
            Some(Form::Json) => {
                let rows: Vec<Value> = self.rows.iter().map(Row::stats).collect();
                writeln!(self.err, "{}", json!({ "stats": rows }))?;
            }
        }
        match self.options.timing {
            None => Ok(()),
            Some(Form::Text) => self.write_times(),
            Some(Form::Json) => {
                let times = self.times();
                let rows =
                    times.iter().map(|(name, time)| json!({"name": name, "seconds": time.as_secs_f64()}));
                writeln!(self.err, "{}", json!({ "timing": rows.collect::<Vec<_>>() }))
            }
        }
    }

    fn write_stats(&mut self) -> io::Result<()> {
        writeln!(self.err, "statistics:")?;
        for (number, row) in self.rows.iter().enumerate() {
            let (before, after) = row.instructions;
            let (key, change) = (row.key, row.change.name());
            writeln!(self.err, "{:>5} {key}: {change}, {before} -> {after} instructions", number + 1)?;
            for (sign, counts) in [('-', &row.counts.removed), ('+', &row.counts.added)] {
                for (opcode, count) in by_opcode(counts) {
                    writeln!(self.err, "      {sign} {count} {opcode}")?;
                }
            }
        }
        Ok(())
    }

    /// What came before the passes, the passes, what came after them.
    fn times(&self) -> Vec<(String, Duration)> {
        let phase = |&(name, time): &(&str, Duration)| (name.to_owned(), time);
        let (after, before): (Vec<_>, Vec<_>) = self.phases.iter().partition(|(name, _)| *name == "print");
        let passes =
            self.rows.iter().enumerate().map(|(index, row)| (format!("{} {}", index + 1, row.key), row.time));
        before.into_iter().map(phase).chain(passes).chain(after.into_iter().map(phase)).collect()
    }

    fn write_times(&mut self) -> io::Result<()> {
        let times = self.times();
        let total: Duration = times.iter().map(|(_, time)| *time).sum();
        writeln!(self.err, "times:")?;
        for (name, time) in times.iter().chain([&("total".to_owned(), total)]) {
            let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
            writeln!(self.err, "  {:>12.6} s {share:>5.1}%  {name}", time.as_secs_f64())?;
        }
        Ok(())
    }
}

impl Row {
    fn stats(&self) -> Value {
        let table = |counts: &[u32]| {
            by_opcode(counts).map(|(opcode, count)| (opcode.to_owned(), count.into())).collect::<Map<_, _>>()
        };
        json!({
            "pass": self.key,
            "changed": self.change.word(),
            "instructions": [self.instructions.0, self.instructions.1],
            "removed": table(&self.counts.removed),
            "added": table(&self.counts.added),
        })
    }
}

/// The opcodes that occur, in the order of their table.
fn by_opcode(counts: &[u32]) -> impl Iterator<Item = (&'static str, u32)> {
    let pairs = Opcode::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
    pairs.map(|(opcode, count)| (opcode.name(), *count))
}

impl Observer for Watcher<'_> {
    fn before_pass(&mut self, index: usize, info: &'static PassInfo, module: &Module) -> PassResult<()> {
        self.done.push(self.pipeline.list(index..index + 1));
        self.instructions = module.instruction_count();
        let key = info.key;
        let shows = self.options.before.covers(key);
        if shows || self.options.before.changing || self.options.diff {
            let text = self.shown(module);
            if shows {
                self.show("before", key, &text)?;
            }
            self.text = Some(text);
        }
        self.begun = Instant::now();
        Ok(())
    }

    fn after_pass(&mut self, _index: usize, outcome: &PassOutcome, module: &Module) -> PassResult<()> {
        let time = self.begun.elapsed();
        let mut change = if outcome.changed { Change::Something } else { Change::Nothing };
        if outcome.changed
            && let Some(before) = self.structure
        {
            let after = structural_hash(module);
            // Computations that nobody calls have no part in the structure.
            let is_same = after == before && self.instructions == module.instruction_count();
            change = if is_same { Change::Names } else { Change::Structure };
            self.structure = Some(after);
        }
        self.rows.push(Row {
            key: outcome.info.key,
            time,
            change,
            instructions: (self.instructions, module.instruction_count()),
            counts: outcome.counts.clone(),
        });
        self.watch_after(outcome, module)
    }
}
