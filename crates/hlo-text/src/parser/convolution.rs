//! What convolutions and windowed operations have: `window`, `padding`, `dim_labels`, `sparsity_config`.

use smallvec::SmallVec;

use super::number::{Sizes, parse_sizes};
use super::sub_attribute::take_name;
use super::{Dialect, ParseResult};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{
    ConvolutionDimensionNumbers, PaddingDimension, SparsityConfig, TensorSparsity, Window, WindowDimension,
};
use crate::lexer::{Cursor, Token};

/// A field of a window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Size,
    Stride,
    Pad,
    BaseDilation,
    WindowDilation,
    Reversal,
}

/// The fields of a window and how they are spelt.
const WINDOW_FIELDS: [(&str, Field); 6] = [
    ("size", Field::Size),
    ("stride", Field::Stride),
    ("pad", Field::Pad),
    ("lhs_dilate", Field::BaseDilation),
    ("rhs_dilate", Field::WindowDilation),
    ("rhs_reversal", Field::Reversal),
];

/// Takes `{size=2x2 stride=1x2 pad=0_1x0_0}`.
pub(crate) fn parse_window(cursor: &mut Cursor<'_>) -> ParseResult<Window> {
    let open = cursor.span();
    cursor.expect(Token::LBrace, "`{` and a window such as `{size=2x2 stride=2x2}`")?;
    let mut sizes: [Option<Sizes>; WINDOW_FIELDS.len()] = Default::default();
    let mut pads: Option<SmallVec<[(i64, i64); 6]>> = None;
    while cursor.token() != Token::RBrace {
        let field = take_name(cursor, "a field of the window", &WINDOW_FIELDS.map(|field| field.0))?;
        let (name, field) = WINDOW_FIELDS[field];
        let is_given = if field == Field::Pad { pads.is_some() } else { sizes[field as usize].is_some() };
        if is_given {
            let message = format!("the window has two fields `{name}`");
            return Err(Diagnostic::new(Code::DuplicateAttribute, cursor.span(), message).boxed());
        }
        if field == Field::Pad {
            pads = Some(parse_window_pads(cursor)?);
        } else {
            sizes[field as usize] = Some(parse_sizes(cursor, name)?);
        }
    }
    cursor.bump();

    let size = sizes[Field::Size as usize].take().unwrap_or_default();
    let check = |name: &str, length: Option<usize>| match length {
        Some(length) if length != size.len() => {
            let rank = size.len();
            let message = format!("the window's `{name}` has {length} dimensions, its `size` {rank}");
            Err(Diagnostic::new(Code::BadAttributeValue, open, message).boxed())
        }
        _ => Ok(()),
    };
    for (name, field) in WINDOW_FIELDS {
        match field {
            Field::Pad => check(name, pads.as_ref().map(SmallVec::len))?,
            // XLA does not look at its length.
            Field::Reversal => {}
            _ => check(name, sizes[field as usize].as_ref().map(SmallVec::len))?,
        }
    }
    let number =
        |field: Field, index: usize| sizes[field as usize].as_ref().and_then(|s| s.get(index)).copied();
    let dimensions = size.iter().enumerate().map(|(index, &size)| {
        let (padding_low, padding_high) = pads.as_ref().map_or((0, 0), |pads| pads[index]);
        WindowDimension {
            size,
            stride: number(Field::Stride, index).unwrap_or(1),
            padding_low,
            padding_high,
            window_dilation: number(Field::WindowDilation, index).unwrap_or(1),
            base_dilation: number(Field::BaseDilation, index).unwrap_or(1),
            window_reversal: number(Field::Reversal, index) == Some(1),
        }
    });
    Ok(Window { dimensions: dimensions.collect() })
}

