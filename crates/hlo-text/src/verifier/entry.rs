//! Rules about the `HloModule` line: the entry computation's layout, aliases, donors.

use hashbrown::HashSet;

use crate::diagnostic::Code;
use crate::ir::{
    AliasKind, ArrayShape, EntryComputationLayout, HASHER, Layout, Shape, ShapeId, TileDimension, UNBOUNDED,
};

use super::equality::{EQUAL, Layouts, Sameness, part};
use super::{Verifier, Violation};

/// The entry computation must have the layouts its module states, wherever the arrays are and however tiled.
const ENTRY: Sameness = Sameness { layouts: Layouts::Untiled, ..EQUAL };

impl Verifier<'_> {
    /// The rules about the `HloModule` line.
    pub(super) fn check_entry(&mut self) {
        let module = self.module;
        let computation = module.computation(module.entry());
        let parameters: Vec<ShapeId> = computation.parameters.iter().map(|&id| self.shape_id(id)).collect();
        let result = self.shape_id(computation.root);
        if let Some(layout) = &module.header.entry_computation_layout {
            if !self.check_entry_shapes(layout) {
                return;
            }
            let same = |a, b| {
                let how = if self.options.layout_sensitive { ENTRY } else { self.same };
                how.of(module.shapes(), a, b)
            };
            if !same(result, layout.result) {
                let message = format!(
                    "the entry computation gives {}, but entry_computation_layout says {}",
                    self.text(result),
                    self.text(layout.result)
                );
                self.found.push(self.wrong(Code::EntryResult, computation.root, message));
            }
            if parameters.len() != layout.parameters.len() {
                let message = format!(
                    "the entry computation has {} parameters, but entry_computation_layout {}",
                    parameters.len(),
                    layout.parameters.len()
                );
                self.found.push(Violation::of_module(Code::EntryParameters, message));
                return;
            }
            for (index, (&own, &stated)) in parameters.iter().zip(&layout.parameters).enumerate() {
                if !same(own, stated) {
                    let message = format!(
                        "parameter {index} of the entry computation is {}, but entry_computation_layout says {}",
                        self.text(own),
                        self.text(stated)
                    );
                    let id = computation.parameters[index];
                    self.found.push(self.wrong(Code::EntryParameters, id, message));
                }
            }
        }
        let (parameters, result) = match &module.header.entry_computation_layout {
            Some(layout) => (layout.parameters.as_slice(), layout.result),
            None => (parameters.as_slice(), result),
        };
        self.check_aliases(parameters, result);
        self.check_donors(parameters);
    }

    /// Whether the shapes of the entry layout are valid ones.
    fn check_entry_shapes(&mut self, layout: &EntryComputationLayout) -> bool {
        let shapes = self.module.shapes();
        let mut open = layout.parameters.clone();
        open.push(layout.result);
        let mut seen: HashSet<ShapeId, foldhash::fast::FixedState> = HashSet::with_hasher(HASHER);
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let fault = match shapes.get(id) {
                Shape::Tuple(elements) => {
                    open.extend_from_slice(elements);
                    None
                }
                Shape::Buffer(element) => {
                    open.push(*element);
                    None
                }
                Shape::Array(array) => shape_fault(array),
                Shape::Token | Shape::Opaque => None,
            };
            if let Some(fault) = fault {
                let text = crate::printer::shape::shape_text(self.module, id, true);
                let message = format!("entry_computation_layout has the invalid shape {text}: {fault}");
                self.found.push(Violation::of_module(Code::EntryLayoutShape, message));
                return false;
            }
        }
        true
    }

    /// `input_output_alias=`
    fn check_aliases(&mut self, parameters: &[ShapeId], result: ShapeId) {
        let shapes = self.module.shapes();
        let mut taken: HashSet<(i64, &[i64]), foldhash::fast::FixedState> = HashSet::with_hasher(HASHER);
        for alias in &self.module.header.input_output_alias {
            let place = || {
                format!(
                    "output {} is said to share parameter {} {}",
                    crate::shape_inference::ints_text(&alias.output_index),
                    alias.parameter,
                    crate::shape_inference::ints_text(&alias.parameter_index)
                )
            };
            let parameter = usize::try_from(alias.parameter).ok().and_then(|index| parameters.get(index));
            let input = parameter.and_then(|&shape| part(shapes, shape, &alias.parameter_index));
            let output = part(shapes, result, &alias.output_index);
            let is_array = |id: Option<ShapeId>| id.filter(|&id| matches!(shapes.get(id), Shape::Array(_)));
            let (Some(from), Some(to)) = (is_array(input), is_array(output)) else {
                let what = match (input, output) {
                    (None, _) => "there is no such parameter or part",
                    (_, None) => "there is no such output",
                    _ => "both must be arrays",
                };
                let message = format!("{}, but {what}", place());
                self.found.push(Violation::of_module(Code::AliasTarget, message));
                continue;
            };
            if !taken.insert((alias.parameter, &alias.parameter_index)) {
                let message = format!("{}, which another output shares already", place());
                self.found.push(Violation::of_module(Code::AliasTarget, message));
            }
            if alias.kind == AliasKind::Must && !EQUAL.of(shapes, from, to) {
                let text = |id| crate::printer::shape::shape_text(self.module, id, true);
                let message =
                    format!("{} (must-alias), but they are {} and {}", place(), text(to), text(from));
                self.found.push(Violation::of_module(Code::AliasShape, message));
            }
        }
    }

    /// `buffer_donor=`
    fn check_donors(&mut self, parameters: &[ShapeId]) {
        let shapes = self.module.shapes();
        let aliases = &self.module.header.input_output_alias;
        let aliased: HashSet<(i64, &[i64]), foldhash::fast::FixedState> =
            aliases.iter().map(|alias| (alias.parameter, alias.parameter_index.as_slice())).collect();
        for donor in &self.module.header.buffer_donors {
            let place = format!(
                "the donor ({}, {})",
                donor.parameter,
                crate::shape_inference::ints_text(&donor.parameter_index)
            );
            let parameter = usize::try_from(donor.parameter).ok().and_then(|index| parameters.get(index));
            let donated = parameter.and_then(|&shape| part(shapes, shape, &donor.parameter_index));
            if !donated.is_some_and(|id| matches!(shapes.get(id), Shape::Array(_))) {
                let message = format!("{place} is no array of the entry computation's parameters");
                self.found.push(Violation::of_module(Code::DonorTarget, message));
            } else if aliased.contains(&(donor.parameter, donor.parameter_index.as_slice())) {
                let message = format!("{place} is in input_output_alias, too");
                self.found.push(Violation::of_module(Code::DonorAliased, message));
            }
        }
    }
}

