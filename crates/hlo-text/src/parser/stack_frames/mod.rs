//! The tables `FileNames`, `FunctionNames`, `FileLocations`, `StackFrames` between the header and the computations.

use std::hash::Hash;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{FileLocation, InstructionId, Module, StackFrame, StackFrameIndex, Symbol, table_entry};
use crate::lexer::{Cursor, Keyword, Token};
use crate::parser::number::parse_int32;
use crate::parser::sub_attribute::{Given, parse_sub_attributes, unknown_name};
use crate::parser::{Dialect, ParseResult, ValueContext};

/// The fields of an entry of `FileLocations`.
const LOCATION_NAMES: [&str; 6] =
    ["file_name_id", "function_name_id", "line", "end_line", "column", "end_column"];

/// The fields of an entry of `StackFrames`.
const FRAME_NAMES: [&str; 2] = ["file_location_id", "parent_frame_id"];

/// Takes the four tables, if the current token is `FileNames`. They are as the text has them, wrong ids included;
/// [`rebuild_stack_frames`] makes them fit.
pub(crate) fn parse_stack_frames(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
) -> ParseResult<StackFrameIndex> {
    let mut tables = StackFrameIndex::default();
    if !cursor.eat(Token::Keyword(Keyword::FileNames)) {
        return Ok(tables);
    }
    tables.file_names = parse_names(cursor, context)?;
    cursor.expect(Token::Keyword(Keyword::FunctionNames), "a file name `N \"...\"`, or `FunctionNames`")?;
    tables.function_names = parse_names(cursor, context)?;
    cursor
        .expect(Token::Keyword(Keyword::FileLocations), "a function name `N \"...\"`, or `FileLocations`")?;
    while cursor.token() == Token::Int {
        let mut fields = [0; LOCATION_NAMES.len()];
        // Older versions knew no ends.
        let sorted = ["column", "end_column", "end_line", "file_name_id", "function_name_id", "line"];
        let older = ["column", "file_name_id", "function_name_id", "line"];
        parse_entry(cursor, context, &LOCATION_NAMES, &sorted, &older, &mut fields)?;
        let [file_name_id, function_name_id, line, end_line, column, end_column] = fields;
        tables.file_locations.push(FileLocation {
            file_name_id,
            function_name_id,
            line,
            end_line,
            column,
            end_column,
        });
    }
    cursor.expect(Token::Keyword(Keyword::StackFrames), "a location `N {...}`, or `StackFrames`")?;
    while cursor.token() == Token::Int {
        // Without a parent the text says 1: it shows one more than the number of the frame.
        let mut fields = [0, 1];
        parse_entry(cursor, context, &FRAME_NAMES, &FRAME_NAMES, &["file_location_id"], &mut fields)?;
        let [file_location_id, parent] = fields;
        tables.stack_frames.push(StackFrame { file_location_id, parent_frame_id: parent.wrapping_sub(1) });
    }
    Ok(tables)
}

/// Takes `1 "a" 2 "b"`; the numbers mean nothing.
fn parse_names(cursor: &mut Cursor<'_>, context: &mut ValueContext<'_>) -> ParseResult<Vec<Symbol>> {
    let mut names = Vec::new();
    while cursor.eat(Token::Int) {
        let name = cursor.string()?;
        names.push(context.module.strings_mut().intern(&name));
    }
    Ok(names)
}

/// Takes `1 {line=10 column=3}` into `fields`, which are those of `names`. In strict reading `required` must be
/// there, otherwise `required_leniently`.
fn parse_entry(
    cursor: &mut Cursor<'_>,
    context: &mut ValueContext<'_>,
    names: &[&str],
    required: &[&str],
    required_leniently: &[&str],
    fields: &mut [i32],
) -> ParseResult<()> {
    let what = "a field of the table";
    cursor.bump();
    let span = cursor.span();
    let given: Given = parse_sub_attributes(
        cursor,
        what,
        names,
        |cursor, index| {
            fields[index] = parse_int32(cursor)?;
            Ok(())
        },
        |cursor| Err(unknown_name(cursor.word(), cursor.span(), what, names)),
    )?;
    let malformed = |mut error: Box<Diagnostic>| {
        error.code = Code::BadStackFrames;
        error
    };
    match given.require(names, required) {
        Err(error) if context.dialect == Dialect::Lenient => {
            given.require(names, required_leniently).map_err(malformed)?;
            let message = format!("{}, as in the tables of older XLA versions", error.message);
            context.warnings.push(Diagnostic::new(Code::Dialect, span, message).warning());
            Ok(())
        }
        result => result.map_err(malformed),
    }
}

/// What became of a frame of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Unknown,
    /// On the chain that is being followed.
    Visiting,
    /// It, or one that called it, has a location that doesn't exist; or the chain of its callers has no end.
    Bad,
    Kept(i32),
}

/// The entries of a table of ids with their ids, each once.
struct Numbering<T> {
    entries: Vec<T>,
    ids: HashMap<T, i32, foldhash::fast::FixedState>,
}

impl<T: Copy + Hash + Eq> Numbering<T> {
    fn new() -> Self {
        Self { entries: Vec::new(), ids: HashMap::with_hasher(crate::ir::HASHER) }
    }

