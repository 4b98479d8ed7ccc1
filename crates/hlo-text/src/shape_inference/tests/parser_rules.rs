//! What XLA's parser infers when a shape is left out.

use super::{attribute, check, gives, operand, whole};
use crate::ir::AttrKey as K;

#[test]
fn unary() {
    check(&[
        gives("floor(f32[2,3]{0,1:T(2,128)S(1)})", "f32[2,3]{0,1:T(2,128)S(1)}"),
        operand("floor(s32[2])", 0),
        operand("ceil(c64[2])", 0),
        gives("tanh(c64[<=3,?])", "c64[<=3,?]"),
        operand("tanh(s32[2])", 0),
        operand("tanh((f32[2]))", 0),
        operand("sine(b(f32[2]))", 0),
        gives("real(c128[2,3]{0,1})", "f64[2,3]{0,1}"),
        gives("imag(bf16[2])", "bf16[2]"),
        operand("imag(s32[2])", 0),
        gives("abs(c64[2])", "f32[2]"),
        gives("abs(s4[2]{0:E(4)})", "s4[2]{0:E(4)}"),
        operand("abs(u32[2])", 0),
        operand("abs(pred[])", 0),
        gives("negate(u8[2])", "u8[2]"),
        operand("negate(pred[2])", 0),
        gives("sign(s8[])", "s8[]"),
        operand("sign(u8[])", 0),
        gives("not(pred[2])", "pred[2]"),
        operand("not(f32[2])", 0),
        gives("popcnt(u64[2])", "u64[2]"),
        operand("popcnt(pred[2])", 0),
        operand("count-leading-zeros(f32[2])", 0),
        gives("is-finite(f8e5m2[2,<=3]{0,1})", "pred[2,<=3]{0,1}"),
        operand("is-finite(c64[2])", 0),
        gives("copy((f32[2]{0}, token[]))", "(f32[2]{0}, token[])"),
        gives("round-nearest-even(f16[?])", "f16[?]"),
    ]);
}

#[test]
fn binary() {
    check(&[
        gives("add(f32[2,3]{0,1}, f32[2,3]{1,0})", "f32[2,3]{0,1}"),
        gives("add(pred[2], pred[2])", "pred[2]"),
        gives("add(bf16[2]{0:S(1)}, f32[2])", "f32[2]{0:S(1)}"),
        gives("add(f32[<=2,3], f32[2,<=3])", "f32[<=2,<=3]"),
        gives("multiply(f32[1,<=3,?], f32[5,1,<=4])", "f32[5,<=3,<=4]"),
        gives("maximum(f32[?,4]{0,1}, f32[4,?]{0,1})", "f32[4,4]{1,0}"),
        gives("minimum(f32[<=1,3], f32[5,3])", "f32[5,3]"),
        gives("add(f32[], f32[2,3]{0,1})", "f32[2,3]{1,0}"),
        gives("add(f32[2,<=3]{0,1}, f16[])", "f32[2,<=3]{1,0}"),
        gives("mulhi(s32[2], s32[2])", "s32[2]"),
        gives("add(f16[2], bf16[2])", "bf16[2]"),
        gives("add(f8e5m2[2], f16[2])", "f16[2]"),
        gives("add(f8e8m0fnu[2], f16[2])", "f8e8m0fnu[2]"),
        gives("add(f8e4m3[2], f8e4m3fn[2])", "f8e4m3fn[2]"),
        gives("add(f8e4m3fn[2], f8e5m2[2])", "f8e5m2[2]"),
        gives("add(f4e2m1fn[2], f8e3m4[2])", "f8e3m4[2]"),
        whole("add(f8e5m2[2], f8e5m2fnuz[2])"),
        whole("add(f8e4m3fnuz[2], f8e4m3[2])"),
        operand("add(f32[3], s32[3])", 1),
        operand("add(c64[3], c128[3])", 1),
        operand("add(f32[3], f32[4])", 1),
        operand("add(f32[2], f32[4,2])", 1),
        operand("add((f32[2]), f32[2])", 0),
        operand("add(f32[2], token[])", 1),
        operand("subtract(pred[2], pred[2])", 0),
        operand("divide(s32[2], pred[2])", 1),
        gives("shift-left(u8[2], u8[2])", "u8[2]"),
        gives("power(c64[2], c64[2])", "c64[2]"),
        gives("remainder(s32[2], s32[2])", "s32[2]"),
        gives("atan2(f32[2], f64[2])", "f64[2]"),
        operand("atan2(s32[2], s32[2])", 0),
        gives("and(pred[2], pred[2])", "pred[2]"),
        gives("xor(u4[2], u4[2])", "u4[2]"),
        operand("or(f32[2], f32[2])", 0),
        gives("complex(f32[2]{0:S(3)}, f32[2])", "c64[2]{0:S(3)}"),
        gives("complex(f64[2], f64[2])", "c128[2]"),
        operand("complex(f16[2], f16[2])", 0),
        operand("complex(f64[2], bf16[2])", 0),
        gives("maximum(f64[2]{0:E(4)}, f64[2])", "f64[2]{0}"),
        operand("complex(s32[2], s32[2])", 0),
        gives("compare(f32[2,3]{0,1}, bf16[2,3]), direction=LT", "pred[2,3]{0,1}"),
        gives("compare(s32[], s32[3]), direction=EQ", "pred[3]"),
        whole("add(f32[2])"),
    ]);
}

