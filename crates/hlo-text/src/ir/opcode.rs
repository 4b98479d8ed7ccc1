//! The vocabulary of opcodes: one row per opcode says how it is spelt, how many operands it takes, whether its
//! result shape may be left out, and which attributes it has, in printing order. The parser, the printer, the
//! verifier and the documentation derive from this table.
//!
//! Facts: XLA's parser and printer as jaxlib 0.10.2 behaves.

use super::attribute::AttrKey as K;

/// How many operands an opcode takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly this many.
    Exact(u8),
    /// Any number; further conditions are the opcode's own.
    Variadic,
}

/// What happens to the result shape in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeRule {
    /// May be left out and is then inferred.
    Inferable,
    /// Must be given.
    Mandatory,
    /// May be left out; if given it is replaced by the computed one.
    ComputedInferable,
    /// Must be given, and is then replaced by the computed one.
    ComputedMandatory,
}

/// What stands between the parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandFormat {
    /// Names of instructions, or nested instructions.
    Operands,
    /// `parameter(N)`
    ParameterNumber,
    /// `constant(LITERAL)`
    Literal,
}

/// When an attribute of an opcode is kept and printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Must be in the text; always printed.
    Required,
    /// Kept and printed when given, whatever its value.
    Optional,
    /// Dropped when it has the default value of its [`AttrKey`](super::AttrKey), printed otherwise.
    NonDefault,
    /// Always printed; the default value is filled in when it is absent.
    Filled,
    /// Accepted and dropped.
    Dropped,
}
use Presence::{Dropped, Filled, NonDefault, Optional, Required};

macro_rules! opcodes {
    ($($variant:ident $text:literal $arity:ident $shape:ident [$($key:ident $presence:ident),*])*) => {
        /// An HLO opcode.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Opcode {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
        }

        impl Opcode {
            /// Every opcode, in table order.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$variant,)*];

            /// The row of the table.
            #[inline]
            pub fn info(self) -> &'static OpcodeInfo {
                &TABLE[self as usize]
            }
        }

        const TABLE_NAMES: &[&str] = &[$($text,)*];

        static TABLE: [OpcodeInfo; Opcode::ALL.len()] = [
            $(OpcodeInfo {
                name: $text,
                arity: arity!($arity),
                shape_rule: shape_rule!($shape),
                attributes: &[$((K::$key, $presence)),*],
            },)*
        ];
    };
}

macro_rules! arity {
    (o0) => {
        Arity::Exact(0)
    };
    (o1) => {
        Arity::Exact(1)
    };
    (o2) => {
        Arity::Exact(2)
    };
    (o3) => {
        Arity::Exact(3)
    };
    (o4) => {
        Arity::Exact(4)
    };
    (o5) => {
        Arity::Exact(5)
    };
    (v) => {
        Arity::Variadic
    };
}

macro_rules! shape_rule {
    (i) => {
        ShapeRule::Inferable
    };
    (m) => {
        ShapeRule::Mandatory
    };
    (ci) => {
        ShapeRule::ComputedInferable
    };
    (cm) => {
        ShapeRule::ComputedMandatory
    };
}

/// A row of the opcode table.
#[derive(Debug)]
pub struct OpcodeInfo {
    /// The spelling in HLO text.
    pub name: &'static str,
    /// Operand count the parser insists on.
    pub arity: Arity,
    /// Whether the result shape may be left out.
    pub shape_rule: ShapeRule,
    /// Attributes beside the common ones, in the order they are printed.
    pub attributes: &'static [(K, Presence)],
}

