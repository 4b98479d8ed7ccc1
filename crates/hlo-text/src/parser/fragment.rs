//! Reading modules and pieces of modules by the type that is wanted.

use std::fmt;

use super::literal::parse_typed_literal;
use super::replica_groups::parse_replica_groups;
use super::shape::{parse_layout, parse_shape};
use super::sharding::parse_sharding;
use super::{ParseOptions, ParseResult, ValueContext, convolution, parse_module};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{
    ComputationId, ConvolutionDimensionNumbers, InstructionId, Layout, Literal, Module, ReplicaGroups,
    ShapeId, Sharding, Window,
};
use crate::lexer::{Cursor, Token};
use crate::printer;

/// Something that can be read from HLO text by itself; see [`parse`].
pub trait FromText: Sized {
    /// Reads all of `text`.
    ///
    /// # Errors
    /// Every fault found, in text order; at least one.
    fn from_text(text: &str, options: &ParseOptions) -> Result<Self, Vec<Diagnostic>>;
}

/// Reads a module or a piece of one, in any dialect.
///
/// A piece that needs tables, a shape for example, comes as a [`Fragment`] with the small module that holds them.
///
/// ```
/// use hlo_text::ir::{ComputationId, ConvolutionDimensionNumbers, InstructionId, Layout, Literal};
/// use hlo_text::ir::{ReplicaGroups, ShapeId, Sharding, Window};
/// use hlo_text::{Fragment, Module, parse};
///
/// let module: Module = parse("HloModule m\n\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}").unwrap();
/// assert_eq!(module.instruction_count(), 1);
/// assert!(module.to_string().starts_with("HloModule m, entry_computation_layout="));
///
/// let computation = parse::<Fragment<ComputationId>>("f {\n  ROOT p = f32[2] parameter(0)\n}").unwrap();
/// assert!(computation.to_string().starts_with("%f (p: f32[2]) -> f32[2] {"));
///
/// let instruction = parse::<Fragment<InstructionId>>("n = f32[2] negate(f32[2] x)").unwrap();
/// assert_eq!(instruction.to_string(), "%n = f32[2]{0} negate(%x)");
///
/// let shape = parse::<Fragment<ShapeId>>("(f32[2,3], s32[])").unwrap();
/// assert_eq!(shape.to_string(), "(f32[2,3]{1,0}, s32[])");
///
/// let literal = parse::<Fragment<Literal>>("s32[3]{0} {1, 2, 3}").unwrap();
/// assert_eq!(literal.to_string(), "{1, 2, 3}");
///
/// let layout: Layout = parse("{1,0:T(8,128)}").unwrap();
/// assert_eq!(layout.minor_to_major[..], [1, 0]);
///
/// let sharding = parse::<Fragment<Sharding>>("{devices=[2,2]<=[4]}").unwrap();
/// assert_eq!(sharding.to_string(), "{devices=[2,2]<=[4]}");
///
/// let groups = parse::<Fragment<ReplicaGroups>>("{{0,1},{2,3}}").unwrap();
/// assert_eq!(groups.to_string(), "{{0,1},{2,3}}");
///
/// let window: Window = parse("{size=3x3 stride=2x2}").unwrap();
/// assert_eq!(window.dimensions.len(), 2);
///
/// let labels: ConvolutionDimensionNumbers = parse("b01f_01io->b01f").unwrap();
/// assert_eq!(labels.input_batch, 0);
///
/// let errors = parse::<Module>("HloModule m\n\nENTRY e {\n  ROOT p = f32[2] paramter(0)\n}").unwrap_err();
/// assert_eq!(errors[0].code.as_str(), "HLO0003");
/// ```
///
/// # Errors
/// Every fault found, in text order; at least one.
pub fn parse<T: FromText>(text: &str) -> Result<T, Vec<Diagnostic>> {
    T::from_text(text, &ParseOptions::default())
}

/// A piece of a module together with a module that holds what it refers to: names, shapes, values.
#[derive(Clone, Debug)]
pub struct Fragment<T> {
    /// Holds what the value refers to.
    pub module: Module,
    /// What was read.
    pub value: T,
}

impl FromText for Module {
    fn from_text(text: &str, options: &ParseOptions) -> Result<Self, Vec<Diagnostic>> {
        Ok(parse_module(text, options)?.module)
    }
}

/// A computation, with its signature or without.
impl FromText for Fragment<ComputationId> {
    fn from_text(text: &str, options: &ParseOptions) -> Result<Self, Vec<Diagnostic>> {
        let module = parse_module(text, options)?.module;
        let value = module.entry();
        Ok(Self { module, value })
    }
}

/// An instruction whose operands have shapes.
impl FromText for Fragment<InstructionId> {
    fn from_text(text: &str, options: &ParseOptions) -> Result<Self, Vec<Diagnostic>> {
        let module = parse_module(text, options)?.module;
        let value = module.computation(module.entry()).root;
        Ok(Self { module, value })
    }
}