#[test]
fn select_and_clamp() {
    check(&[
        gives("select(pred[], f32[2,3]{0,1}, f32[2,3])", "f32[2,3]{0,1}"),
        gives("select(pred[2,3]{0,1}, f32[2,3], f32[2,3])", "f32[2,3]{0,1}"),
        gives("select(pred[2], bf16[2], f32[2])", "f32[2]"),
        gives("select(pred[], f32[?], f32[4])", "f32[4]"),
        gives("select(pred[], f32[<=4], f32[?])", "f32[<=4]"),
        gives("select(pred[], f32[?], f32[?])", "f32[?]"),
        gives("select(pred[4], f32[<=4], f32[4])", "f32[<=4]"),
        gives("select(pred[<=4], f32[4], f32[4])", "f32[<=4]"),
        gives("select(pred[4], s4[4]{0:E(4)}, s4[4])", "s4[4]{0:E(4)}"),
        operand("select(pred[], f32[4], f32[5])", 2),
        operand("select(s32[4], f32[4], f32[4])", 0),
        operand("select(pred[5], f32[4], f32[4])", 0),
        operand("select(pred[1], f32[4], f32[4])", 0),
        operand("select(pred[], (f32[4]), (f32[4]))", 1),
        gives("clamp(f32[], bf16[4]{0:S(1)}, f32[4])", "bf16[4]{0:S(1)}"),
        gives("clamp(s32[<=4], s32[4], s32[4])", "s32[4]"),
        operand("clamp(f32[3], f32[4], f32[])", 0),
        operand("clamp(f32[], f32[4], f32[1])", 2),
        whole("clamp(f32[], s32[4], f32[])"),
    ]);
}

