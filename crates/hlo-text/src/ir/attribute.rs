//! The vocabulary of instruction attributes: one row per attribute says how it is spelt, what its value looks
//! like, and which value counts as "not given".
//!
//! A spelling may have several rows when its value differs by opcode (`algorithm`, `slice_sizes`); the opcode
//! table says which one an opcode has.

use super::ids::{ComputationId, LiteralId, ShapeId, Symbol, ValueId};
use super::words::{ApiVersion, Vocabulary as V};

/// The syntax of an attribute's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrKind {
    /// `true` or `false`: [`AttrValue::Bool`]
    Bool,
    /// A 64-bit integer: [`AttrValue::Int`]
    Int,
    /// An integer that must fit in 32 bits: [`AttrValue::Int`]
    Int32,
    /// A number within the range of `f32`: [`AttrValue::Float`]
    Float,
    /// A word of a fixed vocabulary: [`AttrValue::Word`]
    Word(V),
    /// A quoted string: [`AttrValue::String`]
    String,
    /// A quoted string that is printed as it is, without escapes: [`AttrValue::String`]
    RawString,
    /// A quoted string or a `{...}` dictionary: [`AttrValue::String`]
    StringOrJson,
    /// A computation's name or an inline body: [`AttrValue::Computation`]
    Computation,
    /// `{a, b}` of computations: [`Value::Computations`](super::Value::Computations)
    Computations,
    /// A shape: [`AttrValue::Shape`]
    Shape,
    /// `{f32[2]{0}, s32[]}`: [`Value::Shapes`](super::Value::Shapes)
    Shapes,
    /// A typed literal: [`AttrValue::Literal`]
    Literal,
    /// `{%a, %b}`: names of earlier instructions, kept as control edges of the module
    ControlPredecessors,
    /// `{op_name="..."}`: kept in the instruction's metadata field
    Metadata,
    /// `{1,2}`: [`Value::Ints`](super::Value::Ints)
    Ints,
    /// `{{0,1},{2,3}}`: [`Value::IntLists`](super::Value::IntLists)
    IntLists,
    /// `{true,false}`: [`Value::Bools`](super::Value::Bools)
    Bools,
    /// `{size=2x2 stride=1x2}`: [`Value::Window`](super::Value::Window)
    Window,
    /// `0_0x1_2_3`: [`Value::Padding`](super::Value::Padding)
    Padding,
    /// `b01f_01io->b01f`: [`Value::DimLabels`](super::Value::DimLabels)
    DimLabels,
    /// `{[0:2], [1:4:3]}`: [`Value::Slice`](super::Value::Slice)
    Slice,
    /// `{high,default}`: [`Value::Precision`](super::Value::Precision)
    Precision,
    /// Lists, iota or mesh form: [`Value::ReplicaGroups`](super::Value::ReplicaGroups)
    ReplicaGroups,
    /// `{devices=[2,1]0,1}` and others: [`Value::Sharding`](super::Value::Sharding)
    Sharding,
    /// `{key="value"}`: [`Value::FrontendAttributes`](super::Value::FrontendAttributes)
    FrontendAttributes,
    /// `{visualizing_index=0,a=1}`: [`Value::Statistics`](super::Value::Statistics)
    Statistics,
    /// `{mode=highest}`: [`Value::ResultAccuracy`](super::Value::ResultAccuracy)
    ResultAccuracy,
    /// `{{"a" {0}}}`: [`Value::OriginalValue`](super::Value::OriginalValue)
    OriginalValue,
    /// `{lhs={...} rhs={...}}`: [`Value::SparsityConfig`](super::Value::SparsityConfig)
    SparsityConfig,
    /// `{kind="sharding", entry={...}, exit={...}}`: [`Value::Domain`](super::Value::Domain)
    Domain,
    /// `{{}: (0, {})}`: [`Value::Aliasing`](super::Value::Aliasing)
    Aliasing,
    /// An attribute we don't know, kept as written: [`AttrValue::Raw`]
    Raw,
}

/// The value that [`Presence::NonDefault`](super::Presence::NonDefault) drops and
/// [`Presence::Filled`](super::Presence::Filled) fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrDefault {
    /// There is none.
    None,
    /// A flag's.
    Bool(bool),
    /// A number's.
    Int(i64),
    /// The vocabulary's word of this index.
    Word(u8),
    /// A list, string, window or table without entries.
    Empty,
    /// A string.
    Text(&'static str),
}

macro_rules! attributes {
    ($($variant:ident $text:literal $kind:expr, $default:expr;)*) => {
        /// An attribute of an instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum AttrKey {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
        }

        impl AttrKey {
            /// Every attribute, in table order.
            pub const ALL: &'static [AttrKey] = &[$(AttrKey::$variant,)*];

            /// The row of the table.
            #[inline]
            pub fn info(self) -> &'static AttrInfo {
                &TABLE[self as usize]
            }
        }

        static TABLE: [AttrInfo; AttrKey::ALL.len()] = {
            use AttrDefault as D;
            use AttrKind::*;
            [$(AttrInfo { name: $text, kind: $kind, default: $default },)*]
        };
    };
}

