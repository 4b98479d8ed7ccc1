//! `sharding=` and the meshes in it.

use super::metadata::write_all_metadata;
use super::options::PrintOptions;
use crate::ir::{
    AxisRef, DimensionSharding, Iota, Mesh, MeshDevices, Metadata, Module, NamedSharding, Sharding,
    ShardingKind, SingleSharding, SubgroupType, TileDevices, TiledSharding,
};

/// Before every element of a tuple whose number is divisible by this stands its number, whatever the options.
const INDEX_ANNOTATION_INTERVAL: usize = 5;

/// Appends a sharding with its braces.
pub(crate) fn write_sharding(
    out: &mut Vec<u8>,
    module: &Module,
    sharding: &Sharding,
    options: &PrintOptions,
) {
    let elements = match sharding {
        Sharding::Single(single) => return write_single(out, module, single, options),
        Sharding::Tuple(elements) => elements,
    };
    out.push(b'{');
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(b", ");
            if index % INDEX_ANNOTATION_INTERVAL == 0 {
                out.extend_from_slice(b"/*index=");
                out.extend_from_slice(itoa::Buffer::new().format(index).as_bytes());
                out.extend_from_slice(b"*/");
            }
        }
        write_single(out, module, element, options);
    }
    out.push(b'}');
}

fn write_single(out: &mut Vec<u8>, module: &Module, sharding: &SingleSharding, options: &PrintOptions) {
    let metadata: &[Metadata] = if options.print_metadata { &sharding.metadata } else { &[] };
    out.push(b'{');
    match &sharding.kind {
        ShardingKind::Named(named) => {
            write_named(out, module, named);
            if !metadata.is_empty() {
                out.extend_from_slice(b", metadata={");
                write_separated(out, b", ", metadata, |out, metadata| {
                    write_all_metadata(out, module, metadata);
                });
                out.push(b'}');
            }
            out.push(b'}');
            return;
        }
        ShardingKind::Replicated => out.extend_from_slice(b"replicated"),
        ShardingKind::Maximal(device) => {
            out.extend_from_slice(b"maximal device=");
            write_int(out, *device);
        }
        ShardingKind::Manual => out.extend_from_slice(b"manual"),
        ShardingKind::Unknown => out.extend_from_slice(b"unknown"),
        ShardingKind::Unreduced => out.extend_from_slice(b"unreduced"),
        ShardingKind::Tiled(tiled) => write_tiled(out, tiled),
    }
    if let Some(group) = sharding.shard_group {
        out.extend_from_slice(if group.exactly { b" shard_as " } else { b" shard_like " });
        write_int(out, group.id);
    }
    match metadata {
        [] => {}
        [only] => {
            out.extend_from_slice(b" metadata=");
            write_all_metadata(out, module, only);
        }
        several => {
            out.extend_from_slice(b" metadata={");
            write_separated(out, b", ", several, |out, metadata| {
                write_all_metadata(out, module, metadata);
            });
            out.push(b'}');
        }
    }
    out.push(b'}');
}

fn write_tiled(out: &mut Vec<u8>, tiled: &TiledSharding) {
    out.extend_from_slice(b"devices=[");
    write_ints(out, tiled.assignment().dimensions());
    out.push(b']');
    match tiled.assignment().devices() {
        TileDevices::Iota(iota) => {
            out.extend_from_slice(b"<=");
            write_iota(out, iota);
        }
        TileDevices::List(devices) => write_ints(out, devices),
    }
    match tiled.subgroups() {
        [] => {}
        [SubgroupType::Replicated] => out.extend_from_slice(b" last_tile_dim_replicate"),
        types => {
            out.extend_from_slice(b" last_tile_dims={");
            write_separated(out, b", ", types, |out, subgroup| {
                out.extend_from_slice(subgroup.name().as_bytes());
            });
            out.push(b'}');
        }
    }
}

