//! `OpSharding`, meshes, and the groups of collectives.

use super::super::fault::{Fault, FaultKind, InField, Read};
use super::super::schema::{
    axis_ref_proto as ar, axis_ref_proto_sub_axis as sub, collective_device_list_proto as lists,
    iota_replica_group_list_proto as iota, mesh_axes_replica_group_list_proto as by_mesh, mesh_proto as mp,
    mesh_proto_iota_transform as transform, mesh_proto_mesh_axis as axis, named_sharding_proto as ns,
    named_sharding_proto_dimension_sharding as ds, op_sharding as s, replica_group as group,
};
use super::super::wire::{Field, Fields};
use super::super::{MAX_PROTO_NESTING, ShardingType};
use super::Reader;
use super::shape::too_deep;
use crate::ir::{
    AxisError, AxisRef, DimensionSharding, Iota, Mesh, MeshAxis, MeshDevices, Metadata, NamedSharding,
    ReplicaGroups, ShardGroup, Sharding, ShardingKind, SingleSharding, SubAxis, SubgroupType, TileAssignment,
    TileError,
};

/// The subgroups that the number of a sharding type can stand for.
fn subgroup(number: i32) -> Read<SubgroupType> {
    match ShardingType::from_number(number) {
        Some(ShardingType::Replicated) => Ok(SubgroupType::Replicated),
        Some(ShardingType::Maximal) => Ok(SubgroupType::Maximal),
        Some(ShardingType::Manual) => Ok(SubgroupType::Manual),
        Some(ShardingType::Unreduced) => Ok(SubgroupType::Unreduced),
        _ => Err(Fault::value(format!("{number} is no type of a subgroup")).within("last_tile_dims")),
    }
}

fn tile_fault(error: TileError) -> Box<Fault> {
    let kind = match error {
        TileError::TooManyDevices(_) => FaultKind::TooLarge,
        _ => FaultKind::Value,
    };
    Fault::new(kind, error.to_string())
}

/// What an `OpSharding` says, before it is made sense of.
#[derive(Default)]
struct Parts<'b> {
    kind: i32,
    dimensions: Vec<i64>,
    devices: Vec<i64>,
    elements: Vec<SingleSharding>,
    replicate_on_last_tile_dim: bool,
    metadata: Vec<Metadata>,
    last_tile_dims: Vec<i32>,
    reshape: Vec<i64>,
    permutation: Vec<u32>,
    is_group: bool,
    group: i64,
    group_like: bool,
    named: Option<&'b [u8]>,
}

impl<'b> Reader<'b> {
    /// The sharding in `bytes`.
    pub(super) fn sharding(&mut self, bytes: &'b [u8]) -> Read<Sharding> {
        let parts = self.sharding_parts(bytes, 0)?;
        match ShardingType::from_number(parts.kind) {
            Some(ShardingType::Tuple) => Ok(Sharding::Tuple(parts.elements)),
            _ => self.single_sharding(parts).map(Sharding::Single),
        }
    }

