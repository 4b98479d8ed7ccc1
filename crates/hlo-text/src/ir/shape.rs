//! Shapes and layouts (HLO text: `f32[2,3]{1,0:T(8,128)}`, `(s32[], token[])`).

use super::element_type::ElementType;
use super::ids::ShapeId;
use super::interner::Pool;

/// One dimension of a tile: a size, or `*` (combine with the next more minor dimension).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileDimension {
    /// A size in elements, at least 0.
    Size(i64),
    /// `*`
    Combine,
}

/// A split of one dimension (`SC(0:1,2)`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SplitConfig {
    /// The dimension that is split.
    pub dimension: i64,
    /// The indices at which it is split.
    pub indices: Vec<i64>,
}

/// How an array lies in memory. `Default` is the layout of a scalar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Logical dimension numbers from the fastest varying to the slowest; as many as the rank. The parser
    /// does not check the entries themselves (nor does XLA's).
    pub minor_to_major: Vec<i64>,
    /// `T(8,128)(2,1)`
    pub tiles: Vec<Vec<TileDimension>>,
    /// `L(n)`: padding alignment of the tail, in elements; 1 is not printed.
    pub tail_padding_alignment: i64,
    /// `#(u8)`: type of indices of sparse layouts. `Some(None)` is XLA's invalid type, printed `invalid`.
    pub index_type: Option<Option<ElementType>>,
    /// `*(u8)`: type of pointers of sparse layouts. `Some(None)` is XLA's invalid type, printed `invalid`.
    pub pointer_type: Option<Option<ElementType>>,
    /// `E(n)`: element size in bits; 0 is not printed.
    pub element_size_in_bits: i64,
    /// `S(n)`: memory space; 0 is not printed.
    pub memory_space: i64,
    /// `SC(0:1,2)(1:3)`
    pub split_configs: Vec<SplitConfig>,
    /// `M(n)`: dynamic shape metadata prefix in bytes; 0 is not printed.
    pub dynamic_shape_metadata_prefix_bytes: i64,
}

impl Layout {
    /// The default layout of an array of `rank` dimensions: `{rank-1,...,1,0}`.
    pub fn default_for_rank(rank: usize) -> Self {
        Self {
            minor_to_major: (0..rank as i64).rev().collect(),
            tail_padding_alignment: 1,
            ..Self::default()
        }
    }
}

/// A dimension size that stands for "unbounded" in [`ArrayShape::dimensions`] (XLA's `kUnboundedSize`); its
/// [`ArrayShape::dynamic`] mark is set.
pub const UNBOUNDED: i64 = i64::MIN;

/// An array shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    /// Type of the elements, never `token` or `opaque`.
    pub element_type: ElementType,
    /// Sizes in elements, upper bounds for dynamic dimensions, [`UNBOUNDED`] for `?`.
    pub dimensions: Vec<i64>,
    /// Which dimensions are dynamic (`<=n`, `?`); as many as dimensions.
    pub dynamic: Vec<bool>,
    /// `None`: no layout known (only modules read from elsewhere than text).
    pub layout: Option<Layout>,
}

impl ArrayShape {
    /// A static array with the default layout.
    pub fn new(element_type: ElementType, dimensions: Vec<i64>) -> Self {
        let rank = dimensions.len();
        Self {
            element_type,
            dynamic: vec![false; rank],
            layout: Some(Layout::default_for_rank(rank)),
            dimensions,
        }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dimensions.len()
    }

    /// Whether any dimension is dynamic.
    pub fn is_dynamic(&self) -> bool {
        self.dynamic.contains(&true)
    }

    /// Number of elements, `None` if a dimension is unbounded or the product exceeds `i64`.
    pub fn element_count(&self) -> Option<i64> {
        if self.dimensions.contains(&0) {
            return Some(0);
        }
        self.dimensions.iter().try_fold(
            1i64,
            |product, &size| {
                if size < 0 { None } else { product.checked_mul(size) }
            },
        )
    }
}

/// A shape. Elements of tuples and buffers are ids of the same [`ShapeTable`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `f32[2,3]{1,0}`
    Array(ArrayShape),
    /// `(f32[], s32[2]{0})`
    Tuple(Vec<ShapeId>),
    /// `token[]`
    Token,
    /// `opaque[]`
    Opaque,
    /// `b(f32[2]{0})`; the element is always an array.
    Buffer(ShapeId),
}

