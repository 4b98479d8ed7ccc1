//! Named pipelines: `@NAME` in a list of passes stands for others.

use hlo_text::diagnostic::did_you_mean;

use super::{find, nearest};
use crate::options::{PassRequest, parse_pass_list};

/// What a name of a pipeline begins with where it is used.
const SIGIL: char = '@';

/// A pipeline that is built in.
#[derive(Clone, Copy, Debug)]
pub struct NamedPipeline {
    /// What it is called, without the sigil.
    pub name: &'static str,
    /// What it is for, one line.
    pub doc: &'static str,
    /// What users should know, some paragraphs.
    pub documentation: &'static str,
    /// The keys of its passes, in order.
    pub passes: &'static [&'static str],
}

/// The pipelines that are built in.
pub const PIPELINES: &[NamedPipeline] = &[
    NamedPipeline {
        name: "neuron-cleanup",
        doc: "Removes what front ends leave behind and back ends for Neuron have no use for.",
        documentation: "\
For graphs as front ends dump them, before anything looks for patterns in them. Every member keeps what the module
computes and its interface, but for signs of zeros, what reductions with indices give for NaN, and collectives without groups
(see below, and what the pages of the members say of their meaning), needs no options, and comes to an end when it is repeated. Barriers, collectives of a single
device and tokens that are numbers go first, because they stand between what the others match; constants are put into the
form in which offsets into shards are recognized; equal instructions are merged last, when rewriting has made some.

Not in it, although they clean up: what drops results (`remove-passthrough-outputs`, `remove-gradiant-outputs`), changes
values (`replace-minimum-constant`, `emit-offloaded-dropout`, `replace-rng`, `rewrite-module-dtype`), parameters or results
(`add-logit-output`, `convert-inputs-to-optimal-shape`, `inline-weights`, `partition-embeding-ops`), is for looking at
modules (`config-lowering`, `metadata-naming`, `inject-prints`, `inject-numerical-errors`), or stops at what it can't
express (`legalize-device-assignment`). Nor is `dce`: put it behind if what lies dead should go.

Collectives without groups are of all devices, and how many these are the header says. Dumps of torch-xla and protocol
buffers don't have these numbers; then there are as many as groups name, and if none names any there is one, and such
collectives go, with a note. Write `replica_count` or
`num_partitions` into the header first. The pipeline also stops at a collective of one device whose tuple is used as
a whole (NCC_IARE001).

What a member makes, one before it may match only in a second run: a loop that a conditional hid, a comparison of two
instructions that the last member made one. `--repeat-until-fixpoint` runs it until nothing changes.",
        passes: &[
            "opt-barrier-removal",
            "trivial-cc-removal",
            "collective-token-removal",
            "hilo-conditional-to-select",
            "eliminate-redundant-compare",
            "aws_neuron_resolve_self_comparison",
            "aws_neuron_constant_slice_clamp_simplifier",
            "aws_neuron_constant_slice_convert_canonicalizer",
            "aws_neuron_dynamic_slice_reshape_canonicalizer",
            "dynamic-slice-transpose",
            "transform-variadic-reduce",
            "rewrite_scatter_partition",
            "aws_neuron_common_instruction_elimination",
        ],
    },
    NamedPipeline {
        name: "neuron-legalize",
        doc: "Brings comparisons and activation calls into the form that back ends for Neuron take.",
        documentation: "\
For graphs that are handed to a back end. Calls of activations get the kernel's name for their type and an element count;
then every comparison gets the default type of its operands, which is all that the hardware has. Both look at the entry
computation only: put `call-inliner` before. The second changes what is computed where a comparison asked for another order,
of NaN for example.",
        passes: &["legalize-intrinsics", "legalize-compare"],
    },
];

/// The built-in pipeline of a name without the sigil.
pub fn find_pipeline(name: &str) -> Option<&'static NamedPipeline> {
    PIPELINES.iter().find(|pipeline| pipeline.name == name)
}

/// Whether the list names a pipeline that isn't built in, so that [`expand`] needs the user's definitions.
pub fn needs_definitions(list: &[PassRequest]) -> bool {
    let mut names = list.iter().filter_map(|request| request.key.strip_prefix(SIGIL));
    names.any(|name| find_pipeline(name).is_none())
}

/// The list with its pipelines replaced by their passes. `defined` are the user's pipelines: name and list of passes.
///
/// # Errors
/// Nobody knows a pipeline, it is given options, or a definition is faulty: it isn't a list, or it is empty, contains a
/// pipeline (itself or another one) or a pass that doesn't exist, or has the name of one that is built in.
pub fn expand(list: Vec<PassRequest>, defined: &[(String, String)]) -> Result<Vec<PassRequest>, String> {
    let mut expanded = Vec::with_capacity(list.len());
    for request in list {
        let Some(name) = request.key.strip_prefix(SIGIL) else {
            expanded.push(request);
            continue;
        };
        if !request.options.is_empty() {
            return Err(format!("the pipeline `@{name}` takes no options; its passes have theirs"));
        }
        let own = defined.iter().find(|(defined, _)| defined == name);
        match (find_pipeline(name), own) {
            (Some(_), Some(_)) => {
                return Err(format!("the pipeline `@{name}` is built in and can't be defined again"));
            }
            (Some(pipeline), None) => {
                let request = |&key: &&str| PassRequest { key: key.to_owned(), options: Vec::new() };
                expanded.extend(pipeline.passes.iter().map(request));
            }
            (None, Some((_, text))) => expanded.extend(read_definition(name, text)?),
            (None, None) => return Err(unknown(name, defined)),
        }
    }
    Ok(expanded)
}