#[test]
fn data_movement() {
    check(&[
        gives("broadcast(f32[]), dimensions={}", "f32[]"),
        gives("broadcast(f32[])", "f32[]"),
        gives("broadcast(f32[3]{0:S(1)}), dimensions={2,4}", "f32[2,4,3]"),
        gives("broadcast(f32[<=3]), dimensions={2}", "f32[2,<=3]"),
        attribute("broadcast(f32[3]), dimensions={-2}", K::Dimensions),
        operand("broadcast(f32[?]), dimensions={2}", 0),
        gives("transpose(f32[2,<=3,4]{0,2,1}), dimensions={2,0,1}", "f32[4,2,<=3]{1,0,2}"),
        gives("transpose(f32[2,3]{1,0:T(8,128)S(1)}), dimensions={1,0}", "f32[3,2]{0,1:T(8,128)S(1)}"),
        attribute("transpose(f32[2,3]), dimensions={1,1}", K::Dimensions),
        attribute("transpose(f32[2,3]), dimensions={0}", K::Dimensions),
        attribute("transpose(f32[2,3]), dimensions={0,2}", K::Dimensions),
        gives("reverse(f32[2,3]{0,1}), dimensions={1}", "f32[2,3]{0,1}"),
        gives("reverse(f32[2,3]), dimensions={}", "f32[2,3]"),
        attribute("reverse(f32[2,3]), dimensions={1,1}", K::Dimensions),
        attribute("reverse(f32[2,3]), dimensions={2}", K::Dimensions),
        gives("pad(f32[<=4,0]{0,1}, f32[]), padding=1_2_1x0_3_2", "f32[<=10,3]{1,0}"),
        gives("pad(bf16[?,5], f32[]), padding=1_1x-2_-1", "f32[?,2]"),
        attribute("pad(f32[4], f32[]), padding=-3_-2", K::Padding),
        attribute("pad(f32[4], f32[]), padding=0_0_-1", K::Padding),
        attribute("pad(f32[4], f32[]), padding=0_0x0_0", K::Padding),
        operand("pad(f32[4], f32[1]), padding=0_0", 1),
        operand("pad(f32[4], s32[]), padding=0_0", 1),
        gives("concatenate(f32[<=3], f32[4]), dimensions={0}", "f32[<=7]"),
        gives("concatenate(f32[?,?], f32[<=4,<=5]), dimensions={0}", "f32[?,<=5]"),
        gives("concatenate(f32[2,3]{0,1}), dimensions={1}", "f32[2,3]{1,0}"),
        gives("concatenate(bf16[1], f32[1], bf16[1]), dimensions={0}", "bf16[3]"),
        gives("concatenate(bf16[1], f32[1]), dimensions={0}", "f32[2]"),
        attribute("concatenate(f32[2,3]), dimensions={2}", K::Dimensions),
        operand("concatenate(f32[3,2], f32[4]), dimensions={0}", 1),
        operand("concatenate(f32[3,2], f32[3,4]), dimensions={0}", 1),
        operand("concatenate(f32[2,?], f32[2,4], f32[2,5]), dimensions={0}", 2),
        operand("concatenate(f32[3], s32[3]), dimensions={0}", 1),
        whole("concatenate(), dimensions={0}"),
        gives("get-dimension-size(f32[2,<=3]), dimensions={1}", "s32[]"),
        attribute("get-dimension-size(f32[2]), dimensions={1}", K::Dimensions),
        operand("get-dimension-size(f32[2147483648]), dimensions={0}", 0),
        gives("set-dimension-size(f32[2,3]{0,1}, s32[]), dimensions={1}", "f32[2,<=3]{0,1}"),
        operand("set-dimension-size(f32[2,3], s64[]), dimensions={1}", 1),
        gives("topk(bf16[<=2,9]{0,1}), k=3", "(bf16[<=2,3], s32[<=2,3])"),
        attribute("topk(f32[2]), k=3", K::K),
        attribute("topk(f32[?]), k=3", K::K),
        attribute("topk(f32[]), k=0", K::K),
    ]);
}

#[test]
fn gather_and_scatter() {
    check(&[
        gives(
            "gather(f32[50,49,48,47,46], s64[10,9,8,7,5]), offset_dims={4,5,6,7,8}, collapsed_slice_dims={}, start_index_map={0,1,2,3,4}, index_vector_dim=4, slice_sizes={30,29,28,27,26}",
            "f32[10,9,8,7,30,29,28,27,26]",
        ),
        gives(
            "gather(f32[3,<=2,7], s32[<=7]), offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2,4}",
            "f32[<=7,<=2,4]",
        ),
        gives(
            "gather(f32[5,9,4], s32[5,6,2]), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1,2}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,4}",
            "f32[5,6,4]",
        ),
        attribute(
            "gather(f32[3,2], s32[7]), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,2}",
            K::IndexVectorDim,
        ),
        attribute(
            "gather(f32[3,2], s32[7]), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,2}",
            K::StartIndexMap,
        ),
        attribute(
            "gather(f32[3,2], s32[7]), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}",
            K::SliceSizes,
        ),
        attribute(
            "gather(f32[3,2], s32[7]), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={2,2}",
            K::SliceSizes,
        ),
        attribute(
            "gather(f32[3,2], s32[7]), offset_dims={1,1}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}",
            K::OffsetDims,
        ),
        operand(
            "gather(f32[3,2], f32[7]), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}",
            1,
        ),
        gives(
            "scatter(bf16[3,<=2]{0,1}, s32[7], f32[7,2]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=(bf16[], bf16[])->bf16[]",
            "bf16[3,<=2]{0,1}",
        ),
        gives(
            "scatter(f32[3,2], s32[3,2], s32[7], f32[7,2], s32[7,2]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=(f32[], s32[], f32[], s32[])->(f32[], s32[])",
            "(f32[3,2], s32[3,2])",
        ),
        operand(
            "scatter(f32[3,2], s32[7], f32[7,3]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=(f32[], f32[])->f32[]",
            2,
        ),
        operand(
            "scatter(f32[3,2], s32[7], f32[8,2]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=(f32[], f32[])->f32[]",
            2,
        ),
        operand(
            "scatter(f32[3,2], s32[7], f32[7]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=(f32[], f32[])->f32[]",
            2,
        ),
        attribute(
            "scatter(f32[3,2], s32[7], f32[7,2]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=(f32[], s32[])->f32[]",
            K::ToApply,
        ),
        whole(
            "scatter(f32[3,2], s32[7]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=(f32[], f32[])->f32[]",
        ),
    ]);
}