    fn sharding_parts(&mut self, bytes: &'b [u8], depth: usize) -> Read<Parts<'b>> {
        if depth > MAX_PROTO_NESTING {
            return Err(too_deep("shardings"));
        }
        let mut parts = Parts::default();
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                s::TYPE => parts.kind = field.int32().within("type")?,
                s::TILE_ASSIGNMENT_DIMENSIONS => {
                    field.int64s(&mut parts.dimensions).within("tile_assignment_dimensions")?;
                }
                s::TILE_ASSIGNMENT_DEVICES => {
                    field.int64s(&mut parts.devices).within("tile_assignment_devices")?;
                }
                s::TUPLE_SHARDINGS => {
                    let index = parts.elements.len();
                    let element = field
                        .bytes()
                        .and_then(|bytes| self.sharding_parts(bytes, depth + 1))
                        .and_then(|parts| self.single_sharding(parts));
                    parts.elements.push(element.at("tuple_shardings", index)?);
                }
                s::REPLICATE_ON_LAST_TILE_DIM => {
                    parts.replicate_on_last_tile_dim = field.bool().within("replicate_on_last_tile_dim")?;
                }
                s::METADATA => {
                    let index = parts.metadata.len();
                    let metadata = field.bytes().and_then(|bytes| self.metadata(bytes));
                    parts.metadata.push(metadata.at("metadata", index)?);
                }
                s::LAST_TILE_DIMS => {
                    let types = &mut parts.last_tile_dims;
                    field.varints(|bits| types.push(bits as i32)).within("last_tile_dims")?;
                }
                s::IOTA_RESHAPE_DIMS => field.int64s(&mut parts.reshape).within("iota_reshape_dims")?,
                s::IOTA_TRANSPOSE_PERM => {
                    permutation(&field, &mut parts.permutation).within("iota_transpose_perm")?;
                }
                s::IS_SHARD_GROUP => parts.is_group = field.bool().within("is_shard_group")?,
                s::SHARD_GROUP_ID => parts.group = field.int64().within("shard_group_id")?,
                s::SHARD_GROUP_TYPE => parts.group_like = field.int32().within("shard_group_type")? != 0,
                s::NAMED_SHARDING => parts.named = Some(field.bytes().within("named_sharding")?),
                _ => {}
            }
        }
        Ok(parts)
    }

    fn single_sharding(&mut self, parts: Parts<'b>) -> Read<SingleSharding> {
        if let Some(named) = parts.named {
            let (named, metadata) = self.named_sharding(named).within("named_sharding")?;
            return Ok(SingleSharding {
                kind: ShardingKind::Named(Box::new(named)),
                shard_group: None,
                metadata,
            });
        }
        let kind = match ShardingType::from_number(parts.kind) {
            Some(ShardingType::Replicated) => ShardingKind::Replicated,
            Some(ShardingType::Manual) => ShardingKind::Manual,
            Some(ShardingType::Unknown) => ShardingKind::Unknown,
            Some(ShardingType::Unreduced) => ShardingKind::Unreduced,
            Some(ShardingType::Maximal) => match parts.devices[..] {
                [device] => ShardingKind::Maximal(device),
                _ => {
                    let message = format!("a maximal sharding has one device, not {}", parts.devices.len());
                    return Err(Fault::value(message).within("tile_assignment_devices"));
                }
            },
            Some(ShardingType::Other) => match parts.devices[..] {
                [device] => ShardingKind::Maximal(device),
                _ => tiled(&parts)?,
            },
            Some(ShardingType::Tuple) => {
                return Err(Fault::value("a sharding in a tuple can't be a tuple").within("type"));
            }
            None => {
                return Err(Fault::value(format!("{} is no type of a sharding", parts.kind)).within("type"));
            }
        };
        let shard_group =
            parts.is_group.then_some(ShardGroup { exactly: !parts.group_like, id: parts.group });
        Ok(SingleSharding { kind, shard_group, metadata: parts.metadata })
    }

    fn named_sharding(&mut self, bytes: &'b [u8]) -> Read<(NamedSharding, Vec<Metadata>)> {
        let mut mesh = Mesh { axes: Vec::new(), devices: MeshDevices::InOrder };
        for field in Fields::new(bytes) {
            let field = field?;
            if field.number == ns::MESH {
                mesh = field.bytes().and_then(|bytes| self.mesh(bytes)).within("mesh")?;
            }
        }
        let mut named = NamedSharding::replicated_over(mesh);
        let mut metadata = Vec::new();
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                ns::DIM_SHARDINGS => {
                    let index = named.dimensions.len();
                    let mut dimension = DimensionSharding { axes: Vec::new(), is_open: true };
                    for inner in Fields::new(field.bytes().at("dim_shardings", index)?) {
                        let inner = inner.at("dim_shardings", index)?;
                        match inner.number {
                            ds::AXES => push_axis(&inner, &named.mesh, &mut dimension.axes)
                                .at("dim_shardings", index)?,
                            ds::IS_CLOSED => dimension.is_open = !inner.bool().at("dim_shardings", index)?,
                            _ => {}
                        }
                    }
                    named.dimensions.push(dimension);
                }
                ns::REPLICATED_AXES => {
                    push_axis(&field, &named.mesh, &mut named.replicated).within("replicated_axes")?;
                }
                ns::UNREDUCED_AXES => {
                    push_axis(&field, &named.mesh, &mut named.unreduced).within("unreduced_axes")?;
                }
                ns::MANUAL_AXES => push_axis(&field, &named.mesh, &mut named.manual).within("manual_axes")?,
                ns::METADATA => {
                    let index = metadata.len();
                    let read = field.bytes().and_then(|bytes| self.metadata(bytes));
                    metadata.push(read.at("metadata", index)?);
                }
                ns::REDUCTION_OP => {
                    let number = field.int32().within("reduction_op")?;
                    if number != 0 {
                        let name = ShardingType::reduction_name(number).ok_or_else(|| {
                            Fault::value(format!("{number} is no reduction")).within("reduction_op")
                        })?;
                        named.reduction = Some(self.module().strings_mut().intern(name.as_bytes()));
                    }
                }
                _ => {}
            }
        }
        let mesh = &named.mesh;
        let sorted = [&named.replicated, &named.unreduced, &named.manual];
        let in_dimensions = named.dimensions.iter().flat_map(|dimension| &dimension.axes);
        let all = in_dimensions.chain(sorted.into_iter().flatten()).copied();
        mesh.check_axes(all)
            .and_then(|()| {
                named
                    .dimensions
                    .iter()
                    .try_for_each(|dimension| mesh.check_neighbours(&dimension.axes, false))?;
                sorted.into_iter().try_for_each(|axes| mesh.check_neighbours(axes, true))
            })
            .map_err(axis_fault)?;
        Ok((named, metadata))
    }

    fn mesh(&mut self, bytes: &'b [u8]) -> Read<Mesh> {
        let mut mesh = Mesh { axes: Vec::new(), devices: MeshDevices::InOrder };
        let mut devices = Vec::new();
        let mut by_rule = None;
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                mp::AXES => {
                    let index = mesh.axes.len();
                    let mut name: &[u8] = &[];
                    let mut size = 0;
                    for inner in Fields::new(field.bytes().at("axes", index)?) {
                        let inner = inner.at("axes", index)?;
                        match inner.number {
                            axis::NAME => name = inner.bytes().at("axes", index)?,
                            axis::SIZE => size = inner.int64().at("axes", index)?,
                            _ => {}
                        }
                    }
                    let name = self.module().strings_mut().intern(name);
                    mesh.axes.push(MeshAxis { name, size });
                }
                mp::DEVICE_IDS => field.int64s(&mut devices).within("device_ids")?,
                mp::IOTA_TRANSFORM => {
                    let (mut reshape, mut order) = (Vec::new(), Vec::new());
                    for inner in Fields::new(field.bytes().within("iota_transform")?) {
                        let inner = inner.within("iota_transform")?;
                        match inner.number {
                            transform::RESHAPE_DIMS => inner.int64s(&mut reshape).within("iota_transform")?,
                            transform::TRANSPOSE_PERM => {
                                permutation(&inner, &mut order).within("iota_transform")?;
                            }
                            _ => {}
                        }
                    }
                    by_rule = Some(Iota::new(reshape, order).map_err(tile_fault).within("iota_transform")?);
                }
                _ => {}
            }
        }
        if let Err(index) = mesh.axis_indices() {
            return Err(Fault::value("two axes of the mesh have the same name").at("axes", index));
        }
        mesh.devices = match (by_rule, &devices[..]) {
            (Some(iota), []) if iota.is_plain() => MeshDevices::InOrder,
            (Some(iota), []) => MeshDevices::Iota(iota),
            (None, []) => MeshDevices::InOrder,
            (None, &[device]) if mesh.axes.is_empty() => MeshDevices::Single(device),
            _ => listed_devices(&mesh, devices).within("device_ids")?,
        };
        Ok(mesh)
    }

    /// The groups in the field `field`, which is one of those that hold groups.
    pub(super) fn device_list(&mut self, field: &Field<'b>) -> Read<ReplicaGroups> {
        let mut groups = Vec::new();
        for inner in Fields::new(field.bytes()?) {
            let inner = inner?;
            if inner.number == lists::REPLICA_GROUPS {
                let index = groups.len();
                groups.push(inner.bytes().and_then(replica_group).at("replica_groups", index)?);
            }
        }
        Ok(ReplicaGroups::Lists(groups))
    }

    pub(super) fn mesh_groups(&mut self, field: &Field<'b>) -> Read<ReplicaGroups> {
        let mut mesh = Mesh { axes: Vec::new(), devices: MeshDevices::InOrder };
        for inner in Fields::new(field.bytes()?) {
            let inner = inner?;
            if inner.number == by_mesh::MESH {
                mesh = inner.bytes().and_then(|bytes| self.mesh(bytes)).within("mesh")?;
            }
        }
        let mut axes = Vec::new();
        for inner in Fields::new(field.bytes()?) {
            let inner = inner?;
            if inner.number == by_mesh::AXES {
                push_axis(&inner, &mesh, &mut axes).within("axes")?;
            }
        }
        mesh.check_axes(axes.iter().copied())
            .and_then(|()| mesh.check_neighbours(&axes, false))
            .map_err(axis_fault)
            .within("axes")?;
        let groups = ReplicaGroups::Mesh { mesh, axes };
        match groups.group_size() {
            Some(_) => Ok(groups),
            None => Err(Fault::value("the number of devices of a group exceeds 64 bits").within("axes")),
        }
    }
}

