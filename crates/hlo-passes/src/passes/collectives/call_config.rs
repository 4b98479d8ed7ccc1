//! What the configurations of custom calls that stand for collectives say.

use hlo_text::ir::{AttrKey, InstructionId, Opcode};

use crate::analysis::GroupMode;
use crate::edit::Editor;

/// What the targets of calls begin with whose configurations may have groups.
const CALL_PREFIX: &[u8] = b"AwsNeuron";

/// Why nothing is known of groups.
const NO_GROUPS: &str = "its configuration does not begin with groups";
const BAD_GROUPS: &str = "the groups in its configuration can't be read";
const BAD_SETTINGS: &str = "what follows the groups in its configuration can't be read";

/// `replica_groups={{0},{1}}`, and perhaps settings: `,channel_id=1,use_global_device_ids=1`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallConfig {
    /// Empty for everyone.
    pub(super) groups: Vec<Vec<i64>>,
    has_channel: bool,
    is_global: bool,
}

impl CallConfig {
    /// The configuration of a custom call that may stand for a collective, or why it can't be read; `None` for all else.
    pub(super) fn of(edit: &Editor<'_>, id: InstructionId) -> Option<Result<Self, &'static str>> {
        let is_call = edit.instruction(id).opcode == Opcode::CustomCall
            && edit.string(id, AttrKey::CustomCallTarget)?.starts_with(CALL_PREFIX);
        is_call.then(|| {
            let config = edit.string(id, AttrKey::BackendConfig).unwrap_or_default();
            Self::parse(std::str::from_utf8(config).map_err(|_| NO_GROUPS)?)
        })
    }

    /// What the numbers in the groups are.
    pub(super) fn mode(&self) -> GroupMode {
        match (self.has_channel, self.is_global) {
            (_, true) => GroupMode::FlattenedIds,
            (true, false) => GroupMode::CrossReplicaAndPartition,
            (false, false) => GroupMode::CrossReplica,
        }
    }

    fn parse(text: &str) -> Result<Self, &'static str> {
        let rest = text.strip_prefix("replica_groups=").ok_or(NO_GROUPS)?;
        let groups = read_list(rest, |group| read_list(group, read_number));
        let (groups, rest) = groups.ok_or(BAD_GROUPS)?;
        if groups.iter().any(Vec::is_empty) {
            return Err(BAD_GROUPS);
        }
        let mut config = Self { groups, has_channel: false, is_global: false };
        let rest = rest.trim();
        if rest.is_empty() {
            return Ok(config);
        }
        // A brace too many or too few is not known to end the groups where it seems to.
        for setting in rest.strip_prefix(',').ok_or(BAD_GROUPS)?.split(',') {
            let (key, value) = setting.split_once('=').ok_or(BAD_SETTINGS)?;
            match (key.trim(), value.trim()) {
                ("channel_id", value) => {
                    value.parse::<i64>().map_err(|_| BAD_SETTINGS)?;
                    config.has_channel = true;
                }
                ("use_global_device_ids", "0") => config.is_global = false,
                ("use_global_device_ids", "1") => config.is_global = true,
                ("use_global_device_ids" | "", _) | (_, "") => return Err(BAD_SETTINGS),
                _ => {}
            }
        }
        Ok(config)
    }
}

/// Reads `{item,item}`; gives the items and what follows.
fn read_list<'t, T>(
    text: &'t str,
    read_item: impl Fn(&'t str) -> Option<(T, &'t str)>,
) -> Option<(Vec<T>, &'t str)> {
    let mut items = Vec::new();
    let mut rest = text.trim_start().strip_prefix('{')?.trim_start();
    if let Some(after) = rest.strip_prefix('}') {
        return Some((items, after));
    }
    loop {
        let (item, after) = read_item(rest)?;
        items.push(item);
        rest = after.trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            return Some((items, after));
        }
        rest = rest.strip_prefix(',')?.trim_start();
    }
}

/// Reads a number without a sign; gives it and what follows.
fn read_number(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::{BAD_GROUPS, BAD_SETTINGS, CallConfig, NO_GROUPS};
    use crate::analysis::GroupMode;

    #[test]
    fn groups_and_settings_are_read() {
        let read = |text| CallConfig::parse(text).map(|config| (config.mode(), config.groups));
        let ones = || vec![vec![0], vec![1]];
        assert_eq!(read("replica_groups={{0},{1}}"), Ok((GroupMode::CrossReplica, ones())));
        assert_eq!(read("replica_groups={ { 0 } , {1} } "), Ok((GroupMode::CrossReplica, ones())));
        assert_eq!(read("replica_groups={}"), Ok((GroupMode::CrossReplica, Vec::new())));
        assert_eq!(
            read("replica_groups={{0},{1}},channel_id=1,use_global_device_ids=0,scatter_dim=0"),
            Ok((GroupMode::CrossReplicaAndPartition, ones()))
        );
        assert_eq!(
            read("replica_groups={{0,3}},channel_id=1,use_global_device_ids=1"),
            Ok((GroupMode::FlattenedIds, vec![vec![0, 3]]))
        );
    }

    #[test]
    fn what_is_no_list_of_groups_is_not_read() {
        assert_eq!(CallConfig::parse("groups"), Err(NO_GROUPS));
        assert_eq!(CallConfig::parse(""), Err(NO_GROUPS));
        for groups in [
            "",
            "{",
            "{{0}",
            "{{0}{1}}",
            "{{0},}",
            "{,{0}}",
            "{{0,}}",
            "{{}}",
            "{{0},{1}}x",
            "{{0}}}",
            "{0}",
            "{{-1}}",
            "{{+1}}",
            "{{0 1}}",
            "{{99999999999999999999}}",
        ] {
            assert_eq!(CallConfig::parse(&format!("replica_groups={groups}")), Err(BAD_GROUPS), "{groups}");
        }
        for settings in [
            "",
            "x",
            "=1",
            "x=",
            "channel_id=",
            "channel_id=x",
            "use_global_device_ids=2",
            "a=1,,b=1",
            "a=1,",
        ] {
            let text = format!("replica_groups={{{{0}}}},{settings}");
            assert_eq!(CallConfig::parse(&text), Err(BAD_SETTINGS), "{settings}");
        }
    }
}