impl Shape {
    /// The array shape if this is one.
    pub fn as_array(&self) -> Option<&ArrayShape> {
        match self {
            Shape::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The element shapes if this is a tuple.
    pub fn as_tuple(&self) -> Option<&[ShapeId]> {
        match self {
            Shape::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// The element type of an array, `token` and `opaque` for those two; `None` for tuples and buffers.
    pub fn element_type(&self) -> Option<ElementType> {
        match self {
            Shape::Array(array) => Some(array.element_type),
            Shape::Token => Some(ElementType::Token),
            Shape::Opaque => Some(ElementType::Opaque),
            Shape::Tuple(_) | Shape::Buffer(_) => None,
        }
    }
}

/// The shapes of a module, each once. Elements of a tuple are in the table before the tuple.
#[derive(Clone, Debug, Default)]
pub struct ShapeTable {
    pool: Pool<Shape>,
    /// By shape.
    extents: Vec<ShapeExtent>,
}

/// How large a shape is when it is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeExtent {
    /// How deeply tuples and buffers are nested, 0 for an array.
    pub depth: u32,
    /// Number of shapes in it, itself included; `u32::MAX` stands for that many or more.
    pub nodes: u32,
}

impl ShapeTable {
    /// The id of `shape`, which is added if it is new.
    pub fn intern(&mut self, shape: Shape) -> ShapeId {
        let index = self.pool.intern(shape);
        if index == self.extents.len() {
            let elements = match self.pool.get(index) {
                Shape::Tuple(elements) => elements.as_slice(),
                Shape::Buffer(element) => std::slice::from_ref(element),
                Shape::Array(_) | Shape::Token | Shape::Opaque => &[],
            };
            let mut extent = ShapeExtent { depth: 0, nodes: 1 };
            for element in elements {
                let inner = self.extents[element.index()];
                extent.depth = extent.depth.max(inner.depth.saturating_add(1));
                extent.nodes = extent.nodes.saturating_add(inner.nodes);
            }
            self.extents.push(extent);
        }
        ShapeId::from_index(index)
    }

    /// How large the shape is when it is written out.
    pub fn extent(&self, id: ShapeId) -> ShapeExtent {
        self.extents[id.index()]
    }

    /// The id of a static array with the default layout.
    pub fn array(&mut self, element_type: ElementType, dimensions: &[i64]) -> ShapeId {
        self.intern(Shape::Array(ArrayShape::new(element_type, dimensions.to_vec())))
    }

    /// The shape of `id`.
    #[inline]
    pub fn get(&self, id: ShapeId) -> &Shape {
        self.pool.get(id.index())
    }

    /// Number of distinct shapes.
    pub fn len(&self) -> usize {
        self.pool.len()
    }

    /// Whether there are no shapes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every shape with its id, elements before the tuples that contain them.
    pub fn iter(&self) -> impl Iterator<Item = (ShapeId, &Shape)> {
        (0..self.len()).map(|index| (ShapeId::from_index(index), self.pool.get(index)))
    }

    /// The shape like `id` with default layouts.
    pub fn with_default_layout(&mut self, id: ShapeId) -> ShapeId {
        // Inferred shapes can be nested deeply: no recursion.
        let mut known: hashbrown::HashMap<ShapeId, ShapeId, foldhash::fast::FixedState> =
            hashbrown::HashMap::with_hasher(super::HASHER);
        let mut open = vec![id];
        while let Some(&next) = open.last() {
            if known.contains_key(&next) {
                open.pop();
                continue;
            }
            let height = open.len();
            let elements = match self.get(next) {
                Shape::Tuple(elements) => elements.as_slice(),
                Shape::Buffer(element) => std::slice::from_ref(element),
                Shape::Array(_) | Shape::Token | Shape::Opaque => &[],
            };
            open.extend(elements.iter().filter(|element| !known.contains_key(*element)));
            if open.len() > height {
                continue;
            }
            let changed = match self.get(next) {
                Shape::Array(array) => {
                    let layout = Some(Layout::default_for_rank(array.rank()));
                    self.intern(Shape::Array(ArrayShape { layout, ..array.clone() }))
                }
                Shape::Tuple(elements) => {
                    let elements = elements.iter().map(|element| known[element]).collect();
                    self.intern(Shape::Tuple(elements))
                }
                Shape::Buffer(element) => self.intern(Shape::Buffer(known[element])),
                Shape::Token | Shape::Opaque => next,
            };
            known.insert(next, changed);
            open.pop();
        }
        known[&id]
    }

    /// Number of shapes in `id` that are not tuples; tuples without elements have none.
    pub fn leaf_count(&self, id: ShapeId) -> usize {
        let mut open = vec![id];
        let mut leaves = 0;
        while let Some(id) = open.pop() {
            match self.get(id) {
                Shape::Tuple(elements) => open.extend_from_slice(elements),
                _ => leaves += 1,
            }
        }
        leaves
    }

    /// Whether two shapes are compatible in XLA's sense: same tuple structure, element types, ranks and sizes, an
    /// unbounded size going with every other; layouts and dynamic marks are ignored.
    pub fn compatible(&self, a: ShapeId, b: ShapeId) -> bool {
        let mut pairs = vec![(a, b)];
        while let Some((a, b)) = pairs.pop() {
            if a == b {
                continue;
            }
            match (self.get(a), self.get(b)) {
                (Shape::Array(x), Shape::Array(y))
                    if x.element_type == y.element_type && same_sizes(&x.dimensions, &y.dimensions) => {}
                (Shape::Tuple(x), Shape::Tuple(y)) if x.len() == y.len() => {
                    pairs.extend(x.iter().copied().zip(y.iter().copied()));
                }
                (Shape::Token, Shape::Token) | (Shape::Opaque, Shape::Opaque) => {}
                (Shape::Buffer(x), Shape::Buffer(y)) => pairs.push((*x, *y)),
                _ => return false,
            }
        }
        true
    }
}

fn same_sizes(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&x, &y)| x == y || x == UNBOUNDED || y == UNBOUNDED)
}
