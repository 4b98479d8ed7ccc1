//! A pass that panics: which, where, and a file that shows it again.

use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::path::Path;

use hlo_passes::pass::Place;
use hlo_passes::pipeline::NoObserver;
use hlo_passes::{PassContext, Pipeline};
use hlo_text::{Module, PrintOptions, parse_bytes};

use super::arguments::Arguments;
use super::resources::FileResources;
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
    /// The module.
    pub(crate) text: &'r [u8],
}

impl Reproducer<'_> {
    /// Writes a test that makes it happen again; the line that says where it is, or why it isn't.
    pub(crate) fn write(&self, folder: &Path) -> String {
        let passes = quote(self.passes);
        let mut hasher = DefaultHasher::new();
        hasher.write(self.text);
        let name = format!("{}-{}-{:08x}.hlo", self.kind, self.pass, hasher.finish() as u32);
        let mut file = format!("// RUN: hlo-opt %s --passes={passes}\n").into_bytes();
        file.extend_from_slice(self.text);
        let path = folder.join(&name);
        match std::fs::write(&path, file) {
            Ok(()) => format!("  reproducer: hlo-opt {} --passes={passes}", path.display()),
            Err(error) => format!("  the reproducer {} can't be written: {error}", path.display()),
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
        let index = self.context.index;
        let (text, passes) =
            match panics::guard(|| module_before(arguments, self.pipeline, resources, bytes, index)) {
                Ok(Some(text)) => (text.into_bytes(), self.pipeline.list(index..index + 1)),
                _ => (bytes.to_vec(), self.pipeline.list(0..usize::MAX)),
            };
        let reproducer = Reproducer { kind: "crash", pass, passes: &passes, text: &text };
        writeln!(err, "{}", reproducer.write(resources.scratch_dir))
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

/// The module after the passes before the one at `index`, as text; `None` if it can't be had.
fn module_before(
    arguments: &Arguments,
    pipeline: &Pipeline,
    resources: &FileResources<'_>,
    bytes: &[u8],
    index: usize,
) -> Option<String> {
    let mut module = parse_bytes(bytes, &arguments.parse).ok()?.module;
    pipeline.run_first(index, &mut module, &mut arguments.context(resources), &mut NoObserver).ok()?;
    Some(lossless(&module))
}

/// All of a module, to be read back.
pub(crate) fn lossless(module: &Module) -> String {
    module.to_text(&PrintOptions { print_large_constants: true, ..PrintOptions::default() })
}
