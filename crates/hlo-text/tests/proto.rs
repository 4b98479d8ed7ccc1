//! Modules as protocol buffers: what is written can be read, nothing is lost, and malformed input gets diagnostics that
//! say where.

use hlo_text::diagnostic::Code;
use hlo_text::ir::AttrKey;
use hlo_text::proto::{self, Container, Encoding, ReadOptions};
use hlo_text::{Dialect, Module, ParseOptions, PrintOptions, parse_module};

fn parse(text: &str) -> Module {
    match parse_module(text, &ParseOptions::strict()) {
        Ok(parsed) => parsed.module,
        Err(errors) => panic!("{errors:?}"),
    }
}

fn full() -> PrintOptions {
    PrintOptions { print_large_constants: true, ..PrintOptions::default() }
}

fn write(module: &Module) -> Vec<u8> {
    proto::write(module, None).expect("the module is small").bytes
}

fn read(bytes: &[u8]) -> proto::ProtoModule<'_> {
    let options = ReadOptions { dialect: Dialect::Strict, ..ReadOptions::default() };
    match proto::read(bytes, &options) {
        Ok(read) => read,
        Err(rejected) => panic!("{:?}", rejected.diagnostics),
    }
}

/// The first fault of protobuf text.
fn fault(text: &str) -> (Code, String) {
    let rejected = proto::read(text.as_bytes(), &ReadOptions::default()).expect_err(text);
    let first = &rejected.diagnostics[0];
    (first.code, first.message.clone())
}

/// A module with many kinds of instructions and attributes.
const MANY: &str = include_str!("data/proto_many.hlo");

#[test]
fn texts_survive() {
    let module = parse(MANY);
    let bytes = write(&module);
    assert_eq!(bytes, write(&module), "the same module gives the same bytes");
    let back = read(&bytes);
    let (before, after) = (module.to_text(&full()), back.module.to_text(&full()));
    for (before, after) in before.lines().zip(after.lines()) {
        assert_eq!(before, after);
    }
    assert_eq!(before.len(), after.len());
    assert_eq!(proto::write(&back.module, Some(&back.source)).expect("small").bytes, bytes);
    assert!(proto::lost_in_proto(&module).is_empty());
}

#[test]
fn both_encodings_and_gzip_are_told_from_the_content() {
    let module = parse(MANY);
    let bytes = write(&module);
    let text = proto::to_text(&bytes, Container::Module).expect("well formed");
    assert_eq!(proto::detect(text.as_bytes()), Some(Encoding::Text));
    assert_eq!(proto::detect(&bytes), Some(Encoding::Binary));
    assert_eq!(proto::detect(MANY.as_bytes()), None);
    assert_eq!(proto::detect(b"\nHloModule m\n"), None);
    assert_eq!(proto::detect(b""), None);
    let from_text = read(text.as_bytes());
    assert_eq!(from_text.source.bytes(), bytes);
    assert_eq!(from_text.source.encoding(), Encoding::Text);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &bytes).expect("memory takes everything");
    let compressed = encoder.finish().expect("memory takes everything");
    assert_eq!(read(&compressed).module.to_text(&full()), module.to_text(&full()));
    let cut = &compressed[..compressed.len() / 2];
    let rejected = proto::read(cut, &ReadOptions::default()).expect_err("cut off");
    assert_eq!(rejected.diagnostics[0].code, Code::BadProto);
}

/// A field with a length.
fn delimited(number: u32, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for mut value in [u64::from(number) << 3 | 2, bytes.len() as u64] {
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }
    out.extend_from_slice(bytes);
    out
}

#[test]
fn wrapped_modules_are_found_and_put_back() {
    let module = parse(MANY);
    // A field of a newer version may come first.
    let bytes = [&b"\x80\xfa\x01\x07"[..], &write(&module)].concat();
    let mut hlo = delimited(1, &bytes);
    hlo.extend(delimited(3, b"\x08\x01"));
    let mut snapshot = delimited(1, &hlo);
    snapshot.extend(delimited(4, b"cpu"));
    for (wrapped, container) in [(&hlo, Container::HloProto), (&snapshot, Container::Snapshot)] {
        let read = read(wrapped);
        assert_eq!(read.source.container(), container);
        assert_eq!(read.module.to_text(&full()), module.to_text(&full()));
        let written = proto::write(&read.module, Some(&read.source)).expect("small").bytes;
        assert_eq!(written, bytes);
        assert_eq!(&proto::wrap(written, &read.source), wrapped);
        assert_eq!(proto::lost_container(&read.source).len(), 1);
        let text = proto::to_text(wrapped, container).expect("well formed");
        assert_eq!(self::read(text.as_bytes()).source.bytes(), wrapped);
    }
}

