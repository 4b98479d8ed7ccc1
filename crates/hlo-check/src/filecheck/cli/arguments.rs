//! Command-line options in LLVM's manner: one table, from which parsing and help derive.

use super::{NAME, ignored};
use crate::filecheck::options::{DumpFilter, DumpInput, DumpOptions, MatchOptions};
use crate::tool::{DiagnosticStyle, Invocation, Output};

/// Exit status for bad options.
const BAD_OPTIONS: i32 = 1;
/// Deepest nesting of `@file` arguments.
const MAX_RESPONSE_FILES: usize = 64;

/// What the options ask for.
pub(super) struct Parsed {
    pub(super) matching: MatchOptions,
    pub(super) dump: DumpOptions,
    /// Whether `--dump-input` was given.
    pub(super) dump_asked: bool,
    pub(super) check_file: Option<String>,
    pub(super) input_file: String,
    /// `--color`; `None` for automatic.
    pub(super) color: Option<bool>,
    /// `--diagnostics`
    pub(super) style: Option<DiagnosticStyle>,
    /// `--lint`
    pub(super) lint: bool,
}

/// Everything collected while going through the arguments.
pub(super) struct Builder {
    matching: MatchOptions,
    dump: Vec<DumpInput>,
    filter: Vec<DumpFilter>,
    context: Vec<u32>,
    input_file: String,
    color: Option<bool>,
    style: Option<DiagnosticStyle>,
    lint: bool,
}

/// How an option takes its value, and what it does with it.
pub(super) enum Kind {
    /// `--flag`, `--flag=true`
    Flag(fn(&mut Builder, bool)),
    /// `--option=value`, `--option value`
    Value(fn(&mut Builder, &str) -> Result<(), String>),
    /// The same, for each part between commas.
    List(fn(&mut Builder, &str)),
    /// Directly attached: `-DVAR=VALUE`.
    Attached(fn(&mut Builder, &str)),
    /// Prints something and ends the program.
    Show(fn() -> String),
}

pub(super) struct Row {
    pub(super) name: &'static str,
    /// The value's name in the help.
    pub(super) value: &'static str,
    pub(super) kind: Kind,
    pub(super) hidden: bool,
    pub(super) help: &'static str,
}

const DUMP_VALUES: &[(&str, DumpInput)] = &[
    ("help", DumpInput::Help),
    ("always", DumpInput::Always),
    ("fail", DumpInput::Fail),
    ("never", DumpInput::Never),
];

const STYLE_VALUES: &[(&str, DiagnosticStyle)] =
    &[("compatible", DiagnosticStyle::Compatible), ("rich", DiagnosticStyle::Rich)];

/// Options LLVM does not have; never suggested for a misspelt one.
const OWN: &[&str] = &["diagnostics", "lint"];

const FILTER_VALUES: &[(&str, DumpFilter)] = &[
    ("all", DumpFilter::All),
    ("annotation-full", DumpFilter::AnnotationFull),
    ("annotation", DumpFilter::Annotation),
    ("error", DumpFilter::Error),
];

fn choose<T: Copy>(values: &[(&str, T)], value: &str) -> Result<T, String> {
    let found = values.iter().find(|(name, _)| *name == value).map(|(_, chosen)| *chosen);
    found.ok_or_else(|| format!("Cannot find option named '{value}'!"))
}

/// A number with C's prefixes.
fn parse_unsigned(value: &str) -> Option<u32> {
    let radix = |digits: &str, radix| {
        let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
        valid.then(|| u32::from_str_radix(digits, radix).ok()).flatten()
    };
    let strip = |lower: &str, upper: &str| value.strip_prefix(lower).or_else(|| value.strip_prefix(upper));
    if let Some(digits) = strip("0x", "0X") {
        radix(digits, 16)
    } else if let Some(digits) = strip("0b", "0B") {
        radix(digits, 2)
    } else if let Some(digits) = value.strip_prefix("0o") {
        radix(digits, 8)
    } else if value.len() > 1 && value.starts_with('0') {
        radix(&value[1..], 8)
    } else {
        radix(value, 10)
    }
}

