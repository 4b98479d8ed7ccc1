//! What is wrong with a protobuf form, and where.

use std::fmt::Write;

use crate::diagnostic::{Code, Diagnostic, Span};

/// The result of reading a part of a message.
pub(crate) type Read<T> = Result<T, Box<Fault>>;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The bytes are no message.
    Malformed,
    /// An id stands for nothing, or for what comes later.
    Id,
    /// A value doesn't fit.
    Value,
    /// Messages are nested too deeply.
    TooDeep,
    /// There is too much of it.
    TooLarge,
    /// A check that texts have to pass as well.
    Checked(Code),
}

/// A step of a path into a message.
#[derive(Clone, Debug)]
enum Step {
    Field(&'static str),
    Index(usize),
    Named(String),
}

/// A fault and the path of the field that has it.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    message: String,
    /// From the field outwards.
    path: Vec<Step>,
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind, message: message.into(), path: Vec::new() })
    }

    /// A value that doesn't fit.
    pub(crate) fn value(message: impl Into<String>) -> Box<Self> {
        Self::new(FaultKind::Value, message)
    }

    /// The same in the field `name`.
    pub(crate) fn within(mut self: Box<Self>, name: &'static str) -> Box<Self> {
        self.path.push(Step::Field(name));
        self
    }

    /// The same in entry `index` of the repeated field `name`.
    pub(crate) fn at(mut self: Box<Self>, name: &'static str, index: usize) -> Box<Self> {
        self.path.push(Step::Index(index));
        self.path.push(Step::Field(name));
        self
    }

    /// The same at a byte of the message that has it.
    pub(crate) fn at_byte(mut self: Box<Self>, at: usize) -> Box<Self> {
        let written = write!(self.message, ", at byte {at} of the message");
        debug_assert!(written.is_ok(), "strings take everything");
        self
    }

    /// The same in the thing called `name`, whose place in the message is added next.
    pub(crate) fn named(mut self: Box<Self>, name: &[u8]) -> Box<Self> {
        if !name.is_empty() {
            self.path.push(Step::Named(crate::diagnostic::shorten(&String::from_utf8_lossy(name))));
        }
        self
    }

    fn path(&self) -> String {
        let mut out = String::new();
        for step in self.path.iter().rev() {
            let written = match step {
                Step::Field(name) if out.is_empty() => write!(out, "{name}"),
                Step::Field(name) => write!(out, ".{name}"),
                Step::Index(index) => write!(out, "[{index}]"),
                Step::Named(name) => write!(out, " (`{name}`)"),
            };
            debug_assert!(written.is_ok(), "strings take everything");
        }
        out
    }

    /// The diagnostic: its message begins with the path.
    pub(crate) fn into_diagnostic(self) -> Diagnostic {
        let code = match self.kind {
            FaultKind::Malformed => Code::BadProto,
            FaultKind::Id => Code::ProtoId,
            FaultKind::Value => Code::ProtoValue,
            FaultKind::TooDeep => Code::TooDeep,
            FaultKind::TooLarge => Code::TooLarge,
            FaultKind::Checked(code) => code,
        };
        let path = self.path();
        let message = if path.is_empty() { self.message } else { format!("{path}: {}", self.message) };
        Diagnostic::new(code, Span::default(), message)
    }
}

/// Adds the field to the path of a fault.
pub(crate) trait InField<T> {
    /// The fault is in the field `name`.
    fn within(self, name: &'static str) -> Read<T>;
    /// The fault is in entry `index` of the field `name`.
    fn at(self, name: &'static str, index: usize) -> Read<T>;
}

impl<T> InField<T> for Read<T> {
    #[inline]
    fn within(self, name: &'static str) -> Read<T> {
        self.map_err(|fault| fault.within(name))
    }

    #[inline]
    fn at(self, name: &'static str, index: usize) -> Read<T> {
        self.map_err(|fault| fault.at(name, index))
    }
}
