//! Shardings: how an array, or each array of a tuple, is spread over devices.

use super::ids::Symbol;
use super::iota_tile::{TileAssignment, TileDevices, TileError, product};
use super::mesh::{AxisRef, Mesh, MeshDevices};
use super::metadata::Metadata;

/// The sharding of an instruction's result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sharding {
    /// Of an array, or one for every array of a tuple.
    Single(SingleSharding),
    /// `{{replicated}, {manual}}`: one for each array of a tuple, nested tuples flattened.
    Tuple(Vec<SingleSharding>),
}

/// The sharding of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SingleSharding {
    /// How it is spread.
    pub kind: ShardingKind,
    /// `shard_as N` or `shard_like N`.
    pub shard_group: Option<ShardGroup>,
    /// Where the sharding comes from.
    pub metadata: Vec<Metadata>,
}

/// How an array is spread over devices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ShardingKind {
    /// `{replicated}`: all of it on every device.
    Replicated,
    /// `{maximal device=3}`: all of it on one device.
    Maximal(i64),
    /// `{manual}`: the program is written for one device already.
    Manual,
    /// `{unknown}`
    Unknown,
    /// `{unreduced}`: every device holds a summand.
    Unreduced,
    /// `{devices=[2,1,2]<=[4] last_tile_dims={manual}}`
    Tiled(TiledSharding),
    /// `{mesh['x'=2,'y'=4], [{'x'}, {}]}`
    Named(Box<NamedSharding>),
}

/// What the devices of a subgroup do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubgroupType {
    /// `maximal`
    Maximal,
    /// `manual`
    Manual,
    /// `unreduced`
    Unreduced,
    /// `replicated`
    Replicated,
}

impl SubgroupType {
    /// All of them, in the order in which subgroups are sorted.
    pub const ALL: [Self; 4] = [Self::Maximal, Self::Manual, Self::Unreduced, Self::Replicated];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Maximal => "maximal",
            Self::Manual => "manual",
            Self::Unreduced => "unreduced",
            Self::Replicated => "replicated",
        }
    }
}

/// An array cut into tiles. Built by [`ShardingKind::tiled`], which makes equal ones look the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TiledSharding {
    assignment: TileAssignment,
    subgroups: Vec<SubgroupType>,
}

impl TiledSharding {
    /// The grid of devices: a dimension for each of the array's, then one for each subgroup.
    pub fn assignment(&self) -> &TileAssignment {
        &self.assignment
    }

    /// What the last dimensions of the grid are. One [`SubgroupType::Replicated`] alone is
    /// `last_tile_dim_replicate`.
    pub fn subgroups(&self) -> &[SubgroupType] {
        &self.subgroups
    }

    /// How many tiles there are along each dimension of the array.
    pub fn data_dimensions(&self) -> &[i64] {
        let dimensions = self.assignment.dimensions();
        &dimensions[..dimensions.len().saturating_sub(self.subgroups.len())]
    }
}

/// `shard_as 1`: instructions of the same group are to be sharded alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShardGroup {
    /// `true`: `shard_as`, exactly alike; `false`: `shard_like`.
    pub exactly: bool,
    /// Number of the group.
    pub id: i64,
}

/// `{'x', ?}`: how one dimension is spread over axes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DimensionSharding {
    /// The axes, the most major first.
    pub axes: Vec<AxisRef>,
    /// `?`: more axes may be added.
    pub is_open: bool,
}

/// A sharding over the axes of a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedSharding {
    /// The mesh.
    pub mesh: Mesh,
    /// One for each dimension of the array; none for `replicated`, `manual` and `unreduced`.
    pub dimensions: Vec<DimensionSharding>,
    /// `replicated={'x'}`: axes that must not be used.
    pub replicated: Vec<AxisRef>,
    /// `unreduced={'x'}`: axes along which the devices hold summands.
    pub unreduced: Vec<AxisRef>,
    /// `manual={'x'}`: axes the program handles itself.
    pub manual: Vec<AxisRef>,
    /// `unreduced=max{'x'}`: how summands are combined. Only newer XLA versions know it.
    pub reduction: Option<Symbol>,
}

impl NamedSharding {
    /// A sharding over `mesh` that uses no axis.
    pub fn replicated_over(mesh: Mesh) -> Self {
        let (dimensions, axes) = (Vec::new(), Vec::new());
        Self {
            mesh,
            dimensions,
            replicated: axes.clone(),
            unreduced: axes.clone(),
            manual: axes,
            reduction: None,
        }
    }

