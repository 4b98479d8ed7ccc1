//! The commands of a session: one table of names, arguments, help and examples.

mod files;
mod look;
mod passes;
mod tree;

pub(crate) use files::read;
use hlo_text::diagnostic::did_you_mean;

use super::session::Session;
use super::style::{Tint, paint};
use crate::panics;

/// What a command answers.
#[derive(Debug)]
pub(crate) enum Answer {
    /// This is shown.
    Text(String),
    /// The session ends.
    End,
}

/// What stands behind the name of a command, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// Nothing that could be completed.
    Other,
    /// Passes and their options.
    Pass,
    /// An instruction or a computation.
    Name,
    /// A file.
    File,
    /// A command.
    Command,
    /// A pass, then an instruction.
    PassThenName,
    /// A pass or a diagnostic code.
    Topic,
}

/// A row of the table.
pub(crate) struct Command {
    /// What it is called.
    pub(crate) name: &'static str,
    /// What else it is called.
    pub(crate) aliases: &'static [&'static str],
    /// Its arguments, as the help shows them.
    pub(crate) args: &'static str,
    /// What the arguments are.
    pub(crate) operand: Operand,
    /// One line.
    pub(crate) summary: &'static str,
    /// What else there is to know; may be empty.
    pub(crate) details: &'static str,
    /// Lines of a session that show it, over the module of the documentation's examples.
    pub(crate) example: &'static str,
    run: fn(&mut Session, &str) -> Result<String, String>,
}

/// Every command, in the order of the help.
pub(crate) const COMMANDS: &[Command] = &[
    Command {
        name: "pass",
        aliases: &["p"],
        args: "PASS{options}",
        operand: Operand::Pass,
        summary: "runs a pass and shows what it changes",
        details: "The result is a new state; `undo` goes back.",
        example: "pass dce",
        run: passes::pass,
    },
    Command {
        name: "passes",
        aliases: &[],
        args: "[PASS,...]",
        operand: Operand::Pass,
        summary: "runs several passes in this order; without any, lists those that can be run",
        details: "",
        example: "passes dce,canonicalize-names",
        run: passes::passes,
    },
    Command {
        name: "step",
        aliases: &["s"],
        args: "PASS{options}",
        operand: Operand::Pass,
        summary: "makes the first rewrite of a pass; `next` makes one more, `continue` the rest",
        details: "Each rewrite is a state of its own, shown with what the pass says of it.",
        example: "step legalize-intrinsics",
        run: passes::step,
    },
    Command {
        name: "next",
        aliases: &["n"],
        args: "",
        operand: Operand::Other,
        summary: "makes the next rewrite of the pass `step` began",
        details: "After `undo` it goes on from the state that is current then.",
        example: "step dce\nnext",
        run: passes::next,
    },
    Command {
        name: "continue",
        aliases: &["c"],
        args: "",
        operand: Operand::Other,
        summary: "makes all the rewrites that are left of the pass `step` began",
        details: "",
        example: "step dce\ncontinue",
        run: passes::finish,
    },
    Command {
        name: "try",
        aliases: &[],
        args: "",
        operand: Operand::Other,
        summary: "runs every implemented pass on the current module and lists those that change something",
        details: "Nothing is kept. Passes that fail say why.",
        example: "try",
        run: passes::attempt,
    },
    Command {
        name: "why",
        aliases: &[],
        args: "PASS{options} [%INSTRUCTION]",
        operand: Operand::PassThenName,
        summary: "says why a pass leaves instructions, or this one, alone",
        details: "Nearest misses come first: of an instruction, what was said of it and then of those around it;\n\
                  of the whole module, the reasons that the fewest instructions share.",
        example: "why legalize-intrinsics %gelu.4",
        run: passes::why,
    },
    Command {
        name: "undo",
        aliases: &["u"],
        args: "",
        operand: Operand::Other,
        summary: "goes back to the state before",
        details: "",
        example: "pass dce\nundo",
        run: tree::undo,
    },
    Command {
        name: "redo",
        aliases: &["r"],
        args: "",
        operand: Operand::Other,
        summary: "goes to the state `undo` came from",
        details: "",
        example: "pass dce\nundo\nredo",
        run: tree::redo,
    },
    Command {
        name: "history",
        aliases: &["h"],
        args: "",
        operand: Operand::Other,
        summary: "shows the states as a tree, the current one with a `*`",
        details: "",
        example: "pass dce\nundo\npass cse\nhistory",
        run: tree::history,
    },
    Command {
        name: "goto",
        aliases: &["g"],
        args: "N",
        operand: Operand::Other,
        summary: "goes to state N",
        details: "",
        example: "pass dce\ngoto 0",
        run: tree::goto,
    },
    Command {
        name: "diff",
        aliases: &["d"],
        args: "[A B]",
        operand: Operand::Other,
        summary: "shows what differs between states A and B, or between the state before and this one",
        details: "With one number, between that state and the current one.",
        example: "pass dce\ndiff 0 1",
        run: tree::diff,
    },
    Command {
        name: "show",
        aliases: &[],
        args: "%INSTRUCTION [RADIUS]",
        operand: Operand::Name,
        summary: "shows an instruction, its shape, operands, users and the way to the root",
        details: "RADIUS (1) is how many steps around it are shown.",
        example: "show %gelu.4 2",
        run: look::show,
    },
    Command {
        name: "find",
        aliases: &["f"],
        args: "OPCODE|SHAPE|REGEX",
        operand: Operand::Other,
        summary: "lists the instructions of an opcode, of a shape, or whose text has a regular expression",
        details: "",
        example: "find custom-call\nfind bf16[4,8]\nfind AwsNeuron.*",
        run: look::find,
    },
    Command {
        name: "list",
        aliases: &["l"],
        args: "[COMPUTATION|WORD]",
        operand: Operand::Name,
        summary: "lists the computations (with WORD in their names), or the instructions of one",
        details: "",
        example: "list\nlist main",
        run: look::list,
    },
    Command {
        name: "print",
        aliases: &[],
        args: "[NAME] [PRESET] [OPTION=VALUE ...]",
        operand: Operand::Name,
        summary: "prints the module, or a computation or an instruction of it",
        details: "PRESET is one of `hlo-opt --print`, OPTION one of `hlo-opt --print-option`.",
        example: "print\nprint %gelu.4\nprint short print_metadata=false",
        run: look::print,
    },
    Command {
        name: "verify",
        aliases: &[],
        args: "",
        operand: Operand::Other,
        summary: "says which rules of XLA's verifier the current module breaks",
        details: "",
        example: "verify",
        run: look::verify,
    },
    Command {
        name: "stats",
        aliases: &[],
        args: "",
        operand: Operand::Other,
        summary: "counts what is in the current module, as `hlo-check stats` does",
        details: "",
        example: "stats",
        run: look::stats,
    },
    Command {
        name: "explain",
        aliases: &[],
        args: "PASS|CODE",
        operand: Operand::Topic,
        summary: "explains a pass or a diagnostic code",
        details: "",
        example: "explain legalize-compare",
        run: look::explain,
    },
    Command {
        name: "load",
        aliases: &[],
        args: "FILE",
        operand: Operand::File,
        summary: "reads another module",
        details: "What surrounds or damages the HLO in the file is repaired, and what was repaired is said.",
        example: "save example.hlo\nload example.hlo",
        run: files::load,
    },
    Command {
        name: "save",
        aliases: &[],
        args: "FILE",
        operand: Operand::File,
        summary: "writes the current module",
        details: "",
        example: "save example.hlo",
        run: files::save,
    },
    Command {
        name: "save-test",
        aliases: &[],
        args: "FILE",
        operand: Operand::File,
        summary: "writes a test that runs the passes that led here and checks what comes of them",
        details: "The file has the module as it was read, a RUN line and CHECK lines, in which names are variables. It is\n\
                  run before it is kept; `hlo-check update FILE` writes the CHECK lines anew.",
        example: "pass legalize-intrinsics\nsave-test gelu.hlo",
        run: files::save_test,
    },
    Command {
        name: "command",
        aliases: &[],
        args: "",
        operand: Operand::Other,
        summary: "says which hlo-opt command makes the current module",
        details: "",
        example: "pass dce\ncommand",
        run: files::command,
    },
    Command {
        name: "help",
        aliases: &["?"],
        args: "[COMMAND]",
        operand: Operand::Command,
        summary: "lists the commands, or explains one",
        details: "",
        example: "help step",
        run: help,
    },
    Command {
        name: "quit",
        aliases: &["q", "exit"],
        args: "",
        operand: Operand::Other,
        summary: "ends the session",
        details: "So does the end of the input.",
        example: "quit",
        run: |_, _| Ok(String::new()),
    },
];

