//! From protobuf's text format to messages.

use super::super::container::Container;
use super::super::fault::{Fault, FaultKind, Read};
use super::super::table::{Field, Kind, Message};
use super::super::wire::{self, Fields, WireType, Writer};
use super::MAX_DEPTH;
use crate::diagnostic::{did_you_mean, shorten};

/// A fault, and the byte of the text it is at.
pub(in crate::proto) type Placed = (usize, Box<Fault>);

/// Whether a message that holds a module begins at the start of `text`.
pub(in crate::proto) fn starts_message(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut lexer = Lexer { text, at: 0 };
    lexer.skip();
    let Some(word) = lexer.word() else { return false };
    let Ok(word) = std::str::from_utf8(word) else { return false };
    lexer.skip();
    let known = [Container::Module, Container::HloProto, Container::Snapshot]
        .iter()
        .find_map(|container| container.message().field_named(word));
    matches!(
        (known.map(|field| field.kind), lexer.peek()),
        (Some(_), Some(b':')) | (Some(Kind::Message(_)), Some(b'{' | b'<'))
    )
}

/// Which message begins in `text`, by the fields at its top.
pub(in crate::proto) fn container_of(text: &str) -> Container {
    let mut lexer =
        Lexer { text: text.as_bytes(), at: text.len() - text.trim_start_matches('\u{feff}').len() };
    lexer.skip();
    let word = lexer.word().and_then(|word| std::str::from_utf8(word).ok()).unwrap_or_default();
    // Messages other than the module begin with the one that leads to it, or have no field of the same name.
    let own = |container: Container| container.message().field_named(word).is_some();
    let containers = [Container::Module, Container::HloProto, Container::Snapshot];
    containers.into_iter().find(|&container| own(container)).unwrap_or(Container::Module)
}

/// The message that `text` is, in the wire format.
pub(in crate::proto) fn parse_message(text: &str, message: &'static Message) -> Result<Vec<u8>, Placed> {
    let mut parser = Parser {
        lexer: Lexer { text: text.as_bytes(), at: text.len() - text.trim_start_matches('\u{feff}').len() },
        w: Writer::default(),
        depth: 0,
    };
    match parser.fields(message, None) {
        Ok(()) => Ok(pack(parser.w.out, message)),
        Err(fault) => Err((parser.lexer.at.min(text.len()), fault)),
    }
}

/// The message with the numbers of repeated fields together, as they are written in the wire format.
fn pack(bytes: Vec<u8>, message: &'static Message) -> Vec<u8> {
    // What has just been written is well formed.
    let fields: Vec<_> = Fields::new(&bytes).map_while(Result::ok).collect();
    let packable = |field: &wire::Field<'_>| {
        field.wire_type != WireType::Bytes
            && message.field(field.number).is_some_and(|known| known.is_packable())
    };
    if !fields.iter().any(packable) {
        return bytes;
    }
    let mut w = Writer::default();
    let mut done: Vec<u32> = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        if !packable(field) {
            w.out.extend_from_slice(field.raw);
        } else if !done.contains(&field.number) {
            done.push(field.number);
            let mut values = Vec::new();
            for same in fields[at..].iter().filter(|other| other.number == field.number && packable(other)) {
                match same.wire_type {
                    WireType::Fixed32 => values.extend_from_slice(&(same.bits as u32).to_le_bytes()),
                    WireType::Fixed64 => values.extend_from_slice(&same.bits.to_le_bytes()),
                    _ => wire::put_varint(&mut values, same.bits),
                }
            }
            w.always_bytes(field.number, &values);
        }
    }
    w.out
}

struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Lexer<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Passes over blanks and comments.
    fn skip(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'#' => {
                    let rest = &self.text[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// A name or number.
    fn word(&mut self) -> Option<&'t [u8]> {
        let rest = self.text.get(self.at..)?;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        (end > 0).then(|| {
            self.at += end;
            &rest[..end]
        })
    }

    /// A number with a sign, dots and exponent, or a word.
    fn literal(&mut self) -> &'t str {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
            self.skip();
        }
        let from = self.at;
        while let Some(byte) = self.peek() {
            let sign = matches!(byte, b'+' | b'-')
                && matches!(self.text.get(self.at.wrapping_sub(1)), Some(b'e' | b'E'))
                && self.at > from
                && !self.text[from..self.at].starts_with(b"0x");
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || sign) {
                break;
            }
            self.at += 1;
        }
        std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default()
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    w: Writer,
    depth: usize,
}

fn malformed(message: impl Into<String>) -> Box<Fault> {
    Fault::new(FaultKind::Malformed, message)
}

