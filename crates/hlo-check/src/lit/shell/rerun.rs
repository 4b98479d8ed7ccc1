//! Commands that repeat a part of a test outside of it, for people to copy from a log.

use std::path::Path;

use super::super::builtins;
use super::super::quote;
use super::super::toolbox::Toolbox;
use super::exec::{Context, ShellState};
use super::parser::{Command, Pipeline};
use super::redirect;

/// Built-ins that a POSIX system has as programs, with the same meaning for what tests do with them.
const EVERYWHERE: [&str; 12] =
    ["cat", "cp", "diff", "echo", "false", "ls", "printf", "sed", "sort", "touch", "true", ":"];

/// The pipeline for a POSIX shell; the command that repeats the whole test where the pipeline depends on what only
/// the test has (its environment, programs of lit's own, patterns for file names).
pub(super) fn command(pipeline: &Pipeline, context: &Context<'_>, state: &ShellState) -> String {
    in_shell(pipeline, context, state).unwrap_or_else(|| context.whole_test.to_owned())
}

fn in_shell(pipeline: &Pipeline, context: &Context<'_>, state: &ShellState) -> Option<String> {
    if !context.plain_environment {
        return None;
    }
    let mut commands = Vec::with_capacity(pipeline.commands.len());
    let mut needs_folder = false;
    for command in &pipeline.commands {
        commands.push(one(command, context.tools)?);
        needs_folder |= is_relative(command, &state.cwd);
    }
    let line = commands.join(" | ");
    if !needs_folder {
        return Some(line);
    }
    Some(format!("cd {} && {line}", quote::shell(&state.cwd.to_string_lossy())))
}

fn one(command: &Command, tools: &Toolbox) -> Option<String> {
    let (name, args) = command.words.split_first()?;
    let as_written = |word: &super::lexer::Word| !word.glob && !word.text.contains("%{readfile:");
    if !command.words.iter().all(as_written) {
        return None;
    }
    let mut out = match tools.get(&name.text) {
        Some(tool) => tool.shell_words().to_owned(),
        None if builtins::find(&name.text).is_some() && !EVERYWHERE.contains(&name.text.as_str()) => {
            return None;
        }
        None => quote::shell(&name.text),
    };
    for word in args {
        out.push(' ');
        out.push_str(&quote::shell(&word.text));
    }
    for redirect in &command.redirects {
        if !as_written(&redirect.target) {
            return None;
        }
        out.push(' ');
        out.push_str(redirect.fd.as_deref().unwrap_or_default());
        // `&>` and `>&` are not in every shell.
        let both = redirect.fd.is_none() && redirect::is_both(redirect.op);
        out.push_str(if both { ">" } else { redirect.op.text() });
        out.push_str(&quote::shell(&redirect.target.text));
        if both {
            out.push_str(" 2>&1");
        }
    }
    Some(out)
}

/// Whether a command names files by paths that start at the working folder, as far as one can see.
fn is_relative(command: &Command, cwd: &Path) -> bool {
    let args = command.words.iter().skip(1).map(|word| word.text.as_str());
    let relative = |text: &str| {
        !text.is_empty() && !Path::new(text).is_absolute() && cwd.join(text).symlink_metadata().is_ok()
    };
    let named = args.clone().any(|arg| match arg.strip_prefix('-') {
        None => relative(arg),
        Some(option) => option.split_once('=').is_some_and(|(_, value)| relative(value)),
    });
    let targets = command.redirects.iter().filter(|redirect| redirect.fd.as_deref() != Some("2"));
    named
        || args.clone().any(|arg| arg.starts_with("-o") || arg.starts_with("--o"))
        || targets.into_iter().any(|redirect| !Path::new(&redirect.target.text).is_absolute())
}
