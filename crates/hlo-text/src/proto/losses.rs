//! What a form can't carry: found by carrying it there and back.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::fault::Read;
use super::schema::{hlo_computation_proto as c, hlo_instruction_proto as i, hlo_module_proto as m};
use super::table::{Kind, Message};
use super::text_format::parse_message;
use super::wire::{Field, Fields, WireType};
use super::{Container, ReadOptions, Source, read, to_text, write};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::ir::{AttrKey, HASHER, HeaderKey, Module};
use crate::{ParseOptions, PrintOptions, parse_module};

fn warning(message: String) -> Diagnostic {
    Diagnostic::new(Code::ProtoLoss, Span::default(), message).warning()
}

/// What of the protocol buffer `source` the text of `module`, which was read from it, doesn't carry. Ids don't count:
/// texts have names in their place.
pub fn lost_in_text(module: &Module, source: &Source<'_>, print: &PrintOptions) -> Vec<Diagnostic> {
    let text = module.to_text(print);
    let parsed =
        match parse_module(&text, &ParseOptions { dialect: source.dialect, ..ParseOptions::default() }) {
            Ok(parsed) => parsed,
            Err(errors) => {
                let first = errors.first().map_or("", |error| error.message.as_str());
                return vec![warning(format!("the text can't be read back: {first}"))];
            }
        };
    let written = match write(&parsed.module, None) {
        Ok(written) => written,
        Err(error) => return vec![*error],
    };
    let mut losses = Losses::default();
    let original = &source.bytes[source.module.clone()];
    if losses.module(original, &written.bytes).is_err() {
        return vec![warning("the protocol buffer is malformed".to_owned())];
    }
    let mut found = losses.into_diagnostics("text");
    found.extend(lost_container(source));
    found
}

/// What stands beside the module in `source`, and is left behind when only the module is written.
pub fn lost_container(source: &Source<'_>) -> Vec<Diagnostic> {
    let (outer, message) = match source.container {
        Container::Module => return Vec::new(),
        container => (&source.bytes, container.message()),
    };
    let beside = Fields::new(outer).map_while(Result::ok).filter(|field| field.number != 1);
    let mut names: Vec<String> = beside
        .map(|field| match message.field(field.number) {
            Some(known) => known.name.to_owned(),
            None => field.number.to_string(),
        })
        .collect();
    names.dedup();
    names
        .iter()
        .map(|name| {
            warning(format!("`{name}` of {} stands beside the module and is not carried", message.name))
        })
        .collect()
}

/// What of the message in `bytes` protobuf's text format doesn't carry, such as the payloads of NaNs.
pub fn lost_in_text_format(bytes: &[u8], container: Container) -> Vec<Diagnostic> {
    let message = container.message();
    let back = to_text(bytes, container).ok().and_then(|text| parse_message(&text, message).ok());
    let Some(back) = back else {
        return vec![warning("protobuf's text format can't be read back".to_owned())];
    };
    let mut losses = Losses::default();
    if losses.message(bytes, &back, message).is_err() {
        return vec![warning("the protocol buffer is malformed".to_owned())];
    }
    losses.into_diagnostics("protobuf's text format")
}

/// What of `module` no field of a protocol buffer is for. Nothing is written to find that out.
pub fn without_field(module: &Module) -> Vec<Diagnostic> {
    let header = &module.header;
    let keys = [
        (HeaderKey::AliasPassthroughParams, header.alias_passthrough_params),
        (
            HeaderKey::AllowSpmdShardingPropagationToParameters,
            header.allow_spmd_sharding_propagation_to_parameters.contains(&true),
        ),
        (
            HeaderKey::AllowSpmdShardingPropagationToOutput,
            header.allow_spmd_sharding_propagation_to_output.contains(&true),
        ),
        (HeaderKey::ReplicaCount, header.replica_count != 1),
        (HeaderKey::NumPartitions, header.num_partitions != 1),
    ];
    let mut found: Vec<Diagnostic> = keys
        .iter()
        .filter(|key| key.1)
        .map(|key| warning(format!("HloModuleProto has no field for `{}` of the module", key.0.name())))
        .collect();
    for &text in &header.unknown {
        let text = crate::diagnostic::shorten(&String::from_utf8_lossy(module.strings().get(text)));
        found.push(warning(format!("HloModuleProto has no field for `{text}` of the module")));
    }
    let mut unknown = 0;
    for &computation in module.computations() {
        for id in module.live_instructions(computation) {
            unknown += module.attributes(id).iter().filter(|attr| attr.key == AttrKey::Unknown).count();
        }
    }
    if unknown > 0 {
        let message =
            format!("there are no fields for {unknown} attributes that are kept as they were written");
        found.push(warning(message));
    }
    found
}

/// What of `module` a protocol buffer doesn't carry: what [`without_field`] gives, or else what is found by writing it.
pub fn lost_in_proto(module: &Module) -> Vec<Diagnostic> {
    let found = without_field(module);
    if !found.is_empty() {
        return found;
    }
    // What is not known to be lost is found by comparing the texts.
    let dialect = if module.reads_back { crate::Dialect::Lenient } else { crate::Dialect::Strict };
    let bytes = match write(module, None) {
        Ok(written) => written.bytes,
        Err(error) => return vec![*error],
    };
    let options = ReadOptions { dialect, encoding: Some(super::Encoding::Binary) };
    let print = PrintOptions { print_large_constants: true, ..PrintOptions::default() };
    match read(&bytes, &options) {
        Err(rejected) => rejected.diagnostics,
        Ok(back) => {
            let (before, after) = (module.to_text(&print), back.module.to_text(&print));
            let differs = before.lines().zip(after.lines()).find(|(before, after)| before != after);
            differs
                .map(|(line, _)| warning(format!("not all of this is carried: {}", shorten_line(line))))
                .into_iter()
                .collect()
        }
    }
}