/// Names may hold any byte: they are no messages for that, and become legal as XLA makes them.
#[test]
fn names_with_control_characters_are_names() {
    for (name, legal) in [
        ("exam\u{1f}\0e", "exam__e"),
        ("\n\0", "a_"),
        ("m\n", "m_"),
        ("a b, is_scheduled=true", "a_b__is_scheduled_true"),
        ("n\u{e9}", "n__"),
    ] {
        let text = SMALL.replacen("name: \"m\"", &format!("name: \"{}\"", escaped(name)), 1);
        let text = text.replace(['@', '#'], "");
        let module = read(text.as_bytes()).module;
        let name_of =
            |module: &Module| String::from_utf8_lossy(module.strings().get(module.name)).into_owned();
        assert_eq!(name_of(&module), legal);
        let binary = write(&module);
        let back = read(&binary);
        assert_eq!((back.source.container(), name_of(&back.module)), (Container::Module, legal.to_owned()));
    }
}

/// A short message that stands for a print without end.
#[test]
fn constants_have_not_too_many_empty_rows() {
    let constant = |rows: u64| {
        let shape = format!(
            "shape {{ element_type: F32 dimensions: {rows} dimensions: 0 layout {{ minor_to_major: 1 minor_to_major: 0 }} }}"
        );
        let instruction = format!(
            "instructions {{ name: \"c\" opcode: \"constant\" id: 30 {shape} literal {{ {shape} }} }}\n  instructions {{\n    name: \"p\""
        );
        SMALL.replacen("instructions {\n    name: \"p\"", &instruction, 1).replace(['@', '#'], "")
    };
    assert_eq!(read(constant(1 << 10).as_bytes()).module.instruction_count(), 3);
    let options = ReadOptions { dialect: Dialect::Strict, ..ReadOptions::default() };
    let endless = constant(1 << 40);
    let Err(refused) = proto::read(endless.as_bytes(), &options) else { panic!("it is read") };
    assert!(refused.diagnostics[0].message.contains("empty rows"), "{}", refused.diagnostics[0].message);
}

/// As the text form spells bytes that can't be shown.
fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("\\{byte:03o}")).collect()
}

/// A small module; `@` is where more fields of an instruction can go, `#` more of the module.
const SMALL: &str = "
name: \"m\"
entry_computation_name: \"e\"
computations {
  name: \"e\"
  instructions {
    name: \"p\"
    opcode: \"parameter\"
    shape { element_type: F32 dimensions: 4 layout { minor_to_major: 0 } is_dynamic_dimension: false }
    id: 10
  }
  instructions {
    name: \"n\"
    opcode: \"negate\"
    shape { element_type: F32 dimensions: 4 layout { minor_to_major: 0 } is_dynamic_dimension: false }
    id: 20
    operand_ids: 10
    @
  }
  root_id: 20
}
#
";

