//! Device numbers arranged in a grid: `[2,4]<=[4,2]T(1,0)` without listing them, or as a list.
//!
//! The iota form says: write 0, 1, 2 and so on into an array of the `reshape` dimensions, transpose it by the
//! permutation, and read it in row-major order into a grid of the tile's dimensions. Many spellings mean the
//! same; the ones built here are always XLA's canonical one.

use std::fmt;

/// The most devices that normalising a sharding may write out where the text has a rule. Pods have tens of
/// thousands of devices; what is larger is malformed, and a short text must not take up much memory.
pub const MAX_NORMALIZED_DEVICES: usize = 1 << 16;

/// The most places that a list of devices that is too short is filled up to.
pub const MAX_FILLED_DEVICES: usize = 1 << 10;

/// The most devices that replica groups and tiles are expanded to on request.
pub const MAX_EXPANDED_DEVICES: usize = 1 << 24;

/// The largest prime factor looked for when an iota is split. Reshape dimensions whose rest is larger than its
/// square are refused.
const MAX_PRIME_FACTOR: i64 = 1 << 16;

/// Why devices can't be arranged as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileError {
    /// The grid has another number of places than there are devices.
    DeviceCount {
        /// Places of the grid.
        places: i64,
        /// Devices given.
        devices: i64,
    },
    /// Writing out this many devices exceeds the limit.
    TooManyDevices(i64),
    /// A dimension is negative.
    NegativeDimension(i64),
    /// The iota has an empty or negative dimension where its size is needed.
    EmptyIota,
    /// A product of dimensions exceeds 64 bits.
    Overflow,
    /// The permutation doesn't name each reshape dimension once.
    NotAPermutation,
    /// More subgroup types than dimensions.
    SubgroupRank {
        /// Dimensions of the tile.
        dimensions: usize,
        /// Subgroup types.
        types: usize,
    },
}

impl fmt::Display for TileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeviceCount { places, devices } => {
                write!(f, "the tile has {places} places, but there are {devices} devices")
            }
            Self::TooManyDevices(devices) => write!(f, "{devices} devices are too many to write out"),
            Self::NegativeDimension(size) => write!(f, "a tile dimension can't be {size}"),
            Self::EmptyIota => f.write_str("the iota has a dimension that is not positive"),
            Self::Overflow => f.write_str("the number of devices exceeds 64 bits"),
            Self::NotAPermutation => f.write_str("`T(...)` must name each reshape dimension once"),
            Self::SubgroupRank { dimensions, types } => {
                write!(f, "there are {types} subgroup types, but the tile has {dimensions} dimensions")
            }
        }
    }
}

impl std::error::Error for TileError {}

/// The product of sizes.
pub(crate) fn product(sizes: &[i64]) -> Result<i64, TileError> {
    if sizes.contains(&0) {
        return Ok(0);
    }
    sizes.iter().try_fold(1i64, |product, &size| product.checked_mul(size)).ok_or(TileError::Overflow)
}

/// The reshape dimensions and permutation of an iota, in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Iota {
    reshape: Vec<i64>,
    permutation: Vec<u32>,
}

impl Iota {
    /// The iota of `reshape` transposed by `permutation`, made canonical: dimensions of size 1 dropped,
    /// dimensions that stay neighbours merged.
    ///
    /// # Errors
    /// [`TileError::NotAPermutation`] if the permutation has another length than `reshape` or an entry out of
    /// range. Like XLA, it may repeat entries; such an iota is held and printed but never expanded.
    /// [`TileError::Overflow`] if merged dimensions exceed 64 bits.
    pub fn new(mut reshape: Vec<i64>, mut permutation: Vec<u32>) -> Result<Self, TileError> {
        if reshape.len() != permutation.len()
            || permutation.iter().any(|&entry| entry as usize >= reshape.len())
        {
            return Err(TileError::NotAPermutation);
        }
        while reshape.len() > 1 {
            if reshape.contains(&1) {
                drop_ones(&mut reshape, &mut permutation);
                if let [only] = reshape[..] {
                    return Ok(Self::plain(only));
                }
                // Repeated entries may outnumber the dimensions now; XLA leaves the last ones out.
                permutation.truncate(reshape.len());
                if permutation.len() != reshape.len() {
                    return Err(TileError::NotAPermutation);
                }
            }
            let mut merged = false;
            let mut base = 0;
            for at in 1..permutation.len() {
                let base_dim = permutation[base] as usize;
                let dim = permutation[at] as usize;
                if base_dim + (at - base) == dim {
                    reshape[base_dim] =
                        reshape[base_dim].checked_mul(reshape[dim]).ok_or(TileError::Overflow)?;
                    reshape[dim] = 1;
                    merged = true;
                } else {
                    base = at;
                }
            }
            if !merged {
                break;
            }
        }
        if reshape.is_empty() {
            return Ok(Self::plain(1));
        }
        Ok(Self { reshape, permutation })
    }

