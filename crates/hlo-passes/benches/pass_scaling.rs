//! Passes on modules that are full of what they rewrite, at 1, 2, 4 and 8 times the size: the time per pattern must not
//! grow.
//!
//! `cargo bench -p hlo-passes --bench pass_scaling` prints nanoseconds per pattern for each number of patterns.

use std::fmt::Write;
use std::time::Instant;

use hlo_passes::PassContext;
use hlo_passes::options::parse_pass_list;
use hlo_passes::pass::Resources;
use hlo_passes::pipeline::{NoObserver, Pipeline, Selection};
use hlo_text::{Module, ParseOptions, parse_module};

const COUNTS: [usize; 4] = [5_000, 10_000, 20_000, 40_000];

/// A pass and what a module for it is made of.
struct Case {
    key: &'static str,
    /// Computations before the entry.
    computations: &'static str,
    /// The beginning of the entry; `o0` is the value the first pattern reads.
    start: &'static str,
    /// One pattern. `#` is its number, `$` that of the one before; it gives `o#`.
    pattern: &'static str,
    /// What follows the name of the module; gets the number of patterns.
    header: fn(usize) -> String,
    /// The options of the pass, in braces; gets the number of patterns.
    options: fn(usize) -> String,
    /// Every pattern gives a result, not the last one only.
    all_results: bool,
    /// Whether the pass rewrites once for each pattern.
    is_counted: bool,
}

/// What most cases have in common.
const PLAIN: Case = Case {
    key: "",
    computations: "",
    start: "",
    pattern: "",
    header: |_| String::new(),
    options: |_| String::new(),
    all_results: false,
    is_counted: true,
};

/// `{name=o1,o2,...}`
fn every_result(name: &str, count: usize) -> String {
    let names: Vec<String> = (1..=count).map(|number| format!("o{number}")).collect();
    format!("{{{name}={}}}", names.join(","))
}

/// Result and parameter of the same number share a buffer.
fn aliases(count: usize) -> String {
    let entries: Vec<String> = (0..count).map(|at| format!("{{{at}}}: ({at}, {{}}, may-alias)")).collect();
    format!(", input_output_alias={{ {} }}", entries.join(", "))
}

/// A folder in which every parameter but the first has the weight `w.npy`.
struct Weights(usize);

impl Resources for Weights {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        if path.ends_with("metadata.json") {
            let entries: Vec<String> =
                (1..=self.0).map(|number| format!("\"{number}\": \"w.npy\"")).collect();
            let weights = entries.join(", ");
            let text =
                format!("{{\"model_files\": \"g.hlo\", \"version\": \"1.0\", \"weights\": {{{weights}}}}}");
            return Ok(text.into_bytes());
        }
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend([0; 8]);
        Ok(file)
    }

    fn setting(&self, _name: &str) -> Option<String> {
        None
    }
}

const ADD: &str = "add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
";

