//! Commands that look at a module.

use hlo_text::{PrintOptions, VerifyOptions, Violation, verify as check};

use super::needs;
use crate::debug::inspect;
use crate::debug::remarks::computation_called;
use crate::debug::session::Session;
use crate::stats::Stats;

pub(super) fn show(session: &mut Session, args: &str) -> Result<String, String> {
    let words: Vec<&str> = args.split_whitespace().collect();
    let (name, radius) = match words[..] {
        [name] => (name, 1),
        [name, radius] => {
            let number = radius.parse().ok().filter(|&radius| (1..=inspect::MAX_RADIUS).contains(&radius));
            let fault =
                || format!("the radius is a number from 1 to {}, not `{radius}`", inspect::MAX_RADIUS);
            (name, number.ok_or_else(fault)?)
        }
        _ => return Err(needs("show")),
    };
    let id = session.instruction(name)?;
    Ok(inspect::show(&session.current()?.module, id, radius, session.world.color))
}

pub(super) fn find(session: &mut Session, args: &str) -> Result<String, String> {
    if args.is_empty() {
        return Err(needs("find"));
    }
    inspect::find(&session.current()?.module, args)
}

pub(super) fn list(session: &mut Session, args: &str) -> Result<String, String> {
    inspect::list(&session.current()?.module, args)
}

pub(super) fn print(session: &mut Session, args: &str) -> Result<String, String> {
    let module = &session.current()?.module;
    let mut options = PrintOptions::default();
    let mut name = None;
    for word in args.split_whitespace() {
        if let Some((option, value)) = word.split_once('=') {
            options.set(option, value)?;
        } else if let Some(preset) = PrintOptions::preset(word) {
            options = preset;
        } else if let Some(other) = name.replace(word) {
            return Err(format!("`{other}` and `{word}` can't both be printed at once"));
        }
    }
    let Some(name) = name else { return Ok(module.to_text(&options)) };
    if let Some(id) = computation_called(module, name) {
        return Ok(format!("{}\n", module.print_computation(id, &options).trim_end()));
    }
    let id = session.instruction(name)?;
    Ok(format!("{}\n", module.print_instruction(id, &options).trim()))
}

pub(super) fn verify(session: &mut Session, _args: &str) -> Result<String, String> {
    let state = session.current()?;
    let violations = check(&state.module, &VerifyOptions::default());
    if violations.is_empty() {
        return Ok("the module is valid\n".to_owned());
    }
    let place = |violation: &Violation| {
        violation.instruction.map_or_else(String::new, |id| {
            format!("    {}\n", state.module.print_instruction(id, &PrintOptions::default()).trim())
        })
    };
    let line = |violation: &Violation| {
        let severity = if violation.is_error() { "error" } else { "warning" };
        format!("{severity}[{}]: {}\n{}", violation.code.as_str(), violation.message, place(violation))
    };
    Ok(violations.iter().map(line).collect())
}

pub(super) fn stats(session: &mut Session, _args: &str) -> Result<String, String> {
    Ok(Stats::of(&session.current()?.module).render())
}

pub(super) fn explain(_session: &mut Session, args: &str) -> Result<String, String> {
    if args.is_empty() {
        return Err(needs("explain"));
    }
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = crate::explain::run(args, &mut out, &mut err).map_err(|error| error.to_string())?;
    if status == 0 {
        return Ok(String::from_utf8_lossy(&out).into_owned());
    }
    Err(String::from_utf8_lossy(&err).trim().trim_start_matches("error: ").to_owned())
}