/// What is wrong with an array shape in itself.
fn shape_fault(array: &ArrayShape) -> Option<&'static str> {
    let layout = || array.layout.as_ref();
    size_fault(array).or_else(|| layout_fault(layout()?, array)).or_else(|| split_fault(layout()?, array))
}

/// What is wrong with the sizes of an array.
pub(super) fn size_fault(array: &ArrayShape) -> Option<&'static str> {
    if array.dimensions.iter().any(|&size| size < 0 && size != UNBOUNDED) {
        return Some("a dimension is negative");
    }
    // However large the others are, nothing is nothing.
    if array.dimensions.contains(&0) {
        return None;
    }
    let bytes = array.element_type.storage_bytes() as i64;
    let known = array.dimensions.iter().filter(|&&size| size != UNBOUNDED);
    let product = known.clone().try_fold(1i64, |product, &size| product.checked_mul(size));
    if product.and_then(|product| product.checked_mul(bytes)).is_none() {
        return Some("it has more elements than can be counted");
    }
    None
}

/// What is wrong with a layout of an array.
pub(super) fn layout_fault(layout: &Layout, array: &ArrayShape) -> Option<&'static str> {
    let rank = array.rank();
    let mut seen = vec![false; rank];
    let is_new = |&number: &i64| {
        let place = usize::try_from(number).ok().and_then(|index| seen.get_mut(index));
        place.is_some_and(|place| !std::mem::replace(place, true))
    };
    if layout.minor_to_major.len() != rank || !layout.minor_to_major.iter().all(is_new) {
        return Some("its layout doesn't name each dimension once");
    }
    if layout.index_type.is_some() || layout.pointer_type.is_some() {
        return Some("its layout is that of a sparse array");
    }
    if layout.tail_padding_alignment < 1 {
        return Some("its tail padding is not positive");
    }
    if layout.element_size_in_bits < 0 {
        return Some("its element size is negative");
    }
    let bad_tile = |tile: &Vec<TileDimension>| {
        tile.is_empty() || tile.iter().any(|dim| matches!(dim, TileDimension::Size(size) if *size <= 0))
    };
    if layout.tiles.iter().any(bad_tile) {
        return Some("a tile has a dimension that is not positive");
    }
    None
}

/// What is wrong with the splits of a layout. XLA minds them in the entry layout only.
fn split_fault(layout: &Layout, array: &ArrayShape) -> Option<&'static str> {
    let rank = array.rank();
    let mut split = vec![false; rank];
    for config in &layout.split_configs {
        let Some(index) = usize::try_from(config.dimension).ok().filter(|&index| index < rank) else {
            return Some("a dimension is split that it doesn't have");
        };
        let indices = &config.indices;
        let ascends = indices.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = indices.iter().all(|&at| at > 0 && at < array.dimensions[index]);
        if std::mem::replace(&mut split[index], true) || !ascends || !inside {
            return Some("the splits of a dimension don't ascend within it");
        }
    }
    None
}
