//! A broken rule, as data.

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::ir::{ComputationId, InstructionId, Module};
use crate::parser::SourceMap;

/// A rule that a module breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub code: Code,
    /// A warning is of something that XLA refuses and other compilers take.
    pub severity: Severity,
    /// One sentence, with both sides where two things don't agree.
    pub message: String,
    /// The instruction that breaks it; `None` if it is one about a computation or the module.
    pub instruction: Option<InstructionId>,
    /// The computation the instruction is in, or that breaks the rule.
    pub computation: Option<ComputationId>,
    /// What is to be said at the instruction, may be empty.
    pub label: String,
    /// Other instructions that matter, and what is to be said of them.
    pub related: Vec<(InstructionId, String)>,
    /// What to do.
    pub help: Option<String>,
}

impl Violation {
    pub(super) fn of_module(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            instruction: None,
            computation: None,
            label: String::new(),
            related: Vec::new(),
            help: None,
        }
    }

    pub(super) fn of_instruction(
        code: Code,
        module: &Module,
        id: InstructionId,
        message: impl Into<String>,
    ) -> Self {
        let computation = Some(module.instruction(id).parent);
        Self { instruction: Some(id), computation, ..Self::of_module(code, message) }
    }

    pub(super) fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// The same with another instruction that matters.
    pub(super) fn also(mut self, id: InstructionId, text: impl Into<String>) -> Self {
        self.related.push((id, text.into()));
        self
    }

    pub(super) fn help(self, text: impl Into<String>) -> Self {
        Self { help: Some(text.into()), ..self }
    }

    pub(super) fn warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    /// Whether the module can't be used as it is.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The violation as a diagnostic about the text that `source_map` belongs to. What has no place in it, such as
    /// instructions that a pass has made, is at the start of the text.
    pub fn diagnostic(&self, source_map: &SourceMap) -> Diagnostic {
        let place = self.instruction.and_then(|id| source_map.instruction(id));
        let mut diagnostic = Diagnostic::new(self.code, place.unwrap_or_default(), self.message.clone())
            .label(self.label.clone());
        for (id, text) in &self.related {
            if let Some(span) = source_map.instruction(*id) {
                diagnostic = diagnostic.also(span, text.clone());
            }
        }
        diagnostic.severity = self.severity;
        diagnostic.help = self.help.clone();
        diagnostic
    }
}