#[test]
fn unknown_fields_survive_edits() {
    let text = SMALL
        .replace(
            '@',
            "90001: \"kept\" metadata { op_name: \"a\" 90002: 7 size_of_generated_code_in_bytes: 5 }",
        )
        .replace('#', "90003: 0x00000001 device_type: \"x\"");
    let read = read(text.as_bytes());
    let mut module = read.module.clone();
    let entry = module.entry();
    let root = module.computation(entry).root;
    let name = module.unique_instruction_name("renamed");
    module.set_name(root, name);
    let shape = module.instruction(root).shape;
    let again = module.add_instruction(
        entry,
        hlo_text::ir::NewInstruction::new(hlo_text::ir::Opcode::Negate, shape, &[root]),
    );
    module.set_root(entry, again);
    let written = proto::write(&module, Some(&read.source)).expect("small").bytes;
    let text = proto::to_text(&written, Container::Module).expect("well formed");
    for kept in [
        "90001: \"kept\"",
        "90002: 7",
        "size_of_generated_code_in_bytes: 5",
        "90003: 0x00000001",
        "device_type: \"x\"",
        "name: \"renamed\"",
        "id: 20",
        "operand_ids: 10",
        "operand_ids: 20",
        "id: 21",
        "root_id: 21",
    ] {
        assert!(text.contains(kept), "{kept} is missing:\n{text}");
    }
    let losses = proto::lost_in_text(&read.module, &read.source, &PrintOptions::default());
    let lost: Vec<&str> = losses.iter().map(|loss| loss.message.as_str()).collect();
    assert_eq!(lost.len(), 5, "{lost:?}");
}

#[test]
fn instructions_are_in_the_order_of_their_ids() {
    let text = SMALL.replace(['@', '#'], "");
    let read = read(text.as_bytes());
    let names: Vec<&str> = read
        .module
        .computation(read.module.entry())
        .instructions
        .iter()
        .map(|&id| read.module.name_of(id))
        .collect();
    assert_eq!(names, ["p", "n"]);
}

#[test]
fn left_out_values_are_marked() {
    let module = parse("HloModule m\nENTRY e {\n  ROOT c = f32[100]{0} constant({...})\n}\n");
    let written = proto::write(&module, None).expect("small");
    assert_eq!(written.warnings.len(), 1);
    assert_eq!(written.warnings[0].code, Code::ProtoLoss);
    let back = read(&written.bytes);
    assert_eq!(back.module.to_text(&full()), module.to_text(&full()));
    let root = back.module.computation(back.module.entry()).root;
    let literal = back.module.instruction(root).literal.expect("a constant");
    assert!(back.module.literal(literal).has_elided());
}

#[test]
fn what_a_protocol_buffer_cannot_carry_is_reported() {
    let module = parse(
        "HloModule m, replica_count=2, num_partitions=4\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n",
    );
    let losses = proto::lost_in_proto(&module);
    assert_eq!(losses.len(), 2, "{losses:?}");
    assert!(losses[0].message.contains("`replica_count`"));
}

#[test]
fn names_that_are_there_twice() {
    let text = SMALL.replace("name: \"n\"", "name: \"p\"").replace(['@', '#'], "");
    let lenient = proto::read(text.as_bytes(), &ReadOptions::default()).expect_err("one computation");
    assert_eq!(lenient.diagnostics[0].code, Code::DuplicateInstruction);
}

#[test]
fn cut_messages_are_refused_at_a_byte() {
    let message = |bytes: &[u8]| {
        let rejected = proto::read(bytes, &ReadOptions::default()).expect_err("it is cut");
        rejected.diagnostics[0].message.clone()
    };
    let module =
        [delimited(1, b"m"), delimited(3, &[delimited(1, b"e"), vec![0x12, 9, 1]].concat())].concat();
    assert_eq!(
        message(&module),
        "computations[0] (`e`): 9 bytes are announced, but 1 are left, at byte 3 of the message"
    );
    assert_eq!(
        message(&module[..module.len() - 1]),
        "6 bytes are announced, but 5 are left, at byte 3 of the message"
    );
}

#[test]
fn every_prefix_ends_with_a_diagnostic_or_a_module() {
    let bytes = write(&parse(MANY));
    for end in (0..bytes.len()).step_by(7) {
        if let Err(rejected) = proto::read(&bytes[..end], &ReadOptions::default()) {
            assert_eq!(rejected.diagnostics.len(), 1);
        }
    }
    let cut = proto::read(&bytes[..bytes.len() - 3], &ReadOptions::default()).expect_err("cut off");
    assert_eq!(cut.diagnostics[0].code, Code::BadProto);
}

#[test]
fn every_changed_byte_ends_with_a_diagnostic_or_a_module() {
    let bytes = write(&parse(MANY));
    for at in (0..bytes.len()).step_by(19) {
        for change in [1, 0x80] {
            let mut bytes = bytes.clone();
            bytes[at] ^= change;
            if let Ok(read) = proto::read(&bytes, &ReadOptions::default()) {
                read.module.to_text(&PrintOptions::default());
                let written = proto::write(&read.module, Some(&read.source)).expect("it is small");
                assert_eq!(written.bytes, &bytes[..], "byte {at}");
            }
        }
    }
}

