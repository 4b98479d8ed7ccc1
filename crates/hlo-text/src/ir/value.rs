//! Structured attribute values, hash-consed per module.

use super::ids::{ComputationId, ShapeId, Symbol};
use super::origin::OriginalValue;
use super::replica_groups::ReplicaGroups;
use super::sharding::Sharding;
use super::words;

/// One dimension of a [`Window`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowDimension {
    /// Elements covered.
    pub size: i64,
    /// Elements between window starts.
    pub stride: i64,
    /// Padding before, in elements; may be negative.
    pub padding_low: i64,
    /// Padding after, in elements; may be negative.
    pub padding_high: i64,
    /// `rhs_dilate`: spacing of the window's elements.
    pub window_dilation: i64,
    /// `lhs_dilate`: spacing of the base's elements.
    pub base_dilation: i64,
    /// `rhs_reversal`
    pub window_reversal: bool,
}

/// `window={size=2x2 stride=1x2 pad=0_1x0_0}`
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Window {
    /// Dimensions in order.
    pub dimensions: Vec<WindowDimension>,
}

/// One dimension of `padding=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PaddingDimension {
    /// Elements added before; negative ones are cut off.
    pub low: i64,
    /// Elements added after; negative ones are cut off.
    pub high: i64,
    /// Elements added between.
    pub interior: i64,
}

/// `dim_labels=b01f_01io->b01f`
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ConvolutionDimensionNumbers {
    /// Position of `b` in the first part.
    pub input_batch: i64,
    /// Position of `f` in the first part.
    pub input_feature: i64,
    /// Positions of the digits of the first part.
    pub input_spatial: Vec<i64>,
    /// Position of `i` in the second part.
    pub kernel_input_feature: i64,
    /// Position of `o` in the second part.
    pub kernel_output_feature: i64,
    /// Positions of the digits of the second part.
    pub kernel_spatial: Vec<i64>,
    /// Position of `b` in the third part.
    pub output_batch: i64,
    /// Position of `f` in the third part.
    pub output_feature: i64,
    /// Positions of the digits of the third part.
    pub output_spatial: Vec<i64>,
}

/// One range of `slice=`: `[start:limit:stride]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SliceRange {
    /// First index.
    pub start: i64,
    /// Index after the last.
    pub limit: i64,
    /// Step, 1 when not written.
    pub stride: i64,
}

/// A number of `statistics=`.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}
impl Eq for Number {}
impl std::hash::Hash for Number {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// `statistics={visualizing_index=0,a=1,b=0.5}`
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Statistics {
    /// Index of the statistic to show.
    pub visualizing_index: i64,
    /// Name and value, in text order.
    pub entries: Vec<(Symbol, Number)>,
}

/// `result_accuracy={...}`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ResultAccuracy {
    /// `{mode=highest}`
    Mode(words::AccuracyMode),
    /// `{tolerance={atol=...,rtol=...,ulps=...}}`
    Tolerance {
        /// Absolute error.
        atol: Number,
        /// Relative error.
        rtol: Number,
        /// Units in the last place.
        ulps: i64,
    },
}

/// One operand of `sparsity_config=`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TensorSparsity {
    /// `sparsity=AxB`
    pub sparsity: (i64, i64),
    /// `dimension=`
    pub dimension: i64,
    /// `stride=`
    pub stride: i64,
}

/// `sparsity_config={lhs={...} rhs={...}}`
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SparsityConfig {
    /// The first operand's.
    pub lhs: Option<TensorSparsity>,
    /// The second operand's.
    pub rhs: Option<TensorSparsity>,
}

/// An index into nested tuples; empty is the whole.
pub type ShapeIndex = Vec<i64>;

/// An entry of `output_to_operand_aliasing=`: `{0}: (1, {})`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperandAliasing {
    /// Part of the result.
    pub output_index: ShapeIndex,
    /// Operand number.
    pub operand: i64,
    /// Part of that operand.
    pub operand_index: ShapeIndex,
}

/// `domain={kind="sharding", entry={...}, exit={...}}`; the kind is always "sharding".
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Domain {
    /// Sharding of the operand's side.
    pub entry: Sharding,
    /// Sharding of the users' side.
    pub exit: Sharding,
}

/// A structured attribute value. Equal values of a module have equal [`ValueId`](super::ValueId)s.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// `{1,2}`
    Ints(Vec<i64>),
    /// `{{0,1},{2}}`
    IntLists(Vec<Vec<i64>>),
    /// `{true,false}`
    Bools(Vec<bool>),
    /// `{%a, %b}` of computations.
    Computations(Vec<ComputationId>),
    /// `{f32[2]{0}, s32[]}`
    Shapes(Vec<ShapeId>),
    /// See [`Window`].
    Window(Window),
    /// `0_0x1_2`
    Padding(Vec<PaddingDimension>),
    /// See [`ConvolutionDimensionNumbers`].
    DimLabels(ConvolutionDimensionNumbers),
    /// `{[0:2], [1:4]}`
    Slice(Vec<SliceRange>),
    /// `{high,default}`
    Precision(Vec<words::Precision>),
    /// See [`ReplicaGroups`].
    ReplicaGroups(ReplicaGroups),
    /// See [`Sharding`].
    Sharding(Sharding),
    /// Keys and values sorted by the keys' bytes.
    FrontendAttributes(Vec<(Symbol, Symbol)>),
    /// See [`Statistics`].
    Statistics(Statistics),
    /// See [`ResultAccuracy`].
    ResultAccuracy(ResultAccuracy),
    /// See [`OriginalValue`].
    OriginalValue(OriginalValue),
    /// See [`SparsityConfig`].
    SparsityConfig(SparsityConfig),
    /// See [`Domain`].
    Domain(Domain),
    /// In text order.
    Aliasing(Vec<OperandAliasing>),
}

impl Value {
    /// Whether this says nothing: a list, window or table without entries, or the default accuracy.
    pub fn is_empty(&self) -> bool {
        match self {
            Value::Ints(list) => list.is_empty(),
            Value::IntLists(list) => list.is_empty(),
            Value::Bools(list) => list.is_empty(),
            Value::Computations(list) => list.is_empty(),
            Value::Shapes(list) => list.is_empty(),
            Value::Window(window) => window.dimensions.is_empty(),
            Value::Padding(list) => list.is_empty(),
            Value::Slice(list) => list.is_empty(),
            Value::Precision(list) => list.iter().all(|&precision| precision == words::Precision::Default),
            Value::FrontendAttributes(list) => list.is_empty(),
            Value::Statistics(statistics) => statistics.entries.is_empty(),
            Value::ResultAccuracy(accuracy) => {
                *accuracy == ResultAccuracy::Mode(words::AccuracyMode::Default)
            }
            Value::SparsityConfig(config) => config.lhs.is_none() && config.rhs.is_none(),
            Value::Aliasing(list) => list.is_empty(),
            Value::DimLabels(_)
            | Value::ReplicaGroups(_)
            | Value::Sharding(_)
            | Value::OriginalValue(_)
            | Value::Domain(_) => false,
        }
    }
}
