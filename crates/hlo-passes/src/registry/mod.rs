//! The table of all passes: the 112 keys of the original tool in its order, and a few more that tests lean on.
//!
//! Adding a pass means a file in `passes/` and a row here. Keys, classes, kinds and their order are facts of
//! neuronx-cc 2.24's `hlo-opt`; what is only inferred about a pass shows in its [`Confidence`].

pub mod codes;
mod documentation;
mod examples;
mod pipelines;
mod stock_names;
mod suggest;
mod table;

pub use examples::Example;
pub use pipelines::{NamedPipeline, PIPELINES, expand, find_pipeline, needs_definitions};
pub use stock_names::is_stock_name;
pub use suggest::nearest;

use crate::options::OptionInfo;
use crate::pass::Pass;

/// How the original drives a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassKind {
    /// It walks the module itself.
    Pass,
    /// It replaces single instructions, see [`OpExpander`](crate::pass::OpExpander).
    Expander,
}

/// Where a pass comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// XLA's own.
    Stock,
    /// Made for Neuron.
    Neuron,
    /// This project's, or XLA's but not in the original registry.
    Tool,
}

/// What a pass is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Brings instructions into the form the back end takes.
    Legalize,
    /// Removes or simplifies.
    Cleanup,
    /// Collective operations.
    Collectives,
    /// Parameters, results, aliases, layouts.
    Interface,
    /// Calls, loops, conditionals.
    ControlFlow,
    /// Calls of hand-written kernels.
    Kernels,
    /// Element types and precision.
    Types,
    /// Tokens and control edges.
    Ordering,
    /// Checking, reporting, naming.
    Debugging,
}

/// How sure we are that a pass does what the original does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Read byte by byte, or public source.
    Certain,
    /// Calls, strings and data flow are known.
    High,
    /// The structure is known; a detail is our choice.
    Medium,
    /// Part of it is known, the rest inferred.
    Low,
    /// Nothing is known but the name, or it is our own pass.
    Ours,
}

/// What a pass does to what the module computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing.
    Same,
    /// Nothing, if the text is read in this way.
    SameAfter(&'static str),
    /// This.
    Changes(&'static str),
}

/// A side effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Communication between devices.
    Collective,
    /// Drawing random numbers.
    Random,
    /// `send`, `recv`, `infeed`, `outfeed`.
    Transfer,
    /// Custom calls marked as having one.
    CustomCall,
    /// The order control edges and tokens give.
    Order,
}

/// Makes a pass.
pub type MakePass = fn() -> Box<dyn Pass>;

/// Whether a pass can be run.
#[derive(Clone, Copy)]
pub enum Status {
    /// Yes.
    Implemented(MakePass),
    /// No, and why.
    Unimplemented(&'static str),
    /// Yes; it changes nothing by design, and why.
    Identity(&'static str),
}

impl std::fmt::Debug for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Status {
    /// `implemented`, `unimplemented` or `identity`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Implemented(_) => "implemented",
            Self::Unimplemented(_) => "unimplemented",
            Self::Identity(_) => "identity",
        }
    }

    /// Why it is not simply implemented.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Implemented(_) => None,
            Self::Unimplemented(reason) | Self::Identity(reason) => Some(reason),
        }
    }
}

/// A row of the table.
#[derive(Debug)]
pub struct PassInfo {
    /// What the pass is called on the command line. Some keys are misspelt in the original; that is their name.
    pub key: &'static str,
    /// The class behind it in the original.
    pub class: &'static str,
    /// How the original drives it.
    pub kind: PassKind,
    /// Where it comes from.
    pub origin: Origin,
    /// What it is about.
    pub families: &'static [Family],
    /// How sure we are.
    pub confidence: Confidence,
    /// What it does to what the module computes.
    pub meaning: Meaning,
    /// Side effects it may remove.
    pub may_remove: &'static [Effect],
    /// What it does, one line.
    pub doc: &'static str,
    /// Its options.
    pub options: &'static [OptionInfo],
    /// Whether it can be run.
    pub status: Status,
}

/// The 112 passes of the original registry, in its order.
pub fn passes() -> &'static [PassInfo] {
    table::PASSES
}

/// Passes the original registry doesn't have.
pub fn tools() -> &'static [PassInfo] {
    table::TOOLS
}

/// All passes: [`passes`], then [`tools`].
pub fn all() -> impl Iterator<Item = &'static PassInfo> {
    passes().iter().chain(tools())
}

/// The pass called `key`; the spelling must be exact.
pub fn find(key: &str) -> Option<&'static PassInfo> {
    all().find(|info| info.key == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_has_112_keys_and_no_key_twice() {
        assert_eq!(passes().len(), 112);
        let mut keys: Vec<_> = all().map(|info| info.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 112 + tools().len());
    }

    #[test]
    fn the_registry_is_in_order() {
        for (number, key) in [
            (1, "tuple-simplifier"),
            (5, "legalize-intrinsics"),
            (13, "legalize-compare"),
            (15, "remove-gradiant-outputs"),
            (55, "dynamic-slice-transpose"),
            (79, "all-reduce-combiner"),
            (100, "aws_neuron_rewrite_all_reduce_dynamic_slice_multiple_groups"),
            (112, "while_loop_unroller"),
        ] {
            assert_eq!(passes()[number - 1].key, key);
        }
        let kinds = passes().iter().enumerate().filter(|(_, info)| info.kind == PassKind::Expander);
        let expanders: Vec<_> = kinds.map(|(index, _)| index + 1).collect();
        let expected = [
            55, 63, 64, 65, 67, 68, 74, 75, 88, 89, 90, 92, 93, 94, 95, 96, 97, 98, 99, 100, 102, 104, 109,
            110, 111,
        ];
        assert_eq!(expanders, expected);
        assert!(passes().iter().all(|info| info.origin != Origin::Tool));
    }

    #[test]
    fn rows_say_something() {
        for info in all() {
            assert!(info.doc.ends_with('.') && info.doc.len() <= 140, "{}: {}", info.key, info.doc);
            assert!(!info.families.is_empty(), "{}", info.key);
            assert!(info.class.starts_with("xla::") || info.origin == Origin::Tool, "{}", info.key);
        }
        assert!(find("DCE").is_none() && find("dce").is_some());
    }
}