const ROWS: &[Row] = &[
    Row {
        name: "D",
        value: "VAR=VALUE",
        kind: Kind::Attached(|builder, value| builder.matching.defines.push(value.to_owned())),
        hidden: false,
        help: "Define a variable: -DNAME=TEXT, or -D#FORMAT,NAME=EXPRESSION for a number.",
    },
    Row {
        name: "allow-deprecated-dag-overlap",
        value: "",
        kind: Kind::Flag(|builder, on| builder.matching.allow_deprecated_dag_overlap = on),
        hidden: false,
        help: "Let the matches of a group of CHECK-DAG directives overlap.",
    },
    Row {
        name: "allow-empty",
        value: "",
        kind: Kind::Flag(|builder, on| builder.matching.allow_empty = on),
        hidden: false,
        help: "Accept an empty input file.",
    },
    Row {
        name: "allow-unused-prefixes",
        value: "",
        kind: Kind::Flag(|builder, on| builder.matching.allow_unused_prefixes = on),
        hidden: false,
        help: "Accept prefixes that the check file does not use.",
    },
    Row {
        name: "check-prefix",
        value: "string",
        kind: Kind::Value(|builder, value| {
            builder.matching.check_prefixes.push(value.to_owned());
            Ok(())
        }),
        hidden: false,
        help: "Prefix of directives (default 'CHECK'); may be given several times.",
    },
    Row {
        name: "check-prefixes",
        value: "string",
        kind: Kind::List(|builder, value| builder.matching.check_prefixes.push(value.to_owned())),
        hidden: false,
        help: "The same, with commas between several prefixes.",
    },
    Row {
        name: "color",
        value: "",
        kind: Kind::Flag(|builder, on| builder.color = Some(on)),
        hidden: false,
        help: "Use colors (default: when the output is a terminal).",
    },
    Row {
        name: "comment-prefixes",
        value: "string",
        kind: Kind::List(|builder, value| builder.matching.comment_prefixes.push(value.to_owned())),
        hidden: true,
        help: "Prefixes of comments, with commas between them (default 'COM,RUN').",
    },
    Row {
        name: "diagnostics",
        value: "value",
        kind: Kind::Value(|builder, value| {
            builder.style = Some(choose(STYLE_VALUES, value)?);
            Ok(())
        }),
        hidden: true,
        help: "How failures are worded: compatible (as LLVM does) or rich.",
    },
    Row {
        name: "dump-input",
        value: "value",
        kind: Kind::Value(|builder, value| {
            builder.dump.push(choose(DUMP_VALUES, value)?);
            Ok(())
        }),
        hidden: false,
        help: "When to show the annotated input: help, always, fail (default) or never. Of several, the \
               first in this list counts.",
    },
    Row {
        name: "dump-input-context",
        value: "N",
        kind: Kind::Value(|builder, value| {
            let context =
                parse_unsigned(value).ok_or_else(|| format!("'{value}' value invalid for uint argument!"))?;
            builder.context.push(context);
            Ok(())
        }),
        hidden: false,
        help: "Lines shown around those the filter keeps (default 5). Of several, the largest counts.",
    },
    Row {
        name: "dump-input-filter",
        value: "value",
        kind: Kind::Value(|builder, value| {
            builder.filter.push(choose(FILTER_VALUES, value)?);
            Ok(())
        }),
        hidden: false,
        help: "Lines to show: all, annotation-full, annotation or error. Of several, the first in this \
               list counts. Default: error, or all with -dump-input=always.",
    },
    Row {
        name: "enable-var-scope",
        value: "",
        kind: Kind::Flag(|builder, on| builder.matching.enable_var_scope = on),
        hidden: false,
        help: "Forget variables at each CHECK-LABEL unless their names start with '$'.",
    },
    Row { name: "h", value: "", kind: Kind::Show(|| help(false)), hidden: true, help: "Same as --help." },
    Row {
        name: "help",
        value: "",
        kind: Kind::Show(|| help(false)),
        hidden: false,
        help: "Show the options.",
    },
    Row {
        name: "help-hidden",
        value: "",
        kind: Kind::Show(|| help(true)),
        hidden: true,
        help: "Show all options.",
    },
    Row {
        name: "help-list",
        value: "",
        kind: Kind::Show(|| help(false)),
        hidden: false,
        help: "Show the options.",
    },
    Row {
        name: "help-list-hidden",
        value: "",
        kind: Kind::Show(|| help(true)),
        hidden: true,
        help: "Show all options.",
    },
    Row {
        name: "ignore-case",
        value: "",
        kind: Kind::Flag(|builder, on| builder.matching.ignore_case = on),
        hidden: false,
        help: "Match without regard to the case of letters.",
    },
    Row {
        name: "implicit-check-not",
        value: "pattern",
        kind: Kind::Value(|builder, value| {
            builder.matching.implicit_check_not.push(value.to_owned());
            Ok(())
        }),
        hidden: false,
        help: "Put a CHECK-NOT with this pattern before every positive check.",
    },
    Row {
        name: "input-file",
        value: "filename",
        kind: Kind::Value(|builder, value| {
            value.clone_into(&mut builder.input_file);
            Ok(())
        }),
        hidden: false,
        help: "File to check (default: standard input).",
    },
    Row {
        name: "lint",
        value: "",
        kind: Kind::Flag(|builder, on| builder.lint = on),
        hidden: true,
        help: "Warn about check files that mean something else than they seem to.",
    },
    Row {
        name: "match-full-lines",
        value: "",
        kind: Kind::Flag(|builder, on| builder.matching.match_full_lines = on),
        hidden: false,
        help: "Positive checks must match whole lines; blanks around them are ignored without \
               --strict-whitespace.",
    },
    Row {
        name: "strict-whitespace",
        value: "",
        kind: Kind::Flag(|builder, on| builder.matching.strict_whitespace = on),
        hidden: false,
        help: "Do not take runs of blanks and tabs for one blank.",
    },
    Row {
        name: "v",
        value: "",
        kind: Kind::Flag(|builder, on| builder.matching.verbose = on),
        hidden: false,
        help: "Report matches too.",
    },
    Row { name: "version", value: "", kind: Kind::Show(version), hidden: false, help: "Show the version." },
    Row {
        name: "vv",
        value: "",
        kind: Kind::Flag(|builder, on| builder.matching.verbose_verbose = on),
        hidden: false,
        help: "Report everything, for finding out why FileCheck does what it does.",
    },
];