opcodes! {
    Abs "abs" o1 i []
    Acos "acos" o1 i [ResultAccuracy NonDefault]
    Acosh "acosh" o1 i [ResultAccuracy NonDefault]
    Add "add" o2 i []
    AddDependency "add-dependency" o2 ci []
    AfterAll "after-all" v ci []
    AllGather "all-gather" v m [ChannelId Optional, ReplicaGroups Filled, ConstrainLayout NonDefault, Dimensions Required, UseGlobalDeviceIds NonDefault]
    AllGatherDone "all-gather-done" o1 m []
    AllGatherStart "all-gather-start" v m [ChannelId Optional, ReplicaGroups Filled, ConstrainLayout NonDefault, Dimensions Required, UseGlobalDeviceIds NonDefault]
    AllReduce "all-reduce" v m [ChannelId Optional, ReplicaGroups Filled, ConstrainLayout NonDefault, UseGlobalDeviceIds NonDefault, Mode Dropped, ToApply Required]
    AllReduceDone "all-reduce-done" o1 m []
    AllReduceStart "all-reduce-start" v m [ChannelId Optional, ReplicaGroups Filled, ConstrainLayout NonDefault, UseGlobalDeviceIds NonDefault, Mode Dropped, ToApply Required]
    AllToAll "all-to-all" v m [ChannelId Optional, ReplicaGroups Filled, ConstrainLayout NonDefault, Dimensions Optional]
    And "and" o2 i []
    Asin "asin" o1 i [ResultAccuracy NonDefault]
    Asinh "asinh" o1 i [ResultAccuracy NonDefault]
    AsyncDone "async-done" v m [AsyncExecutionThread Dropped, Calls Dropped]
    AsyncStart "async-start" v m [AsyncExecutionThread NonDefault, OutputToOperandAliasing NonDefault, Calls Required]
    AsyncUpdate "async-update" v m [AsyncExecutionThread Dropped, Calls Dropped]
    Atan2 "atan2" o2 i []
    Atanh "atanh" o1 i [ResultAccuracy NonDefault]
    BatchNormGrad "batch-norm-grad" o5 i [Epsilon Required, FeatureIndex Required]
    BatchNormInference "batch-norm-inference" o5 i [Epsilon Required, FeatureIndex Required]
    BatchNormTraining "batch-norm-training" o3 i [Epsilon Required, FeatureIndex Required]
    Bitcast "bitcast" o1 m []
    BitcastConvert "bitcast-convert" o1 m []
    Broadcast "broadcast" o1 i [Dimensions Filled]
    Call "call" v i [ToApply Required, IsComposite NonDefault]
    Cbrt "cbrt" o1 i [ResultAccuracy NonDefault]
    Ceil "ceil" o1 i []
    Cholesky "cholesky" o1 i [Lower NonDefault]
    Clamp "clamp" o3 i []
    CollectiveBroadcast "collective-broadcast" v m [ChannelId Optional, ReplicaGroups Filled]
    CollectivePermute "collective-permute" v m [ChannelId Optional, SourceTargetPairs Required, PermuteSliceSizes NonDefault]
    CollectivePermuteDone "collective-permute-done" o1 m []
    CollectivePermuteStart "collective-permute-start" v m [ChannelId Optional, SourceTargetPairs Required, PermuteSliceSizes NonDefault]
    Compare "compare" o2 i [Direction Required, ComparisonType Optional]
    Complex "complex" o2 i []
    Concatenate "concatenate" v i [Dimensions Required]
    Conditional "conditional" v i [TrueComputation Optional, FalseComputation Optional, BranchComputations Optional]
    Constant "constant" o0 m []
    Convert "convert" o1 m []
    Convolution "convolution" o2 i [Window NonDefault, DimLabels Required, FeatureGroupCount NonDefault, BatchGroupCount NonDefault, ConvolutionKind NonDefault, OperandPrecision NonDefault, SparsityConfig NonDefault]
    Copy "copy" o1 i []
    CopyDone "copy-done" o1 m []
    CopyStart "copy-start" o1 m [CrossProgramPrefetchIndex Optional]
    Cosh "cosh" o1 i [ResultAccuracy NonDefault]
    Cosine "cosine" o1 i [ResultAccuracy NonDefault]
    CountLeadingZeros "count-leading-zeros" o1 i []
    CustomCall "custom-call" v m [Window Optional, DimLabels Optional, FeatureGroupCount NonDefault, BatchGroupCount NonDefault, OperandPrecision NonDefault, PaddingType NonDefault, CustomCallTarget Required, OperandLayoutConstraints Optional, CustomCallHasSideEffect NonDefault, Literal Optional, OutputToOperandAliasing NonDefault, Schedule NonDefault, ApiVersion NonDefault, CalledComputations NonDefault, ToApply Dropped]
    Divide "divide" o2 i []
    Domain "domain" o1 i [Domain Required]
    Dot "dot" v i [LhsBatchDims NonDefault, LhsContractingDims Filled, RhsBatchDims NonDefault, RhsContractingDims Filled, OperandPrecision NonDefault, DotAlgorithm NonDefault]
    DynamicReshape "dynamic-reshape" v m []
    DynamicSlice "dynamic-slice" v m [DynamicSliceSizes Required]
    DynamicUpdateSlice "dynamic-update-slice" v m []
    Erf "erf" o1 i [ResultAccuracy NonDefault]
    Exponential "exponential" o1 i [ResultAccuracy NonDefault]
    ExponentialMinusOne "exponential-minus-one" o1 i [ResultAccuracy NonDefault]
    Fft "fft" o1 i [FftType Required, FftLength Required]
    Floor "floor" o1 i []
    Fusion "fusion" v m [FusionKind Required, OutputToOperandAliasing NonDefault, Calls Required]
    Gather "gather" o2 i [OffsetDims Required, CollapsedSliceDims Required, StartIndexMap Required, OperandBatchingDims NonDefault, StartIndicesBatchingDims NonDefault, IndexVectorDim Required, SliceSizes Required, IndicesAreSorted NonDefault]
    GetDimensionSize "get-dimension-size" o1 i [Dimensions Required]
    GetTupleElement "get-tuple-element" o1 i [Index Required]
    Imag "imag" o1 i []
    Infeed "infeed" o1 cm [InfeedConfig NonDefault]
    Iota "iota" o0 m [IotaDimension Required]
    IsFinite "is-finite" o1 i []
    Log "log" o1 i [ResultAccuracy NonDefault]
    LogPlusOne "log-plus-one" o1 i [ResultAccuracy NonDefault]
    Logistic "logistic" o1 i [ResultAccuracy NonDefault]
    Map "map" v i [Dimensions Filled, ToApply Required]
    Maximum "maximum" o2 i []
    Minimum "minimum" o2 i []
    Mulhi "mulhi" o2 i []
    Multiply "multiply" o2 i []
    Negate "negate" o1 i []
    Not "not" o1 i []
    OptBarrier "opt-barrier" o1 i []
    Or "or" o2 i []
    Outfeed "outfeed" o2 cm [OutfeedShape Filled, OutfeedConfig NonDefault]
    Pad "pad" o2 i [Padding Required]
    Parameter "parameter" o0 m [ParameterReplication Optional]
    PartitionId "partition-id" o0 i []
    Popcnt "popcnt" o1 i []
    Power "power" o2 i []
    RaggedAllToAll "ragged-all-to-all" v m [ChannelId Optional, ReplicaGroups Filled, Dimensions Dropped]
    RaggedDot "ragged-dot" o3 i [LhsBatchDims NonDefault, LhsContractingDims Filled, RhsBatchDims NonDefault, RhsContractingDims Filled, LhsRaggedDims NonDefault, RhsGroupDims NonDefault, OperandPrecision NonDefault]
    Real "real" o1 i []
    Recv "recv" o1 cm [ChannelId Optional, IsHostTransfer NonDefault]
    RecvDone "recv-done" o1 cm [ChannelId Optional, IsHostTransfer NonDefault]
    Reduce "reduce" v i [Dimensions Required, ToApply Required]
    ReducePrecision "reduce-precision" o1 m [ExponentBits Required, MantissaBits Required]
    ReduceScatter "reduce-scatter" v m [ChannelId Optional, ReplicaGroups Filled, ConstrainLayout NonDefault, UseGlobalDeviceIds NonDefault, Dimensions Required, Mode Dropped, ToApply Required]
    ReduceWindow "reduce-window" v i [Window NonDefault, ToApply Required]
    Remainder "remainder" o2 i []
    ReplicaId "replica-id" o0 i []
    Reshape "reshape" o1 m [InferredDimension NonDefault]
    Reverse "reverse" o1 i [Dimensions Required]
    Rng "rng" v m [Distribution Required]
    RngBitGenerator "rng-bit-generator" o1 m [RngAlgorithm Required]
    RngGetAndUpdateState "rng-get-and-update-state" o0 m [Delta Required]
    RoundNearestAfz "round-nearest-afz" o1 i []
    RoundNearestEven "round-nearest-even" o1 i []
    Rsqrt "rsqrt" o1 i [ResultAccuracy NonDefault]
    ScaledDot "scaled-dot" o4 i [LhsBatchDims NonDefault, LhsContractingDims Filled, RhsBatchDims NonDefault, RhsContractingDims Filled, OperandPrecision NonDefault, DotAlgorithm NonDefault]
    Scan "scan" v i [Dimensions Required, NumCarries Required, IsReverse NonDefault, IsAssociative Filled, ToApply Required]
    Scatter "scatter" v i [UpdateWindowDims Required, InsertedWindowDims Required, ScatterDimsToOperandDims Required, InputBatchingDims NonDefault, ScatterIndicesBatchingDims NonDefault, IndexVectorDim Required, IndicesAreSorted NonDefault, UniqueIndices NonDefault, ToApply Required]
    Select "select" o3 i []
    SelectAndScatter "select-and-scatter" o3 i [Window NonDefault, Select Required, Scatter Required]
    Send "send" o2 cm [ChannelId Optional, IsHostTransfer NonDefault]
    SendDone "send-done" o1 cm [ChannelId Optional, IsHostTransfer NonDefault]
    SetDimensionSize "set-dimension-size" o2 i [Dimensions Required]
    ShiftLeft "shift-left" o2 i []
    ShiftRightArithmetic "shift-right-arithmetic" o2 i []
    ShiftRightLogical "shift-right-logical" o2 i []
    Sign "sign" o1 i []
    Sine "sine" o1 i [ResultAccuracy NonDefault]
    Sinh "sinh" o1 i [ResultAccuracy NonDefault]
    Slice "slice" o1 m [Slice Required]
    Sort "sort" v i [Dimensions Required, IsStable NonDefault, ToApply Required]
    Sqrt "sqrt" o1 i [ResultAccuracy NonDefault]
    StochasticConvert "stochastic-convert" o2 m []
    Subtract "subtract" o2 i []
    Tan "tan" o1 i [ResultAccuracy NonDefault]
    Tanh "tanh" o1 i [ResultAccuracy NonDefault]
    TopK "topk" o1 i [K Required, Largest Filled]
    Transpose "transpose" o1 i [Dimensions Required]
    TriangularSolve "triangular-solve" o2 i [LeftSide NonDefault, Lower NonDefault, UnitDiagonal NonDefault, TransposeA NonDefault]
    Tuple "tuple" v i []
    While "while" o1 i [Condition Required, Body Required]
    Xor "xor" o2 i []
}

