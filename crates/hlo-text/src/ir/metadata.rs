//! Where an operation comes from: `metadata={op_type="..." op_name="..." ...}`.

use super::ids::Symbol;

/// An operation's metadata. `None` and 0 mean "not given"; XLA does not distinguish an empty text either.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Metadata {
    /// Kind of framework operation.
    pub op_type: Option<Symbol>,
    /// Name of the framework operation, a path.
    pub op_name: Option<Symbol>,
    /// Source file.
    pub source_file: Option<Symbol>,
    /// First line, from 1.
    pub source_line: i32,
    /// Last line.
    pub source_end_line: i32,
    /// First column.
    pub source_column: i32,
    /// Column after the last.
    pub source_end_column: i32,
    /// Index into the module's stack frames, from 1.
    pub stack_frame_id: i32,
    /// What is rarely there.
    pub extra: Option<Box<MetadataExtra>>,
}

/// The rare fields of [`Metadata`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MetadataExtra {
    /// `profile_type={1,2}`: numbers 0 to 3.
    pub profile_type: Vec<i32>,
    /// `deduplicated_name=`
    pub deduplicated_name: Option<Symbol>,
    /// `scheduling_name=`, printed without escapes.
    pub scheduling_name: Option<Symbol>,
    /// `metadata_payload=`; an empty one counts as given.
    pub payload: Option<Symbol>,
}

impl Metadata {
    /// Whether XLA prints the attribute at all: line numbers, `deduplicated_name` and `profile_type` alone
    /// don't count.
    pub fn is_printed(&self) -> bool {
        self.op_type.is_some()
            || self.op_name.is_some()
            || self.source_file.is_some()
            || self.stack_frame_id != 0
            || self
                .extra
                .as_ref()
                .is_some_and(|extra| extra.scheduling_name.is_some() || extra.payload.is_some())
    }
}
