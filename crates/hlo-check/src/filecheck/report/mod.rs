//! Renderers of a run's report.

pub mod dump;
pub mod llvm;
pub mod rich;

use std::io::Write;

/// Terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Color {
    Black = 0,
    Red = 1,
    Green = 2,
    Blue = 4,
    Magenta = 5,
    Cyan = 6,
}

/// A byte sink that writes LLVM's terminal escapes, or none.
pub(super) struct Painter {
    pub(super) out: Vec<u8>,
    pub(super) colors: bool,
}

impl Painter {
    pub(super) fn new(colors: bool) -> Self {
        Self { out: Vec::new(), colors }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    pub(super) fn bold(&mut self) {
        if self.colors {
            self.put(b"\x1b[1m");
        }
    }

    pub(super) fn color(&mut self, color: Color) {
        if self.colors {
            // Writing to memory cannot fail.
            let _ = write!(self.out, "\x1b[0;1;3{}m", color as u8);
        }
    }

    pub(super) fn background(&mut self, color: Color) {
        if self.colors {
            let _ = write!(self.out, "\x1b[0;1;4{}m", color as u8);
        }
    }

    pub(super) fn reset(&mut self) {
        if self.colors {
            self.put(b"\x1b[0m");
        }
    }
}
