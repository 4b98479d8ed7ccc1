//! Programs that are part of the interpreter, so that tests need none from the system.

mod cat;
mod diff;
mod echo;
mod files;
mod ls;
mod posix_regex;
mod sed;
mod sed_script;
mod sed_stream;
mod sort;
mod split_file;
mod state;
mod wrappers;

use super::shell::call::Call;
use super::shell::exec::{ShellState, Stop};
use crate::tool::Output;

/// A built-in that changes what later commands see; only a command alone can be one.
pub type StateFn = fn(&[String], &mut ShellState) -> Result<Output, Stop>;

/// A built-in that is like any program.
pub type ProgramFn = fn(&[String], Vec<u8>, &Call<'_>) -> Result<Output, Stop>;

/// How a built-in is run.
#[derive(Clone, Copy, Debug)]
pub enum Builtin {
    /// See [`StateFn`].
    State(StateFn),
    /// See [`ProgramFn`].
    Program(ProgramFn),
}

/// Every built-in by name.
pub const BUILTINS: [(&str, Builtin); 26] = [
    (":", Builtin::State(|_, _| Ok(Output::default()))),
    ("!", Builtin::Program(wrappers::not)),
    ("cat", Builtin::Program(cat::cat)),
    ("cd", Builtin::State(state::cd)),
    ("count", Builtin::Program(wrappers::count)),
    ("cp", Builtin::Program(files::cp)),
    ("diff", Builtin::Program(diff::diff)),
    ("echo", Builtin::State(|args, _| Ok(echo::echo(args)))),
    ("env", Builtin::Program(wrappers::env)),
    ("export", Builtin::State(state::export)),
    ("false", Builtin::Program(|_, _, _| Ok(status(1)))),
    ("ls", Builtin::Program(ls::ls)),
    ("mkdir", Builtin::State(files::mkdir)),
    ("not", Builtin::Program(wrappers::not)),
    ("popd", Builtin::State(state::popd)),
    ("printf", Builtin::Program(echo::printf)),
    ("pushd", Builtin::State(state::pushd)),
    ("rm", Builtin::State(files::rm)),
    ("sed", Builtin::Program(sed::sed)),
    ("sort", Builtin::Program(sort::sort)),
    ("split-file", Builtin::Program(split_file::split_file)),
    ("touch", Builtin::Program(files::touch)),
    ("true", Builtin::Program(|_, _, _| Ok(Output::default()))),
    ("ulimit", Builtin::State(state::ulimit)),
    ("umask", Builtin::State(state::umask)),
    ("xargs", Builtin::Program(wrappers::xargs)),
];

/// The built-in called `name`.
pub fn find(name: &str) -> Option<&'static Builtin> {
    // A handful of short names: a scan beats hashing.
    BUILTINS.iter().find(|(known, _)| *known == name).map(|(_, builtin)| builtin)
}

/// `echo` as a program in a pipeline.
pub fn echo_program(args: &[String]) -> Output {
    echo::echo_program(args)
}

fn status(status: i32) -> Output {
    Output { status, ..Output::default() }
}

/// A failed program with its complaint.
fn failure(status: i32, message: impl Into<String>) -> Output {
    let mut message = message.into();
    message.push('\n');
    Output { stderr: message.into_bytes(), status, ..Output::default() }
}

fn success(stdout: Vec<u8>) -> Output {
    Output { stdout, ..Output::default() }
}

/// Splits arguments into options and operands as GNU `getopt` does: options may stand anywhere
/// before `--`, short ones may be joined, those in `with_value` take a value.
struct Options {
    found: Vec<(String, Option<String>)>,
    operands: Vec<String>,
}

/// The options a program has.
struct OptionTable<'t> {
    /// Letters without a value.
    flags: &'t str,
    /// Letters with one.
    values: &'t str,
    /// Long names; those that end with `=` take a value.
    long: &'t [&'t str],
}

impl OptionTable<'_> {
    fn parse(&self, args: &[String]) -> Result<Options, String> {
        let mut options = Options { found: Vec::new(), operands: Vec::new() };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--" {
                options.operands.extend(args.cloned());
                break;
            }
            if let Some(long) = arg.strip_prefix("--") {
                self.long_option(long, &mut args, &mut options)?;
            } else if arg.len() > 1 && arg.starts_with('-') {
                self.short_options(&arg[1..], &mut args, &mut options)?;
            } else {
                options.operands.push(arg.clone());
            }
        }
        Ok(options)
    }

    fn long_option<'a>(
        &self,
        text: &str,
        args: &mut impl Iterator<Item = &'a String>,
        options: &mut Options,
    ) -> Result<(), String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let known = self.long.iter().find(|known| known.trim_end_matches('=') == name);
        let Some(known) = known else { return Err(format!("option --{name} not recognized")) };
        let value = match (known.ends_with('='), value) {
            (false, Some(_)) => return Err(format!("option --{name} must not have an argument")),
            (false, None) => None,
            (true, Some(value)) => Some(value),
            (true, None) => match args.next() {
                Some(value) => Some(value.clone()),
                None => return Err(format!("option --{name} requires argument")),
            },
        };
        options.found.push((name.to_owned(), value));
        Ok(())
    }

    fn short_options<'a>(
        &self,
        text: &str,
        args: &mut impl Iterator<Item = &'a String>,
        options: &mut Options,
    ) -> Result<(), String> {
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            if self.flags.contains(letter) {
                options.found.push((letter.to_string(), None));
            } else if self.values.contains(letter) {
                let joined = letters.as_str();
                let value = if joined.is_empty() { args.next().cloned() } else { Some(joined.to_owned()) };
                let Some(value) = value else {
                    return Err(format!("option -{letter} requires argument"));
                };
                options.found.push((letter.to_string(), Some(value)));
                break;
            } else {
                return Err(format!("option -{letter} not recognized"));
            }
        }
        Ok(())
    }
}

/// An input operand, `-` being standard input.
fn read_operand(name: &str, stdin: &[u8], call: &Call<'_>) -> std::io::Result<Vec<u8>> {
    if name == "-" {
        return Ok(stdin.to_vec());
    }
    super::shell::redirect::read_input(name, &call.cwd().join(name))
}

/// What went wrong with a file, in the words of C programs where there are such.
fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "No such file or directory".to_owned(),
        ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        ErrorKind::IsADirectory => "Is a directory".to_owned(),
        ErrorKind::NotADirectory => "Not a directory".to_owned(),
        ErrorKind::AlreadyExists => "File exists".to_owned(),
        ErrorKind::DirectoryNotEmpty => "Directory not empty".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_unique() {
        for pair in BUILTINS[1..].windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} {}", pair[0].0, pair[1].0);
        }
    }

    #[test]
    fn options() {
        let table = OptionTable { flags: "ab", values: "n", long: &["all", "name="] };
        let args = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let options = table.parse(&args("x -ab -n1 -n 2 --all --name=y --name z - -- -a")).unwrap();
        let found: Vec<String> = options
            .found
            .iter()
            .map(|(name, value)| format!("{name}{}", value.clone().unwrap_or_default()))
            .collect();
        assert_eq!(found, ["a", "b", "n1", "n2", "all", "namey", "namez"]);
        assert_eq!(options.operands, ["x", "-", "-a"]);
        for bad in ["-c", "--other", "-n", "--name", "--all=1"] {
            assert!(table.parse(&args(bad)).is_err(), "{bad}");
        }
    }
}
