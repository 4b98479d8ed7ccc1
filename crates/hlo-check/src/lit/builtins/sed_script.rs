//! Scripts of `sed`: addresses, `s`, `y`, `d`, `p`, `q`, `=`, `a`, `i`, `c`.
//!
//! Lines are bytes, as in the C locale.

use std::rc::Rc;

use super::posix_regex::SedRegex;

/// A parsed script.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) commands: Vec<Step>,
}

#[derive(Debug)]
pub(super) struct Step {
    pub(super) from: Option<Address>,
    pub(super) to: Option<Address>,
    pub(super) negated: bool,
    pub(super) action: Action,
}

#[derive(Debug)]
pub(super) enum Address {
    Line(usize),
    Last,
    Match(Rc<SedRegex>),
    /// As second address: that many lines more.
    More(usize),
}

#[derive(Debug)]
pub(super) enum Action {
    Substitute { regex: Rc<SedRegex>, parts: Vec<Part>, first: usize, all: bool, print: bool },
    Translate(Box<[u8; 256]>),
    Delete,
    Print,
    Quit(i32),
    LineNumber,
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
}

/// A piece of a replacement.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(Vec<u8>),
    Group(usize),
}

impl Script {
    /// Parses a script; `extended` is `-E`.
    ///
    /// # Errors
    /// What can't be read or isn't supported.
    pub(super) fn parse(text: &str, extended: bool) -> Result<Self, String> {
        let mut parser = Parser { text, at: 0, extended, last: None };
        let mut commands = Vec::new();
        loop {
            parser.skip(|c| c.is_whitespace() || c == ';');
            match parser.peek() {
                None => return Ok(Script { commands }),
                Some('#') => parser.skip(|c| c != '\n'),
                Some(_) => commands.push(parser.step()?),
            }
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    extended: bool,
    /// The expression that an empty one stands for.
    last: Option<Rc<SedRegex>>,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn skip(&mut self, test: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !test(c)).unwrap_or(rest.len());
    }

    fn number(&mut self) -> Option<usize> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..end].parse().ok()?;
        self.at += end;
        Some(number)
    }

    fn step(&mut self) -> Result<Step, String> {
        let from = self.address()?;
        let mut to = None;
        self.skip(|c| c == ' ');
        if from.is_some() && self.peek() == Some(',') {
            self.next();
            self.skip(|c| c == ' ');
            to = if self.peek() == Some('+') {
                self.next();
                self.number().map(Address::More)
            } else {
                self.address()?
            };
            if to.is_none() {
                return Err("unexpected ','".to_owned());
            }
        }
        self.skip(|c| c == ' ');
        let mut negated = false;
        while self.peek() == Some('!') {
            self.next();
            negated = true;
            self.skip(|c| c == ' ');
        }
        let action = self.action()?;
        Ok(Step { from, to, negated, action })
    }

    fn address(&mut self) -> Result<Option<Address>, String> {
        match self.peek() {
            Some('$') => {
                self.next();
                Ok(Some(Address::Last))
            }
            Some(c) if c.is_ascii_digit() => {
                self.number().map(Address::Line).map(Some).ok_or("number too large".to_owned())
            }
            Some(c @ ('/' | '\\')) => {
                self.next();
                let delimiter =
                    if c == '/' { '/' } else { self.next().ok_or("unterminated address regex")? };
                let pattern = self.pattern(delimiter).ok_or("unterminated address regex")?;
                let fold = self.peek() == Some('I');
                if fold {
                    self.next();
                }
                Ok(Some(Address::Match(self.regex(&pattern, fold)?)))
            }
            _ => Ok(None),
        }
    }

    /// Like [`Parser::delimited`], for a pattern: delimiters in brackets are members of the set.
    fn pattern(&mut self, delimiter: char) -> Option<String> {
        let from = self.at;
        self.delimited_by(delimiter, true).or_else(|| {
            // An unpaired `[`; the expression's own parser complains about it.
            self.at = from;
            self.delimited(delimiter)
        })
    }

    /// Text up to the delimiter, in which `\` and the delimiter stand for the delimiter.
    fn delimited(&mut self, delimiter: char) -> Option<String> {
        self.delimited_by(delimiter, false)
    }

    fn delimited_by(&mut self, delimiter: char, brackets: bool) -> Option<String> {
        let mut out = String::new();
        loop {
            match self.next()? {
                c if c == delimiter => return Some(out),
                '[' if brackets => {
                    let rest = self.rest();
                    let members = rest.strip_prefix('^').unwrap_or(rest);
                    let first = members.chars().next()?.len_utf8();
                    let close = members[first..].find(']')? + first + 1;
                    let end = rest.len() - members.len() + close;
                    out.push('[');
                    out.push_str(&rest[..end]);
                    self.at += end;
                }
                '\\' => match self.next()? {
                    c if c == delimiter => out.push(c),
                    c => {
                        out.push('\\');
                        out.push(c);
                    }
                },
                c => out.push(c),
            }
        }
    }

    fn regex(&mut self, pattern: &str, fold: bool) -> Result<Rc<SedRegex>, String> {
        if pattern.is_empty() {
            return self.last.clone().ok_or_else(|| "no previous regular expression".to_owned());
        }
        let regex = Rc::new(SedRegex::new(pattern, self.extended, fold)?);
        self.last = Some(Rc::clone(&regex));
        Ok(regex)
    }

    fn action(&mut self) -> Result<Action, String> {
        let action = match self.next() {
            Some('s') => self.substitution()?,
            Some('y') => self.translation()?,
            Some('d') => Action::Delete,
            Some('p') => Action::Print,
            Some('=') => Action::LineNumber,
            Some('q') => {
                self.skip(|c| c == ' ');
                let status = self.number().unwrap_or(0);
                Action::Quit(i32::try_from(status).unwrap_or(i32::MAX))
            }
            Some('a') => return Ok(Action::Append(self.text_argument())),
            Some('i') => return Ok(Action::Insert(self.text_argument())),
            Some('c') => return Ok(Action::Change(self.text_argument())),
            Some(other) => return Err(format!("unsupported command: '{other}'")),
            None => return Err("missing command".to_owned()),
        };
        self.skip(|c| c == ' ' || c == '\t');
        match self.peek() {
            None | Some(';' | '\n' | '#') => Ok(action),
            Some(_) => Err(format!("extra characters after command: '{}'", self.rest())),
        }
    }

    /// The rest of the line, after `\` and a line end or blanks.
    fn text_argument(&mut self) -> Vec<u8> {
        self.skip(|c| c == ' ' || c == '\t');
        if self.rest().starts_with("\\\n") {
            self.at += 2;
        } else if self.rest().starts_with('\\') {
            self.at += 1;
        }
        let rest = self.rest();
        let end = rest.find('\n').unwrap_or(rest.len());
        self.at += end;
        let mut text = rest.as_bytes()[..end].to_vec();
        text.push(b'\n');
        text
    }

    fn substitution(&mut self) -> Result<Action, String> {
        const UNTERMINATED: &str = "unterminated 's' command";
        let delimiter = self.next().filter(|&c| c != '\n' && c != '\\').ok_or(UNTERMINATED)?;
        let pattern = self.pattern(delimiter).ok_or(UNTERMINATED)?;
        let replacement = self.delimited(delimiter).ok_or(UNTERMINATED)?;
        let (mut all, mut print, mut fold, mut first) = (false, false, false, 1);
        loop {
            match self.peek() {
                Some('g') => all = true,
                Some('p') => print = true,
                Some('i' | 'I') => fold = true,
                Some(c) if c.is_ascii_digit() => {
                    first = self.number().filter(|&n| n > 0).ok_or("bad number in 's' command")?;
                    continue;
                }
                _ => break,
            }
            self.next();
        }
        let regex = self.regex(&pattern, fold)?;
        let parts = replacement_parts(&replacement)?;
        for part in &parts {
            if let Part::Group(number) = part
                && *number >= regex.group_count()
            {
                return Err(format!("invalid reference \\{number} on 's' command's RHS"));
            }
        }
        Ok(Action::Substitute { regex, parts, first, all, print })
    }

    fn translation(&mut self) -> Result<Action, String> {
        const UNTERMINATED: &str = "unterminated 'y' command";
        let delimiter = self.next().ok_or(UNTERMINATED)?;
        let unescape = |text: String| text.replace("\\n", "\n").replace("\\\\", "\\");
        let from = unescape(self.delimited(delimiter).ok_or(UNTERMINATED)?);
        let to = unescape(self.delimited(delimiter).ok_or(UNTERMINATED)?);
        if from.len() != to.len() {
            return Err("strings for 'y' command are different lengths".to_owned());
        }
        let mut table = Box::new([0u8; 256]);
        for (value, entry) in (0u8..=255).zip(table.iter_mut()) {
            *entry = value;
        }
        for (from, to) in from.bytes().zip(to.bytes()) {
            table[usize::from(from)] = to;
        }
        Ok(Action::Translate(table))
    }
}

