//! What computations that combine two values do.

use hlo_text::Module;
use hlo_text::ir::{ComputationId, Opcode};

/// The opcode by which a computation combines its two parameters, `None` unless that is all it does.
pub fn reducer_opcode(module: &Module, computation: ComputationId) -> Option<Opcode> {
    let &[a, b] = &module.computation(computation).parameters[..] else { return None };
    let root = module.computation(computation).root;
    let operands = module.operands(root);
    let combines = operands == [a, b] || operands == [b, a];
    let opcode = module.instruction(root).opcode;
    let is_symmetric = matches!(
        opcode,
        Opcode::Add
            | Opcode::Multiply
            | Opcode::Maximum
            | Opcode::Minimum
            | Opcode::And
            | Opcode::Or
            | Opcode::Xor
    );
    (combines && is_symmetric).then_some(opcode)
}
