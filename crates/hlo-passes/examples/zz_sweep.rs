//! Throw-away.
use hlo_passes::*;
use std::collections::BTreeMap;
const KEYS: &[&str] = &[
    "eliminate-redundant-compare",
    "hilo-conditional-to-select",
    "replace-minimum-constant",
    "opt-barrier-removal",
    "trivial-cc-removal",
    "collective-token-removal",
    "transform-variadic-reduce",
    "emit-offloaded-dropout",
    "dynamic-slice-transpose",
    "aws_neuron_common_instruction_elimination",
    "aws_neuron_resolve_self_comparison",
    "aws_neuron_constant_slice_clamp_simplifier",
    "aws_neuron_constant_slice_convert_canonicalizer",
    "aws_neuron_dynamic_slice_reshape_canonicalizer",
];
fn main() {
    let mut fired: BTreeMap<String, BTreeMap<String, (usize, usize)>> = BTreeMap::new();
    let dump = std::env::var("DUMP").ok();
    let mut n = 0;
    for path in std::io::stdin().lines() {
        let path = path.unwrap();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let Ok(parsed) = hlo_text::parse_module(&text, &Default::default()) else { continue };
        n += 1;
        let family = path.split('/').rev().nth(1).unwrap_or("").to_owned();
        for &key in KEYS.iter().chain(&["all"]) {
            let list = if key == "all" { KEYS.join(",") } else { key.to_owned() };
            let passes = hlo_passes::options::parse_pass_list(&list).unwrap();
            let pipeline =
                Pipeline::new(&hlo_passes::pipeline::Selection { passes, ..Default::default() }).unwrap();
            let mut module = parsed.module.clone();
            let mut context = PassContext { wants_remarks: true, ..Default::default() };
            let t = std::time::Instant::now();
            let r = pipeline.run(&mut module, &mut context, &mut hlo_passes::pipeline::NoObserver);
            let el = t.elapsed().as_millis();
            if el > 3000 {
                println!("slow {key} {path} {el}");
            }
            if let Err(e) = &r {
                println!("err {key} {path} {e}");
                continue;
            }
            let applied =
                context.remarks.iter().filter(|r| r.kind == hlo_passes::pass::RemarkKind::Applied).count();
            let e = fired.entry(key.to_owned()).or_default().entry(family.clone()).or_default();
            if applied > 0 {
                e.0 += 1;
                e.1 += applied;
            }
            let out = module.to_text(&Default::default());
            match hlo_text::parse_module(&out, &Default::default()) {
                Ok(p) => {
                    let again = p.module.to_text(&Default::default());
                    if again != out && applied > 0 {
                        println!("roundtrip {key} {path}");
                    }
                    let mut m2 = p.module;
                    let mut c2 = PassContext { wants_remarks: true, ..Default::default() };
                    if key != "all" && applied > 0 {
                        pipeline.run(&mut m2, &mut c2, &mut hlo_passes::pipeline::NoObserver).ok();
                        let a2 = c2
                            .remarks
                            .iter()
                            .filter(|r| r.kind == hlo_passes::pass::RemarkKind::Applied)
                            .count();
                        if a2 > 0 {
                            println!("again {key} {path} {a2}");
                        }
                    }
                }
                Err(d) => println!("unparsable {key} {path} {:?}", d[0].message),
            }
            if applied > 0
                && let Some(d) = &dump
            {
                let base = path.rsplit('/').next().unwrap();
                let opts = hlo_text::PrintOptions { print_large_constants: true, ..Default::default() };
                std::fs::write(format!("{d}/{base}.{key}.before.hlo"), parsed.module.to_text(&opts)).unwrap();
                std::fs::write(format!("{d}/{base}.{key}.after.hlo"), module.to_text(&opts)).unwrap();
            }
        }
    }
    println!("{n} modules");
    for (k, v) in fired {
        println!("{k}: {v:?}");
    }
}