    /// The numbers 0 to `devices - 1` in order.
    pub fn plain(devices: i64) -> Self {
        Self { reshape: vec![devices], permutation: vec![0] }
    }

    /// Sizes of the array the numbers are written into.
    pub fn reshape(&self) -> &[i64] {
        &self.reshape
    }

    /// Which dimension of [`Self::reshape`] each dimension of the transposed array is.
    pub fn permutation(&self) -> &[u32] {
        &self.permutation
    }

    /// Whether the numbers come in order.
    pub fn is_plain(&self) -> bool {
        self.reshape.len() == 1
    }

    /// How many numbers there are.
    ///
    /// # Errors
    /// [`TileError::EmptyIota`], [`TileError::Overflow`].
    pub fn device_count(&self) -> Result<i64, TileError> {
        if self.reshape.iter().any(|&size| size < 0) {
            return Err(TileError::EmptyIota);
        }
        product(&self.reshape)
    }

    /// The numbers in the order of the transposed array.
    ///
    /// # Errors
    /// There are more than `limit`, [`TileError::EmptyIota`], or [`TileError::NotAPermutation`].
    pub fn expand(&self, limit: usize) -> Result<Vec<i64>, TileError> {
        let count = self.device_count()?;
        let total = usize::try_from(count).ok().filter(|&total| total <= limit);
        let total = total.ok_or(TileError::TooManyDevices(count))?;
        let mut seen = vec![false; self.reshape.len()];
        for &entry in &self.permutation {
            if std::mem::replace(&mut seen[entry as usize], true) {
                return Err(TileError::NotAPermutation);
            }
        }
        let sizes: Vec<i64> = self.permutation.iter().map(|&entry| self.reshape[entry as usize]).collect();
        let reshape_strides = strides(&self.reshape);
        let steps: Vec<i64> = self.permutation.iter().map(|&entry| reshape_strides[entry as usize]).collect();
        Ok(walk(&sizes, &steps, total))
    }

    /// The same numbers with every run of `group` of them in ascending order; `None` if that is no iota.
    fn sort_groups(&self, group: i64) -> Result<Option<Self>, TileError> {
        let Some(&last) = self.permutation.last() else { return Ok(None) };
        if self.reshape[last as usize] == group {
            return Ok(Some(self.clone()));
        }
        let mut reshape = self.reshape.clone();
        let mut permutation = self.permutation.clone();
        let mut rest = group;
        let mut at = permutation.len();
        while rest > 1 {
            if at == 0 {
                return Ok(None);
            }
            at -= 1;
            let dim = permutation[at];
            let size = reshape[dim as usize];
            if size <= 0 {
                return Err(TileError::EmptyIota);
            }
            if size <= rest {
                if rest % size != 0 {
                    return Ok(None);
                }
                rest /= size;
                continue;
            }
            if size % rest != 0 {
                return Ok(None);
            }
            // The dimension is split in two: (size / rest, rest), of which only the second is in the groups.
            reshape[dim as usize] = size / rest;
            reshape.insert(dim as usize + 1, rest);
            for entry in &mut permutation {
                *entry += u32::from(*entry > dim);
            }
            permutation.insert(at + 1, dim + 1);
            at += 1;
            break;
        }
        permutation[at..].sort_unstable();
        Self::new(reshape, permutation).map(Some)
    }

    /// Reshape dimensions split into primes, and for each entry of the permutation the factors it stands for.
    fn prime_factors(&self) -> Result<(Vec<i64>, Vec<std::ops::Range<usize>>), TileError> {
        let mut factors = Vec::new();
        let mut ranges = Vec::with_capacity(self.reshape.len());
        for &size in &self.reshape {
            if size <= 0 {
                return Err(TileError::EmptyIota);
            }
            let start = factors.len();
            let mut rest = size;
            let mut prime = 2;
            while prime <= rest / prime {
                if prime > MAX_PRIME_FACTOR {
                    return Err(TileError::TooManyDevices(size));
                }
                while rest % prime == 0 {
                    factors.push(prime);
                    rest /= prime;
                }
                prime += if prime == 2 { 1 } else { 2 };
            }
            if rest > 1 {
                factors.push(rest);
            }
            ranges.push(start..factors.len());
        }
        let ranges = self.permutation.iter().map(|&entry| ranges[entry as usize].clone()).collect();
        Ok((factors, ranges))
    }
}