    /// Whether the array is whole on every device, and no dimension says how it may be cut.
    pub fn is_replicated(&self) -> bool {
        self.dimensions.is_empty()
            && self.replicated.is_empty()
            && self.unreduced.is_empty()
            && self.manual.is_empty()
    }

    /// Whether the program is written for one device of the whole mesh.
    pub fn is_manual(&self) -> bool {
        self.dimensions.is_empty() && self.covers_mesh(&self.manual)
    }

    /// Whether every device of the whole mesh holds a summand.
    pub fn is_unreduced(&self) -> bool {
        self.dimensions.is_empty() && self.covers_mesh(&self.unreduced)
    }

    /// Whether `axes` (in mesh order) name every axis with more than one device.
    fn covers_mesh(&self, axes: &[AxisRef]) -> bool {
        let mut whole = axes.iter().filter(|axis| axis.sub_axis.is_none()).map(|axis| axis.axis as usize);
        let mut needed = self.mesh.axes.iter().enumerate().filter(|(_, axis)| axis.size != 1);
        !axes.is_empty() && needed.all(|(index, _)| whole.any(|axis| axis == index))
    }
}

impl ShardingKind {
    /// An array cut into the tiles of `assignment`, whose last dimensions are subgroups of these types, in
    /// XLA's normal form: subgroups without effect are dropped, the others sorted and merged, devices that hold
    /// the same are sorted, and what is not cut at all is `{replicated}`, `{manual}` or `{unreduced}`.
    ///
    /// # Errors
    /// More types than dimensions, or the devices must be written out for it and can't.
    pub fn tiled(assignment: TileAssignment, subgroups: &[SubgroupType]) -> Result<Self, TileError> {
        let dimensions = assignment.dimensions();
        let Some(&first) = subgroups.first() else {
            return Ok(Self::Tiled(TiledSharding { assignment, subgroups: Vec::new() }));
        };
        let Some(data_rank) = dimensions.len().checked_sub(subgroups.len()) else {
            return Err(TileError::SubgroupRank { dimensions: dimensions.len(), types: subgroups.len() });
        };
        if subgroups.iter().all(|&subgroup| subgroup == first) && product(&dimensions[..data_rank])? == 1 {
            match first {
                SubgroupType::Manual => return Ok(Self::Manual),
                SubgroupType::Replicated => return Ok(Self::Replicated),
                SubgroupType::Unreduced => return Ok(Self::Unreduced),
                SubgroupType::Maximal => {}
            }
        }
        if subgroups.len() == 1 && dimensions.last() != Some(&1) {
            return Self::with_sorted_subgroups(assignment, subgroups.to_vec());
        }
        let mut permutation: Vec<usize> = (0..data_rank).collect();
        let mut merged = dimensions[..data_rank].to_vec();
        let mut types = Vec::new();
        for wanted in SubgroupType::ALL {
            let mut size = None;
            for (index, &subgroup) in subgroups.iter().enumerate() {
                let dimension = dimensions[data_rank + index];
                if subgroup == wanted && dimension != 1 {
                    permutation.push(data_rank + index);
                    size = Some(product(&[size.unwrap_or(1), dimension])?);
                }
            }
            if let Some(size) = size {
                merged.push(size);
                types.push(wanted);
            }
        }
        permutation.extend((data_rank..dimensions.len()).filter(|&dim| dimensions[dim] == 1));
        let assignment = assignment.transposed(&permutation)?.reshaped(merged);
        Self::with_sorted_subgroups(assignment, types)
    }

    /// The same for subgroups of which each has its own type, in the order of [`SubgroupType::ALL`].
    fn with_sorted_subgroups(
        assignment: TileAssignment,
        subgroups: Vec<SubgroupType>,
    ) -> Result<Self, TileError> {
        let dimensions = assignment.dimensions();
        let is_uncut = |last: Option<&i64>| Ok(assignment.device_count()? == last.copied().unwrap_or(1));
        match subgroups[..] {
            [SubgroupType::Manual] if is_uncut(dimensions.last())? => return Ok(Self::Manual),
            [SubgroupType::Replicated] if dimensions.len() == 1 || is_uncut(dimensions.last())? => {
                return Ok(Self::Replicated);
            }
            _ => {}
        }
        let assignment = match subgroups.last() {
            Some(SubgroupType::Replicated) => assignment.with_sorted_groups()?,
            _ => assignment,
        };
        Ok(Self::Tiled(TiledSharding { assignment, subgroups }))
    }
}

