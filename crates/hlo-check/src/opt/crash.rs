//! A pass that panics: which, where, and a file that shows it again.

use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};

use hlo_passes::pass::Place;
use hlo_passes::pipeline::NoObserver;
use hlo_passes::{PassContext, Pipeline};
use hlo_text::{Module, PrintOptions};

use super::arguments::Arguments;
use super::resources::FileResources;
use crate::input::{self, Input};
use crate::panics;

/// A list of passes as a word of a POSIX shell and of a RUN line.
pub(super) fn quote(passes: &str) -> String {
    if passes.contains(|c: char| !(c.is_ascii_alphanumeric() || "-_,./:=+@%".contains(c))) {
        format!("'{}'", passes.replace('\'', "'\\''"))
    } else {
        passes.to_owned()
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
        let index = self.context.index;
        let (text, passes) =
            match panics::guard(|| module_before(arguments, self.pipeline, resources, bytes, index)) {
                Ok(Some(text)) => (text.into_bytes(), self.pipeline.list(index..index + 1)),
                _ => (input_text(arguments, bytes), self.pipeline.list(0..usize::MAX)),
            };
        let passes = quote(&passes);
        let mut hasher = DefaultHasher::new();
        hasher.write(&text);
        let name = format!("crash-{pass}-{:08x}.hlo", hasher.finish() as u32);
        let mut file = format!("// RUN: hlo-opt %s --passes={passes}\n").into_bytes();
        file.extend_from_slice(&text);
        let path = resources.scratch_dir.join(&name);
        match std::fs::write(&path, file) {
            Ok(()) => writeln!(err, "  reproducer: hlo-opt {} --passes={passes}", path.display()),
            Err(error) => writeln!(err, "  the reproducer {} can't be written: {error}", path.display()),
        }
    }

    /// The instruction the pass was at.
    fn place(&self) -> Option<Place> {
        let current = self.context.current?;
        // The tables may be half changed, so this may panic as well.
        panics::guard(|| {
            let known = self
                .module
                .computations()
                .iter()
                .any(|&id| self.module.computation(id).instructions.contains(&current));
            known.then(|| Place::of(self.module, current))
        })
        .ok()
        .flatten()
    }
}

/// The input as text, whatever form it has.
fn input_text(arguments: &Arguments, bytes: &[u8]) -> Vec<u8> {
    match input::read(bytes, arguments.format, &arguments.parse) {
        Ok(Input { module, proto: Some(_), .. }) => {
            let options = PrintOptions { print_large_constants: true, ..PrintOptions::default() };
            module.to_text(&options).into_bytes()
        }
        _ => bytes.to_vec(),
    }
}

/// The module after the passes before the one at `index`, as text; `None` if it can't be had.
fn module_before(
    arguments: &Arguments,
    pipeline: &Pipeline,
    resources: &FileResources<'_>,
    bytes: &[u8],
    index: usize,
) -> Option<String> {
    let mut module = input::read(bytes, arguments.format, &arguments.parse).ok()?.module;
    pipeline.run_first(index, &mut module, &mut arguments.context(resources), &mut NoObserver).ok()?;
    Some(module.to_text(&PrintOptions { print_large_constants: true, ..PrintOptions::default() }))
}
