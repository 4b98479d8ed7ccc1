//! MERGE: stands in for the printer of stack-frame tables, which replaces this file.

use crate::ir::Module;

/// Appends the stack-frame tables, nothing if there are none.
pub(crate) fn write_stack_frames(_out: &mut Vec<u8>, _module: &Module) {}
