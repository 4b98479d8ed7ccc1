//! Structured attribute values: windows, paddings, aliases and so on.

use super::super::fault::{Fault, InField, Read};
use super::super::schema::{
    convolution_dimension_numbers as cd, hlo_instruction_proto_slice_dimensions as sd,
    output_operand_aliasing as ooa, padding_config as pc, padding_config_padding_config_dimension as pd,
    parameter_replication, precision_config, result_accuracy as ra, result_accuracy_tolerance as tol,
    source_target, sparsity_config as sc, sparsity_config_tensor_sparsity_config as ts, statistic,
    statistics_viz as sv, window as w, window_dimension as wd,
};
use super::super::wire::Fields;
use super::Reader;
use crate::ir::{
    ConvolutionDimensionNumbers, Number, OperandAliasing, PaddingDimension, ResultAccuracy, SliceRange,
    SparsityConfig, Statistics, TensorSparsity, Window, WindowDimension, words,
};

pub(super) fn window(bytes: &[u8]) -> Read<Window> {
    let mut window = Window::default();
    for field in Fields::new(bytes) {
        let field = field?;
        if field.number == w::DIMENSIONS {
            let index = window.dimensions.len();
            window.dimensions.push(field.bytes().and_then(window_dimension).at("dimensions", index)?);
        }
    }
    Ok(window)
}

fn window_dimension(bytes: &[u8]) -> Read<WindowDimension> {
    let mut dimension = WindowDimension {
        size: 0,
        stride: 0,
        padding_low: 0,
        padding_high: 0,
        window_dilation: 0,
        base_dilation: 0,
        window_reversal: false,
    };
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            wd::SIZE => dimension.size = field.int64().within("size")?,
            wd::STRIDE => dimension.stride = field.int64().within("stride")?,
            wd::PADDING_LOW => dimension.padding_low = field.int64().within("padding_low")?,
            wd::PADDING_HIGH => dimension.padding_high = field.int64().within("padding_high")?,
            wd::WINDOW_DILATION => dimension.window_dilation = field.int64().within("window_dilation")?,
            wd::BASE_DILATION => dimension.base_dilation = field.int64().within("base_dilation")?,
            wd::WINDOW_REVERSAL => dimension.window_reversal = field.bool().within("window_reversal")?,
            _ => {}
        }
    }
    Ok(dimension)
}

pub(super) fn padding(bytes: &[u8]) -> Read<Vec<PaddingDimension>> {
    let mut dimensions = Vec::new();
    for field in Fields::new(bytes) {
        let field = field?;
        if field.number == pc::DIMENSIONS {
            let index = dimensions.len();
            let mut dimension = PaddingDimension { low: 0, high: 0, interior: 0 };
            for inner in Fields::new(field.bytes().at("dimensions", index)?) {
                let inner = inner.at("dimensions", index)?;
                match inner.number {
                    pd::EDGE_PADDING_LOW => {
                        dimension.low = inner.int64().within("edge_padding_low").at("dimensions", index)?
                    }
                    pd::EDGE_PADDING_HIGH => {
                        dimension.high = inner.int64().within("edge_padding_high").at("dimensions", index)?
                    }
                    pd::INTERIOR_PADDING => {
                        dimension.interior =
                            inner.int64().within("interior_padding").at("dimensions", index)?
                    }
                    _ => {}
                }
            }
            dimensions.push(dimension);
        }
    }
    Ok(dimensions)
}

