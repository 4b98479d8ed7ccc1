//! `OpSharding`, meshes, and the groups of collectives.

use super::super::schema::{
    axis_ref_proto as ar, axis_ref_proto_sub_axis as sub, collective_device_list_proto as lists,
    hlo_instruction_proto as i, iota_replica_group_list_proto as iota,
    mesh_axes_replica_group_list_proto as by_mesh, mesh_proto as mp, mesh_proto_iota_transform as transform,
    mesh_proto_mesh_axis as axis, named_sharding_proto as ns, named_sharding_proto_dimension_sharding as ds,
    op_sharding as s, replica_group as group,
};
use super::super::wire::Writer;
use super::super::{REDUCTIONS, ShardingType};
use super::metadata::write_metadata;
use crate::ir::{
    AxisRef, Iota, Mesh, MeshDevices, Module, NamedSharding, ReplicaGroups, Sharding, ShardingKind,
    SingleSharding, SubgroupType, TileDevices,
};

/// Appends the fields of a sharding.
pub(super) fn write_sharding(w: &mut Writer, module: &Module, sharding: &Sharding) {
    match sharding {
        Sharding::Single(single) => write_single(w, module, single),
        Sharding::Tuple(elements) => {
            w.int(s::TYPE, ShardingType::Tuple as i64);
            for element in elements {
                w.message(s::TUPLE_SHARDINGS, |w| write_single(w, module, element));
            }
        }
    }
}

fn subgroup_number(subgroup: SubgroupType) -> i64 {
    let kind = match subgroup {
        SubgroupType::Maximal => ShardingType::Maximal,
        SubgroupType::Manual => ShardingType::Manual,
        SubgroupType::Unreduced => ShardingType::Unreduced,
        SubgroupType::Replicated => ShardingType::Replicated,
    };
    kind as i64
}

fn write_single(w: &mut Writer, module: &Module, single: &SingleSharding) {
    let kind = match &single.kind {
        ShardingKind::Named(named) => {
            w.message(s::NAMED_SHARDING, |w| {
                write_named(w, module, named);
                for metadata in &single.metadata {
                    w.message(ns::METADATA, |w| write_metadata(w, module, metadata));
                }
                // The fields are in the order of their numbers.
                write_named_rest(w, module, named);
            });
            return;
        }
        ShardingKind::Replicated => ShardingType::Replicated,
        ShardingKind::Maximal(_) => ShardingType::Maximal,
        ShardingKind::Manual => ShardingType::Manual,
        ShardingKind::Unknown => ShardingType::Unknown,
        ShardingKind::Unreduced => ShardingType::Unreduced,
        ShardingKind::Tiled(_) => ShardingType::Other,
    };
    w.int(s::TYPE, kind as i64);
    let mut iota = None;
    let mut subgroups: &[SubgroupType] = &[];
    match &single.kind {
        ShardingKind::Maximal(device) => w.ints(s::TILE_ASSIGNMENT_DEVICES, [*device]),
        ShardingKind::Tiled(tiled) => {
            w.ints(s::TILE_ASSIGNMENT_DIMENSIONS, tiled.assignment().dimensions().iter().copied());
            match tiled.assignment().devices() {
                TileDevices::List(devices) => w.ints(s::TILE_ASSIGNMENT_DEVICES, devices.iter().copied()),
                TileDevices::Iota(rule) => iota = Some(rule),
            }
            subgroups = tiled.subgroups();
        }
        _ => {}
    }
    let replicates_last = matches!(subgroups, [SubgroupType::Replicated]);
    w.bool(s::REPLICATE_ON_LAST_TILE_DIM, replicates_last);
    for metadata in &single.metadata {
        w.message(s::METADATA, |w| write_metadata(w, module, metadata));
    }
    if !replicates_last {
        w.ints(s::LAST_TILE_DIMS, subgroups.iter().map(|&subgroup| subgroup_number(subgroup)));
    }
    if let Some(rule) = iota {
        write_iota(w, rule, s::IOTA_RESHAPE_DIMS, s::IOTA_TRANSPOSE_PERM);
    }
    if let Some(group) = single.shard_group {
        w.bool(s::IS_SHARD_GROUP, true);
        w.int(s::SHARD_GROUP_ID, group.id);
        w.int(s::SHARD_GROUP_TYPE, i64::from(!group.exactly));
    }
}

