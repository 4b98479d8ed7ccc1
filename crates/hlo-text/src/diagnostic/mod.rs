//! Diagnostics as data: a code, spans, what was expected, help. How they look is the business of renderers.

mod decode;
mod explanation;
mod report;
mod rules;
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
    BadProto "HLO0036" "a protocol buffer is malformed";
    ProtoId "HLO0037" "an id in a protocol buffer leads nowhere";
    ProtoValue "HLO0038" "a field of a protocol buffer has a value that doesn't fit";
    ProtoLoss "HLO0039" "another form can't carry what is in the module";
    RemovedReference "HLO1001" "an operand, root, predecessor or called computation is not where it is used";
    OperandCycle "HLO1002" "instructions depend on each other in a circle";
    RepeatedName "HLO1003" "two instructions of a module have the same name";
    WrongOperandCount "HLO1004" "the opcode takes another number of operands";
    UnboundedSize "HLO1005" "a result has a dimension of unknown size";
    LayoutRank "HLO1006" "a layout is none for its array";
    ScheduleOrder "HLO1007" "a scheduled computation is not in an order in which it can run";
    ThreadMismatch "HLO1008" "caller and called computation belong to different execution threads";
    OriginTree "HLO1009" "`origin` has another tuple structure than the result";
    AllReduceLayouts "HLO1010" "some all-reduces of a module constrain their layout, others don't";
    BufferContext "HLO1011" "a buffer stands where only arrays are allowed";
    BufferWriters "HLO1012" "a buffer is written by more than one instruction";
    BufferCustomCall "HLO1013" "a custom call uses its buffers wrongly";
    ElementSize "HLO1014" "a layout states an element size for elements that are whole bytes";
    ShapeSize "HLO1015" "a shape has more elements than can be counted";
    EntryLayoutShape "HLO1101" "a shape of the entry computation layout is invalid";
    EntryResult "HLO1102" "the entry computation's result differs from the entry computation layout";
    EntryParameters "HLO1103" "the entry computation's parameters differ from the entry computation layout";
    AliasTarget "HLO1104" "an input-output alias names a parameter or part that doesn't exist, or one twice";
    AliasShape "HLO1105" "an output must share a parameter's buffer but has another shape";
    DonorTarget "HLO1106" "a buffer donor names a parameter or part that doesn't exist";
    DonorAliased "HLO1107" "a buffer is donated and aliased at once";
    StartUsers "HLO1201" "the start of a pair must have exactly one user, its done";
    DoneOperand "HLO1202" "the end of a pair must take what its start gives";
    AsyncShape "HLO1203" "the shape of an asynchronous operation differs from its computation's";
    AsyncOperands "HLO1204" "the operands of an asynchronous operation don't fit its shape";
    AsyncContent "HLO1205" "an asynchronous computation holds more than one operation";
    AsyncAliasing "HLO1206" "an alias of an asynchronous operation is wrong";
    ChannelPair "HLO1207" "the two halves of a transfer don't go together";
    HostTransfers "HLO1208" "host transfers of one channel differ";
    ShardingTree "HLO1301" "a sharding has another tuple structure than the shape";
    ShardingRank "HLO1302" "a sharding doesn't cut its array into tiles";
    ShardingDevices "HLO1303" "a sharding names devices that don't exist, or one twice";
    ShardingConsistency "HLO1304" "a loop or conditional and its computations are sharded differently";
    ResultShape "HLO1401" "the stated shape is not the one that follows from the operands";
    ElementTypes "HLO1402" "the opcode doesn't take operands of this element type";
    OperandTypes "HLO1403" "the operands have different element types";
    OperandShapes "HLO1404" "the operands have shapes that don't go together";
    ImplicitBroadcast "HLO1405" "an operand has other dimensions than the result";
    MixedPrecision "HLO1406" "the operands are floating-point numbers of different widths";
    NotAnArray "HLO1407" "an operand must be an array";
    NotAToken "HLO1408" "an operand must be a token";
    ComparisonType "HLO1409" "the comparison type doesn't fit the operands";
    ConversionWidth "HLO1410" "the element types can't be converted into each other";
    PrecisionBits "HLO1411" "the exponent or mantissa bits are out of range";
    RandomBits "HLO1412" "the random bits of a stochastic conversion don't fit";
    ConstantShape "HLO1413" "a constant has no literal of its shape";
    BroadcastDimensions "HLO1501" "the dimensions of a broadcast don't map the operand into the result";
    ReshapeElements "HLO1502" "a reshape changes element type or element count";
    TransposePermutation "HLO1503" "the dimensions of a transpose are no permutation";
    ReverseDimensions "HLO1504" "the dimensions of a reverse are out of range or repeated";
    SliceBounds "HLO1505" "a slice lies outside its operand";
    StartIndices "HLO1506" "the start indices of a dynamic slice or update don't fit";
    DynamicSliceSize "HLO1507" "a dynamic slice is larger than its operand";
    UpdateShape "HLO1508" "an update doesn't fit into what it updates";
    PaddingShape "HLO1509" "a padding doesn't fit its operand";
    Concatenation "HLO1510" "the operands can't be concatenated along the dimension";
    GatherDimensions "HLO1511" "the dimension numbers of a gather don't fit together";
    ScatterDimensions "HLO1512" "the dimension numbers of a scatter don't fit together";
    Iota "HLO1513" "an iota has no such dimension or can't count in its type";
    TupleIndex "HLO1514" "an element is taken of what is no tuple, or beyond its end";
    DimensionSize "HLO1515" "the size of a dimension is asked for or set wrongly";
    TopK "HLO1516" "a topk wants more elements than there are";
    BitcastSize "HLO1551" "a bitcast changes the size in bytes or the memory";
    LayoutChange "HLO1552" "an instruction that can't change layouts has another than its operand";
    HostCopy "HLO1553" "a copy to or from the host changes the layout";
    MemoryChange "HLO1554" "a dynamic slice or update moves an array to a memory that it can't move it to";
    DotDimensions "HLO1601" "the dimension numbers or sizes of a dot don't fit together";
    RaggedDot "HLO1602" "the groups of a ragged dot don't fit";
    ScaledDot "HLO1603" "the scales of a scaled dot don't fit";
    ConvolutionDimensions "HLO1604" "the dimension numbers, groups or sizes of a convolution don't fit together";
    FftLength "HLO1605" "the lengths or types of a Fourier transform don't fit";
    MatrixShape "HLO1606" "the operands of a matrix decomposition or solver don't fit";
    BatchNormFeature "HLO1607" "the operands of a batch normalization don't fit its features";
    CallSignature "HLO1701" "a called computation takes other parameters than it is given";
    CompositeCall "HLO1702" "a composite call lacks its attributes";
    FusionSignature "HLO1703" "a fusion differs from its computation's parameters or root";
    FusionBody "HLO1704" "the computation of a fusion is not one that can be fused";
    AliasingPair "HLO1705" "an output-to-operand alias is out of range or of different shapes";
    WhileSignature "HLO1706" "the condition or body of a while takes or gives another shape";
    WhilePredicate "HLO1707" "the condition of a while doesn't give `pred[]`";
    BranchIndex "HLO1708" "the index of a conditional has the wrong type";
    BranchSignature "HLO1709" "the branches of a conditional take or give other shapes";
    MapSignature "HLO1710" "the computation of a map doesn't go with its operands";
    ReducerSignature "HLO1711" "a reduction's computation doesn't go with its operands";
    ReductionDimensions "HLO1712" "a reduction names a dimension out of range or twice";
    WindowShape "HLO1713" "a window doesn't fit what it goes over";
    SelectAndScatter "HLO1714" "the computations or source of a select-and-scatter don't fit";
    SortComparator "HLO1715" "the comparison of a sort doesn't go with its operands";
    SortDimension "HLO1716" "a sort names a dimension that doesn't exist";
    Scan "HLO1717" "the computation or dimension of a scan doesn't go with its operands";
    CustomCallLayouts "HLO1718" "the layout constraints of a custom call don't fit its operands";
    RandomSeedCall "HLO1719" "a call of GetRngSeed has operands or another result than `u64[]`";
    GroupMode "HLO1801" "global device numbers need a channel";
    ReplicaGroups "HLO1802" "replica groups don't name every participant exactly once";
    GroupSizes "HLO1803" "replica groups have different sizes";
    GroupsMissing "HLO1804" "replica groups must be given";
    CollectiveDimension "HLO1805" "a collective works along a dimension that doesn't exist";
    ShardCount "HLO1806" "a collective changes a dimension by another factor than its groups have members";
    CollectiveOperands "HLO1807" "the operands of a collective don't fit it";
    SourceTargetRange "HLO1808" "a source or target is no participant";
    SourceTargetRepeated "HLO1809" "a source or target occurs more than once";
    PermuteBuffers "HLO1810" "the buffers or offsets of a collective permute don't fit";
    AllReduceChannel "HLO1811" "the channel of an all-reduce must be positive";
    CopyBuffers "HLO1901" "source and destination of a copy differ";
    OutfeedShape "HLO1902" "an outfeed states another shape than it is given";
    RandomOperands "HLO1903" "the operands of a random number generator don't fit";
    RandomState "HLO1904" "the state of a random number generator changes its shape";
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
    /// The place people are shown, if XLA's parser goes on behind the fault and `primary` is there.
    pub focus: Option<Box<Label>>,
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
            focus: None,
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

    /// The same with the fault at `span`, before the primary place, which is only where XLA's parser stops.
    #[must_use]
    pub fn focus(mut self, span: Span, text: impl Into<String>) -> Self {
        self.focus = Some(Box::new(Label { span, text: text.into() }));
        self
    }

    /// The place people are shown.
    pub fn place(&self) -> &Label {
        self.focus.as_deref().unwrap_or(&self.primary)
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
