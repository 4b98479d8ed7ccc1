//! Shapes that the text must state, but that follow.

use super::{Expected, Request, ShapeErrorKind, attribute, compare, gives, operand, whole};
use crate::ir::AttrKey as K;

/// A case without a stated shape, or with the one before ` <- `.
fn check(cases: &[(&str, Expected)]) {
    for &(text, expected) in cases {
        let (stated, instruction) = match text.split_once(" <- ") {
            Some((stated, instruction)) => (Some(stated), instruction),
            None => (None, text),
        };
        let mut request = Request::new(instruction);
        let result = request.infer_extended(stated);
        compare(text, &mut request, result, expected);
    }
}

#[test]
fn conversions() {
    check(&[
        gives("s8[2,<=3] <- convert(f32[2,<=3]{0,1})", "s8[2,<=3]{0,1}"),
        gives("s4[2]{0:E(4)} <- convert(s4[2]{0:E(4)})", "s4[2]{0:E(4)}"),
        gives("f32[2] <- convert(s4[2]{0:E(4)})", "f32[2]"),
        operand("f32[2] <- convert((f32[2]))", 0),
        gives("u8[2,4] <- bitcast-convert(f32[2])", "u8[2,4]{1,0}"),
        gives("u8[2,3,4] <- bitcast-convert(f32[2,3]{0,1})", "u8[2,3,4]{2,0,1}"),
        gives("u64[4] <- bitcast-convert(f32[4,2])", "u64[4]"),
        gives("s4[4,2] <- bitcast-convert(pred[4])", "s4[4,2]"),
        gives("s32[4]{0:S(1)} <- bitcast-convert(f32[4]{0:S(1)})", "s32[4]{0:S(1)}"),
        operand("u64[4] <- bitcast-convert(f32[4,3])", 0),
        operand("u64[] <- bitcast-convert(f32[])", 0),
        operand("f64[4] <- bitcast-convert(c64[4])", 0),
        gives("reduce-precision(f32[2]{0:S(1)}), exponent_bits=5, mantissa_bits=0", "f32[2]{0:S(1)}"),
        attribute("reduce-precision(f32[2]), exponent_bits=0, mantissa_bits=10", K::ExponentBits),
        attribute("reduce-precision(f32[2]), exponent_bits=1, mantissa_bits=-1", K::MantissaBits),
        gives("s8[2] <- stochastic-convert(f32[2], u32[2])", "s8[2]"),
        operand("s8[2] <- stochastic-convert(f32[2], s32[2])", 1),
        operand("s8[2] <- stochastic-convert(f32[2], u16[2])", 1),
    ]);
}

#[test]
fn slices_and_sizes() {
    check(&[
        gives("slice(f32[10,<=9,?]{0,1,2}), slice={[1:10:3], [0:5], [2:3]}", "f32[3,<=5,1]{2,1,0}"),
        gives("slice(f32[<=4]), slice={[1:2]}", "f32[1]"),
        gives("slice(f32[4]), slice={[4:4]}", "f32[0]"),
        attribute("slice(f32[4]), slice={[0:5]}", K::Slice),
        attribute("slice(f32[4]), slice={[3:2]}", K::Slice),
        attribute("slice(f32[4]), slice={[0:4:0]}", K::Slice),
        attribute("slice(f32[4]), slice={[-1:4]}", K::Slice),
        attribute("slice(f32[4]), slice={}", K::Slice),
        gives(
            "dynamic-slice(f32[<=4,<=5,6], s32[], s32[], s32[]), dynamic_slice_sizes={4,2,1}",
            "f32[<=4,2,1]",
        ),
        gives("dynamic-slice(f32[4,5], s64[2]), dynamic_slice_sizes={1,5}", "f32[1,5]"),
        attribute("dynamic-slice(f32[4], s32[]), dynamic_slice_sizes={5}", K::DynamicSliceSizes),
        operand("dynamic-slice(f32[4], f32[]), dynamic_slice_sizes={2}", 1),
        operand("dynamic-slice(f32[4,5], s32[], s64[]), dynamic_slice_sizes={2,2}", 2),
        whole("dynamic-slice(f32[4,5], s32[]), dynamic_slice_sizes={2,2}"),
        gives("dynamic-update-slice(f32[4,5]{0,1}, f32[2,<=5], s32[], s32[])", "f32[4,<=5]{0,1}"),
        gives("dynamic-update-slice(b(f32[4]), f32[2], s32[])", "b(f32[4])"),
        operand("dynamic-update-slice(f32[4], f32[5], s32[])", 1),
        operand("dynamic-update-slice(f32[4], s32[2], s32[])", 1),
        operand("dynamic-update-slice((f32[4]), f32[2], s32[])", 0),
        gives("f32[2,3] <- broadcast(f32[3]), dimensions={1}", "f32[2,3]"),
        attribute("f32[2,3] <- broadcast(f32[2]), dimensions={1}", K::Dimensions),
        gives("f32[3,2]{0,1} <- reshape(f32[6])", "f32[3,2]{0,1}"),
        operand("f32[3,3] <- reshape(f32[6])", 0),
        gives("f32[<=3,2] <- dynamic-reshape(f32[6], s32[], s32[])", "f32[<=3,2]"),
        whole("f32[<=3,2] <- dynamic-reshape(f32[6], s32[])"),
        attribute("f32[3] <- iota(), iota_dimension=1", K::IotaDimension),
        gives("opt-barrier((f32[2]{0:S(1)}))", "(f32[2]{0:S(1)})"),
    ]);
}

