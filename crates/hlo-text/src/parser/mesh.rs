//! Device meshes, axes of meshes, and iota tiles: the parts that shardings and replica groups share.

use hashbrown::HashMap;

use super::{Dialect, ParseResult, ValueContext};
use crate::diagnostic::{Code, Diagnostic, Span, did_you_mean};
use crate::ir::{AxisError, AxisRef, Iota, Mesh, MeshAxis, MeshDevices, SubAxis, Symbol, TileError};
use crate::lexer::{Cursor, Token};

/// What is kept while a value with meshes is read.
pub(super) struct MeshReader {
    /// Which family the value belongs to.
    code: Code,
    /// Where XLA reports first whatever is wrong later on: after the axes of a mesh it eats a comma and asks for
    /// an attribute name, and its complaint stays when there is none, though it goes on.
    early_complaint: Option<Span>,
    /// The attribute's name, where XLA points when it has no message of its own.
    key: Span,
}

impl MeshReader {
    /// A reader for the value that starts at the cursor, right after `key=`.
    pub(super) fn new(cursor: &Cursor<'_>, code: Code) -> Self {
        Self { code, early_complaint: None, key: key_span(cursor) }
    }

    /// The place of the attribute's name.
    pub(super) fn key(&self) -> Span {
        self.key
    }

    /// An error of this family.
    pub(super) fn error(&self, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
        Diagnostic::new(self.code, span, message).boxed()
    }

    /// An error for which XLA only says that it can't parse the attribute; `at` is the fault itself.
    pub(super) fn silent_error(&self, at: Span, message: impl Into<String>) -> Box<Diagnostic> {
        Diagnostic::new(self.code, self.key, message).also(at, "here").boxed()
    }

    /// An error about the arrangement of devices.
    pub(super) fn tile_error(&self, span: Span, error: TileError) -> Box<Diagnostic> {
        let code = match error {
            TileError::TooManyDevices(_) => Code::TooLarge,
            TileError::Overflow => Code::OutOfRange,
            _ => self.code,
        };
        Diagnostic::new(code, span, error.to_string()).boxed()
    }