const CASES: &[Case] = &[
    Case {
        key: "eliminate-redundant-compare",
        start: "a = f32[4] parameter(0)
f = pred[] constant(false)
fb = pred[4] broadcast(f), dimensions={}
o0 = pred[4] compare(a, a), direction=LT",
        pattern: "o# = pred[4] compare(o$, fb), direction=NE",
        ..PLAIN
    },
    Case {
        key: "hilo-conditional-to-select",
        computations: "t {
  x = f32[2] parameter(0)
  ROOT n = f32[2] negate(x)
}
f {
  y = f32[2] parameter(0)
  ROOT s = f32[2] add(y, y)
}
",
        start: "o0 = f32[2] parameter(0)
c = pred[] parameter(1)",
        pattern: "o# = f32[2] conditional(c, o$, o$), true_computation=t, false_computation=f",
        ..PLAIN
    },
    Case {
        key: "call-inliner",
        computations: "f { p = f32[2] parameter(0) ROOT n = f32[2] negate(p) }",
        start: "o0 = f32[2] parameter(0)",
        pattern: "o# = f32[2] call(o0), to_apply=f, control-predecessors={o$}",
        ..PLAIN
    },
    // What leaves an operand, which what runs before it doesn't need.
    Case {
        key: "call-inliner",
        computations: "f { ROOT p = f32[2] parameter(0) }",
        start: "o0 = f32[2] parameter(0)
x = f32[2] parameter(1)",
        pattern: "n# = f32[2] negate(o$)
k# = f32[2] call(x), to_apply=f, control-predecessors={n#}
o# = f32[2] add(k#, n#)",
        ..PLAIN
    },
    // What many broadcasts of one constant share with a wide tuple.
    Case {
        key: "replace-minimum-constant",
        start: "o0 = f32[2] parameter(0)
ninf = f32[] constant(-inf)",
        pattern: "o# = f32[2] broadcast(ninf), dimensions={}
m# = f32[2] minimum(o0, o#)",
        all_results: true,
        is_counted: false,
        ..PLAIN
    },
    Case {
        key: "replace-minimum-constant",
        start: "o0 = f32[2] parameter(0)
ninf = f32[] constant(-inf)
bs = f32[2] broadcast(ninf), dimensions={}
u = f32[2] add(o0, bs)",
        pattern: "n# = f32[] constant(-inf)
b# = f32[2] broadcast(n#), dimensions={}
m# = f32[2] minimum(o$, b#)
o# = f32[2] minimum(bs, m#)",
        ..PLAIN
    },
    Case {
        key: "opt-barrier-removal",
        start: "o0 = f32[2] parameter(0)",
        pattern: "t# = (f32[2]) tuple(o$)
b# = (f32[2]) opt-barrier(t#)
o# = f32[2] get-tuple-element(b#), index=0",
        ..PLAIN
    },
    Case {
        key: "trivial-cc-removal",
        computations: ADD,
        start: "o0 = f32[2] parameter(0)",
        pattern: "a# = (f32[2], f32[2]) all-reduce(o$, o0), replica_groups={{0}}, to_apply=add
o# = f32[2] get-tuple-element(a#), index=0",
        ..PLAIN
    },
    Case {
        key: "collective-token-removal",
        computations: ADD,
        start: "o0 = f32[2] parameter(0)
t0 = f32[] constant(0)",
        pattern: "a# = (f32[2], f32[]) all-reduce(o$, t$), replica_groups={{0,1}}, to_apply=add
t# = f32[] get-tuple-element(a#), index=1
o# = f32[2] get-tuple-element(a#), index=0",
        ..PLAIN
    },
    Case {
        key: "transform-variadic-reduce",
        computations: "argmax {
  v0 = f32[] parameter(0)
  i0 = s32[] parameter(1)
  v1 = f32[] parameter(2)
  i1 = s32[] parameter(3)
  ge = pred[] compare(v0, v1), direction=GE
  sv = f32[] select(ge, v0, v1)
  si = s32[] select(ge, i0, i1)
  ROOT t = (f32[], s32[]) tuple(sv, si)
}
",
        start: "p = f32[2,5] parameter(0)
o0 = s32[2] parameter(1)
io = s32[2,5] iota(), iota_dimension=1
ninf = f32[] constant(-inf)
z = s32[] constant(0)",
        pattern: "r# = (f32[2], s32[2]) reduce(p, io, ninf, z), dimensions={1}, to_apply=argmax
