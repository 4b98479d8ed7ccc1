//! What can be different about an instruction.

/// Something about an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Aspect {
    /// Its name.
    Name,
    /// Its opcode.
    Opcode,
    /// Element type, sizes or tuple structure of its result.
    Shape,
    /// The result's layout; the shapes are the same otherwise.
    Layout,
    /// Which values it works on; operands that are only called something else are the same.
    Operands,
    /// An attribute, or a computation it calls.
    Attributes,
    /// The values of a constant.
    Literal,
    /// The number of a parameter.
    ParameterNumber,
    /// What must run before it.
    ControlPredecessors,
    /// Whether it is the root.
    Root,
    /// Where it comes from.
    Metadata,
}

impl Aspect {
    /// Every aspect, in the order they are named.
    pub const ALL: &'static [Aspect] = &[
        Aspect::Name,
        Aspect::Opcode,
        Aspect::Shape,
        Aspect::Layout,
        Aspect::Operands,
        Aspect::Attributes,
        Aspect::Literal,
        Aspect::ParameterNumber,
        Aspect::ControlPredecessors,
        Aspect::Root,
        Aspect::Metadata,
    ];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Aspect::Name => "name",
            Aspect::Opcode => "opcode",
            Aspect::Shape => "shape",
            Aspect::Layout => "layout",
            Aspect::Operands => "operands",
            Aspect::Attributes => "attributes",
            Aspect::Literal => "constant",
            Aspect::ParameterNumber => "parameter number",
            Aspect::ControlPredecessors => "control predecessors",
            Aspect::Root => "root",
            Aspect::Metadata => "metadata",
        }
    }
}

/// A set of aspects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Aspects(u16);

impl Aspects {
    /// Adds `aspect` if `is_different`.
    pub(super) fn note(&mut self, aspect: Aspect, is_different: bool) {
        if is_different {
            self.0 |= 1 << aspect as u8;
        }
    }

    /// Whether `aspect` is in it.
    pub fn contains(self, aspect: Aspect) -> bool {
        self.0 & 1 << aspect as u8 != 0
    }

    /// All but `aspect`.
    #[must_use]
    pub fn without(self, aspect: Aspect) -> Self {
        Self(self.0 & !(1 << aspect as u8))
    }

    /// Whether nothing is in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What is in it.
    pub fn iter(self) -> impl Iterator<Item = Aspect> {
        Aspect::ALL.iter().copied().filter(move |&aspect| self.contains(aspect))
    }
}
