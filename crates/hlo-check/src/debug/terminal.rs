//! A session at a terminal: line editing, history, completion. On terminals that can't do that lines are read as they
//! come.

use std::io::{self, Write};
use std::path::PathBuf;

use hlo_passes::registry::{self, Status};
use hlo_text::diagnostic::Code;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};

use super::commands::{self, Answer, COMMANDS, Operand};
use super::gather::Gatherer;
use super::script::{PROMPT, is_paste, paste, write_error};
use super::session::Session;

/// Longer entries are pasted modules, which the history doesn't keep.
const MAX_HISTORY_ENTRY: usize = 1000;

/// Reads and does commands until the input ends.
///
/// # Errors
/// Those of the terminal.
pub(crate) fn run(session: &mut Session) -> io::Result<()> {
    let config = Config::builder().bracketed_paste(true).auto_add_history(false).build();
    let mut editor: Editor<Assistant, FileHistory> = Editor::with_config(config).map_err(io::Error::other)?;
    let history = history_file();
    if let Some(path) = &history {
        // The first session has none.
        let _ = editor.load_history(path);
    }
    loop {
        editor.set_helper(Some(Assistant::of(session)));
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(io::Error::other(error)),
        };
        if line.len() <= MAX_HISTORY_ENTRY && !line.trim().is_empty() {
            editor.add_history_entry(line.trim_end()).map_err(io::Error::other)?;
        }
        let answer = if is_paste(line.trim_start()) {
            paste(session, &line)
        } else {
            commands::execute(session, &line)
        };
        let mut out = io::stdout().lock();
        match answer {
            Ok(Answer::Text(text)) => out.write_all(text.as_bytes())?,
            Ok(Answer::End) => break,
            Err(message) => write_error(&mut out, &message)?,
        }
        out.flush()?;
    }
    if let Some(path) = &history {
        // A history that can't be kept is no reason to fail.
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = editor.save_history(path);
    }
    Ok(())
}

/// Where the lines of earlier sessions are.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state")))?;
    Some(state.join("hlo-check").join("debug-history"))
}

/// What the line editor is helped with.
struct Assistant {
    files: FilenameCompleter,
    /// The names of the current module's computations and instructions.
    names: Vec<String>,
}

impl Assistant {
    fn of(session: &Session) -> Self {
        let mut names = Vec::new();
        if let Ok(state) = session.current() {
            for &id in state.module.computations() {
                names.push(state.module.computation_name(id).to_owned());
                let instructions = &state.module.computation(id).instructions;
                names.extend(instructions.iter().map(|&id| state.module.name_of(id).to_owned()));
            }
        }
        names.sort_unstable();
        names.dedup();
        Self { files: FilenameCompleter::new(), names }
    }
}

/// How many completions are offered at once.
const MAX_COMPLETIONS: usize = 200;

/// The candidates that begin with `word`.
fn matching<'c>(word: &str, candidates: impl Iterator<Item = &'c str>) -> Vec<String> {
    let matching = candidates.filter(|candidate| candidate.starts_with(word));
    matching.take(MAX_COMPLETIONS).map(str::to_owned).collect()
}

/// The keys of passes that can be run.
fn keys() -> impl Iterator<Item = &'static str> {
    registry::all().filter(|info| !matches!(info.status, Status::Unimplemented(_))).map(|info| info.key)
}

/// Where the word that is being written begins in `line`, and what it may become; `names` are those of the module.
/// Files are left to others.
pub(crate) fn complete(line: &str, names: &[String]) -> (usize, Vec<String>) {
    let Some((command, rest)) = line.trim_start().split_once(char::is_whitespace) else {
        let begin = line.len() - line.trim_start().len();
        let word = line.trim_start();
        return (begin, matching(word, COMMANDS.iter().map(|command| command.name)));
    };
    let Some(command) = commands::find(command) else { return (line.len(), Vec::new()) };
    let word_begin = |separators: &[char]| {
        line.rfind(|c: char| c.is_whitespace() || separators.contains(&c)).map_or(0, |at| {
            at + line.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
        })
    };
    let name = |begin: usize| {
        let word = line.get(begin..).unwrap_or_default();
        let (begin, word) = match word.strip_prefix('%') {
            Some(word) => (begin + 1, word),
            None => (begin, word),
        };
        (begin, matching(word, names.iter().map(String::as_str)))
    };
    match command.operand {
        Operand::Other | Operand::File => (line.len(), Vec::new()),
        Operand::Name => name(word_begin(&[])),
        Operand::Command => {
            let begin = word_begin(&[]);
            let word = line.get(begin..).unwrap_or_default();
            (begin, matching(word, COMMANDS.iter().map(|command| command.name)))
        }
        Operand::Topic => {
            let begin = word_begin(&[]);
            let word = line.get(begin..).unwrap_or_default();
            let topics =
                registry::all().map(|info| info.key).chain(Code::ALL.iter().map(|code| code.as_str()));
            (begin, matching(word, topics))
        }
        Operand::Pass | Operand::PassThenName => {
            // Inside of braces stand the options of the pass before them.
            let open = rest.rfind('{').filter(|&open| !rest.get(open..).unwrap_or_default().contains('}'));
            if let Some(open) = open {
                let key = rest.get(..open).unwrap_or_default();
                let key = key.rsplit([',', ' ']).next().unwrap_or_default();
                let begin = word_begin(&['{', ',']);
                let word = line.get(begin..).unwrap_or_default();
                let options = registry::find(key).map_or(&[][..], |info| info.options);
                let options: Vec<String> = options.iter().map(|option| format!("{}=", option.name)).collect();
                return (begin, matching(word, options.iter().map(String::as_str)));
            }
            if command.operand == Operand::PassThenName && rest.trim_start().contains(char::is_whitespace) {
                return name(word_begin(&[]));
            }
            let begin = word_begin(&[',']);
            (begin, matching(line.get(begin..).unwrap_or_default(), keys()))
        }
    }
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..position).unwrap_or(line);
        let takes_file = before
            .trim_start()
            .split_once(char::is_whitespace)
            .and_then(|(name, _)| commands::find(name))
            .is_some_and(|command| command.operand == Operand::File);
        if takes_file {
            return self.files.complete(line, position, context);
        }
        let (begin, found) = complete(before, &self.names);
        let pairs = found.into_iter().map(|text| Pair { display: text.clone(), replacement: text });
        Ok((begin, pairs.collect()))
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let input = context.input();
        let goes_on = is_paste(input.trim_start()) && !Gatherer::is_whole(input);
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for Assistant {
    type Hint = String;
}

impl Highlighter for Assistant {}

impl Helper for Assistant {}