fn replacement_parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut literal = Vec::new();
    let mut chars = text.chars();
    let flush = |literal: &mut Vec<u8>, parts: &mut Vec<Part>| {
        if !literal.is_empty() {
            parts.push(Part::Text(std::mem::take(literal)));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '&' => {
                flush(&mut literal, &mut parts);
                parts.push(Part::Group(0));
            }
            '\\' => match chars.next() {
                Some(digit @ '0'..='9') => {
                    flush(&mut literal, &mut parts);
                    parts.push(Part::Group(digit as usize - '0' as usize));
                }
                Some('n') => literal.push(b'\n'),
                Some('t') => literal.push(b'\t'),
                Some(case @ ('U' | 'L' | 'u' | 'l' | 'E')) => {
                    return Err(format!("case conversion '\\{case}' is not supported"));
                }
                Some(other) => literal.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
                None => literal.push(b'\\'),
            },
            c => literal.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    flush(&mut literal, &mut parts);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::super::sed_stream::Stream;
    use super::*;

    fn run(script: &str, extended: bool, quiet: bool, input: &str) -> String {
        let script = Script::parse(script, extended).unwrap_or_else(|error| panic!("{error}"));
        let mut stream = Stream::new(&script, quiet);
        stream.run(&[input.as_bytes()]).unwrap();
        String::from_utf8(stream.out).unwrap()
    }

    #[test]
    fn substitutions() {
        for (script, input, expected) in [
            ("s/a/b/", "aa\n", "ba\n"),
            ("s/a/b/g", "aXa", "bXb"),
            ("s/a/b/2", "aaa\n", "aba\n"),
            ("s/a/b/2g", "aaa\n", "abb\n"),
            ("s/A/b/i", "aa\n", "ba\n"),
            ("s@/x@[&]@", "a/x\n", "a[/x]\n"),
            (r"s/\(a*\)\(b\)/\2\1/", "aab\n", "baa\n"),
            (r"s/a\/b/c/", "a/b\n", "c\n"),
            (r"s/a+/X/", "a+aa\n", "Xaa\n"),
            (r"s/a\+/X/", "+aa\n", "+X\n"),
            (r"s/*a/X/", "*a\n", "X\n"),
            (r"s/a^b$c/X/", "a^b$c\n", "X\n"),
            (r"s/^a$/X/", "a\nba\n", "X\nba\n"),
            (r"s/[]a]/X/g", "]a\n", "XX\n"),
            (r"s/[^[:digit:]]/X/g", "1a\n", "1X\n"),
            (r"s/{}/X/", "{}\n", "X\n"),
            (r"s/x\{2\}/Y/", "xxx\n", "Yx\n"),
            (r"s/a/\&\n/", "a\n", "&\n\n"),
            (r"s/a\|b/X/g", "abc\n", "XXc\n"),
            ("s/a/b/;s/b/c/", "a\n", "c\n"),
            ("s/a/b/\ns//Y/", "aa\n", "bY\n"),
            ("s/[a-]/X/g", "a-b\n", "XXb\n"),
            ("s/[/]/x/", "a/b\n", "axb\n"),
            (r"s/[\n.]/X/g", "a.n\\\n", "aXn\\\n"),
            // The longest, not the first alternative.
            (r"s/a\|ab\|abc/X/", "abcd\n", "Xd\n"),
            (r"s/\(a\|ab\)\(c\|bcd\)/[\1|\2]/", "abcd\n", "[a|bcd]\n"),
            (r"s/\(.\)\1/[\1]/g", "abbcc\n", "a[b][c]\n"),
            (r"s/x*/-/g", "abc\n", "-a-b-c-\n"),
            (r"s/b*/-/g", "abbc\n", "-a-c-\n"),
            (r"s/^a/X/g", "aaa\n", "Xaa\n"),
            (r"s/\<a/X/g", "a aa ba\n", "X Xa ba\n"),
            (r"s/a\b/X/g", "a aa ab\n", "X aX ab\n"),
            (r"s/\w\+\W/[&]/g", "ab_1 c\n", "[ab_1 ]c\n"),
            (r"s/\s\S/X/", "a b\n", "aX\n"),
            (r"s/\(\|b\)c/[\1]/g", "bcc\n", "[b][]\n"),
            (r"s/a**/X/", "aab\n", "Xb\n"),
            (r"s/\(b\)*\(c\)\{2\}/\2\1/", "bbcc\n", "cb\n"),
            (r"s/\({\)a/\1/", "{a\n", "{\n"),
            (r"s/[[:upper:][:digit:]]*/x/", "A1b\n", "xb\n"),
            ("s/\u{e9}*x/y/", "\u{e9}\u{e9}x\n", "y\n"),
        ] {
            assert_eq!(run(script, false, false, input), expected, "{script}");
        }
        assert_eq!(run("s/(a|b)+{1}/X/", true, false, "ab\n"), "X\n");
        assert_eq!(run(r"s/\(a\)/X/", true, false, "(a)\n"), "X\n");
        assert_eq!(run("s/(a|ab)(c|bcd)(d*)/[\\1|\\2|\\3]/", true, false, "abcd\n"), "[ab|c|d]\n");
        assert_eq!(run("s/(one|onetwo|three)+/X/g", true, false, "onetwo threethree\n"), "X X\n");
        assert_eq!(run(r"s/(a)|b\b|(c)/[\1\2]/g", true, false, "abc b\n"), "[a]b[c] []\n");
        assert_eq!(run("s/a||b/X/", true, false, "b\n"), "X\n");
        assert_eq!(run("s/()a/X/", true, false, "a\n"), "X\n");
    }

    #[test]
    fn addresses_and_commands() {
        let input = "1\n2\n3\n4\n5\n";
        for (script, quiet, expected) in [
            ("2d", false, "1\n3\n4\n5\n"),
            ("$d", false, "1\n2\n3\n4\n"),
            ("/3/d", false, "1\n2\n4\n5\n"),
            ("2,4d", false, "1\n5\n"),
            ("2,+1d", false, "1\n4\n5\n"),
            ("/2/,/4/p", true, "2\n3\n4\n"),
            ("/2/,$p", true, "2\n3\n4\n5\n"),
            ("4,2p", true, "4\n"),
            ("2!d", false, "2\n"),
            ("2q", false, "1\n2\n"),
            ("2=", true, "2\n"),
            ("y/123/abc/", false, "a\nb\nc\n4\n5\n"),
            ("2a x", false, "1\n2\nx\n3\n4\n5\n"),
            ("2i\\\nx", false, "1\nx\n2\n3\n4\n5\n"),
            ("2,3c x", false, "1\nx\n4\n5\n"),
            ("s/3/x/p", true, "x\n"),
            ("# note\n1d;2d", false, "3\n4\n5\n"),
        ] {
            assert_eq!(run(script, false, quiet, input), expected, "{script}");
        }
    }

    #[test]
    fn errors() {
        for script in [
            "s/a",
            "s/a/b",
            "s/a/\\1/",
            "k",
            "s/a/b/x",
            "/a",
            "1,d",
            "y/ab/c/",
            "s/\\(a\\)\\2/x/",
            "s/a\\B/x/",
            "s/\\(a/x/",
            "s/a\\)/x/",
            "s/a\\{1/x/",
            "s//x/",
            "s/[a/b/",
            "s/a\\",
            "1",
        ] {
            assert!(Script::parse(script, false).is_err(), "{script}");
        }
    }

    #[test]
    fn random_scripts_do_not_panic() {
        const PIECES: [&str; 24] = [
            "s", "/", "y", "\\", "[", "]", "^", "$", "(", ")", "{", "}", "*", "a", "\u{e9}", ",", "1", "+",
            "g", ";", "!", "\n", "&", "d",
        ];
        let mut state = 1u64;
        let mut next = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % bound
        };
        let mut valid = 0;
        for _ in 0..20_000 {
            let length = next(12);
            let script: String = (0..length).map(|_| PIECES[next(PIECES.len())]).collect();
            let script = if next(2) == 0 { format!("s/{script}/x/") } else { script };
            if let Ok(script) = Script::parse(&script, next(2) == 0) {
                valid += 1;
                Stream::new(&script, false).run(&[b"a1(\n\xff+e\n\na"]).unwrap();
            }
        }
        assert!(valid > 1000, "{valid}");
    }
}