fn parse_window_pads(cursor: &mut Cursor<'_>) -> ParseResult<SmallVec<[(i64, i64); 6]>> {
    if cursor.token() != Token::Pad {
        return Err(cursor.unexpected("the window's `pad` such as `0_0x3_3`"));
    }
    let pads: Option<SmallVec<_>> = cursor
        .text()
        .split('x')
        .map(|part| {
            let (low, high) = part.split_once('_')?;
            Some((low.parse().ok()?, high.parse().ok()?))
        })
        .collect();
    let Some(pads) = pads else {
        let message = "each dimension of a window's `pad` has two 64-bit numbers, as in `0_0x3_3`";
        return Err(Diagnostic::new(Code::BadAttributeValue, cursor.span(), message).boxed());
    };
    cursor.bump();
    Ok(pads)
}

/// Takes `0_0x1_2_3`.
pub(crate) fn parse_padding(cursor: &mut Cursor<'_>) -> ParseResult<Vec<PaddingDimension>> {
    if cursor.token() != Token::Pad {
        return Err(cursor.unexpected("a padding such as `0_0_0x3_3_1`"));
    }
    let padding: Option<Vec<_>> = cursor
        .text()
        .split('x')
        .map(|part| {
            let mut numbers = part.split('_').map(|number| number.parse::<i64>().ok());
            let (low, high) = (numbers.next()??, numbers.next()??);
            let interior = numbers.next().unwrap_or(Some(0))?;
            Some(PaddingDimension { low, high, interior })
        })
        .collect();
    let Some(padding) = padding else {
        let message = "a number of the padding does not fit in 64 bits";
        return Err(Diagnostic::new(Code::OutOfRange, cursor.span(), message).boxed());
    };
    cursor.bump();
    Ok(padding)
}

/// One part of `dim_labels`, such as `b01f`.
struct Labels {
    /// Position of the first letter (`b`, `i`), 0 if it is not there.
    first: i64,
    /// Position of the second letter (`f`, `o`), 0 if it is not there.
    second: i64,
    /// Positions of the digits.
    spatial: Vec<i64>,
}

/// The most spatial dimensions there are digits for.
const MAX_LABELLED_DIMENSIONS: usize = 10;

/// Reads a part of `dim_labels`; the error is a sentence without its subject.
fn read_labels(text: &str, letters: [u8; 2]) -> Result<Labels, String> {
    let mut labels = Labels { first: 0, second: 0, spatial: Vec::new() };
    let mut digits = [None; MAX_LABELLED_DIMENSIONS];
    let mut seen = [false; 128];
    for (position, byte) in text.bytes().enumerate() {
        if byte == b'?' {
            continue;
        }
        if std::mem::replace(&mut seen[usize::from(byte & 0x7f)], true) {
            return Err(format!("has `{}` twice", byte as char));
        }
        if byte == letters[0] {
            labels.first = position as i64;
        } else if byte == letters[1] {
            labels.second = position as i64;
        } else {
            let digit = usize::from(byte.wrapping_sub(b'0'));
            if digit >= text.len() {
                return Err(format!("has {} characters, so there is no dimension {digit}", text.len()));
            }
            if let Some(place) = digits.get_mut(digit) {
                *place = Some(position as i64);
            }
        }
    }
    labels.spatial.extend(digits.iter().map_while(|position| *position));
    if labels.spatial.len() != digits.iter().flatten().count() {
        // XLA crashes on these.
        return Err(format!("has no `{}` but larger digits", labels.spatial.len()));
    }
    Ok(labels)
}