#[test]
fn values_of_another_type_are_refused_with_the_path_of_the_field() {
    let module = write(&parse("HloModule m\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"));
    let one = |number: u32, inner: &[u8]| delimited(number, &delimited(1, inner));
    // Texts where numbers belong, and numbers where texts belong.
    let (text, number) = (|field: u32| delimited(field, b"\xff"), |field: u8| vec![field << 3, 1]);
    for (more, path) in [
        (one(19, &number(1)), "frontend_attributes.map[0].key"),
        ([one(19, b""), one(19, &number(2))].concat(), "frontend_attributes.map[0].value"),
        (one(8, &text(2)), "input_output_alias.entries[0].parameter_number"),
        (one(8, &text(3)), "input_output_alias.entries[0].parameter_shape_index"),
        (one(8, &text(4)), "input_output_alias.entries[0].kind"),
        (one(18, &text(1)), "buffer_donor.entries[0].parameter_number"),
    ] {
        let bytes = [&module[..], &more].concat();
        let rejected = proto::read(&bytes, &ReadOptions::default()).expect_err(path);
        let message = &rejected.diagnostics[0].message;
        assert!(message.starts_with(&format!("{path}: ")), "{path}: {message}");
    }
}

#[test]
fn hostile_values_are_refused_with_the_path_of_the_field() {
    let with = |more: &str| SMALL.replace('@', more).replace('#', "");
    let module = |more: &str| SMALL.replace('#', more).replace('@', "");
    let instruction = "computations[0] (`e`).instructions[1] (`n`)";
    for (text, code, start) in [
        (with("operand_ids: 99"), Code::ProtoId, format!("{instruction}.operand_ids: ")),
        (with("operand_ids: 20"), Code::ProtoId, format!("{instruction}.operand_ids: ")),
        (
            with("control_predecessor_ids: -1"),
            Code::ProtoId,
            format!("{instruction}.control_predecessor_ids: "),
        ),
        (with("called_computation_ids: 0"), Code::ProtoId, format!("{instruction}.called_computation_ids: ")),
        (with("opcode: \"negat\""), Code::ProtoValue, format!("{instruction}.opcode: ")),
        (with("shape { element_type: 99 }"), Code::ProtoValue, format!("{instruction}.shape.element_type: ")),
        (
            with("shape { element_type: F32 dimensions: [2, -2] }"),
            Code::ProtoValue,
            format!("{instruction}.shape.dimensions[1]: "),
        ),
        (
            with(
                "opcode: \"constant\" literal { shape { element_type: F32 dimensions: 4 } f32s: [1, 2, 3] }",
            ),
            Code::ProtoValue,
            format!("{instruction}.literal.f32s: "),
        ),
        (
            with("opcode: \"constant\" literal { shape { element_type: F32 dimensions: 4000000000000 } }"),
            Code::ProtoValue,
            format!("{instruction}.literal.f32s: "),
        ),
        (
            with(
                "opcode: \"constant\" literal { shape { element_type: F32 dimensions: [4000000000, 4000000000] } }",
            ),
            Code::ProtoValue,
            format!("{instruction}.literal.f32s: "),
        ),
        (
            with(
                "sharding { type: OTHER tile_assignment_dimensions: 4000000000 tile_assignment_devices: [0, 1] }",
            ),
            Code::TooLarge,
            format!("{instruction}.sharding.tile_assignment_devices: "),
        ),
        (
            with("original_value { elements { shape_index: 1000000000 } }"),
            Code::ProtoValue,
            format!("{instruction}.original_value.elements[0].shape_index: "),
        ),
        (module("entry_computation_id: 5"), Code::ProtoId, "entry_computation_id: ".to_owned()),
        (
            module("schedule { sequences { key: 0 value { instruction_ids: 10 } } }"),
            Code::ProtoValue,
            "schedule.sequences[0].value.instruction_ids: ".to_owned(),
        ),
        (
            module("schedule { sequences { key: 3 } }"),
            Code::ProtoId,
            "schedule.sequences[0].key: ".to_owned(),
        ),
        (
            module(
                "stack_frame_index { stack_frames { parent_frame_id: 2 } stack_frames { parent_frame_id: 1 } }",
            ),
            Code::ProtoId,
            "stack_frame_index.stack_frames[0].parent_frame_id: ".to_owned(),
        ),
        (
            SMALL.replace("root_id: 20", "").replace(['@', '#'], ""),
            Code::ProtoId,
            "computations[0] (`e`).root_id: ".to_owned(),
        ),
        (
            SMALL.replace("id: 20\n", "id: 10\n").replace(['@', '#'], ""),
            Code::ProtoId,
            format!("{instruction}.id: "),
        ),
    ] {
        let (found, message) = fault(&text);
        assert_eq!((found, message.get(..start.len())), (code, Some(start.as_str())), "{message}\n{text}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep =
        |open: &str, close: &str, levels: usize| format!("{}{}", open.repeat(levels), close.repeat(levels));
    let with = |more: &str| SMALL.replace('@', more).replace('#', "");
    let shape = deep("element_type: TUPLE tuple_shapes { ", "}", 190);
    assert!(proto::read(with(&format!("shape {{ {shape} }}")).as_bytes(), &ReadOptions::default()).is_err());
    for text in [
        with(&format!("shape {{ {} }}", deep("element_type: TUPLE tuple_shapes { ", "}", 210))),
        with(&format!("sharding {{ {} }}", deep("type: TUPLE tuple_shardings { ", "}", 210))),
        with(&format!("shape {{ {} }}", deep("tuple_shapes { ", "}", 5000))),
    ] {
        assert_eq!(fault(&text).0, Code::TooDeep);
    }
    let deep_text = format!(
        "HloModule m\nENTRY e {{\n  ROOT p = {}f32[]{} parameter(0)\n}}\n",
        "(".repeat(300),
        ")".repeat(300)
    );
    let error = proto::write(&parse(&deep_text), None).expect_err("too deep");
    assert_eq!(error.code, Code::TooDeep);
    // Bytes need no closing braces: each length says how much is left.
    let mut bytes = Vec::new();
    for _ in 0..3000 {
        bytes = delimited(4, &bytes);
    }
    let module = delimited(3, &delimited(2, &[delimited(2, b"negate"), delimited(3, &bytes)].concat()));
    let rejected = proto::read(&module, &ReadOptions::default()).expect_err("too deep");
    assert_eq!(rejected.diagnostics[0].code, Code::TooDeep);
}

#[test]
fn giant_texts_are_not_written() {
    let module = parse("HloModule m\nENTRY e {\n  ROOT c = f32[1000000,1000000]{1,0} constant({...})\n}\n");
    let error = proto::write(&module, None).expect_err("too large");
    assert_eq!(error.code, Code::TooLarge);
    assert!(
        error.message.starts_with("computations[0].instructions[0] (`c`).literal: "),
        "{}",
        error.message
    );
}

#[test]
fn literals_are_in_the_order_of_their_layout() {
    let module = parse("HloModule m\nENTRY e {\n  ROOT c = s4[2,3]{0,1} constant({{-1,2,3},{4,5,-6}})\n}\n");
    let bytes = write(&module);
    let text = proto::to_text(&bytes, Container::Module).expect("well formed");
    assert!(text.contains(r#"s4s: "\017\004\002\005\003\n""#), "{text}");
    assert_eq!(read(&bytes).module.to_text(&full()), module.to_text(&full()));
}

#[test]
fn older_forms_are_read() {
    let text = SMALL
        .replace(
            "opcode: \"negate\"",
            "opcode: \"all-gather\" dimensions: 0 replica_groups { replica_ids: [0, 1] }",
        )
        .replace(['@', '#'], "");
    let read = read(text.as_bytes());
    let root = read.module.computation(read.module.entry()).root;
    let groups = read.module.value_of(root, AttrKey::ReplicaGroups).expect("groups");
    assert_eq!(format!("{groups:?}"), "ReplicaGroups(Lists([[0, 1]]))");
}