/// `[2,4]<=[8]`
pub(super) fn iota_groups(field: &Field<'_>) -> Read<ReplicaGroups> {
    let (mut group_count, mut group_size, mut reshape, mut order) = (0, 0, Vec::new(), Vec::new());
    for inner in Fields::new(field.bytes()?) {
        let inner = inner?;
        match inner.number {
            iota::NUM_REPLICA_GROUPS => group_count = inner.int64().within("num_replica_groups")?,
            iota::NUM_DEVICES_PER_GROUP => group_size = inner.int64().within("num_devices_per_group")?,
            iota::IOTA_RESHAPE_DIMS => inner.int64s(&mut reshape).within("iota_reshape_dims")?,
            iota::IOTA_TRANSPOSE_PERM => permutation(&inner, &mut order).within("iota_transpose_perm")?,
            _ => {}
        }
    }
    let devices = Iota::new(reshape, order).map_err(tile_fault)?;
    Ok(ReplicaGroups::Iota { group_count, group_size, devices })
}

/// The devices of a `ReplicaGroup`.
pub(super) fn replica_group(bytes: &[u8]) -> Read<Vec<i64>> {
    let mut devices = Vec::new();
    for field in Fields::new(bytes) {
        let field = field?;
        if field.number == group::REPLICA_IDS {
            field.int64s(&mut devices).within("replica_ids")?;
        }
    }
    Ok(devices)
}

