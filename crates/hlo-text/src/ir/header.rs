//! What the `HloModule` line says about a module, and its stack-frame tables.

use super::ids::{ShapeId, Symbol};
use super::value::ShapeIndex;

/// How strongly an output shares a parameter's buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AliasKind {
    /// `may-alias`: the caller decides at run time.
    #[default]
    May,
    /// `must-alias`
    Must,
}

/// An entry of `input_output_alias=`: `{0}: (1, {}, may-alias)`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InputOutputAlias {
    /// Part of the entry computation's result.
    pub output_index: ShapeIndex,
    /// Entry parameter number.
    pub parameter: i64,
    /// Part of that parameter.
    pub parameter_index: ShapeIndex,
    /// How strongly.
    pub kind: AliasKind,
}

/// An entry of `buffer_donor=`: `(1, {0})`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferDonor {
    /// Entry parameter number.
    pub parameter: i64,
    /// Part of that parameter.
    pub parameter_index: ShapeIndex,
}

/// `entry_computation_layout={(...)->...}`. When the text has none it is that of the entry's parameters and root.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryComputationLayout {
    /// Shapes of the parameters, with layouts.
    pub parameters: Vec<ShapeId>,
    /// Shape of the result, with layout.
    pub result: ShapeId,
}

/// An array of the original program: `{"name" {1,0}}`; no name means an empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OriginalArray {
    /// Instruction of the original program.
    pub name: Option<Symbol>,
    /// Part of its result.
    pub index: ShapeIndex,
}

/// An entry of `origin_recovery_table=`.
#[derive(Clone, Debug)]
pub struct OriginRecovery {
    /// The array of the original program.
    pub old: OriginalArray,
    /// The array it can be computed from.
    pub new: OriginalArray,
    /// The computation, as a module of its own.
    pub module: Option<Box<super::Module>>,
}

/// A source position range of `FileLocations`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileLocation {
    /// From 1, into [`StackFrameIndex::file_names`].
    pub file_name_id: i32,
    /// From 1, into [`StackFrameIndex::function_names`].
    pub function_name_id: i32,
    /// First line.
    pub line: i32,
    /// Last line.
    pub end_line: i32,
    /// First column.
    pub column: i32,
    /// Column after the last.
    pub end_column: i32,
}

/// A stack frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StackFrame {
    /// From 1, into [`StackFrameIndex::file_locations`].
    pub file_location_id: i32,
    /// From 1, into [`StackFrameIndex::stack_frames`]; 0: no parent. (The text shows one more.)
    pub parent_frame_id: i32,
}

/// The four stack-frame tables. Ids count from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackFrameIndex {
    /// `FileNames`
    pub file_names: Vec<Symbol>,
    /// `FunctionNames`
    pub function_names: Vec<Symbol>,
    /// `FileLocations`
    pub file_locations: Vec<FileLocation>,
    /// `StackFrames`
    pub stack_frames: Vec<StackFrame>,
}

/// The entry of a stack-frame table with the number `id`, which counts from 1.
pub(crate) fn table_entry<T: Copy>(table: &[T], id: i32) -> Option<T> {
    table.get(usize::try_from(id).ok()?.checked_sub(1)?).copied()
}

impl StackFrameIndex {
    /// The place that the frame `frame_id` stands for, and the name of the file.
    pub fn location_of(&self, frame_id: i32) -> Option<(FileLocation, Symbol)> {
        let frame = table_entry(&self.stack_frames, frame_id)?;
        let location = table_entry(&self.file_locations, frame.file_location_id)?;
        Some((location, table_entry(&self.file_names, location.file_name_id)?))
    }
}

macro_rules! header_keys {
    ($($variant:ident $text:literal;)*) => {
        /// An attribute of the `HloModule` line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum HeaderKey {
            $(#[doc = concat!("`", $text, "=`")] $variant,)*
        }

        impl HeaderKey {
            /// Every attribute, in the order they are printed.
            pub const ALL: &'static [HeaderKey] = &[$(HeaderKey::$variant,)*];

            /// The spelling in HLO text, without `=`.
            pub const fn name(self) -> &'static str {
                match self { $(HeaderKey::$variant => $text,)* }
            }

            /// The attribute spelt `text`.
            pub fn from_name(text: &str) -> Option<Self> {
                match text { $($text => Some(HeaderKey::$variant),)* _ => None }
            }
        }
    };
}

header_keys! {
    IsScheduled "is_scheduled";
    InputOutputAlias "input_output_alias";
    BufferDonor "buffer_donor";
    AliasPassthroughParams "alias_passthrough_params";
    EntryComputationLayout "entry_computation_layout";
    AllowSpmdShardingPropagationToParameters "allow_spmd_sharding_propagation_to_parameters";
    AllowSpmdShardingPropagationToOutput "allow_spmd_sharding_propagation_to_output";
    ReplicaCount "replica_count";
    NumPartitions "num_partitions";
    FrontendAttributes "frontend_attributes";
    OriginRecoveryTable "origin_recovery_table";
}

/// The attributes of the `HloModule` line. `Default` is a module whose text gives none of them.
#[derive(Clone, Debug)]
pub struct Header {
    /// The instructions of each computation are in the order they run.
    pub is_scheduled: bool,
    /// Sorted by output index, each index once.
    pub input_output_alias: Vec<InputOutputAlias>,
    /// Sorted, each once.
    pub buffer_donors: Vec<BufferDonor>,
    /// `alias_passthrough_params=`
    pub alias_passthrough_params: bool,
    /// What the text says; `None`: derived from the entry computation when printed.
    pub entry_computation_layout: Option<EntryComputationLayout>,
    /// `allow_spmd_sharding_propagation_to_parameters=`; empty: not given.
    pub allow_spmd_sharding_propagation_to_parameters: Vec<bool>,
    /// `allow_spmd_sharding_propagation_to_output=`; empty: not given.
    pub allow_spmd_sharding_propagation_to_output: Vec<bool>,
    /// Number of replicas, 1 when not given.
    pub replica_count: i64,
    /// Number of partitions, 1 when not given.
    pub num_partitions: i64,
    /// Sorted by key bytes.
    pub frontend_attributes: Vec<(Symbol, Symbol)>,
    /// Sorted by the old array.
    pub origin_recovery_table: Vec<OriginRecovery>,
    /// Only frames that some instruction's metadata needs.
    pub stack_frames: StackFrameIndex,
    /// Attributes we don't know, `key=value` as the text has them (lenient reading only).
    pub unknown: Vec<Symbol>,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            is_scheduled: false,
            input_output_alias: Vec::new(),
            buffer_donors: Vec::new(),
            alias_passthrough_params: false,
            entry_computation_layout: None,
            allow_spmd_sharding_propagation_to_parameters: Vec::new(),
            allow_spmd_sharding_propagation_to_output: Vec::new(),
            replica_count: 1,
            num_partitions: 1,
            frontend_attributes: Vec::new(),
            origin_recovery_table: Vec::new(),
            stack_frames: StackFrameIndex::default(),
            unknown: Vec::new(),
        }
    }
}
