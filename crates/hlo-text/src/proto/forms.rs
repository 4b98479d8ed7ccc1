//! Where the protobuf form has the attributes of instructions. The reader and the writer derive from this table.

use super::schema::enumeration as e;
use super::schema::{
    cholesky_options, dot_dimension_numbers as dot, gather_dimension_numbers as gather,
    hlo_instruction_proto as i, precision_config, ragged_dot_dimension_numbers as ragged,
    scatter_dimension_numbers as scatter, triangular_solve_options as solve,
};
use super::table::Enum;
use crate::ir::{AttrKey as K, Opcode, words::Vocabulary};

/// How a word is written as an enumerator.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub(super) vocabulary: Vocabulary,
    pub(super) enumeration: &'static Enum,
    /// What the enumerator has before the word, which is upper case there.
    pub(super) prefix: &'static str,
}

/// How the value of an attribute is written in its field.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// A flag.
    Bool,
    /// `int64` or `int32`.
    Int,
    /// The same, of which 0 and less mean "not given".
    PositiveInt,
    /// The same, which may be there with the value 0.
    OptionalInt,
    /// `float`
    Float,
    /// A string of a fixed vocabulary.
    WordText(Vocabulary),
    /// `string` or `bytes`.
    Text,
    /// Repeated `int64`.
    Ints,
    /// The only entry of a repeated `int64`.
    OneInt,
    /// An enumerator.
    Word(Words),
    /// A field of the message that the field holds.
    Inside(u32, &'static Form),
    /// A structure of its own; see the reader and the writer of each.
    Structure,
    /// An entry of `called_computation_ids`.
    Call,
    /// Only text has it.
    None,
}

const fn word(vocabulary: Vocabulary, enumeration: &'static Enum, prefix: &'static str) -> Form {
    Form::Word(Words { vocabulary, enumeration, prefix })
}

