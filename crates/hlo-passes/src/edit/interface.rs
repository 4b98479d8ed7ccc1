//! Changing what the entry computation takes and gives, with everything in the header that must follow: the entry
//! layout, aliases, donors, and attributes that speak of parameters or results by number.

use hlo_text::ir::{
    AttrKey, AttrValue, EntryComputationLayout, InputOutputAlias, InstructionId, NewInstruction, Opcode,
    OriginalArray, OriginalNode, OriginalValue, ShapeId, ShapeIndex, Sharding, ShardingKind, SingleSharding,
    Symbol, Value,
};

use super::Editor;
use crate::Set;
use crate::pass::{PassError, PassResult};

/// Frontend attributes of the module whose value is a list of entry parameter numbers.
const PARAMETER_LISTS: &[&[u8]] = &[b"valid_inputs"];

/// What an element of a new result was in the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultSource {
    /// This element of the tuple.
    Element(usize),
    /// All of it.
    Whole,
    /// Nothing.
    New,
}

impl Editor<'_> {
    // ------------------------------------------------------------ results

    /// Makes a tuple of `elements` the result of the entry computation, and returns it.
    ///
    /// A root that is a `tuple` without users keeps its name, metadata and control edges; elements that are no
    /// longer returned are removed if they are dead, with what only they needed, but for parameters and side effects.
    /// Any other root gets a tuple behind it, with its metadata and, if it is a `tuple`, its frontend attributes.
    /// The result's layout, aliases, sharding, original value and propagation flags follow the elements; aliases of
    /// elements that are gone, go. So does Shardy's list of shardings; it goes as a whole if nothing is known of a new
    /// element.
    pub fn set_results(&mut self, elements: &[(InstructionId, ResultSource)]) -> InstructionId {
        let entry = self.entry();
        let old_root = self.computation(entry).root;
        let old_elements = self.shape_of(old_root).as_tuple().map(<[ShapeId]>::to_vec);
        let layout = self.entry_layout();
        let result = self.result_layout(layout.result, elements);
        let aliases = std::mem::take(&mut self.module.header.input_output_alias);
        let aliases = remap_aliases(aliases, elements);
        let sharding = self.result_sharding(old_root, old_elements.as_deref().unwrap_or_default(), elements);
        let origin = self.result_origin(old_root, elements);
        let operands: Vec<InstructionId> = elements.iter().map(|element| element.0).collect();

        let is_own_tuple = self.instruction(old_root).opcode == Opcode::Tuple
            && self.users(old_root).is_empty()
            && !operands.contains(&old_root);
        let root = if is_own_tuple {
            let dropped = self.operands(old_root).to_vec();
            let shapes: Vec<ShapeId> = operands.iter().map(|&id| self.instruction(id).shape).collect();
            let shape = self.tuple_shape(&shapes);
            self.set_operands(old_root, &operands);
            self.set_shape(old_root, shape);
            for id in dropped {
                if !self.is_removed(id) && self.is_dead(id) && !self.has_side_effect(id) {
                    self.remove_with_dead_operands(id);
                }
            }
            old_root
        } else {
            let root = self.add_tuple(entry, &operands);
            let metadata = self.instruction(old_root).metadata;
            self.set_metadata(root, metadata);
            if self.instruction(old_root).opcode == Opcode::Tuple {
                let attributes = self.attribute(old_root, AttrKey::FrontendAttributes);
                self.set_attribute(root, AttrKey::FrontendAttributes, attributes);
            }
            self.set_root(root);
            root
        };
        self.set_shardy_of_result(root, old_elements.as_deref(), elements);
        for (key, value) in [(AttrKey::Sharding, sharding), (AttrKey::Origin, origin)] {
            let value = value.map(|value| AttrValue::Value(self.intern_value(value)));
            self.set_attribute(root, key, value);
        }
        let flags = &mut self.module.header.allow_spmd_sharding_propagation_to_output;
        let old_count = old_elements.map_or(1, |elements| elements.len());
        if flags.len() > 1 && flags.len() == old_count {
            let follow = |source: &ResultSource| match *source {
                ResultSource::Element(index) => flags.get(index).copied().unwrap_or(false),
                ResultSource::Whole | ResultSource::New => false,
            };
            *flags = elements.iter().map(|(_, source)| follow(source)).collect();
        }
        let header = &mut self.module.header;
        header.input_output_alias = aliases;
        header.entry_computation_layout = Some(EntryComputationLayout { result, ..layout });
        root
    }

    /// Makes an instruction as it is the result of the entry computation; as in XLA no alias is left. The old root is
    /// removed if it is dead, as in [`Editor::set_results`].
    pub fn set_result(&mut self, id: InstructionId) {
        let layout = self.entry_layout();
        let result = self.instruction(id).shape;
        let old_root = self.computation(self.entry()).root;
        self.set_root(id);
        if self.is_dead(old_root) && !self.has_side_effect(old_root) {
            self.remove_with_dead_operands(old_root);
        }
        let header = &mut self.module.header;
        header.input_output_alias.clear();
        header.entry_computation_layout = Some(EntryComputationLayout { result, ..layout });
        if header.allow_spmd_sharding_propagation_to_output.len() > 1 {
            header.allow_spmd_sharding_propagation_to_output.clear();
        }
    }

    /// The layout of a result of `elements`, where the old result's is `old`.
    fn result_layout(&mut self, old: ShapeId, elements: &[(InstructionId, ResultSource)]) -> ShapeId {
        let old_elements = self.shape(old).as_tuple().map(<[ShapeId]>::to_vec).unwrap_or_default();
        let shapes: Vec<ShapeId> = elements
            .iter()
            .map(|&(id, source)| {
                let own = self.instruction(id).shape;
                match source {
                    ResultSource::Element(index) => old_elements.get(index).copied().unwrap_or(own),
                    ResultSource::Whole => old,
                    ResultSource::New => own,
                }
            })
            .collect();
        self.tuple_shape(&shapes)
    }

    /// The sharding of a result of `elements`, `None` if neither the old root nor a new element has one.
    fn result_sharding(
        &self,
        old_root: InstructionId,
        old_elements: &[ShapeId],
        elements: &[(InstructionId, ResultSource)],
    ) -> Option<Value> {
        let of = |id| match self.value_of(id, AttrKey::Sharding) {
            Some(Value::Sharding(sharding)) => Some(sharding),
            _ => None,
        };
        let old = of(old_root);
        let is_new_and_sharded =
            |&(id, source): &(InstructionId, ResultSource)| source == ResultSource::New && of(id).is_some();
        if old.is_none() && !elements.iter().any(is_new_and_sharded) {
            return None;
        }
        let starts = self.leaf_starts(old_elements);
        let mut leaves = Vec::new();
        for &(id, source) in elements {
            let count = self.shapes().leaf_count(self.instruction(id).shape);
            let (sharding, start) = match source {
                ResultSource::Element(index) => (old, starts.get(index).copied().unwrap_or(usize::MAX)),
                ResultSource::Whole => (old, 0),
                ResultSource::New => (of(id), 0),
            };
            for leaf in 0..count {
                leaves.push(match sharding {
                    Some(Sharding::Single(single)) => single.clone(),
                    Some(Sharding::Tuple(list)) => {
                        list.get(start.saturating_add(leaf)).cloned().unwrap_or_else(replicated)
                    }
                    None => replicated(),
                });
            }
        }
        (!leaves.is_empty()).then_some(Value::Sharding(Sharding::Tuple(leaves)))
    }

    /// The original value of a result of `elements`, `None` if the old root has none that fits.
    fn result_origin(
        &self,
        old_root: InstructionId,
        elements: &[(InstructionId, ResultSource)],
    ) -> Option<Value> {
        let of = |id| match self.value_of(id, AttrKey::Origin) {
            Some(Value::OriginalValue(OriginalValue::Tree(tree))) => Some(tree),
            _ => None,
        };
        let old = of(old_root)?;
        let node = |&(id, source): &(InstructionId, ResultSource)| match source {
            ResultSource::Element(index) => match old {
                OriginalNode::Tuple(nodes) => nodes.get(index).cloned(),
                OriginalNode::Array(_) => None,
            },
            ResultSource::Whole => Some(old.clone()),
            ResultSource::New => {
                Some(of(id).cloned().unwrap_or_else(|| OriginalNode::Array(OriginalArray::default())))
            }
        };
        let nodes: Option<Vec<OriginalNode>> = elements.iter().map(node).collect();
        nodes
            .filter(|nodes| !nodes.is_empty())
            .map(|nodes| Value::OriginalValue(OriginalValue::Tree(OriginalNode::Tuple(nodes))))
    }

    // ------------------------------------------------------------ parameters

    /// Appends a parameter to the entry computation.
    pub fn add_entry_parameter(&mut self, shape: ShapeId, name: &str) -> InstructionId {
        self.module.settle_entry_layout();
        let entry = self.entry();
        let count = self.computation(entry).parameters.len();
        let new = NewInstruction { name, ..NewInstruction::new(Opcode::Parameter, shape, &[]) };
        let id = self.add_instruction(entry, new);
        let header = &mut self.module.header;
        let flags = &mut header.allow_spmd_sharding_propagation_to_parameters;
        if flags.len() > 1 && flags.len() == count {
            flags.push(false);
        }
        if let Some(layout) = &mut header.entry_computation_layout {
            layout.parameters.push(shape);
        }
        id
    }

    /// Gives entry parameters other shapes and drops the aliases that can't hold any more; returns these. Users are not
    /// touched.
    pub fn set_entry_parameter_shapes(
        &mut self,
        shapes: &[(InstructionId, ShapeId)],
    ) -> Vec<InputOutputAlias> {
        if shapes.is_empty() {
            return Vec::new();
        }
        self.module.settle_entry_layout();
        let mut numbers = Set::default();
        for &(id, shape) in shapes {
            let number = self.instruction(id).parameter_number;
            numbers.insert(i64::from(number));
            self.set_shape(id, shape);
            let layout = self.module.header.entry_computation_layout.as_mut();
            if let Some(slot) = layout.and_then(|layout| layout.parameters.get_mut(number as usize)) {
                *slot = shape;
            }
        }
        let is_theirs = |alias: &mut InputOutputAlias| numbers.contains(&alias.parameter);
        self.module.header.input_output_alias.extract_if(.., is_theirs).collect()
    }

    /// Removes entry parameters that nothing uses; those behind them move up, and so does everything that names
    /// them by number.
    ///
    /// # Errors
    /// An alias or a donor is one of them; then nothing happens.
    pub fn remove_entry_parameters(&mut self, parameters: &[InstructionId]) -> PassResult<()> {
        if parameters.is_empty() {
            return Ok(());
        }
        self.check_removable_parameters(parameters)?;
        let entry = self.entry();
        let count = self.computation(entry).parameters.len();
        let mut gone = vec![false; count];
        for &id in parameters {
            gone[self.instruction(id).parameter_number as usize] = true;
        }
        let mut numbers = Vec::with_capacity(count);
        let mut next = 0;
        for &gone in &gone {
            numbers.push((!gone).then_some(next));
            next += i64::from(!gone);
        }
        let renumbered = |number: i64| {
            let known = usize::try_from(number).ok().and_then(|number| numbers.get(number));
            // What isn't there can't be removed, either.
            known.copied().unwrap_or(Some(number))
        };
        let mut layout = self.entry_layout();
        retain_by(&mut layout.parameters, &gone);
        let lists = self.renumbered_lists(&renumbered);
        let header = &mut self.module.header;
        header.entry_computation_layout = Some(layout);
        header.frontend_attributes = lists;
        if header.allow_spmd_sharding_propagation_to_parameters.len() == count && count > 1 {
            retain_by(&mut header.allow_spmd_sharding_propagation_to_parameters, &gone);
        }
        for number in header
            .input_output_alias
            .iter_mut()
            .map(|alias| &mut alias.parameter)
            .chain(header.buffer_donors.iter_mut().map(|donor| &mut donor.parameter))
        {
            *number = renumbered(*number).unwrap_or(*number);
        }
        self.remove_parameters_of(entry, parameters);
        Ok(())
    }

    /// Whether the entry parameters may be removed as far as the header is concerned.
    ///
    /// # Errors
    /// An alias or a donor is one of them.
    pub fn check_removable_parameters(&self, parameters: &[InstructionId]) -> PassResult<()> {
        let by_number = parameters.iter().map(|&id| (i64::from(self.instruction(id).parameter_number), id));
        let by_number: crate::Map<i64, InstructionId> = by_number.collect();
        let aliases = self.header.input_output_alias.iter().map(|alias| ("an alias", alias.parameter));
        let donors = self.header.buffer_donors.iter().map(|donor| ("a donor", donor.parameter));
        for (kind, number) in aliases.chain(donors) {
            if let Some(&id) = by_number.get(&number) {
                let message = format!("it can't be removed: {kind} names parameter {number}");
                return Err(PassError::at(self, id, message));
            }
        }
        Ok(())
    }

    /// The module's frontend attributes with lists of parameter numbers renumbered.
    fn renumbered_lists(&mut self, renumbered: &dyn Fn(i64) -> Option<i64>) -> Vec<(Symbol, Symbol)> {
        let mut attributes = self.header.frontend_attributes.clone();
        for (key, value) in &mut attributes {
            if !PARAMETER_LISTS.contains(&self.strings().get(*key)) {
                continue;
            }
            let text = String::from_utf8_lossy(self.strings().get(*value)).into_owned();
            let numbers: Option<Vec<i64>> =
                text.split(',').map(|number| number.trim().parse().ok()).collect();
            // Anything else is not a list of numbers.
            let Some(numbers) = numbers else { continue };
            let kept = numbers.into_iter().filter_map(renumbered).map(|number| number.to_string());
            *value = self.intern(kept.collect::<Vec<_>>().join(","));
        }
        attributes
    }
}