i# = s32[2] get-tuple-element(r#), index=1
o# = s32[2] add(o$, i#)",
        ..PLAIN
    },
    Case {
        key: "emit-offloaded-dropout",
        start: "o0 = f32[8] parameter(0)
lo = f32[] constant(0)
hi = f32[] constant(1)
t = f32[] constant(0.5)
kb = f32[8] broadcast(t), dimensions={}
zb = f32[8] broadcast(lo), dimensions={}",
        pattern: "r# = f32[8] rng(lo, hi), distribution=rng_uniform
m# = pred[8] compare(r#, kb), direction=LT
d# = f32[8] divide(o$, kb)
q# = f32[8] select(m#, d#, zb)
k# = f32[8] convert(m#)
o# = f32[8] add(k#, q#)",
        ..PLAIN
    },
    Case {
        key: "dynamic-slice-transpose",
        start: "o0 = f32[2,2] parameter(0)
i = s32[] parameter(1)",
        pattern: "t# = f32[2,2] transpose(o$), dimensions={1,0}
o# = f32[2,2] dynamic-slice(t#, i, i), dynamic_slice_sizes={2,2}",
        ..PLAIN
    },
    Case {
        key: "aws_neuron_common_instruction_elimination",
        start: "o0 = f32[2] parameter(0)",
        pattern: "k# = f32[] constant(2)
b# = f32[2] broadcast(k#), dimensions={}
o# = f32[2] multiply(o$, b#)",
        ..PLAIN
    },
    Case {
        key: "aws_neuron_resolve_self_comparison",
        start: "a = s32[2] parameter(0)
o0 = pred[2] parameter(1)",
        pattern: "k# = pred[2] compare(a, a), direction=EQ
o# = pred[2] and(o$, k#)",
        ..PLAIN
    },
    Case {
        key: "aws_neuron_constant_slice_clamp_simplifier",
        start: "o0 = s32[1] parameter(0)
i = s32[] parameter(1)
t = s32[8] constant({0, 1, 2, 3, 4, 5, 6, 7})
lo = s32[] constant(0)
hi = s32[] constant(7)",
        pattern: "d# = s32[1] dynamic-slice(t, i), dynamic_slice_sizes={1}
k# = s32[1] clamp(lo, d#, hi)
o# = s32[1] add(o$, k#)",
        ..PLAIN
    },
    Case {
        key: "aws_neuron_constant_slice_convert_canonicalizer",
        start: "o0 = s32[1] parameter(0)
i = s32[] parameter(1)
t = u32[8] constant({0, 1, 2, 3, 4, 5, 6, 7})",
        pattern: "d# = u32[1] dynamic-slice(t, i), dynamic_slice_sizes={1}
v# = s32[1] convert(d#)
o# = s32[1] add(o$, v#)",
        ..PLAIN
    },
    Case {
        key: "aws_neuron_dynamic_slice_reshape_canonicalizer",
        start: "o0 = s32[] parameter(0)
i = s32[] parameter(1)
t = s32[8] constant({0, 1, 2, 3, 4, 5, 6, 7})
k = s32[] constant(4)",
        pattern: "d# = s32[1] dynamic-slice(t, i), dynamic_slice_sizes={1}
r# = s32[] reshape(d#)
v# = s32[] multiply(r#, k)
o# = s32[] subtract(o$, v#)",
        ..PLAIN
    },
    Case {
        key: "remove-passthrough-outputs",
        header: aliases,
        pattern: "o# = f32[2] parameter($)",
        all_results: true,
        ..PLAIN
    },
    Case {
        key: "remove-gradiant-outputs",
        header: aliases,
        pattern: "p# = f32[2] parameter($)
o# = f32[2] negate(p#)",
        all_results: true,
        ..PLAIN
    },
    Case {
        key: "partition-embeding-ops",
        options: |_| "{shards=2}".to_owned(),
        start: "t = f32[4,2] parameter(0)
ids = s32[3] parameter(1)
o0 = f32[3,2] parameter(2)",
        pattern: "g# = f32[3,2] gather(t, ids), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}
o# = f32[3,2] add(o$, g#)",
        ..PLAIN
    },
    Case {
        key: "config-lowering",
        start: "o0 = f32[2] parameter(0)",
        pattern: "o# = f32[2] negate(o$)",
        is_counted: false,
        ..PLAIN
    },
    Case {
        key: "metadata-naming",
        start: "o0 = f32[2] parameter(0)",
        pattern: "o# = f32[2] negate(o$), metadata={op_name=\"jit(f)/neg\"}",
        ..PLAIN
    },
    Case {
        key: "inline-weights",
        options: |_| "{dir=w}".to_owned(),
        start: "o0 = f32[2] parameter(0)",
        pattern: "w# = f32[2] parameter(#)
o# = f32[2] add(o$, w#)",
        ..PLAIN
    },
    Case {
        key: "replace-rng",
        start: "o0 = f32[2] parameter(0)
lo = f32[] constant(0)
hi = f32[] constant(1)",
        pattern: "r# = f32[2] rng(lo, hi), distribution=rng_uniform
o# = f32[2] add(o$, r#)",
        ..PLAIN
    },
    Case {
        key: "add-logit-output",
        computations: "max {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] maximum(x, y)
}
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
",
        start: "x = f32[2,2] parameter(0)
n = f32[] constant(-inf)
z = f32[] constant(0)
m = f32[2] reduce(x, n), dimensions={1}, to_apply=max
b = f32[2,2] broadcast(m), dimensions={0}
s = f32[2,2] subtract(x, b)
e = f32[2,2] exponential(s)
a = f32[2] reduce(e, z), dimensions={1}, to_apply=add
c = f32[2,2] broadcast(a), dimensions={0}
o0 = f32[2,2] divide(e, c)",
        pattern: "e# = f32[2,2] exponential(o$)
