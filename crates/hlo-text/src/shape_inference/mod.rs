//! Result shapes that follow from operands and attributes.
//!
//! Facts: XLA's rules as jaxlib 0.10.2 applies them. [`infer_shape`] is what its text parser does when a shape is
//! left out, with that parser's oddities; [`infer_shape_extended`] is what an instruction's shape ought to be.

mod collectives;
mod control_flow;
mod convolution;
mod data_movement;
mod dot;
mod elementwise;
mod error;
mod gather_scatter;
mod linalg;
mod reduction;
mod rule;
mod types;
mod window;

#[cfg(test)]
mod tests;

use crate::diagnostic::Code;
use crate::ir::{
    Arity, ArrayShape, Attr, AttrKey, ElementType, Module, Opcode, Shape, ShapeId, ShapeRule, ShapeTable,
};
use crate::parser::MAX_NESTING_DEPTH;

pub use error::{ShapeError, ShapeErrorKind, ShapeErrorSubject};

pub(crate) use types::{array_text, ints_text, shape_text};

use elementwise::{BinaryTypes, UnaryTypes};
use error::ShapeResult;
use linalg::BatchNorm;
use rule::Rule;

/// How many shapes an inferred tuple may consist of in all. Shapes share their parts, so that a few lines of text could
/// otherwise make one too large to print.
pub const MAX_TUPLE_NODES: usize = 1 << 20;

/// The instruction whose shape is wanted.
#[derive(Clone, Copy, Debug)]
pub struct InferRequest<'a> {
    /// What it does.
    pub opcode: Opcode,
    /// The shapes of its operands.
    pub operands: &'a [ShapeId],
    /// Its attributes; their values, and the computations they name, are those of the module.
    pub attributes: &'a [Attr],
}

/// A shape that a rule gives, not yet in the module's table.
#[derive(Debug)]
pub(crate) enum Inferred {
    Existing(ShapeId),
    Array(ArrayShape),
    Token,
    Tuple(Vec<Inferred>),
    Buffer(Box<Inferred>),
}

impl Inferred {
    fn tuple(ids: &[ShapeId]) -> Self {
        Self::Tuple(ids.iter().map(|&id| Self::Existing(id)).collect())
    }

    /// The id of the shape. The nesting of what rules build themselves is bounded by [`MAX_NESTING_DEPTH`].
    fn intern(self, shapes: &mut ShapeTable) -> ShapeId {
        let shape = match self {
            Self::Existing(id) => return id,
            Self::Array(array) => Shape::Array(array),
            Self::Token => Shape::Token,
            Self::Buffer(inner) => Shape::Buffer(inner.intern(shapes)),
            Self::Tuple(elements) => {
                Shape::Tuple(elements.into_iter().map(|element| element.intern(shapes)).collect())
            }
        };
        shapes.intern(shape)
    }
}

/// The shape XLA's parser gives an instruction whose shape the text leaves out.
///
/// # Errors
/// If the opcode's shape must be stated, or operands and attributes break a rule of the opcode.
pub fn infer_shape(request: &InferRequest<'_>, module: &mut Module) -> Result<ShapeId, ShapeError> {
    check_arity(request)?;
    let rule = Rule { module, request, stated: None };
    let inferred = match request.opcode.info().shape_rule {
        ShapeRule::Inferable | ShapeRule::ComputedInferable => as_the_parser(&rule)?,
        ShapeRule::Mandatory | ShapeRule::ComputedMandatory => return Err(must_be_stated(request.opcode)),
    };
    finish(inferred, module)
}

/// The shape an instruction ought to have: XLA's builders' and verifier's rules, for every opcode.
///
/// `stated` is the shape the instruction is said to have, if any. Where a part of the shape doesn't follow from
/// operands and attributes (the type of a `convert`, the sizes of a `reshape`, the type a `dot` accumulates in,
/// the participants of an `all-gather`, contexts of asynchronous starts), that part is taken from `stated`;
/// opcodes whose shape is free give `stated` after checking it.
///
/// # Errors
/// If operands and attributes break a rule of the opcode, or a part of the shape must be stated and isn't.
pub fn infer_shape_extended(
    request: &InferRequest<'_>,
    stated: Option<ShapeId>,
    module: &mut Module,
) -> Result<ShapeId, ShapeError> {
    check_arity(request)?;
    let rule = Rule { module, request, stated };
    let inferred = by_opcode(&rule)?;
    finish(inferred, module)
}

/// [`infer_shape_extended`] for the verifier: the table of shapes stays as it is.
pub(crate) fn inferred_for_verifier(
    request: &InferRequest<'_>,
    stated: ShapeId,
    module: &Module,
) -> Result<Inferred, ShapeError> {
    check_arity(request)?;
    by_opcode(&Rule { module, request, stated: Some(stated) })
}

