use std::fmt::Write as _;

use super::{MAX_UNWRITTEN_ELEMENTS, MAX_UNWRITTEN_ROWS, dense, parse_literal, parse_typed_literal};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{ElementType, Literal, LiteralData, Module, Shape};
use crate::lexer::{Cursor, Token};
use crate::parser::shape::parse_shape;
use crate::parser::{Dialect, MAX_NESTING_DEPTH, ParseResult, ValueContext};
use crate::printer::PrintOptions;
use crate::printer::literal::{write_literal, write_typed_literal};

/// Parses `SHAPE BODY)`; the literal, or the code of the error and its distance from the start of the body.
pub(super) fn parse_in(
    module: &mut Module,
    dialect: Dialect,
    shape: &str,
    body: &str,
) -> (Result<Literal, (Code, i64)>, Vec<Diagnostic>) {
    let text = format!("{shape} ({body})");
    let mut warnings = Vec::new();
    let mut context = ValueContext { module, dialect, warnings: &mut warnings };
    let mut cursor = Cursor::new(&text);
    let mut read = || -> ParseResult<Literal> {
        let shape = parse_shape(&mut cursor, &mut context)?;
        cursor.expect(Token::LParen, "`(`")?;
        let literal = parse_literal(&mut cursor, &mut context, shape)?;
        cursor.expect(Token::RParen, "`)`")?;
        Ok(literal)
    };
    let result = read();
    let offset = shape.len() as i64 + 2;
    (result.map_err(|error| (error.code, i64::from(error.primary.span.start) - offset)), warnings)
}

fn full() -> PrintOptions {
    PrintOptions { print_large_constants: true, ..PrintOptions::default() }
}

pub(super) fn print(module: &Module, literal: &Literal, options: &PrintOptions) -> String {
    let mut out = Vec::new();
    write_literal(&mut out, module, literal, options);
    String::from_utf8(out).expect("literals are ASCII")
}

/// What is printed in full, or the code and place of the error.
fn outcome(dialect: Dialect, shape: &str, body: &str) -> Result<String, (Code, i64)> {
    let mut module = Module::default();
    let (result, _) = parse_in(&mut module, dialect, shape, body);
    result.map(|literal| print(&module, &literal, &full()))
}

#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    for (shape, body, expected) in cases {
        assert_eq!(outcome(Dialect::Strict, shape, body).as_deref(), Ok(*expected), "{shape} {body}");
    }
}

#[track_caller]
fn check_errors(cases: &[(&str, &str, Code, i64)]) {
    for &(shape, body, code, column) in cases {
        for dialect in [Dialect::Strict, Dialect::Lenient] {
            assert_eq!(outcome(dialect, shape, body), Err((code, column)), "{shape} {body}");
        }
    }
}

