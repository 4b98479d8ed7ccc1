//! `statistics={visualizing_index=0,a=1}` and `result_accuracy={...}`.

use super::list::at_key;
use super::number::parse_double;
use super::word::parse_word;
use super::{ParseResult, ValueContext};
use crate::diagnostic::{Code, Diagnostic, Span, did_you_mean, shorten};
use crate::ir::words::{AccuracyMode, Vocabulary};
use crate::ir::{Number, ResultAccuracy, Statistics};
use crate::lexer::{Cursor, Token};

/// Takes `{visualizing_index=0,a=1,b=0.5}` of the attribute whose name stands at `key`.
pub(crate) fn parse_statistics(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    key: Span,
) -> ParseResult<Statistics> {
    let mut statistics = Statistics::default();
    cursor.expect(Token::LBrace, "`{` and statistics such as `{visualizing_index=0,name=1}`")?;
    if cursor.token() == Token::RBrace {
        cursor.bump();
        return Ok(statistics);
    }
    // XLA ignores this name.
    take_any_name(cursor, "`visualizing_index=`")?;
    if cursor.token() != Token::Int {
        return Err(at_key(cursor, key, "the index of the statistic to show must be an integer"));
    }
    statistics.visualizing_index = cursor.int()?;
    while cursor.eat(Token::Comma) {
        let name = take_any_name(cursor, "the name of a statistic with its `=`")?;
        let value = match cursor.token() {
            Token::Int => cursor.int_value() as f64,
            Token::Decimal => cursor.decimal_value(),
            _ => return Err(at_key(cursor, key, "a statistic must be an integer or a decimal number")),
        };
        cursor.bump();
        statistics.entries.push((context.module.strings_mut().intern(name.as_bytes()), Number(value)));
    }
    cursor.expect(Token::RBrace, "`,` or `}` in the statistics")?;
    Ok(statistics)
}

fn take_any_name<'s>(cursor: &mut Cursor<'s>, what: &str) -> ParseResult<&'s str> {
    if cursor.token() != Token::AttrName {
        return Err(cursor.unexpected(what));
    }
    let name = cursor.word();
    cursor.bump();
    Ok(name)
}

/// Takes `{mode=highest}` or `{tolerance={atol=0.001,rtol=0,ulps=2}}`.
pub(crate) fn parse_result_accuracy(cursor: &mut Cursor<'_>) -> ParseResult<ResultAccuracy> {
    cursor.expect(Token::LBrace, "`{` and `mode=` or `tolerance=`")?;
    let name_span = cursor.span();
    let accuracy = match take_any_name(cursor, "`mode=` or `tolerance=`")? {
        "mode" => {
            let word = parse_word(cursor, Vocabulary::AccuracyMode, "mode")?;
            ResultAccuracy::Mode(AccuracyMode::from_word(word).unwrap_or(AccuracyMode::Default))
        }
        "tolerance" => parse_tolerance(cursor)?,
        name => return Err(unknown_name_before(cursor, name, name_span, &["mode", "tolerance"])),
    };
    cursor.expect(Token::RBrace, "`}` after the accuracy")?;
    Ok(accuracy)
}

/// XLA notices an unknown name at the token after it.
fn unknown_name_before(cursor: &Cursor<'_>, name: &str, span: Span, names: &[&str]) -> Box<Diagnostic> {
    let message = format!("`{}` is no name of an accuracy", shorten(name));
    let help = match did_you_mean(name, names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the names are {}", names.join(", ")),
    };
    Diagnostic::new(Code::UnknownAttribute, cursor.span(), message).also(span, "this name").help(help).boxed()
}

fn parse_tolerance(cursor: &mut Cursor<'_>) -> ParseResult<ResultAccuracy> {
    let (mut atol, mut rtol, mut ulps) = (0.0, 0.0, 0);
    cursor.expect(Token::LBrace, "`{` and tolerances such as `{atol=0.001,rtol=0,ulps=2}`")?;
    if cursor.token() != Token::RBrace {
        loop {
            let name_span = cursor.span();
            match take_any_name(cursor, "`atol=`, `rtol=` or `ulps=`")? {
                "atol" => atol = parse_nonnegative(cursor)?,
                "rtol" => rtol = parse_nonnegative(cursor)?,
                "ulps" => ulps = parse_ulps(cursor)?,
                name => {
                    return Err(unknown_name_before(cursor, name, name_span, &["atol", "rtol", "ulps"]));
                }
            }
            if !cursor.eat(Token::Comma) {
                break;
            }
        }
    }
    cursor.expect(Token::RBrace, "`,` or `}` in the tolerances")?;
    Ok(ResultAccuracy::Tolerance { atol: Number(atol), rtol: Number(rtol), ulps })
}

/// XLA aborts on negative tolerances and NaN.
fn parse_nonnegative(cursor: &mut Cursor<'_>) -> ParseResult<f64> {
    let span = cursor.span();
    let value = parse_double(cursor)?;
    if value >= 0.0 {
        return Ok(value);
    }
    let message = "a tolerance must not be negative or NaN";
    Err(Diagnostic::new(Code::OutOfRange, span, message).boxed())
}

/// XLA drops what is behind the decimal point.
fn parse_ulps(cursor: &mut Cursor<'_>) -> ParseResult<i64> {
    const LIMIT: f64 = (1u64 << 63) as f64;
    let span = cursor.span();
    let value = parse_double(cursor)?.trunc();
    if (0.0..LIMIT).contains(&value) {
        return Ok(value as i64);
    }
    let message = "the number of ulps must not be negative, and must fit in 64 bits";
    Err(Diagnostic::new(Code::OutOfRange, span, message).boxed())
}
