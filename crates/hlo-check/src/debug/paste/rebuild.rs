//! From the pieces of a text to a module: what is open is closed, and what is missing is put in its place.

use std::collections::{HashMap, HashSet};

use hlo_text::diagnostic::{Code, Diagnostic, Rejected, Span};
use hlo_text::ir::{AttrKey, AttrKind};
use hlo_text::{ParseOptions, parse_bytes};

use super::lines::Cleaned;
use super::outline::{Item, Kind, heading, outline};
use super::scan::{self, names, split_list};
use super::undefined::{complete, number_of};
use super::{Failed, Repair, Repaired, stand_in};

/// How often the parser is asked what is still wrong.
const MAX_ROUNDS: usize = 16;

/// How many faults are repaired in one round.
const MAX_ERRORS: usize = 1000;

/// What a computation without a heading is called.
const PASTED: &str = "pasted";

/// Attributes of the header that describe the entry computation: they can't be true of a part of it.
const OF_THE_ENTRY: &[&str] = &[
    "entry_computation_layout",
    "input_output_alias",
    "buffer_donor",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "frontend_attributes",
    "origin_recovery_table",
];

/// Faults that can come from operands and computations that aren't what they were. Others are the text's own.
const MAY_BE_OWED: &[Code] = &[
    Code::UndefinedComputation,
    Code::OperandShape,
    Code::ShapeInference,
    Code::BadAsync,
    Code::ShapeForm,
    Code::BadComputation,
];

/// A computation on its way back into a module.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// The number of its first line.
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) is_entry: bool,
    /// The line that opens it, as long as it is true.
    pub(super) heading: Option<String>,
    pub(super) instructions: Vec<Item>,
    /// Parameters that stand for what isn't in the text, as lines.
    pub(super) added: Vec<String>,
    /// Their names, and those of instructions that have become parameters.
    pub(super) made_up: HashSet<String>,
    /// The number of the next parameter.
    pub(super) next_parameter: usize,
    /// What is behind the brace that closes it.
    close: String,
    /// Whether it is not as it was.
    pub(super) is_changed: bool,
    /// Whether the text ends within it.
    is_cut: bool,
    /// The place of its root, the numbers of its parameters, and the names in it.
    root: Option<usize>,
    numbers: HashSet<usize>,
    names: HashSet<String>,
}

impl Part {
    fn push(&mut self, item: Item) {
        if let Some(parts) = item.parts() {
            if parts.is_root {
                self.root = Some(self.instructions.len());
            }
            if let Some(number) = number_of(&parts) {
                self.numbers.insert(number);
            }
            self.names.insert(parts.name.to_owned());
        }
        self.instructions.push(item);
    }

    /// Whether an instruction calls the computation it is in, which none can.
    fn calls_itself(&self) -> bool {
        let users = self.instructions.iter().filter_map(Item::parts);
        let attributes = users.flat_map(|user| user.attributes);
        attributes.flat_map(|attribute| names(attribute.value)).any(|name| name == self.name)
    }

    /// If `item` can't belong to this computation as well: how many of the instructions do.
    fn end_before(&self, item: &Item) -> Option<usize> {
        let parts = item.parts()?;
        if parts.is_root
            && let Some(root) = self.root
        {
            return Some(root + 1);
        }
        let is_repeated = number_of(&parts).is_some_and(|number| self.numbers.contains(&number))
            || (self.root.is_some() && self.names.contains(parts.name));
        is_repeated.then(|| self.root.map_or(self.instructions.len(), |root| root + 1))
    }
}

/// A text that is being put together again.
pub(super) struct Rebuild {
    header: Option<Item>,
    tables: Vec<Item>,
    stand_ins: Vec<String>,
    /// The names of the stand-ins.
    stood_in: HashSet<String>,
    pub(super) parts: Vec<Part>,
    pub(super) repairs: Vec<Repair>,
}

/// Makes a module of the lines that are left.
pub(super) fn rebuild(cleaned: &Cleaned, repairs: Vec<Repair>) -> Result<Repaired, Failed> {
    let before = repairs.len();
    let failed = match attempt(cleaned, repairs.clone(), false) {
        Ok(repaired) => return Ok(repaired),
        Err(failed) => failed,
    };
    // In a text that is whole otherwise, two roots are a mistake; in one that isn't, lines between them are missing.
    let is_damaged = failed.repairs.len() > before;
    if !is_damaged || failed.is_empty {
        return Err(failed);
    }
    attempt(cleaned, repairs, true).map_err(|_| failed)
}