pub(super) fn dimension_numbers(bytes: &[u8]) -> Read<ConvolutionDimensionNumbers> {
    let mut numbers = ConvolutionDimensionNumbers::default();
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            cd::INPUT_BATCH_DIMENSION => {
                numbers.input_batch = field.int64().within("input_batch_dimension")?
            }
            cd::INPUT_FEATURE_DIMENSION => {
                numbers.input_feature = field.int64().within("input_feature_dimension")?
            }
            cd::INPUT_SPATIAL_DIMENSIONS => {
                field.int64s(&mut numbers.input_spatial).within("input_spatial_dimensions")?
            }
            cd::KERNEL_INPUT_FEATURE_DIMENSION => {
                numbers.kernel_input_feature = field.int64().within("kernel_input_feature_dimension")?
            }
            cd::KERNEL_OUTPUT_FEATURE_DIMENSION => {
                numbers.kernel_output_feature = field.int64().within("kernel_output_feature_dimension")?
            }
            cd::KERNEL_SPATIAL_DIMENSIONS => {
                field.int64s(&mut numbers.kernel_spatial).within("kernel_spatial_dimensions")?
            }
            cd::OUTPUT_BATCH_DIMENSION => {
                numbers.output_batch = field.int64().within("output_batch_dimension")?
            }
            cd::OUTPUT_FEATURE_DIMENSION => {
                numbers.output_feature = field.int64().within("output_feature_dimension")?
            }
            cd::OUTPUT_SPATIAL_DIMENSIONS => {
                field.int64s(&mut numbers.output_spatial).within("output_spatial_dimensions")?
            }
            _ => {}
        }
    }
    let parts = [
        (numbers.input_batch, numbers.input_feature, &numbers.input_spatial),
        (numbers.kernel_input_feature, numbers.kernel_output_feature, &numbers.kernel_spatial),
        (numbers.output_batch, numbers.output_feature, &numbers.output_spatial),
    ];
    for (first, second, spatial) in parts {
        // The text writes a letter at each of these places.
        let rank = spatial.len() + 2;
        let mut seen = vec![false; rank];
        for &place in [first, second].iter().chain(spatial) {
            let slot = usize::try_from(place).ok().and_then(|place| seen.get_mut(place));
            if slot.is_none_or(|seen| std::mem::replace(seen, true)) {
                let message =
                    format!("the dimensions are not 0 to {} once each; {place} doesn't fit", rank - 1);
                return Err(Fault::value(message));
            }
        }
    }
    Ok(numbers)
}

pub(super) fn slice_range(bytes: &[u8]) -> Read<SliceRange> {
    let mut range = SliceRange { start: 0, limit: 0, stride: 0 };
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            sd::START => range.start = field.int64().within("start")?,
            sd::LIMIT => range.limit = field.int64().within("limit")?,
            sd::STRIDE => range.stride = field.int64().within("stride")?,
            _ => {}
        }
    }
    Ok(range)
}

pub(super) fn precisions(bytes: &[u8]) -> Read<Vec<words::Precision>> {
    let mut numbers = Vec::new();
    for field in Fields::new(bytes) {
        let field = field?;
        if field.number == precision_config::OPERAND_PRECISION {
            field.int64s(&mut numbers).within("operand_precision")?;
        }
    }
    let precision = |(index, number): (usize, i64)| {
        u8::try_from(number)
            .ok()
            .and_then(words::Precision::from_word)
            .ok_or_else(|| Fault::value(format!("{number} is no precision")).at("operand_precision", index))
    };
    numbers.into_iter().enumerate().map(precision).collect()
}

pub(super) fn operand_aliasing(bytes: &[u8]) -> Read<OperandAliasing> {
    let mut alias = OperandAliasing { output_index: Vec::new(), operand: 0, operand_index: Vec::new() };
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            ooa::OUTPUT_SHAPE_INDEX => field.int64s(&mut alias.output_index).within("output_shape_index")?,
            ooa::OPERAND_INDEX => alias.operand = field.int64().within("operand_index")?,
            ooa::OPERAND_SHAPE_INDEX => {
                field.int64s(&mut alias.operand_index).within("operand_shape_index")?
            }
            _ => {}
        }
    }
    Ok(alias)
}

