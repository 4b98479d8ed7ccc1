//! Parsing of what stands between `[[#` and `]]`, and of variable names.

use num_bigint::BigInt;

use super::expression::{Expression, FUNCTIONS, Operation, Step};
use super::format::{Format, FormatKind, MAX_PRECISION};
use crate::filecheck::diagnostic::{Code, Diagnostic, join};
use crate::filecheck::text::Piece;
use crate::filecheck::variables::{LINE, NumericId, Variables};

/// Deepest nesting of parentheses and calls in an expression.
const MAX_NESTING: u32 = 200;

/// Errors of one block; LLVM can report several at once.
pub(in crate::filecheck) type ParseErrors = Vec<Diagnostic>;

fn fault(at: Piece<'_>, message: impl Into<Vec<u8>>) -> ParseErrors {
    vec![Diagnostic::error(Code::Malformed, at.loc(), message)]
}

/// A variable name read from text.
#[derive(Clone, Copy)]
pub(in crate::filecheck) struct VariableName<'a> {
    pub(in crate::filecheck) name: Piece<'a>,
    /// It starts with `@`.
    pub(in crate::filecheck) is_pseudo: bool,
}

/// Reads a name (`VAR`, `$VAR`, `@VAR`) from the start of `text`, leaving `text` unchanged on errors.
pub(in crate::filecheck) fn parse_variable<'a>(
    text: &mut Piece<'a>,
) -> Result<VariableName<'a>, ParseErrors> {
    let Some(first) = text.first() else { return Err(fault(*text, "empty variable name")) };
    let is_pseudo = first == b'@';
    let skip = usize::from(is_pseudo || first == b'$');
    let Some(&start) = text.bytes().get(skip) else {
        let kind = if is_pseudo { "pseudo" } else { "global" };
        return Err(fault(text.drop_front(skip), format!("empty {kind} variable name")));
    };
    if start != b'_' && !start.is_ascii_alphabetic() {
        return Err(fault(*text, "invalid variable name"));
    }
    let rest = &text.bytes()[skip + 1..];
    let length = rest.iter().position(|byte| *byte != b'_' && !byte.is_ascii_alphanumeric());
    let length = skip + 1 + length.unwrap_or(rest.len());
    let name = text.take_front(length);
    *text = text.drop_front(length);
    Ok(VariableName { name, is_pseudo })
}

/// A parsed numeric block.
pub(in crate::filecheck) struct Block<'a> {
    pub(in crate::filecheck) expression: Expression,
    /// The variable it defines.
    pub(in crate::filecheck) defines: Option<(Piece<'a>, NumericId)>,
}

/// What may stand where an operand is expected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allowed {
    /// `@LINE` only: the first operand of `[[@LINE+1]]`.
    LineVariable,
    /// A decimal number only: the second one.
    LegacyLiteral,
    Any,
}

/// A parsed operand: its text, and the format it implies.
struct Operand<'a> {
    text: Piece<'a>,
    format: Result<Option<Format>, ParseErrors>,
}

struct Parser<'v> {
    variables: &'v mut Variables,
    line: Option<usize>,
    steps: Vec<Step>,
    nesting: u32,
}

/// Parses a block (the text after `#`). `legacy_line` is for `[[@LINE…]]`; `line` is where the directive
/// stands in the check file.
pub(in crate::filecheck) fn parse_block<'a>(
    text: Piece<'a>,
    legacy_line: bool,
    line: Option<usize>,
    variables: &mut Variables,
) -> Result<Block<'a>, ParseErrors> {
    let mut parser = Parser { variables, line, steps: Vec::new(), nesting: 0 };
    parser.block(text, legacy_line)
}