#[test]
fn reductions() {
    check(&[
        gives(
            "reduce(f32[2,<=3,4]{0,1,2}, f32[]), dimensions={2,0}, to_apply=(f32[], f32[])->f32[]",
            "f32[<=3]",
        ),
        gives("reduce(bf16[2,3], bf16[]), dimensions={0}, to_apply=(f32[], f32[])->f32[]", "f32[3]"),
        gives("reduce(f32[2,3], f32[]), dimensions={}, to_apply=(f32[], f32[])->(f32[])", "(f32[2,3])"),
        gives(
            "reduce(f32[2,?], s32[2,3], f32[], s32[]), dimensions={0}, to_apply=(f32[], s32[], f32[], s32[])->(f32[], s32[])",
            "(f32[?], s32[?])",
        ),
        attribute("reduce(f32[2], f32[]), dimensions={1}, to_apply=(f32[], f32[])->f32[]", K::Dimensions),
        attribute("reduce(f32[2,3], f32[]), dimensions={1,1}, to_apply=(f32[], f32[])->f32[]", K::Dimensions),
        attribute("reduce(f32[2], f32[]), dimensions={0}, to_apply=(f32[])->f32[]", K::ToApply),
        attribute("reduce(f32[2], f32[]), dimensions={0}, to_apply=(f32[], f32[])->f32[1]", K::ToApply),
        attribute("reduce(f32[2], s32[]), dimensions={0}, to_apply=(f32[], f32[])->f32[]", K::ToApply),
        attribute("reduce(f32[2], f32[]), dimensions={0}, to_apply=(f32[], f32[])->token[]", K::ToApply),
        attribute("reduce(f32[2], f32[]), dimensions={0}, to_apply=(bf16[], f32[])->f32[]", K::ToApply),
        operand("reduce(f32[2], f32[1]), dimensions={0}, to_apply=(f32[], f32[])->f32[]", 1),
        operand(
            "reduce(f32[2], f32[3], f32[], f32[]), dimensions={0}, to_apply=(f32[], f32[], f32[], f32[])->(f32[], f32[])",
            1,
        ),
        whole("reduce(f32[2], f32[2], f32[]), dimensions={0}, to_apply=(f32[], f32[])->f32[]"),
        gives(
            "reduce-window(f32[<=10,?]{0,1}, f32[]), window={size=3x2 stride=2x1 pad=1_0x0_0 rhs_dilate=2x1}, to_apply=(f32[], f32[])->f32[]",
            "f32[<=4,?]",
        ),
        gives("reduce-window(bf16[4], f32[]), window={size=5}, to_apply=(f32[], f32[])->f32[]", "f32[0]"),
        gives("reduce-window(f32[4], f32[]), window={size=2}, to_apply=(f32[], f32[])->(f32[])", "f32[3]"),
        attribute(
            "reduce-window(f32[4,4], f32[]), window={size=2}, to_apply=(f32[], f32[])->f32[]",
            K::Window,
        ),
        attribute(
            "reduce-window(f32[4], f32[]), window={size=2 stride=0}, to_apply=(f32[], f32[])->f32[]",
            K::Window,
        ),
        gives(
            "select-and-scatter(f32[4,5]{0,1}, f32[2,5], f32[]), window={size=2x1 stride=2x1}, select=(f32[], f32[])->pred[], scatter=(f32[], f32[])->f32[]",
            "f32[4,5]{0,1}",
        ),
        operand(
            "select-and-scatter(f32[4,5], f32[3,5], f32[]), window={size=2x1 stride=2x1}, select=(f32[], f32[])->pred[], scatter=(f32[], f32[])->f32[]",
            1,
        ),
        attribute(
            "select-and-scatter(f32[4,5], f32[2,5], f32[]), window={size=2x1 stride=2x1}, select=(f32[], f32[])->f32[], scatter=(f32[], f32[])->f32[]",
            K::Select,
        ),
        gives("map(f32[2,<=3]{0,1}), dimensions={0,1}, to_apply=(f32[])->s8[]", "s8[2,<=3]"),
        gives("map(f32[], f32[2]), dimensions={0}, to_apply=(f32[], f32[])->f32[]", "f32[2]"),
        attribute("map(f32[2,3]), dimensions={1,0}, to_apply=(f32[])->f32[]", K::Dimensions),
        attribute("map(f32[2,3]), dimensions={0}, to_apply=(f32[])->f32[]", K::Dimensions),
        attribute("map(f32[2]), dimensions={0}, to_apply=(f32[], f32[])->f32[]", K::ToApply),
        attribute("map(f32[2]), dimensions={0}, to_apply=(f32[])->f32[2]", K::ToApply),
        gives("map(s32[2], f32[2]), dimensions={0}, to_apply=(s32[], f32[])->f32[]", "f32[2]"),
        operand("map(f32[2], f32[3]), dimensions={0}, to_apply=(f32[], f32[])->f32[]", 1),
        gives("sort(f32[2,3]{0,1}), dimensions={1}, to_apply=(f32[], f32[])->pred[]", "f32[2,3]{0,1}"),
        gives(
            "sort(f32[2]{0:S(1)}, s32[?]), dimensions={0}, to_apply=(f32[], f32[], s32[], s32[])->pred[]",
            "(f32[2]{0:S(1)}, s32[?])",
        ),
        operand("sort(f32[2], s32[3]), dimensions={0}, to_apply=(f32[], f32[], s32[], s32[])->pred[]", 1),
        gives(
            "scan(f32[5,2], f32[2]), dimensions={0}, num_carries=1, to_apply=(f32[2], f32[2])->(f32[2], f32[2])",
            "(f32[5,2], f32[2])",
        ),
        gives("scan(f32[5,2]), dimensions={1}, num_carries=0, to_apply=(f32[5])->s32[5]", "s32[5,2]"),
        gives(
            "scan(f32[<=5,<=2]), dimensions={0}, num_carries=0, to_apply=(f32[<=2])->f32[<=2]{0:S(1)}",
            "f32[5,2]",
        ),
        attribute("scan(f32[?,2]), dimensions={0}, num_carries=0, to_apply=(f32[2])->f32[2]", K::ToApply),
        gives(
            "scan(f32[2,9,3,4]), dimensions={1}, num_carries=0, to_apply=(f32[2,3,4])->f32[2,3,4]{1,2,0:T(2,128)}",
            "f32[2,9,3,4]{2,1,3,0}",
        ),
        gives(
            "scan(f32[2,3,9]), dimensions={2}, num_carries=0, to_apply=(f32[2,3])->(f32[2,3]{0,1})",
            "(f32[2,3,9]{2,0,1})",
        ),
        attribute("scan(f32[5,2]), dimensions={2}, num_carries=0, to_apply=(f32[5])->s32[5]", K::Dimensions),
    ]);
}

