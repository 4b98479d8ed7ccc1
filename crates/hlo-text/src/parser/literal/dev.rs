use super::tests::*;
use crate::parser::Dialect;
use crate::printer::PrintOptions;
use crate::ir::Module;
#[test]
fn dev() {
    let Ok(path) = std::env::var("DEVIN") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let parts: Vec<&str> = text.split('\u{1}').collect();
    let mut out = String::new();
    for pair in parts.chunks_exact(2) {
        let mut module = Module::default();
        let (result, _) = parse_in(&mut module, Dialect::Strict, pair[0], pair[1]);
        match result {
            Ok(l) => {
                let full = PrintOptions { print_large_constants: true, ..PrintOptions::default() };
                out.push_str(&format!("A{}\u{1}{}\u{1}{}\u{1}", print(&module, &l, &PrintOptions::default()), print(&module, &l, &full), print(&module, &l, &PrintOptions::fingerprint())));
            }
            Err((code, at)) => out.push_str(&format!("R{at}\u{1}{code:?}\u{1}\u{1}")),
        }
    }
    std::fs::write(std::env::var("DEVOUT").unwrap(), out).unwrap();
}
#[test]
fn devg() {
    let Ok(path) = std::env::var("DEVG") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let mut n = 0; let mut bad = 0;
    for line in text.lines() {
        let f: Vec<&str> = line.split(' ').collect();
        let v = f64::from_bits(u64::from_str_radix(f[0], 16).unwrap());
        let d: usize = f[1].parse().unwrap();
        let mut o = Vec::new();
        crate::number::write_general(&mut o, v, d);
        n += 1;
        if o != f[2].as_bytes() { bad += 1; if bad < 10 { println!("{line} got {}", String::from_utf8_lossy(&o)); } }
    }
    println!("devg {n} bad {bad}");
    assert_eq!(bad, 0);
}
#[test]
fn devbench() {
    if std::env::var("DEVBENCH").is_err() { return }
    let mut s = 1u64;
    let mut next = || { s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407); s >> 33 };
    let n = 2_000_000;
    let mk = |f: &mut dyn FnMut() -> String| { let mut b = String::from("{"); for i in 0..n { if i > 0 { b.push_str(", "); } b.push_str(&f()); } b.push('}'); b };
    for (name, shape, body) in [
        ("f32 random9", "f32", mk(&mut || format!("{:.9}", next() as f64 / 2147483648.0))),
        ("f32 short", "f32", mk(&mut || format!("{}", (next() % 1000) as f64 / 8.0))),
        ("f32 sci", "f32", mk(&mut || format!("{:.8e}", (next() as f64 - 1073741824.0) / 1e15))),
        ("f64 17", "f64", mk(&mut || format!("{:.17}", next() as f64 / 2147483648.0 + next() as f64 / 4e18))),
        ("s32", "s32", mk(&mut || format!("{}", next() as i64 - 1073741824))),
        ("s32 small", "s32", mk(&mut || format!("{}", next() % 100))),
        ("pred", "pred", mk(&mut || format!("{}", next() % 2))),
        ("pred word", "pred", mk(&mut || format!("{}", next() % 2 == 0))),
        ("bf16", "bf16", mk(&mut || format!("{:.3}", next() as f64 / 2147483648.0))),
        ("c64", "c64", mk(&mut || format!("({:.8}, {:.8})", next() as f64 / 2147483648.0, next() as f64 / 2147483648.0))),
    ] {
        let mut module = Module::default();
        let shape = format!("{shape}[{n}]");
        let t = std::time::Instant::now();
        let (r, _) = parse_in(&mut module, Dialect::Strict, &shape, &body);
        let dt = t.elapsed().as_secs_f64();
        let l = r.unwrap();
        let full = PrintOptions { print_large_constants: true, ..PrintOptions::default() };
        let t = std::time::Instant::now();
        let p = print(&module, &l, &full);
        let dp = t.elapsed().as_secs_f64();
        println!("{name}: parse {:.0} MB/s print {:.0} MB/s", body.len() as f64 / dt / 1e6, p.len() as f64 / dp / 1e6);
    }
}