impl Parser<'_> {
    /// Fields up to `end`, or the end of the text.
    fn fields(&mut self, message: &'static Message, end: Option<u8>) -> Read<()> {
        if self.depth > MAX_DEPTH {
            return Err(Fault::new(
                FaultKind::TooDeep,
                format!("messages are nested more than {MAX_DEPTH} levels deep"),
            ));
        }
        loop {
            self.lexer.skip();
            match (self.lexer.peek(), end) {
                (None, None) => return Ok(()),
                (None, Some(end)) => {
                    return Err(malformed(format!("expected `{}`, but the text ends here", char::from(end))));
                }
                (Some(byte), Some(end)) if byte == end => {
                    self.lexer.at += 1;
                    return Ok(());
                }
                _ => self.field(message)?,
            }
            self.lexer.skip();
            if matches!(self.lexer.peek(), Some(b',' | b';')) {
                self.lexer.at += 1;
            }
        }
    }

    fn field(&mut self, message: &'static Message) -> Read<()> {
        let start = self.lexer.at;
        let Some(word) = self.lexer.word() else {
            let message = format!("expected the name of a field of {}", message.name);
            return Err(malformed(message));
        };
        let name = String::from_utf8_lossy(word).into_owned();
        if let Ok(number) = name.parse::<u32>() {
            return self.unknown(number).map_err(|fault| fault.named(name.as_bytes()));
        }
        let Some(field) = message.field_named(&name) else {
            self.lexer.at = start;
            let names = message.fields.iter().map(|field| field.name);
            let mut text = format!("{} has no field `{}`", message.name, shorten(&name));
            if let Some(close) = did_you_mean(&name, names) {
                text.push_str(&format!("; did you mean `{close}`?"));
            }
            return Err(malformed(text));
        };
        let colon = self.lexer.eat(b':');
        self.lexer.skip();
        if !colon && field.message().is_none() {
            return Err(malformed("expected `:` and a value").within(field.name));
        }
        if self.lexer.peek() == Some(b'[') && field.repeated {
            self.lexer.at += 1;
            if self.lexer.eat(b']') {
                return Ok(());
            }
            loop {
                self.lexer.skip();
                self.value(field).map_err(|fault| fault.within(field.name))?;
                if self.lexer.eat(b']') {
                    return Ok(());
                }
                if !self.lexer.eat(b',') {
                    return Err(malformed("expected `,` or `]`").within(field.name));
                }
            }
        }
        self.value(field).map_err(|fault| fault.within(field.name))
    }

    fn value(&mut self, field: &'static Field) -> Read<()> {
        let number = field.number;
        if let Some(inner) = field.message() {
            let end = match self.lexer.peek() {
                Some(b'{') => b'}',
                Some(b'<') => b'>',
                _ => return Err(malformed(format!("expected `{{` and fields of {}", inner.name))),
            };
            self.lexer.at += 1;
            self.depth += 1;
            let outer = std::mem::take(&mut self.w);
            let result = self.fields(inner, Some(end));
            let message = std::mem::replace(&mut self.w, outer);
            self.w.always_bytes(number, &pack(message.out, inner));
            self.depth -= 1;
            return result;
        }
        let start = self.lexer.at;
        if let Kind::String | Kind::Bytes = field.kind {
            let text = self.string()?;
            self.w.always_bytes(number, &text);
            return Ok(());
        }
        let literal = self.lexer.literal();
        let written = self.scalar(number, field.kind, literal);
        written.inspect_err(|_| self.lexer.at = start)
    }

    fn scalar(&mut self, number: u32, kind: Kind, literal: &str) -> Read<()> {
        let shown = || match (literal, self.lexer.peek()) {
            ("", Some(byte)) => char::from(byte).to_string(),
            ("", None) => "end of input".to_owned(),
            _ => shorten(literal),
        };
        match kind {
            Kind::Bool => match literal {
                "true" | "True" | "t" | "1" => self.w.always_int(number, 1),
                "false" | "False" | "f" | "0" => self.w.always_int(number, 0),
                _ => return Err(malformed(format!("expected `true` or `false`, found `{}`", shown()))),
            },
            Kind::Float | Kind::Double => {
                let value = float(literal)
                    .ok_or_else(|| malformed(format!("expected a number, found `{}`", shown())))?;
                match kind {
                    Kind::Float => self.w.fixed32(number, (value as f32).to_bits()),
                    _ => self.w.fixed64(number, value.to_bits()),
                }
            }
            Kind::Enum(values) => {
                let value = values.number_of(literal).or_else(|| literal.parse().ok()).ok_or_else(|| {
                    let mut text = format!("{} has no value `{}`", values.name, shown());
                    if let Some(close) = did_you_mean(literal, values.values.iter().map(|value| value.1)) {
                        text.push_str(&format!("; did you mean `{close}`?"));
                    }
                    malformed(text)
                })?;
                self.w.always_int(number, value.into());
            }
            _ => {
                let value = integer(literal)
                    .ok_or_else(|| malformed(format!("expected an integer, found `{}`", shown())))?;
                let (low, high) = match kind {
                    Kind::Int32 => (i128::from(i32::MIN), i128::from(i32::MAX)),
                    Kind::Uint32 => (0, i128::from(u32::MAX)),
                    Kind::Uint64 => (0, i128::from(u64::MAX)),
                    _ => (i128::from(i64::MIN), i128::from(i64::MAX)),
                };
                if !(low..=high).contains(&value) {
                    return Err(malformed(format!("`{}` doesn't fit its type", shown())));
                }
                self.w.always_int(number, value as i64);
            }
        }
        Ok(())
    }

    /// The value of a field that is given by its number.
    fn unknown(&mut self, number: u32) -> Read<()> {
        if number == 0 || number >= 1 << 29 {
            return Err(malformed(format!("{number} is no field number")));
        }
        if !self.lexer.eat(b':') {
            return Err(malformed("expected `:` and a value"));
        }
        self.lexer.skip();
        if matches!(self.lexer.peek(), Some(b'"' | b'\'')) {
            let text = self.string()?;
            self.w.always_bytes(number, &text);
            return Ok(());
        }
        let literal = self.lexer.literal();
        let value = integer(literal);
        match (literal.strip_prefix("0x").map(str::len), value.and_then(|value| u64::try_from(value).ok())) {
            (Some(8), Some(bits)) => self.w.fixed32(number, bits as u32),
            (Some(16), Some(bits)) => self.w.fixed64(number, bits),
            (_, Some(bits)) => self.w.always_int(number, bits as i64),
            _ => {
                return Err(malformed(format!(
                    "expected a number or a string, found `{}`",
                    shorten(literal)
                )));
            }
        }
        Ok(())
    }

    /// One or more strings in quotes, one after the other.
    fn string(&mut self) -> Read<Vec<u8>> {
        let mut out = Vec::new();
        let mut any = false;
        loop {
            let Some(quote @ (b'"' | b'\'')) = self.lexer.peek() else {
                return if any { Ok(out) } else { Err(malformed("expected a string in quotes")) };
            };
            any = true;
            let start = self.lexer.at;
            self.lexer.at += 1;
            loop {
                let Some(byte) = self.lexer.peek().filter(|&byte| byte != b'\n') else {
                    self.lexer.at = start;
                    return Err(malformed("the string is not closed"));
                };
                self.lexer.at += 1;
                match byte {
                    b'\\' => self.escape(&mut out)?,
                    byte if byte == quote => break,
                    byte => out.push(byte),
                }
            }
            self.lexer.skip();
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Read<()> {
        let byte = self.lexer.peek().unwrap_or_default();
        self.lexer.at += 1;
        let simple = match byte {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'v' => 0x0b,
            b'\\' | b'\'' | b'"' | b'?' => byte,
            b'0'..=b'7' => {
                self.lexer.at -= 1;
                let value = self.digits(8, 3);
                return match u8::try_from(value) {
                    Ok(value) => {
                        out.push(value);
                        Ok(())
                    }
                    Err(_) => Err(malformed("an octal escape is at most `\\377`")),
                };
            }
            b'x' | b'X' => self.digits(16, 2) as u8,
            b'u' | b'U' => {
                let value = self.digits(16, if byte == b'u' { 4 } else { 8 });
                let c = char::from_u32(value).ok_or_else(|| malformed("the escape is no character"))?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => {
                return Err(malformed(format!(
                    "there is no escape `\\{}`",
                    char::from(byte).escape_default()
                )));
            }
        };
        out.push(simple);
        Ok(())
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut value = 0u32;
        for _ in 0..most {
            let Some(digit) = self.lexer.peek().and_then(|byte| char::from(byte).to_digit(radix)) else {
                break;
            };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.lexer.at += 1;
        }
        value
    }
}

fn integer(literal: &str) -> Option<i128> {
    let (negative, digits) = match literal.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, literal),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8).ok()?,
        None if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
        None => return None,
    };
    Some(if negative { -i128::from(value) } else { i128::from(value) })
}

fn float(literal: &str) -> Option<f64> {
    let (negative, rest) = match literal.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, literal),
    };
    let value = match rest.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "nan" => f64::NAN,
        text if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
            text.strip_suffix('f').unwrap_or(text).parse().ok()?
        }
        _ => return None,
    };
    Some(if negative { -value } else { value })
}