fn version() -> String {
    format!("{NAME} of hlo-check {} (the language of LLVM version 19)\n", env!("CARGO_PKG_VERSION"))
}

fn help(hidden: bool) -> String {
    let heads: Vec<_> = rows()
        .filter(|row| hidden || !row.hidden)
        .map(|row| {
            let value = match row.kind {
                Kind::Attached(_) => format!(" <{}>", row.value),
                _ if row.value.is_empty() => String::new(),
                _ => format!("=<{}>", row.value),
            };
            (format!("  {}{value}", dashed(row.name)), row.help)
        })
        .collect();
    let width = heads.iter().map(|(head, _)| head.len()).max().unwrap_or_default();
    let mut text = format!("USAGE: {NAME} [options] <check-file>\n\nOPTIONS:\n");
    for (head, help) in heads {
        text.push_str(&format!("{head:<width$} - {help}\n"));
    }
    text.push_str(
        "\nOptions are taken from the environment variable FILECHECK_OPTS, then from the\ncommand line.\n",
    );
    text
}

/// A name as messages show it.
fn dashed(name: &str) -> String {
    if name.chars().count() == 1 { format!("-{name}") } else { format!("--{name}") }
}

/// Every option that is shown: as it is written, what its value is called, what it does.
pub(crate) fn shown_options() -> impl Iterator<Item = (String, Option<&'static str>, &'static str)> {
    ROWS.iter().filter(|row| !row.hidden).map(|row| {
        let value = Some(row.value).filter(|value| !value.is_empty());
        (dashed(row.name), value, row.help)
    })
}

/// All options.
fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().chain(ignored::ROWS)
}

fn find(name: &str) -> Option<&'static Row> {
    rows().find(|row| row.name == name)
}

/// Parses the options of `FILECHECK_OPTS` and of the command line.
///
/// # Errors
/// The output and status to end with: messages, or the help.
pub(super) fn parse(command: &str, invocation: &Invocation) -> Result<Parsed, Output> {
    let mut args = match invocation.env.get("FILECHECK_OPTS") {
        Some(text) => tokenize(text),
        None => Vec::new(),
    };
    args.extend(invocation.args.iter().cloned());
    let args = expand_response_files(args, invocation);
    let mut builder = Builder {
        matching: MatchOptions::default(),
        dump: Vec::new(),
        filter: Vec::new(),
        context: Vec::new(),
        input_file: "-".to_owned(),
        color: None,
        style: None,
        lint: false,
    };
    let mut errors = String::new();
    let mut positional: Vec<&str> = Vec::new();
    let mut only_positional = false;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if only_positional || !arg.starts_with('-') || arg == "-" {
            positional.push(arg);
            continue;
        }
        if arg == "--" {
            only_positional = true;
            continue;
        }
        let name = arg.strip_prefix("--").unwrap_or(&arg[1..]);
        let Some((row, value)) = look_up(name) else {
            errors.push_str(&format!(
                "{NAME}: Unknown command line argument '{arg}'.  Try: '{command} --help'\n"
            ));
            if let Some(nearest) = nearest(name) {
                errors.push_str(&format!("{NAME}: Did you mean '{nearest}'?\n"));
            }
            continue;
        };
        let next = if matches!(row.kind, Kind::Value(_) | Kind::List(_)) && value.is_none() {
            rest.next().map(String::as_str)
        } else {
            None
        };
        match apply(row, value.or(next), &mut builder) {
            Ok(None) => {}
            Ok(Some(stdout)) => {
                return Err(Output { stdout: stdout.into(), stderr: errors.into(), ..Output::default() });
            }
            Err(message) => {
                errors.push_str(&format!("{NAME}: for the {} option: {message}\n", dashed(row.name)));
            }
        }
    }
    if positional.len() > 1 {
        errors.push_str(&format!(
            "{NAME}: Too many positional arguments specified!\nCan specify at most 1 positional \
             arguments: See: {command} --help\n"
        ));
    }
    if !errors.is_empty() {
        return Err(Output { stderr: errors.into(), status: BAD_OPTIONS, ..Output::default() });
    }
    builder.matching.verbose |= builder.matching.verbose_verbose;
    let dump_asked = !builder.dump.is_empty();
    let when = builder.dump.into_iter().max().unwrap_or(DumpInput::Fail);
    let default_filter = if when == DumpInput::Always { DumpFilter::All } else { DumpFilter::Error };
    let filter = builder.filter.into_iter().max().unwrap_or(default_filter);
    let context = builder.context.into_iter().max().unwrap_or(5);
    Ok(Parsed {
        matching: builder.matching,
        dump: DumpOptions { when, filter, context },
        dump_asked,
        check_file: positional.first().map(|&path| path.to_owned()),
        input_file: builder.input_file,
        color: builder.color,
        style: builder.style,
        lint: builder.lint,
    })
}

