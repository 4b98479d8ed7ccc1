//! Names that nothing in a computation defines: they become parameters.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use hlo_text::diagnostic::did_you_mean;

use super::Repair;
use super::outline::heading;
use super::rebuild::{Part, Rebuild};
use super::scan::{self, Parts, names, skip_blanks, split_list, split_name};
use super::shapes::{self, Guess, UNKNOWN, Use};

/// The largest number of parameters that are added where numbers are missing: more are a mistake.
const MAX_GAPS: usize = 10_000;

/// If more names are lost, the text was cut rather than mistyped, and nobody meant other names.
const MAX_SUGGESTIONS: usize = 10;

/// Shorter names are all like each other.
const MIN_SUGGESTED: usize = 3;

/// The parameters of a heading: names and shapes, by number.
fn signature(part: &Part) -> Vec<(String, String)> {
    let heading = part.heading.as_deref().and_then(heading);
    let list = heading.and_then(|heading| heading.parameters).unwrap_or_default();
    let parameter = |text: &str| {
        let (name, rest) = split_name(skip_blanks(text));
        let shape = skip_blanks(rest).strip_prefix(':')?;
        Some((name.to_owned(), skip_blanks(shape).trim_end().to_owned()))
    };
    split_list(list).into_iter().filter_map(parameter).collect()
}

/// The number of a parameter.
pub(super) fn number_of(parts: &Parts<'_>) -> Option<usize> {
    if parts.opcode != "parameter" {
        return None;
    }
    parts.inside.trim().parse().ok()
}

/// The shapes of the parameters of all computations.
fn all_parameters(build: &Rebuild) -> HashMap<(String, usize), String> {
    let mut all = HashMap::new();
    for part in &build.parts {
        for (number, (_, shape)) in signature(part).into_iter().enumerate() {
            all.insert((part.name.clone(), number), shape);
        }
        for item in &part.instructions {
            if let Some(parts) = item.parts()
                && let Some(number) = number_of(&parts)
            {
                all.insert((part.name.clone(), number), parts.shape.to_owned());
            }
        }
    }
    all
}

/// Gives every name that is used in a computation a definition there.
pub(super) fn complete(build: &mut Rebuild) {
    let parameters = all_parameters(build);
    let mut repairs = Vec::new();
    for part in &mut build.parts {
        drop_unstarted(part, &mut repairs);
        drop_lost_predecessors(part, &mut repairs);
        add_parameters(part, &parameters, &mut repairs);
    }
    build.repairs.extend(repairs);
}

/// The names an instruction may use: those defined before it.
fn undefined_in(part: &Part) -> Vec<HashSet<String>> {
    let mut defined: HashSet<&str> = HashSet::new();
    let mut lost = Vec::new();
    for item in &part.instructions {
        let mut missing = HashSet::new();
        if let Some(parts) = item.parts() {
            let used = parts.operands.iter().map(|operand| operand.name).filter(|name| !name.is_empty());
            missing.extend(used.filter(|name| !defined.contains(name)).map(str::to_owned));
        }
        lost.push(missing);
        if let Some((name, _)) = name_of(&item.text) {
            defined.insert(name);
        }
    }
    lost
}

fn name_of(text: &str) -> Option<(&str, &str)> {
    let text = skip_blanks(text);
    let text = text.strip_prefix("ROOT").filter(|rest| rest.starts_with(char::is_whitespace)).unwrap_or(text);
    Some(split_name(skip_blanks(text))).filter(|(name, _)| !name.is_empty())
}

/// The second half of an asynchronous operation without the first becomes a parameter: no parameter can be a start.
fn drop_unstarted(part: &mut Part, repairs: &mut Vec<Repair>) {
    let lost = undefined_in(part);
    let mut next = first_free(part);
    for (item, missing) in part.instructions.iter_mut().zip(lost) {
        let Some(parts) = scan::instruction(&item.text) else { continue };
        let is_end = parts.opcode.ends_with("-done") || parts.opcode == "async-update";
        if !is_end || missing.is_empty() || parts.shape.is_empty() {
            continue;
        }
        let root = if parts.is_root { "ROOT " } else { "" };
        let (name, shape) = (parts.name.to_owned(), parts.shape.to_owned());
        let what =
            format!("the {} `{name}` becomes a parameter {shape}: its start isn't in the text", parts.opcode);
        repairs.push(Repair::at(item.line, what));
        item.text = format!("  {root}%{name} = {shape} parameter({next})");
        next += 1;
        part.made_up.insert(name);
        part.is_changed = true;
    }
    part.next_parameter = next;
}

