//! JSON with sorted keys.

use crate::MAX_NESTING_DEPTH;

/// `text` without blanks and with the fields of every object in the order of their keys' bytes; `None` if it is
/// not JSON. Strings and numbers stay as they are written.
pub(crate) fn sorted_json(text: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader { text, at: 0 };
    let mut out = Vec::with_capacity(text.len());
    reader.value(&mut out, 0)?;
    (reader.peek().is_none()).then_some(out)
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Reader<'t> {
    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// A quoted string, quotes included.
    fn string(&mut self) -> Option<&'t [u8]> {
        let start = self.at;
        self.eat(b'"')?;
        loop {
            self.at += memchr::memchr2(b'"', b'\\', self.text.get(self.at..)?)?;
            if self.text[self.at] == b'"' {
                self.at += 1;
                return self.text.get(start..self.at);
            }
            self.at += 2;
        }
    }

    /// Appends the value that comes next.
    fn value(&mut self, out: &mut Vec<u8>, depth: usize) -> Option<()> {
        if depth > MAX_NESTING_DEPTH {
            return None;
        }
        match self.peek()? {
            b'{' => self.object(out, depth),
            b'[' => {
                self.at += 1;
                out.push(b'[');
                if self.peek()? != b']' {
                    self.value(out, depth + 1)?;
                    while self.peek()? == b',' {
                        self.at += 1;
                        out.push(b',');
                        self.value(out, depth + 1)?;
                    }
                }
                self.eat(b']')?;
                out.push(b']');
                Some(())
            }
            b'"' => {
                out.extend_from_slice(self.string()?);
                Some(())
            }
            _ => {
                let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
                let start = self.at;
                self.at += self.text[start..].iter().take_while(|byte| is_plain(byte)).count();
                out.extend_from_slice(&self.text[start..self.at]);
                (self.at > start).then_some(())
            }
        }
    }

    fn object(&mut self, out: &mut Vec<u8>, depth: usize) -> Option<()> {
        self.eat(b'{')?;
        let mut fields: Vec<(&[u8], Vec<u8>)> = Vec::new();
        if self.peek()? != b'}' {
            loop {
                self.peek()?;
                let key = self.string()?;
                self.eat(b':')?;
                let mut value = Vec::new();
                self.value(&mut value, depth + 1)?;
                fields.push((key, value));
                if self.peek()? != b',' {
                    break;
                }
                self.at += 1;
            }
        }
        self.eat(b'}')?;
        fields.sort_by_key(|field| field.0);
        out.push(b'{');
        for (index, (key, value)) in fields.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(key);
            out.push(b':');
            out.extend_from_slice(value);
        }
        out.push(b'}');
        Some(())
    }
}