impl SingleSharding {
    /// A sharding without a group and metadata.
    pub fn new(kind: ShardingKind) -> Self {
        Self { kind, shard_group: None, metadata: Vec::new() }
    }

    /// Whether all of the array is on every device.
    pub fn is_replicated(&self) -> bool {
        match &self.kind {
            ShardingKind::Replicated => true,
            ShardingKind::Named(named) => !named.mesh.is_maximal() && named.is_replicated(),
            _ => false,
        }
    }

    /// Whether all of the array is on one device.
    pub fn is_maximal(&self) -> bool {
        self.single_device().is_some()
    }

    /// The device that holds all of the array, if there is one.
    pub fn single_device(&self) -> Option<i64> {
        match &self.kind {
            ShardingKind::Maximal(device) => Some(*device),
            ShardingKind::Named(named) => match named.mesh.devices {
                MeshDevices::Single(device) => Some(device),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the program is written for one device already, on all devices.
    pub fn is_manual(&self) -> bool {
        match &self.kind {
            ShardingKind::Manual => true,
            ShardingKind::Named(named) => named.is_manual(),
            _ => false,
        }
    }

    /// Whether every device holds a summand.
    pub fn is_unreduced(&self) -> bool {
        match &self.kind {
            ShardingKind::Unreduced => true,
            ShardingKind::Named(named) => named.is_unreduced(),
            _ => false,
        }
    }

    /// The tiles, if it is written with some.
    pub fn as_tiled(&self) -> Option<&TiledSharding> {
        match &self.kind {
            ShardingKind::Tiled(tiled) => Some(tiled),
            _ => None,
        }
    }

    /// Number of devices it names, `None` if it names none or too many to count.
    pub fn device_count(&self) -> Option<i64> {
        match &self.kind {
            ShardingKind::Maximal(_) => Some(1),
            ShardingKind::Tiled(tiled) => tiled.assignment.device_count().ok(),
            ShardingKind::Named(named) => named.mesh.device_count().ok(),
            _ => None,
        }
    }

    /// Whether `device` holds a part of the array; `None` if that can't be told without writing out more devices
    /// than the limit, or the sharding doesn't say.
    pub fn uses_device(&self, device: i64) -> Option<bool> {
        match &self.kind {
            ShardingKind::Maximal(only) => Some(*only == device),
            ShardingKind::Replicated | ShardingKind::Manual | ShardingKind::Unreduced => Some(true),
            ShardingKind::Unknown => None,
            ShardingKind::Tiled(tiled) => match tiled.assignment.devices() {
                TileDevices::Iota(iota) => Some((0..iota.device_count().ok()?).contains(&device)),
                TileDevices::List(devices) => Some(devices.contains(&device)),
            },
            ShardingKind::Named(named) => match named.mesh.devices {
                MeshDevices::Single(only) => Some(only == device),
                _ => Some((0..named.mesh.device_count().ok()?).contains(&device)),
            },
        }
    }
}

impl Sharding {
    /// `{replicated}`
    pub fn replicated() -> Self {
        Self::Single(SingleSharding::new(ShardingKind::Replicated))
    }

    /// The sharding of an instruction whose result is a tuple with `leaves` arrays: a single one is repeated, at
    /// least once, and a tuple stays as it is, whatever its length.
    #[must_use]
    pub fn repeat_for_leaves(self, leaves: usize) -> Self {
        match self {
            Self::Single(single) => Self::Tuple(vec![single; leaves.max(1)]),
            tuple @ Self::Tuple(_) => tuple,
        }
    }

    /// The shardings of the arrays; one for a single sharding.
    pub fn elements(&self) -> &[SingleSharding] {
        match self {
            Self::Single(single) => std::slice::from_ref(single),
            Self::Tuple(elements) => elements,
        }
    }

    /// Whether every array is whole on every device.
    pub fn is_replicated(&self) -> bool {
        self.elements().iter().all(SingleSharding::is_replicated)
    }

    /// Whether every array is handled by the program itself.
    pub fn is_manual(&self) -> bool {
        self.elements().iter().all(SingleSharding::is_manual)
    }

    /// The one device that holds everything, if there is one.
    pub fn single_device(&self) -> Option<i64> {
        let (first, rest) = self.elements().split_first()?;
        let device = first.single_device()?;
        rest.iter().all(|element| element.single_device() == Some(device)).then_some(device)
    }
}
