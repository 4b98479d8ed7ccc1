//! Which devices take part in a collective together: `{{0,1},{2,3}}`, `[2,2]<=[4]`, `mesh['x'=2] {'x'}`.

use super::iota_tile::{Iota, MAX_EXPANDED_DEVICES, TileError, product};
use super::mesh::{AxisRef, Mesh};

/// The groups of a collective.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReplicaGroups {
    /// `{{0,1},{2}}`: each group as a list; none means one group of everybody.
    Lists(Vec<Vec<i64>>),
    /// `[2,4]<=[4,2]T(1,0)`: groups of equal size by rule. XLA does not compare the number of devices with the
    /// groups, nor do we.
    Iota {
        /// Number of groups.
        group_count: i64,
        /// Devices in each.
        group_size: i64,
        /// The devices, group by group.
        devices: Iota,
    },
    /// `mesh['x'=2,'y'=4] {'x'}`: the devices along axes of a mesh.
    Mesh {
        /// The mesh.
        mesh: Mesh,
        /// The axes along which a group lies, the most major first.
        axes: Vec<AxisRef>,
    },
}

impl Default for ReplicaGroups {
    /// `{}`
    fn default() -> Self {
        Self::Lists(Vec::new())
    }
}

impl ReplicaGroups {
    /// Whether no group is given: one group of everybody.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Lists(lists) if lists.is_empty())
    }

    /// Number of groups, `None` if the sizes of a mesh make no sense.
    pub fn group_count(&self) -> Option<i64> {
        match self {
            Self::Lists(lists) => Some(lists.len() as i64),
            Self::Iota { group_count, .. } => Some(*group_count),
            Self::Mesh { mesh, .. } => mesh.device_count().ok()?.checked_div(self.group_size()?),
        }
    }

    /// Number of devices of each group, `None` if groups differ or there are none.
    pub fn group_size(&self) -> Option<i64> {
        match self {
            Self::Lists(lists) => {
                let size = lists.first()?.len();
                lists.iter().all(|list| list.len() == size).then_some(size as i64)
            }
            Self::Iota { group_size, .. } => Some(*group_size),
            Self::Mesh { mesh, axes } => {
                let sizes: Vec<i64> = axes.iter().map(|&axis| mesh.size_of(axis)).collect();
                product(&sizes).ok()
            }
        }
    }

    /// Number of devices in all groups together, `None` if sizes make no sense.
    pub fn device_count(&self) -> Option<i64> {
        match self {
            Self::Lists(lists) => Some(lists.iter().map(Vec::len).sum::<usize>() as i64),
            Self::Iota { group_count, group_size, .. } => group_count.checked_mul(*group_size),
            Self::Mesh { mesh, .. } => mesh.device_count().ok(),
        }
    }

    /// The devices of all groups one after the other, with the size of a group, for the two forms that are not
    /// lists.
    pub(crate) fn flattened(&self) -> Result<Option<(Vec<i64>, usize)>, TileError> {
        let (devices, group_size) = match self {
            Self::Lists(_) => return Ok(None),
            Self::Iota { group_count, group_size, devices } => {
                if let Some(&size) = [*group_count, *group_size].iter().find(|&&size| size < 0) {
                    return Err(TileError::NegativeDimension(size));
                }
                let places = product(&[*group_count, *group_size])?;
                let given = devices.device_count()?;
                if places != given {
                    return Err(TileError::DeviceCount { places, devices: given });
                }
                (devices.expand(MAX_EXPANDED_DEVICES)?, *group_size)
            }
            Self::Mesh { mesh, axes } => {
                let devices = mesh.devices_grouped_by(axes, MAX_EXPANDED_DEVICES)?;
                (devices, self.group_size().ok_or(TileError::Overflow)?)
            }
        };
        let group_size = usize::try_from(group_size).map_err(|_| TileError::NegativeDimension(group_size))?;
        Ok(Some((devices, group_size)))
    }

    /// The groups as lists, whatever their form.
    ///
    /// # Errors
    /// There are more than [`MAX_EXPANDED_DEVICES`], or the rule doesn't give as many devices as the groups have.
    pub fn to_lists(&self) -> Result<Vec<Vec<i64>>, TileError> {
        match (self, self.flattened()?) {
            (Self::Lists(lists), _) => Ok(lists.clone()),
            (_, Some((devices, size))) if size > 0 => Ok(devices.chunks(size).map(<[i64]>::to_vec).collect()),
            _ => Ok(Vec::new()),
        }
    }
}
