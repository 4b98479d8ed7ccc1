use super::*;
use crate::ir::{Computation, Instruction, Metadata, Opcode, PoolRange};
use crate::printer::stack_frames::write_stack_frames;

fn parse(
    module: &mut Module,
    text: &str,
    dialect: Dialect,
) -> Result<(StackFrameIndex, Vec<Diagnostic>), Box<Diagnostic>> {
    let mut warnings = Vec::new();
    let mut context = ValueContext { module, dialect, warnings: &mut warnings };
    let tables = parse_stack_frames(&mut Cursor::new(text), &mut context)?;
    Ok((tables, warnings))
}

/// A module with a computation whose instructions have these stack frames.
fn module_with_frames(ids: &[i32]) -> Module {
    let mut module = Module::new("m");
    let parent = crate::ir::ComputationId::from_index(0);
    let shape = module.shapes_mut().array(crate::ir::ElementType::F32, &[]);
    let op_name = Some(module.strings_mut().intern(b"n"));
    for &stack_frame_id in ids {
        let metadata = module.intern_metadata(Metadata { op_name, stack_frame_id, ..Metadata::default() });
        module.instructions.push(Instruction {
            name: module.name,
            shape,
            operands: PoolRange::default(),
            attributes: PoolRange::default(),
            metadata: Some(metadata),
            parent,
            literal: None,
            parameter_number: 0,
            opcode: Opcode::AfterAll,
            has_control_predecessors: false,
            removed: false,
        });
    }
    let instructions: Vec<_> = (0..ids.len()).map(InstructionId::from_index).collect();
    let root = instructions[0];
    let name = module.name;
    let computation =
        Computation { name, instructions, parameters: Vec::new(), root, execution_thread: None };
    module.computations.push(Some(computation));
    module.computation_order.push(parent);
    module
}

const NAMES: &str = "FileNames\n1 \"a.py\"\n2 \"b.py\"\n3 'a.py'\nFunctionNames\n1 \"f\"\n2 \"g\"\n";

/// Tables with locations `(file, function, line)` and frames `(location, parent)`.
fn tables(locations: &[(i32, i32, i32)], frames: &[(i32, i32)]) -> String {
    let mut text = NAMES.to_owned() + "FileLocations\n";
    for (file, function, line) in locations {
        text += &format!("7 {{file_name_id={file}, function_name_id={function} line={line}");
        text += " end_line=0 column=-1, end_column=0}\n";
    }
    text += "StackFrames\n";
    for (location, parent) in frames {
        text += &format!("0 {{parent_frame_id={parent} file_location_id={location}}}\n");
    }
    text
}

/// What becomes of the ids of instructions, and of the tables: locations and frames as above.
type Rebuilt = (Vec<i32>, Vec<(i32, i32, i32)>, Vec<(i32, i32)>);

fn rebuild(locations: &[(i32, i32, i32)], frames: &[(i32, i32)], ids: &[i32]) -> Rebuilt {
    let mut module = module_with_frames(ids);
    let (tables, _) = parse(&mut module, &tables(locations, frames), Dialect::Strict).unwrap();
    rebuild_stack_frames(&mut module, &tables);
    let ids = module.instructions.iter().map(|i| module.metadata(i.metadata.unwrap()).stack_frame_id);
    let new = &module.header.stack_frames;
    (
        ids.collect(),
        new.file_locations.iter().map(|l| (l.file_name_id, l.function_name_id, l.line)).collect(),
        new.stack_frames.iter().map(|f| (f.file_location_id, f.parent_frame_id + 1)).collect(),
    )
}

const LOCATIONS: &[(i32, i32, i32)] = &[(1, 1, 1), (2, 2, 2), (1, 2, 3), (2, 1, 4)];

#[test]
fn frames_are_numbered_in_the_order_of_need_callers_first() {
    let frames = [(1, 1), (2, 2), (3, 3)];
    let all = (vec![3], vec![(1, 1, 1), (2, 2, 2), (1, 2, 3)], vec![(1, 1), (2, 2), (3, 3)]);
    assert_eq!(rebuild(LOCATIONS, &frames, &[3]), all);
    assert_eq!(rebuild(LOCATIONS, &frames, &[2, 1, 2]).0, [2, 1, 2]);
    // The parent comes after the child in the text.
    let turned = (vec![2], vec![(1, 1, 2), (2, 1, 3)], vec![(1, 1), (2, 2)]);
    assert_eq!(rebuild(LOCATIONS, &[(3, 3), (2, 1), (1, 1)], &[1]), turned);
}

#[test]
fn equal_entries_are_merged() {
    // Files 1 and 3 have the same name.
    let merged = rebuild(&[(1, 1, 1), (3, 1, 1)], &[(1, 1), (2, 1), (2, 2)], &[3, 2, 1]);
    assert_eq!(merged, (vec![2, 1, 1], vec![(1, 1, 1)], vec![(1, 1), (1, 2)]));
}