pub(super) fn source_target_pair(bytes: &[u8]) -> Read<Vec<i64>> {
    let mut pair = vec![0, 0];
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            source_target::SOURCE => pair[0] = field.int64().within("source")?,
            source_target::TARGET => pair[1] = field.int64().within("target")?,
            _ => {}
        }
    }
    Ok(pair)
}

pub(super) fn replication(bytes: &[u8]) -> Read<Vec<bool>> {
    let mut flags = Vec::new();
    for field in Fields::new(bytes) {
        let field = field?;
        if field.number == parameter_replication::REPLICATED_AT_LEAF_BUFFERS {
            field.bools(&mut flags).within("replicated_at_leaf_buffers")?;
        }
    }
    Ok(flags)
}

pub(super) fn accuracy(bytes: &[u8]) -> Read<ResultAccuracy> {
    let mut accuracy = ResultAccuracy::Mode(words::AccuracyMode::Default);
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            ra::MODE => {
                let number = field.int32().within("mode")?;
                let mode = u8::try_from(number).ok().and_then(words::AccuracyMode::from_word);
                accuracy = ResultAccuracy::Mode(
                    mode.ok_or_else(|| Fault::value(format!("{number} is no mode")).within("mode"))?,
                );
            }
            ra::TOLERANCE => {
                let (mut atol, mut rtol, mut ulps) = (0.0, 0.0, 0);
                for inner in Fields::new(field.bytes().within("tolerance")?) {
                    let inner = inner.within("tolerance")?;
                    match inner.number {
                        tol::ATOL => atol = inner.double().within("tolerance")?,
                        tol::RTOL => rtol = inner.double().within("tolerance")?,
                        tol::ULPS => ulps = inner.int64().within("tolerance")?,
                        _ => {}
                    }
                }
                accuracy = ResultAccuracy::Tolerance { atol: Number(atol), rtol: Number(rtol), ulps };
            }
            _ => {}
        }
    }
    Ok(accuracy)
}

pub(super) fn sparsity(bytes: &[u8]) -> Read<SparsityConfig> {
    let mut config = SparsityConfig::default();
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            sc::LHS => config.lhs = Some(field.bytes().and_then(tensor_sparsity).within("lhs")?),
            sc::RHS => config.rhs = Some(field.bytes().and_then(tensor_sparsity).within("rhs")?),
            _ => {}
        }
    }
    Ok(config)
}

fn tensor_sparsity(bytes: &[u8]) -> Read<TensorSparsity> {
    let mut sparsity = TensorSparsity::default();
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            ts::NUM_NON_ZERO => sparsity.sparsity.0 = field.int64().within("num_non_zero")?,
            ts::BLOCK_SIZE => sparsity.sparsity.1 = field.int64().within("block_size")?,
            ts::DIMENSION => sparsity.dimension = field.int64().within("dimension")?,
            ts::STRIDE => sparsity.stride = field.int64().within("stride")?,
            _ => {}
        }
    }
    Ok(sparsity)
}

impl<'b> Reader<'b> {
    pub(super) fn statistics(&mut self, bytes: &'b [u8]) -> Read<Statistics> {
        let mut statistics = Statistics::default();
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                sv::STAT_INDEX_TO_VISUALIZE => {
                    statistics.visualizing_index = field.int64().within("stat_index_to_visualize")?;
                }
                sv::STATISTICS => {
                    let index = statistics.entries.len();
                    let (mut name, mut value): (&[u8], f64) = (&[], 0.0);
                    for inner in Fields::new(field.bytes().at("statistics", index)?) {
                        let inner = inner.at("statistics", index)?;
                        match inner.number {
                            statistic::STAT_NAME => name = inner.bytes().at("statistics", index)?,
                            statistic::STAT_VAL => value = inner.double().at("statistics", index)?,
                            _ => {}
                        }
                    }
                    let name = self.module().strings_mut().intern(name);
                    statistics.entries.push((name, Number(value)));
                }
                _ => {}
            }
        }
        Ok(statistics)
    }
}
