//! Passes that remove or simplify.

pub(crate) mod aws_neuron_common_instruction_elimination;
pub(crate) mod aws_neuron_constant_slice_clamp_simplifier;
pub(crate) mod aws_neuron_constant_slice_convert_canonicalizer;
pub(crate) mod aws_neuron_dynamic_slice_reshape_canonicalizer;
pub(crate) mod aws_neuron_resolve_self_comparison;
pub(crate) mod dynamic_slice_transpose;
pub(crate) mod eliminate_redundant_compare;
pub(crate) mod opt_barrier_removal;