fn write_iota(w: &mut Writer, rule: &Iota, reshape: u32, permutation: u32) {
    w.ints(reshape, rule.reshape().iter().copied());
    w.ints(permutation, rule.permutation().iter().map(|&entry| entry.into()));
}

/// The fields before the metadata.
fn write_named(w: &mut Writer, module: &Module, named: &NamedSharding) {
    w.message(ns::MESH, |w| write_mesh(w, module, &named.mesh));
    for dimension in &named.dimensions {
        w.message(ns::DIM_SHARDINGS, |w| {
            write_axes(w, ds::AXES, &dimension.axes);
            w.bool(ds::IS_CLOSED, !dimension.is_open);
        });
    }
    write_axes(w, ns::REPLICATED_AXES, &named.replicated);
    write_axes(w, ns::UNREDUCED_AXES, &named.unreduced);
}

/// The fields behind the metadata.
fn write_named_rest(w: &mut Writer, module: &Module, named: &NamedSharding) {
    write_axes(w, ns::MANUAL_AXES, &named.manual);
    if let Some(reduction) = named.reduction {
        let text = module.strings().get(reduction);
        let number = REDUCTIONS.iter().find(|row| row.1.as_bytes() == text).map_or(0, |row| row.0);
        w.int(ns::REDUCTION_OP, number.into());
    }
}

fn write_axes(w: &mut Writer, number: u32, axes: &[AxisRef]) {
    for axis in axes {
        w.message(number, |w| {
            w.int(ar::MESH_AXIS_INDEX, axis.axis.into());
            if let Some(part) = axis.sub_axis {
                w.message(ar::SUB_AXIS_INFO, |w| {
                    w.int(sub::PRE_SIZE, part.pre_size);
                    w.int(sub::SIZE, part.size);
                });
            }
        });
    }
}

fn write_mesh(w: &mut Writer, module: &Module, mesh: &Mesh) {
    for row in &mesh.axes {
        w.message(mp::AXES, |w| {
            w.bytes(axis::NAME, module.strings().get(row.name));
            w.int(axis::SIZE, row.size);
        });
    }
    match &mesh.devices {
        MeshDevices::InOrder => {}
        MeshDevices::Single(device) => w.ints(mp::DEVICE_IDS, [*device]),
        MeshDevices::List(devices) => w.ints(mp::DEVICE_IDS, devices.iter().copied()),
        MeshDevices::Iota(rule) => w.message(mp::IOTA_TRANSFORM, |w| {
            write_iota(w, rule, transform::RESHAPE_DIMS, transform::TRANSPOSE_PERM);
        }),
    }
}

/// The number of the field that holds groups of this form.
pub(super) fn groups_field(groups: &ReplicaGroups) -> u32 {
    match groups {
        ReplicaGroups::Lists(_) => i::COLLECTIVE_DEVICE_LIST,
        ReplicaGroups::Iota { .. } => i::IOTA_COLLECTIVE_DEVICE_LIST,
        ReplicaGroups::Mesh { .. } => i::MESH_AXES_REPLICA_GROUP_LIST,
    }
}

/// Appends the fields of the groups.
pub(super) fn write_groups(w: &mut Writer, module: &Module, groups: &ReplicaGroups) {
    match groups {
        ReplicaGroups::Lists(groups) => {
            for devices in groups {
                w.message(lists::REPLICA_GROUPS, |w| w.ints(group::REPLICA_IDS, devices.iter().copied()));
            }
        }
        ReplicaGroups::Iota { group_count, group_size, devices } => {
            w.int(iota::NUM_REPLICA_GROUPS, *group_count);
            w.int(iota::NUM_DEVICES_PER_GROUP, *group_size);
            write_iota(w, devices, iota::IOTA_RESHAPE_DIMS, iota::IOTA_TRANSPOSE_PERM);
        }
        ReplicaGroups::Mesh { mesh, axes } => {
            w.message(by_mesh::MESH, |w| write_mesh(w, module, mesh));
            write_axes(w, by_mesh::AXES, axes);
        }
    }
}
