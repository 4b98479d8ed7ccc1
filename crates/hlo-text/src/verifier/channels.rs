//! Rules about transfers over channels.

use hashbrown::HashMap;

use crate::diagnostic::Code;
use crate::ir::{AttrKey, HASHER, InstructionId, Opcode};

use super::equality::EQUAL;
use super::{Check, Verifier};

/// Attributes in which host transfers over one channel are alike.
const COUNTED: &[AttrKey] = &[AttrKey::IsHostTransfer, AttrKey::FrontendAttributes, AttrKey::BackendConfig];

impl Verifier<'_> {
    /// The halves of transfers go together, and host transfers over one channel are alike.
    pub(super) fn check_channels(&mut self) {
        let module = self.module;
        let mut hosts: HashMap<i64, InstructionId, foldhash::fast::FixedState> = HashMap::with_hasher(HASHER);
        for &computation in module.computations() {
            for id in module.live_instructions(computation) {
                if !matches!(self.opcode(id), Opcode::Send | Opcode::Recv) {
                    continue;
                }
                let Some(channel) = module.int(id, AttrKey::ChannelId) else { continue };
                self.note(self.check_transfer(id, channel));
                if module.flag(id, AttrKey::IsHostTransfer) {
                    let first = *hosts.entry(channel).or_insert(id);
                    self.note(self.check_host_transfer(id, first, channel));
                }
                if self.is_full() {
                    return;
                }
            }
        }
    }

    fn check_transfer(&self, id: InstructionId, channel: i64) -> Check {
        if self.is_root_of_async(id) {
            return Ok(());
        }
        let opcode = self.opcode(id);
        let &[user] = self.uses.users(id) else {
            let count = self.uses.users(id).len();
            // Without users or with several the rule of pairs speaks; here those that only order count as well.
            if self.check_async_pair(id).is_err() {
                return Ok(());
            }
            let message = format!("{opcode} `{}` must have exactly one user, but has {count}", self.name(id));
            return Err(self.wrong(Code::StartUsers, id, message));
        };
        let done = if opcode == Opcode::Send { Opcode::SendDone } else { Opcode::RecvDone };
        if self.opcode(user) != done {
            return Ok(());
        }
        let other = self.module.int(user, AttrKey::ChannelId);
        let host = |id| self.module.flag(id, AttrKey::IsHostTransfer);
        if other == Some(channel) && host(id) == host(user) {
            return Ok(());
        }
        let message = if other == Some(channel) {
            format!(
                "{opcode} `{}` has is_host_transfer={}, but its {done} `{}` has is_host_transfer={}",
                self.name(id),
                host(id),
                self.name(user),
                host(user)
            )
        } else {
            let other = other.map_or("no channel".to_owned(), |other| format!("channel {other}"));
            format!(
                "{opcode} `{}` uses channel {channel}, but its {done} `{}` uses {other}",
                self.name(id),
                self.name(user)
            )
        };
        Err(self.wrong(Code::ChannelPair, id, message).also(user, format!("the {done}")))
    }

    fn check_host_transfer(&self, id: InstructionId, first: InstructionId, channel: i64) -> Check {
        let module = self.module;
        let shape = |id| module.instruction(id).shape;
        let same = self.opcode(id) == self.opcode(first)
            && EQUAL.of(module.shapes(), shape(id), shape(first))
            && COUNTED.iter().all(|&key| module.attribute(id, key) == module.attribute(first, key))
            && module.operands(id).len() == module.operands(first).len()
            && module
                .operands(id)
                .iter()
                .zip(module.operands(first))
                .all(|(&a, &b)| EQUAL.of(module.shapes(), shape(a), shape(b)));
        if same {
            return Ok(());
        }
        let message = format!(
            "`{}` and `{}` are host transfers over channel {channel}, so they must be alike",
            self.name(id),
            self.name(first)
        );
        Err(self.wrong(Code::HostTransfers, id, message).also(first, "the first one"))
    }
}
