//! What is looked at for the attributes of instructions, by opcode.

use std::sync::LazyLock;

use super::super::forms::{Form, form};
use super::super::schema::hlo_instruction_proto as i;
use super::instruction::bit;
use crate::ir::{AttrKey, COMMON_ATTRIBUTES, Opcode, Presence};

/// An attribute that instructions with some opcode can have.
pub(super) struct Row {
    pub(super) key: AttrKey,
    /// The field, and how the value is written there.
    pub(super) number: u32,
    pub(super) form: Form,
    /// Whether what proto3 leaves out is filled in.
    pub(super) needed: bool,
    /// The fields without which there is no value, see [`bit`]; all if there is one in any case.
    pub(super) fields: u128,
}

/// The attributes that instructions with some opcode can have, but computations that are called, in the order of the
/// table of opcodes.
pub(super) struct Plan {
    pub(super) rows: Vec<Row>,
    /// The fields of all rows.
    pub(super) fields: u128,
}

impl Plan {
    /// The plan for an opcode.
    #[inline]
    pub(super) fn of(opcode: Opcode) -> &'static Plan {
        static PLANS: LazyLock<Vec<Plan>> =
            LazyLock::new(|| Opcode::ALL.iter().map(|&opcode| Plan::new(opcode)).collect());
        &PLANS[opcode as usize]
    }

    fn new(opcode: Opcode) -> Self {
        let own = opcode.info().attributes;
        // An opcode may have its own row for one of the common attributes.
        let common = COMMON_ATTRIBUTES.iter().filter(|row| own.iter().all(|own| own.0 != row.0));
        let rows: Vec<Row> =
            own.iter().chain(common).filter_map(|&(key, presence)| Row::new(opcode, key, presence)).collect();
        Self { fields: rows.iter().fold(0, |fields, row| fields | row.fields), rows }
    }
}

impl Row {
    fn new(opcode: Opcode, key: AttrKey, presence: Presence) -> Option<Self> {
        if presence == Presence::Dropped || matches!(key, AttrKey::Metadata | AttrKey::ControlPredecessors) {
            return None;
        }
        let (number, form) = form(key, opcode);
        // For versions of custom calls 0 is not the default.
        let needed = matches!(presence, Presence::Required | Presence::Filled) || key == AttrKey::ApiVersion;
        let fields = match (form, key) {
            (Form::None, AttrKey::PermuteSliceSizes) => bit(i::DYNAMIC_SLICE_SIZES),
            (Form::None | Form::Call, _) => return None,
            (_, AttrKey::BackendConfig) if !needed => bit(number) | bit(i::BACKEND_CONFIG_PAYLOAD),
            (Form::Structure, AttrKey::OperandLayoutConstraints) => bit(i::CONSTRAIN_LAYOUT),
            // Lists of messages, which may have none, and what has a value without a field.
            (
                Form::Structure,
                AttrKey::ReplicaGroups
                | AttrKey::IsAssociative
                | AttrKey::Slice
                | AttrKey::SourceTargetPairs
                | AttrKey::OutputToOperandAliasing
                | AttrKey::Domain
                | AttrKey::Padding,
            ) => u128::MAX,
            (Form::Structure, _) => bit(number),
            _ if needed => u128::MAX,
            _ => bit(number),
        };
        Some(Self { key, number, form, needed, fields })
    }
}