fn tiled(parts: &Parts<'_>) -> Read<ShardingKind> {
    let dimensions = parts.dimensions.clone();
    if dimensions.is_empty() {
        let message = "the sharding has neither tiles nor one device";
        return Err(Fault::value(message).within("tile_assignment_dimensions"));
    }
    let assignment = if parts.reshape.is_empty() {
        let given = parts.devices.len();
        let assignment = TileAssignment::list(dimensions, parts.devices.clone());
        let assignment = assignment.map_err(tile_fault).within("tile_assignment_devices")?;
        let places = assignment.device_count().unwrap_or(0);
        if places != given as i64 {
            let message = format!("the tile assignment has {places} places, but {given} devices");
            return Err(Fault::value(message).within("tile_assignment_devices"));
        }
        assignment
    } else {
        let iota = Iota::new(parts.reshape.clone(), parts.permutation.clone());
        TileAssignment::iota(dimensions, iota.map_err(tile_fault).within("iota_reshape_dims")?)
    };
    let mut subgroups = Vec::with_capacity(parts.last_tile_dims.len());
    for &number in &parts.last_tile_dims {
        subgroups.push(subgroup(number)?);
    }
    if parts.replicate_on_last_tile_dim && subgroups.is_empty() {
        subgroups.push(SubgroupType::Replicated);
    }
    ShardingKind::tiled(assignment, &subgroups).map_err(tile_fault)
}