/// A row of the attribute table.
#[derive(Debug)]
pub struct AttrInfo {
    /// The spelling in HLO text, without `=`.
    pub name: &'static str,
    /// The syntax of the value.
    pub kind: AttrKind,
    /// The value that counts as "not given".
    pub default: AttrDefault,
}

attributes! {
    ApiVersion "api_version" Word(V::ApiVersion), D::Word(0);
    AsyncExecutionThread "async_execution_thread" RawString, D::Text("main");
    BackendConfig "backend_config" StringOrJson, D::Empty;
    BatchGroupCount "batch_group_count" Int, D::Int(1);
    Body "body" Computation, D::None;
    BranchComputations "branch_computations" Computations, D::None;
    CalledComputations "called_computations" Computations, D::Empty;
    Calls "calls" Computation, D::None;
    ChannelId "channel_id" Int, D::None;
    CollapsedSliceDims "collapsed_slice_dims" Ints, D::None;
    ComparisonType "type" Word(V::ComparisonType), D::None;
    Condition "condition" Computation, D::None;
    ConstrainLayout "constrain_layout" Bool, D::Bool(false);
    ControlPredecessors "control-predecessors" ControlPredecessors, D::None;
    ConvolutionKind "convolution_kind" Word(V::ConvolutionKind), D::Word(0);
    CrossProgramPrefetchIndex "cross_program_prefetch_index" Int32, D::None;
    CustomCallHasSideEffect "custom_call_has_side_effect" Bool, D::Bool(false);
    CustomCallTarget "custom_call_target" String, D::None;
    Delta "delta" Int, D::None;
    DimLabels "dim_labels" DimLabels, D::None;
    Dimensions "dimensions" Ints, D::Empty;
    Direction "direction" Word(V::ComparisonDirection), D::None;
    Distribution "distribution" Word(V::RandomDistribution), D::None;
    Domain "domain" Domain, D::None;
    DotAlgorithm "algorithm" Word(V::DotAlgorithm), D::Word(0);
    DynamicSliceSizes "dynamic_slice_sizes" Ints, D::None;
    Epsilon "epsilon" Float, D::None;
    ExponentBits "exponent_bits" Int, D::None;
    FalseComputation "false_computation" Computation, D::None;
    FeatureGroupCount "feature_group_count" Int, D::Int(1);
    FeatureIndex "feature_index" Int, D::None;
    FftLength "fft_length" Ints, D::None;
    FftType "fft_type" Word(V::FftType), D::None;
    FrontendAttributes "frontend_attributes" FrontendAttributes, D::Empty;
    FusionKind "kind" Word(V::FusionKind), D::None;
    Index "index" Int, D::None;
    IndexVectorDim "index_vector_dim" Int, D::None;
    IndicesAreSorted "indices_are_sorted" Bool, D::Bool(false);
    InfeedConfig "infeed_config" String, D::Empty;
    InferredDimension "inferred_dimension" Int, D::Int(-1);
    InputBatchingDims "input_batching_dims" Ints, D::Empty;
    InsertedWindowDims "inserted_window_dims" Ints, D::None;
    IotaDimension "iota_dimension" Int, D::None;
    IsAssociative "is_associative" Bool, D::Bool(false);
    IsComposite "is_composite" Bool, D::Bool(false);
    IsHostTransfer "is_host_transfer" Bool, D::Bool(false);
    IsReverse "is_reverse" Bool, D::Bool(false);
    IsStable "is_stable" Bool, D::Bool(false);
    K "k" Int, D::None;
    Largest "largest" Bool, D::Bool(true);
    LeftSide "left_side" Bool, D::Bool(false);
    LhsBatchDims "lhs_batch_dims" Ints, D::Empty;
    LhsContractingDims "lhs_contracting_dims" Ints, D::Empty;
    LhsRaggedDims "lhs_ragged_dims" Ints, D::Empty;
    Literal "literal" Literal, D::None;
    Lower "lower" Bool, D::Bool(false);
    MantissaBits "mantissa_bits" Int, D::None;
    Metadata "metadata" Metadata, D::None;
    Mode "mode" Word(V::CollectiveOpGroupMode), D::None;
    NumCarries "num_carries" Int, D::None;
    OffsetDims "offset_dims" Ints, D::None;
    OperandBatchingDims "operand_batching_dims" Ints, D::Empty;
    OperandLayoutConstraints "operand_layout_constraints" Shapes, D::None;
    OperandPrecision "operand_precision" Precision, D::Empty;
    Origin "origin" OriginalValue, D::None;
    OutfeedConfig "outfeed_config" String, D::Empty;
    OutfeedShape "outfeed_shape" Shape, D::None;
    OutputToOperandAliasing "output_to_operand_aliasing" Aliasing, D::Empty;
    Padding "padding" Padding, D::None;
    PaddingType "padding_type" Word(V::PaddingType), D::Word(0);
    ParameterReplication "parameter_replication" Bools, D::None;
    PermuteSliceSizes "slice_sizes" IntLists, D::Empty;
    ReplicaGroups "replica_groups" ReplicaGroups, D::Empty;
    ResultAccuracy "result_accuracy" ResultAccuracy, D::Empty;
    RhsBatchDims "rhs_batch_dims" Ints, D::Empty;
    RhsContractingDims "rhs_contracting_dims" Ints, D::Empty;
    RhsGroupDims "rhs_group_dims" Ints, D::Empty;
    RngAlgorithm "algorithm" Word(V::RandomAlgorithm), D::None;
    Scatter "scatter" Computation, D::None;
    ScatterDimsToOperandDims "scatter_dims_to_operand_dims" Ints, D::None;
    ScatterIndicesBatchingDims "scatter_indices_batching_dims" Ints, D::Empty;
    Schedule "schedule" Word(V::CustomCallSchedule), D::Word(0);
    Select "select" Computation, D::None;
    Sharding "sharding" Sharding, D::None;
    Slice "slice" Slice, D::None;
    SliceSizes "slice_sizes" Ints, D::None;
    SourceTargetPairs "source_target_pairs" IntLists, D::None;
    SparsityConfig "sparsity_config" SparsityConfig, D::Empty;
    StartIndexMap "start_index_map" Ints, D::None;
    StartIndicesBatchingDims "start_indices_batching_dims" Ints, D::Empty;
    Statistics "statistics" Statistics, D::Empty;
    ToApply "to_apply" Computation, D::None;
    TransposeA "transpose_a" Word(V::TriangularSolveTranspose), D::Word(0);
    TrueComputation "true_computation" Computation, D::None;
    UniqueIndices "unique_indices" Bool, D::Bool(false);
    UnitDiagonal "unit_diagonal" Bool, D::Bool(false);
    UpdateWindowDims "update_window_dims" Ints, D::None;
    UseGlobalDeviceIds "use_global_device_ids" Bool, D::Bool(false);
    Window "window" Window, D::Empty;
    Unknown "" Raw, D::None;
}