fn unknown(name: &str, defined: &[(String, String)]) -> String {
    let known = PIPELINES.iter().map(|pipeline| pipeline.name);
    let known = known.chain(defined.iter().map(|(name, _)| name.as_str()));
    match did_you_mean(name, known) {
        Some(close) => format!("there is no pipeline `@{name}`; did you mean `@{close}`?"),
        None => format!("there is no pipeline `@{name}`; --list-passes=long lists those that are built in"),
    }
}

/// The passes of a user's pipeline.
fn read_definition(name: &str, text: &str) -> Result<Vec<PassRequest>, String> {
    let about = |what: String| format!("the pipeline `@{name}`: {what}");
    let list = parse_pass_list(text).map_err(about)?;
    if list.is_empty() {
        return Err(about("it has no passes".to_owned()));
    }
    for request in &list {
        if request.key.starts_with(SIGIL) {
            let itself = if request.key[SIGIL.len_utf8()..] == *name { "itself" } else { &request.key };
            return Err(about(format!("it contains {itself}, but pipelines can't contain pipelines")));
        }
        if find(&request.key).is_none() {
            let hint = match nearest(&request.key) {
                Some(close) => format!("; did you mean `{close}`?"),
                None => String::new(),
            };
            return Err(about(format!("there is no pass `{}`{hint}", request.key)));
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Effect, Meaning, Status};

    fn expanded(list: &str, defined: &[(&str, &str)]) -> Result<String, String> {
        let defined: Vec<_> =
            defined.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
        let list = expand(parse_pass_list(list).expect("a list"), &defined)?;
        Ok(list.iter().map(PassRequest::to_string).collect::<Vec<_>>().join(","))
    }

    #[test]
    fn members_are_what_the_documentation_says() {
        for pipeline in PIPELINES {
            assert!(pipeline.doc.ends_with('.') && !pipeline.documentation.is_empty());
            for key in pipeline.passes {
                let info = find(key).expect("a key");
                assert!(matches!(info.status, Status::Implemented(_)), "{key}");
                if pipeline.name == "neuron-cleanup" {
                    assert!(!matches!(info.meaning, Meaning::Changes(_)), "{key}");
                    let harmless = |effect| matches!(effect, &Effect::Order | &Effect::Collective);
                    assert!(info.may_remove.iter().all(harmless), "{key}");
                    assert!(!pipeline.documentation.contains(&format!("`{key}`")), "{key}");
                }
            }
        }
    }

    #[test]
    fn pipelines_are_replaced_by_their_passes() {
        assert_eq!(
            expanded("dce,@neuron-legalize,dce", &[]).as_deref(),
            Ok("dce,legalize-intrinsics,legalize-compare,dce")
        );
        let own = [("mine", "replace-rng{seed=3 mode=raw},dce"), ("other", "dce")];
        assert_eq!(expanded("@mine,@other", &own).as_deref(), Ok("replace-rng{seed=3 mode=raw},dce,dce"));
        assert!(!needs_definitions(&parse_pass_list("dce,@neuron-cleanup").expect("a list")));
        assert!(needs_definitions(&parse_pass_list("dce,@mine").expect("a list")));
    }

    #[test]
    fn faulty_names_and_definitions_are_refused() {
        for (list, text, message) in [
            (
                "@neuron-clenup",
                "dce",
                "there is no pipeline `@neuron-clenup`; did you mean `@neuron-cleanup`?",
            ),
            ("@mime", "dce", "there is no pipeline `@mime`; did you mean `@mine`?"),
            ("@q", "dce", "there is no pipeline `@q`; --list-passes=long lists those that are built in"),
            ("@", "dce", "there is no pipeline `@`; --list-passes=long lists those that are built in"),
            ("@mine{seed=1}", "dce", "the pipeline `@mine` takes no options; its passes have theirs"),
            ("@mine", "", "the pipeline `@mine`: it has no passes"),
            (
                "@mine",
                "dce,@mine",
                "the pipeline `@mine`: it contains itself, but pipelines can't contain pipelines",
            ),
            (
                "@mine",
                "@neuron-cleanup",
                "the pipeline `@mine`: it contains @neuron-cleanup, but pipelines can't contain pipelines",
            ),
            ("@mine", "dec", "the pipeline `@mine`: there is no pass `dec`; did you mean `dce`?"),
            ("@mine", "dce{x", "the pipeline `@mine`: the brace in the options of `dce` is not closed"),
        ] {
            assert_eq!(expanded(list, &[("mine", text)]), Err(message.to_owned()));
        }
        assert_eq!(
            expanded("@neuron-cleanup", &[("neuron-cleanup", "dce")]),
            Err("the pipeline `@neuron-cleanup` is built in and can't be defined again".to_owned())
        );
    }
}
