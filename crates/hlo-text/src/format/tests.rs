//! Layouts, and what must not change.

use super::*;

fn formatted(text: &str) -> String {
    let once = format(text, &FormatOptions::default()).unwrap_or_else(|error| panic!("{text}\n{error:?}"));
    let twice = format(&once, &FormatOptions::default()).unwrap_or_else(|error| panic!("{once}\n{error:?}"));
    assert_eq!(once, twice);
    once
}

#[test]
fn everything_has_its_line() {
    let text = "// RUN: x\n\n\n// CHECK: y\nHloModule  m ,\n  replica_count=2 , is_scheduled= true\n\
        %sum ( a:  f32[] ,b: f32[]) ->  f32[]{\n a = f32[] parameter( 0 ) b = f32[] parameter(1)\n\n\n\
        // CHECK: flush\n      // with the next\n ROOT s = f32[] add( a ,b )  // said of s\n\n// last\n}\n\
        // of the entry\nENTRY main\n{\n\n  x = f32[2,2]{1,0} parameter(0), sharding={ devices=[2,1]0,1 }\n\
        c = f32[2,2] constant({\n   {1, 2},\n   {3,4} })\n\
        ROOT t = (f32[2,2],\n   f32[2,2]) tuple(x, /*index=1*/c),\n     metadata={op_name=\"a  b // c\"}\n\n}, execution_thread=\"main\" // end\n";
    let text = text.replace("]{\n a", "] {\n a");
    assert_eq!(
        formatted(&text),
        "// RUN: x\n\n// CHECK: y\nHloModule m, replica_count=2, is_scheduled=true\n\n\
         %sum (a: f32[], b: f32[]) -> f32[] {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n\n\
         // CHECK: flush\n  // with the next\n  ROOT s = f32[] add(a, b) // said of s\n\n// last\n}\n\
         // of the entry\nENTRY main {\n  x = f32[2,2]{1,0} parameter(0), sharding={ devices=[2,1]0,1 }\n  \
         c = f32[2,2] constant({ {1, 2}, {3,4} })\n  \
         ROOT t = (f32[2,2], f32[2,2]) tuple(x, /*index=1*/c), metadata={op_name=\"a  b // c\"}\n\
         }, execution_thread=\"main\" // end\n"
    );
}

#[test]
fn comments_within_an_instruction_keep_its_lines() {
    let text = "HloModule m\n\nENTRY e {\n  p = f32[] parameter(0)\n      a = f32[] add(p, // first\n                    p)\n  \
                ROOT b = f32[] negate(a)\n}\n";
    assert_eq!(formatted(text), text.replace("      a =", "  a ="));
}

#[test]
fn json_is_not_touched() {
    let text = "HloModule m\n\nENTRY e {\n  p = f32[] parameter(0)\n  \
                ROOT c = f32[] custom-call(p), custom_call_target=\"t\", backend_config={\"a\":  [1,\n   2],\"b\":{ }}\n}\n";
    assert_eq!(formatted(text), text);
}

#[test]
fn values_with_blanks_belong_to_their_instruction() {
    let text = "HloModule m, num_partitions=4\n\ns {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n\
                ENTRY e {\n  p = f32[4] parameter(0)\n  \
                g = f32[4] all-reduce(p), replica_groups=mesh['x'=2,'y'=2] {'x'}, to_apply=s\n  \
                ROOT w = f32[2] reduce-window(g, g), window={size=2 stride=2}, to_apply=s\n}\n";
    let text = text
        .replace("reduce-window(g, g)", "slice(g)")
        .replace("window={size=2 stride=2}, to_apply=s", "slice={[0:2]}");
    assert_eq!(formatted(&text), text);
}

#[test]
fn wrapped_instructions_are_part_of_their_line() {
    let text = "HloModule m\n\nENTRY e {\n  a = f32[4] parameter(0)\n  \
                b = ((f32[4]), f32[4], u32[]) custom-call-start(a), custom_call_target=\"f\"\n  \
                ROOT d = f32[4] custom-call-done(b)\n}\n";
    assert_eq!(formatted(text), text);
}

#[test]
fn pieces_of_modules_are_laid_out() {
    assert_eq!(
        formatted("f {\nx = f32[] parameter(0)  ROOT y = f32[] negate(x) }"),
        "f {\n  x = f32[] parameter(0)\n  ROOT y = f32[] negate(x)\n}\n"
    );
    assert_eq!(formatted("  n =  f32[2]   negate( f32[2] x )"), "n = f32[2] negate(f32[2] x)\n");
}

#[test]
fn result_shapes_are_written_where_they_follow() {
    let options = FormatOptions { infer_shapes: true };
    let text = "HloModule m\n\nENTRY e {\n  p = f32[2,3]{0,1} parameter(0)\n  n = negate(p)\n  %r = f32[6] reshape(n)\n  \
                t = tuple(r, n)\n  ROOT s = slice(r), slice={[0:2]}\n}\n";
    let shaped = format(text, &options).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(
        shaped,
        text.replace("n = negate", "n = f32[2,3]{0,1} negate")
            .replace("t = tuple", "t = (f32[6]{0}, f32[2,3]{0,1}) tuple")
            .replace("s = slice(", "s = f32[2] slice(")
    );
    // What doesn't follow is a fault, as always.
    assert!(matches!(format(text, &FormatOptions::default()), Err(FormatError::NotHlo(_))));
}

#[test]
fn what_isn_t_hlo_is_refused() {
    assert!(matches!(
        format("HloModule m\nENTRY e {", &FormatOptions::default()),
        Err(FormatError::NotHlo(_))
    ));
}