#[test]
fn values_of_every_type() {
    check(&[
        ("pred[]", "true", "true"),
        ("pred[]", "-3", "true"),
        ("pred[4]", "{true, false, 0, 7}", "{1, 0, 0, 1}"),
        ("s1[2]", "{-1,0}", "{-1, 0}"),
        ("s2[2]", "{-2,1}", "{-2, 1}"),
        ("s4[2]", "{-8,7}", "{-8, 7}"),
        ("s8[2]", "{-128,127}", "{-128, 127}"),
        ("s16[2]", "{-32768,32767}", "{-32768, 32767}"),
        ("s32[2]", "{-2147483648,2147483647}", "{-2147483648, 2147483647}"),
        ("s64[2]", "{-9223372036854775808,18446744073709551615}", "{-9223372036854775808, -1}"),
        ("u1[2]", "{0,1}", "{0, 1}"),
        ("u2[2]", "{0,3}", "{0, 3}"),
        ("u4[2]", "{0,15}", "{0, 15}"),
        ("u8[2]", "{0,255}", "{0, 255}"),
        ("u16[2]", "{0,65535}", "{0, 65535}"),
        ("u32[2]", "{0,4294967295}", "{0, 4294967295}"),
        ("u64[2]", "{-1,18446744073709551614}", "{18446744073709551615, 18446744073709551614}"),
        ("f16[5]", "{65519,-0.0,1e-8,nan(0x3ff),0.1}", "{65504, -0, 0, nan(0x3ff), 0.099976}"),
        ("bf16[3]", "{0.1,3.39e38,nan}", "{0.1001, 3.39e+38, nan}"),
        (
            "f32[6]",
            "{0.1,3.402823567e38,-inf,nan(0x1),-nan,1e-50}",
            "{0.1, 3.40282347e+38, -inf, nan(0x1), -nan, 0}",
        ),
        ("f64[4]", "{0.1,1e-400,4.9e-324,18446744073709551615}", "{0.1, 0, 4.94065645841247e-324, -1}"),
        ("f4e2m1fn[6]", "{nan,-nan,inf,-inf,100,0.5}", "{-0, 0, 6, -6, 6, 0.5}"),
        ("f6e2m3fn[4]", "{nan,-inf,7.4,-0.125}", "{-0, -7.5, 7.5, -0.125}"),
        ("f6e3m2fn[3]", "{-nan,inf,27}", "{0, 28, 28}"),
        ("f8e3m4[4]", "{15.7,nan(0xf),inf,-0.0}", "{15.5, nan(0xf), inf, -0}"),
        ("f8e4m3[3]", "{247.9,-inf,nan(0x1)}", "{240, -inf, nan(0x1)}"),
        ("f8e4m3b11fnuz[4]", "{nan,inf,-0.0,30}", "{-nan, -nan, 0, 30}"),
        ("f8e4m3fn[4]", "{nan,-inf,464,0.1}", "{nan, -nan, 448, 0.102}"),
        ("f8e4m3fnuz[3]", "{-nan,-1e-20,240}", "{-nan, 0, 240}"),
        ("f8e5m2[3]", "{61439,nan(0x1),inf}", "{5.7e+04, nan(0x1), inf}"),
        ("f8e5m2fnuz[2]", "{inf,57344}", "{-nan, 5.7e+04}"),
        ("f8e8m0fnu[6]", "{1.4,1.5,3,nan,-inf,1e-320}", "{1, 2, 4, nan, nan, 5.9e-39}"),
        (
            "c64[4]",
            "{(1,2) (nan(0x1),3),(3,nan(0x20000000)),(-0,-0.0)}",
            "{(1, 2), (nan(0x1), nan(0x1)), (3, nan(0x400001)), (0, -0)}",
        ),
        ("c128[2]", "{( inf , /*c*/ -inf ),(0.1,nan(0x1))}", "{(inf, -inf), (0.1, nan(0x1))}"),
    ]);
}

#[test]
fn forms_of_arrays() {
    check(&[
        ("f32[]", "00012.50", "12.5"),
        ("f32[3]", "{ 1 , , -.5 // c\n 3. ,}", "{1, -0.5, 3}"),
        ("f32[3]", "{1-2-inf}", "{1, -2, -inf}"),
        ("f32[3]", "{-nannan,-inf}", "{-nan, nan, -inf}"),
        ("f32[0]", "{}", "{}"),
        ("f32[2,0]", "{{},{}}", "{ {}, {} }"),
        ("f32[0,2]", "{}", "{  }"),
        ("s32[2,1]", "{{1}{2}}", "{ {1}, {2} }"),
        ("s32[2,2]{0,1}", "{{1,2},{3,4}}", "{ { 1, 2 }, { 3, 4 } }"),
        (
            "s32[1,2,1,2]",
            "{{{{1,2}},{{3,4}}}}",
            "{ { /*i0=0*/ { /*i1=0*/ { 1, 2 } }, { /*i1=1*/ { 3, 4 } } } }",
        ),
        ("s32[1,1,1,1,1]", "{{{{{1}}}}}", "{ { /*i0=0*/ { /*i1=0*/ { /*i2=0*/ {1} } } } }"),
        (
            "s32[2,2,0,2]",
            "{{{}{}}{{}{}}}",
            "{ { /*i0=0*/ { /*i1=0*/ }, { /*i1=1*/ } }, { /*i0=1*/ { /*i1=0*/ }, { /*i1=1*/ } } }",
        ),
        ("s32[1,2,1,0]", "{{{{}},{{}}}}", "{ { /*i0=0*/ { /*i1=0*/ {} }, { /*i1=1*/ {} } } }"),
        ("s32[0,2,2,2]", "{}", "{  }"),
        // Elements that are missing altogether are 0.
        ("f32[3]", "1", "{1, 0, 0}"),
        ("s32[2,2]", "7", "{ { 7, 0 }, { 0, 0 } }"),
        ("f32[2]", ",", "{0, 0}"),
        ("f32[]", ",", "0"),
        ("f8e8m0fnu[]", ",", "5.9e-39"),
        ("c64[2]", ",", "{(0, 0), (0, 0)}"),
        ("f32[?]", ",", "{}"),
        ("f32[?,2]", ",", "{  }"),
    ]);
}

