//! Where an operation comes from: `metadata={op_type="..." op_name="..." ...}`.

use super::ids::Symbol;

/// An operation's metadata. `None` and 0 mean "not given"; XLA does not distinguish an empty text either.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Metadata {
    /// Kind of framework operation.
    pub op_type: Option<Symbol>,
    /// Name of the framework operation, a path.
    pub op_name: Option<Symbol>,
    /// Source file.
    pub source_file: Option<Symbol>,
    /// First line, from 1.
    pub source_line: i32,
    /// Last line.
    pub source_end_line: i32,
    /// First column.
    pub source_column: i32,
    /// Column after the last.
    pub source_end_column: i32,
    /// Index into the module's stack frames, from 1.
    pub stack_frame_id: i32,
    /// What is rarely there.
    pub extra: Option<Box<MetadataExtra>>,
}

/// The rare fields of [`Metadata`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MetadataExtra {
    /// `profile_type={1,2}`: numbers 0 to 3.
    pub profile_type: Vec<i32>,
    /// `deduplicated_name=`
    pub deduplicated_name: Option<Symbol>,
    /// `scheduling_name=`, printed without escapes.
    pub scheduling_name: Option<Symbol>,
    /// `metadata_payload=`; an empty one counts as given.
    pub payload: Option<Symbol>,
    /// Fields we don't know, `key=value` as the text has them (lenient reading only).
    pub unknown: Vec<Symbol>,
}

/// The syntax of a [`MetadataField`]'s value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataFieldKind {
    /// A quoted string.
    String,
    /// An integer of 32 bits.
    Number,
    /// A list of profile type numbers.
    ProfileTypes,
}

macro_rules! metadata_fields {
    ($($variant:ident $text:literal $kind:ident;)*) => {
        /// A field of `metadata={...}`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum MetadataField {
            $(#[doc = concat!("`", $text, "=`")] $variant,)*
        }

        impl MetadataField {
            /// Every field, in the order they are printed.
            pub const ALL: &'static [MetadataField] = &[$(MetadataField::$variant,)*];

            /// The spellings, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($text,)*];

            /// The syntax of the value.
            pub const fn kind(self) -> MetadataFieldKind {
                match self { $(MetadataField::$variant => MetadataFieldKind::$kind,)* }
            }
        }
    };
}

metadata_fields! {
    OpType "op_type" String;
    OpName "op_name" String;
    SourceFile "source_file" String;
    SourceLine "source_line" Number;
    SourceEndLine "source_end_line" Number;
    SourceColumn "source_column" Number;
    SourceEndColumn "source_end_column" Number;
    ProfileType "profile_type" ProfileTypes;
    DeduplicatedName "deduplicated_name" String;
    SchedulingName "scheduling_name" String;
    StackFrameId "stack_frame_id" Number;
    Payload "metadata_payload" String;
}

impl MetadataField {
    /// The spelling in HLO text, without `=`.
    #[inline]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The field spelt `text`.
    #[inline]
    pub fn from_name(text: &[u8]) -> Option<Self> {
        FIELD_NAMES.get(text).map(|row| Self::ALL[row as usize])
    }
}

static FIELD_NAMES: super::name_table::NameTable<64> = {
    let mut table = super::name_table::NameTable::new();
    let mut row = 0;
    while row < MetadataField::NAMES.len() {
        table = table.with(MetadataField::NAMES[row], row as u8);
        row += 1;
    }
    table
};

impl Metadata {
    /// The text of a string field, if it is given.
    pub fn string(&self, field: MetadataField) -> Option<Symbol> {
        let extra = self.extra.as_deref();
        match field {
            MetadataField::OpType => self.op_type,
            MetadataField::OpName => self.op_name,
            MetadataField::SourceFile => self.source_file,
            MetadataField::DeduplicatedName => extra?.deduplicated_name,
            MetadataField::SchedulingName => extra?.scheduling_name,
            MetadataField::Payload => extra?.payload,
            _ => None,
        }
    }

    /// Sets a string field; others are left alone.
    pub fn set_string(&mut self, field: MetadataField, text: Symbol) {
        let place = match field {
            MetadataField::OpType => &mut self.op_type,
            MetadataField::OpName => &mut self.op_name,
            MetadataField::SourceFile => &mut self.source_file,
            MetadataField::DeduplicatedName => &mut self.extra.get_or_insert_default().deduplicated_name,
            MetadataField::SchedulingName => &mut self.extra.get_or_insert_default().scheduling_name,
            MetadataField::Payload => &mut self.extra.get_or_insert_default().payload,
            _ => return,
        };
        *place = Some(text);
    }

    /// The value of a number field, 0 if it is not given.
    pub fn number(&self, field: MetadataField) -> i32 {
        match field {
            MetadataField::SourceLine => self.source_line,
            MetadataField::SourceEndLine => self.source_end_line,
            MetadataField::SourceColumn => self.source_column,
            MetadataField::SourceEndColumn => self.source_end_column,
            MetadataField::StackFrameId => self.stack_frame_id,
            _ => 0,
        }
    }

    /// Sets a number field; others are left alone.
    pub fn set_number(&mut self, field: MetadataField, number: i32) {
        match field {
            MetadataField::SourceLine => self.source_line = number,
            MetadataField::SourceEndLine => self.source_end_line = number,
            MetadataField::SourceColumn => self.source_column = number,
            MetadataField::SourceEndColumn => self.source_end_column = number,
            MetadataField::StackFrameId => self.stack_frame_id = number,
            _ => {}
        }
    }

    /// Whether XLA prints the attribute at all: line numbers, `deduplicated_name` and `profile_type` alone
    /// don't count.
    pub fn is_printed(&self) -> bool {
        self.op_type.is_some()
            || self.op_name.is_some()
            || self.source_file.is_some()
            || self.stack_frame_id != 0
            || self.extra.as_ref().is_some_and(|extra| {
                extra.scheduling_name.is_some() || extra.payload.is_some() || !extra.unknown.is_empty()
            })
    }
}
