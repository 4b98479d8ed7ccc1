//! Typed ids: newtypes over `u32`, one per kind of thing an arena holds, so that ids of different kinds
//! cannot be mixed up and an id, optional or not, costs four bytes.

/// Declares a newtype over `u32` that indexes an arena.
macro_rules! define_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::num::NonZeroU32);

        impl $name {
            /// The id of the arena slot `index`.
            ///
            /// # Panics
            /// If `index` does not fit in 32 bits. The parser's input size limit keeps every arena below that.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                let number = u32::try_from(index + 1).expect("arena of more than u32::MAX entries");
                Self(std::num::NonZeroU32::new(number).expect("one more than an index is not zero"))
            }

            /// The arena slot this id stands for.
            #[inline]
            pub fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.index())
            }
        }
    };
}

define_id!(
    /// A computation of a [`Module`](crate::Module).
    ComputationId
);
define_id!(
    /// An instruction of a [`Module`](crate::Module); ids are module-wide, not per computation.
    InstructionId
);
define_id!(
    /// A hash-consed shape: equal shapes (layouts included) of one module have equal ids.
    ShapeId
);
define_id!(
    /// An interned byte string: names, quoted strings, raw JSON.
    Symbol
);
define_id!(
    /// A hash-consed structured attribute value, see [`Value`](crate::ir::Value).
    ValueId
);
define_id!(
    /// A literal of a module; scalars written alike share one.
    LiteralId
);
define_id!(
    /// An operation's metadata; equal metadata share an id.
    MetadataId
);

/// A run of entries in one of a module's pools: where an instruction's operands or attributes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolRange {
    start: u32,
    len: u32,
}

impl PoolRange {
    /// The range of `len` entries from `start`.
    ///
    /// # Panics
    /// If either does not fit in 32 bits.
    #[inline]
    pub fn new(start: usize, len: usize) -> Self {
        let fits = "pool of more than u32::MAX entries";
        Self { start: u32::try_from(start).expect(fits), len: u32::try_from(len).expect(fits) }
    }

    /// Number of entries.
    #[inline]
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether there are no entries.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The same as a slice index.
    #[inline]
    pub fn as_range(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}
