//! Passes on modules that are full of what they rewrite, at 1, 2, 4 and 8 times the size: the time per pattern must not
//! grow.
//!
//! `cargo bench -p hlo-passes --bench pass_scaling` prints nanoseconds per pattern for each number of patterns.

use std::fmt::Write;
use std::time::Instant;

use hlo_passes::PassContext;
use hlo_passes::options::parse_pass_list;
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
        computations: "",
        start: "a = f32[4] parameter(0)
f = pred[] constant(false)
fb = pred[4] broadcast(f), dimensions={}
o0 = pred[4] compare(a, a), direction=LT",
        pattern: "o# = pred[4] compare(o$, fb), direction=NE",
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
    },
    Case {
        key: "replace-minimum-constant",
        computations: "",
        start: "o0 = f32[2] parameter(0)
ninf = f32[] constant(-inf)
bs = f32[2] broadcast(ninf), dimensions={}
u = f32[2] add(o0, bs)",
        pattern: "n# = f32[] constant(-inf)
b# = f32[2] broadcast(n#), dimensions={}
m# = f32[2] minimum(o$, b#)
o# = f32[2] minimum(bs, m#)",
    },
    Case {
        key: "opt-barrier-removal",
        computations: "",
        start: "o0 = f32[2] parameter(0)",
        pattern: "t# = (f32[2]) tuple(o$)
b# = (f32[2]) opt-barrier(t#)
o# = f32[2] get-tuple-element(b#), index=0",
    },
    Case {
        key: "trivial-cc-removal",
        computations: ADD,
        start: "o0 = f32[2] parameter(0)",
        pattern: "a# = (f32[2], f32[2]) all-reduce(o$, o0), replica_groups={{0}}, to_apply=add
o# = f32[2] get-tuple-element(a#), index=0",
    },
    Case {
        key: "collective-token-removal",
        computations: ADD,
        start: "o0 = f32[2] parameter(0)
t0 = f32[] constant(0)",
        pattern: "a# = (f32[2], f32[]) all-reduce(o$, t$), replica_groups={{0,1}}, to_apply=add
t# = f32[] get-tuple-element(a#), index=1
o# = f32[2] get-tuple-element(a#), index=0",
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
    },
    Case {
        key: "emit-offloaded-dropout",
        computations: "",
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
    },
    Case {
        key: "dynamic-slice-transpose",
        computations: "",
        start: "o0 = f32[2,2] parameter(0)
i = s32[] parameter(1)",
        pattern: "t# = f32[2,2] transpose(o$), dimensions={1,0}
o# = f32[2,2] dynamic-slice(t#, i, i), dynamic_slice_sizes={2,2}",
    },
    Case {
        key: "aws_neuron_common_instruction_elimination",
        computations: "",
        start: "o0 = f32[2] parameter(0)",
        pattern: "k# = f32[] constant(2)
b# = f32[2] broadcast(k#), dimensions={}
o# = f32[2] multiply(o$, b#)",
    },
    Case {
        key: "aws_neuron_resolve_self_comparison",
        computations: "",
        start: "a = s32[2] parameter(0)
o0 = pred[2] parameter(1)",
        pattern: "k# = pred[2] compare(a, a), direction=EQ
o# = pred[2] and(o$, k#)",
    },
    Case {
        key: "aws_neuron_constant_slice_clamp_simplifier",
        computations: "",
        start: "o0 = s32[1] parameter(0)
i = s32[] parameter(1)
t = s32[8] constant({0, 1, 2, 3, 4, 5, 6, 7})
lo = s32[] constant(0)
hi = s32[] constant(7)",
        pattern: "d# = s32[1] dynamic-slice(t, i), dynamic_slice_sizes={1}
k# = s32[1] clamp(lo, d#, hi)
o# = s32[1] add(o$, k#)",
    },
    Case {
        key: "aws_neuron_constant_slice_convert_canonicalizer",
        computations: "",
        start: "o0 = s32[1] parameter(0)
i = s32[] parameter(1)
t = u32[8] constant({0, 1, 2, 3, 4, 5, 6, 7})",
        pattern: "d# = u32[1] dynamic-slice(t, i), dynamic_slice_sizes={1}
v# = s32[1] convert(d#)
o# = s32[1] add(o$, v#)",
    },
    Case {
        key: "aws_neuron_dynamic_slice_reshape_canonicalizer",
        computations: "",
        start: "o0 = s32[] parameter(0)
i = s32[] parameter(1)
t = s32[8] constant({0, 1, 2, 3, 4, 5, 6, 7})
k = s32[] constant(4)",
        pattern: "d# = s32[1] dynamic-slice(t, i), dynamic_slice_sizes={1}
r# = s32[] reshape(d#)
v# = s32[] multiply(r#, k)
o# = s32[] subtract(o$, v#)",
    },
];

impl Case {
    fn module(&self, count: usize) -> Module {
        let mut text = format!("HloModule m\n\n{}\nENTRY e {{\n{}\n", self.computations, self.start);
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
        writeln!(text, "ROOT root = tuple(o{count})\n}}").expect("strings take text");
        match parse_module(&text, &ParseOptions::default()) {
            Ok(parsed) => parsed.module,
            Err(diagnostics) => panic!("{}: {:?}", self.key, diagnostics.first()),
        }
    }

    fn run(&self, module: &mut Module) -> u64 {
        let passes = parse_pass_list(self.key).expect("a list");
        let pipeline = Pipeline::new(&Selection { passes, ..Selection::default() }).expect("known keys");
        let mut context = PassContext::default();
        pipeline.run(module, &mut context, &mut NoObserver).expect("it runs");
        context.rewrites
    }
}

fn main() {
    println!(
        "nanoseconds per pattern, for so many patterns; in the end how much slower the last is than the first"
    );
    print!("{:50}", "");
    COUNTS.iter().for_each(|count| print!("{count:>10}"));
    println!();
    for case in CASES {
        print!("{:50}", case.key);
        let mut times = Vec::new();
        for count in COUNTS {
            let mut module = case.module(count);
            let start = Instant::now();
            let rewrites = case.run(&mut module);
            let time = start.elapsed().as_secs_f64() * 1e9 / count as f64;
            assert!(rewrites >= count as u64 / 2, "{}: {rewrites} rewrites of {count} patterns", case.key);
            print!("{time:10.0}");
            times.push(time);
        }
        println!("{:10.2}", times[times.len() - 1] / times[0]);
    }
}
