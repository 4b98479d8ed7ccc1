//! What the table of messages consists of: names and types of fields, by number.

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Double,
    Float,
    Int64,
    Uint64,
    Int32,
    Uint32,
    Bool,
    String,
    Bytes,
    Enum(&'static Enum),
    Message(&'static Message),
}

/// A field of a message.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) number: u32,
    pub(crate) name: &'static str,
    pub(crate) repeated: bool,
    pub(crate) kind: Kind,
}

impl Field {
    /// The message in the field, if it holds messages.
    pub(crate) fn message(&self) -> Option<&'static Message> {
        match self.kind {
            Kind::Message(message) => Some(message),
            _ => None,
        }
    }

    /// Whether values of the field may be packed into one length-delimited value.
    pub(crate) fn is_packable(&self) -> bool {
        self.repeated && !matches!(self.kind, Kind::String | Kind::Bytes | Kind::Message(_))
    }
}

/// A message type.
pub(crate) struct Message {
    /// As the definitions have it, outer messages before a dot.
    pub(crate) name: &'static str,
    /// By number.
    pub(crate) fields: &'static [Field],
}

impl std::fmt::Debug for Message {
    // Messages contain each other.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Message {
    /// The field with that number.
    pub(crate) fn field(&self, number: u32) -> Option<&'static Field> {
        let at = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        self.fields.get(at)
    }

    /// The field with that name.
    pub(crate) fn field_named(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// An enumeration.
#[derive(Debug)]
pub(crate) struct Enum {
    pub(crate) name: &'static str,
    pub(crate) values: &'static [(i32, &'static str)],
}

impl Enum {
    /// The name of a value.
    pub(crate) fn name_of(&self, number: i32) -> Option<&'static str> {
        self.values.iter().find(|value| value.0 == number).map(|value| value.1)
    }

    /// The number of a value.
    pub(crate) fn number_of(&self, name: &str) -> Option<i32> {
        self.values.iter().find(|value| value.1 == name).map(|value| value.0)
    }
}

macro_rules! enums {
    ($($id:ident $name:literal { $($number:literal $value:literal;)* })*) => {
        /// Enumerations by name.
        #[allow(non_upper_case_globals, reason = "they are named like the modules of messages")]
        pub(crate) mod enumeration {
            $(pub(crate) static $id: $crate::proto::table::Enum = $crate::proto::table::Enum {
                name: $name,
                values: &[$(($number, $value),)*],
            };)*
        }
    };
}

macro_rules! messages {
    ($($id:ident $name:literal { $($number:literal $constant:ident $field:literal $label:ident $kind:ident $(($target:ident))?;)* })*) => {
        $(
            /// The numbers of the fields, and the message itself.
            pub(crate) mod $id {
                $(pub(crate) const $constant: u32 = $number;)*
                pub(crate) static MESSAGE: $crate::proto::table::Message = $crate::proto::table::Message {
                    name: $name,
                    fields: &[$($crate::proto::table::Field {
                        number: $number,
                        name: $field,
                        repeated: $crate::proto::table::is_many!($label),
                        kind: $crate::proto::table::kind!($kind $(($target))?),
                    },)*],
                };
            }
        )*
    };
}

macro_rules! is_many {
    (one) => {
        false
    };
    (many) => {
        true
    };
}

macro_rules! kind {
    (Message($target:ident)) => {
        $crate::proto::table::Kind::Message(&$crate::proto::schema::$target::MESSAGE)
    };
    (Enum($target:ident)) => {
        $crate::proto::table::Kind::Enum(&$crate::proto::schema::enumeration::$target)
    };
    ($kind:ident) => {
        $crate::proto::table::Kind::$kind
    };
}

pub(crate) use {enums, is_many, kind, messages};