/// Drops the dimensions of size 1 and renumbers the permutation.
fn drop_ones(reshape: &mut Vec<i64>, permutation: &mut Vec<u32>) {
    let mut kept = 0u32;
    let renumbered: Vec<Option<u32>> = reshape
        .iter()
        .map(|&size| {
            (size != 1).then(|| {
                kept += 1;
                kept - 1
            })
        })
        .collect();
    reshape.retain(|&size| size != 1);
    *permutation = permutation.iter().filter_map(|&entry| renumbered[entry as usize]).collect();
}

/// Row-major strides of an array.
pub(super) fn strides(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; sizes.len()];
    for at in (1..sizes.len()).rev() {
        strides[at - 1] = strides[at].wrapping_mul(sizes[at]);
    }
    strides
}

/// The values of a walk through an array of `sizes` in row-major order, where a step in dimension `i` adds
/// `steps[i]`; `total` is the product of the sizes.
pub(super) fn walk(sizes: &[i64], steps: &[i64], total: usize) -> Vec<i64> {
    let mut values = Vec::with_capacity(total);
    let mut index = vec![0i64; sizes.len()];
    let mut value = 0i64;
    while values.len() < total {
        values.push(value);
        for dim in (0..sizes.len()).rev() {
            index[dim] += 1;
            value += steps[dim];
            if index[dim] < sizes[dim] {
                break;
            }
            value -= steps[dim] * sizes[dim];
            index[dim] = 0;
        }
    }
    values
}

/// Which device is at each place of a grid.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TileDevices {
    /// `<=[4,2]T(1,0)`: by rule. XLA doesn't compare the number of devices with the grid, nor do we.
    Iota(Iota),
    /// `0,2,1,3`: in row-major order of the grid, one for each place.
    List(Vec<i64>),
}

/// A grid of devices: `[2,2]<=[4]` or `[2,2]0,2,1,3`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TileAssignment {
    dimensions: Vec<i64>,
    devices: TileDevices,
}

impl TileAssignment {
    /// A grid filled by rule.
    pub fn iota(dimensions: Vec<i64>, iota: Iota) -> Self {
        Self { dimensions, devices: TileDevices::Iota(iota) }
    }

    /// A grid filled from a list. As in XLA, places the list doesn't reach get device 0.
    ///
    /// # Errors
    /// [`TileError::DeviceCount`] if the list is too long, [`TileError::TooManyDevices`] if it is too short for a
    /// grid of more than [`MAX_FILLED_DEVICES`], negative or oversized dimensions.
    pub fn list(dimensions: Vec<i64>, mut devices: Vec<i64>) -> Result<Self, TileError> {
        if let Some(&size) = dimensions.iter().find(|&&size| size < 0) {
            return Err(TileError::NegativeDimension(size));
        }
        let places = product(&dimensions)?;
        let given = devices.len();
        match usize::try_from(places) {
            Ok(places) if places == given => {}
            Ok(places) if places > given && places <= MAX_FILLED_DEVICES => devices.resize(places, 0),
            Ok(places) if places < given => {
                return Err(TileError::DeviceCount { places: places as i64, devices: given as i64 });
            }
            _ => return Err(TileError::TooManyDevices(places)),
        }
        Ok(Self { dimensions, devices: TileDevices::List(devices) })
    }

    /// Sizes of the grid.
    pub fn dimensions(&self) -> &[i64] {
        &self.dimensions
    }

    /// What stands where.
    pub fn devices(&self) -> &TileDevices {
        &self.devices
    }

    /// Number of places of the grid.
    ///
    /// # Errors
    /// [`TileError::Overflow`].
    pub fn device_count(&self) -> Result<i64, TileError> {
        product(&self.dimensions)
    }

    /// The devices in row-major order of the grid.
    ///
    /// # Errors
    /// There are more than `limit`, or the iota doesn't fill the grid.
    pub fn expand(&self, limit: usize) -> Result<Vec<i64>, TileError> {
        let iota = match &self.devices {
            TileDevices::List(devices) => return Ok(devices.clone()),
            TileDevices::Iota(iota) => iota,
        };
        let (places, devices) = (self.device_count()?, iota.device_count()?);
        if places != devices {
            return Err(TileError::DeviceCount { places, devices });
        }
        iota.expand(limit)
    }