fn permutation(field: &Field<'_>, out: &mut Vec<u32>) -> Read<()> {
    let mut bad = None;
    field.varints(|bits| match u32::try_from(bits) {
        Ok(entry) => out.push(entry),
        Err(_) => bad = Some(bits),
    })?;
    match bad {
        None => Ok(()),
        Some(entry) => Err(Fault::value(format!("{} is no dimension", entry as i64))),
    }
}

fn push_axis(field: &Field<'_>, mesh: &Mesh, out: &mut Vec<AxisRef>) -> Read<()> {
    let (mut index, mut sub_axis) = (0, None);
    for inner in Fields::new(field.bytes()?) {
        let inner = inner?;
        match inner.number {
            ar::MESH_AXIS_INDEX => index = inner.int64().within("mesh_axis_index")?,
            ar::SUB_AXIS_INFO => {
                let mut part = SubAxis { pre_size: 0, size: 0 };
                for field in Fields::new(inner.bytes().within("sub_axis_info")?) {
                    let field = field?;
                    match field.number {
                        sub::PRE_SIZE => part.pre_size = field.int64().within("sub_axis_info")?,
                        sub::SIZE => part.size = field.int64().within("sub_axis_info")?,
                        _ => {}
                    }
                }
                if part.pre_size < 1 || part.size < 2 {
                    let message = "a part of an axis has a size of at least 2, and at least 1 before it";
                    return Err(Fault::value(message).within("sub_axis_info"));
                }
                sub_axis = Some(part);
            }
            _ => {}
        }
    }
    let axis =
        u32::try_from(index).ok().filter(|&axis| (axis as usize) < mesh.axes.len()).ok_or_else(|| {
            let message = format!("the mesh has {} axes, there is no axis {index}", mesh.axes.len());
            Fault::value(message).within("mesh_axis_index")
        })?;
    out.push(AxisRef { axis, sub_axis });
    Ok(())
}

fn listed_devices(mesh: &Mesh, devices: Vec<i64>) -> Read<MeshDevices> {
    let count = mesh.device_count().map_err(tile_fault)?;
    if usize::try_from(count) != Ok(devices.len()) {
        let message = format!("the axes of the mesh make {count} devices, but {} are listed", devices.len());
        return Err(Fault::value(message));
    }
    let mut seen = vec![false; devices.len()];
    for &device in &devices {
        let slot = usize::try_from(device).ok().and_then(|device| seen.get_mut(device));
        if slot.is_none_or(|seen| std::mem::replace(seen, true)) {
            return Err(Fault::value(format!("the devices are not each there once; {device} doesn't fit")));
        }
    }
    Ok(if devices.is_sorted() { MeshDevices::InOrder } else { MeshDevices::List(devices) })
}

fn axis_fault(error: AxisError) -> Box<Fault> {
    Fault::value(match error {
        AxisError::BadSubAxis(_) => "a part of an axis doesn't divide it, or is all of it",
        AxisError::Overlap(..) => "two axes share devices",
        AxisError::Mergeable(..) => "two neighbouring axes are one",
        AxisError::Unsorted(..) => "the axes are not in the order of the mesh",
    })
}
