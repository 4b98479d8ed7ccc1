//! Options of subcommands: one table each, from which reading, `--help` and shell completions derive.

use std::fmt::Write as _;
use std::io;

use hlo_text::diagnostic::did_you_mean;

use super::{Streams, exit};
use crate::opt::ErrorFormat;

/// What words a shell can offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// Names of files.
    Files,
    /// Keys of passes, with commas between.
    Passes,
    /// Codes of diagnostics and keys of passes.
    Topics,
    /// These, with `|` between.
    OneOf(&'static str),
    /// Anything.
    Any,
}

impl Words {
    /// The words that an option takes whose value the help calls `what`.
    pub(super) fn of(what: &'static str) -> Self {
        let name = what.trim_end_matches(",...");
        let is_lower = |word: &str| !word.is_empty() && !word.contains(char::is_uppercase);
        match name {
            "FILE" | "DIR" | "PATH" | "filename" => Self::Files,
            "PASS" | "KEY" | "N|PASS:N" => Self::Passes,
            _ if name.contains('|') && name.split('|').all(is_lower) => Self::OneOf(name),
            _ => Self::Any,
        }
    }
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// A value, as `--option=VALUE` or as the next word; with what the help calls it.
    Value(&'static str),
}

/// An option, with dashes.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptionRow {
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    /// One line.
    pub(super) help: &'static str,
}

/// An option without a value.
pub(super) const fn flag(name: &'static str, help: &'static str) -> OptionRow {
    OptionRow { name, takes: Takes::Nothing, help }
}

/// An option with a value.
pub(super) const fn value(name: &'static str, what: &'static str, help: &'static str) -> OptionRow {
    OptionRow { name, takes: Takes::Value(what), help }
}

/// `--error-format`, which all have that read HLO.
pub(super) const ERROR_FORMAT: OptionRow =
    value("--error-format", "human|short|json", "how faults of the text are told");

/// `--color`
pub(super) const COLOR: OptionRow = value("--color", "auto|always|never", "whether there are colours");

/// What the command line of a subcommand may be.
pub(super) struct Syntax {
    /// The operands, as the first line of the help shows them.
    pub(super) operands: &'static str,
    /// What the operands are.
    pub(super) words: Words,
    pub(super) options: &'static [OptionRow],
    /// What it does: the help before the options.
    pub(super) about: &'static str,
    /// What else is to be said: examples, exit statuses.
    pub(super) notes: &'static str,
}

/// A command line that has been read.
#[derive(Default)]
pub(super) struct Given<'a> {
    options: Vec<(&'static str, &'a str)>,
    /// What isn't an option, in order.
    pub(super) operands: Vec<&'a str>,
}

impl<'a> Given<'a> {
    /// Whether an option is given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(known, _)| *known == name)
    }

    /// The value of an option; of several the last.
    pub(super) fn value(&self, name: &str) -> Option<&'a str> {
        self.options.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// The number an option gives.
    ///
    /// # Errors
    /// It isn't one.
    pub(super) fn number(&self, name: &str, default: usize) -> Result<usize, String> {
        match self.value(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("{name} takes a number, not `{text}`")),
        }
    }

    /// What [`ERROR_FORMAT`] says.
    pub(super) fn error_format(&self) -> ErrorFormat {
        match self.value(ERROR_FORMAT.name) {
            Some("short") => ErrorFormat::Short,
            Some("json") => ErrorFormat::Json,
            _ => ErrorFormat::Human,
        }
    }

    /// What [`COLOR`] says about a stream that is a terminal or not.
    pub(super) fn color(&self, is_terminal: bool) -> bool {
        match self.value(COLOR.name) {
            Some("always") => true,
            Some("never") => false,
            _ => is_terminal,
        }
    }
}

