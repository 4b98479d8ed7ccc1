//! HLO rewrites by registry key: the passes, the one way to change a module, and the pipeline that runs them.
//!
//! The crate does no I/O and knows no clock: files come through [`pass::Resources`], time is taken by whoever
//! implements [`pipeline::Observer`].

pub mod analysis;
pub mod edit;
pub mod fixpoint;
pub mod generate;
pub mod hash;
pub mod options;
pub mod pass;
mod passes;
pub mod pipeline;
pub mod registry;
pub mod side_effects;
pub mod structure;
pub mod verify;

/// Maps and sets with a fixed hasher: the same in every run.
pub(crate) type Map<K, V> = hashbrown::HashMap<K, V, foldhash::fast::FixedState>;
pub(crate) type Set<K> = hashbrown::HashSet<K, foldhash::fast::FixedState>;

pub use edit::Editor;
pub use pass::{OpExpander, Pass, PassContext, PassError, PassResult};
pub use pipeline::Pipeline;