#[test]
fn tuples() {
    check(&[
        ("()", "()", "(  )"),
        ("(f32[],s32[2])", "(1, {1,2})", "( 1, {1, 2} )"),
        ("(f32[],(s32[2],pred[]),())", "(1,({1,2},true),())", "( 1, ( {1, 2}, true ), (  ) )"),
        ("(f32[],s32[2])", "()", "( (  ), (  ) )"),
        ("(token[],s32[])", "()", "( (  ), (  ) )"),
        ("(s32[],s32[])", "(1 2)", "( 1, 2 )"),
        ("(s32[],s32[])", "(1,,)", "( 1, 0 )"),
        ("(s32[],s32[],s32[])", "(,1,2)", "( 0, 1, 2 )"),
        ("(f32[<=2],b(s32[2]))", "({1,2},{3,4})", "( {1, 2}, {3, 4} )"),
    ]);
}

#[test]
fn elided_values_stay_unknown() {
    for (shape, body) in [
        ("s32[12]", "{...}"),
        ("s32[2]", "{1,...}"),
        ("s32[2]", "{..., ...}"),
        ("s32[2,2]", "{{1,2}, ...}"),
        ("s32[2,2]", "{1, ...}"),
        ("pred[3]", "{... ,}"),
    ] {
        let mut module = Module::default();
        let (result, _) = parse_in(&mut module, Dialect::Strict, shape, body);
        let literal = result.unwrap_or_else(|error| panic!("{shape} {body}: {error:?}"));
        assert_eq!(literal.data, LiteralData::Elided, "{shape} {body}");
        assert!(literal.has_elided());
        for options in [full(), PrintOptions::default(), PrintOptions::fingerprint()] {
            assert_eq!(print(&module, &literal, &options), "{...}", "{shape} {body}");
        }
    }
    check(&[("f32[0]", "{...}", "{}"), ("f32[3,0]", "{...}", "{ {}, {}, {} }"), ("f32[?]", "{...}", "{}")]);
}

