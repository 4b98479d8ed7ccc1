//! What becomes of each attribute in a print: where it stands, and whether the options let it through.

use std::sync::LazyLock;

use super::options::{PrintOptions, SubcomputationMode};
use super::pieces::Pieces;
use crate::ir::{AttrKey, Opcode};

/// The sections of an instruction's attributes, in printing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    /// The opcode's own, in the order of its row in the opcode table.
    Own,
    /// Called computations, and what goes with them.
    Called,
    Sharding,
    Frontend,
    ControlPredecessors,
    Statistics,
    Accuracy,
    Origin,
    Metadata,
    BackendConfig,
    /// Not in the table.
    Unknown,
}

impl Section {
    fn of(key: AttrKey) -> Self {
        match key {
            AttrKey::Sharding => Self::Sharding,
            AttrKey::FrontendAttributes => Self::Frontend,
            AttrKey::ControlPredecessors => Self::ControlPredecessors,
            AttrKey::Statistics => Self::Statistics,
            AttrKey::ResultAccuracy => Self::Accuracy,
            AttrKey::Origin => Self::Origin,
            AttrKey::Metadata => Self::Metadata,
            AttrKey::BackendConfig => Self::BackendConfig,
            AttrKey::Unknown => Self::Unknown,
            // Printed by the same branch as the computation, so it comes and goes with it.
            AttrKey::IsComposite => Self::Called,
            key if key.is_called_computation() => Self::Called,
            _ => Self::Own,
        }
    }
}

/// The position of an attribute among those of an instruction, for sorting: attributes are kept in the order
/// they are printed.
pub(crate) fn printing_position(opcode: Opcode, key: AttrKey) -> (u8, u8) {
    let row = opcode.info().attributes.iter().position(|row| row.0 == key);
    (Section::of(key) as u8, row.map_or(u8::MAX, |row| row as u8))
}

/// Texts and facts that follow from the tables of opcodes and attributes.
pub(super) struct Tables {
    /// By attribute: `, key=`
    prefixes: Pieces,
    sections: Vec<Section>,
    /// By opcode: `opcode(`
    heads: Pieces,
    may_call: Vec<bool>,
}

impl Tables {
    /// The tables; made once.
    pub(super) fn get() -> &'static Self {
        static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
            prefixes: AttrKey::ALL.iter().map(|key| format!(", {}=", key.name())).collect(),
            sections: AttrKey::ALL.iter().map(|&key| Section::of(key)).collect(),
            heads: Opcode::ALL.iter().map(|opcode| format!("{}(", opcode.name())).collect(),
            may_call: Opcode::ALL
                .iter()
                .map(|opcode| opcode.info().attributes.iter().any(|row| row.0.is_called_computation()))
                .collect(),
        });
        &TABLES
    }

    /// Appends `, key=`.
    #[inline]
    pub(super) fn write_prefix(&self, out: &mut Vec<u8>, key: AttrKey) {
        self.prefixes.write(out, key as usize);
    }

    #[inline]
    pub(super) fn section(&self, key: AttrKey) -> Section {
        self.sections[key as usize]
    }

    /// Appends `opcode(`.
    #[inline]
    pub(super) fn write_head(&self, out: &mut Vec<u8>, opcode: Opcode) {
        self.heads.write(out, opcode as usize);
    }

    /// Whether instructions of this opcode can call computations.
    #[inline]
    pub(super) fn may_call(&self, opcode: Opcode) -> bool {
        self.may_call[opcode as usize]
    }
}

/// What the options do to the attributes.
pub(super) struct Plan {
    /// By attribute: whether it is left out. Called computations have further conditions.
    skip: [bool; AttrKey::ALL.len()],
}

impl Plan {
    pub(super) fn new(options: &PrintOptions) -> Self {
        let mut skip = [false; AttrKey::ALL.len()];
        for &key in AttrKey::ALL {
            skip[key as usize] = match Section::of(key) {
                Section::Own | Section::Unknown => {
                    !options.print_extra_attributes
                        || match key {
                            AttrKey::ParameterReplication => !options.print_ids,
                            AttrKey::InfeedConfig | AttrKey::OutfeedConfig => {
                                !options.print_infeed_outfeed_config
                            }
                            _ => false,
                        }
                }
                Section::Called => options.print_subcomputation_mode == SubcomputationMode::Off,
                Section::Frontend => !options.print_frontend_attributes,
                Section::ControlPredecessors => !options.print_control_dependencies,
                Section::Origin => !options.print_original_value,
                Section::Metadata => !options.print_metadata,
                Section::BackendConfig => !options.print_backend_config,
                Section::Sharding | Section::Statistics | Section::Accuracy => false,
            };
        }
        Self { skip }
    }

    /// Leaves the attribute out, or no longer; gives whether it was left out before.
    pub(super) fn set_skipped(&mut self, key: AttrKey, skip: bool) -> bool {
        std::mem::replace(&mut self.skip[key as usize], skip)
    }

    /// Whether the options leave the attribute out.
    #[inline]
    pub(super) fn skips(&self, key: AttrKey) -> bool {
        self.skip[key as usize]
    }
}
