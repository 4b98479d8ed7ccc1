//! An example of every pass: a whole module before and after it. `tests/examples.rs` runs them.

use super::PassInfo;

macro_rules! examples {
    ($($key:literal)*) => {
        /// Keys and files.
        const EXAMPLES: &[(&str, &str)] = &[$(($key, include_str!(concat!("examples/", $key, ".hlo"))),)*];
    };
}

examples! {
    "add-logit-output"
    "aws_neuron_common_instruction_elimination"
    "aws_neuron_constant_slice_clamp_simplifier"
    "aws_neuron_constant_slice_convert_canonicalizer"
    "aws_neuron_dynamic_slice_reshape_canonicalizer"
    "aws_neuron_resolve_self_comparison"
    "call-inliner"
    "canonicalize-names"
    "collective-token-removal"
    "conditional-to-select"
    "config-lowering"
    "convert-inputs-to-optimal-shape"
    "cse"
    "dce"
    "dynamic-slice-transpose"
    "eliminate-redundant-compare"
    "emit-offloaded-dropout"
    "flatten-call-graph"
    "hilo-conditional-to-select"
    "inject-numerical-errors"
    "inject-prints"
    "inline-weights"
    "legalize-compare"
    "legalize-device-assignment"
    "legalize-intrinsics"
    "metadata-naming"
    "opt-barrier-removal"
    "partition-embeding-ops"
    "remove-gradiant-outputs"
    "remove-passthrough-outputs"
    "replace-minimum-constant"
    "replace-rng"
    "rewrite-module-dtype"
    "rewrite_scatter_partition"
    "strip-metadata"
    "transform-variadic-reduce"
    "trivial-cc-removal"
    "tuple-simplifier"
    "verifier"
}

/// What stands between the two modules.
const ARROW: &str = "// =>\n";

/// A module before and after a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The options of the pass as they are written in braces; empty if it has none.
    pub options: &'static str,
    /// The module before the pass.
    pub before: &'static str,
    /// What is printed after the pass.
    pub after: &'static str,
}

impl PassInfo {
    /// An example of what the pass does.
    pub fn example(&self) -> Option<Example> {
        let (_, text) = EXAMPLES.iter().find(|(key, _)| *key == self.key)?;
        let (before, after) = text.split_once(ARROW)?;
        let (options, before) = match before.strip_prefix("// {").and_then(|rest| rest.split_once("}\n")) {
            Some((options, before)) => (options, before),
            None => ("", before),
        };
        Some(Example { options, before, after: after.trim_end() })
    }
}
