//! The documentation of passes: what their files begin with.

use super::PassInfo;

macro_rules! sources {
    ($($path:literal,)*) => {
        /// The files of passes. The first line of each is ``//! `key`: ...``.
        const SOURCES: &[&str] = &[$(include_str!(concat!("../passes/", $path)),)*];
    };
}

sources! {
    "cleanup/aws_neuron_common_instruction_elimination.rs",
    "cleanup/aws_neuron_constant_slice_clamp_simplifier.rs",
    "cleanup/aws_neuron_constant_slice_convert_canonicalizer.rs",
    "cleanup/aws_neuron_dynamic_slice_reshape_canonicalizer.rs",
    "cleanup/aws_neuron_resolve_self_comparison.rs",
    "cleanup/dynamic_slice_transpose.rs",
    "cleanup/eliminate_redundant_compare.rs",
    "cleanup/opt_barrier_removal.rs",
    "collectives/collective_token_removal.rs",
    "collectives/legalize_device_assignment.rs",
    "collectives/partition_embeding_ops.rs",
    "collectives/rewrite_scatter_partition.rs",
    "collectives/trivial_cc_removal.rs",
    "control_flow/hilo_conditional_to_select.rs",
    "debugging/config_lowering.rs",
    "debugging/inject_numerical_errors.rs",
    "debugging/inject_prints.rs",
    "debugging/metadata_naming.rs",
    "debugging/replace_rng.rs",
    "interface/add_logit_output.rs",
    "interface/convert_inputs_to_optimal_shape.rs",
    "interface/inline_weights.rs",
    "interface/remove_gradiant_outputs.rs",
    "interface/remove_passthrough_outputs.rs",
    "kernels/emit_offloaded_dropout.rs",
    "legalize/compare.rs",
    "legalize/intrinsics.rs",
    "legalize/transform_variadic_reduce.rs",
    "stock/call_inliner.rs",
    "stock/conditional_to_select.rs",
    "stock/cse.rs",
    "stock/dce.rs",
    "stock/flatten_call_graph.rs",
    "stock/tuple_simplifier.rs",
    "tools/canonicalize_names.rs",
    "tools/strip_metadata.rs",
    "tools/verifier.rs",
    "types/replace_minimum_constant.rs",
    "types/rewrite_module_dtype.rs",
}

impl PassInfo {
    /// What users should know: what the pass does and leaves alone, an example, options. Markdown.
    pub fn documentation(&self) -> Option<String> {
        let lines = self.source()?.lines().map_while(|line| line.strip_prefix("//!"));
        let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        Some(lines.join("\n"))
    }

    fn source(&self) -> Option<&'static str> {
        let is_own = |source: &&&str| {
            let rest = source.strip_prefix("//! `").and_then(|rest| rest.strip_prefix(self.key));
            rest.is_some_and(|rest| rest.starts_with("`:"))
        };
        SOURCES.iter().find(is_own).copied()
    }
}

#[cfg(test)]
mod tests {
    use crate::registry::{Status, all};

    #[test]
    fn every_pass_that_runs_is_documented() {
        for info in all().filter(|info| matches!(info.status, Status::Implemented(_))) {
            let text = info.documentation().unwrap_or_default();
            assert!(text.starts_with(&format!("`{}`: ", info.key)), "{}: {text}", info.key);
            assert!(!text.contains("//!"), "{text}");
        }
    }
}
