//! What a few lines could blow up, and numbers at the edges.

use super::request::Request;
use crate::ir::Opcode;
use crate::parser::MAX_NESTING_DEPTH;
use crate::shape_inference::{InferRequest, infer_shape};

/// `tuple` of `copies` times the same, `levels` times over.
fn nested_tuples(copies: usize, levels: usize) -> Result<(), usize> {
    let mut module = crate::ir::Module::new("m");
    let mut shape = module.shapes_mut().array(crate::ir::ElementType::F32, &[2]);
    for level in 1..=levels {
        let operands = vec![shape; copies];
        let request = InferRequest { opcode: Opcode::Tuple, operands: &operands, attributes: &[] };
        shape = infer_shape(&request, &mut module).map_err(|_| level)?;
    }
    Ok(())
}

#[test]
fn tuples_that_share_their_parts_are_bounded() {
    assert_eq!(nested_tuples(2, 18), Ok(()));
    assert_eq!(nested_tuples(2, 60), Err(20));
}

#[test]
fn tuples_are_not_nested_without_bounds() {
    assert_eq!(nested_tuples(1, MAX_NESTING_DEPTH), Ok(()));
    assert_eq!(nested_tuples(1, 10 * MAX_NESTING_DEPTH), Err(MAX_NESTING_DEPTH + 1));
}

#[test]
fn numbers_out_of_range_are_errors() {
    const MAX: &str = "9223372036854775807";
    for text in [
        "pad(f32[4], f32[]), padding=MAX_MAX_0",
        "pad(f32[4], f32[]), padding=0_0_MAX",
        "pad(f32[4], f32[]), padding=-5_0_0",
        "concatenate(f32[MAX], f32[MAX]), dimensions={0}",
        "broadcast(f32[MAX]), dimensions={MAX}",
        "reduce-window(f32[MAX], f32[]), window={size=1 lhs_dilate=MAX}, to_apply=(f32[], f32[])->f32[]",
        "reduce-window(f32[4], f32[]), window={size=MAX rhs_dilate=MAX}, to_apply=(f32[], f32[])->f32[]",
        "reduce-window(f32[4], f32[]), window={size=1 pad=MAX_MAX}, to_apply=(f32[], f32[])->f32[]",
        "reduce-window(f32[4], f32[]), window={size=1 pad=-9_0}, to_apply=(f32[], f32[])->f32[]",
        "topk(f32[4]), k=-9223372036854775808",
        "get-tuple-element((f32[4])), index=-9223372036854775808",
        "transpose(f32[4]{7}), dimensions={0}",
    ] {
        let text = text.replace("MAX", MAX);
        assert!(Request::new(&text).infer().is_err(), "{text}");
    }
}

/// Every opcode with every small number of operands of several kinds, and no attributes: errors, no panics.
#[test]
fn no_request_panics() {
    let mut module = crate::ir::Module::new("m");
    let texts = [
        "f32[]",
        "f32[2,3]",
        "s32[?]",
        "pred[]",
        "token[]",
        "opaque[]",
        "b(f32[2])",
        "(f32[2], s32[])",
        "()",
    ];
    let shapes: Vec<_> = texts.iter().map(|text| super::request::shape(&mut module, text)).collect();
    for &opcode in Opcode::ALL {
        for count in 0..=5 {
            for first in 0..shapes.len() {
                for step in 0..shapes.len() {
                    let operands: Vec<_> =
                        (0..count).map(|index| shapes[(first + index * step) % shapes.len()]).collect();
                    let request = InferRequest { opcode, operands: &operands, attributes: &[] };
                    let _ = infer_shape(&request, &mut module);
                    for stated in [None, Some(shapes[step])] {
                        let _ = super::super::infer_shape_extended(&request, stated, &mut module);
                    }
                }
            }
        }
    }
}
