//! Formats of numbers: `%u`, `%d`, `%x`, `%X` with precision and `0x`.

use num_bigint::{BigInt, Sign};

/// Largest precision that can be asked for; what a number written with it takes stays small. In a
/// pattern that defines a variable, the regular expression's own bound (255) applies first.
pub const MAX_PRECISION: u32 = 1 << 16;

/// The conversion of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatKind {
    /// `%u`
    Unsigned,
    /// `%d`
    Signed,
    /// `%X`
    HexUpper,
    /// `%x`
    HexLower,
}

/// How a number is written and matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The conversion.
    pub kind: FormatKind,
    /// Least number of digits; 0 for no precision.
    pub precision: u32,
    /// With `0x` before the digits (`%#x`).
    pub alternate: bool,
}

impl Format {
    /// `%u`, which applies when nothing else does.
    pub const UNSIGNED: Self = Self { kind: FormatKind::Unsigned, precision: 0, alternate: false };

    /// The specifier as messages quote it.
    #[must_use]
    pub fn specifier(self) -> &'static str {
        match self.kind {
            FormatKind::Unsigned => "%u",
            FormatKind::Signed => "%d",
            FormatKind::HexUpper => "%X",
            FormatKind::HexLower => "%x",
        }
    }

    fn is_hex(self) -> bool {
        matches!(self.kind, FormatKind::HexUpper | FormatKind::HexLower)
    }

    /// A regular expression for every number of this format.
    #[must_use]
    pub fn wildcard(self) -> String {
        let (sign, digits) = match self.kind {
            FormatKind::Unsigned => ("", "0-9"),
            FormatKind::Signed => ("-?", "0-9"),
            FormatKind::HexUpper => ("", "0-9A-F"),
            FormatKind::HexLower => ("", "0-9a-f"),
        };
        let prefix = if self.alternate { "0x" } else { "" };
        if self.precision == 0 {
            format!("{prefix}{sign}[{digits}]+")
        } else {
            let nonzero = digits.replacen('0', "1", 1);
            format!("{prefix}{sign}([{nonzero}][{digits}]*)?[{digits}]{{{}}}", self.precision)
        }
    }

    /// Writes a number; `None` when the format cannot express it (a negative number with a format
    /// without sign).
    #[must_use]
    pub fn write(self, value: &BigInt) -> Option<String> {
        let negative = value.sign() == Sign::Minus;
        if negative && self.kind != FormatKind::Signed {
            return None;
        }
        let mut digits = value.magnitude().to_str_radix(if self.is_hex() { 16 } else { 10 });
        if self.kind == FormatKind::HexUpper {
            digits.make_ascii_uppercase();
        }
        let zeros = (self.precision as usize).saturating_sub(digits.len());
        let sign = if negative { "-" } else { "" };
        let prefix = if self.alternate { "0x" } else { "" };
        Some(format!("{sign}{prefix}{}{digits}", "0".repeat(zeros)))
    }

    /// Reads a number that the wildcard matched. What cannot be read (`0X` matched without regard to
    /// case) counts as zero, as in LLVM.
    #[must_use]
    pub fn read(self, text: &[u8]) -> BigInt {
        let (negative, text) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let text = if self.alternate { text.strip_prefix(b"0x").unwrap_or(text) } else { text };
        let radix = if self.is_hex() { 16 } else { 10 };
        let value = BigInt::parse_bytes(text, radix).unwrap_or_default();
        if negative { -value } else { value }
    }
}