#[test]
fn accumulation_types() {
    check(&[
        gives(
            "f32[2,5] <- dot(s8[2,3], s8[3,5]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            "f32[2,5]",
        ),
        gives(
            "f32[2,4] <- scaled-dot(bf16[2,3], bf16[3,4], f32[9], f32[8]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            "f32[2,4]",
        ),
        gives(
            "reduce-window(f32[4], s32[4], f32[], s32[]), window={size=2}, to_apply=(f32[], s32[], f32[], s32[])->(f32[], s32[])",
            "(f32[3], s32[3])",
        ),
    ]);
}

#[test]
fn collectives() {
    check(&[
        gives("f32[8,3] <- all-gather(f32[2,3]), dimensions={0}", "f32[8,3]"),
        gives("f32[8,<=3] <- all-gather(f32[<=2,<=3]), dimensions={0}", "f32[8,<=3]"),
        gives("(f32[8], s32[4]) <- all-gather(f32[2], s32[1]), dimensions={0}", "(f32[8], s32[4])"),
        gives("(f32[2], f32[8]) <- all-gather-start(f32[2]), dimensions={0}", "(f32[2], f32[8])"),
        gives(
            "((f32[2], s32[1]), (f32[8], s32[4])) <- all-gather-start(f32[2], s32[1]), dimensions={0}",
            "((f32[2], s32[1]), (f32[8], s32[4]))",
        ),
        attribute("f32[8] <- all-gather(f32[2]), dimensions={1}", K::Dimensions),
        gives("all-gather-done((f32[2], f32[8]))", "f32[8]"),
        gives("all-reduce(f32[2]{0:S(1)}), to_apply=(f32[], f32[])->f32[]", "f32[2]{0:S(1)}"),
        gives("all-reduce-start(f32[2], s32[]), to_apply=(f32[], f32[])->f32[]", "(f32[2], s32[])"),
        gives("all-reduce-done(f32[2])", "f32[2]"),
        gives(
            "f32[2,3] <- reduce-scatter(f32[8,3]), dimensions={0}, to_apply=(f32[], f32[])->f32[]",
            "f32[2,3]",
        ),
        gives(
            "f32[?,3] <- reduce-scatter(f32[<=8,3]), dimensions={0}, to_apply=(f32[], f32[])->f32[]",
            "f32[?,3]",
        ),
        operand("f32[3] <- reduce-scatter(f32[8]), dimensions={0}, to_apply=(f32[], f32[])->f32[]", 0),
        gives("all-to-all(f32[8,3]{0,1}), dimensions={0}", "f32[8,3]{1,0}"),
        operand("all-to-all(f32[<=8]), dimensions={0}", 0),
        gives("all-to-all(f32[8]{0:S(1)}, f32[8]{0:S(1)})", "(f32[8]{0:S(1)}, f32[8]{0:S(1)})"),
        gives("all-to-all(f32[8])", "(f32[8])"),
        operand("all-to-all(f32[8], f32[9])", 1),
        gives("collective-permute(f32[8]), source_target_pairs={{0,1}}", "f32[8]"),
        gives(
            "collective-permute(f32[8], f32[9], s32[2], s32[2]), source_target_pairs={{0,1}}, slice_sizes={{1}}",
            "f32[9]",
        ),
        gives(
            "collective-permute((f32[8], f32[8]), (f32[9], f32[9]), s32[], s32[]), source_target_pairs={{0,1}}, slice_sizes={{1}}",
            "(f32[9], f32[9])",
        ),
        operand("collective-permute-start((f32[8])), source_target_pairs={{0,1}}", 0),
        gives(
            "collective-permute-start((f32[8]), (f32[8])), source_target_pairs={{0,1}}",
            "(((f32[8]), (f32[8])), ((f32[8]), (f32[8])))",
        ),
        gives("collective-permute-start(f32[8]), source_target_pairs={{0,1}}", "(f32[8], f32[8])"),
        gives(
            "(f32[8], f32[8], u32[], u32[]) <- collective-permute-start(f32[8]), source_target_pairs={{0,1}}",
            "(f32[8], f32[8], u32[], u32[])",
        ),
        gives("collective-permute-done((f32[8], f32[9]))", "f32[9]"),
        operand("collective-permute-done(f32[8])", 0),
        gives("collective-broadcast(f32[8])", "f32[8]"),
        gives("ragged-all-to-all(f32[8], f32[9], s32[2], s32[2], s32[2], s32[2])", "f32[9]"),
    ]);
}

