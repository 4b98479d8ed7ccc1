//! What each code means, at length, with an example that gets it and the same without the fault.
//!
//! The examples are files of tests/diagnostics, where what is said of them is checked.

use super::Code;

/// What a code means, at length.
#[derive(Clone, Copy, Debug)]
pub struct Explanation {
    /// A few sentences.
    pub text: &'static str,
    /// An input that gets the code; empty if no text does, only a faulty pass. Bytes, since one is not text.
    pub failing: &'static [u8],
    /// The same without the fault.
    pub fixed: &'static [u8],
}

/// A function that explains the codes of a table, and the table of their numbers. `text` codes have examples; `pass`
/// codes are those of faults that no text has.
macro_rules! explanations {
    ($function:ident, $numbers:ident; $($variant:ident $number:literal $kind:ident $text:literal;)*) => {
        pub(super) const fn $function(code: Code) -> Option<Explanation> {
            match code {
                $(Code::$variant => Some(Explanation {
                    text: $text,
                    failing: explanations!(@$kind $number, ".hlo"),
                    fixed: explanations!(@$kind $number, ".fixed.hlo"),
                }),)*
                _ => None,
            }
        }

        #[cfg(test)]
        pub(super) const $numbers: &[(Code, &str)] = &[$((Code::$variant, $number),)*];
    };
    (@text $number:literal, $ending:literal) => {
        include_bytes!(concat!("../../tests/diagnostics/", $number, $ending))
    };
    (@proto $number:literal, ".hlo") => {
        include_bytes!(concat!("../../tests/diagnostics/", $number, ".pbtxt"))
    };
    (@proto $number:literal, ".fixed.hlo") => {
        include_bytes!(concat!("../../tests/diagnostics/", $number, ".fixed.pbtxt"))
    };
    (@pass $number:literal, $ending:literal) => {
        b""
    };
}
pub(super) use explanations;

impl Code {
    /// What the code means, at length, with examples.
    pub const fn explanation(self) -> Explanation {
        match explain_fault(self) {
            Some(explanation) => explanation,
            None => match super::rules::explain_rule(self) {
                Some(explanation) => explanation,
                None => Explanation { text: "", failing: b"", fixed: b"" },
            },
        }
    }

    /// Whether the code is that of a rule of the verifier.
    pub const fn is_rule(self) -> bool {
        explain_fault(self).is_none()
    }

    /// Whether the verifier checks the rule only where layouts are final.
    pub const fn is_layout_sensitive(self) -> bool {
        matches!(self, Self::BitcastSize | Self::LayoutChange | Self::HostCopy | Self::MemoryChange)
    }
}

impl Code {
    /// Whether the code is that of a warning: in lenient reading, or always.
    pub const fn is_warning(self) -> bool {
        matches!(self, Self::Dialect | Self::UnknownAttributeKept | Self::ProtoLoss)
    }

    /// Whether only strict reading gives the code.
    pub const fn is_strict_only(self) -> bool {
        matches!(self, Self::UnknownAttribute)
    }
}