/// Reads all of `text` with `read`; the module holds what the value refers to.
fn read_value<T>(
    text: &str,
    options: &ParseOptions,
    read: impl FnOnce(&mut Cursor<'_>, &mut ValueContext<'_>) -> ParseResult<T>,
) -> Result<Fragment<T>, Vec<Diagnostic>> {
    let mut module = Module::new("");
    let mut warnings = Vec::new();
    let mut context = ValueContext { module: &mut module, dialect: options.dialect, warnings: &mut warnings };
    let mut cursor = Cursor::new(text);
    let value = read(&mut cursor, &mut context).map_err(|error| vec![*error])?;
    if cursor.token() != Token::Eof {
        let error = Diagnostic::new(Code::UnexpectedToken, cursor.span(), "something follows the value");
        return Err(vec![error]);
    }
    Ok(Fragment { module, value })
}

impl FromText for Fragment<ShapeId> {
    fn from_text(text: &str, options: &ParseOptions) -> Result<Self, Vec<Diagnostic>> {
        read_value(text, options, parse_shape)
    }
}

/// A literal behind its shape.
impl FromText for Fragment<Literal> {
    fn from_text(text: &str, options: &ParseOptions) -> Result<Self, Vec<Diagnostic>> {
        read_value(text, options, parse_typed_literal)
    }
}

impl FromText for Fragment<Sharding> {
    fn from_text(text: &str, options: &ParseOptions) -> Result<Self, Vec<Diagnostic>> {
        read_value(text, options, parse_sharding)
    }
}

impl FromText for Fragment<ReplicaGroups> {
    fn from_text(text: &str, options: &ParseOptions) -> Result<Self, Vec<Diagnostic>> {
        read_value(text, options, parse_replica_groups)
    }
}

/// A layout of an array of as many dimensions as it names.
impl FromText for Layout {
    fn from_text(text: &str, options: &ParseOptions) -> Result<Self, Vec<Diagnostic>> {
        let read = |cursor: &mut Cursor<'_>, context: &mut ValueContext<'_>| {
            if cursor.token() != Token::LBrace {
                return Err(cursor.unexpected("`{` and a layout such as `{1,0}`"));
            }
            let mut ahead = cursor.clone();
            ahead.bump();
            let mut rank = 0;
            while ahead.eat(Token::Int) {
                rank += 1;
                ahead.eat(Token::Comma);
            }
            parse_layout(cursor, context, rank, 0)
        };
        Ok(read_value(text, options, read)?.value)
    }
}

impl FromText for Window {
    fn from_text(text: &str, options: &ParseOptions) -> Result<Self, Vec<Diagnostic>> {
        Ok(read_value(text, options, |cursor, _| convolution::parse_window(cursor))?.value)
    }
}

impl FromText for ConvolutionDimensionNumbers {
    fn from_text(text: &str, options: &ParseOptions) -> Result<Self, Vec<Diagnostic>> {
        Ok(read_value(text, options, |cursor, context| {
            convolution::parse_dim_labels(cursor, context.dialect)
        })?
        .value)
    }
}

/// The options that fragments are displayed with: all of them.
fn in_full() -> crate::PrintOptions {
    crate::PrintOptions { print_large_constants: true, ..crate::PrintOptions::default() }
}

fn display(f: &mut fmt::Formatter<'_>, write: impl FnOnce(&mut Vec<u8>)) -> fmt::Result {
    let mut out = Vec::new();
    write(&mut out);
    f.write_str(&String::from_utf8_lossy(&out))
}

impl fmt::Display for Fragment<ComputationId> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whether it is the entry of something is not known of a computation alone.
        let options = crate::PrintOptions { print_entry_keyword: false, ..in_full() };
        f.write_str(&self.module.print_computation(self.value, &options))
    }
}

impl fmt::Display for Fragment<InstructionId> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.module.print_instruction(self.value, &in_full()))
    }
}

impl fmt::Display for Fragment<ShapeId> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, |out| printer::shape::write_shape(out, &self.module, self.value, true))
    }
}

impl fmt::Display for Fragment<Literal> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, |out| printer::literal::write_literal(out, &self.module, &self.value, &in_full()))
    }
}

impl fmt::Display for Fragment<Sharding> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, |out| printer::sharding::write_sharding(out, &self.module, &self.value, &in_full()))
    }
}

impl fmt::Display for Fragment<ReplicaGroups> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, |out| {
            printer::replica_groups::write_replica_groups(out, &self.module, &self.value, &in_full())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_value_is_refused() {
        let error = parse::<Window>("{size=3} x").expect_err("something follows");
        assert_eq!((error[0].code, error[0].primary.span.start), (Code::UnexpectedToken, 9));
        assert_eq!(parse::<Layout>("1,0").expect_err("no brace")[0].code, Code::UnexpectedToken);
        assert!(parse::<Fragment<ShapeId>>("").is_err());
    }
}