/// Takes `b01f_01io->b01f`.
pub(crate) fn parse_dim_labels(
    cursor: &mut Cursor<'_>,
    dialect: Dialect,
) -> ParseResult<ConvolutionDimensionNumbers> {
    let short = match dialect {
        Dialect::Lenient => short_labels(cursor),
        Dialect::Strict => None,
    };
    let parts = match cursor.token() {
        Token::DimLabels => cursor.text().split_once('_'),
        _ => short.and_then(|labels| labels.split_once('_')),
    };
    let parts = parts.and_then(|(input, rest)| Some((input, rest.split_once("->")?)));
    let Some((input, (kernel, output))) = parts else {
        return Err(cursor.unexpected("dimension labels such as `b01f_01io->b01f`"));
    };
    let read = |text: &str, letters: &[u8; 2], name: &str| {
        read_labels(text, *letters).map_err(|fault| {
            let message = format!("the {name} part `{text}` of the dimension labels {fault}");
            Diagnostic::new(Code::BadAttributeValue, cursor.span(), message).boxed()
        })
    };
    let input = read(input, b"bf", "input")?;
    let kernel = read(kernel, b"io", "kernel")?;
    let output = read(output, b"bf", "output")?;
    let counts = [input.spatial.len(), kernel.spatial.len(), output.spatial.len()];
    if counts[0] != counts[1] || counts[0] != counts[2] {
        let [input, kernel, output] = counts;
        let message = format!(
            "input, kernel and output must have the same number of spatial dimensions, not {input}, {kernel} \
             and {output}"
        );
        return Err(Diagnostic::new(Code::BadAttributeValue, cursor.span(), message).boxed());
    }
    match short {
        Some(labels) => cursor.seek(cursor.start() + labels.len()),
        None => cursor.bump(),
    }
    Ok(ConvolutionDimensionNumbers {
        input_batch: input.first,
        input_feature: input.second,
        input_spatial: input.spatial,
        kernel_input_feature: kernel.first,
        kernel_output_feature: kernel.second,
        kernel_spatial: kernel.spatial,
        output_batch: output.first,
        output_feature: output.second,
        output_spatial: output.spatial,
    })
}

/// Labels that are no token because a part has less than two: XLA reads `b?_io->bf`, and prints it so.
fn short_labels<'s>(cursor: &Cursor<'s>) -> Option<&'s str> {
    if !matches!(cursor.token(), Token::Ident | Token::Pad | Token::Int) {
        return None;
    }
    let text = &cursor.source()[cursor.start()..];
    let is_label = |c: char| c.is_ascii_digit() || "bfio?_->".contains(c);
    let labels = &text[..text.find(|c| !is_label(c)).unwrap_or(text.len())];
    labels.contains("->").then_some(labels)
}

/// Takes `{lhs={sparsity=2x4 dimension=1 stride=1} rhs={...}}`. What is repeated is overwritten.
pub(crate) fn parse_sparsity_config(cursor: &mut Cursor<'_>) -> ParseResult<SparsityConfig> {
    let mut config = SparsityConfig::default();
    cursor.expect(Token::LBrace, "`{` and a sparsity of `lhs=` or `rhs=`")?;
    while cursor.token() != Token::RBrace {
        let operand = match take_name_then(cursor, "a sparse operand", &["lhs", "rhs"])? {
            0 => &mut config.lhs,
            _ => &mut config.rhs,
        };
        parse_tensor_sparsity(cursor, operand.get_or_insert_default())?;
    }
    cursor.bump();
    Ok(config)
}

/// The same as [`take_name`], but an unknown name is an error at the token after it, where XLA sees it.
fn take_name_then(cursor: &mut Cursor<'_>, what: &str, names: &[&str]) -> ParseResult<usize> {
    let mut ahead = cursor.clone();
    take_name(cursor, what, names).map_err(|mut error| {
        if error.code == Code::UnknownAttribute {
            ahead.bump();
            let name = std::mem::replace(&mut error.primary.span, ahead.span());
            *error = error.focus(name, "");
        }
        error
    })
}

fn parse_tensor_sparsity(cursor: &mut Cursor<'_>, sparsity: &mut TensorSparsity) -> ParseResult<()> {
    cursor.expect(Token::LBrace, "`{` and a sparsity such as `{sparsity=2x4 dimension=1 stride=1}`")?;
    while cursor.token() != Token::RBrace {
        match take_name_then(cursor, "a field of the sparsity", &["sparsity", "dimension", "stride"])? {
            0 => match *parse_sizes(cursor, "sparsity")? {
                [nonzero, block] => sparsity.sparsity = (nonzero, block),
                _ => return Err(cursor.unexpected("before this two numbers, `NON_ZEROxBLOCK_SIZE`")),
            },
            1 => sparsity.dimension = cursor.int()?,
            _ => sparsity.stride = cursor.int()?,
        }
    }
    cursor.bump();
    Ok(())
}
