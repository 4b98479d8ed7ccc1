//! Commands that read and write files.

use super::needs;
use crate::debug::session::Session;
use crate::debug::style::counted;
use crate::debug::test_file;
use crate::opt::crash::lossless;

pub(super) fn load(session: &mut Session, args: &str) -> Result<String, String> {
    if args.is_empty() {
        return Err(needs("load"));
    }
    let bytes = session.world.read_file(args).map_err(|error| format!("can't read {args}: {error}"))?;
    read(session, args, Some(args), &bytes)
}

/// Reads a text and says what there is to say of it.
pub(crate) fn read(
    session: &mut Session,
    name: &str,
    file: Option<&str>,
    bytes: &[u8],
) -> Result<String, String> {
    let number = session.read(name, file, bytes)?;
    let state = session.state(number)?;
    let source = &state.source;
    let mut out = source.repairs_text();
    for warning in &source.warnings {
        out.push_str(&source.render(warning, session.world.color));
    }
    out.push_str(&source.violations_text(session.world.color));
    if !source.is_valid() {
        out.push_str("the module is invalid as it is, so passes aren't held to leave a valid one\n");
    }
    let name = String::from_utf8_lossy(state.module.strings().get(state.module.name)).into_owned();
    let computations = counted(state.module.computations().len(), "computation");
    let instructions = counted(state.module.instruction_count(), "instruction");
    out.push_str(&format!("state {number}: module {name}, {computations}, {instructions}\n"));
    Ok(out)
}

pub(super) fn save(session: &mut Session, args: &str) -> Result<String, String> {
    if args.is_empty() {
        return Err(needs("save"));
    }
    session.world.write(args, &lossless(&session.current()?.module))?;
    Ok(format!("wrote {args}\n"))
}

pub(super) fn save_test(session: &mut Session, args: &str) -> Result<String, String> {
    if args.is_empty() {
        return Err(needs("save-test"));
    }
    test_file::save(session, args)
}

pub(super) fn command(session: &mut Session, _args: &str) -> Result<String, String> {
    let number = session.number()?;
    let root = session.root_of(number)?;
    let source = &session.state(root)?.source;
    match &source.file {
        Some(file) => Ok(format!("{}\n", session.command(number, file, &[])?)),
        None => {
            let command = session.command(number, "input.hlo", &[])?;
            Ok(format!(
                "{command}\n(the input is in no file as it was read: `goto {root}`, `save input.hlo`)\n"
            ))
        }
    }
}