    /// The result of reading the whole value. In the strict dialect an error stands where XLA's first one does.
    pub(super) fn finish<T>(&self, result: ParseResult<T>, dialect: Dialect) -> ParseResult<T> {
        let mut error = match result {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        if let Some(span) = self.early_complaint
            && dialect == Dialect::Strict
        {
            let fault = std::mem::replace(&mut error.primary.span, span);
            let text = std::mem::take(&mut error.primary.text);
            *error = error.focus(fault, text);
        }
        Err(error)
    }

    /// A mesh if there is one: `mesh[...]`, `maximal_mesh[device_id=N]`, or newer XLA's `single_device[N]`.
    pub(super) fn mesh(
        &mut self,
        cursor: &mut Cursor<'_>,
        context: &mut ValueContext<'_>,
    ) -> ParseResult<Option<Mesh>> {
        if cursor.token() != Token::Ident {
            return Ok(None);
        }
        match cursor.text() {
            "mesh" => self.mesh_of_axes(cursor, context).map(Some),
            "maximal_mesh" => {
                cursor.bump();
                single_device(cursor).map(Some)
            }
            "single_device" if context.dialect == Dialect::Lenient => {
                let message = "`single_device[...]` is `maximal_mesh[device_id=...]` in jaxlib 0.10.2";
                dialect_warning(context, cursor.span(), message);
                cursor.bump();
                if cursor.token() == Token::LSquare && cursor.peek() == Token::Int {
                    cursor.bump();
                    let device = cursor.int()?;
                    cursor.expect(Token::RSquare, "`]` after the device")?;
                    return Ok(Some(Mesh { axes: Vec::new(), devices: MeshDevices::Single(device) }));
                }
                single_device(cursor).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn mesh_of_axes(&mut self, cursor: &mut Cursor<'_>, context: &mut ValueContext<'_>) -> ParseResult<Mesh> {
        cursor.bump();
        cursor.expect(Token::LSquare, "`[` and the axes of the mesh")?;
        let mut mesh = Mesh { axes: Vec::new(), devices: MeshDevices::InOrder };
        if cursor.eat(Token::RSquare) {
            return Ok(mesh);
        }
        let mut names = Vec::new();
        let mut inner_device_ids = false;
        loop {
            if is_device_ids(cursor) && !mesh.axes.is_empty() && context.dialect == Dialect::Lenient {
                let message = "XLA puts `device_ids=` after the `]` of the mesh";
                dialect_warning(context, cursor.span(), message);
                cursor.bump();
                mesh.devices = self.device_ids(cursor, &mesh)?;
                inner_device_ids = true;
                break;
            }
            if cursor.token() != Token::String {
                let error = cursor.unexpected("the name of an axis in quotes");
                let in_wrong_place = is_device_ids(cursor);
                return Err(if in_wrong_place {
                    Box::new(error.help("write `device_ids=` after the `]`: `mesh['x'=2], device_ids=(1,0)`"))
                } else {
                    error
                });
            }
            names.push(cursor.span());
            let name = context.module.strings_mut().intern(&cursor.string_value());
            cursor.bump();
            cursor.expect(Token::Equal, "`=` and the size of the axis")?;
            mesh.axes.push(MeshAxis { name, size: cursor.int()? });
            if !cursor.eat(Token::Comma) {
                break;
            }
        }
        cursor.expect(Token::RSquare, "`,` or `]` after the axes of the mesh")?;
        if !inner_device_ids && cursor.eat(Token::Comma) {
            if cursor.token() != Token::AttrName {
                self.early_complaint = self.early_complaint.or(Some(cursor.span()));
            } else if is_device_ids(cursor) {
                cursor.bump();
                mesh.devices = self.device_ids(cursor, &mesh)?;
            } else if context.dialect == Dialect::Strict || cursor.word() != "unreduced" {
                // XLA takes any attribute name for `device_ids=` and then leaves it out.
                let message = format!("`{}` is ignored; only `device_ids=` belongs here", cursor.text());
                context.warnings.push(Diagnostic::new(self.code, cursor.span(), message).warning());
                cursor.bump();
            }
        }
        if let Err(index) = mesh.axis_indices() {
            let repeated = names.get(index).copied().unwrap_or_default();
            return Err(self.error(repeated, "two axes of the mesh have the same name"));
        }
        Ok(mesh)
    }

    /// `(0,2,1,3)` or `([4,2]T(1,0))` after `device_ids=`.
    fn device_ids(&self, cursor: &mut Cursor<'_>, mesh: &Mesh) -> ParseResult<MeshDevices> {
        let start = cursor.start();
        cursor.expect(Token::LParen, "`(` and the devices of the mesh")?;
        if cursor.token() == Token::LSquare {
            let iota = self.iota(cursor)?;
            cursor.expect(Token::RParen, "`)` after the devices of the mesh")?;
            let devices = iota.build(self)?;
            return Ok(if devices.is_plain() { MeshDevices::InOrder } else { MeshDevices::Iota(devices) });
        }
        let mut devices = Vec::new();
        if cursor.token() != Token::RParen {
            loop {
                devices.push(cursor.int()?);
                if !cursor.eat(Token::Comma) {
                    break;
                }
            }
        }
        cursor.expect(Token::RParen, "`,` or `)` in the devices of the mesh")?;
        let span = Span::new(start, cursor.previous_end());
        let count = mesh.device_count().map_err(|error| self.tile_error(span, error))?;
        if usize::try_from(count) != Ok(devices.len()) {
            let message = format!(
                "the axes of the mesh make {count} devices, but `device_ids` lists {}",
                devices.len()
            );
            return Err(self.error(span, message));
        }
        let mut seen = vec![false; devices.len()];
        for &device in &devices {
            let slot = usize::try_from(device).ok().and_then(|device| seen.get_mut(device));
            if slot.is_none_or(|seen| std::mem::replace(seen, true)) {
                let message = format!(
                    "`device_ids` must list each device from 0 to {} once; {device} doesn't fit",
                    devices.len() - 1
                );
                return Err(self.error(span, message));
            }
        }
        if devices.is_sorted() {
            let error = Diagnostic::new(self.code, span, "`device_ids` lists the devices in order");
            return Err(error.help("leave `device_ids` out: this is what a mesh means without it").boxed());
        }
        Ok(MeshDevices::List(devices))
    }

    /// `[4,2]T(1,0)`: the permutation is mandatory with two or more dimensions and forbidden with one.
    pub(super) fn iota(&self, cursor: &mut Cursor<'_>) -> ParseResult<RawIota> {
        let start = cursor.start();
        cursor.expect(Token::LSquare, "`[` and the reshape dimensions of the devices")?;
        let reshape = int_sequence(cursor)?;
        cursor.expect(Token::RSquare, "`,` or `]` in the reshape dimensions")?;
        let mut permutation = Vec::new();
        if reshape.len() == 1 {
            permutation.push(0);
        } else {
            let what = "`T(` and the permutation of the reshape dimensions";
            if cursor.token() != Token::Ident || cursor.text() != "T" {
                return Err(cursor.unexpected(what));
            }
            cursor.bump();
            cursor.expect(Token::LParen, what)?;
            loop {
                let entry = cursor.int()?;
                match u32::try_from(entry) {
                    Ok(index) if (index as usize) < reshape.len() => permutation.push(index),
                    _ => {
                        let message = format!(
                            "the permutation names dimension {entry}, but there are only 0 to {}",
                            reshape.len() - 1
                        );
                        return Err(self.error(cursor.span(), message));
                    }
                }
                if !cursor.eat(Token::Comma) {
                    break;
                }
            }
            cursor.expect(Token::RParen, "`,` or `)` in the permutation")?;
        }
        Ok(RawIota { reshape, permutation, span: Span::new(start, cursor.previous_end()) })
    }

    /// `{'x','y':(1)2}`: axes of `mesh`.
    pub(super) fn axis_list(
        &self,
        cursor: &mut Cursor<'_>,
        context: &mut ValueContext<'_>,
        mesh: &Mesh,
        names: &AxisNames,
    ) -> ParseResult<Vec<AxisRef>> {
        let mut axes = Vec::new();
        cursor.expect(Token::LBrace, "`{` and names of axes")?;
        if cursor.token() != Token::RBrace {
            loop {
                axes.push(self.axis(cursor, context, mesh, names)?);
                if !cursor.eat(Token::Comma) {
                    break;
                }
            }
        }
        cursor.expect(Token::RBrace, "`,` or `}` in the list of axes")?;
        Ok(axes)
    }

    /// `'x'` or `'x':(1)2`; the name may be a number of an axis.
    pub(super) fn axis(
        &self,
        cursor: &mut Cursor<'_>,
        context: &mut ValueContext<'_>,
        mesh: &Mesh,
        names: &AxisNames,
    ) -> ParseResult<AxisRef> {
        if cursor.token() != Token::String {
            return Err(cursor.unexpected("the name of an axis in quotes"));
        }
        let span = cursor.span();
        let name = cursor.string_value();
        cursor.bump();
        let axis = match context.module.strings().lookup(&name).and_then(|symbol| names.get(&symbol)) {
            Some(&index) => index,
            None => axis_number(&name)
                .filter(|&index| (index as usize) < mesh.axes.len())
                .ok_or_else(|| self.unknown_axis(context, mesh, &name, span))?,
        };
        if !cursor.eat(Token::Colon) {
            return Ok(AxisRef { axis, sub_axis: None });
        }
        cursor.expect(Token::LParen, "`(` and the size before the part of the axis")?;
        let pre_size = cursor.int()?;
        cursor.expect(Token::RParen, "`)` after the size before the part of the axis")?;
        let size = cursor.int()?;
        if pre_size < 1 || size < 2 {
            let span = Span::new(span.start as usize, cursor.previous_end());
            let message =
                "a part of an axis is written `'x':(BEFORE)SIZE` with BEFORE at least 1, SIZE at least 2";
            return Err(self.error(span, message));
        }
        Ok(AxisRef { axis, sub_axis: Some(SubAxis { pre_size, size }) })
    }

    fn unknown_axis(
        &self,
        context: &ValueContext<'_>,
        mesh: &Mesh,
        name: &[u8],
        span: Span,
    ) -> Box<Diagnostic> {
        let name = String::from_utf8_lossy(name);
        let error = Diagnostic::new(self.code, span, format!("the mesh has no axis `{name}`"));
        let known = mesh.axes.iter().map(|axis| context.module.strings().name(axis.name));
        match did_you_mean(&name, known) {
            Some(meant) => error.help(format!("did you mean '{meant}'?")).boxed(),
            None => error.boxed(),
        }
    }

    /// The diagnostic for axes that don't go together.
    pub(super) fn axis_error(
        &self,
        context: &ValueContext<'_>,
        mesh: &Mesh,
        span: Span,
        error: AxisError,
    ) -> Box<Diagnostic> {
        let show = |axis: AxisRef| {
            let name = context.module.strings().name(mesh.axes[axis.axis as usize].name);
            match axis.sub_axis {
                None => format!("'{name}'"),
                Some(part) => format!("'{name}':({}){}", part.pre_size, part.size),
            }
        };
        let message = match error {
            AxisError::BadSubAxis(axis) => {
                let size = mesh.axis_size(axis);
                format!("{} is no part of its axis, which has size {size}", show(axis))
            }
            AxisError::Overlap(first, second) if first == second => {
                format!("{} is used twice", show(first))
            }
            AxisError::Overlap(first, second) => {
                format!("{} and {} can't be used together: they overlap", show(first), show(second))
            }
            AxisError::Mergeable(first, second) => {
                format!("{} and {} must be written as one", show(first), show(second))
            }
            AxisError::Unsorted(first, second) => {
                format!("{} must come before {}: axes are listed in mesh order", show(second), show(first))
            }
        };
        self.error(span, message)
    }
}

/// Indices of a mesh's axes by name.
pub(super) type AxisNames = HashMap<Symbol, u32, foldhash::fast::FixedState>;

/// An iota as written, not yet checked.
pub(super) struct RawIota {
    /// Reshape dimensions.
    pub(super) reshape: Vec<i64>,
    /// Each entry is below the number of reshape dimensions.
    pub(super) permutation: Vec<u32>,
    span: Span,
}

impl RawIota {
    /// The canonical iota.
    pub(super) fn build(self, reader: &MeshReader) -> ParseResult<Iota> {
        Iota::new(self.reshape, self.permutation).map_err(|error| reader.tile_error(self.span, error))
    }
}

/// Says that the value is spelt as other XLA versions do.
pub(super) fn dialect_warning(context: &mut ValueContext<'_>, span: Span, message: &str) {
    context.warnings.push(Diagnostic::new(Code::Dialect, span, message).warning());
}

fn is_device_ids(cursor: &Cursor<'_>) -> bool {
    cursor.token() == Token::AttrName && cursor.word() == "device_ids"
}

/// `[device_id=3]`
fn single_device(cursor: &mut Cursor<'_>) -> ParseResult<Mesh> {
    cursor.expect(Token::LSquare, "`[device_id=` and a device")?;
    if cursor.token() != Token::AttrName || cursor.word() != "device_id" {
        // XLA has taken an attribute name before it looks which one it is.
        let mut at = cursor.clone();
        at.eat(Token::AttrName);
        return Err(at.unexpected("`device_id=` and a device"));
    }
    cursor.bump();
    let device = cursor.int()?;
    cursor.expect(Token::RSquare, "`]` after the device")?;
    Ok(Mesh { axes: Vec::new(), devices: MeshDevices::Single(device) })
}

/// `1,2,3`, at least one.
pub(super) fn int_sequence(cursor: &mut Cursor<'_>) -> ParseResult<Vec<i64>> {
    let mut values = Vec::new();
    loop {
        values.push(cursor.int()?);
        if !cursor.eat(Token::Comma) {
            return Ok(values);
        }
    }
}

/// An axis given by its number instead of its name, with the blanks and signs that C's number parsing allows.
fn axis_number(name: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(name).ok()?;
    text.trim_matches(|c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c'))
        .parse::<i64>()
        .ok()
        .and_then(|index| u32::try_from(index).ok())
}

/// The attribute name that ends right before the value, or the first token of a value without one.
fn key_span(cursor: &Cursor<'_>) -> Span {
    let end = cursor.previous_end();
    let before = &cursor.source().as_bytes()[..end];
    let Some(word) = before.strip_suffix(b"=") else { return cursor.span() };
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let length = word.iter().rev().take_while(|&&byte| is_word(byte)).count();
    Span::new(word.len() - length, end)
}