/// The value of an attribute: small ones in place, structured ones by id.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrValue {
    /// A flag.
    Bool(bool),
    /// A number, [`AttrKind::Int`] or [`AttrKind::Int32`].
    Int(i64),
    /// A number of type `f32`.
    Float(f32),
    /// The index of a word in the attribute's vocabulary, see [`words`](super::words).
    Word(u8),
    /// A string, unescaped.
    String(Symbol),
    /// A called computation.
    Computation(ComputationId),
    /// A shape.
    Shape(ShapeId),
    /// A literal with its own shape.
    Literal(LiteralId),
    /// A structured value of the module's value pool.
    Value(ValueId),
    /// `key=value` as the text has it, of an attribute that is not in the table.
    Raw(Symbol),
}

/// An attribute of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attr {
    /// Which one.
    pub key: AttrKey,
    /// Its value; the variant follows from [`AttrKey::kind`].
    pub value: AttrValue,
}

impl Attr {
    /// Whether the attribute is in today's text of an instruction, whatever the options. What only old dumps say is not:
    /// it is kept for those who want the text as it was read, and two instructions that differ in it are the same.
    #[inline]
    pub fn is_printed(&self) -> bool {
        self.key != AttrKey::ApiVersion || self.value != AttrValue::Word(ApiVersion::Unspecified.word())
    }
}

impl AttrKey {
    /// The spelling in HLO text, without `=`.
    #[inline]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The syntax of the value.
    #[inline]
    pub fn kind(self) -> AttrKind {
        self.info().kind
    }

    /// Whether the value names computations.
    pub fn is_called_computation(self) -> bool {
        matches!(self.kind(), AttrKind::Computation | AttrKind::Computations)
    }
}

/// A spelling of the attribute table; different rows that are spelt alike share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttrName(u8);

impl AttrName {
    /// The attribute name spelt `text`, if any attribute is.
    #[inline]
    pub fn from_text(text: &[u8]) -> Option<Self> {
        NAMES.get(text).map(Self)
    }

    /// The spelling.
    pub fn text(self) -> &'static str {
        TABLE[self.0 as usize].name
    }

    /// Whether `key` is spelt like this.
    #[inline]
    pub fn is(self, key: AttrKey) -> bool {
        SPELLING[key as usize] == self.0
    }

    /// All spellings, in table order.
    pub fn all() -> impl Iterator<Item = AttrName> {
        (0..TABLE.len() - 1).filter(|&row| SPELLING[row] == row as u8).map(|row| AttrName(row as u8))
    }
}

/// For each row the first row that is spelt like it.
static SPELLING: [u8; AttrKey::ALL.len()] = {
    let mut first = [0; AttrKey::ALL.len()];
    let mut row = 0;
    while row < first.len() {
        let mut candidate = 0;
        while !same(TABLE[candidate].name, TABLE[row].name) {
            candidate += 1;
        }
        first[row] = candidate as u8;
        row += 1;
    }
    first
};

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}

static NAMES: super::name_table::NameTable<512> = {
    let mut table = super::name_table::NameTable::new();
    let mut row = 0;
    // The last row has no spelling.
    while row + 1 < TABLE.len() {
        if SPELLING[row] as usize == row {
            table = table.with(TABLE[row].name, row as u8);
        }
        row += 1;
    }
    table
};