/// Makes a module of the lines. With `splits`, a computation ends where another must have begun.
fn attempt(cleaned: &Cleaned, repairs: Vec<Repair>, splits: bool) -> Result<Repaired, Failed> {
    let mut build = Rebuild {
        header: None,
        tables: Vec::new(),
        stand_ins: Vec::new(),
        stood_in: HashSet::new(),
        parts: Vec::new(),
        repairs,
    };
    build.group(outline(&cleaned.lines), splits);
    if build.parts.is_empty() {
        return Err(build.nothing(cleaned));
    }
    complete(&mut build);
    build.add_stand_ins();
    build.choose_entry();
    build.trim_header();
    build.parse()
}

/// A piece of input in a message.
fn quoted(text: &str) -> String {
    format!("`{}`", hlo_text::diagnostic::shorten(text.trim()))
}

impl Rebuild {
    fn say(&mut self, line: usize, what: impl Into<String>) {
        self.repairs.push(Repair { line, last_line: line, what: what.into() });
    }

    /// Why there is nothing to work with.
    fn nothing(self, cleaned: &Cleaned) -> Failed {
        let text = cleaned.text();
        let end = text.lines().next().map_or(0, str::len);
        let diagnostic = Diagnostic::new(
            Code::NotHloText,
            Span::new(0, end),
            "there is no whole instruction in this text",
        )
        .help("add at least one: `y = f32[2] negate(f32[2] x)`; a module begins with `HloModule name`");
        Failed { text, repairs: self.repairs, diagnostics: vec![diagnostic], is_empty: true }
    }

    /// Sorts the pieces into computations.
    fn group(&mut self, items: Vec<Item>, splits: bool) {
        let mut open: Option<Part> = None;
        let last_line = items.iter().rev().find(|item| item.kind != Kind::Blank).map_or(0, |item| item.line);
        for item in items {
            let line = item.line;
            match item.kind {
                Kind::Blank => {}
                Kind::Header if self.header.is_none() => self.header = Some(item),
                Kind::Table if open.is_none() => self.tables.push(item),
                Kind::Open => {
                    if let Some(part) = open.take() {
                        let what = format!("`}}` added before it: `{}` was not closed", part.name);
                        self.say(line, what);
                        self.finish(part, true);
                    }
                    let Some(heading) = heading(&item.text) else { continue };
                    open = Some(Part {
                        line,
                        name: heading.name.to_owned(),
                        is_entry: heading.is_entry,
                        heading: Some(item.text.trim_end().to_owned()),
                        ..Part::default()
                    });
                }
                Kind::Instruction => {
                    let is_whole = item.parts().is_some_and(|parts| parts.is_whole);
                    if !is_whole && (line == last_line || self.is_cut(&item)) {
                        self.say(line, format!("left out, since it is cut off: {}", quoted(&item.text)));
                        if let Some(part) = &mut open {
                            part.is_changed = true;
                        }
                        continue;
                    }
                    if let Some(at) = open.as_ref().filter(|_| splits).and_then(|part| part.end_before(&item))
                        && let Some(mut part) = open.take()
                    {
                        // Lines between two computations are missing.
                        let rest = part.instructions.split_off(at);
                        let what =
                            format!("taken for the first line behind `{}`, whose end is missing", part.name);
                        let begin = rest.first().map_or(line, |item| item.line);
                        self.say(begin, what);
                        self.finish(part, true);
                        let name = self.free_name();
                        let mut next = Part { line: begin, name, is_changed: true, ..Part::default() };
                        rest.into_iter().for_each(|item| next.push(item));
                        open = Some(next);
                    }
                    if open.is_none() {
                        let name = self.free_name();
                        self.say(line, format!("put into a computation `{name}`, since nothing opens one"));
                        open = Some(Part { line, name, is_changed: true, ..Part::default() });
                    }
                    if let Some(part) = &mut open {
                        part.push(item);
                    }
                }
                Kind::Close => match open.take() {
                    Some(mut part) => {
                        part.close = item.text.trim().to_owned();
                        self.finish(part, false);
                    }
                    None => self.say(line, "left out: a brace that closes nothing"),
                },
                Kind::Header | Kind::Table | Kind::Other => {
                    self.say(
                        line,
                        format!("left out, since it isn't a whole line of HLO: {}", quoted(&item.text)),
                    );
                    if let Some(part) = &mut open {
                        part.is_changed = true;
                    }
                }
            }
        }
        if let Some(part) = open.take() {
            if part.heading.is_some() {
                self.say(last_line, format!("`}}` added behind it: the text ends within `{}`", part.name));
            }
            self.finish(Part { is_cut: true, ..part }, true);
        }
    }