/// Where `key` is in the messages of instructions with this opcode: the number of the field, and how it is written
/// there.
pub(super) fn form(key: K, opcode: Opcode) -> (u32, Form) {
    use Form::{
        Bool, Call, Float, Inside, Int, Ints, OneInt, OptionalInt, PositiveInt, Structure, Text, WordText,
    };
    const INTS: &Form = &Form::Ints;
    const INT: &Form = &Form::Int;
    const BOOL: &Form = &Form::Bool;
    const TRANSPOSE: Form =
        word(Vocabulary::TriangularSolveTranspose, &e::triangular_solve_options_transpose, "");
    const DOT_ALGORITHM: Form = word(Vocabulary::DotAlgorithm, &e::precision_config_algorithm, "ALG_");
    let is_gather = opcode == Opcode::Gather;
    let is_ragged = opcode == Opcode::RaggedDot;
    let in_gather = |number, form| (i::GATHER_DIMENSION_NUMBERS, Inside(number, form));
    let in_scatter = |number, form| (i::SCATTER_DIMENSION_NUMBERS, Inside(number, form));
    let in_solve = |number, form| (i::TRIANGULAR_SOLVE_OPTIONS, Inside(number, form));
    let in_dot = |number| match (is_ragged, number) {
        (false, _) => (i::DOT_DIMENSION_NUMBERS, Inside(number, INTS)),
        (true, dot::LHS_CONTRACTING_DIMENSIONS) => {
            const INNER: &Form = &Inside(dot::LHS_CONTRACTING_DIMENSIONS, INTS);
            (i::RAGGED_DOT_DIMENSION_NUMBERS, Inside(ragged::DOT_DIMENSION_NUMBERS, INNER))
        }
        (true, dot::RHS_CONTRACTING_DIMENSIONS) => {
            const INNER: &Form = &Inside(dot::RHS_CONTRACTING_DIMENSIONS, INTS);
            (i::RAGGED_DOT_DIMENSION_NUMBERS, Inside(ragged::DOT_DIMENSION_NUMBERS, INNER))
        }
        (true, dot::LHS_BATCH_DIMENSIONS) => {
            const INNER: &Form = &Inside(dot::LHS_BATCH_DIMENSIONS, INTS);
            (i::RAGGED_DOT_DIMENSION_NUMBERS, Inside(ragged::DOT_DIMENSION_NUMBERS, INNER))
        }
        (true, _) => {
            const INNER: &Form = &Inside(dot::RHS_BATCH_DIMENSIONS, INTS);
            (i::RAGGED_DOT_DIMENSION_NUMBERS, Inside(ragged::DOT_DIMENSION_NUMBERS, INNER))
        }
    };
    match key {
        K::ApiVersion => {
            (i::CUSTOM_CALL_API_VERSION, word(Vocabulary::ApiVersion, &e::custom_call_api_version, ""))
        }
        K::AsyncExecutionThread => (i::ASYNC_EXECUTION_THREAD, Text),
        K::BackendConfig => (i::BACKEND_CONFIG, Text),
        K::BatchGroupCount => (i::BATCH_GROUP_COUNT, PositiveInt),
        K::ChannelId => (i::CHANNEL_ID, PositiveInt),
        K::CollapsedSliceDims => in_gather(gather::COLLAPSED_SLICE_DIMS, INTS),
        K::ComparisonType => (i::COMPARISON_TYPE, WordText(Vocabulary::ComparisonType)),
        K::ConstrainLayout => (i::CONSTRAIN_LAYOUT, Bool),
        K::ConvolutionKind => {
            (i::CONV_KIND, word(Vocabulary::ConvolutionKind, &e::convolution_kind, "CONVOLUTION_KIND_"))
        }
        K::CrossProgramPrefetchIndex => (i::CROSS_PROGRAM_PREFETCH_INDEX, OptionalInt),
        K::CustomCallHasSideEffect => (i::CUSTOM_CALL_HAS_SIDE_EFFECT, Bool),
        K::CustomCallTarget => (i::CUSTOM_CALL_TARGET, Text),
        K::Delta => (i::DELTA, Int),
        K::DimLabels => (i::CONVOLUTION_DIMENSION_NUMBERS, Structure),
        K::Dimensions => (i::DIMENSIONS, Ints),
        K::Direction => (i::COMPARISON_DIRECTION, WordText(Vocabulary::ComparisonDirection)),
        K::Distribution => {
            (i::DISTRIBUTION, word(Vocabulary::RandomDistribution, &e::random_distribution, ""))
        }
        K::Domain => (i::DOMAIN_ENTRY_SHARDING, Structure),
        K::DotAlgorithm => (i::PRECISION_CONFIG, Inside(precision_config::ALGORITHM, &DOT_ALGORITHM)),
        K::DynamicSliceSizes => (i::DYNAMIC_SLICE_SIZES, Ints),
        K::Epsilon => (i::EPSILON, Float),
        K::ExponentBits => (i::EXPONENT_BITS, Int),
        K::FeatureGroupCount => (i::FEATURE_GROUP_COUNT, PositiveInt),
        K::FeatureIndex => (i::FEATURE_INDEX, Int),
        K::FftLength => (i::FFT_LENGTH, Ints),
        K::FftType => (i::FFT_TYPE, word(Vocabulary::FftType, &e::fft_type, "")),
        K::FrontendAttributes => (i::FRONTEND_ATTRIBUTES, Structure),
        K::FusionKind => (i::FUSION_KIND, WordText(Vocabulary::FusionKind)),
        K::Index => (i::TUPLE_INDEX, Int),
        K::IndexVectorDim if is_gather => in_gather(gather::INDEX_VECTOR_DIM, INT),
        K::IndexVectorDim => in_scatter(scatter::INDEX_VECTOR_DIM, INT),
        K::IndicesAreSorted => (i::INDICES_ARE_SORTED, Bool),
        K::InfeedConfig => (i::INFEED_CONFIG, Text),
        K::InferredDimension | K::IotaDimension => (i::DIMENSIONS, OneInt),
        K::InputBatchingDims => in_scatter(scatter::INPUT_BATCHING_DIMS, INTS),
        K::InsertedWindowDims => in_scatter(scatter::INSERTED_WINDOW_DIMS, INTS),
        K::IsAssociative => (i::IS_ASSOCIATIVE, Structure),
        K::IsComposite => (i::IS_COMPOSITE, Bool),
        K::IsHostTransfer => (i::IS_HOST_TRANSFER, Bool),
        K::IsReverse => (i::IS_REVERSE, Bool),
        K::IsStable => (i::IS_STABLE, Bool),
        K::K => (i::K, Int),
        K::Largest => (i::LARGEST, Bool),
        K::LeftSide => in_solve(solve::LEFT_SIDE, BOOL),
        K::LhsBatchDims => in_dot(dot::LHS_BATCH_DIMENSIONS),
        K::LhsContractingDims => in_dot(dot::LHS_CONTRACTING_DIMENSIONS),
        K::LhsRaggedDims => (i::RAGGED_DOT_DIMENSION_NUMBERS, Inside(ragged::LHS_RAGGED_DIMENSIONS, INTS)),
        K::Literal => (i::LITERAL, Structure),
        K::Lower if opcode == Opcode::Cholesky => {
            (i::CHOLESKY_OPTIONS, Inside(cholesky_options::LOWER, BOOL))
        }
        K::Lower => in_solve(solve::LOWER, BOOL),
        K::MantissaBits => (i::MANTISSA_BITS, Int),
        K::NumCarries => (i::NUM_CARRIES, Int),
        K::OffsetDims => in_gather(gather::OFFSET_DIMS, INTS),
        K::OperandBatchingDims => in_gather(gather::OPERAND_BATCHING_DIMS, INTS),
        K::OperandLayoutConstraints => (i::OPERAND_SHAPES_WITH_LAYOUT, Structure),
        K::OperandPrecision => (i::PRECISION_CONFIG, Structure),
        K::Origin => (i::ORIGINAL_VALUE, Structure),
        K::OutfeedConfig => (i::OUTFEED_CONFIG, Text),
        K::OutfeedShape => (i::OUTFEED_SHAPE, Structure),
        K::OutputToOperandAliasing => (i::OUTPUT_OPERAND_ALIASING, Structure),
        K::Padding => (i::PADDING_CONFIG, Structure),
        K::PaddingType => (i::PADDING_TYPE, word(Vocabulary::PaddingType, &e::padding_type, "")),
        K::ParameterReplication => (i::PARAMETER_REPLICATION, Structure),
        K::PermuteSliceSizes => (i::SLICE_DIMENSIONS, Form::None),
        K::ReplicaGroups => (i::COLLECTIVE_DEVICE_LIST, Structure),
        K::ResultAccuracy => (i::RESULT_ACCURACY, Structure),
        K::RhsBatchDims => in_dot(dot::RHS_BATCH_DIMENSIONS),
        K::RhsContractingDims => in_dot(dot::RHS_CONTRACTING_DIMENSIONS),
        K::RhsGroupDims => (i::RAGGED_DOT_DIMENSION_NUMBERS, Inside(ragged::RHS_GROUP_DIMENSIONS, INTS)),
        K::RngAlgorithm => (i::RNG_ALGORITHM, word(Vocabulary::RandomAlgorithm, &e::random_algorithm, "")),
        K::ScatterDimsToOperandDims => in_scatter(scatter::SCATTER_DIMS_TO_OPERAND_DIMS, INTS),
        K::ScatterIndicesBatchingDims => in_scatter(scatter::SCATTER_INDICES_BATCHING_DIMS, INTS),
        K::Schedule => {
            (i::CUSTOM_CALL_SCHEDULE, word(Vocabulary::CustomCallSchedule, &e::custom_call_schedule, ""))
        }
        K::Sharding => (i::SHARDING, Structure),
        K::Slice => (i::SLICE_DIMENSIONS, Structure),
        K::SliceSizes => (i::GATHER_SLICE_SIZES, Ints),
        K::SourceTargetPairs => (i::SOURCE_TARGET_PAIRS, Structure),
        K::SparsityConfig => (i::SPARSITY_CONFIG, Structure),
        K::StartIndexMap => in_gather(gather::START_INDEX_MAP, INTS),
        K::StartIndicesBatchingDims => in_gather(gather::START_INDICES_BATCHING_DIMS, INTS),
        K::Statistics => (i::STATISTICS_VIZ, Structure),
        K::TransposeA => in_solve(solve::TRANSPOSE_A, &TRANSPOSE),
        K::UniqueIndices => (i::UNIQUE_INDICES, Bool),
        K::UnitDiagonal => in_solve(solve::UNIT_DIAGONAL, BOOL),
        K::UpdateWindowDims => in_scatter(scatter::UPDATE_WINDOW_DIMS, INTS),
        K::UseGlobalDeviceIds => (i::USE_GLOBAL_DEVICE_IDS, Bool),
        K::Window => (i::WINDOW, Structure),
        K::Body
        | K::BranchComputations
        | K::CalledComputations
        | K::Calls
        | K::Condition
        | K::FalseComputation
        | K::Scatter
        | K::Select
        | K::ToApply
        | K::TrueComputation => (i::CALLED_COMPUTATION_IDS, Call),
        // Control predecessors and metadata are no attributes in the IR.
        K::ControlPredecessors | K::Metadata | K::Mode | K::Unknown => (0, Form::None),
    }
}

