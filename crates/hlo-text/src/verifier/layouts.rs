//! Rules that only hold where layouts are final.

use crate::diagnostic::Code;
use crate::ir::{ArrayShape, AttrKey, ElementType, InstructionId, Opcode, Shape, ShapeId};

use super::elementwise::is_elementwise;
use super::entry::{layout_fault, size_fault};
use super::equality::{EQUAL, Layouts, Sameness};
use super::{Check, Verifier};

/// XLA's numbers of memories: the usual one of the device, its fast one, and that of the host.
const DEFAULT_MEMORY: i64 = 0;
const FAST_MEMORY: i64 = 1;
const HOST_MEMORY: i64 = 5;

impl Verifier<'_> {
    pub(super) fn check_layouts(&self, id: InstructionId) -> Check {
        match self.opcode(id) {
            Opcode::Bitcast => self.check_bitcast(id),
            Opcode::Copy => self.check_host_copy(id),
            _ => self.check_layout_change(id),
        }
    }

    /// Sizes can be counted, and layouts are ones that their arrays can have.
    pub(super) fn check_shape_itself(&self, id: InstructionId) -> Check {
        let facts = self.facts.of(self.shape_id(id));
        if !facts.has_bad_layout && !facts.is_too_large {
            return Ok(());
        }
        let mut leaves = Vec::new();
        self.leaves(self.shape_id(id), &mut leaves);
        for leaf in leaves {
            let array = match self.module.shape(leaf) {
                Shape::Array(array) => array,
                Shape::Buffer(inner) => match self.module.shape(*inner).as_array() {
                    Some(array) => array,
                    None => continue,
                },
                Shape::Tuple(_) | Shape::Token | Shape::Opaque => continue,
            };
            let text = || crate::printer::shape::array_text(array, true);
            if let Some(fault) = size_fault(array) {
                let message = format!("`{}` has the impossible shape {}: {fault}", self.name(id), text());
                return Err(self.wrong(Code::ShapeSize, id, message));
            }
            if let Some(fault) = array.layout.as_ref().and_then(|layout| layout_fault(layout, array)) {
                let message = format!("`{}` has the impossible shape {}: {fault}", self.name(id), text());
                return Err(self.wrong(Code::LayoutRank, id, message));
            }
        }
        Ok(())
    }

    /// Only types of less than a byte have an element size of their own.
    pub(super) fn check_element_sizes(&self, id: InstructionId) -> Check {
        if !self.facts.of(self.shape_id(id)).has_custom_size {
            return Ok(());
        }
        let message = format!(
            "`{}` states an element size for elements that are whole bytes: {}",
            self.name(id),
            crate::printer::shape::shape_text(self.module, self.shape_id(id), true)
        );
        Err(self.wrong(Code::ElementSize, id, message).help("leave out `E(...)`"))
    }

    /// Only some opcodes change layouts.
    fn check_layout_change(&self, id: InstructionId) -> Check {
        let opcode = self.opcode(id);
        let Some(result) = self.module.shape_of(id).as_array().filter(|_| self.keeps_layout(id)) else {
            return Ok(());
        };
        for (index, &operand) in self.module.operands(id).iter().enumerate() {
            let Some(array) = self.module.shape_of(operand).as_array() else { continue };
            let (Some(own), Some(other)) = (&result.layout, &array.layout) else { continue };
            if array.rank() != result.rank() {
                continue;
            }
            self.check_memory_change(id, operand, memory_of(array), memory_of(result))?;
            // These have results of other element sizes than some of their operands.
            let resizes =
                matches!(opcode, Opcode::Convert | Opcode::Compare | Opcode::IsFinite | Opcode::Scatter)
                    || opcode == Opcode::Select && index == 0;
            let same = own.minor_to_major == other.minor_to_major
                && own.index_type == other.index_type
                && own.pointer_type == other.pointer_type
                && own.tail_padding_alignment == other.tail_padding_alignment
                && own.split_configs == other.split_configs
                && (resizes || own.element_size_in_bits == other.element_size_in_bits);
            if !same {
                let message = format!(
                    "{opcode} `{}` can't change the layout of its operand {}, but is {}",
                    self.name(id),
                    self.text_of(operand),
                    self.text_of(id)
                );
                return Err(self
                    .wrong(Code::LayoutChange, id, message)
                    .also(operand, "the operand")
                    .help("copy the operand to the result's layout first"));
            }
        }
        Ok(())
    }

    /// Dynamic slices and updates may move arrays between memories, but not in every direction.
    fn check_memory_change(&self, id: InstructionId, operand: InstructionId, from: i64, to: i64) -> Check {
        let opcode = self.opcode(id);
        let direction = match (opcode, from, to) {
            (Opcode::DynamicSlice | Opcode::DynamicUpdateSlice, FAST_MEMORY, to) if to != FAST_MEMORY => {
                "out of the fast memory"
            }
            (Opcode::DynamicSlice, DEFAULT_MEMORY, HOST_MEMORY) => "from the device to the host",
            (Opcode::DynamicUpdateSlice, HOST_MEMORY, DEFAULT_MEMORY) => "from the host to the device",
            _ => return Ok(()),
        };
        let message = format!(
            "{opcode} `{}` can't move its operand {direction}: {} to {}",
            self.name(id),
            self.text_of(operand),
            self.text_of(id)
        );
        Err(self
            .wrong(Code::MemoryChange, id, message)
            .also(operand, "the operand")
            .help("copy between the memories before or after it"))
    }

    fn keeps_layout(&self, id: InstructionId) -> bool {
        use Opcode as O;
        match self.opcode(id) {
            O::Copy | O::Domain => false,
            O::CustomCall => self.module.string(id, AttrKey::CustomCallTarget) == Some(b"LayoutConstraint"),
            O::BitcastConvert
            | O::Clamp
            | O::Select
            | O::AddDependency
            | O::Concatenate
            | O::AllGather
            | O::AllGatherStart
            | O::AllGatherDone
            | O::AllReduce
            | O::AllReduceStart
            | O::AllReduceDone
            | O::ReduceScatter
            | O::AllToAll
            | O::RaggedAllToAll
            | O::CollectiveBroadcast
            | O::CollectivePermute
            | O::DynamicSlice
            | O::DynamicUpdateSlice
            | O::Slice
            | O::Pad
            | O::Reverse
            | O::Fft
            | O::Map
            | O::OptBarrier
            | O::ReduceWindow
            | O::Scatter
            | O::SelectAndScatter
            | O::Sort
            | O::TopK
            | O::Scan
            | O::TriangularSolve
            | O::Cholesky
            | O::While
            | O::SetDimensionSize => true,
            opcode => is_elementwise(opcode),
        }
    }

    fn arrays(&self, id: InstructionId) -> Option<(InstructionId, &ArrayShape, &ArrayShape)> {
        let &operand = self.module.operands(id).first()?;
        Some((operand, self.module.shape_of(operand).as_array()?, self.module.shape_of(id).as_array()?))
    }

    /// A bitcast keeps the bytes, and where they are.
    fn check_bitcast(&self, id: InstructionId) -> Check {
        let Some((operand, from, to)) = self.arrays(id) else { return Ok(()) };
        if byte_size(from) != byte_size(to) {
            let message = format!(
                "bitcast `{}` makes {} of {}, which takes another number of bytes",
                self.name(id),
                self.text_of(id),
                self.text_of(operand)
            );
            return Err(self.wrong(Code::BitcastSize, id, message).also(operand, "the operand"));
        }
        let mut source = operand;
        while self.opcode(source) == Opcode::Copy
            && let Some(&next) = self.module.operands(source).first()
        {
            source = next;
        }
        if self.opcode(source) != Opcode::Constant && is_on_host(from) != is_on_host(to) {
            let message = format!(
                "bitcast `{}` can't move {} to {}",
                self.name(id),
                self.text_of(operand),
                self.text_of(id)
            );
            return Err(self.wrong(Code::BitcastSize, id, message).also(operand, "the operand"));
        }
        Ok(())
    }

    /// A copy from the host keeps the layout.
    fn check_host_copy(&self, id: InstructionId) -> Check {
        let Some((operand, from, to)) = self.arrays(id) else { return Ok(()) };
        if !is_on_host(from) || is_on_host(to) {
            return Ok(());
        }
        let how = Sameness { layouts: Layouts::Anywhere, ..EQUAL };
        let (a, b): (ShapeId, ShapeId) = (self.shape_id(operand), self.shape_id(id));
        if how.of(self.module.shapes(), a, b) {
            return Ok(());
        }
        let message = format!(
            "copy `{}` from the host can't change the layout of {} to {}",
            self.name(id),
            self.text(a),
            self.text(b)
        );
        Err(self.wrong(Code::HostCopy, id, message).also(operand, "the operand"))
    }
}

/// Bytes of the elements, `None` if they are beyond counting.
fn byte_size(array: &ArrayShape) -> Option<i64> {
    let size = array.layout.as_ref().map_or(0, |layout| layout.element_size_in_bits);
    let bits = if size > 0 { size } else { i64::from(array.element_type.bits().next_multiple_of(8)) };
    array.element_count()?.checked_mul(bits).map(|bits| bits.div_euclid(8) + i64::from(bits % 8 != 0))
}

fn memory_of(array: &ArrayShape) -> i64 {
    array.layout.as_ref().map_or(DEFAULT_MEMORY, |layout| layout.memory_space)
}

fn is_on_host(array: &ArrayShape) -> bool {
    memory_of(array) == HOST_MEMORY
}

/// Whether the layout states a size for elements that are whole bytes.
pub(super) fn has_custom_size(array: &ArrayShape) -> bool {
    let stated = array.layout.as_ref().is_some_and(|layout| layout.element_size_in_bits != 0);
    stated && (array.element_type.bits() >= 8 || array.element_type == ElementType::Pred)
}