#[test]
fn faults_of_structure() {
    use Code::{BadLiteral as Bad, UnexpectedToken as Token};
    check_errors(&[
        ("f32[2,2]", "{1,2}", Bad, 1),
        ("f32[2]", "{1,2,3}", Bad, 5),
        ("f32[2,2]", "{{1,2,3},{4}}", Bad, 6),
        ("f32[2,2]", "{{1,2},{3}}", Bad, 9),
        ("f32[2,2]", "{{1,2},{3,4},{5,6}}", Bad, 13),
        ("f32[2]", "{{1,2}}", Bad, 1),
        ("f32[]", "{1}", Bad, 0),
        ("f32[0]", "1", Bad, 0),
        ("f32[3]", ",1", Token, 1),
        ("f32[3]", "{1,2,}", Bad, 5),
        ("f32[2,2]", "{{1,2},{3,4}", Token, 12),
        ("f32[2,2]", "{{1,2},{3,4}}}", Token, 13),
        ("f32[]", "", Token, 0),
        ("f32[]", "}", Bad, 0),
        ("f32[]", "...", Bad, 0),
        ("f32[2,2]", "{{...},{...}}", Bad, 2),
        ("s32[2]", "{1,...,2}", Bad, 7),
        ("f32[]", "x", Token, 0),
        ("f32[2]", "{1_2, 3}", Token, 1),
        ("f32[2]", "{1x2, 3}", Token, 1),
        ("f32[2]", "{1, .5}", Token, 4),
        ("f32[2]", "{1, inf-inf}", Token, 4),
        ("f32[2]", "{1 +3}", Token, 3),
        ("f32[2]", "{1e,2}", Token, 2),
        ("f32[2]", "{nan:,1}", Token, 1),
        ("s32[2]", "{1, /*", Token, 4),
        ("f32[]", "(1,2)", Bad, 0),
        ("c64[]", "1", Bad, 0),
        ("c64[2]", "(1,2)", Bad, 0),
        ("c64[2]", "{(1,2),(3,4),(5,6)}", Bad, 13),
        ("c64[]", "(1 2)", Token, 3),
        ("c64[]", "(x,2)", Token, 1),
        ("c64[]", "(1,x)", Token, 3),
        ("c64[]", "(1,2]", Token, 4),
        ("f32[?]", "{}", Bad, 1),
        ("f32[?]", "{1}", Bad, 1),
        ("(f32[],s32[2])", "1", Token, 0),
        ("(f32[],s32[2])", "(1)", Token, 2),
        ("(f32[],s32[2])", "(1,{1,2},3)", Token, 8),
        ("(s32[])", "(1,)", Token, 2),
        ("(s32[],s32[])", "(1 2 3)", Token, 3),
        ("token[]", "1", Bad, 0),
        ("(s32[],opaque[])", "(1,1)", Bad, 3),
        ("f32[]", "true", Bad, 0),
        ("c64[]", "false", Bad, 0),
        ("s32[2]", "{1, true}", Bad, 4),
    ]);
}

#[test]
fn numbers_out_of_range() {
    use Code::{OutOfRange as Range, UnexpectedToken as Token};
    check_errors(&[
        ("s1[]", "1", Range, 0),
        ("s4[2]", "{7,8}", Range, 3),
        ("u4[]", "16", Range, 0),
        ("u8[2]", "{1, -1}", Range, 4),
        ("s32[]", "2147483648", Range, 0),
        ("s64[]", "18446744073709551616", Token, 0),
        ("s32[2]", "{1, 1.0}", Token, 4),
        ("s32[]", "inf", Token, 0),
        ("pred[]", "1.0", Token, 0),
        ("f16[]", "65519.999", Range, 0),
        ("bf16[]", "3.3962e38", Range, 0),
        ("f32[]", "3.40282357e38", Range, 0),
        ("f32[2]", "{1, 1e39}", Range, 4),
        ("f64[2]", "{1, -1e400}", Range, 4),
        ("f8e4m3fn[]", "465", Range, 0),
        ("f8e4m3[]", "248", Range, 0),
        ("f8e3m4[]", "15.75", Range, 0),
        ("f8e5m2[]", "61440", Range, 0),
        ("f8e8m0fnu[]", "0", Range, 0),
        ("f8e8m0fnu[2]", "{1, -1}", Range, 4),
        ("f8e8m0fnu[]", "2.6e38", Range, 0),
        ("f16[]", "nan(0x400)", Range, 0),
        ("f8e4m3fn[]", "nan(0x1)", Range, 0),
        ("c64[]", "(3.4028235e38,0)", Range, 0),
        ("c64[2]", "{(0,1) (0,1e39)}", Range, 7),
        ("c64[]", "(1e400,0)", Range, 1),
        ("c64[]", "(nan(0xffffffffffff),0)", Range, 0),
    ]);
}

