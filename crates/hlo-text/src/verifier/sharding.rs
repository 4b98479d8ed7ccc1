//! Rules about shardings.

use hashbrown::HashSet;

use crate::diagnostic::Code;
use crate::ir::{
    AttrKey, HASHER, InstructionId, Opcode, Shape, ShapeId, Sharding, ShardingKind, SingleSharding,
    TileDevices, Value,
};

use super::{Check, Verifier, Violation};

impl Verifier<'_> {
    fn sharding_of(&self, id: InstructionId) -> Option<&Sharding> {
        match self.module.value_of(id, AttrKey::Sharding)? {
            Value::Sharding(sharding) => Some(sharding),
            _ => None,
        }
    }

    /// The number of devices there are, if it is known.
    fn device_limit(&self) -> Option<i64> {
        let partitions = self.module.header.num_partitions;
        (self.options.verify_sharding_device_numbers && partitions > 1).then_some(partitions)
    }

    /// A sharding fits the shape it cuts.
    pub(super) fn check_sharding(&self, id: InstructionId) -> Check {
        let Some(sharding) = self.sharding_of(id) else { return Ok(()) };
        let shape = self.shape_id(id);
        let is_tuple = match self.module.shape(shape) {
            // Tokens are nowhere in particular.
            Shape::Token => return Ok(()),
            Shape::Tuple(_) => true,
            _ => false,
        };
        match sharding {
            Sharding::Single(single) if !is_tuple => self.check_single(id, single, shape),
            Sharding::Tuple(elements) if is_tuple => {
                let mut leaves = Vec::new();
                self.leaves(shape, &mut leaves);
                // An empty tuple may have one sharding or none.
                if leaves.len() != elements.len() && !(leaves.is_empty() && elements.len() <= 1) {
                    let message = format!(
                        "the sharding of `{}` is for {} arrays, but its shape {} has {}",
                        self.name(id),
                        elements.len(),
                        self.text(shape),
                        leaves.len()
                    );
                    return Err(self.wrong(Code::ShardingTree, id, message));
                }
                leaves
                    .iter()
                    .zip(elements)
                    .try_for_each(|(&leaf, single)| self.check_single(id, single, leaf))
            }
            _ => {
                let (one, other) = if is_tuple { ("an array", "a tuple") } else { ("a tuple", "no tuple") };
                let message = format!(
                    "the sharding of `{}` is that of {one}, but its shape {} is {other}",
                    self.name(id),
                    self.text(shape)
                );
                Err(self.wrong(Code::ShardingTree, id, message))
            }
        }
    }

    /// The shapes of a tuple that are no tuples, in order.
    pub(super) fn leaves(&self, shape: ShapeId, leaves: &mut Vec<ShapeId>) {
        let mut open = vec![shape];
        while let Some(id) = open.pop() {
            match self.module.shape(id) {
                Shape::Tuple(elements) => open.extend(elements.iter().rev()),
                _ => leaves.push(id),
            }
        }
    }

    fn check_single(&self, id: InstructionId, sharding: &SingleSharding, shape: ShapeId) -> Check {
        let array = match self.module.shape(shape) {
            Shape::Array(array) => Some(array),
            Shape::Token => return Ok(()),
            _ => None,
        };
        let limit = self.device_limit();
        let devices = |message: String| -> Violation {
            self.wrong(Code::ShardingDevices, id, format!("the sharding of `{}` {message}", self.name(id)))
        };
        let in_range = |device: i64| {
            if device < 0 {
                return Err(devices(format!("names device {device}")));
            }
            match limit {
                Some(limit) if device >= limit => {
                    Err(devices(format!("names device {device}, but there are {limit}")))
                }
                _ => Ok(()),
            }
        };
        let counted = |count: Option<i64>| match (limit, count) {
            (Some(limit), Some(count)) if limit != count => {
                Err(devices(format!("is for {count} devices, but there are {limit}")))
            }
            _ => Ok(()),
        };
        match &sharding.kind {
            ShardingKind::Replicated
            | ShardingKind::Manual
            | ShardingKind::Unknown
            | ShardingKind::Unreduced => Ok(()),
            ShardingKind::Maximal(device) => in_range(*device),
            ShardingKind::Named(named) => match sharding.single_device() {
                Some(device) => in_range(device),
                None => counted(named.mesh.device_count().ok()),
            },
            ShardingKind::Tiled(tiled) => {
                let count = tiled.assignment().device_count().ok();
                let tiles = tiled.data_dimensions();
                let rank = array.map_or(0, |array| array.rank());
                if tiles.len() != rank {
                    let message = format!(
                        "the sharding of `{}` cuts {} dimensions, but its shape {} has {rank}",
                        self.name(id),
                        tiles.len(),
                        self.text(shape)
                    );
                    return Err(self.wrong(Code::ShardingRank, id, message));
                }
                if let TileDevices::Iota(iota) = tiled.assignment().devices()
                    && iota.device_count().ok() != count
                {
                    return Err(devices("has another number of devices than tiles".to_owned()));
                }
                if let TileDevices::List(list) = tiled.assignment().devices() {
                    let mut seen: HashSet<i64, foldhash::fast::FixedState> = HashSet::with_hasher(HASHER);
                    for &device in list {
                        in_range(device)?;
                        if !seen.insert(device) {
                            return Err(devices(format!("names device {device} twice")));
                        }
                    }
                }
                counted(count)
            }
        }
    }

    /// A loop, its body and its condition are sharded alike; so are a conditional and its branches.
    pub(super) fn check_sharding_consistency(&self, id: InstructionId) -> Check {
        let module = self.module;
        let mut places = vec![id];
        let opcode = self.opcode(id);
        let parameter = |computation| module.computation(computation).parameters.first().copied();
        if opcode == Opcode::While {
            if let Some(body) = module.called(id, AttrKey::Body) {
                places.push(module.computation(body).root);
                places.extend(parameter(body));
            }
            places.extend(module.called(id, AttrKey::Condition).and_then(parameter));
        } else {
            module.for_each_called_computation(id, |branch| places.push(module.computation(branch).root));
        }
        let mut stated = places.into_iter().filter_map(|place| Some((place, self.sharding_of(place)?)));
        let Some((first, sharding)) = stated.next() else { return Ok(()) };
        let Some((other, _)) = stated.find(|(_, other)| !same_cut(sharding, other)) else { return Ok(()) };
        let message = format!(
            "`{}` and `{}` belong to one {opcode}, but are sharded differently",
            self.name(first),
            self.name(other)
        );
        let violation = self.wrong(Code::ShardingConsistency, id, message);
        Err(violation.also(first, "one sharding").also(other, "another sharding"))
    }
}

/// Whether two shardings cut alike, wherever they come from.
fn same_cut(a: &Sharding, b: &Sharding) -> bool {
    let (a, b) = (a.elements(), b.elements());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.kind == b.kind && a.shard_group == b.shard_group)
}
