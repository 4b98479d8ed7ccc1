//! Rules about `origin`.

use crate::diagnostic::Code;
use crate::ir::{AttrKey, InstructionId, OriginalNode, OriginalValue, Shape, ShapeId, Value};

use super::{Check, Verifier};

impl Verifier<'_> {
    /// The tree of original arrays is that of the result.
    pub(super) fn check_origin(&self, id: InstructionId) -> Check {
        let Some(Value::OriginalValue(OriginalValue::Tree(tree))) = self.module.value_of(id, AttrKey::Origin)
        else {
            return Ok(());
        };
        if self.is_shaped_like(tree, self.shape_id(id)) {
            return Ok(());
        }
        let message = format!(
            "the origin of `{}` has another tuple structure than its shape {}",
            self.name(id),
            self.text_of(id)
        );
        Err(self.wrong(Code::OriginTree, id, message))
    }

    /// Whether the leaves are at the same places. Trees are as deep as the parser lets them be.
    fn is_shaped_like(&self, tree: &OriginalNode, shape: ShapeId) -> bool {
        match (tree, self.module.shape(shape)) {
            (OriginalNode::Tuple(nodes), Shape::Tuple(elements)) => {
                nodes.len() == elements.len()
                    && nodes.iter().zip(elements).all(|(node, &element)| self.is_shaped_like(node, element))
            }
            (OriginalNode::Array(_), Shape::Tuple(_)) | (OriginalNode::Tuple(_), _) => false,
            (OriginalNode::Array(_), _) => true,
        }
    }
}
