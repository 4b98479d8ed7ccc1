//! `replica_groups=`

use super::options::PrintOptions;
use super::sharding::{write_axis, write_int, write_ints, write_iota, write_mesh, write_separated};
use crate::ir::{Module, ReplicaGroups};

/// Appends replica groups in their own form, or all as lists if the options say so. Groups that can't be written
/// out keep their form.
pub(crate) fn write_replica_groups(
    out: &mut Vec<u8>,
    module: &Module,
    groups: &ReplicaGroups,
    options: &PrintOptions,
) {
    if options.print_full_replica_group_list
        && let Ok(Some((devices, size))) = groups.flattened()
    {
        out.push(b'{');
        if size > 0 {
            for (index, group) in devices.chunks(size).enumerate() {
                out.extend_from_slice(if index > 0 { b",{" } else { b"{" });
                write_ints(out, group);
                out.push(b'}');
            }
        }
        out.push(b'}');
        return;
    }
    match groups {
        ReplicaGroups::Lists(lists) => {
            out.push(b'{');
            write_separated(out, b",", lists, |out, group| {
                out.push(b'{');
                write_ints(out, group);
                out.push(b'}');
            });
            out.push(b'}');
        }
        ReplicaGroups::Iota { group_count, group_size, devices } => {
            out.push(b'[');
            write_int(out, *group_count);
            out.push(b',');
            write_int(out, *group_size);
            out.extend_from_slice(b"]<=");
            write_iota(out, devices);
        }
        ReplicaGroups::Mesh { mesh, axes } => {
            write_mesh(out, module, mesh);
            out.extend_from_slice(b" {");
            write_separated(out, b",", axes, |out, &axis| write_axis(out, module, mesh, axis));
            out.push(b'}');
        }
    }
}
