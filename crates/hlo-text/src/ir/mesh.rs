//! Device meshes with named axes, and references to their axes: `mesh['x'=2,'y'=4]`, `'y':(1)2`.

use hashbrown::HashMap;

use super::HASHER;
use super::ids::Symbol;
use super::iota_tile::{Iota, TileError, product, strides, walk};

/// A named axis of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeshAxis {
    /// Name, any bytes; unique within the mesh.
    pub name: Symbol,
    /// Size in devices. XLA accepts any number here.
    pub size: i64,
}

/// Which devices a mesh consists of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MeshDevices {
    /// 0, 1, 2 and so on in row-major order of the axes.
    InOrder,
    /// `device_ids=([4,2]T(1,0))`; never in order.
    Iota(Iota),
    /// `device_ids=(0,2,1,3)`: a permutation of 0, 1, 2 and so on, never in order.
    List(Vec<i64>),
    /// `maximal_mesh[device_id=3]`: this device alone; the mesh has no axes.
    Single(i64),
}

/// `mesh['x'=2,'y'=4]` or `maximal_mesh[device_id=3]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mesh {
    /// The axes, most major first.
    pub axes: Vec<MeshAxis>,
    /// The devices.
    pub devices: MeshDevices,
}

/// `:(1)2`: a part of an axis, as if the axis were an array of `pre_size` by `size` by the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubAxis {
    /// Product of the parts before it, at least 1.
    pub pre_size: i64,
    /// Its own size, at least 2.
    pub size: i64,
}

/// An axis of a mesh, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AxisRef {
    /// Index into [`Mesh::axes`].
    pub axis: u32,
    /// The part, `None` for all of it.
    pub sub_axis: Option<SubAxis>,
}

/// What is wrong with axis references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisError {
    /// A part doesn't divide its axis, or is all of it.
    BadSubAxis(AxisRef),
    /// Two references share devices, or parts of an axis don't fit together.
    Overlap(AxisRef, AxisRef),
    /// Two neighbours are one axis or part.
    Mergeable(AxisRef, AxisRef),
    /// The second must come before the first.
    Unsorted(AxisRef, AxisRef),
}

impl Mesh {
    /// Whether it is a single device.
    pub fn is_maximal(&self) -> bool {
        matches!(self.devices, MeshDevices::Single(_))
    }

    /// Number of devices.
    ///
    /// # Errors
    /// [`TileError::Overflow`].
    pub fn device_count(&self) -> Result<i64, TileError> {
        let sizes: Vec<i64> = self.axes.iter().map(|axis| axis.size).collect();
        product(&sizes)
    }

    /// The index of each axis by name; the error is the first index whose name was there before.
    pub(crate) fn axis_indices(&self) -> Result<HashMap<Symbol, u32, foldhash::fast::FixedState>, usize> {
        let mut indices = HashMap::with_capacity_and_hasher(self.axes.len(), HASHER);
        for (index, axis) in self.axes.iter().enumerate() {
            if indices.insert(axis.name, index as u32).is_some() {
                return Err(index);
            }
        }
        Ok(indices)
    }

    /// The size of the whole axis `axis` is on.
    ///
    /// # Panics
    /// If it is not of this mesh.
    pub fn axis_size(&self, axis: AxisRef) -> i64 {
        self.axes[axis.axis as usize].size
    }

    /// Number of devices along `axis`.
    pub fn size_of(&self, axis: AxisRef) -> i64 {
        axis.sub_axis.map_or_else(|| self.axis_size(axis), |part| part.size)
    }

    /// The axis as `[pre_size, next pre_size)` of its axis; the whole axis starts at 1.
    fn extent(&self, axis: AxisRef) -> (i64, i64) {
        match axis.sub_axis {
            None => (1, self.axis_size(axis)),
            Some(part) => (part.pre_size, part.pre_size.saturating_mul(part.size)),
        }
    }