/// The number behind those of all parameters that are in the text or its heading.
fn first_free(part: &Part) -> usize {
    let numbers = part.instructions.iter().filter_map(|item| number_of(&item.parts()?));
    let last = numbers.filter(|&number| number < MAX_GAPS).max();
    last.map_or(0, |last| last + 1).max(signature(part).len())
}

/// Control predecessors that aren't there are forgotten.
fn drop_lost_predecessors(part: &mut Part, repairs: &mut Vec<Repair>) {
    let mut defined: HashSet<String> = HashSet::new();
    for item in &mut part.instructions {
        let Some(parts) = scan::instruction(&item.text) else { continue };
        if let Some(value) = parts.attribute("control-predecessors") {
            let (kept, lost): (Vec<&str>, Vec<&str>) =
                names(value).into_iter().partition(|name| defined.contains(*name));
            if !lost.is_empty() {
                let what = format!(
                    "control predecessors left out, since they aren't in the text: {}",
                    lost.join(", ")
                );
                let kept: Vec<String> = kept.iter().map(|name| format!("%{name}")).collect();
                let text = item.text.replacen(value, &format!("{{{}}}", kept.join(", ")), 1);
                repairs.push(Repair::at(item.line, what));
                item.text = text;
            }
        }
        if let Some((name, _)) = name_of(&item.text) {
            defined.insert(name.to_owned());
        }
    }
}

/// A name that nothing defines, and where it is used.
#[derive(Default)]
struct Lost {
    line: usize,
    /// Instruction and operand.
    uses: Vec<(usize, usize)>,
    /// The shape an operand states.
    stated: Option<String>,
}

/// Adds parameters for operands that nothing defines, and where numbers are missing.
fn add_parameters(part: &mut Part, all: &HashMap<(String, usize), String>, repairs: &mut Vec<Repair>) {
    let parsed: Vec<Option<Parts<'_>>> = part.instructions.iter().map(|item| item.parts()).collect();
    // By first use, so that numbers follow the text.
    let mut order: Vec<String> = Vec::new();
    let mut lost: HashMap<String, Lost> = HashMap::new();
    let mut known: HashMap<String, String> = HashMap::new();
    for (index, parts) in parsed.iter().enumerate() {
        let line = part.instructions.get(index).map_or(0, |item| item.line);
        let Some(parts) = parts else { continue };
        for (place, operand) in
            parts.operands.iter().enumerate().filter(|(_, operand)| !operand.name.is_empty())
        {
            if known.contains_key(operand.name) {
                continue;
            }
            let entry = lost.entry(operand.name.to_owned()).or_insert_with(|| {
                order.push(operand.name.to_owned());
                Lost { line, ..Lost::default() }
            });
            entry.uses.push((index, place));
            if entry.stated.is_none() && !operand.shape.is_empty() {
                entry.stated = Some(operand.shape.to_owned());
            }
        }
        if !lost.contains_key(parts.name) {
            known.insert(parts.name.to_owned(), parts.shape.to_owned());
        }
    }
    let signature = signature(part);
    let mut taken: BTreeSet<usize> = parsed.iter().flatten().filter_map(number_of).collect();
    let shapes = shapes_of(&order, &lost, &signature, &parsed, known.clone(), all);
    let defined: Vec<String> = parsed.iter().flatten().map(|parts| parts.name.to_owned()).collect();
    drop(parsed);
    let (mut fits, mut added, mut has_come) = (true, BTreeMap::new(), HashSet::new());
    // What the heading names has its number there.
    for (number, (name, shape)) in signature.iter().enumerate() {
        if taken.insert(number) {
            has_come.insert(name.as_str());
            added.insert(number, (name.clone(), shape.clone()));
            let (line, uses) = match lost.get(name) {
                Some(lost) => (lost.line, "is not defined"),
                None => (part.line, "is missing"),
            };
            repairs.push(Repair::at(
                line,
                format!("`{name}` {uses}: parameter {number} of the heading, {shape}, is added"),
            ));
        }
    }
    let mut numbers =
        (0..).filter(|number| !taken.contains(number)).take(order.len() + 1).collect::<Vec<_>>().into_iter();
    let guesses = order.len() <= MAX_SUGGESTIONS;
    for name in order.iter().filter(|name| !has_come.contains(name.as_str())) {
        let Some(number) = numbers.next() else { break };
        let Some((shape, how)) = shapes.get(name) else { continue };
        let line = lost.get(name).map_or(0, |lost| lost.line);
        let others = defined.iter().map(String::as_str).filter(|_| guesses && name.len() >= MIN_SUGGESTED);
        let close =
            did_you_mean(name, others).map_or_else(String::new, |close| format!("; did you mean `{close}`?"));
        repairs.push(Repair::at(
            line,
            format!("`{name}` is not defined: it becomes a parameter, {shape} ({how}){close}"),
        ));
        added.insert(number, (name.clone(), shape.clone()));
        fits = false;
    }
    // Numbers have to follow each other.
    let last = taken.iter().chain(added.keys()).copied().max();
    for number in 0..last.filter(|&last| last < MAX_GAPS).unwrap_or(0) {
        if !taken.contains(&number) && !added.contains_key(&number) {
            let name = format!("parameter.{number}.not.in.the.text");
            repairs.push(Repair::at(
                part.line,
                format!("parameter {number} is missing: `{name}`, {UNKNOWN}, is added"),
            ));
            added.insert(number, (name, UNKNOWN.to_owned()));
            fits = false;
        }
    }
    part.is_changed |= !fits;
    for (number, (name, shape)) in added {
        part.next_parameter = part.next_parameter.max(number + 1);
        part.added.push(format!("  %{name} = {shape} parameter({number})"));
        part.made_up.insert(name);
    }
}