#[test]
fn dots() {
    check(&[
        gives(
            "dot(f32[7,2,3]{0,1,2}, bf16[7,3,5]), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}",
            "f32[7,2,5]",
        ),
        gives("dot(s8[2], s32[3]), lhs_contracting_dims={}, rhs_contracting_dims={}", "s32[2,3]"),
        gives("dot(c64[2,3], f64[3]), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "c64[2]"),
        gives("dot(s8[2], u8[2]), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "s8[]"),
        gives("dot(u4[2], pred[2]), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "u4[]"),
        gives("dot(u8[2], pred[2]), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "u8[]"),
        whole("dot(u1[2], pred[2]), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        gives("dot(u16[2], s8[2]), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "u16[]"),
        gives(
            "dot(f32[?,<=2,3], f32[4,3,?]), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}",
            "f32[?,<=2,?]",
        ),
        attribute(
            "dot(f32[2], f32[3]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            K::RhsContractingDims,
        ),
        attribute(
            "dot(f32[2], f32[2,2]), lhs_contracting_dims={0}, rhs_contracting_dims={0,1}",
            K::RhsContractingDims,
        ),
        attribute(
            "dot(f32[2], f32[2]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            K::LhsContractingDims,
        ),
        attribute(
            "dot(f32[2,3], f32[2,3]), lhs_batch_dims={1}, lhs_contracting_dims={1}, rhs_batch_dims={1}, rhs_contracting_dims={0}",
            K::LhsBatchDims,
        ),
        whole("dot(f32[2]), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        gives(
            "ragged-dot(f32[11,5], f32[3,5,7], s32[3]), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
            "f32[11,7]",
        ),
        gives(
            "ragged-dot(f32[2,11,5], f32[3,2,5,7], s32[2,3]), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0}",
            "f32[2,11,7]",
        ),
        gives(
            "ragged-dot(f32[11,5], f32[5,7], s32[<=3]), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}",
            "f32[<=3,11,7]",
        ),
        gives(
            "ragged-dot(f32[3,11,5], f32[3,5,7], s32[3]), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}, lhs_ragged_dims={0}",
            "f32[3,11,7]",
        ),
        attribute(
            "ragged-dot(f32[11,5], f32[3,5,7], s32[3]), lhs_contracting_dims={1}, rhs_contracting_dims={1}, rhs_group_dims={0}",
            K::LhsRaggedDims,
        ),
        attribute(
            "ragged-dot(f32[11,5], f32[3,5,7], s32[4]), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
            K::RhsGroupDims,
        ),
        attribute(
            "ragged-dot(f32[11,5], f32[3,5,7], s32[3]), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}",
            K::RhsGroupDims,
        ),
        operand(
            "ragged-dot(f32[2,11,5], f32[3,2,5,7], s32[4,3]), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0}",
            2,
        ),
        operand(
            "ragged-dot(f32[11,5], f32[3,5,7], s32[]), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
            2,
        ),
        // The third operand stands in for the second one.
        gives(
            "scaled-dot(f32[2,3], f32[9], f32[3,4], f32[8]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            "f32[2,4]",
        ),
    ]);
}

#[test]
fn convolutions() {
    check(&[
        gives(
            "convolution(f32[1,10,8]{0,1,2}, bf16[3,8,16]), window={size=3 stride=2 pad=1_1}, dim_labels=b0f_0io->b0f",
            "f32[1,5,16]",
        ),
        gives(
            "convolution(s32[1,10,8], u32[3,8,16]), window={size=3 lhs_dilate=2 rhs_dilate=3}, dim_labels=b0f_0io->0bf",
            "s32[13,1,16]",
        ),
        gives(
            "convolution(f32[?,<=10,8], f32[3,4,16]), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2",
            "f32[?,<=8,16]",
        ),
        gives(
            "convolution(f32[6,10,8], f32[3,8,6]), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=3",
            "f32[2,8,6]",
        ),
        gives("convolution(f32[4,8], f32[8,6]), dim_labels=bf_io->bf", "f32[4,6]"),
        operand(
            "convolution(f32[?,10,8], f32[3,8,6]), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=2",
            0,
        ),
        operand("convolution(f32[1,10,8], f32[3,7,16]), window={size=3}, dim_labels=b0f_0io->b0f", 0),
        attribute(
            "convolution(f32[1,10,8], f32[3,8,16]), window={size=4}, dim_labels=b0f_0io->b0f",
            K::Window,
        ),
        attribute(
            "convolution(f32[1,10,8], f32[3,8,16]), window={size=3x1}, dim_labels=b0f_0io->b0f",
            K::Window,
        ),
        operand("convolution(f32[1,10], f32[3,8,16]), window={size=3}, dim_labels=b0f_0io->b0f", 0),
        operand("convolution(f32[1,10,8], f32[3,8,<=16]), window={size=3}, dim_labels=b0f_0io->b0f", 1),
        attribute(
            "convolution(f32[1,10,8], f32[3,8,16]), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=0",
            K::FeatureGroupCount,
        ),
        attribute(
            "convolution(f32[4,10,8], f32[3,8,16]), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2, batch_group_count=2",
            K::BatchGroupCount,
        ),
        operand(
            "convolution(f32[4,10,8], f32[3,4,15]), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2",
            1,
        ),
    ]);
}

#[test]
fn linear_algebra() {
    check(&[
        gives("fft(c64[2,3]{0,1}), fft_type=FFT, fft_length={7}", "c64[2,3]{0,1}"),
        operand("fft(f32[2]), fft_type=IFFT, fft_length={2}", 0),
        gives("fft(f32[2,<=8]{0,1}), fft_type=RFFT, fft_length={8}", "c64[2,<=5]{0,1}"),
        gives("fft(f64[?]), fft_type=RFFT, fft_length={9}", "c128[5]"),
        gives("fft(f32[0]), fft_type=RFFT, fft_length={0}", "c64[0]"),
        attribute("fft(f32[3]), fft_type=RFFT, fft_length={4}", K::FftLength),
        operand("fft(f16[4]), fft_type=RFFT, fft_length={4}", 0),
        gives("fft(c64[5]), fft_type=IRFFT, fft_length={9}", "f32[9]"),
        gives("fft(c128[3,?]), fft_type=IRFFT, fft_length={3,8}", "f64[3,8]"),
        attribute("fft(c64[5]), fft_type=IRFFT, fft_length={10}", K::FftLength),
        attribute("fft(c64[?,5]), fft_type=IRFFT, fft_length={4,8}", K::FftLength),
        attribute("fft(c64[5]), fft_type=FFT, fft_length={5,5}", K::FftLength),
        attribute("fft(c64[5,5,5,5]), fft_type=FFT, fft_length={5,5,5,5}", K::FftLength),
        attribute("fft(c64[5]), fft_type=FFT, fft_length={}", K::FftLength),
        gives("cholesky(f32[2,3,3]{0,1,2})", "f32[2,3,3]{0,1,2}"),
        gives("cholesky(c64[?,3])", "c64[?,3]"),
        operand("cholesky(f32[2,3])", 0),
        operand("cholesky(f32[3])", 0),
        operand("cholesky(s32[3,3])", 0),
        gives(
            "triangular-solve(f32[2,3,3], f32[2,3,5]{0,1,2}), left_side=true, transpose_a=NO_TRANSPOSE",
            "f32[2,3,5]{0,1,2}",
        ),
        gives("triangular-solve(f32[3,3], f32[5,3]), transpose_a=ADJOINT", "f32[5,3]"),
        attribute("triangular-solve(f32[3,3], f32[3,3])", K::TransposeA),
        operand("triangular-solve(f32[3,3], f32[3,5]), transpose_a=ADJOINT", 1),
        operand("triangular-solve(f32[3,3], f64[3,3]), transpose_a=ADJOINT", 1),
        operand("triangular-solve(f32[2,3,3], f32[1,3,3]), transpose_a=ADJOINT", 1),
        operand("triangular-solve(f32[2,3,3], f32[3,3]), transpose_a=ADJOINT", 1),
    ]);
}

#[test]
fn batch_norms() {
    check(&[
        gives(
            "batch-norm-training(bf16[2,<=4]{0,1}, f32[4], f32[?]), epsilon=0.1, feature_index=1",
            "(bf16[2,<=4]{0,1}, bf16[<=4], bf16[<=4])",
        ),
        gives(
            "batch-norm-inference(f32[2,4]{0,1}, f32[4], f32[4], f32[4], f32[4]), epsilon=0.1, feature_index=1",
            "f32[2,4]{0,1}",
        ),
        gives(
            "batch-norm-grad(f32[2,4]{0,1}, f32[4], f32[4], f32[4], f32[2,4]), epsilon=0.1, feature_index=1",
            "(f32[2,4]{0,1}, f32[4], f32[4])",
        ),
        attribute(
            "batch-norm-training(f32[2,4], f32[4], f32[4]), epsilon=0.1, feature_index=2",
            K::FeatureIndex,
        ),
        attribute(
            "batch-norm-training(f32[2,4], f32[4], f32[4]), epsilon=0.1, feature_index=-1",
            K::FeatureIndex,
        ),
        operand("batch-norm-training(s32[2,4], s32[4], s32[4]), epsilon=0.1, feature_index=1", 0),
        operand("batch-norm-training(f32[2,4], f32[4], f32[3]), epsilon=0.1, feature_index=1", 2),
        operand("batch-norm-training(f32[2,4], f32[4,1], f32[4]), epsilon=0.1, feature_index=1", 1),
        operand(
            "batch-norm-grad(f32[2,4], f32[4], f32[4], f32[4], f32[2,5]), epsilon=0.1, feature_index=1",
            4,
        ),
    ]);
}

#[test]
fn control_flow() {
    check(&[
        gives(
            "while((f32[2]{0:S(1)}, s32[])), condition=((f32[2], s32[]))->pred[], body=((f32[2], s32[]))->(f32[2], s32[])",
            "(f32[2]{0:S(1)}, s32[])",
        ),
        attribute("while(s32[]), condition=(s32[])->s32[], body=(s32[])->s32[]", K::Condition),
        attribute("while(s32[]), condition=(s32[])->pred[], body=(s32[])->f32[]", K::Condition),
        attribute("while(f32[]), condition=(s32[])->pred[], body=(s32[])->s32[]", K::Body),
        attribute("while(s32[]), condition=(s32[], s32[])->pred[], body=(s32[])->s32[]", K::Condition),
        gives(
            "conditional(pred[], f32[2], s32[]), true_computation=(f32[2])->f32[3]{0:S(1)}, false_computation=(s32[])->f32[3]",
            "f32[3]{0:S(1)}",
        ),
        gives(
            "conditional(s32[], f32[2], s32[], f32[]), branch_computations={(f32[2])->(f32[3,2], token[]), (s32[])->(f32[<=3,2], token[]), (f32[])->(f32[3,<=2], token[])}",
            "(f32[<=3,<=2], token[])",
        ),
        attribute(
            "conditional(pred[], f32[2], s32[]), true_computation=(f32[2])->f32[3], false_computation=(s32[])->f32[4]",
            K::FalseComputation,
        ),
        operand(
            "conditional(pred[], f32[2], f32[2]), true_computation=(f32[2])->f32[3], false_computation=(s32[])->f32[3]",
            2,
        ),
        attribute(
            "conditional(pred[], f32[2], f32[2]), true_computation=(f32[2])->f32[3], false_computation=()->f32[3]",
            K::FalseComputation,
        ),
        gives("call(f32[2], s32[]), to_apply=(f32[2], s32[])->f32[3]{0:S(1)}", "f32[3]{0:S(1)}"),
        gives("call(), to_apply=()->(f32[3])", "(f32[3])"),
        operand("call(f32[2]), to_apply=(f32[3])->f32[3]", 0),
        attribute("call(f32[2]), to_apply=()->f32[3]", K::ToApply),
        gives("tuple()", "()"),
        gives("tuple(f32[2]{0:S(1)}, token[], (s32[]))", "(f32[2]{0:S(1)}, token[], (s32[]))"),
        gives("get-tuple-element((f32[2]{0:S(1)}, token[])), index=0", "f32[2]{0:S(1)}"),
        attribute("get-tuple-element((f32[2])), index=1", K::Index),
        attribute("get-tuple-element((f32[2])), index=-1", K::Index),
        operand("get-tuple-element(f32[2]), index=0", 0),
        gives("after-all()", "token[]"),
        gives("after-all(token[], token[])", "token[]"),
        gives("add-dependency(f32[2]{0:S(1)}, token[])", "f32[2]{0:S(1)}"),
        gives("replica-id()", "u32[]"),
        gives("partition-id()", "u32[]"),
    ]);
}

/// Opcodes whose shape the text must state.
#[test]
fn what_must_be_stated() {
    use super::{Request, ShapeErrorKind};
    for text in ["convert(f32[2])", "reshape(f32[2])", "iota(), iota_dimension=0", "opt-barrier(f32[2])"] {
        let error = Request::new(text).infer().expect_err(text);
        assert_eq!(error.kind, ShapeErrorKind::NotInferable, "{text}");
    }
}