fn shorten_line(line: &str) -> String {
    const SHOWN: usize = 120;
    let line = line.trim();
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

/// How often a field is lost.
struct Loss {
    count: usize,
    first: String,
}

impl Loss {
    fn diagnostic(&self, form: &str, path: &str) -> Diagnostic {
        let place =
            if self.first.is_empty() { String::new() } else { format!(", first in `{}`", self.first) };
        let times = if self.count == 1 { String::new() } else { format!(" ({} times{place})", self.count) };
        let times =
            if self.count == 1 && !place.is_empty() { format!(" (in `{}`)", self.first) } else { times };
        warning(format!("{form} doesn't carry `{path}`{times}"))
    }
}

/// Fields whose numbers are given anew with every text.
const IDS: &[(&str, u32)] = &[
    ("HloModuleProto", m::ENTRY_COMPUTATION_ID),
    ("HloModuleProto", m::SCHEDULE),
    ("HloComputationProto", c::ID),
    ("HloComputationProto", c::ROOT_ID),
    ("HloInstructionProto", i::ID),
    ("HloInstructionProto", i::OPERAND_IDS),
    ("HloInstructionProto", i::CONTROL_PREDECESSOR_IDS),
    ("HloInstructionProto", i::CALLED_COMPUTATION_IDS),
];

#[derive(Default)]
struct Losses {
    /// By path, without places in lists.
    found: BTreeMap<String, Loss>,
    path: Vec<String>,
    /// The instruction being looked at.
    place: String,
}

impl Losses {
    fn module(&mut self, original: &[u8], other: &[u8]) -> Read<()> {
        self.message(original, other, &m::MESSAGE)
    }

    fn into_diagnostics(self, form: &str) -> Vec<Diagnostic> {
        self.found.into_iter().map(|(path, loss)| loss.diagnostic(form, &path)).collect()
    }

    fn note(&mut self, name: String) {
        self.path.push(name);
        let path = self.path.join(".");
        self.path.pop();
        let place = &self.place;
        let loss = self.found.entry(path).or_insert_with(|| Loss { count: 0, first: place.clone() });
        loss.count += 1;
    }

    /// Looks for what of `original` is not in `other`.
    fn message(&mut self, original: &[u8], other: &[u8], message: &'static Message) -> Read<()> {
        let fields = |bytes| Fields::new(bytes).collect::<Read<Vec<Field<'_>>>>();
        let (original, other) = (fields(original)?, fields(other)?);
        let mut numbers: Vec<u32> = original.iter().map(|field| field.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            if IDS.contains(&(message.name, number)) {
                continue;
            }
            let of = |fields: &[Field<'_>]| -> Vec<usize> {
                (0..fields.len()).filter(|&at| fields[at].number == number).collect()
            };
            let (mine, theirs) = (of(&original), of(&other));
            let Some(known) = message.field(number) else {
                mine.iter().for_each(|_| self.note(number.to_string()));
                continue;
            };
            let Some(inner) = known.message() else {
                if scalars(&mine, &original, known.kind) != scalars(&theirs, &other, known.kind) {
                    self.note(known.name.to_owned());
                }
                continue;
            };
            // Computations and instructions by their names, others by their places.
            let by_name: Option<HashMap<&[u8], usize, foldhash::fast::FixedState>> =
                matches!(inner.name, "HloComputationProto" | "HloInstructionProto").then(|| {
                    let mut names = HashMap::with_hasher(HASHER);
                    names.extend(theirs.iter().map(|&at| (name_of(other[at].bytes), at)));
                    names
                });
            self.path.push(known.name.to_owned());
            for (index, &at) in mine.iter().enumerate() {
                let mine = original[at].bytes;
                let found = match &by_name {
                    Some(names) => names.get(name_of(mine)).copied(),
                    None => theirs.get(index).copied(),
                };
                if inner.name == "HloInstructionProto" {
                    self.place = String::from_utf8_lossy(name_of(mine)).into_owned();
                }
                match found {
                    Some(found) => self.message(mine, other[found].bytes, inner)?,
                    None => self.message(mine, &[], inner)?,
                }
            }
            if inner.name == "HloComputationProto" {
                self.place.clear();
            }
            self.path.pop();
        }
        Ok(())
    }
}

/// The text in the first field of a computation or an instruction.
fn name_of(bytes: &[u8]) -> &[u8] {
    let name = Fields::new(bytes).map_while(Result::ok).find(|field| field.number == 1);
    name.map_or(&[], |field| field.bytes)
}

/// The values of a field that holds no messages, without zeros at the end: those are not written.
fn scalars<'b>(places: &[usize], fields: &[Field<'b>], kind: Kind) -> Vec<(u64, &'b [u8])> {
    let mut values = Vec::new();
    for field in places.iter().map(|&at| &fields[at]) {
        match (kind, field.wire_type) {
            (Kind::String | Kind::Bytes, _) => values.push((0, field.bytes)),
            (Kind::Float | Kind::Double, WireType::Bytes) => values.push((0, field.bytes)),
            (_, WireType::Bytes) => {
                // What is malformed differs from everything that isn't.
                if field.varints(|bits| values.push((bits, &[]))).is_err() {
                    values.push((0, field.bytes));
                }
            }
            _ => values.push((field.bits, &[])),
        }
    }
    while values.last().is_some_and(|value| value.0 == 0 && value.1.is_empty()) {
        values.pop();
    }
    values
}