explanations! {
    explain_fault, NUMBERS;
    UnexpectedToken "HLO0001" text
        "The parser met something that can't stand at this place. The message says what it was waiting \
         for; the cause is often a little earlier: a comma, parenthesis or brace that was forgotten.";
    NotHloText "HLO0002" text
        "The input is of another kind: MLIR, LLVM IR, a protobuf, a compressed file, a web page. The help \
         line says how to get HLO text from it. HLO text begins with `HloModule`, `ENTRY`, or a single \
         instruction.";
    UnknownOpcode "HLO0003" text
        "The word before the operands is none of XLA's opcodes. Opcodes are spelt with hyphens: `get- \
         tuple-element`, `all-reduce-start`.";
    UnknownAttribute "HLO0004" text
        "In strict reading only attributes that XLA knows for this opcode are accepted. Without \
         `--strict` such an attribute is kept and printed back, with a warning.";
    DuplicateAttribute "HLO0005" text
        "Every attribute, header field and field of a table stands once at most. Nothing says which of \
         two should count, so neither does.";
    MissingAttribute "HLO0006" text
        "This opcode means nothing without the attribute: a compare has a direction, a transpose its \
         dimensions. The message names what is missing.";
    BadAttributeValue "HLO0007" text
        "The attribute is known, but its value isn't one: a word that is not in the list, or a list of \
         another form.";
    UndefinedInstruction "HLO0008" text
        "Operands are names of instructions that stand earlier in the same computation. Instructions of \
         other computations can't be seen; values go there through parameters.";
    UndefinedComputation "HLO0009" text
        "An attribute such as `to_apply`, `body` or `calls` names a computation that the module doesn't \
         have. Names of computations and names of instructions are apart.";
    DuplicateInstruction "HLO0010" text
        "Names are unique within a computation. The second place is the first definition.";
    DuplicateComputation "HLO0011" text
        "Names of computations are unique within a module.";
    IllegalName "HLO0012" text
        "Names that begin with two underscores are reserved; only those that begin with `__xla_` are allowed. \
         Names of element types are no names either.";
    OperandCount "HLO0013" text
        "The opcode takes a fixed number of operands, or at least some number, and was given another.";
    OperandShape "HLO0014" text
        "Operands may be written with their shapes. Such a shape is compared with that of the instruction \
         that is named, and it is another one. The second place is the definition.";
    MissingShape "HLO0015" text
        "The result shape may be left out where operands and attributes determine it. Here they don't: a \
         reshape, a parameter or a constant can have any.";
    ShapeInference "HLO0016" text
        "The result shape was left out, and the operands don't fit together, so there is none to infer. \
         Fix the operands; a shape that is written is believed.";
    BadShape "HLO0017" text
        "A shape is an element type with dimensions, `f32[4,2]`, perhaps with a layout, `{1,0}`; a tuple \
         of shapes in parentheses; `token[]`; or `opaque[]`. Dimensions are not negative; `<=4` marks a \
         bound, `?` an unknown size.";
    BadLayout "HLO0018" text
        "A layout lists the dimensions from the one that varies fastest to the one that varies slowest, \
         each once. Tiles and memory spaces follow behind a colon: `{1,0:T(8,128)S(1)}`.";
    BadLiteral "HLO0019" text
        "A literal has exactly the elements its shape asks for, nested in braces as its dimensions are. \
         `{...}` stands for elements that were left out.";
    OutOfRange "HLO0020" text
        "The number can't be held by the type of the element or field.";
    BadSharding "HLO0021" text
        "A sharding says which part of a value each device has: `{replicated}`, `{maximal device=0}`, \
         `{devices=[2,2]<=[4]}`. The number of devices must be the product of the tile dimensions.";
    BadReplicaGroups "HLO0022" text
        "Groups of devices are lists, `{{0,1},{2,3}}`, or a shorthand that reshapes and transposes the \
         numbers from 0: `[2,2]<=[4]`, `[2,2]<=[2,2]T(1,0)`. The transposition names each dimension once.";
    BadParameter "HLO0023" text
        "The parameters of a computation are numbered 0, 1, 2 and so on, each once, in any order.";
    BadRoot "HLO0024" text
        "`ROOT` marks the one instruction whose value is the computation's result; `ENTRY` marks the one \
         computation that is called from outside. Without `ROOT` the last instruction is the root.";
    BadSignature "HLO0025" text
        "A computation may state its parameters and its result before the brace. What is stated must \
         agree with the root inside.";
    BadAlias "HLO0026" text
        "`input_output_alias` and `buffer_donor` say which buffers of the entry computation's parameters \
         are used again for its results. Parameter, parts and outputs they name must exist.";
    BadAsync "HLO0027" text
        "An asynchronous operation is a chain of a start, any number of updates and a done that all wrap \
         the same computation. Each takes the one before it, and their shapes are tuples of operands, \
         results and contexts.";
    ShapeForm "HLO0028" text
        "The opcode has a result of another form: a tuple where an array was written, a token, a scalar.";
    TooDeep "HLO0029" text
        "Nesting of tuples, braces, inline computations and operands is limited, so that no input can \
         exhaust the stack. Nothing a compiler writes comes near the limits.";
    TooLarge "HLO0030" text
        "What the text asks for doesn't fit the limits: more elements than can be made up from one value, \
         more devices than a table may have, or a text of more than 4 GiB.";
    BadStackFrames "HLO0031" text
        "The tables `FileNames`, `FunctionNames`, `FileLocations` and `StackFrames` at the top of a \
         module say where instructions come from. An entry of a table lacks a field.";
    BadComputation "HLO0032" text
        "The computation can't be called from here: it calls itself, directly or by way of others, or its \
         parameters are not what the caller gives.";
    Dialect "HLO0033" text
        "The text was written by an older or newer XLA and is spelt differently today. It is read all the \
         same and printed in today's spelling; `--syntax=as-read` keeps the old one and `--strict` \
         refuses it.";
    UnknownAttributeKept "HLO0034" text
        "No XLA we know has this attribute. It is kept as it is and printed back, and no pass looks at \
         it. `--strict` refuses it; if it is misspelt, correct it.";
    NotUtf8 "HLO0035" text
        "HLO text is UTF-8. The message gives the byte at which it stops being that. Bytes of other \
         encodings come from file names and comments in metadata.";
    BadProto "HLO0036" proto
        "The bytes are not a message of the kind that is expected: a number or a length runs past the end, a field is \
         written in another way than its type asks for, or the text form of a message has a name or a token that it \
         can't have. Files that were cut off while they were copied look like this. The message says the path of \
         the field, as far as it is known.";
    ProtoId "HLO0037" proto
        "In protocol buffers instructions and computations refer to each other by id. Operands come before the \
         instructions that use them, called computations before their callers; root, entry and schedule name ids \
         that exist. The path in the message says which field holds the id.";
    ProtoValue "HLO0038" proto
        "A field has a value that makes no sense where it is: a negative dimension, a number that no element type or \
         enumerator has, a literal with more or fewer elements than its shape, a device order that is no \
         permutation.";
    ProtoLoss "HLO0039" proto
        "Text and protocol buffers don't carry the same things. The text has no place for ids, profile data, device \
         assignments or fields of newer versions; a protocol buffer has none for replica and partition counts. \
         `--verify-roundtrip` reports what would be lost as warnings.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_codes() {
        let numbers = || NUMBERS.iter().chain(crate::diagnostic::rules::RULE_NUMBERS);
        assert!(numbers().map(|(code, _)| code).eq(Code::ALL));
        for (code, number) in numbers() {
            assert_eq!(code.as_str(), *number);
        }
    }
}