    /// Whether an instruction that isn't whole was cut rather than mistyped: brackets or strings are open.
    fn is_cut(&self, item: &Item) -> bool {
        let text = item.text.trim_end();
        let Some(at) = text.find('(') else { return true };
        let open = text.get(at..).is_some_and(|rest| scan::close_of(rest).is_none());
        open || text.ends_with(['=', ','])
    }

    fn free_name(&self) -> String {
        let is_taken = |name: &str| self.parts.iter().any(|part| part.name == name);
        let numbered = (1..).map(|number| format!("{PASTED}.{number}"));
        let mut names = std::iter::once(PASTED.to_owned()).chain(numbered);
        names.find(|name| !is_taken(name)).unwrap_or_default()
    }

    fn finish(&mut self, mut part: Part, is_cut: bool) {
        if part.instructions.is_empty() {
            self.say(part.line, format!("`{}` left out: nothing is left of it", part.name));
            return;
        }
        if is_cut && part.heading.is_some() {
            part.is_changed = true;
        }
        if part.calls_itself() {
            let what = format!(
                "taken for the heading of a computation that isn't in the text: what follows calls `{}`",
                part.name
            );
            self.say(part.line, what);
            part.name = self.free_name();
            part.heading = None;
            part.is_changed = true;
        }
        self.parts.push(part);
    }

    /// Makes the computations that are called but not there, as far as their callers say what they are like.
    fn add_stand_ins(&mut self) {
        let is_called = |key: &str| {
            AttrKey::ALL.iter().any(|it| {
                it.info().name == key
                    && matches!(it.info().kind, AttrKind::Computation | AttrKind::Computations)
            })
        };
        let known: HashSet<&str> = self.parts.iter().map(|part| part.name.as_str()).collect();
        let mut made: Vec<(usize, String, String)> = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        for part in &self.parts {
            let mut shapes: HashMap<&str, &str> = HashMap::new();
            for line in &part.added {
                if let Some(parts) = scan::instruction(line) {
                    shapes.insert(parts.name, parts.shape);
                }
            }
            for item in &part.instructions {
                let Some(user) = item.parts() else { continue };
                shapes.insert(user.name, user.shape);
                for attribute in user.attributes.iter().filter(|attribute| is_called(attribute.key)) {
                    for name in names(attribute.value) {
                        if known.contains(name) || seen.contains(name) {
                            continue;
                        }
                        let operands: Vec<Option<String>> = user
                            .operands
                            .iter()
                            .map(|operand| {
                                let shape = match operand.shape {
                                    "" => shapes.get(operand.name).copied().unwrap_or_default(),
                                    shape => shape,
                                };
                                (!shape.is_empty()).then(|| shape.to_owned())
                            })
                            .collect();
                        if let Some(text) = stand_in::make(name, &user, attribute.key, &operands) {
                            seen.insert(name.to_owned());
                            made.push((item.line, name.to_owned(), text));
                        }
                    }
                }
            }
        }
        for (line, name, text) in made {
            let what = format!(
                "computation `{name}` isn't in the text: a stand-in of its shape is added, which calls `{}`",
                stand_in::TARGET
            );
            self.say(line, what);
            self.stand_ins.push(text);
            self.stood_in.insert(name);
        }
    }