impl Parser<'_> {
    fn block<'a>(&mut self, text: Piece<'a>, legacy_line: bool) -> Result<Block<'a>, ParseErrors> {
        let mut text = text;
        let mut explicit = None;
        let mut precision = 0;
        if let Some(comma) = text.find(b',')
            && text.find(b'(').is_none_or(|paren| comma < paren)
        {
            (explicit, precision) = parse_format(text.take_front(comma))?;
            text = text.drop_front(comma + 1);
        }
        let mut definition = None;
        if let Some(colon) = text.find(b':') {
            definition = Some(text.take_front(colon));
            text = text.drop_front(colon + 1);
        }
        text = text.skip_blanks();
        let constraint = text.eat(b"==");
        text = text.skip_blanks();
        let mut implied = None;
        if text.is_empty() {
            if constraint {
                return Err(fault(text, "empty numeric expression should not have a constraint"));
            }
        } else {
            text = text.trim_end_blanks();
            let operand = self.expression(text, legacy_line, constraint)?;
            if explicit.is_none() {
                implied = operand.format?;
            }
        }
        let format = explicit.or(implied).unwrap_or(Format {
            kind: FormatKind::Unsigned,
            precision,
            alternate: false,
        });
        let defines = match definition {
            Some(definition) => Some(self.definition(definition.skip_blanks(), format)?),
            None => None,
        };
        let steps = std::mem::take(&mut self.steps);
        Ok(Block { expression: Expression { steps, format }, defines })
    }

    fn expression<'a>(
        &mut self,
        text: Piece<'a>,
        legacy_line: bool,
        constraint: bool,
    ) -> Result<Operand<'a>, ParseErrors> {
        let outer = text;
        let mut text = text;
        let first = if legacy_line { Allowed::LineVariable } else { Allowed::Any };
        let mut operand = self.operand(&mut text, first, !constraint)?;
        while !text.is_empty() {
            operand = self.binary(outer, &mut text, operand, legacy_line)?;
            if legacy_line && !text.is_empty() {
                let message = join(&[b"unexpected characters at end of expression '", text.bytes(), b"'"]);
                return Err(fault(text, message));
            }
        }
        Ok(operand)
    }

    fn definition<'a>(
        &mut self,
        text: Piece<'a>,
        format: Format,
    ) -> Result<(Piece<'a>, NumericId), ParseErrors> {
        let mut text = text;
        let VariableName { name, is_pseudo } = parse_variable(&mut text)?;
        if is_pseudo {
            return Err(fault(name, "definition of pseudo numeric variable unsupported"));
        }
        if self.variables.is_string(name.bytes()) {
            let message = join(&[b"string variable with name '", name.bytes(), b"' already exists"]);
            return Err(fault(name, message));
        }
        text = text.skip_blanks();
        if !text.is_empty() {
            return Err(fault(text, "unexpected characters after numeric variable name"));
        }
        if let Some(id) = self.variables.numeric(name.bytes()) {
            if self.variables.format(id) != format {
                return Err(fault(text, "format different from previous variable definition"));
            }
            return Ok((name, id));
        }
        Ok((name, self.variables.new_numeric(format, self.line)))
    }

    fn operand<'a>(
        &mut self,
        text: &mut Piece<'a>,
        allowed: Allowed,
        maybe_constraint: bool,
    ) -> Result<Operand<'a>, ParseErrors> {
        if text.first() == Some(b'(') {
            if allowed != Allowed::Any {
                return Err(fault(*text, "parenthesized expression not permitted here"));
            }
            return self.parenthesized(text);
        }
        if allowed != Allowed::LegacyLiteral {
            match parse_variable(text) {
                Ok(variable) => {
                    if text.skip_blanks().first() == Some(b'(') {
                        if allowed != Allowed::Any {
                            return Err(fault(variable.name, "unexpected function call"));
                        }
                        return self.call(text, variable.name);
                    }
                    return self.variable(variable);
                }
                Err(errors) if allowed == Allowed::LineVariable => return Err(errors),
                // Not a name; perhaps a number.
                Err(_) => {}
            }
        }
        let start = *text;
        let negative = text.eat(b"-");
        let radix = if allowed == Allowed::LegacyLiteral { Some(10) } else { None };
        match parse_number(text, radix) {
            Some(value) => {
                self.steps.push(Step::Literal(if negative { -value } else { value }));
                let length = start.bytes().len() - text.bytes().len();
                Ok(Operand { text: start.take_front(length), format: Ok(None) })
            }
            None => {
                let what = if maybe_constraint { "matching constraint or " } else { "" };
                Err(fault(start, format!("invalid {what}operand format")))
            }
        }
    }

    fn variable<'a>(&mut self, variable: VariableName<'a>) -> Result<Operand<'a>, ParseErrors> {
        let name = variable.name;
        if variable.is_pseudo && name.bytes() != LINE {
            let message = join(&[b"invalid pseudo numeric variable '", name.bytes(), b"'"]);
            return Err(fault(name, message));
        }
        // A name without definition so far gets a variable without value, which is diagnosed when it
        // is used.
        let id = self.variables.numeric(name.bytes()).unwrap_or_else(|| {
            let id = self.variables.new_numeric(Format::UNSIGNED, None);
            self.variables.name_numeric(name.bytes(), id);
            id
        });
        if self.line.is_some() && self.variables.defined_on(id) == self.line {
            let message = join(&[
                b"numeric variable '",
                name.bytes(),
                b"' defined earlier in the same CHECK directive",
            ]);
            return Err(fault(name, message));
        }
        self.steps.push(Step::Variable { name: name.span(), id });
        Ok(Operand { text: name, format: Ok(Some(self.variables.format(id))) })
    }

    fn enter(&mut self, at: Piece<'_>) -> Result<(), ParseErrors> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(fault(at, "expression nested too deeply"));
        }
        Ok(())
    }

    fn parenthesized<'a>(&mut self, text: &mut Piece<'a>) -> Result<Operand<'a>, ParseErrors> {
        self.enter(*text)?;
        text.eat(b"(");
        *text = text.skip_blanks();
        if text.is_empty() {
            return Err(fault(*text, "missing operand in expression"));
        }
        let mut operand = self.operand(text, Allowed::Any, false)?;
        *text = text.skip_blanks();
        while !text.is_empty() && text.first() != Some(b')') {
            let outer = *text;
            operand = self.binary(outer, text, operand, false)?;
            *text = text.skip_blanks();
        }
        if !text.eat(b")") {
            return Err(fault(*text, "missing ')' at end of nested expression"));
        }
        self.nesting -= 1;
        Ok(operand)
    }

    fn binary<'a>(
        &mut self,
        outer: Piece<'a>,
        text: &mut Piece<'a>,
        left: Operand<'a>,
        legacy_line: bool,
    ) -> Result<Operand<'a>, ParseErrors> {
        *text = text.skip_blanks();
        let at = *text;
        let Some(operator) = text.first() else { return Ok(left) };
        *text = text.drop_front(1);
        let operation = match operator {
            b'+' => Operation::Add,
            b'-' => Operation::Sub,
            _ => return Err(fault(at, join(&[b"unsupported operation '", &[operator], b"'"]))),
        };
        *text = text.skip_blanks();
        if text.is_empty() {
            return Err(fault(*text, "missing operand in expression"));
        }
        let allowed = if legacy_line { Allowed::LegacyLiteral } else { Allowed::Any };
        let right = self.operand(text, allowed, false)?;
        let whole = outer.take_front(outer.bytes().len() - text.bytes().len());
        Ok(self.combine(whole, operation, left, right))
    }

    fn combine<'a>(
        &mut self,
        text: Piece<'a>,
        operation: Operation,
        left: Operand<'a>,
        right: Operand<'a>,
    ) -> Operand<'a> {
        self.steps.push(Step::Operation(operation));
        let format = match (left.format, right.format) {
            (Ok(Some(first)), Ok(Some(second))) if first != second => {
                let message = join(&[
                    b"implicit format conflict between '",
                    left.text.bytes(),
                    b"' (",
                    first.specifier().as_bytes(),
                    b") and '",
                    right.text.bytes(),
                    b"' (",
                    second.specifier().as_bytes(),
                    b"), need an explicit format specifier",
                ]);
                Err(fault(text, message))
            }
            (Ok(first), Ok(second)) => Ok(first.or(second)),
            (first, second) => {
                let mut errors = first.err().unwrap_or_default();
                errors.extend(second.err().unwrap_or_default());
                Err(errors)
            }
        };
        Operand { text, format }
    }

    fn call<'a>(&mut self, text: &mut Piece<'a>, name: Piece<'a>) -> Result<Operand<'a>, ParseErrors> {
        self.enter(name)?;
        *text = text.skip_blanks();
        let Some(operation) =
            FUNCTIONS.iter().find(|(known, _)| *known == name.bytes()).map(|(_, operation)| *operation)
        else {
            return Err(fault(name, join(&[b"call to undefined function '", name.bytes(), b"'"])));
        };
        text.eat(b"(");
        *text = text.skip_blanks();
        let mut arguments = Vec::new();
        while !text.is_empty() && text.first() != Some(b')') {
            if text.first() == Some(b',') {
                return Err(fault(*text, "missing argument"));
            }
            let outer = *text;
            let mut argument = self.operand(text, Allowed::Any, false)?;
            while !text.is_empty() {
                *text = text.skip_blanks();
                if matches!(text.first(), Some(b',' | b')')) {
                    break;
                }
                argument = self.binary(outer, text, argument, false)?;
            }
            arguments.push(argument);
            *text = text.skip_blanks();
            if !text.eat(b",") {
                break;
            }
            *text = text.skip_blanks();
            if text.first() == Some(b')') {
                return Err(fault(*text, "missing argument"));
            }
        }
        if !text.eat(b")") {
            return Err(fault(*text, "missing ')' at end of call expression"));
        }
        self.nesting -= 1;
        let given = arguments.len();
        let mut arguments = arguments.into_iter();
        match (arguments.next(), arguments.next(), arguments.next()) {
            // LLVM takes the text that follows as the text of a call.
            (Some(left), Some(right), None) => Ok(self.combine(*text, operation, left, right)),
            _ => {
                let given = format!("' takes 2 arguments but {given} given");
                Err(fault(name, join(&[b"function '", name.bytes(), given.as_bytes()])))
            }
        }
    }
}