#[test]
fn layouts_that_make_no_sense() {
    use Code::BadLayout as Bad;
    check_errors(&[
        ("f32[2,2]{0,0}", "{{1,2},{3,4}}", Bad, 0),
        ("f32[2]{1}", ",", Bad, 0),
        ("f32[2]{0:#(u8)}", "{1,2}", Bad, 0),
        ("f32[2]{0:T(0)}", "{1,2}", Bad, 0),
        ("f32[2]{0:T()}", "{1,2}", Bad, 0),
        ("f32[2]{0:E(-3)}", "{1,2}", Bad, 0),
        ("f32[2]{0:SC(1:1)}", "{1,2}", Bad, 0),
        ("f32[2]{0:SC(0:2)}", "{1,2}", Bad, 0),
        ("f32[2]{0:SC(0:0)}", "{1,2}", Bad, 0),
        ("f32[2]{0:SC(0:1)(0:1)}", "{1,2}", Bad, 0),
        ("f32[2,8]{0,1:SC(1:5)}", ",", Bad, 0),
    ]);
    check(&[
        ("f32[2]{0:T(*)S(-1)SC(0:1)M(5)}", "{1,2}", "{1, 2}"),
        ("f32[1,3]{0,1:SC(0:2)}", "{{1,2,3}}", "{ { 1, 2, 3 } }"),
    ]);
}

#[test]
fn the_shape_becomes_static_and_loses_its_element_size() {
    let cases = [
        ("f32[<=3]", "{1,2,3}", "f32[3]"),
        ("b(f32[2])", "{1,2}", "f32[2]"),
        ("s4[2]{0:E(4)S(1)}", "{1,2}", "s4[2]{0:S(1)}"),
        ("(b(s4[1]{0:E(4)}),f32[<=1])", "({1},{2})", "(s4[1],f32[1])"),
        ("f32[?]", ",", "f32[?]"),
        ("(f32[],f32[])", "()", "((),())"),
    ];
    for (shape, body, expected) in cases {
        let mut module = Module::default();
        let (result, _) = parse_in(&mut module, Dialect::Strict, shape, body);
        let literal = result.unwrap_or_else(|error| panic!("{shape} {body}: {error:?}"));
        let mut warnings = Vec::new();
        let mut context =
            ValueContext { module: &mut module, dialect: Dialect::Strict, warnings: &mut warnings };
        let expected = parse_shape(&mut Cursor::new(expected), &mut context).expect("a shape");
        assert_eq!(literal.shape, expected, "{shape} {body}");
    }
}

#[test]
fn minus_zero_depends_on_the_dialect() {
    for (shape, body, strict, lenient) in [
        ("f32[]", "-0", "0", "-0"),
        ("f64[3]", "{-0,0,-00}", "{0, 0, 0}", "{-0, 0, -0}"),
        ("c64[1]", "{(-0,-0)}", "{(0, 0)}", "{(-0, -0)}"),
        ("c64[]", "(-0,-0)", "(0, 0)", "(-0, -0)"),
        ("bf16[2]", "{-0,-0.0}", "{0, -0}", "{-0, -0}"),
        ("s32[]", "-0", "0", "0"),
    ] {
        assert_eq!(outcome(Dialect::Strict, shape, body).as_deref(), Ok(strict), "{shape} {body}");
        assert_eq!(outcome(Dialect::Lenient, shape, body).as_deref(), Ok(lenient), "{shape} {body}");
    }
}

#[test]
fn what_is_odd_but_accepted_is_a_warning() {
    for (shape, body, warnings) in [
        ("f32[3]", "1", 1),
        ("(s32[],s32[])", "(1 2)", 1),
        ("s32[2,2]", "{1,...}", 1),
        ("f32[3]", "{1,2,3}", 0),
    ] {
        let mut module = Module::default();
        let (result, found) = parse_in(&mut module, Dialect::Strict, shape, body);
        assert!(result.is_ok(), "{shape} {body}");
        assert_eq!(found.len(), warnings, "{shape} {body}");
    }
}

