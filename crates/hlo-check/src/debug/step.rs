//! A pass, one rewrite at a time: the fuel of a run is how many rewrites it may make.

use hlo_text::Module;

use super::asked::Asked;
use super::difference;
use super::engine::{self, Failure, Request, Run};
use super::remarks;
use super::session::{Origin, Session, Step};
use super::style::{Tint, counted, first_lines, paint};
use super::world::World;

/// How many lines of a difference are shown after a rewrite.
const SHOWN_LINES: usize = 40;

/// How many remarks are shown for one rewrite.
const SHOWN_REMARKS: usize = 5;

/// Begins to go through a pass: its first rewrite.
///
/// # Errors
/// There is no module, or the pass fails.
pub(crate) fn begin(session: &mut Session, passes: &str) -> Result<String, String> {
    let info = engine::single(passes, &session.world).map_err(|failure| failure.text())?;
    let base = session.number()?;
    let all = session.probe(base, &Request::of(passes)).map_err(|failure| failure.text())?;
    if all.rewrites == 0 {
        let key = info.key;
        if !all.changed {
            session.note_idle(base, passes);
        }
        return Ok(if all.changed {
            format!("{key} counts no rewrites here, but changes the module: `pass {passes}`\n")
        } else {
            format!("{key} has nothing to rewrite here: `why {key}`\n")
        });
    }
    advance(session, base, passes, 1, Step { total: all.rewrites, ..Step::default() })
}

/// The next rewrite of the pass whose rewrites led to the current state.
///
/// # Errors
/// None did, or there are no more.
pub(crate) fn next(session: &mut Session) -> Result<String, String> {
    let (base, passes, done, step) = stepping(session)?;
    if done >= step.total {
        return Err(format!("{passes} has no more rewrites: that was all {}", step.total));
    }
    advance(session, base, &passes, done + 1, step)
}

/// All rewrites that are left.
///
/// # Errors
/// No pass is gone through, it has no more rewrites, or it fails.
pub(crate) fn finish(session: &mut Session) -> Result<String, String> {
    let (base, passes, done, before) = stepping(session)?;
    if done >= before.total {
        return Err(format!("{passes} has no more rewrites: that was all {}", before.total));
    }
    let request = Request::first(passes.as_str(), before.total);
    let run = session.probe(base, &request).map_err(|failure| failure.text())?;
    let how = Asked::Session.difference(&passes, before.total);
    let shown = describe(&session.current()?.module, &run, before, &how, session.world.color);
    let counts = counts(session.current()?.module.instruction_count(), &run);
    let left = counted(before.total.saturating_sub(done) as usize, "more rewrite");
    let step = step_after(&run, before);
    let number = session.keep(base, request, Some(step), run.module)?;
    Ok(format!("state {number}: {passes}, {left}, {counts}\n{shown}"))
}

/// The base, the pass and the count of rewrites that led to the current state; before the first one, of that to come.
fn stepping(session: &Session) -> Result<(usize, String, u64, Step), String> {
    let number = session.number()?;
    if let Origin::Ran { base, request: Request { passes, fuel: Some(done), .. }, step: Some(step) } =
        &session.current()?.origin
    {
        return Ok((*base, passes.clone(), *done, *step));
    }
    // `undo` may have gone back over all rewrites.
    let next = session.after(number).map(|next| session.state(next)).transpose()?;
    match next.map(|state| &state.origin) {
        Some(Origin::Ran { base, request, step: Some(step) }) if *base == number => {
            Ok((number, request.passes.clone(), 0, Step { total: step.total, ..Step::default() }))
        }
        _ => Err("no pass is being gone through: `step PASS` begins".to_owned()),
    }
}

fn advance(
    session: &mut Session,
    base: usize,
    passes: &str,
    count: u64,
    before: Step,
) -> Result<String, String> {
    let request = Request::first(passes, count);
    let run = session.probe(base, &request).map_err(|failure| failure.text())?;
    let how = Asked::Session.difference(passes, count);
    let shown = describe(&session.current()?.module, &run, before, &how, session.world.color);
    let counts = counts(session.current()?.module.instruction_count(), &run);
    let step = step_after(&run, before);
    let number = session.keep(base, request, Some(step), run.module)?;
    let rest = if count < before.total { "" } else { " (the last)" };
    Ok(format!("state {number}: {passes}, rewrite {count} of {}{rest}, {counts}\n{shown}", before.total))
}

fn step_after(run: &Run, before: Step) -> Step {
    Step { total: before.total, applied: run.applied().count(), logged: run.log.len() }
}

/// How many instructions there were and are.
fn counts(before: usize, run: &Run) -> String {
    format!("{before} -> {} instructions", run.instructions.1)
}

/// What more rewrites did; `how` says what shows the whole difference.
fn describe(module: &Module, run: &Run, before: Step, how: &str, color: bool) -> String {
    let logged = run.log.iter().skip(before.logged);
    let mut out: String = logged.map(|line| format!("  log: {line}\n")).collect();
    out.push_str(&remarks::lines(run.applied().skip(before.applied), false, SHOWN_REMARKS, ""));
    let diff = difference::between(module, &run.module, color);
    if diff.is_empty() {
        out.push_str("nothing that is printed changes\n");
    }
    out.push_str(&first_lines(&diff, SHOWN_LINES, how));
    out
}

/// Every rewrite of a pass over `module`, up to `limit` of them.
///
/// # Errors
/// The pass fails.
pub(crate) fn all(
    module: &Module,
    passes: &str,
    limit: u64,
    verifies: bool,
    world: &World,
    asked: Asked<'_>,
) -> Result<String, Failure> {
    let info = engine::single(passes, world)?;
    let whole = engine::run(module, &Request::of(passes), verifies, world)?;
    if whole.rewrites == 0 {
        let how = if whole.changed {
            "counts no rewrites here, but changes the module".to_owned()
        } else {
            format!("has nothing to rewrite here: {}", asked.why(passes))
        };
        return Ok(format!("{} {how}\n", info.key));
    }
    let mut out = String::new();
    let mut step = Step { total: whole.rewrites, ..Step::default() };
    let mut previous = module.clone();
    for count in 1..=whole.rewrites.min(limit) {
        let request = Request::first(passes, count);
        let run = engine::run(module, &request, verifies, world)?;
        let counts = counts(previous.instruction_count(), &run);
        let heading = format!("{passes}, rewrite {count} of {}, {counts}", step.total);
        out.push_str(&format!("{}\n", paint(world.color, Tint::Strong, &heading)));
        out.push_str(&describe(&previous, &run, step, &asked.difference(passes, count), world.color));
        step = step_after(&run, step);
        previous = run.module;
    }
    if whole.rewrites > limit {
        let left = counted((whole.rewrites - limit) as usize, "more rewrite");
        out.push_str(&format!("... and {left} (--limit=N)\n"));
    }
    Ok(out)
}