impl Syntax {
    /// Reads a command line. `Err` is the exit status if there is nothing to do but to end: help was asked for, or the
    /// line is wrong, and that has been said.
    pub(super) fn read<'a>(
        &self,
        command: &str,
        args: &'a [String],
        streams: &mut Streams<'_>,
    ) -> io::Result<Result<Given<'a>, u8>> {
        if super::asks_for_help(args) {
            streams.out.write_all(self.help(command).as_bytes())?;
            return Ok(Err(0));
        }
        match self.parse(args) {
            Ok(given) => Ok(Ok(given)),
            Err(message) => Ok(Err(self.misused(command, &message, streams)?)),
        }
    }

    /// [`Syntax::read`] for commands that do nothing without operands; `what` is one of those.
    pub(super) fn read_some<'a>(
        &self,
        command: &str,
        args: &'a [String],
        what: &str,
        streams: &mut Streams<'_>,
    ) -> io::Result<Result<Given<'a>, u8>> {
        match self.read(command, args, streams)? {
            Ok(given) if given.operands.is_empty() => {
                self.misused(command, &format!("no {what} is given"), streams).map(Err)
            }
            read => Ok(read),
        }
    }

    /// Says what is wrong with a command line; gives the exit status.
    pub(super) fn misused(&self, command: &str, message: &str, streams: &mut Streams<'_>) -> io::Result<u8> {
        let usage = self.usage(command);
        writeln!(streams.err, "error: {message}\n{usage}\n{command} --help says more")?;
        Ok(exit::USAGE)
    }

    fn usage(&self, command: &str) -> String {
        let options = if self.options.is_empty() { "" } else { "[OPTIONS] " };
        format!("usage: {command} {options}{}", self.operands).trim_end().to_owned()
    }

    fn help(&self, command: &str) -> String {
        let mut out = format!("{}\n\n{}\n", self.usage(command), self.about);
        if !self.options.is_empty() {
            out.push('\n');
        }
        for row in self.options {
            let form = match row.takes {
                Takes::Nothing => row.name.to_owned(),
                Takes::Value(what) if row.name.starts_with("--") => format!("{}={what}", row.name),
                Takes::Value(what) => format!("{} {what}", row.name),
            };
            // Writing to a string can't fail.
            let _ = writeln!(out, "  {form:<32} {}", row.help);
        }
        if !self.notes.is_empty() {
            let _ = writeln!(out, "\n{}", self.notes);
        }
        out
    }

    fn parse<'a>(&self, args: &'a [String]) -> Result<Given<'a>, String> {
        let mut given = Given::default();
        let mut words = args.iter().map(String::as_str);
        let mut options_end = false;
        while let Some(word) = words.next() {
            if options_end || word == "-" || !word.starts_with('-') {
                given.operands.push(word);
                continue;
            }
            if word == "--" {
                options_end = true;
                continue;
            }
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            let Some(row) = self.options.iter().find(|row| row.name == name) else {
                let close = did_you_mean(name, self.options.iter().map(|row| row.name));
                let hint = close.map_or_else(String::new, |close| format!("; did you mean `{close}`?"));
                return Err(format!("there is no option `{name}`{hint}"));
            };
            let value = match row.takes {
                Takes::Nothing if value.is_some() => return Err(format!("{name} takes no value")),
                Takes::Nothing => "",
                Takes::Value(what) => {
                    let value = value.or_else(|| words.next());
                    let value = value.ok_or_else(|| format!("{name} takes a value: {what}"))?;
                    if let Words::OneOf(known) = Words::of(what)
                        && !known.split('|').any(|known| known == value)
                    {
                        return Err(format!("{name} takes {what}, not `{value}`"));
                    }
                    value
                }
            };
            given.options.push((row.name, value));
        }
        Ok(given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNTAX: Syntax = Syntax {
        operands: "FILE...",
        words: Words::Files,
        options: &[flag("--json", "as JSON"), value("--radius", "N", "how far"), COLOR],
        about: "Does something.",
        notes: "",
    };

    fn parse(args: &[&str]) -> Result<(bool, Option<String>, Vec<String>), String> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let given = SYNTAX.parse(&args)?;
        let operands = given.operands.iter().map(|&operand| operand.to_owned()).collect();
        Ok((given.has("--json"), given.value("--radius").map(str::to_owned), operands))
    }

    #[test]
    fn options_are_where_they_like() {
        let files = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(
            parse(&["a", "--json", "-", "--radius=2", "b"]),
            Ok((true, Some("2".into()), files(&["a", "-", "b"])))
        );
        assert_eq!(parse(&["--radius", "3", "--radius=4"]), Ok((false, Some("4".into()), files(&[]))));
        assert_eq!(parse(&["--", "--json"]), Ok((false, None, files(&["--json"]))));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (args, message) in [
            (&["--jsno"][..], "there is no option `--jsno`; did you mean `--json`?"),
            (&["--json=1"], "--json takes no value"),
            (&["--radius"], "--radius takes a value: N"),
            (&["--color=red"], "--color takes auto|always|never, not `red`"),
        ] {
            assert_eq!(parse(args), Err(message.to_owned()));
        }
    }
}