/// Attributes every opcode may carry, in the order they are printed after the opcode's own.
pub const COMMON_ATTRIBUTES: &[(K, Presence)] = &[
    (K::Sharding, Optional),
    (K::FrontendAttributes, NonDefault),
    (K::ControlPredecessors, Optional),
    (K::Statistics, NonDefault),
    (K::Origin, Optional),
    (K::Metadata, Optional),
    (K::BackendConfig, NonDefault),
    (K::ParameterReplication, Optional),
];

impl Opcode {
    /// The spelling in HLO text.
    #[inline]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The opcode spelt `text`.
    #[inline]
    pub fn from_name(text: &str) -> Option<Self> {
        NAMES.get(text.as_bytes()).map(|index| Self::ALL[index as usize])
    }

    /// What stands between the parentheses.
    pub fn operand_format(self) -> OperandFormat {
        match self {
            Opcode::Parameter => OperandFormat::ParameterNumber,
            Opcode::Constant => OperandFormat::Literal,
            _ => OperandFormat::Operands,
        }
    }

    /// How the attribute `key` is treated on this opcode, `None` if it is not allowed on it.
    pub fn presence(self, key: K) -> Option<Presence> {
        let own = self.info().attributes.iter().find(|row| row.0 == key);
        own.or_else(|| COMMON_ATTRIBUTES.iter().find(|row| row.0 == key)).map(|row| row.1)
    }
}

impl std::fmt::Display for Opcode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

static NAMES: super::name_table::NameTable<512> = {
    let mut table = super::name_table::NameTable::new();
    let mut index = 0;
    while index < TABLE_NAMES.len() {
        table = table.with(TABLE_NAMES[index], index as u8);
        index += 1;
    }
    table
};
