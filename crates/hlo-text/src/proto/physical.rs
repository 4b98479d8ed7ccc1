//! Elements in the order of a layout and in row-major order.

use crate::ir::ArrayShape;

/// How the elements of an array with another than the row-major layout are ordered.
pub(crate) struct Order {
    /// Sizes of the dimensions, the slowest varying of the layout first.
    sizes: Vec<usize>,
    /// How far apart neighbours of these dimensions are in row-major order.
    strides: Vec<usize>,
}

impl Order {
    /// The order of `array`, whose layout is a permutation of its dimensions; `None` if it is row-major.
    pub(crate) fn of(array: &ArrayShape) -> Option<Self> {
        let layout = array.layout.as_ref()?;
        if layout.minor_to_major.iter().rev().enumerate().all(|(index, &dimension)| index as i64 == dimension)
        {
            return None;
        }
        let dimensions: Vec<usize> =
            array.dimensions.iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect();
        let mut logical = vec![1usize; dimensions.len()];
        for at in (1..dimensions.len()).rev() {
            logical[at - 1] = logical[at].saturating_mul(dimensions[at]);
        }
        let mut sizes = Vec::with_capacity(dimensions.len());
        let mut strides = Vec::with_capacity(dimensions.len());
        for &dimension in layout.minor_to_major.iter().rev() {
            let dimension = usize::try_from(dimension).ok()?;
            sizes.push(*dimensions.get(dimension)?);
            strides.push(*logical.get(dimension)?);
        }
        Some(Self { sizes, strides })
    }

    /// Calls `visit` with the row-major place of each of `count` elements in the order of the layout.
    fn walk(&self, count: usize, mut visit: impl FnMut(usize)) {
        let mut index = vec![0usize; self.sizes.len()];
        let mut place = 0usize;
        for _ in 0..count {
            visit(place);
            for at in (0..index.len()).rev() {
                index[at] += 1;
                place += self.strides[at];
                if index[at] < self.sizes[at] {
                    break;
                }
                place -= self.strides[at] * self.sizes[at];
                index[at] = 0;
            }
        }
    }

    /// Elements of `size` bytes from the order of the layout to row-major order.
    pub(crate) fn to_logical(&self, physical: &[u8], size: usize) -> Vec<u8> {
        let mut out = vec![0; physical.len()];
        let mut elements = physical.chunks_exact(size);
        self.walk(physical.len() / size, |place| {
            let to = out.get_mut(place * size..(place + 1) * size);
            if let (Some(to), Some(element)) = (to, elements.next()) {
                to.copy_from_slice(element);
            }
        });
        out
    }

    /// Calls `visit` with the bytes of each element in the order of the layout.
    pub(crate) fn for_each<'e>(
        &self,
        count: usize,
        element: impl Fn(usize) -> Option<&'e [u8]>,
        mut visit: impl FnMut(&[u8]),
    ) {
        self.walk(count, |place| {
            if let Some(bytes) = element(place) {
                visit(bytes);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{ElementType, Layout};

    #[test]
    fn elements_move_there_and_back() {
        let mut array = ArrayShape::new(ElementType::U8, vec![2, 3]);
        assert!(Order::of(&array).is_none());
        array.layout = Some(Layout { minor_to_major: vec![0, 1], ..Layout::default() });
        let order = Order::of(&array).expect("column-major");
        let logical = order.to_logical(&[1, 4, 2, 5, 3, 6], 1);
        assert_eq!(logical, [1, 2, 3, 4, 5, 6]);
        let mut back = Vec::new();
        order.for_each(6, |place| logical.get(place..=place), |bytes| back.extend_from_slice(bytes));
        assert_eq!(back, [1, 4, 2, 5, 3, 6]);
    }
}
