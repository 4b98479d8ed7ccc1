//! Why a result shape doesn't follow.

use crate::diagnostic::Code;
use crate::ir::{AttrKey, Opcode};

/// What a [`ShapeError`] is about, for whoever has spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeErrorSubject {
    /// The instruction as a whole.
    Instruction,
    /// The operand of this number, from 0.
    Operand(usize),
    /// An attribute; also for a fault of the computation it names.
    Attribute(AttrKey),
}

/// Which kind of fault a [`ShapeError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeErrorKind {
    /// The opcode's shape doesn't follow from operands and attributes: it must be stated.
    NotInferable,
    /// The operands or attributes break a rule of the opcode.
    Invalid,
}

/// Why a result shape doesn't follow from operands and attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError {
    /// The kind of fault.
    pub kind: ShapeErrorKind,
    /// What it is about.
    pub subject: ShapeErrorSubject,
    /// The verifier's rule that is broken, where it is not the opcode's own ([`ShapeError::code`]).
    pub(crate) rule: Option<Code>,
    /// One sentence that names the shapes in question, without a final period.
    pub message: String,
}

impl ShapeError {
    /// A fault of the instruction as a whole.
    pub(super) fn instruction(message: impl Into<String>) -> Self {
        Self {
            kind: ShapeErrorKind::Invalid,
            subject: ShapeErrorSubject::Instruction,
            rule: None,
            message: message.into(),
        }
    }

    /// The same as a fault against `rule`.
    pub(super) fn by(self, rule: Code) -> Self {
        Self { rule: Some(rule), ..self }
    }

    /// The verifier's rule that is broken on an instruction of opcode `opcode`.
    pub fn code(&self, opcode: Opcode) -> Code {
        self.rule.unwrap_or_else(|| rule_of(opcode))
    }

    /// A fault of one operand.
    pub(super) fn operand(index: usize, message: impl Into<String>) -> Self {
        Self { subject: ShapeErrorSubject::Operand(index), ..Self::instruction(message) }
    }

    /// A fault of one attribute, or of the computation it names.
    pub(super) fn attribute(key: AttrKey, message: impl Into<String>) -> Self {
        Self { subject: ShapeErrorSubject::Attribute(key), ..Self::instruction(message) }
    }

    /// The shape must be stated.
    pub(super) fn not_inferable(message: impl Into<String>) -> Self {
        Self { kind: ShapeErrorKind::NotInferable, ..Self::instruction(message) }
    }
}

impl std::fmt::Display for ShapeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ShapeError {}

/// What a rule gives.
pub(super) type ShapeResult<T> = Result<T, ShapeError>;

/// The rule most faults of an opcode are against.
fn rule_of(opcode: Opcode) -> Code {
    use Opcode as O;
    match opcode {
        O::Abs
        | O::Acos
        | O::Acosh
        | O::Asin
        | O::Asinh
        | O::Atanh
        | O::Cbrt
        | O::Ceil
        | O::Cosh
        | O::Cosine
        | O::CountLeadingZeros
        | O::Erf
        | O::Exponential
        | O::ExponentialMinusOne
        | O::Floor
        | O::Imag
        | O::IsFinite
        | O::Log
        | O::LogPlusOne
        | O::Logistic
        | O::Negate
        | O::Not
        | O::Popcnt
        | O::Real
        | O::RoundNearestAfz
        | O::RoundNearestEven
        | O::Rsqrt
        | O::Sign
        | O::Sine
        | O::Sinh
        | O::Sqrt
        | O::Tan
        | O::Tanh => Code::ElementTypes,
        O::Add
        | O::And
        | O::Atan2
        | O::Compare
        | O::Complex
        | O::Divide
        | O::Maximum
        | O::Minimum
        | O::Mulhi
        | O::Multiply
        | O::Or
        | O::Power
        | O::Remainder
        | O::ShiftLeft
        | O::ShiftRightArithmetic
        | O::ShiftRightLogical
        | O::Subtract
        | O::Xor
        | O::Clamp
        | O::Select => Code::OperandShapes,
        O::BitcastConvert | O::Convert => Code::ConversionWidth,
        O::ReducePrecision => Code::PrecisionBits,
        O::StochasticConvert => Code::RandomBits,
        O::Bitcast
        | O::Copy
        | O::CustomCall
        | O::Domain
        | O::OptBarrier
        | O::Parameter
        | O::PartitionId
        | O::ReplicaId
        | O::Tuple
        | O::AfterAll
        | O::Infeed => Code::ResultShape,
        O::Constant => Code::ConstantShape,
        O::AddDependency => Code::NotAToken,
        O::Broadcast => Code::BroadcastDimensions,
        O::Reshape | O::DynamicReshape => Code::ReshapeElements,
        O::Transpose => Code::TransposePermutation,
        O::Reverse => Code::ReverseDimensions,
        O::Slice => Code::SliceBounds,
        O::DynamicSlice => Code::DynamicSliceSize,
        O::DynamicUpdateSlice => Code::UpdateShape,
        O::Pad => Code::PaddingShape,
        O::Concatenate => Code::Concatenation,
        O::Gather => Code::GatherDimensions,
        O::Scatter => Code::ScatterDimensions,
        O::Iota => Code::Iota,
        O::GetTupleElement => Code::TupleIndex,
        O::GetDimensionSize | O::SetDimensionSize => Code::DimensionSize,
        O::TopK => Code::TopK,
        O::Dot => Code::DotDimensions,
        O::RaggedDot => Code::RaggedDot,
        O::ScaledDot => Code::DotDimensions,
        O::Convolution => Code::ConvolutionDimensions,
        O::Fft => Code::FftLength,
        O::Cholesky | O::TriangularSolve => Code::MatrixShape,
        O::BatchNormGrad | O::BatchNormInference | O::BatchNormTraining => Code::BatchNormFeature,
        O::Call => Code::CallSignature,
        O::Fusion => Code::FusionSignature,
        O::While => Code::WhileSignature,
        O::Conditional => Code::BranchSignature,
        O::Map => Code::MapSignature,
        O::Reduce | O::ReduceWindow => Code::ReductionDimensions,
        O::SelectAndScatter => Code::SelectAndScatter,
        O::Sort => Code::SortDimension,
        O::Scan => Code::Scan,
        O::AllGather
        | O::AllGatherDone
        | O::AllGatherStart
        | O::AllReduce
        | O::AllReduceDone
        | O::AllReduceStart
        | O::AllToAll
        | O::CollectiveBroadcast
        | O::RaggedAllToAll
        | O::ReduceScatter => Code::CollectiveOperands,
        O::CollectivePermute | O::CollectivePermuteDone | O::CollectivePermuteStart => Code::PermuteBuffers,
        O::AsyncDone | O::AsyncStart | O::AsyncUpdate => Code::AsyncShape,
        O::CopyDone | O::CopyStart => Code::CopyBuffers,
        O::Outfeed => Code::OutfeedShape,
        O::Recv | O::RecvDone | O::Send | O::SendDone => Code::ChannelPair,
        O::Rng => Code::RandomOperands,
        O::RngBitGenerator | O::RngGetAndUpdateState => Code::RandomState,
    }
}