#[test]
fn transfers() {
    check(&[
        gives(
            "((f32[2]), f32[3], s32[]) <- async-start(f32[2]), calls=(f32[2])->f32[3]",
            "((f32[2]), f32[3], s32[])",
        ),
        operand("async-start(f32[2]), calls=(f32[3])->f32[3]", 0),
        gives("async-update(((f32[2]), f32[3], s32[]))", "((f32[2]), f32[3], s32[])"),
        gives("async-done(((f32[2]), f32[3], s32[]))", "f32[3]"),
        gives("copy-start(f32[2]{0:S(1)})", "(f32[2]{0:S(1)}, f32[2]{0:S(1)}, u32[])"),
        gives("(f32[2]{0:S(5)}, f32[2], u32[]) <- copy-start(f32[2])", "(f32[2]{0:S(5)}, f32[2], u32[])"),
        gives("copy-done((f32[2]{0:S(5)}, f32[2], u32[]))", "f32[2]{0:S(5)}"),
        operand("copy-done((f32[2], f32[3], u32[]))", 0),
        gives("send(f32[2], token[])", "(f32[2], u32[], token[])"),
        gives("send-done((f32[2], u32[], token[]))", "token[]"),
        gives("(f32[2], u32[], token[]) <- recv(token[])", "(f32[2], u32[], token[])"),
        gives("(f32[2]) <- recv(token[])", "(f32[2], u32[], token[])"),
        whole("f32[2] <- recv(token[])"),
        gives("recv-done((f32[2], u32[], token[]))", "(f32[2], token[])"),
        gives("((f32[2], s32[]), token[]) <- infeed(token[])", "((f32[2], s32[]), token[])"),
        gives("outfeed(f32[2], token[])", "token[]"),
        gives("f32[2] <- rng(f32[], f32[]), distribution=rng_uniform", "f32[2]"),
        operand("s32[2] <- rng(f32[], f32[]), distribution=rng_uniform", 0),
        gives("(u64[2], u32[5]) <- rng-bit-generator(u64[2]), algorithm=rng_default", "(u64[2], u32[5])"),
        whole("(u64[3], u32[5]) <- rng-bit-generator(u64[2]), algorithm=rng_default"),
        gives("rng-get-and-update-state(), delta=1", "u64[2]"),
        gives("fusion(f32[2], f32[9]), kind=kLoop, calls=(f32[2])->f32[3]", "f32[3]"),
        attribute("fusion(f32[2]), kind=kLoop, calls=(f32[2], f32[2])->f32[3]", K::Calls),
        gives("fusion(f32[2]), kind=kLoop, calls=(f32[2])->f32[3]{0:S(1)}", "f32[3]{0:S(1)}"),
    ]);
}

#[test]
fn what_is_free_must_be_stated() {
    for text in
        ["custom-call(f32[2])", "convert(f32[2])", "recv(token[])", "all-gather(f32[2]), dimensions={0}"]
    {
        let error = Request::new(text).infer_extended(None).expect_err(text);
        assert_eq!(error.kind, ShapeErrorKind::NotInferable, "{text}");
    }
}
