//! What passes want to know about a module.

mod call_graph;
mod collective;
mod comparison;
mod device_scalar;
mod growth;
mod post_order;
mod reducer;
mod softmax;
mod trip_count;

pub use call_graph::{CallContext, CallGraph, Contexts};
pub use collective::{GroupMode, group_mode, is_collective};
pub use comparison::{comparison_type, default_comparison_type, mirrored};
pub(crate) use device_scalar::{DevicePoint, DeviceScalar};
pub use growth::MAX_COPIED_INSTRUCTIONS;
pub(crate) use growth::{Growth, copied_size, copied_tree_sizes};
pub use post_order::PostOrder;
pub use reducer::reducer_opcode;
pub(crate) use softmax::logits_of;
pub use trip_count::{UnknownLoops, trip_count};

use hlo_text::ir::{ComputationId, InstructionId};

use crate::edit::Editor;

/// Visits all instructions of `computations`, each computation in post-order.
pub(crate) fn in_post_order_of_all(
    edit: &Editor<'_>,
    computations: &[ComputationId],
    mut visit: impl FnMut(InstructionId),
) {
    let mut order = PostOrder::default();
    let mut instructions = Vec::new();
    for &computation in computations {
        instructions.clear();
        order.append(edit, computation, &mut instructions);
        instructions.iter().copied().for_each(&mut visit);
    }
}