#[test]
fn declared_sizes_allocate_nothing() {
    use Code::{BadLiteral, TooLarge};
    check_errors(&[
        ("f32[1000000000000]", "{1,2,3}", BadLiteral, 6),
        ("f32[1000000000000]", "1", TooLarge, 0),
        ("f32[1000000000000]", ",", TooLarge, 0),
        ("f32[4294967296,4294967296]", "{...}", TooLarge, 0),
    ]);
    let mut module = Module::default();
    let count = MAX_UNWRITTEN_ELEMENTS;
    let (result, _) = parse_in(&mut module, Dialect::Strict, &format!("f32[{count}]"), "1");
    let literal = result.expect("is accepted");
    assert_eq!(print(&module, &literal, &PrintOptions::default()), "{...}");
    let elements = literal.elements().expect("values are known");
    assert_eq!((elements.len(), elements.f64(0), elements.f64(count - 1)), (count, Some(1.0), Some(0.0)));
    assert_eq!(outcome(Dialect::Strict, &format!("f32[{}]", count + 1), "1"), Err((TooLarge, 0)));
    // Arrays without elements, but with rows.
    let rows = MAX_UNWRITTEN_ROWS;
    let printed = outcome(Dialect::Strict, &format!("f32[{rows},0]"), "{...}").expect("is accepted");
    assert!(printed.starts_with("{ {}, {}"));
    let shape = format!("f32[{},0]", rows + 1);
    assert_eq!(outcome(Dialect::Strict, &shape, "{...}").as_deref(), Ok("{...}"));
    assert_eq!(outcome(Dialect::Strict, &shape, ","), Err((TooLarge, 0)));
    assert_eq!(outcome(Dialect::Strict, "f32[1000000000000]", "{...}").as_deref(), Ok("{...}"));
}

#[test]
fn both_paths_agree() {
    let shapes = [
        "f32[3]",
        "f32[2,2]",
        "s32[2,2]",
        "pred[3]",
        "c64[2]",
        "u8[3]",
        "bf16[2]",
        "f8e8m0fnu[2]",
        "f64[1,1,2]",
        "f32[0]",
        "f32[2,0]",
        "c128[1]",
        "s64[2]",
    ];
    let pieces = [
        "{",
        "}",
        ",",
        " ",
        "1",
        "-0",
        "2.5",
        "-1e3",
        "1e39",
        "300",
        "inf",
        "-inf",
        "nan",
        "-nan(0x1)",
        "true",
        "false",
        "(1,2)",
        "(-0, 1e39)",
        "...",
        "/*c*/",
        "//c\n",
        "\u{0}",
        "x",
        "{1,2}",
        "{1,2},{3,4}",
        "1e400",
        "18446744073709551615",
        "0.0000000000000000000000000000001",
        "{1,2,3}",
        "{1, 2}",
        "{(1,2),(3,4)}",
        "nan:",
        "1_2",
        ")",
        "(1,2",
        "1.",
        "-.5",
        "\n",
        "\t",
    ];
    let mut state = 1u64;
    let mut next = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % limit as u64) as usize
    };
    let mut accepted = 0;
    for round in 0..60_000 {
        let shape = shapes[next(shapes.len())];
        let mut body = String::new();
        if round % 2 == 0 {
            body.push('{');
        }
        for _ in 0..1 + next(7) {
            body.push_str(pieces[next(pieces.len())]);
        }
        if round % 3 != 0 {
            body.push('}');
        }
        body.push(')');
        for dialect in [Dialect::Strict, Dialect::Lenient] {
            let mut outcomes = Vec::new();
            for use_fast_path in [false, true] {
                let mut module = Module::default();
                let mut warnings = Vec::new();
                let mut context = ValueContext { module: &mut module, dialect, warnings: &mut warnings };
                let id = parse_shape(&mut Cursor::new(shape), &mut context).expect("a shape");
                let Shape::Array(array) = module.shape(id) else { panic!("an array") };
                let mut cursor = Cursor::new(&body);
                let mut complaint = None;
                let result = dense::parse_with(&mut cursor, array, dialect, &mut complaint, use_fast_path);
                accepted += usize::from(result.is_ok());
                outcomes.push((result, complaint, cursor.start(), cursor.token()));
            }
            assert_eq!(outcomes[0], outcomes[1], "{shape} {body}");
        }
    }
    assert!(accepted > 1000, "{accepted}");
}