fn must_be_stated(opcode: Opcode) -> ShapeError {
    ShapeError::not_inferable(format!("the shape of {opcode} can't be inferred: it must be stated"))
}

fn check_arity(request: &InferRequest<'_>) -> ShapeResult<()> {
    let opcode = request.opcode;
    match opcode.info().arity {
        Arity::Exact(count) if usize::from(count) != request.operands.len() => {
            let message = format!("{opcode} takes {count} operands, but has {}", request.operands.len());
            Err(ShapeError::instruction(message).by(Code::WrongOperandCount))
        }
        Arity::Exact(_) | Arity::Variadic => Ok(()),
    }
}

fn finish(inferred: Inferred, module: &mut Module) -> Result<ShapeId, ShapeError> {
    let is_new_tuple = matches!(inferred, Inferred::Tuple(_));
    let id = inferred.intern(module.shapes_mut());
    if is_new_tuple {
        check_extent(id, module.shapes())?;
    }
    Ok(id)
}

/// Refuses tuples that are nested too deeply or consist of too many shapes.
fn check_extent(id: ShapeId, shapes: &ShapeTable) -> ShapeResult<()> {
    let extent = shapes.extent(id);
    if extent.nodes as usize > MAX_TUPLE_NODES || extent.depth as usize > MAX_NESTING_DEPTH {
        let message = format!(
            "the inferred tuple is too large: more than {MAX_TUPLE_NODES} shapes or {MAX_NESTING_DEPTH} levels"
        );
        return Err(ShapeError::instruction(message));
    }
    Ok(())
}

/// The rules of the parser where they differ from [`by_opcode`].
fn as_the_parser(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    match rule.opcode() {
        Opcode::Broadcast => data_movement::broadcast_of_sizes(rule),
        // XLA lists it among the inferable ones, but has no rule.
        Opcode::OptBarrier => Err(must_be_stated(rule.opcode())),
        // XLA takes the scale of the left side for the right side.
        Opcode::ScaledDot => dot::dot(rule, 2),
        Opcode::ReduceWindow => reduction::reduce_window_of_first(rule),
        Opcode::Map => reduction::map(rule, Some(rule.ints(AttrKey::Dimensions)?)),
        _ => by_opcode(rule),
    }
}