/// `%` `#`? (`.` digits)? conversion?
fn parse_format(text: Piece<'_>) -> Result<(Option<Format>, u32), ParseErrors> {
    let mut text = text.skip_blanks().trim_end_blanks();
    if !text.eat(b"%") {
        return Err(fault(text, "invalid matching format specification in expression"));
    }
    let flag = text;
    let alternate = text.eat(b"#");
    let mut precision = 0;
    if text.eat(b".") {
        let digits = text.bytes().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let value = std::str::from_utf8(&text.bytes()[..digits]).ok().and_then(|text| text.parse().ok());
        match value {
            Some(value) if value <= MAX_PRECISION => precision = value,
            _ => return Err(fault(text, "invalid precision in format specifier")),
        }
        text = text.drop_front(digits);
    }
    let mut format = None;
    if let Some(conversion) = text.first() {
        let kind = match conversion {
            b'u' => FormatKind::Unsigned,
            b'd' => FormatKind::Signed,
            b'x' => FormatKind::HexLower,
            b'X' => FormatKind::HexUpper,
            _ => return Err(fault(text, "invalid format specifier in expression")),
        };
        text = text.drop_front(1);
        let hex = matches!(kind, FormatKind::HexLower | FormatKind::HexUpper);
        format = Some(Format { kind, precision, alternate: alternate && hex });
        if alternate && !hex {
            return Err(fault(flag, "alternate form only supported for hex values"));
        }
    } else if alternate {
        return Err(fault(flag, "alternate form only supported for hex values"));
    }
    text = text.skip_blanks();
    if !text.is_empty() {
        return Err(fault(text, "invalid matching format specification in expression"));
    }
    Ok((format, precision))
}

/// Reads digits. Without a radix, a prefix (`0x`, `0b`, `0o`, `0`) decides, and a bare prefix is zero.
fn parse_number(text: &mut Piece<'_>, radix: Option<u32>) -> Option<BigInt> {
    let bytes = text.bytes();
    let (radix, skip) = match (radix, bytes) {
        (Some(radix), _) => (radix, 0),
        (None, [b'0', b'x' | b'X', ..]) => (16, 2),
        (None, [b'0', b'b' | b'B', ..]) => (2, 2),
        (None, [b'0', b'o', ..]) => (8, 2),
        (None, [b'0', digit, ..]) if digit.is_ascii_digit() => (8, 1),
        (None, _) => (10, 0),
    };
    if bytes.len() == skip {
        return None;
    }
    let digits = bytes[skip..].iter().take_while(|&&byte| char::from(byte).is_digit(radix)).count();
    if skip + digits == 0 {
        return None;
    }
    let value = BigInt::parse_bytes(&bytes[skip..skip + digits], radix).unwrap_or_default();
    *text = text.drop_front(skip + digits);
    Some(value)
}
