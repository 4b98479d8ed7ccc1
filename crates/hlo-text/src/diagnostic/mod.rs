//! Diagnostics as data: a code, spans, what was expected, help. How they look is the business of renderers.

mod decode;
mod explanation;
mod report;
mod sniff;

pub(crate) use decode::mistaken;
pub use decode::{Rejected, decode};
pub use explanation::Explanation;
pub use report::{Report, Source, place, severity_name};
pub use sniff::sniff;

/// A range of bytes of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end`; inputs are below 4 GiB.
    #[inline]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The text is read all the same.
    Warning,
    /// It is not.
    Error,
}

macro_rules! codes {
    ($($variant:ident $number:literal $title:literal;)*) => {
        /// A stable code of a kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $variant,)*
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// `HLO0001` and so on; never reused.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $number,)* }
            }

            /// One line on what it means.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$variant => $title,)* }
            }

            /// The code written `text`.
            pub fn from_text(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.as_str().eq_ignore_ascii_case(text))
            }
        }
    };
}

codes! {
    UnexpectedToken "HLO0001" "the text is not what the grammar expects here";
    NotHloText "HLO0002" "the input is something else than HLO text";
    UnknownOpcode "HLO0003" "there is no such opcode";
    UnknownAttribute "HLO0004" "the opcode has no such attribute";
    DuplicateAttribute "HLO0005" "an attribute is given twice";
    MissingAttribute "HLO0006" "an attribute the opcode needs is missing";
    BadAttributeValue "HLO0007" "the value of an attribute is malformed";
    UndefinedInstruction "HLO0008" "an operand names an instruction that is not defined before it";
    UndefinedComputation "HLO0009" "an attribute names a computation that is not defined";
    DuplicateInstruction "HLO0010" "two instructions of a computation have the same name";
    DuplicateComputation "HLO0011" "two computations have the same name";
    IllegalName "HLO0012" "the name is reserved";
    OperandCount "HLO0013" "the opcode takes another number of operands";
    OperandShape "HLO0014" "a declared operand shape differs from the operand's";
    MissingShape "HLO0015" "the result shape must be written for this opcode";
    ShapeInference "HLO0016" "the operands and attributes don't determine a result shape";
    BadShape "HLO0017" "a shape is malformed";
    BadLayout "HLO0018" "a layout is malformed or doesn't fit its shape";
    BadLiteral "HLO0019" "a literal is malformed or doesn't fit its shape";
    OutOfRange "HLO0020" "a number doesn't fit its type";
    BadSharding "HLO0021" "a sharding is malformed";
    BadReplicaGroups "HLO0022" "replica groups or a device mesh are malformed";
    BadParameter "HLO0023" "parameter numbers are not 0, 1, 2 and so on";
    BadRoot "HLO0024" "a computation has more than one root, or a module more than one entry";
    BadSignature "HLO0025" "a computation's signature differs from its root";
    BadAlias "HLO0026" "an alias or donor entry doesn't fit the entry computation";
    BadAsync "HLO0027" "an asynchronous operation is malformed";
    ShapeForm "HLO0028" "the result shape has the wrong form for the opcode";
    TooDeep "HLO0029" "the text is nested too deeply";
    TooLarge "HLO0030" "the text or a part of it is too large";
    BadStackFrames "HLO0031" "a stack-frame table is malformed";
    BadComputation "HLO0032" "a computation doesn't fit where it is called";
    Dialect "HLO0033" "the spelling is that of another XLA version";
    UnknownAttributeKept "HLO0034" "an unknown attribute was kept as it is";
    NotUtf8 "HLO0035" "the input is not UTF-8";
}

/// A place that belongs to a diagnostic, and what is to be said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What; may be empty.
    pub text: String,
}

/// One fault of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of fault.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence in the user's terms.
    pub message: String,
    /// The place, at the token where XLA's parser stops, too.
    pub primary: Label,
    /// Other places that matter, such as the first definition.
    pub secondary: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            help: None,
        }
    }

    /// The same at another primary place; the place before becomes a secondary one.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        let before = std::mem::replace(&mut self.primary, Label { span, text: String::new() });
        self.secondary.push(before);
        self
    }

    /// The same with words at the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// The same with another place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// The same with advice.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// The same as a warning.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The same on the heap: results on the parser's paths stay small.
    pub fn boxed(self) -> Box<Self> {
        Box::new(self)
    }
}

/// The longest piece of input a message quotes, in characters.
const QUOTE_LIMIT: usize = 40;

/// A piece of input short enough to quote.
pub fn shorten(text: &str) -> String {
    let first_line = text.lines().next().unwrap_or("");
    if first_line.chars().count() <= QUOTE_LIMIT && first_line.len() == text.len() {
        return text.to_owned();
    }
    first_line.chars().take(QUOTE_LIMIT).chain("...".chars()).collect()
}

/// Longer words are not compared with what could have been meant.
const MAX_SUGGESTION_LENGTH: usize = 256;

/// The candidate closest to `word` if it is close enough to be what was meant.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_SUGGESTION_LENGTH {
        return None;
    }
    let mut limit = word.len().div_ceil(3).clamp(1, 4);
    let mut rows = Rows::default();
    let mut best = None;
    for candidate in candidates {
        let distance = rows.edit_distance(word.as_bytes(), candidate.as_bytes(), limit);
        if distance <= limit {
            best = Some(candidate);
            // From now on only what is closer counts.
            match distance.checked_sub(1) {
                Some(closer) => limit = closer,
                None => break,
            }
        }
    }
    best
}

/// The last rows of the table of an edit distance.
#[derive(Default)]
struct Rows {
    before_previous: Vec<usize>,
    previous: Vec<usize>,
    current: Vec<usize>,
}

impl Rows {
    /// Levenshtein distance with transpositions, in bytes; anything above `limit` may be `limit + 1`.
    fn edit_distance(&mut self, a: &[u8], b: &[u8], limit: usize) -> usize {
        let over = limit + 1;
        if a.len().abs_diff(b.len()) > limit {
            return over;
        }
        for row in [&mut self.before_previous, &mut self.previous, &mut self.current] {
            row.clear();
            row.resize(b.len() + 1, over);
        }
        for (index, cell) in self.previous.iter_mut().enumerate().take(limit + 1) {
            *cell = index;
        }
        for i in 1..=a.len() {
            // Cells further from the diagonal than the limit are above it.
            let (from, to) = (i.saturating_sub(limit).max(1), (i + limit).min(b.len()));
            self.current[from - 1] = if from == 1 { i } else { over };
            let mut lowest = self.current[from - 1];
            for j in from..=to {
                let substitution = self.previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut cell = substitution.min(self.previous[j] + 1).min(self.current[j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    cell = cell.min(self.before_previous[j - 2] + 1);
                }
                self.current[j] = cell;
                lowest = lowest.min(cell);
            }
            if to < b.len() {
                self.current[to + 1] = over;
            }
            if lowest > limit {
                return over;
            }
            std::mem::swap(&mut self.before_previous, &mut self.previous);
            std::mem::swap(&mut self.previous, &mut self.current);
        }
        self.previous[b.len()].min(over)
    }
}
