//! `origin={({"a" {0}}, {})}`: original values, and the original arrays in them.

use smallvec::SmallVec;

use super::list::parse_shape_index;
use super::{MAX_NESTING_DEPTH, ParseResult, ValueContext};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{OriginalArray, OriginalNode, OriginalValue};
use crate::lexer::{Cursor, Token};

/// Takes `{}`, `{"name"}` or `{"name" {1,0}}`.
pub(crate) fn parse_original_array(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
) -> ParseResult<OriginalArray> {
    let mut array = OriginalArray::default();
    cursor.expect(Token::LBrace, "`{` and an array of the original program")?;
    if cursor.token() == Token::String {
        let name = cursor.string_value();
        if !name.is_empty() {
            array.name = Some(context.module.strings_mut().intern(&name));
        }
        cursor.bump();
        if cursor.token() == Token::LBrace {
            array.index = parse_shape_index(cursor)?;
        }
    }
    cursor.expect(Token::RBrace, "`}` after the array of the original program")?;
    Ok(array)
}

/// Takes an original value. It is read as a walk over a tree: `(` goes down to child 0, `,` to the next child, `)`
/// up again, and an array is put where the walk stands. So parentheses need not balance, and a second array at
/// the same place takes the place of the first.
pub(crate) fn parse_original_value(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
) -> ParseResult<OriginalValue> {
    cursor.expect(Token::LBrace, "`{` and an original value such as `{{\"name\"}}`")?;
    if cursor.eat(Token::LSquare) {
        if !(cursor.token() == Token::Ident && cursor.text() == "synthetic_call") {
            return Err(cursor.unexpected("`synthetic_call`"));
        }
        cursor.bump();
        cursor.expect(Token::RSquare, "`]` after `synthetic_call`")?;
        cursor.expect(Token::RBrace, "`}` after `[synthetic_call]`")?;
        return Ok(OriginalValue::SyntheticCall);
    }
    let mut walk = Walk { nodes: vec![Node::default()], steps: SmallVec::new() };
    loop {
        match cursor.token() {
            Token::RBrace => break,
            Token::LParen => {
                if walk.steps.len() == MAX_NESTING_DEPTH {
                    let message =
                        format!("original values are nested more than {MAX_NESTING_DEPTH} levels deep");
                    return Err(Diagnostic::new(Code::TooDeep, cursor.span(), message).boxed());
                }
                walk.down();
                cursor.bump();
            }
            // XLA's behaviour is undefined for these two outside of parentheses.
            Token::Comma if walk.next() => cursor.bump(),
            Token::RParen if walk.up() => cursor.bump(),
            Token::LBrace => {
                let array = parse_original_array(cursor, context)?;
                walk.put(if array.name.is_some() { array } else { OriginalArray::default() });
            }
            _ => return Err(cursor.unexpected("`(`, `{\"name\"}`, or `,` or `)` within parentheses")),
        }
    }
    cursor.bump();
    Ok(OriginalValue::Tree(walk.tree(0)))
}

/// A node that some array stands at, or below, or to the right of.
#[derive(Default)]
struct Node {
    array: Option<OriginalArray>,
    /// Places in [`Walk::nodes`].
    children: Vec<usize>,
}

/// A step down from a node.
struct Step {
    /// Which child.
    child: usize,
    /// The child's place in [`Walk::nodes`], if it has one.
    node: Option<usize>,
}

/// A walk over the tree while it is made. Nodes exist from when the first array is put there or further on.
struct Walk {
    nodes: Vec<Node>,
    /// From the root, which is node 0, to where the walk stands.
    steps: SmallVec<[Step; 8]>,
}

impl Walk {
    /// The child of `node` that exists already.
    fn existing_child(&self, node: Option<usize>, child: usize) -> Option<usize> {
        self.nodes[node?].children.get(child).copied()
    }

    fn down(&mut self) {
        let node = self.steps.last().map_or(Some(0), |step| step.node);
        self.steps.push(Step { child: 0, node: self.existing_child(node, 0) });
    }

    fn up(&mut self) -> bool {
        self.steps.pop().is_some()
    }

    fn next(&mut self) -> bool {
        let Some(mut step) = self.steps.pop() else { return false };
        let parent = self.steps.last().map_or(Some(0), |step| step.node);
        step.child += 1;
        step.node = self.existing_child(parent, step.child);
        self.steps.push(step);
        true
    }

    /// Puts an array where the walk stands; what was there or below is gone, and so are arrays above.
    fn put(&mut self, array: OriginalArray) {
        let Self { nodes, steps } = self;
        let missing = steps.iter().rposition(|step| step.node.is_some()).map_or(0, |last| last + 1);
        let mut parent = if missing == 0 { 0 } else { steps[missing - 1].node.unwrap_or(0) };
        for step in &mut steps[missing..] {
            nodes[parent].array = None;
            while nodes[parent].children.len() <= step.child {
                nodes.push(Node::default());
                let new = nodes.len() - 1;
                nodes[parent].children.push(new);
            }
            parent = nodes[parent].children[step.child];
            step.node = Some(parent);
        }
        nodes[parent] = Node { array: Some(array), children: Vec::new() };
    }

    /// The finished tree below `node`, no deeper than the walk ever was.
    fn tree(&mut self, node: usize) -> OriginalNode {
        let Node { array, children } = std::mem::take(&mut self.nodes[node]);
        match array {
            Some(array) => OriginalNode::Array(array),
            None => OriginalNode::Tuple(children.iter().map(|&child| self.tree(child)).collect()),
        }
    }
}