    /// Whether each part divides its axis and no two references share devices, whatever their order.
    ///
    /// # Errors
    /// The first fault.
    pub fn check_axes(&self, axes: impl IntoIterator<Item = AxisRef>) -> Result<(), AxisError> {
        let mut sorted = Vec::new();
        for axis in axes {
            if let Some(part) = axis.sub_axis {
                let size = self.axis_size(axis);
                let next = part.pre_size.checked_mul(part.size).filter(|&next| next > 0 && size % next == 0);
                if next.is_none() || part.size >= size {
                    return Err(AxisError::BadSubAxis(axis));
                }
            }
            sorted.push(axis);
        }
        sorted.sort_by_key(|&axis| (axis.axis, self.extent(axis)));
        for pair in sorted.windows(2) {
            if let &[first, second] = pair
                && first.axis == second.axis
            {
                // Parts of one axis exist together only if each divides the place where the next begins.
                let (end, start) = (self.extent(first).1, self.extent(second).0);
                let is_whole = first.sub_axis.is_none() || second.sub_axis.is_none();
                if is_whole || start < end || start % end != 0 {
                    return Err(AxisError::Overlap(first, second));
                }
            }
        }
        Ok(())
    }

    /// Whether no two neighbours could be written as one, and if `sorted`, whether they are in mesh order.
    ///
    /// # Errors
    /// The first fault.
    pub fn check_neighbours(&self, axes: &[AxisRef], sorted: bool) -> Result<(), AxisError> {
        for pair in axes.windows(2) {
            let &[first, second] = pair else { continue };
            if first.axis == second.axis && self.extent(first).1 == self.extent(second).0 {
                return Err(AxisError::Mergeable(first, second));
            }
            if sorted && (first.axis, self.extent(first).0) > (second.axis, self.extent(second).0) {
                return Err(AxisError::Unsorted(first, second));
            }
        }
        Ok(())
    }

    /// The devices in groups along `axes`, in group order: the groups in mesh order of the other axes, within a
    /// group the first of `axes` most major.
    ///
    /// # Errors
    /// There are more than `limit` devices, or sizes that are negative or don't match.
    ///
    /// # Panics
    /// On axes that are not of this mesh.
    pub fn devices_grouped_by(&self, axes: &[AxisRef], limit: usize) -> Result<Vec<i64>, TileError> {
        let count = self.device_count()?;
        if let Some(axis) = self.axes.iter().find(|axis| axis.size < 0) {
            return Err(TileError::NegativeDimension(axis.size));
        }
        let total = usize::try_from(count).ok().filter(|&total| total <= limit);
        let total = total.ok_or(TileError::TooManyDevices(count))?;
        if total == 0 {
            return Ok(Vec::new());
        }
        let sizes: Vec<i64> = self.axes.iter().map(|axis| axis.size).collect();
        let axis_strides = strides(&sizes);
        // Every axis falls into the parts that are grouped and those between them.
        let mut by_place: Vec<AxisRef> = axes.to_vec();
        by_place.sort_by_key(|&axis| (axis.axis, self.extent(axis)));
        let mut grouped = by_place.iter().peekable();
        let (mut walk_sizes, mut steps) = (Vec::new(), Vec::new());
        for (index, &size) in sizes.iter().enumerate() {
            let mut start = 1;
            while let Some(&part) = grouped.next_if(|part| part.axis as usize == index) {
                let (part_start, part_end) = self.extent(part);
                walk_sizes.push(part_start / start);
                steps.push(axis_strides[index] * (size / part_start));
                start = part_end;
            }
            walk_sizes.push(size / start);
            steps.push(axis_strides[index]);
        }
        for &axis in axes {
            let index = axis.axis as usize;
            walk_sizes.push(self.size_of(axis));
            steps.push(axis_strides[index] * (sizes[index] / self.extent(axis).1));
        }
        let walked = product(&walk_sizes)?;
        if walked != count {
            return Err(TileError::DeviceCount { places: walked, devices: count });
        }
        let places = walk(&walk_sizes, &steps, total);
        let in_order = match &self.devices {
            MeshDevices::InOrder => return Ok(places),
            MeshDevices::Single(device) => return Ok(vec![*device]),
            MeshDevices::Iota(iota) => iota.expand(limit)?,
            MeshDevices::List(devices) => devices.clone(),
        };
        if in_order.len() != total {
            return Err(TileError::DeviceCount { places: count, devices: in_order.len() as i64 });
        }
        Ok(places.into_iter().map(|place| in_order[place as usize]).collect())
    }
}