    /// Without `ENTRY`, the last computation that no other calls is the entry computation.
    fn choose_entry(&mut self) {
        if self.parts.iter().any(|part| part.is_entry) {
            return;
        }
        let called: HashSet<String> = self
            .parts
            .iter()
            .flat_map(|part| &part.instructions)
            .filter_map(Item::parts)
            .flat_map(|user| {
                let values = user.attributes.iter().flat_map(|attribute| names(attribute.value));
                values.map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        let free = self.parts.iter().rposition(|part| !called.contains(&part.name));
        let last = self.parts.len().saturating_sub(1);
        let Some(part) = self.parts.get_mut(free.unwrap_or(last)) else { return };
        part.is_entry = true;
        // Its heading may be true all the same, but it has no `ENTRY`.
        part.heading = part.heading.take().map(|heading| format!("ENTRY {}", heading.trim_start()));
        let header_is_there = self.header.is_some();
        if header_is_there {
            part.is_changed = true;
        }
        let (line, name) = (part.line, part.name.clone());
        if self.parts.len() > 1 {
            self.say(line, format!("`{name}` is taken for the entry computation, since none says `ENTRY`"));
        }
    }

    /// Takes out of the header what is no longer true.
    fn trim_header(&mut self) {
        if self.header.is_none() {
            if !self.tables.is_empty() {
                self.tables.clear();
                self.say(0, "tables of files and frames left out: their header is missing");
            }
            return;
        }
        let entry_changed = self.parts.iter().any(|part| part.is_entry && part.is_changed);
        let Some(header) = &mut self.header else { return };
        let parts = split_list(&header.text);
        let is_cut = parts.iter().skip(1).any(|part| !part.contains('=') || !is_balanced(part));
        if !entry_changed && !is_cut {
            return;
        }
        let key = |part: &str| part.trim_start().split('=').next().unwrap_or_default().trim_end().to_owned();
        let (mut kept, mut dropped) = (Vec::new(), Vec::new());
        for (index, part) in parts.iter().enumerate() {
            let is_true = index == 0
                || (part.contains('=') && is_balanced(part) && !OF_THE_ENTRY.contains(&key(part).as_str()));
            if is_true {
                kept.push(part.trim());
            } else {
                dropped.push(format!("`{}`", key(part)));
            }
        }
        if dropped.is_empty() {
            return;
        }
        let (line, text) = (header.line, kept.join(", "));
        header.text = text;
        let what = format!(
            "left out of the header, since the entry computation isn't whole: {}",
            dropped.join(", ")
        );
        self.say(line, what);
    }

    /// The text, and where in it each instruction is: computation, instruction, end.
    fn text(&self) -> (String, Vec<(usize, usize, usize)>) {
        let mut text = String::new();
        let mut places = Vec::new();
        if let Some(header) = &self.header {
            text.push_str(header.text.trim_end());
            text.push_str("\n\n");
        }
        for table in &self.tables {
            text.push_str(table.text.trim_end());
            text.push_str("\n\n");
        }
        for stand_in in &self.stand_ins {
            text.push_str(stand_in);
            text.push('\n');
        }
        for (number, part) in self.parts.iter().enumerate() {
            match &part.heading {
                Some(heading) if !part.is_changed => text.push_str(heading),
                _ => {
                    let entry = if part.is_entry { "ENTRY " } else { "" };
                    let name = if part.name.is_empty() { PASTED } else { &part.name };
                    text.push_str(&format!("{entry}%{name} {{"));
                }
            }
            text.push('\n');
            for line in &part.added {
                text.push_str(line);
                text.push('\n');
            }
            for (index, item) in part.instructions.iter().enumerate() {
                text.push_str(item.text.trim_end());
                text.push('\n');
                places.push((number, index, text.len()));
            }
            text.push_str(if part.close.is_empty() { "}" } else { &part.close });
            text.push_str("\n\n");
        }
        (text, places)
    }

    /// Reads the text; instructions that can't be right because of what had to be made up become parameters as well.
    fn parse(mut self) -> Result<Repaired, Failed> {
        let options = ParseOptions { max_errors: MAX_ERRORS, ..ParseOptions::default() };
        for _ in 0..MAX_ROUNDS {
            let (text, places) = self.text();
            let rejected = match parse_bytes(text.as_bytes(), &options) {
                Ok(parsed) => return Ok(Repaired { text, repairs: self.repairs, parsed: Box::new(parsed) }),
                Err(Rejected { diagnostics, .. }) => diagnostics,
            };
            let tables_end = self.tables_end();
            let mut repaired = false;
            let mut seen = HashSet::new();
            for diagnostic in &rejected {
                let offset = diagnostic.place().span.start as usize;
                let at = places.partition_point(|&(.., end)| end <= offset);
                match places.get(at) {
                    Some(&(part, index, _)) if offset >= tables_end && seen.insert((part, index)) => {
                        repaired |= self.give_up(part, index, diagnostic)
                            || self.drop_cut(part, index)
                            || self.drop_heading(part, diagnostic);
                    }
                    _ => repaired |= self.drop_tables(diagnostic, offset < tables_end),
                }
            }
            if !repaired {
                return Err(self.failed(text, rejected));
            }
            self.trim_header();
        }
        let (text, _) = self.text();
        let rejected = match parse_bytes(text.as_bytes(), &ParseOptions::default()) {
            Ok(parsed) => return Ok(Repaired { text, repairs: self.repairs, parsed: Box::new(parsed) }),
            Err(rejected) => rejected.diagnostics,
        };
        Err(self.failed(text, rejected))
    }

    /// Where the tables end in the text.
    fn tables_end(&self) -> usize {
        let pieces = self.header.iter().chain(&self.tables);
        if self.tables.is_empty() { 0 } else { pieces.map(|item| item.text.trim_end().len() + 2).sum() }
    }

    fn failed(self, text: String, mut diagnostics: Vec<Diagnostic>) -> Failed {
        diagnostics.truncate(hlo_text::DEFAULT_MAX_ERRORS);
        for diagnostic in &mut diagnostics {
            if diagnostic.code == Code::UndefinedComputation && diagnostic.help.is_none() {
                diagnostic.help = Some("add the computation to what is pasted".to_owned());
            }
        }
        Failed { text, repairs: self.repairs, diagnostics, is_empty: false }
    }

    /// Leaves out tables that aren't whole; whether there were any.
    fn drop_tables(&mut self, diagnostic: &Diagnostic, is_in_tables: bool) -> bool {
        if (diagnostic.code != Code::BadStackFrames && !is_in_tables) || self.tables.is_empty() {
            return false;
        }
        self.tables.clear();
        self.say(0, "tables of files and frames left out: they aren't whole");
        true
    }

    /// Leaves out the last instruction of a text that ends within a computation; whether it was that.
    fn drop_cut(&mut self, part: usize, index: usize) -> bool {
        let Some(part) = self.parts.get_mut(part).filter(|part| part.is_cut) else { return false };
        if index == 0 || index + 1 != part.instructions.len() {
            return false;
        }
        // Only the last one can have been cut.
        part.is_cut = false;
        part.is_changed = true;
        let Some(item) = part.instructions.pop() else { return false };
        self.say(item.line, format!("left out, since it is cut off: {}", quoted(&item.text)));
        true
    }

    /// Forgets a signature that isn't true of a computation that isn't whole; whether there is one.
    fn drop_heading(&mut self, part: usize, diagnostic: &Diagnostic) -> bool {
        let is_damaged = !self.repairs.is_empty();
        let Some(part) = self.parts.get_mut(part) else { return false };
        // What XLA prints has a root.
        if diagnostic.code != Code::BadSignature || part.is_changed || !(is_damaged || part.root.is_none()) {
            return false;
        }
        part.is_changed = true;
        let (line, name) = (part.line, part.name.clone());
        self.say(line, format!("the signature of `{name}` is left out: {}", diagnostic.message));
        true
    }

    /// Makes a parameter of an instruction that can't be read, if that is owed to what was made up; whether it is.
    fn give_up(&mut self, part: usize, index: usize, diagnostic: &Diagnostic) -> bool {
        let stood_in = &self.stood_in;
        let Some(part) = self.parts.get_mut(part) else { return false };
        let Some(item) = part.instructions.get_mut(index) else { return false };
        let Some(parts) = scan::instruction(&item.text) else { return false };
        let leans_on = |name: &str| part.made_up.contains(name);
        let calls = parts.attributes.iter().flat_map(|attribute| names(attribute.value));
        let is_owed = parts.operands.iter().any(|operand| leans_on(operand.name))
            || calls.clone().any(|name| stood_in.contains(name))
            || diagnostic.code == Code::UndefinedComputation;
        if !is_owed
            || !MAY_BE_OWED.contains(&diagnostic.code)
            || parts.shape.is_empty()
            || parts.opcode == "parameter"
        {
            return false;
        }
        let root = if parts.is_root { "ROOT " } else { "" };
        let (name, shape, opcode) = (parts.name.to_owned(), parts.shape.to_owned(), parts.opcode.to_owned());
        item.text = format!("  {root}%{name} = {shape} parameter({})", part.next_parameter);
        let line = item.line;
        part.next_parameter += 1;
        part.is_changed = true;
        part.made_up.insert(name.clone());
        let what = format!("the {opcode} `{name}` becomes a parameter {shape}: {}", diagnostic.message);
        self.say(line, what);
        true
    }
}

/// Whether every bracket of `text` is closed.
fn is_balanced(text: &str) -> bool {
    match text.find(['(', '[', '{']) {
        None => true,
        Some(at) => {
            let Some(rest) = text.get(at..) else { return false };
            scan::close_of(rest).is_some_and(|end| rest.get(end..).is_some_and(is_balanced))
        }
    }
}