fn write_named(out: &mut Vec<u8>, module: &Module, named: &NamedSharding) {
    write_mesh(out, module, &named.mesh);
    if named.mesh.is_maximal() {
        return;
    }
    out.extend_from_slice(b", ");
    if named.is_replicated() {
        out.extend_from_slice(b"replicated");
        return;
    }
    if named.is_unreduced() {
        out.extend_from_slice(b"unreduced");
        write_reduction(out, module, named);
        return;
    }
    if named.is_manual() {
        out.extend_from_slice(b"manual");
        return;
    }
    out.push(b'[');
    write_separated(out, b", ", &named.dimensions, |out, dimension| {
        write_dimension(out, module, &named.mesh, dimension);
    });
    out.push(b']');
    let sections: [(&[u8], &[AxisRef]); 3] =
        [(b"replicated", &named.replicated), (b"unreduced", &named.unreduced), (b"manual", &named.manual)];
    for (name, axes) in sections {
        let is_reduced = name == b"unreduced" && named.reduction.is_some();
        if axes.is_empty() && !is_reduced {
            continue;
        }
        out.extend_from_slice(b", ");
        out.extend_from_slice(name);
        if is_reduced {
            write_reduction(out, module, named);
        } else {
            out.push(b'=');
        }
        out.push(b'{');
        write_separated(out, b", ", axes, |out, &axis| write_axis(out, module, &named.mesh, axis));
        out.push(b'}');
    }
}

/// `=max`, which only newer XLA versions read; without it the sharding would mean something else.
fn write_reduction(out: &mut Vec<u8>, module: &Module, named: &NamedSharding) {
    if let Some(reduction) = named.reduction {
        out.push(b'=');
        out.extend_from_slice(module.strings().get(reduction));
    }
}

fn write_dimension(out: &mut Vec<u8>, module: &Module, mesh: &Mesh, dimension: &DimensionSharding) {
    out.push(b'{');
    write_separated(out, b", ", &dimension.axes, |out, &axis| write_axis(out, module, mesh, axis));
    if dimension.is_open {
        out.extend_from_slice(if dimension.axes.is_empty() { b"?" } else { b", ?" });
    }
    out.push(b'}');
}

/// Appends `mesh['x'=2,'y'=4], device_ids=(...)` or `maximal_mesh[device_id=N]`.
pub(super) fn write_mesh(out: &mut Vec<u8>, module: &Module, mesh: &Mesh) {
    if let MeshDevices::Single(device) = mesh.devices {
        out.extend_from_slice(b"maximal_mesh[device_id=");
        write_int(out, device);
        out.push(b']');
        return;
    }
    out.extend_from_slice(b"mesh[");
    write_separated(out, b",", &mesh.axes, |out, axis| {
        write_axis_name(out, module.strings().get(axis.name));
        out.push(b'=');
        write_int(out, axis.size);
    });
    out.push(b']');
    match &mesh.devices {
        MeshDevices::InOrder | MeshDevices::Single(_) => {}
        MeshDevices::Iota(iota) => {
            out.extend_from_slice(b", device_ids=(");
            write_iota(out, iota);
            out.push(b')');
        }
        MeshDevices::List(devices) => {
            out.extend_from_slice(b", device_ids=(");
            write_ints(out, devices);
            out.push(b')');
        }
    }
}

/// Appends `'x'` or `'x':(1)2`.
pub(super) fn write_axis(out: &mut Vec<u8>, module: &Module, mesh: &Mesh, axis: AxisRef) {
    let Some(named) = mesh.axes.get(axis.axis as usize) else { return };
    write_axis_name(out, module.strings().get(named.name));
    if let Some(part) = axis.sub_axis {
        out.extend_from_slice(b":(");
        write_int(out, part.pre_size);
        out.push(b')');
        write_int(out, part.size);
    }
}

/// XLA writes axis names as they are, without escapes.
fn write_axis_name(out: &mut Vec<u8>, name: &[u8]) {
    out.push(b'\'');
    out.extend_from_slice(name);
    out.push(b'\'');
}

/// Appends `[4,2]T(1,0)`, or `[8]` for numbers in order.
pub(super) fn write_iota(out: &mut Vec<u8>, iota: &Iota) {
    out.push(b'[');
    write_ints(out, iota.reshape());
    out.push(b']');
    if !iota.is_plain() {
        out.extend_from_slice(b"T(");
        write_separated(out, b",", iota.permutation(), |out, &entry| write_int(out, i64::from(entry)));
        out.push(b')');
    }
}

pub(super) fn write_int(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends `1,2,3`.
pub(super) fn write_ints(out: &mut Vec<u8>, values: &[i64]) {
    write_separated(out, b",", values, |out, &value| write_int(out, value));
}

/// Appends each of `items` with `separator` between them.
pub(super) fn write_separated<T>(
    out: &mut Vec<u8>,
    separator: &[u8],
    items: &[T],
    mut write: impl FnMut(&mut Vec<u8>, &T),
) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(separator);
        }
        write(out, item);
    }
}