d# = f32[2,2] divide(e#, x)
o# = f32[2,2] add(d#, o$)",
        is_counted: false,
        ..PLAIN
    },
    Case {
        key: "inject-numerical-errors",
        options: |count| every_result("targets", count),
        start: "o0 = f32[2] parameter(0)",
        pattern: "o# = f32[2] negate(o$)",
        ..PLAIN
    },
    Case {
        key: "inject-prints",
        options: |count| every_result("targets", count),
        start: "o0 = f32[2] parameter(0)",
        pattern: "o# = f32[2] negate(o$)",
        ..PLAIN
    },
    Case {
        key: "convert-inputs-to-optimal-shape",
        options: |count| every_result("inputs", count).replace(',', ":2x1:1x0,").replace('}', ":2x1:1x0}"),
        pattern: "o# = f32[2] parameter($)",
        all_results: true,
        ..PLAIN
    },
    Case {
        key: "rewrite-module-dtype",
        options: |_| "{from=f32 to=bf16}".to_owned(),
        start: "o0 = f32[2] parameter(0)",
        pattern: "k# = f32[2] constant({1, 2})
o# = f32[2] add(o$, k#)",
        is_counted: false,
        ..PLAIN
    },
    Case {
        key: "legalize-device-assignment",
        header: |_| ", replica_count=2, num_partitions=2".to_owned(),
        computations: ADD,
        start: "o0 = f32[2] parameter(0)",
        pattern: "o# = f32[2] all-reduce(o$), replica_groups={{0,1}}, to_apply=add",
        ..PLAIN
    },
    Case {
        key: "rewrite_scatter_partition",
        header: |_| ", num_partitions=4".to_owned(),
        computations: ADD,
        start: "o0 = f32[2,3] parameter(0)
zero = f32[] constant(0)
buf = f32[4,2,3] broadcast(zero), dimensions={}
pid = u32[] partition-id()
z = u32[] constant(0)",
        pattern: "r# = f32[1,2,3] reshape(o$)
put# = f32[4,2,3] dynamic-update-slice(buf, r#, pid, z, z)
ar# = f32[4,2,3] all-reduce(put#), channel_id=#, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add
w# = f32[8,3] reshape(ar#)
o# = f32[2,3] slice(w#), slice={[0:2], [0:3]}",
        ..PLAIN
    },
    Case {
        key: "legalize-intrinsics",
        start: "o0 = f32[2] parameter(0)",
        pattern: "o# = f32[2] custom-call(o$), custom_call_target=\"AwsNeuronGelu\"",
        ..PLAIN
    },
    Case {
        key: "legalize-compare",
        start: "o0 = f32[2] parameter(0)",
        pattern: "k# = pred[2] compare(o$, o0), direction=LT, type=TOTALORDER
o# = f32[2] convert(k#)",
        ..PLAIN
    },
];

impl Case {
    fn module(&self, count: usize) -> Module {
        let header = (self.header)(count);
        let mut text = format!("HloModule m{header}\n\n{}\nENTRY e {{\n{}\n", self.computations, self.start);
        for number in 1..=count {
            for c in self.pattern.chars() {
                match c {
                    '#' => write!(text, "{number}").expect("strings take text"),
                    '$' => write!(text, "{}", number - 1).expect("strings take text"),
                    c => text.push(c),
                }
            }
            text.push('\n');
        }
        let first = if self.all_results { 1 } else { count };
        let results: Vec<String> = (first..=count).map(|number| format!("o{number}")).collect();
        writeln!(text, "ROOT root = tuple({})\n}}", results.join(", ")).expect("strings take text");
        match parse_module(&text, &ParseOptions::default()) {
            Ok(parsed) => parsed.module,
            Err(diagnostics) => panic!("{}: {:?}", self.key, diagnostics.first()),
        }
    }

    fn run(&self, module: &mut Module, count: usize) -> u64 {
        let passes = parse_pass_list(&format!("{}{}", self.key, (self.options)(count))).expect("a list");
        let pipeline = Pipeline::new(&Selection { passes, ..Selection::default() }).expect("known keys");
        let weights = Weights(count);
        let mut context = PassContext { resources: &weights, ..PassContext::default() };
        pipeline.run(module, &mut context, &mut NoObserver).expect("it runs");
        context.rewrites
    }
}

fn main() {
    table(&COUNTS);
}

/// Prints a row for each pass.
///
/// # Panics
/// A pass doesn't find its patterns.
pub(crate) fn table(counts: &[usize]) {
    println!(
        "nanoseconds per pattern, for so many patterns; in the end how much slower the last is than the first"
    );
    print!("{:50}", "");
    counts.iter().for_each(|count| print!("{count:>10}"));
    println!();
    for case in CASES {
        print!("{:50}", case.key);
        let mut times = Vec::new();
        for &count in counts {
            let mut module = case.module(count);
            let start = Instant::now();
            let rewrites = case.run(&mut module, count);
            let time = start.elapsed().as_secs_f64() * 1e9 / count as f64;
            let wanted = if case.is_counted { count as u64 / 2 } else { 0 };
            assert!(rewrites >= wanted, "{}: {rewrites} rewrites of {count} patterns", case.key);
            print!("{time:10.0}");
            times.push(time);
        }
        println!("{:10.2}", times[times.len() - 1] / times[0]);
    }
}
