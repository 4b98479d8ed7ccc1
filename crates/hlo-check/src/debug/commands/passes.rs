//! Commands that run passes.

use std::sync::Arc;

use hlo_passes::registry::{self, Status};

use super::needs;
use crate::debug::asked::Asked;
use crate::debug::attempt::Attempts;
use crate::debug::difference;
use crate::debug::engine::{self, Request};
use crate::debug::remarks;
use crate::debug::session::Session;
use crate::debug::step as steps;
use crate::debug::style::{counted, first_lines};
use crate::debug::why as reasons;

/// How many remarks are shown after passes.
const SHOWN_REMARKS: usize = 10;

/// How many lines of a difference are shown after passes.
const SHOWN_LINES: usize = 40;

pub(super) fn pass(session: &mut Session, args: &str) -> Result<String, String> {
    if args.is_empty() {
        return Err(needs("pass"));
    }
    engine::single(args, &session.world).map_err(|failure| failure.text())?;
    run(session, args, false)
}

pub(super) fn passes(session: &mut Session, args: &str) -> Result<String, String> {
    if args.is_empty() {
        let width = registry::all().map(|info| info.key.len()).max().unwrap_or(0);
        let runs = registry::all().filter(|info| !matches!(info.status, Status::Unimplemented(_)));
        return Ok(runs.map(|info| format!("  {:<width$} {}\n", info.key, info.doc)).collect());
    }
    run(session, args, true)
}

fn run(session: &mut Session, list: &str, with_pass: bool) -> Result<String, String> {
    let base = session.number()?;
    let request = Request::of(list);
    let run = session.probe(base, &request).map_err(|failure| failure.text())?;
    let mut out: String = run.log.iter().map(|line| format!("  log: {line}\n")).collect();
    out.push_str(&remarks::lines(run.applied(), with_pass, SHOWN_REMARKS, ""));
    let missed = counted(run.missed_count(), "instruction");
    let missed = (run.missed_count() > 0 && !with_pass).then_some(missed);
    if !run.changed {
        session.note_idle(base, list);
        let reasons = missed.map_or_else(String::new, |missed| format!(", and says why of {missed}"));
        let why = if with_pass { String::new() } else { format!(": `why {list}`") };
        return Ok(format!("{list} changes nothing{reasons}{why}\n{out}"));
    }
    if let Some(missed) = missed {
        out.push_str(&format!("  {missed} missed: `why {list}` says why\n"));
    }
    let (before, after) = run.instructions;
    let rewrites = match run.rewrites {
        0 => String::new(),
        count => format!("{}, ", counted(count as usize, "rewrite")),
    };
    let previous = Arc::clone(&session.current()?.module);
    let diff = difference::between(&previous, &run.module, session.world.color);
    out.push_str(&first_lines(&diff, SHOWN_LINES, "`diff` shows all"));
    let number = session.keep(base, request, None, run.module)?;
    Ok(format!("state {number}: {list}: {rewrites}{before} -> {after} instructions\n{out}"))
}

pub(super) fn step(session: &mut Session, args: &str) -> Result<String, String> {
    if args.is_empty() {
        return Err(needs("step"));
    }
    steps::begin(session, args)
}

pub(super) fn next(session: &mut Session, _args: &str) -> Result<String, String> {
    steps::next(session)
}

pub(super) fn finish(session: &mut Session, _args: &str) -> Result<String, String> {
    steps::finish(session)
}

pub(super) fn attempt(session: &mut Session, _args: &str) -> Result<String, String> {
    let state = session.current()?;
    let attempts = Attempts::of(&state.module, state.source.is_valid(), &session.world);
    Ok(attempts.text(session.world.color, Asked::Session))
}

pub(super) fn why(session: &mut Session, args: &str) -> Result<String, String> {
    let (passes, name) = engine::split_name(args);
    if passes.is_empty() {
        return Err(needs("why"));
    }
    let info = engine::single(passes, &session.world).map_err(|failure| failure.text())?;
    let base = session.number()?;
    let state = session.current()?;
    let instruction = match name {
        "" => None,
        name => Some(session.instruction(name)?),
    };
    let request = Request { about: instruction, ..Request::of(passes) };
    let run = session.probe(base, &request).map_err(|failure| failure.text())?;
    Ok(reasons::explain(info, &state.module, &state.source, &run, instruction))
}