/// The shape of every lost name, and how it is known.
fn shapes_of(
    order: &[String],
    lost: &HashMap<String, Lost>,
    signature: &[(String, String)],
    parsed: &[Option<Parts<'_>>],
    mut known: HashMap<String, String>,
    all: &HashMap<(String, usize), String>,
) -> HashMap<String, (String, &'static str)> {
    let mut found: HashMap<String, (String, &'static str)> = HashMap::new();
    for name in order {
        let named = signature.iter().find(|(known, _)| known == name).map(|(_, shape)| shape.clone());
        let stated = lost.get(name).and_then(|lost| lost.stated.clone());
        if let Some(shape) = named.or(stated) {
            known.insert(name.clone(), shape.clone());
            found.insert(name.clone(), (shape, "as its use says"));
        }
    }
    let parameter = |name: &str, number: usize| all.get(&(name.to_owned(), number)).cloned();
    // What is certain of one may make others certain; then what is likely.
    for accepts_guesses in [false, false, true] {
        for name in order {
            if found.contains_key(name) {
                continue;
            }
            let Some(lost) = lost.get(name) else { continue };
            let guess = from_uses(&lost.uses, parsed, &known, &parameter);
            if guess.is_certain || accepts_guesses {
                let how = if guess.is_certain { "as its use says" } else { "guessed from its use" };
                known.insert(name.clone(), guess.shape.clone());
                found.insert(name.clone(), (guess.shape, how));
            }
        }
    }
    found
}

/// How many uses of a name are asked for its shape.
const MAX_USES: usize = 64;

fn from_uses(
    uses: &[(usize, usize)],
    parsed: &[Option<Parts<'_>>],
    known: &HashMap<String, String>,
    parameter: &dyn Fn(&str, usize) -> Option<String>,
) -> Guess {
    let mut best: Option<Guess> = None;
    let mut elements = Vec::new();
    for &(instruction, _) in uses {
        let Some(Some(user)) = parsed.get(instruction) else { continue };
        if user.opcode == "get-tuple-element" && !user.shape.is_empty() {
            let place = user.attribute("index").and_then(|index| index.parse().ok()).unwrap_or(0);
            elements.push((place, user.shape.to_owned()));
        }
    }
    for &(instruction, index) in uses.iter().take(MAX_USES) {
        let Some(Some(user)) = parsed.get(instruction) else { continue };
        let operands: Vec<Option<String>> = user
            .operands
            .iter()
            .map(|operand| known.get(operand.name).filter(|it| !it.is_empty()).cloned())
            .collect();
        let guess = shapes::of_operand(&Use { user, index, operands: &operands, parameter });
        if guess.is_certain {
            return guess;
        }
        best.get_or_insert(guess);
    }
    if !elements.is_empty() {
        return Guess { shape: shapes::tuple_with(&elements), is_certain: false };
    }
    best.unwrap_or(Guess { shape: UNKNOWN.to_owned(), is_certain: false })
}