fn by_opcode(rule: &Rule<'_>) -> ShapeResult<Inferred> {
    use Opcode as O;
    match rule.opcode() {
        O::Floor | O::Ceil | O::Cbrt | O::Erf | O::RoundNearestAfz | O::RoundNearestEven => {
            elementwise::unary(rule, UnaryTypes::Float)
        }
        O::Acos
        | O::Acosh
        | O::Asin
        | O::Asinh
        | O::Atanh
        | O::Cosh
        | O::Cosine
        | O::Exponential
        | O::ExponentialMinusOne
        | O::Log
        | O::LogPlusOne
        | O::Logistic
        | O::Rsqrt
        | O::Sine
        | O::Sinh
        | O::Sqrt
        | O::Tan
        | O::Tanh => elementwise::unary(rule, UnaryTypes::FloatOrComplex),
        O::Real | O::Imag => elementwise::unary(rule, UnaryTypes::ToReal),
        O::Abs => elementwise::unary(rule, UnaryTypes::Magnitude),
        O::Negate => elementwise::unary(rule, UnaryTypes::Arithmetic),
        O::Sign => elementwise::unary(rule, UnaryTypes::SignedOrComplex),
        O::Not => elementwise::unary(rule, UnaryTypes::PredOrInteger),
        O::Popcnt | O::CountLeadingZeros => elementwise::unary(rule, UnaryTypes::Integer),
        O::IsFinite => elementwise::unary(rule, UnaryTypes::FloatTest),

        O::Add | O::Maximum | O::Minimum | O::Multiply | O::Mulhi => {
            elementwise::binary(rule, BinaryTypes::Any)
        }
        O::Subtract
        | O::Power
        | O::Divide
        | O::Remainder
        | O::ShiftLeft
        | O::ShiftRightArithmetic
        | O::ShiftRightLogical => elementwise::binary(rule, BinaryTypes::NotPred),
        O::Atan2 => elementwise::binary(rule, BinaryTypes::FloatOrComplex),
        O::And | O::Or | O::Xor => elementwise::binary(rule, BinaryTypes::PredOrInteger),
        O::Complex => elementwise::binary(rule, BinaryTypes::Complex),
        O::Compare => elementwise::binary(rule, BinaryTypes::Compare),
        O::Select => elementwise::select(rule),
        O::Clamp => elementwise::clamp(rule),
        O::Convert => elementwise::convert(rule),
        O::BitcastConvert => elementwise::bitcast_convert(rule),
        O::ReducePrecision => elementwise::reduce_precision(rule),
        O::StochasticConvert => elementwise::stochastic_convert(rule),

        O::Copy | O::Domain | O::OptBarrier | O::AllReduceDone | O::AsyncUpdate => {
            data_movement::same_as(rule, 0)
        }
        O::Broadcast => data_movement::broadcast(rule),
        O::Reshape => data_movement::reshape(rule),
        O::DynamicReshape => data_movement::dynamic_reshape(rule),
        O::Transpose => data_movement::transpose(rule),
        O::Reverse => data_movement::reverse(rule),
        O::Slice => data_movement::slice(rule),
        O::DynamicSlice => data_movement::dynamic_slice(rule),
        O::DynamicUpdateSlice => data_movement::dynamic_update_slice(rule),
        O::Pad => data_movement::pad(rule),
        O::Concatenate => data_movement::concatenate(rule),
        O::GetDimensionSize => data_movement::get_dimension_size(rule),
        O::SetDimensionSize => data_movement::set_dimension_size(rule),
        O::TopK => data_movement::topk(rule),
        O::Iota => data_movement::iota(rule),

        O::Gather => gather_scatter::gather(rule),
        O::Scatter => gather_scatter::scatter(rule),
        O::Reduce => reduction::reduce(rule),
        O::ReduceWindow => reduction::reduce_window(rule),
        O::SelectAndScatter => reduction::select_and_scatter(rule),
        O::Map => reduction::map(rule, None),
        O::Sort => reduction::sort(rule),
        O::Scan => reduction::scan(rule),
        O::Dot => dot::dot(rule, 1),
        O::ScaledDot => dot::dot(rule, 1),
        O::RaggedDot => dot::ragged_dot(rule),
        O::Convolution => convolution::convolution(rule),
        O::Fft => linalg::fft(rule),
        O::Cholesky => linalg::cholesky(rule),
        O::TriangularSolve => linalg::triangular_solve(rule),
        O::BatchNormTraining => linalg::batch_norm(rule, BatchNorm::Training),
        O::BatchNormInference => linalg::batch_norm(rule, BatchNorm::Inference),
        O::BatchNormGrad => linalg::batch_norm(rule, BatchNorm::Grad),

        O::While => control_flow::while_loop(rule),
        O::Conditional => control_flow::conditional(rule),
        O::Call => control_flow::call(rule),
        O::Fusion => control_flow::fusion(rule),
        O::Tuple => Ok(Inferred::tuple(rule.request.operands)),
        O::GetTupleElement => control_flow::get_tuple_element(rule),
        O::AddDependency => control_flow::add_dependency(rule),
        O::AfterAll | O::Outfeed | O::SendDone => Ok(Inferred::Token),
        O::PartitionId | O::ReplicaId => Ok(Inferred::Array(types::scalar(ElementType::U32))),

        O::AllGather => collectives::all_gather(rule),
        O::AllGatherStart => collectives::all_gather_start(rule),
        O::AllReduce | O::AllReduceStart => data_movement::arrays_as_they_are(rule),
        O::ReduceScatter => collectives::reduce_scatter(rule),
        O::AllToAll => collectives::all_to_all(rule),
        O::RaggedAllToAll => data_movement::same_array_as(rule, 1),
        O::CollectiveBroadcast => data_movement::same_array_as(rule, 0),
        O::CollectivePermute => collectives::collective_permute(rule),
        O::CollectivePermuteStart => collectives::collective_permute_start(rule),
        O::AllGatherDone | O::CollectivePermuteDone | O::AsyncDone => collectives::second_element(rule),
        O::AsyncStart => collectives::async_start(rule),
        O::CopyStart => collectives::copy_start(rule),
        O::CopyDone => collectives::copy_done(rule),
        O::Send => collectives::send(rule),
        O::Recv => collectives::recv(rule),
        O::RecvDone => collectives::recv_done(rule),
        O::Infeed => collectives::infeed(rule),
        O::Rng => collectives::rng(rule),
        O::RngBitGenerator => collectives::rng_bit_generator(rule),
        O::RngGetAndUpdateState => {
            let state = types::make(ElementType::U64, [types::Dimension::fixed(2)]);
            Ok(Inferred::Array(state))
        }
        O::Bitcast | O::Constant | O::CustomCall | O::Parameter => Ok(Inferred::Existing(rule.stated()?)),
    }
}