#[test]
fn deep_tuples_are_refused() {
    let nest = |depth: usize, inner: &str| format!("{}{inner}{}", "(".repeat(depth), ")".repeat(depth));
    let mut module = Module::default();
    let typed = |module: &mut Module, text: &str| {
        let mut warnings = Vec::new();
        let mut context = ValueContext { module, dialect: Dialect::Strict, warnings: &mut warnings };
        parse_typed_literal(&mut Cursor::new(text), &mut context)
    };
    assert!(typed(&mut module, &nest(MAX_NESTING_DEPTH, "s32[] 1")).is_ok());
    let error = typed(&mut module, &nest(MAX_NESTING_DEPTH * 100, "s32[] 1")).expect_err("too deep");
    assert_eq!(error.code, Code::TooDeep);
    // A shape may be deeper than text could make it.
    let mut shape = module.shapes_mut().array(ElementType::S32, &[]);
    for _ in 0..MAX_NESTING_DEPTH * 100 {
        shape = module.shapes_mut().intern(Shape::Tuple(vec![shape]));
    }
    let text = nest(MAX_NESTING_DEPTH * 100, "1");
    let mut warnings = Vec::new();
    let mut context = ValueContext { module: &mut module, dialect: Dialect::Strict, warnings: &mut warnings };
    let error = parse_literal(&mut Cursor::new(&text), &mut context, shape).expect_err("too deep");
    assert_eq!(error.code, Code::TooDeep);
}

#[test]
fn arrays_of_very_many_dimensions() {
    let rank = 20_000;
    let shape = format!("s32[{}]", vec!["1"; rank].join(","));
    let body = format!("{}5{}", "{".repeat(rank), "}".repeat(rank));
    let printed = outcome(Dialect::Strict, &shape, &body).expect("is accepted");
    assert!(printed.contains("/*i19997=0*/ {5} }"));
    assert_eq!(outcome(Dialect::Strict, &shape, &printed).as_deref(), Ok(printed.as_str()));
}

#[test]
fn typed_literals() {
    let cases: &[(&str, Result<&str, i64>)] = &[
        ("s32[2]{0} {1,2}", Ok("s32[2] {1, 2}")),
        ("f32[2] {1.5,2}", Ok("f32[2] {1.5, 2}")),
        ("(s32[] 1, (pred[2] {true,false}, f32[] 2))", Ok("( s32[] 1, ( pred[2] {1, 0}, f32[] 2 ) )")),
        ("()", Ok("(  )")),
        ("(s32[] 1,)", Ok("( s32[] 1 )")),
        ("(s32[],)", Ok("( s32[] 0 )")),
        ("(s32[] 1 s32[] 2)", Ok("( s32[] 1, s32[] 2 )")),
        ("f32[20]{0} {...}", Ok("f32[20] {...}")),
        ("f32[2]{0} 1", Ok("f32[2] {1, 0}")),
        ("b(f32[2]) {1.5,2}", Ok("f32[2] {1.5, 2}")),
        ("s32[2] {1,2}", Err(13)),
        ("(s32[] 1,,)", Err(9)),
        ("(,s32[] 1)", Err(1)),
        ("((s32[], s32[]) (1,2))", Err(9)),
        ("(s32[] 1", Err(9)),
        ("s32[2]{0} {1,2,3}", Err(15)),
        ("(f32[] x)", Err(7)),
        ("(f32[] 1 x)", Err(9)),
        ("1", Err(0)),
    ];
    for (text, expected) in cases {
        let mut module = Module::default();
        let mut warnings = Vec::new();
        let mut context =
            ValueContext { module: &mut module, dialect: Dialect::Strict, warnings: &mut warnings };
        // Something follows, as an attribute value is followed.
        let source = format!("{text} }}");
        let mut cursor = Cursor::new(&source);
        let result = parse_typed_literal(&mut cursor, &mut context);
        let outcome = match result {
            Ok(literal) => {
                assert_eq!(cursor.token(), Token::RBrace, "{text}");
                let mut out = Vec::new();
                write_typed_literal(&mut out, &module, &literal, |out, shape| {
                    write_plain_shape(out, &module, shape)
                });
                Ok(String::from_utf8(out).expect("literals are ASCII"))
            }
            Err(error) => Err(i64::from(error.primary.span.start)),
        };
        assert_eq!(outcome.as_deref().map_err(|&column| column), *expected, "{text}");
    }
}