fn replicated() -> SingleSharding {
    SingleSharding { kind: ShardingKind::Replicated, shard_group: None, metadata: Vec::new() }
}

/// Keeps the entries that are not `gone`.
fn retain_by<T>(list: &mut Vec<T>, gone: &[bool]) {
    let mut index = 0;
    list.retain(|_| {
        index += 1;
        !gone.get(index - 1).copied().unwrap_or(false)
    });
}

/// The aliases of a result of `elements`, sorted by result.
fn remap_aliases(
    aliases: Vec<InputOutputAlias>,
    elements: &[(InstructionId, ResultSource)],
) -> Vec<InputOutputAlias> {
    let whole = elements.iter().position(|&(_, source)| source == ResultSource::Whole);
    let mut places: crate::Map<i64, i64> = crate::Map::default();
    for (place, &(_, source)) in elements.iter().enumerate() {
        if let ResultSource::Element(index) = source {
            places.entry(index as i64).or_insert(place as i64);
        }
    }
    let moved = |index: &[i64]| -> Option<ShapeIndex> {
        if let Some(whole) = whole {
            return Some([&[whole as i64], index].concat());
        }
        let (first, rest) = index.split_first()?;
        Some([&[*places.get(first)?], rest].concat())
    };
    let mut aliases: Vec<InputOutputAlias> = aliases
        .into_iter()
        .filter_map(|alias| Some(InputOutputAlias { output_index: moved(&alias.output_index)?, ..alias }))
        .collect();
    aliases.sort_by(|a, b| a.output_index.cmp(&b.output_index));
    aliases
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> hlo_text::Module {
        let parsed = hlo_text::parse_module(text, &hlo_text::ParseOptions::default());
        parsed.unwrap_or_else(|errors| panic!("{text}: {errors:?}")).module
    }

    /// Everything but the header's other fields, short.
    fn header(module: &hlo_text::Module) -> (Vec<(ShapeIndex, i64)>, String) {
        let aliases = module.header.input_output_alias.iter();
        let aliases = aliases.map(|alias| (alias.output_index.clone(), alias.parameter)).collect();
        let layout = module.entry_layout();
        let parameters: Vec<String> =
            layout.parameters.iter().map(|&shape| module.shape_text(shape, true).to_string()).collect();
        (aliases, format!("{} -> {}", parameters.join(" "), module.shape_text(layout.result, true)))
    }

    #[test]
    fn results_move_with_their_aliases_and_layouts() {
        let mut module = parse(
            "HloModule m, input_output_alias={ {1,0}: (1, {}, may-alias), {2}: (0, {}, may-alias) }, entry_computation_layout={(f32[2]{0}, s32[]{:S(1)})->(f32[2]{0}, (s32[]{:S(2)}), f32[2]{0})}\n\
             ENTRY e {\n p = f32[2] parameter(0)\n q = s32[] parameter(1)\n i = (s32[]) tuple(q)\n ROOT t = (f32[2], (s32[]), f32[2]) tuple(p, i, p)\n}",
        );
        let mut edit = Editor::new(&mut module);
        let root = edit.computation(edit.entry()).root;
        let [p, i, _] = edit.operands(root).to_vec().try_into().expect("three");
        edit.set_results(&[(i, ResultSource::Element(1)), (p, ResultSource::New)]);
        assert_eq!(edit.computation(edit.entry()).root, root);
        let expected = "f32[2]{0} s32[]{:S(1)} -> ((s32[]{:S(2)}), f32[2]{0})".to_owned();
        assert_eq!(header(&edit), (vec![(vec![0, 0], 1)], expected));
    }

    #[test]
    fn a_whole_result_becomes_an_element() {
        let mut module = parse(
            "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\nENTRY e {\n p = f32[2] parameter(0)\n ROOT n = f32[2] negate(p)\n}",
        );
        let mut edit = Editor::new(&mut module);
        let root = edit.computation(edit.entry()).root;
        let tuple = edit.set_results(&[(root, ResultSource::Whole), (root, ResultSource::New)]);
        assert_eq!(edit.operands(tuple), [root, root]);
        let expected = "f32[2]{0} -> (f32[2]{0}, f32[2]{0})".to_owned();
        assert_eq!(header(&edit), (vec![(vec![0], 0)], expected));
    }

    #[test]
    fn parameters_go_unless_something_names_them() {
        let mut module = parse(
            "HloModule m, input_output_alias={ {}: (2, {}, may-alias) }, buffer_donor={ (1, {}) }\nENTRY e {\n p = f32[2] parameter(0)\n q = s32[] parameter(1)\n r = f32[3] parameter(2)\n ROOT n = f32[3] negate(r)\n}",
        );
        let mut edit = Editor::new(&mut module);
        let parameters = edit.computation(edit.entry()).parameters.clone();
        for named in [1, 2] {
            assert!(edit.remove_entry_parameters(&parameters[named..=named]).is_err());
            assert_eq!(edit.computation(edit.entry()).parameters, parameters);
        }
        edit.remove_entry_parameters(&parameters[..1]).expect("nothing names it");
        let added = edit.array_shape(hlo_text::ir::ElementType::U8, &[]);
        edit.add_entry_parameter(added, "more");
        assert_eq!(header(&edit), (vec![(vec![], 1)], "s32[] f32[3]{0} u8[] -> f32[3]{0}".to_owned()));
        assert_eq!(edit.header.buffer_donors[0].parameter, 0);
        assert_eq!(edit.set_entry_parameter_shapes(&[(parameters[2], added)]).len(), 1);
        assert_eq!(header(&edit), (vec![], "s32[] u8[] u8[] -> f32[3]{0}".to_owned()));
    }
}
