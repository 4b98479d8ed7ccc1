use crate::diagnostic::Code;
use crate::ir::Module;
use crate::lexer::{Cursor, Token};
use crate::parser::{Dialect, ValueContext};
use crate::PrintOptions;
#[test]
fn batch() {
    let Ok(path) = std::env::var("HLO_CASES") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let mut out = String::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, '\t');
        let (kind, opts, value) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let pre = if kind == "s" { "HloModule m\nENTRY e {\n  p = f32[8,4] parameter(0)\n  ROOT r = f32[8,4] negate(p), sharding=" } else { "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] all-to-all(p), replica_groups=" };
        let src = format!("{pre}{value}\n}}\n");
        let key = pre.len() - if kind == "s" { "sharding=".len() } else { "replica_groups=".len() };
        let mut c = Cursor::at(&src, key);
        c.bump();
        let mut module = Module::new("m");
        let mut warnings = Vec::new();
        let mut ctx = ValueContext { module: &mut module, dialect: Dialect::Strict, warnings: &mut warnings };
        let o = PrintOptions::preset(opts).unwrap();
        let mut buf = Vec::new();
        let r = if kind == "s" {
            crate::parser::sharding_for_dev(&mut c, &mut ctx).map(|v| crate::printer::sharding_for_dev(&mut buf, &module, &v, &o))
        } else {
            crate::parser::groups_for_dev(&mut c, &mut ctx).map(|v| crate::printer::groups_for_dev(&mut buf, &module, &v, &o))
        };
        match r {
            Ok(()) if c.token() == Token::RBrace && c.start() == pre.len() + value.len() + 1 => out += &format!("A\t{}\n", String::from_utf8_lossy(&buf).replace('\n', "\\n")),
            Ok(()) => out += &format!("T\t{}\n", c.start() as i64 - pre.len() as i64),
            Err(e) => { let _ = Code::ALL; out += &format!("R\t{}\t{}\n", e.primary.span.start as i64 - pre.len() as i64, e.message) }
        }
    }
    std::fs::write(std::env::var("HLO_OUT").unwrap(), out).unwrap();
}
