//! `cd`, `pushd`, `popd`, `export`, and the limits that a thread can't have.

use super::super::shell::exec::{ShellState, Stop, update_env};
use crate::tool::Output;

/// `cd DIR`: never fails; commands in a folder that isn't there do.
pub(super) fn cd(args: &[String], state: &mut ShellState) -> Result<Output, Stop> {
    let [dir] = args else {
        return Err(Stop::Refused("'cd' supports only one argument".to_owned()));
    };
    state.cwd = state.resolve(dir);
    Ok(Output::default())
}

/// `pushd DIR`: `cd` that remembers where it came from.
pub(super) fn pushd(args: &[String], state: &mut ShellState) -> Result<Output, Stop> {
    let [dir] = args else {
        return Err(Stop::Refused("'pushd' supports only one argument".to_owned()));
    };
    let target = state.resolve(dir);
    state.dirs.push(std::mem::replace(&mut state.cwd, target));
    Ok(Output::default())
}

/// `popd`: back to where the last `pushd` came from.
pub(super) fn popd(args: &[String], state: &mut ShellState) -> Result<Output, Stop> {
    if !args.is_empty() {
        return Err(Stop::Refused("'popd' does not support arguments".to_owned()));
    }
    state.cwd = state.dirs.pop().ok_or_else(|| Stop::Refused("popd: directory stack empty".to_owned()))?;
    Ok(Output::default())
}

/// `export A=b`: holds for later RUN lines too.
pub(super) fn export(args: &[String], state: &mut ShellState) -> Result<Output, Stop> {
    let [definition] = args else {
        return Err(Stop::Refused("'export' supports only one argument".to_owned()));
    };
    update_env(std::sync::Arc::make_mut(&mut state.env), std::iter::once(definition.as_str()));
    Ok(Output::default())
}

/// `umask`: a property of processes; tests run on threads.
pub(super) fn umask(_: &[String], _: &mut ShellState) -> Result<Output, Stop> {
    Err(Stop::Refused("'umask' is not supported: tests share one process".to_owned()))
}

/// `ulimit`: a property of processes; tests run on threads.
pub(super) fn ulimit(_: &[String], _: &mut ShellState) -> Result<Output, Stop> {
    Err(Stop::Refused("'ulimit' is not supported: tests share one process".to_owned()))
}
