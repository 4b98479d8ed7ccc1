//! Commands that go from state to state.

use super::needs;
use crate::debug::difference;
use crate::debug::session::{Origin, Session};
use crate::debug::style::{Tint, counted, paint};

/// What a state is, in words.
fn title(session: &Session, number: usize) -> Result<String, String> {
    let state = session.state(number)?;
    let what = match &state.origin {
        Origin::Read => format!("read {}", state.source.name),
        Origin::Ran { request, step, .. } => match (request.fuel, step) {
            (Some(count), Some(step)) => format!("{}, rewrite {count} of {}", request.passes, step.total),
            _ => request.passes.clone(),
        },
    };
    Ok(format!("{what} ({})", counted(state.module.instruction_count(), "instruction")))
}

fn arrived(session: &Session, number: usize) -> Result<String, String> {
    Ok(format!("state {number}: {}\n", title(session, number)?))
}

pub(super) fn undo(session: &mut Session, _args: &str) -> Result<String, String> {
    let number = session.undo()?;
    arrived(session, number)
}

pub(super) fn redo(session: &mut Session, _args: &str) -> Result<String, String> {
    let number = session.redo()?;
    arrived(session, number)
}

/// The number of a state.
fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is no number of a state: `history` shows them"))
}

pub(super) fn goto(session: &mut Session, args: &str) -> Result<String, String> {
    if args.is_empty() {
        return Err(needs("goto"));
    }
    let number = number(args)?;
    session.goto(number)?;
    arrived(session, number)
}

pub(super) fn history(session: &mut Session, _args: &str) -> Result<String, String> {
    let current = session.number()?;
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); session.states().len()];
    let mut pending = Vec::new();
    for (number, state) in session.states().iter().enumerate() {
        match state.parent.and_then(|parent| children.get_mut(parent)) {
            Some(siblings) => siblings.push(number),
            None => pending.push((number, 0)),
        }
    }
    pending.reverse();
    let mut out = String::new();
    while let Some((number, depth)) = pending.pop() {
        let mark = if number == current { '*' } else { ' ' };
        let line = format!("{mark} {}{number}: {}", "  ".repeat(depth), title(session, number)?);
        let line = if number == current { paint(session.world.color, Tint::Strong, &line) } else { line };
        out.push_str(&format!("{line}\n"));
        let below = children.get(number).map_or(&[][..], Vec::as_slice);
        // A single way on doesn't need to be indented: long sessions would leave the screen.
        let deeper = if below.len() > 1 { depth + 1 } else { depth };
        pending.extend(below.iter().rev().map(|&child| (child, deeper)));
    }
    Ok(out)
}

pub(super) fn diff(session: &mut Session, args: &str) -> Result<String, String> {
    let words: Vec<&str> = args.split_whitespace().collect();
    let current = session.number()?;
    let files = |message| format!("{message}; `hlo-check diff A B` compares files");
    let (a, b) = match words[..] {
        [] => {
            let before = session.current()?.parent;
            (before.ok_or("there is nothing before the first state: `diff A B`")?, current)
        }
        [a] => (number(a).map_err(files)?, current),
        [a, b] => (number(a).map_err(files)?, number(b).map_err(files)?),
        _ => return Err(needs("diff")),
    };
    let (before, after) = (&session.state(a)?.module, &session.state(b)?.module);
    let text = difference::in_full(before, after, session.world.color);
    if text.is_empty() {
        return Ok(format!("states {a} and {b} print the same\n"));
    }
    let heading = paint(session.world.color, Tint::Faint, &format!("state {a} -> state {b}"));
    Ok(format!("{heading}\n{text}"))
}