    /// The id of `entry`, which is added if it is new.
    fn id(&mut self, entry: T) -> i32 {
        match self.ids.entry(entry) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(place) => {
                self.entries.push(entry);
                *place.insert(self.entries.len() as i32)
            }
        }
    }
}

/// Makes new tables of the frames that are needed, numbered in the order they are needed, callers first.
struct Rebuilder<'t> {
    old: &'t StackFrameIndex,
    fates: Vec<Fate>,
    file_names: Numbering<Symbol>,
    function_names: Numbering<Symbol>,
    file_locations: Numbering<FileLocation>,
    stack_frames: Numbering<StackFrame>,
    /// The frames being followed, called ones first. A field only to keep its memory.
    chain: Vec<i32>,
}

impl<'t> Rebuilder<'t> {
    fn new(old: &'t StackFrameIndex) -> Self {
        Self {
            old,
            fates: vec![Fate::Unknown; old.stack_frames.len()],
            file_names: Numbering::new(),
            function_names: Numbering::new(),
            file_locations: Numbering::new(),
            stack_frames: Numbering::new(),
            chain: Vec::new(),
        }
    }

    /// Numbers the frames that are needed in the order they have now, callers first, so that reading a print
    /// changes nothing: the instructions of a print are in another order than those it was made of.
    fn keep_order(&mut self, module: &Module) {
        let mut needed: Vec<i32> =
            (0..module.metadata.len()).map(|index| module.metadata.get(index).stack_frame_id).collect();
        needed.sort_unstable();
        needed.dedup();
        for id in needed {
            if id != 0 {
                self.frame(id);
            }
        }
    }

    /// The new id of the frame that the text calls `id`; 0 if it is no good.
    fn frame(&mut self, id: i32) -> i32 {
        self.chain.clear();
        let mut next = id;
        // The frame that calls all of the chain: none, one whose fate is known, or the chain itself.
        let mut caller = loop {
            if next == 0 {
                break Fate::Kept(0);
            }
            let Some(frame) = table_entry(&self.old.stack_frames, next) else { break Fate::Bad };
            let fate = &mut self.fates[next as usize - 1];
            match *fate {
                Fate::Unknown => *fate = Fate::Visiting,
                Fate::Visiting => break Fate::Bad,
                known => break known,
            }
            self.chain.push(next);
            next = frame.parent_frame_id;
        };
        while let Some(id) = self.chain.pop() {
            if let Fate::Kept(parent) = caller {
                caller = self.add(id, parent).map_or(Fate::Bad, Fate::Kept);
            }
            self.fates[id as usize - 1] = caller;
        }
        match caller {
            Fate::Kept(new) => new,
            _ => 0,
        }
    }

    /// Adds the frame `id` of the text below the new frame `parent`.
    fn add(&mut self, id: i32, parent_frame_id: i32) -> Option<i32> {
        let frame = table_entry(&self.old.stack_frames, id)?;
        let location = table_entry(&self.old.file_locations, frame.file_location_id)?;
        let file_name = table_entry(&self.old.file_names, location.file_name_id)?;
        let function_name = table_entry(&self.old.function_names, location.function_name_id)?;
        let location = FileLocation {
            file_name_id: self.file_names.id(file_name),
            function_name_id: self.function_names.id(function_name),
            ..location
        };
        let file_location_id = self.file_locations.id(location);
        Some(self.stack_frames.id(StackFrame { file_location_id, parent_frame_id }))
    }
}

/// Makes the stack-frame tables of the module of `tables`: only what the metadata of its instructions needs, each
/// entry once, numbered in the order of first need, or in the order of `tables` if prints must read back. The metadata gets the new ids; ids that lead nowhere become 0.
pub(crate) fn rebuild_stack_frames(module: &mut Module, tables: &StackFrameIndex) {
    let mut rebuilder = Rebuilder::new(tables);
    if module.reads_back {
        rebuilder.keep_order(module);
    }
    let order: Vec<InstructionId> = module
        .computations()
        .iter()
        .flat_map(|&id| module.computation(id).instructions.iter().copied())
        .collect();
    // What became of the metadata before, so that equal ones are looked at once.
    let mut renewed = vec![None; module.metadata.len()];
    for instruction in order {
        let Some(id) = module.instruction(instruction).metadata else { continue };
        let old_id = module.metadata(id).stack_frame_id;
        if old_id == 0 {
            continue;
        }
        let new = match renewed[id.index()] {
            Some(new) => new,
            None => {
                let new_id = rebuilder.frame(old_id);
                let new = if new_id == old_id {
                    id
                } else {
                    let mut metadata = module.metadata(id).clone();
                    metadata.stack_frame_id = new_id;
                    module.intern_metadata(metadata)
                };
                renewed[id.index()] = Some(new);
                new
            }
        };
        module.instructions[instruction.index()].metadata = Some(new);
    }
    module.header.stack_frames = StackFrameIndex {
        file_names: rebuilder.file_names.entries,
        function_names: rebuilder.function_names.entries,
        file_locations: rebuilder.file_locations.entries,
        stack_frames: rebuilder.stack_frames.entries,
    };
}

#[cfg(test)]
mod tests;