    /// The same devices in a grid of other dimensions; the product must be the same.
    #[must_use]
    pub(super) fn reshaped(self, dimensions: Vec<i64>) -> Self {
        Self { dimensions, ..self }
    }

    /// The grid with its dimensions in the order of `permutation`, which must be one.
    ///
    /// # Errors
    /// The devices must be written out for it, and can't.
    pub fn transposed(&self, permutation: &[usize]) -> Result<Self, TileError> {
        let dimensions: Vec<i64> = permutation.iter().map(|&dim| self.dimensions[dim]).collect();
        if let TileDevices::Iota(iota) = &self.devices
            && let Some(iota) = self.transposed_iota(iota, permutation)?
        {
            return Ok(Self::iota(dimensions, iota));
        }
        let devices = self.expand(MAX_NORMALIZED_DEVICES)?;
        let own_strides = strides(&self.dimensions);
        let steps: Vec<i64> = permutation.iter().map(|&dim| own_strides[dim]).collect();
        let places = walk(&dimensions, &steps, devices.len());
        let devices = places.into_iter().map(|place| devices[place as usize]).collect();
        Ok(Self { dimensions, devices: TileDevices::List(devices) })
    }

    /// The iota of the transposed grid, `None` if there is none.
    fn transposed_iota(&self, iota: &Iota, permutation: &[usize]) -> Result<Option<Iota>, TileError> {
        // Dimensions of size 1 don't matter.
        let moved: Vec<usize> =
            permutation.iter().copied().filter(|&dim| self.dimensions[dim] != 1).collect();
        if moved.is_sorted() {
            return Ok(Some(iota.clone()));
        }
        if iota.is_plain() {
            let permutation = permutation.iter().map(|&dim| dim as u32).collect();
            return Iota::new(self.dimensions.clone(), permutation).map(Some);
        }
        let mut kept = moved.clone();
        kept.sort_unstable();
        let sizes = kept.iter().map(|&dim| self.dimensions[dim]);
        if sizes.eq(iota.permutation.iter().map(|&entry| iota.reshape[entry as usize])) {
            // The grid's dimensions are those of the transposed array, one for one.
            let permutation = moved
                .iter()
                .filter_map(|dim| kept.binary_search(dim).ok())
                .map(|position| iota.permutation[position])
                .collect();
            return Iota::new(iota.reshape.clone(), permutation).map(Some);
        }
        let (mut factors, ranges) = iota.prime_factors()?;
        // Each factor in the order of the transposed array, with where the factors of its dimension end.
        let order: Vec<(usize, usize)> =
            ranges.iter().flat_map(|range| range.clone().map(move |factor| (factor, range.end))).collect();
        let mut at = 0;
        let mut groups = Vec::with_capacity(kept.len());
        for &dim in &kept {
            let start = at;
            let mut missing = self.dimensions[dim];
            while missing != 1 {
                let Some(&(factor, end)) = order.get(at) else { return Ok(None) };
                if missing % factors[factor] != 0 {
                    let Some(other) = (factor + 1..end).find(|&other| missing % factors[other] == 0) else {
                        return Ok(None);
                    };
                    factors.swap(factor, other);
                }
                missing /= factors[factor];
                at += 1;
            }
            groups.push(start..at);
        }
        if at != order.len() {
            return Ok(None);
        }
        let permutation = moved
            .iter()
            .filter_map(|dim| kept.binary_search(dim).ok())
            .flat_map(|position| order[groups[position].clone()].iter().map(|&(factor, _)| factor as u32))
            .collect();
        Iota::new(factors, permutation).map(Some)
    }

    /// The grid with the devices along its last dimension in ascending order.
    ///
    /// # Errors
    /// The devices must be written out for it, and can't.
    pub(super) fn with_sorted_groups(&self) -> Result<Self, TileError> {
        let Some(&group) = self.dimensions.last() else { return Ok(self.clone()) };
        if let TileDevices::Iota(iota) = &self.devices
            && let Some(iota) = iota.sort_groups(group)?
        {
            return Ok(Self::iota(self.dimensions.clone(), iota));
        }
        let mut devices = self.expand(MAX_NORMALIZED_DEVICES)?;
        let group = usize::try_from(group).map_err(|_| TileError::NegativeDimension(group))?;
        if group > 0 {
            devices.chunks_mut(group).for_each(<[i64]>::sort_unstable);
        }
        Ok(Self { dimensions: self.dimensions.clone(), devices: TileDevices::List(devices) })
    }
}
