//! A pass that panics: which, where, and a file that shows it again.

use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::path::Path;

use hlo_passes::pass::Place;
use hlo_passes::pipeline::NoObserver;
use hlo_passes::{PassContext, Pipeline};
use hlo_text::{Module, PrintOptions};

use super::arguments::Arguments;
use super::resources::FileResources;
use crate::input::{self, Input};
use crate::panics;

/// A list of passes as a word of a POSIX shell and of a RUN line.
pub(crate) fn quote(passes: &str) -> String {
    if passes.contains(|c: char| !(c.is_ascii_alphanumeric() || "-_,./:=+@%".contains(c))) {
        format!("'{}'", passes.replace('\'', "'\\''"))
    } else {
        passes.to_owned()
    }
}

/// A module and the passes that don't get through with it.
pub(crate) struct Reproducer<'r> {
    /// What happens, for the name of the file.
    pub(crate) kind: &'static str,
    /// The pass it happens in.
    pub(crate) pass: &'r str,
    /// The passes to run, as `--passes` takes them.
    pub(crate) passes: &'r str,
    /// Other options of the run.
    pub(crate) options: &'r [&'static str],
    /// The module.
    pub(crate) text: &'r [u8],
}

impl Reproducer<'_> {
    /// Writes a test that makes it happen again. Gives the command for a shell.
    ///
    /// # Errors
    /// The file can't be written; what is to be said.
    pub(crate) fn write(&self, folder: &Path) -> Result<String, String> {
        let mut options = format!("--passes={}", quote(self.passes));
        for option in self.options {
            options.push(' ');
            options.push_str(option);
        }
        let mut hasher = DefaultHasher::new();
        hasher.write(self.text);
        let name = format!("{}-{}-{:08x}.hlo", self.kind, self.pass, hasher.finish() as u32);
        let mut file = format!("// RUN: hlo-opt %s {options}\n").into_bytes();
        file.extend_from_slice(self.text);
        let path = folder.join(&name);
        match std::fs::write(&path, file) {
            Ok(()) => Ok(format!("hlo-opt {} {options}", path.display())),
            Err(error) => Err(format!("the reproducer {} can't be written: {error}", path.display())),
        }
    }
}

/// A panic of a pass.
pub(super) struct Crash<'c> {
    /// What it said.
    pub(super) message: String,
    /// The module as the pass left it; it may not be consistent.
    pub(super) module: &'c Module,
    pub(super) context: &'c PassContext<'c>,
    pub(super) pipeline: &'c Pipeline,
}

impl Crash<'_> {
    /// Says what happened and writes a file that makes it happen again: the module as the pass got it if that can be
    /// had, otherwise the input (`bytes`).
    pub(super) fn report(
        &self,
        arguments: &Arguments,
        bytes: &[u8],
        resources: &FileResources<'_>,
        err: &mut dyn Write,
    ) -> io::Result<()> {
        let pass = self.context.pass;
        writeln!(err, "error: pass {pass} panicked: {}", self.message)?;
        match self.place() {
            Some(Place { instruction, computation }) => {
                writeln!(err, "  at instruction `{instruction}` of computation `{computation}`")?;
            }
            None => writeln!(err, "  before it came to an instruction")?,
        }
        let unit = Reproduced { arguments, pipeline: self.pipeline, resources, bytes };
        match unit.write("crash", pass, self.context.index) {
            Ok(command) => writeln!(err, "  reproducer: {command}"),
            Err(message) => writeln!(err, "  {message}"),
        }
    }

    /// The instruction the pass was at.
    fn place(&self) -> Option<Place> {
        place_of(self.module, self.context)
    }
}

/// The instruction a pass was at that panicked in `module`.
pub(crate) fn place_of(module: &Module, context: &PassContext<'_>) -> Option<Place> {
    let current = context.current?;
    // The tables may be half changed, so this may panic as well.
    panics::guard(|| {
        let mut computations = module.computations().iter();
        let known = computations.any(|&id| module.computation(id).instructions.contains(&current));
        known.then(|| Place::of(module, current))
    })
    .ok()
    .flatten()
}

/// A run that went wrong.
pub(super) struct Reproduced<'r> {
    pub(super) arguments: &'r Arguments,
    pub(super) pipeline: &'r Pipeline,
    pub(super) resources: &'r FileResources<'r>,
    /// The input.
    pub(super) bytes: &'r [u8],
}

impl Reproduced<'_> {
    /// Writes a test that makes it happen again, with the module as the pass got it if that can be had, otherwise with
    /// the input. `runs` passes had run before. Gives the command for a shell.
    ///
    /// # Errors
    /// The file can't be written; what is to be said.
    pub(super) fn write(&self, kind: &'static str, pass: &str, runs: usize) -> Result<String, String> {
        let length = self.pipeline.keys().count().max(1);
        let index = runs % length;
        let (text, passes) = match panics::guard(|| self.module_before(runs / length, index)) {
            Ok(Some(text)) => (text.into_bytes(), self.pipeline.list(index..index + 1)),
            _ => (self.input_text(), self.pipeline.list(0..usize::MAX)),
        };
        let rules = &self.arguments.verify;
        let options: Vec<&str> = [
            ("--no-verify", self.arguments.no_verify),
            ("--layout-sensitive", rules.layout_sensitive),
            ("--allow-mixed-precision", rules.allow_mixed_precision),
        ]
        .into_iter()
        .filter_map(|(name, is_on)| is_on.then_some(name))
        .collect();
        Reproducer { kind, pass, passes: &passes, options: &options, text: &text }
            .write(self.resources.scratch_dir)
    }

    fn input(&self) -> Option<Input<'_>> {
        input::read(self.bytes, self.arguments.format, &self.arguments.parse).ok()
    }

    /// The input as text, whatever form it has.
    fn input_text(&self) -> Vec<u8> {
        match self.input() {
            Some(Input { module, proto: Some(_), .. }) => lossless(&module).into_bytes(),
            _ => self.bytes.to_vec(),
        }
    }

    /// The module after `rounds` of all passes and the first `index` passes, as text; `None` if it can't be had.
    fn module_before(&self, rounds: usize, index: usize) -> Option<String> {
        let mut module = self.input()?.module;
        let mut context = self.arguments.context(self.resources);
        for _ in 0..rounds {
            self.pipeline.run(&mut module, &mut context, &mut NoObserver).ok()?;
        }
        self.pipeline.run_first(index, &mut module, &mut context, &mut NoObserver).ok()?;
        Some(lossless(&module))
    }
}

/// All of a module, to be read back.
pub(crate) fn lossless(module: &Module) -> String {
    module.to_text(&PrintOptions { print_large_constants: true, ..PrintOptions::default() })
}
