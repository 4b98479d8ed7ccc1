//! Structured attribute values: windows, paddings, aliases and so on.

use super::super::schema::{
    convolution_dimension_numbers as cd, hlo_instruction_proto as i,
    hlo_instruction_proto_slice_dimensions as sd, output_operand_aliasing as ooa, padding_config as pc,
    padding_config_padding_config_dimension as pd, parameter_replication, precision_config,
    result_accuracy as ra, result_accuracy_tolerance as tol, source_target, sparsity_config as sc,
    sparsity_config_tensor_sparsity_config as ts, statistic, statistics_viz as sv, window as win,
    window_dimension as wd,
};
use super::super::wire::Writer;
use super::metadata::{write_frontend_attributes, write_original_value};
use super::shape::write_shape;
use super::sharding::{groups_field, write_groups, write_sharding};
use crate::ir::{
    AttrKey, ConvolutionDimensionNumbers, Module, ResultAccuracy, TensorSparsity, Value, WindowDimension,
};

/// Appends the fields of an instruction that hold a structured value; `number` is that of the field.
pub(super) fn write_value(w: &mut Writer, module: &Module, key: AttrKey, number: u32, value: &Value) {
    match value {
        Value::Ints(ints) => w.ints(number, ints.iter().copied()),
        Value::IntLists(lists) if key == AttrKey::SourceTargetPairs => {
            for pair in lists {
                w.message(number, |w| {
                    w.int(source_target::SOURCE, pair.first().copied().unwrap_or(0));
                    w.int(source_target::TARGET, pair.get(1).copied().unwrap_or(0));
                });
            }
        }
        Value::IntLists(lists) => w.ints(number, lists.iter().flatten().copied()),
        Value::Bools(flags) => {
            w.message(number, |w| w.bools(parameter_replication::REPLICATED_AT_LEAF_BUFFERS, flags));
        }
        // Instructions write what they call with its ids.
        Value::Computations(_) => {}
        Value::Shapes(shapes) => {
            for &shape in shapes {
                w.message(number, |w| write_shape(w, module, shape));
            }
        }
        Value::Window(window) => w.message(number, |w| {
            for dimension in &window.dimensions {
                w.message(win::DIMENSIONS, |w| write_window_dimension(w, dimension));
            }
        }),
        Value::Padding(dimensions) => w.message(number, |w| {
            for dimension in dimensions {
                w.message(pc::DIMENSIONS, |w| {
                    w.int(pd::EDGE_PADDING_LOW, dimension.low);
                    w.int(pd::EDGE_PADDING_HIGH, dimension.high);
                    w.int(pd::INTERIOR_PADDING, dimension.interior);
                });
            }
        }),
        Value::DimLabels(numbers) => w.message(number, |w| write_dimension_numbers(w, numbers)),
        Value::Slice(ranges) => {
            for range in ranges {
                w.message(number, |w| {
                    w.int(sd::START, range.start);
                    w.int(sd::LIMIT, range.limit);
                    w.int(sd::STRIDE, range.stride);
                });
            }
        }
        Value::Precision(list) => {
            let numbers = list.iter().map(|precision| precision.word().into());
            w.message(number, |w| w.ints(precision_config::OPERAND_PRECISION, numbers));
        }
        Value::ReplicaGroups(groups) => {
            w.message(groups_field(groups), |w| write_groups(w, module, groups));
        }
        Value::Sharding(sharding) => w.message(number, |w| write_sharding(w, module, sharding)),
        Value::FrontendAttributes(entries) => {
            w.message(number, |w| write_frontend_attributes(w, module, entries));
        }
        Value::Statistics(statistics) => w.message(number, |w| {
            w.int(sv::STAT_INDEX_TO_VISUALIZE, statistics.visualizing_index);
            for (name, value) in &statistics.entries {
                w.message(sv::STATISTICS, |w| {
                    w.bytes(statistic::STAT_NAME, module.strings().get(*name));
                    w.double(statistic::STAT_VAL, value.0);
                });
            }
        }),
        Value::ResultAccuracy(accuracy) => w.message(number, |w| match accuracy {
            // A member of a oneof is there even if it is 0.
            ResultAccuracy::Mode(mode) => w.always_int(ra::MODE, mode.word().into()),
            ResultAccuracy::Tolerance { atol, rtol, ulps } => w.message(ra::TOLERANCE, |w| {
                w.double(tol::ATOL, atol.0);
                w.double(tol::RTOL, rtol.0);
                w.int(tol::ULPS, *ulps);
            }),
        }),
        Value::OriginalValue(value) => w.message(number, |w| write_original_value(w, module, value)),
        Value::SparsityConfig(config) => w.message(number, |w| {
            for (side, sparsity) in [(sc::LHS, &config.lhs), (sc::RHS, &config.rhs)] {
                if let Some(sparsity) = sparsity {
                    w.message(side, |w| write_sparsity(w, sparsity));
                }
            }
        }),
        Value::Domain(domain) => {
            // What the text calls the exit is the side of the operand, which is the entry here.
            w.message(i::DOMAIN_ENTRY_SHARDING, |w| write_sharding(w, module, &domain.exit));
            w.message(i::DOMAIN_EXIT_SHARDING, |w| write_sharding(w, module, &domain.entry));
        }
        Value::Aliasing(entries) => {
            for entry in entries {
                w.message(number, |w| {
                    w.ints(ooa::OUTPUT_SHAPE_INDEX, entry.output_index.iter().copied());
                    w.int(ooa::OPERAND_INDEX, entry.operand);
                    w.ints(ooa::OPERAND_SHAPE_INDEX, entry.operand_index.iter().copied());
                });
            }
        }
    }
}

fn write_window_dimension(w: &mut Writer, dimension: &WindowDimension) {
    w.int(wd::SIZE, dimension.size);
    w.int(wd::STRIDE, dimension.stride);
    w.int(wd::PADDING_LOW, dimension.padding_low);
    w.int(wd::PADDING_HIGH, dimension.padding_high);
    w.int(wd::WINDOW_DILATION, dimension.window_dilation);
    w.int(wd::BASE_DILATION, dimension.base_dilation);
    w.bool(wd::WINDOW_REVERSAL, dimension.window_reversal);
}

fn write_dimension_numbers(w: &mut Writer, numbers: &ConvolutionDimensionNumbers) {
    w.int(cd::KERNEL_INPUT_FEATURE_DIMENSION, numbers.kernel_input_feature);
    w.int(cd::KERNEL_OUTPUT_FEATURE_DIMENSION, numbers.kernel_output_feature);
    w.ints(cd::KERNEL_SPATIAL_DIMENSIONS, numbers.kernel_spatial.iter().copied());
    w.int(cd::INPUT_BATCH_DIMENSION, numbers.input_batch);
    w.int(cd::INPUT_FEATURE_DIMENSION, numbers.input_feature);
    w.int(cd::OUTPUT_BATCH_DIMENSION, numbers.output_batch);
    w.int(cd::OUTPUT_FEATURE_DIMENSION, numbers.output_feature);
    w.ints(cd::INPUT_SPATIAL_DIMENSIONS, numbers.input_spatial.iter().copied());
    w.ints(cd::OUTPUT_SPATIAL_DIMENSIONS, numbers.output_spatial.iter().copied());
}

fn write_sparsity(w: &mut Writer, sparsity: &TensorSparsity) {
    w.int(ts::NUM_NON_ZERO, sparsity.sparsity.0);
    w.int(ts::BLOCK_SIZE, sparsity.sparsity.1);
    w.int(ts::DIMENSION, sparsity.dimension);
    w.int(ts::STRIDE, sparsity.stride);
}