/// A shape without its layout.
fn write_plain_shape(out: &mut Vec<u8>, module: &Module, shape: crate::ir::ShapeId) {
    let Shape::Array(array) = module.shape(shape) else { panic!("only arrays are printed with shapes") };
    let mut text = format!("{}[", array.element_type.name());
    for (index, size) in array.dimensions.iter().enumerate() {
        let _ = write!(text, "{}{size}", if index > 0 { "," } else { "" });
    }
    out.extend_from_slice(text.as_bytes());
    out.push(b']');
}

#[test]
fn elision() {
    let printed = |shape: &str, body: &str, options: &PrintOptions| {
        let mut module = Module::default();
        let (result, _) = parse_in(&mut module, Dialect::Strict, shape, body);
        let literal = result.unwrap_or_else(|error| panic!("{shape} {body}: {error:?}"));
        print(&module, &literal, options)
    };
    let default = PrintOptions::default();
    let eleven = "{1,2,3,4,5,6,7,8,9,10,11}";
    assert_eq!(printed("s32[10]", "{1,2,3,4,5,6,7,8,9,10}", &default), "{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}");
    assert_eq!(printed("s32[11]", eleven, &default), "{...}");
    assert_eq!(printed("s32[11]", eleven, &full()), "{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}");
    assert_eq!(printed("(s32[])", "(1)", &default), "{...}");
    assert_eq!(printed("()", "()", &default), "{...}");
    let cases = [
        ("s1[]", "-1", "-1"),
        ("pred[]", "true", "1"),
        ("pred[2]", "{0,0}", "0"),
        ("pred[2]", "{1,0}", "{...}"),
        ("f32[2]", "{1,1}", "1"),
        ("f32[2]", "{1,2}", "{...}"),
        ("f32[2]", "{-0.0,0}", "{...}"),
        ("f32[0]", "{}", "0"),
        ("c64[]", "(1,0)", "1"),
        ("c64[]", "(1,-0.0)", "{...}"),
        ("f8e8m0fnu[]", "5.9e-39", "{...}"),
        ("s32[11]", eleven, "{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}"),
        ("(s32[],u8[])", "(0,0)", "( 0, 0 )"),
        ("(s32[],pred[])", "(1,0)", "{...}"),
        ("(f32[0])", "({})", "{...}"),
        ("()", "()", "(  )"),
        ("(s32[])", "()", "( (  ) )"),
    ];
    for (shape, body, expected) in cases {
        assert_eq!(printed(shape, body, &PrintOptions::fingerprint()), expected, "{shape} {body}");
    }
    let ones = |count: usize| (format!("s32[{count}]"), format!("{{2{}}}", ",1".repeat(count - 1)));
    let (shape, body) = ones(500_000);
    assert!(printed(&shape, &body, &PrintOptions::fingerprint()).len() > 500_000);
    let (shape, body) = ones(500_001);
    assert_eq!(printed(&shape, &body, &PrintOptions::fingerprint()), "{...}");
}