#[test]
fn ids_that_lead_nowhere_are_cleared() {
    let nothing = |ids: usize| (vec![0; ids], vec![], vec![]);
    assert_eq!(rebuild(LOCATIONS, &[(1, 1)], &[2, -1, i32::MIN]), nothing(3));
    // Parents that don't exist.
    for parent in [0, -5, 9, i32::MIN] {
        assert_eq!(rebuild(LOCATIONS, &[(1, parent)], &[1]), nothing(1));
    }
    // Cycles, and a frame that leads into one.
    assert_eq!(rebuild(LOCATIONS, &[(1, 2)], &[1]), nothing(1));
    assert_eq!(rebuild(LOCATIONS, &[(1, 3), (2, 2), (3, 2)], &[3, 1, 2]), nothing(3));
    // Locations and names that don't exist.
    assert_eq!(rebuild(LOCATIONS, &[(9, 1), (0, 1), (-1, 1)], &[1, 2, 3]), nothing(3));
    assert_eq!(
        rebuild(&[(9, 1, 1), (1, 9, 1), (0, 0, 0)], &[(1, 1), (2, 1), (3, 1)], &[1, 2, 3]),
        nothing(3)
    );
    // The caller of a bad frame stays; the frame called by it is bad too.
    let caller = (vec![0, 0], vec![(1, 1, 1)], vec![(1, 1)]);
    assert_eq!(rebuild(LOCATIONS, &[(1, 1), (9, 2), (2, 3)], &[3, 2]), caller);
    // A bad frame does no harm to others.
    let other = (vec![0, 0, 1], vec![(1, 1, 3)], vec![(1, 1)]);
    assert_eq!(rebuild(LOCATIONS, &[(9, 1), (2, 2), (3, 1)], &[1, 2, 3]), other);
}

#[test]
fn long_chains_are_followed_once() {
    let count = 20_000;
    let frames: Vec<_> = (1..=count).map(|parent| (1, parent)).collect();
    let ids: Vec<_> = (1..=count).rev().collect();
    assert_eq!(rebuild(LOCATIONS, &frames, &ids).0, ids);
}

#[test]
fn tables_are_printed_as_xla_prints_them() {
    let mut module = module_with_frames(&[2]);
    let text = "FileNames 9 \"a\\\"\\351\" FunctionNames -4 \"f\\n\" FileLocations 3 {,file_name_id=1, \
                function_name_id=1 line=-1,end_line=2 column=3 end_column=4} StackFrames 7 \
                {parent_frame_id=1, file_location_id=1} 7 {parent_frame_id=2, file_location_id=1}";
    let (tables, _) = parse(&mut module, text, Dialect::Strict).unwrap();
    let mut out = Vec::new();
    write_stack_frames(&mut out, &module);
    assert!(out.is_empty());
    rebuild_stack_frames(&mut module, &tables);
    write_stack_frames(&mut out, &module);
    let expected = "\n\nFileNames\n1 \"a\\\"\\351\"\n\nFunctionNames\n1 \"f\\n\"\n\nFileLocations\n1 {file_name_id=1 \
                    function_name_id=1 line=-1 end_line=2 column=3 end_column=4}\n\nStackFrames\n1 \
                    {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=1 parent_frame_id=2}\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn faults_are_reported_where_xla_reports_them() {
    use Code::{BadStackFrames, DuplicateAttribute, OutOfRange, UnexpectedToken, UnknownAttribute};
    let locations = "FileNames\nFunctionNames\nFileLocations\n";
    let frames = "FileNames\nFunctionNames\nFileLocations\nStackFrames\n";
    let rows = [
        ("FileNames\n1 \"a\"\n", "FileLocations\n", UnexpectedToken, 0),
        ("FileNames\n", "\"a\"\n", UnexpectedToken, 0),
        ("FileNames\n1 ", "2\n", UnexpectedToken, 0),
        ("FileNames\n1 \"a\" ", "\"b\"\n", UnexpectedToken, 0),
        ("FileNames\nFunctionNames\n1 ", "f\n", UnexpectedToken, 0),
        (locations, "1.5\nStackFrames", UnexpectedToken, 0),
        (locations, "1 {}\nStackFrames", BadStackFrames, 2),
        (locations, "1 {file_name_id=1}\nStackFrames", BadStackFrames, 2),
        (locations, "1 {foo=1}\nStackFrames", UnknownAttribute, 3),
        (locations, "1 {file_name_id=a}\nStackFrames", UnexpectedToken, 16),
        (locations, "1 {file_name_id=1 file_name_id=2}\n", DuplicateAttribute, 18),
        (locations, "1 {line=99999999999}\n", OutOfRange, 8),
        (locations, "1 x\n", UnexpectedToken, 2),
        (locations, "1 {line=1\nStackFrames", UnexpectedToken, 10),
        (frames, "1 {,}\n", UnexpectedToken, 4),
        (frames, "1 {file_location_id=1}\n", BadStackFrames, 2),
        (frames, "1 {file_location_id=1 parent_frame_id=x}\n", UnexpectedToken, 38),
        (frames, "1\n", UnexpectedToken, 2),
    ];
    for (before, text, code, at) in rows {
        let error = parse(&mut Module::new("m"), &format!("{before}{text}"), Dialect::Strict).unwrap_err();
        let place = error.primary.span.start as usize - before.len();
        assert_eq!((error.code, place), (code, at), "{text}");
    }
}

#[test]
fn older_tables_are_read_leniently() {
    let text = "FileNames 1 \"a\" FunctionNames 1 \"f\" FileLocations 1 {file_name_id=1 function_name_id=1 line=2 \
                column=3} StackFrames 1 {file_location_id=1}";
    let mut module = module_with_frames(&[1]);
    let (tables, warnings) = parse(&mut module, text, Dialect::Lenient).unwrap();
    assert!(warnings.len() == 2 && warnings.iter().all(|warning| warning.code == Code::Dialect));
    rebuild_stack_frames(&mut module, &tables);
    let location = module.header.stack_frames.location_of(1).unwrap().0;
    assert_eq!((location.line, location.end_line, location.column), (2, 0, 3));

    let text = text.replace("line=2 ", "");
    assert_eq!(parse(&mut module, &text, Dialect::Lenient).unwrap_err().code, Code::BadStackFrames);
}
