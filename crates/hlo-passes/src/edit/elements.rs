//! Taking some elements of a tuple for all of it.

use hlo_text::ir::{
    AttrKey, AttrValue, InstructionId, OriginalNode, OriginalValue, ShapeId, Sharding, SingleSharding, Value,
};

use super::Editor;

impl Editor<'_> {
    /// Makes the result of `id`, a tuple, one of those of its elements that `kept` counts, in that order; of one alone it
    /// is no tuple any more. What shardings, Shardy's too, and original values say of the others goes. What computes the
    /// result and what reads it aren't touched.
    ///
    /// XLA's `dce` of 2026-06 leaves both attributes as they are where it does such a thing, and so modules its verifier
    /// refuses.
    pub fn keep_elements(&mut self, id: InstructionId, kept: &[usize]) {
        let old = self.shape_of(id).as_tuple().unwrap_or_default().to_vec();
        let shapes: Vec<ShapeId> = kept.iter().filter_map(|&element| old.get(element).copied()).collect();
        let shape = if let [only] = shapes[..] { only } else { self.tuple_shape(&shapes) };
        let sharding = self.sharding_of_elements(id, kept);
        self.set_value(id, AttrKey::Sharding, sharding.map(Value::Sharding));
        if let Some(Value::OriginalValue(OriginalValue::Tree(OriginalNode::Tuple(nodes)))) =
            self.value_of(id, AttrKey::Origin)
        {
            let mut nodes: Vec<OriginalNode> =
                kept.iter().filter_map(|&element| nodes.get(element).cloned()).collect();
            let tree = match nodes.len() {
                1 => nodes.pop(),
                _ => Some(OriginalNode::Tuple(nodes)),
            };
            let origin = tree.map(|tree| Value::OriginalValue(OriginalValue::Tree(tree)));
            self.set_value(id, AttrKey::Origin, origin);
        }
        self.keep_shardy_entries(id, &old, kept);
        self.set_shape(id, shape);
    }

    /// The sharding of a result of some elements of `id`, a tuple, or of one alone; `None` if nothing is known of it.
    pub fn sharding_of_elements(&self, id: InstructionId, kept: &[usize]) -> Option<Sharding> {
        let Some(Value::Sharding(sharding)) = self.value_of(id, AttrKey::Sharding) else { return None };
        let Sharding::Tuple(leaves) = sharding else { return Some(sharding.clone()) };
        let elements = self.shape_of(id).as_tuple().unwrap_or_default();
        let starts = self.leaf_starts(elements);
        let of_element = |&element: &usize| {
            let range = *starts.get(element)?..*starts.get(element + 1)?;
            leaves.get(range)
        };
        let leaves: Vec<SingleSharding> = kept.iter().filter_map(of_element).flatten().cloned().collect();
        let is_array = |&element: &usize| {
            elements.get(element).is_some_and(|&shape| self.shape(shape).as_tuple().is_none())
        };
        match (leaves.as_slice(), kept) {
            ([], _) => None,
            ([only], [element]) if is_array(element) => Some(Sharding::Single(only.clone())),
            _ => Some(Sharding::Tuple(leaves)),
        }
    }

    /// Where the leaves of each element of a tuple begin among all its leaves, and where the last one's end.
    pub(super) fn leaf_starts(&self, elements: &[ShapeId]) -> Vec<usize> {
        let mut starts = vec![0];
        for &element in elements {
            starts.push(starts.last().copied().unwrap_or(0) + self.shapes().leaf_count(element));
        }
        starts
    }

    fn set_value(&mut self, id: InstructionId, key: AttrKey, value: Option<Value>) {
        let value = value.map(|value| AttrValue::Value(self.intern_value(value)));
        self.set_attribute(id, key, value);
    }
}
