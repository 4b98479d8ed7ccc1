//! A pass, one rewrite at a time: the fuel of a run is how many rewrites it may make.

use hlo_text::Module;

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
    let info = engine::single(passes).map_err(|failure| failure.text())?;
    let base = session.number()?;
    let all = session.probe(base, &Request::of(passes)).map_err(|failure| failure.text())?;
    if all.rewrites == 0 {
        let key = info.key;
        return Ok(if all.changed {
            format!("{key} counts no rewrites here, but changes the module: `pass {passes}`\n")
        } else {
            format!("{key} has nothing to rewrite here: `why {key}`\n")
        });
    }
    advance(session, base, passes, 1, Step { total: all.rewrites, applied: 0 })
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
/// No pass is gone through, or it fails.
pub(crate) fn finish(session: &mut Session) -> Result<String, String> {
    let (base, passes, done, step) = stepping(session)?;
    let before = std::sync::Arc::clone(&session.current()?.module);
    let request = Request::of(passes.as_str());
    let run = session.probe(base, &request).map_err(|failure| failure.text())?;
    let left = counted(run.rewrites.saturating_sub(done) as usize, "more rewrite");
    let mut out = remarks::lines(run.applied().skip(step.applied), false, SHOWN_REMARKS, "");
    let diff = difference::between(&before, &run.module, session.world.color);
    out.push_str(&first_lines(&diff, SHOWN_LINES, "`diff` shows all"));
    let number = session.keep(base, request, None, run.module)?;
    Ok(format!("state {number}: {passes}, {left}\n{out}"))
}

/// The base, the pass and the count of rewrites that led to the current state.
fn stepping(session: &Session) -> Result<(usize, String, u64, Step), String> {
    match &session.current()?.origin {
        Origin::Ran { base, request: Request { passes, fuel: Some(done) }, step: Some(step) } => {
            Ok((*base, passes.clone(), *done, *step))
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
    let request = Request { passes: passes.to_owned(), fuel: Some(count) };
    let run = session.probe(base, &request).map_err(|failure| failure.text())?;
    let shown = describe(&session.current()?.module, &run, before, count, session.world.color);
    let step = Step { total: before.total, applied: run.applied().count() };
    let number = session.keep(base, request, Some(step), run.module)?;
    let rest = if count < before.total { "" } else { " (the last)" };
    Ok(format!("state {number}: {passes}, rewrite {count} of {}{rest}\n{shown}", before.total))
}

/// What one more rewrite did.
fn describe(module: &Module, run: &Run, before: Step, count: u64, color: bool) -> String {
    let mut out = remarks::lines(run.applied().skip(before.applied), false, SHOWN_REMARKS, "");
    let diff = difference::between(module, &run.module, color);
    if diff.is_empty() {
        out.push_str(&format!("rewrite {count} changes nothing that is printed\n"));
    }
    out.push_str(&first_lines(&diff, SHOWN_LINES, "`diff` shows all"));
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
) -> Result<String, Failure> {
    let info = engine::single(passes)?;
    let whole = engine::run(module, &Request::of(passes), verifies, world)?;
    if whole.rewrites == 0 {
        let how = if whole.changed {
            "counts no rewrites here, but changes the module"
        } else {
            "has nothing to rewrite here"
        };
        return Ok(format!("{} {how}\n", info.key));
    }
    let mut out = String::new();
    let mut step = Step { total: whole.rewrites, applied: 0 };
    let mut previous = module.clone();
    for count in 1..=whole.rewrites.min(limit) {
        let request = Request { passes: passes.to_owned(), fuel: Some(count) };
        let run = engine::run(module, &request, verifies, world)?;
        let heading = format!("{passes}, rewrite {count} of {}", step.total);
        out.push_str(&format!("{}\n", paint(world.color, Tint::Strong, &heading)));
        out.push_str(&describe(&previous, &run, step, count, world.color));
        step.applied = run.applied().count();
        previous = run.module;
    }
    if whole.rewrites > limit {
        let left = counted((whole.rewrites - limit) as usize, "more rewrite");
        out.push_str(&format!("... and {left} (--limit=N)\n"));
    }
    Ok(out)
}