/// The command called `name`.
pub(crate) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name || command.aliases.contains(&name))
}

/// Does what a line says.
///
/// # Errors
/// What is wrong with it. The session goes on.
pub(crate) fn execute(session: &mut Session, line: &str) -> Result<Answer, String> {
    let line = line.trim();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if name.is_empty() {
        return Ok(Answer::Text(String::new()));
    }
    let Some(command) = find(name) else {
        let names = COMMANDS.iter().map(|command| command.name);
        return Err(match did_you_mean(name, names) {
            Some(close) => format!("there is no command `{name}`; did you mean `{close}`?"),
            None => format!(
                "there is no command `{name}`, and it doesn't look like HLO: `help` lists the commands"
            ),
        });
    };
    if command.name == "quit" {
        return Ok(Answer::End);
    }
    let rest = rest.trim();
    if command.args.is_empty() && !rest.is_empty() {
        return Err(format!("`{name}` takes no arguments, not `{rest}`"));
    }
    // A fault of ours must not take the session with it.
    match panics::guard(|| (command.run)(session, rest)) {
        Ok(result) => result.map(Answer::Text),
        Err(message) => Err(format!("`{name}` panicked, which is a fault of this program: {message}")),
    }
}

/// What is wrong with a command without the arguments it needs.
fn needs(name: &str) -> String {
    let args = find(name).map_or("", |command| command.args);
    format!("`{name}` needs more: {name} {args}")
}

fn help(session: &mut Session, topic: &str) -> Result<String, String> {
    let color = session.world.color;
    if topic.is_empty() {
        let mut out = String::from("Paste HLO, or a part of it, to look at it; or give a command:\n");
        for command in COMMANDS {
            let usage = format!("{} {}", command.name, command.args);
            out.push_str(&format!("  {:<36} {}\n", usage.trim_end(), command.summary));
        }
        return Ok(out);
    }
    let command = find(topic).ok_or_else(|| {
        let close = did_you_mean(topic, COMMANDS.iter().map(|command| command.name));
        let advice = close.map_or_else(String::new, |close| format!("; did you mean `{close}`?"));
        format!("there is no command `{topic}`{advice}")
    })?;
    let usage = format!("{} {}", command.name, command.args);
    let mut out = format!("{}\n  {}\n", paint(color, Tint::Strong, usage.trim_end()), command.summary);
    for line in command.details.lines() {
        out.push_str(&format!("  {}\n", line.trim_start()));
    }
    if !command.aliases.is_empty() {
        out.push_str(&format!("also: {}\n", command.aliases.join(", ")));
    }
    out.push_str("example:\n");
    for line in command.example.lines() {
        out.push_str(&format!("  {line}\n"));
    }
    Ok(out)
}