impl Words {
    /// The word of an enumerator; `None` if there is none.
    pub(super) fn word(self, number: i32) -> Option<u8> {
        let name = self.enumeration.name_of(number)?.strip_prefix(self.prefix)?;
        let found = self.vocabulary.words().iter().position(|word| word.eq_ignore_ascii_case(name));
        found.and_then(|index| u8::try_from(index).ok())
    }

    /// The enumerator of a word, 0 if there is none.
    pub(super) fn number(self, word: u8) -> i32 {
        let Some(text) = self.vocabulary.words().get(usize::from(word)) else { return 0 };
        let names = self.enumeration.values.iter();
        let mut same = names.filter(|(_, name)| {
            name.strip_prefix(self.prefix).is_some_and(|name| name.eq_ignore_ascii_case(text))
        });
        same.next().map_or(0, |value| value.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_enumerators_correspond() {
        let check = |key, opcode, words: Words| {
            for (index, text) in words.vocabulary.words().iter().enumerate() {
                let number = words.number(index as u8);
                assert_eq!(words.word(number), Some(index as u8), "{opcode} {key:?} {text}");
            }
        };
        for &opcode in Opcode::ALL {
            for &(key, _) in opcode.info().attributes.iter().chain(crate::ir::COMMON_ATTRIBUTES) {
                let (number, form) = form(key, opcode);
                match form {
                    Form::Word(words) | Form::Inside(_, &Form::Word(words)) => check(key, opcode, words),
                    Form::None => continue,
                    _ => {}
                }
                assert!(i::MESSAGE.field(number).is_some(), "{opcode} {key:?}");
            }
        }
    }
}