/// The option an argument (without dashes) means, and the value attached to it.
fn look_up(arg: &str) -> Option<(&'static Row, Option<&str>)> {
    let (name, value) = match arg.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (arg, None),
    };
    if let Some(row) = find(name)
        && !(value.is_some() && matches!(row.kind, Kind::Attached(_)))
    {
        return Some((row, value));
    }
    let attached = |row: &&Row| matches!(row.kind, Kind::Attached(_));
    let row = rows().filter(attached).find(|row| arg.starts_with(row.name))?;
    let value = &arg[row.name.len()..];
    (!value.is_empty()).then_some((row, Some(value)))
}

/// Carries an option out; gives text to print before ending at once.
fn apply(row: &Row, value: Option<&str>, builder: &mut Builder) -> Result<Option<String>, String> {
    let required = || value.ok_or_else(|| "requires a value!".to_owned());
    match row.kind {
        Kind::Flag(set) => {
            let on = match value {
                None | Some("" | "true" | "TRUE" | "True" | "1") => true,
                Some("false" | "FALSE" | "False" | "0") => false,
                Some(value) => {
                    return Err(format!("'{value}' is invalid value for boolean argument! Try 0 or 1"));
                }
            };
            set(builder, on);
        }
        Kind::Value(set) => set(builder, required()?)?,
        Kind::List(add) => required()?.split(',').for_each(|part| add(builder, part)),
        Kind::Attached(add) => add(builder, required()?),
        Kind::Show(text) => match value {
            None => return Ok(Some(text())),
            Some(value) => return Err(format!("does not allow a value! '{value}' specified.")),
        },
    }
    Ok(None)
}

/// The option that looks most like an unknown one.
fn nearest(arg: &str) -> Option<String> {
    if arg.is_empty() {
        return None;
    }
    let (name, value) = match arg.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (arg, None),
    };
    let best = rows().filter(|row| !OWN.contains(&row.name)).min_by_key(|row| {
        let flag = if matches!(row.kind, Kind::Show(_)) { arg } else { name };
        strsim_distance(row.name, flag)
    })?;
    let value = value.filter(|value| !value.is_empty() && !matches!(best.kind, Kind::Show(_)));
    Some(match value {
        Some(value) => format!("{}={value}", dashed(best.name)),
        None => dashed(best.name),
    })
}

/// Levenshtein distance.
fn strsim_distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

/// Splits text into words as a GNU shell-like tokenizer: quotes, backslashes; empty words vanish.
fn tokenize(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                if let Some(next) = chars.next() {
                    word.push(next);
                }
            }
            '\'' | '"' => {
                while let Some(inner) = chars.next() {
                    match inner {
                        '\\' if chars.peek().is_some() => word.extend(chars.next()),
                        inner if inner == c => break,
                        inner => word.push(inner),
                    }
                }
            }
            ' ' | '\t' | '\n' | '\r' => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Replaces `@file` by the words of the file; what cannot be read stays as it is.
fn expand_response_files(args: Vec<String>, invocation: &Invocation) -> Vec<String> {
    let mut expanded = Vec::new();
    let mut files = 0;
    let mut pending: Vec<String> = args.into_iter().rev().collect();
    while let Some(arg) = pending.pop() {
        if let Some(path) = arg.strip_prefix('@')
            && files < MAX_RESPONSE_FILES
            && let Ok(text) = std::fs::read_to_string(invocation.current_dir.join(path))
        {
            files += 1;
            pending.extend(tokenize(&text).into_iter().rev());
            continue;
        }
        expanded.push(arg);
    }
    expanded
}
