//! The command line of `hlo-opt`: one table of options, with one dash or two.

use std::io::{self, Write};

use hlo_passes::PassContext;
use hlo_passes::fixpoint::DEFAULT_LIMIT;
use hlo_passes::options::{GlobalOption, GlobalTakes, global_option};
use hlo_passes::options::{PassRequest, parse_pass_list};
use hlo_passes::pass::{Fuel, Resources};
use hlo_passes::pipeline::Selection;
use hlo_passes::registry;
use hlo_text::diagnostic::did_you_mean;
use hlo_text::proto::Encoding;
use hlo_text::{Dialect, ParseOptions, PrintOptions, VerifyOptions};

use super::watch;
use crate::input::Format;
use crate::output::OutputOptions;

/// The option, for calls inside this process only, that makes standard input a case of a split file: the case's
/// first line, a colon and the name of the file.
pub(super) const CASE_OPTION: &str = "split-case";

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub(super) enum Action {
    /// Read, run passes, print.
    #[default]
    Run,
    /// Say which passes there are.
    ListPasses(ListForm),
    /// Say what a pass or a code is.
    Explain(String),
    Help,
    Version,
}

/// How passes are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ListForm {
    /// Keys with commas between, as XLA does.
    #[default]
    Keys,
    /// A table for people.
    Long,
    /// Everything, for programs.
    Json,
}

/// How diagnostics are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ErrorFormat {
    /// With the lines they are about.
    #[default]
    Human,
    /// One line each.
    Short,
    /// One JSON object each, with spans.
    Json,
}

/// The command line, read.
#[derive(Clone, Debug, Default)]
pub(super) struct Arguments {
    pub(super) action: Action,
    /// A path, or `-` for standard input.
    pub(super) input: String,
    pub(super) output: Option<String>,
    pub(super) split_input_file: bool,
    /// This call is one case of a file: its first line, and the file.
    pub(super) case: Option<(usize, String)>,
    pub(super) parse: ParseOptions,
    /// What the input is; `None`: told from its content.
    pub(super) format: Option<Format>,
    /// The protocol buffer that is written instead of text.
    pub(super) emit_proto: Option<Encoding>,
    /// Whether the caller said what is written, so that the name of the file doesn't.
    has_emit_proto: bool,
    /// Whether the output is compressed.
    compressed: bool,
    /// Whether what the output can't carry is reported.
    pub(super) verify_roundtrip: bool,
    pub(super) print: PrintOptions,
    pub(super) error_format: ErrorFormat,
    pub(super) warnings_are_errors: bool,
    pub(super) no_verify: bool,
    pub(super) verify: VerifyOptions,
    pub(super) remarks: bool,
    /// The passes whose remarks are shown; empty for all.
    pub(super) remark_passes: Vec<String>,
    /// What is shown while passes run.
    pub(super) watch: watch::Options,
    /// How many rewrites may happen, as written.
    pub(super) fuel: Vec<String>,
    /// How often the passes run at most until nothing changes; `None`: once.
    pub(super) fixpoint: Option<usize>,
    /// Options for all passes that have them.
    pub(super) pass_options: Vec<(&'static GlobalOption, String)>,
    /// An option that only XLA's own program can honour.
    pub(super) needs_xla: Option<String>,
    /// What is to be said about options that mean nothing here.
    pub(super) notes: Vec<String>,
    passes: Vec<PassRequest>,
    passes_given: bool,
    skip: Vec<String>,
    /// If given, only these run.
    only: Option<Vec<String>>,
    disable_all: bool,
    preset: Option<PrintOptions>,
    large_constants: bool,
    as_read: bool,
    print_changes: Vec<(String, String)>,
}

impl Arguments {
    /// What messages call the input.
    pub(super) fn input_name(&self) -> &str {
        if self.input == "-" { "<stdin>" } else { &self.input }
    }

    /// How the result is written.
    pub(super) fn output_options(&self) -> OutputOptions {
        OutputOptions {
            format: self.emit_proto.map_or(Format::Hlo, Format::Proto),
            compressed: self.compressed,
            print: self.print.clone(),
            keep_container: false,
        }
    }

    /// What passes get beside the module.
    pub(super) fn context<'r>(&self, resources: &'r dyn Resources) -> PassContext<'r> {
        let mut fuel = Fuel::default();
        for (pass, count) in self.fuel.iter().filter_map(|text| fuel_of(text)) {
            match pass {
                Some(pass) => fuel.per_pass.push((pass.to_owned(), count)),
                None => fuel.total = Some(count),
            }
        }
        PassContext { resources, fuel, wants_remarks: self.remarks, ..PassContext::default() }
    }

    /// Puts another list in the place of the passes.
    ///
    /// # Errors
    /// What `expand` says.
    pub(super) fn expand_passes(
        &mut self,
        expand: impl FnOnce(Vec<PassRequest>) -> Result<Vec<PassRequest>, String>,
    ) -> Result<(), String> {
        self.passes =
            expand(std::mem::take(&mut self.passes)).map_err(|message| format!("--passes: {message}"))?;
        Ok(())
    }

    /// Whether a list of passes is given that has none.
    pub(super) fn asks_for_nothing(&self) -> bool {
        self.passes_given && self.passes.is_empty()
    }

    /// Which passes run. A pass that is disabled doesn't, whatever else is said of it.
    pub(super) fn selection(&self) -> Selection {
        let mut skip = self.skip.clone();
        if let Some(only) = &self.only {
            let others = self.passes.iter().map(|pass| &pass.key);
            skip.extend(others.filter(|key| !only.contains(key) && registry::find(key).is_some()).cloned());
        }
        Selection {
            passes: self.passes.clone(),
            skip,
            disable_all: self.disable_all,
            options: self.pass_options.clone(),
        }
    }
}

/// What an option takes.
#[derive(Clone, Copy)]
enum Takes {
    /// Nothing, or `=true` and `=false`.
    Switch(fn(&mut Arguments, bool)),
    /// A value, as `--option=VALUE` or as the next word; with what the help calls it.
    Value(&'static str, fn(&mut Arguments, &str) -> Result<(), String>),
    /// Perhaps a value, as `--option=VALUE` only.
    Optional(&'static str, fn(&mut Arguments, Option<&str>) -> Result<(), String>),
}

struct OptionRow {
    name: &'static str,
    takes: Takes,
    /// One line; empty for spellings of something else.
    help: &'static str,
}

const fn row(name: &'static str, takes: Takes, help: &'static str) -> OptionRow {
    OptionRow { name, takes, help }
}

use Takes::{Optional, Switch, Value};

const OPTIONS: &[OptionRow] = &[
    row(
        "passes",
        Value("PASS,...", add_passes),
        "runs these in this order, @NAME for a pipeline; without any the module is printed",
    ),
    row("skip-pass", Value("PASS,...", add_skipped), "doesn't run these, whatever --passes says"),
    row("disable-all-passes", Switch(|arguments, on| arguments.disable_all = on), "runs none"),
    row("list-passes", Optional("long|json", list_passes), "lists the passes and exits"),
    row(
        "explain",
        Value("KEY", explain),
        "explains a pass, a pipeline (@NAME) or a diagnostic code and exits",
    ),
    row(
        "o",
        Value("FILE", set_output),
        "writes the result there, compressed if it ends in .gz; .pb or .pbtxt says what to write, unless --emit-proto does",
    ),
    row("format", Value("hlo|pb|pbtxt", set_format), "what the input is, whatever it looks like"),
    row("emit-proto", Optional("binary|text", set_emit_proto), "writes an HloModuleProto instead of text"),
    row(
        "verify-roundtrip",
        Switch(|arguments, on| arguments.verify_roundtrip = on),
        "warns of what the output can't carry",
    ),
    row(
        "split-input-file",
        Switch(|arguments, on| arguments.split_input_file = on),
        "takes what is between lines `// -----` for modules of their own",
    ),
    row(
        "strict",
        Switch(|arguments, on| {
            arguments.parse.dialect = if on { Dialect::Strict } else { Dialect::Lenient };
        }),
        "reads only what XLA reads",
    ),
    row(
        "infer-shapes",
        Switch(|arguments, on| arguments.parse.infer_shapes = on),
        "lets result shapes be left out where operands and attributes determine them",
    ),
    row("print", Value("PRESET", set_preset), "default, short, canonical, fingerprint or module_fingerprint"),
    row("print-option", Value("NAME=VALUE", set_print_option), "sets one of XLA's print options"),
    row(
        "print-large-constants",
        Switch(|arguments, on| arguments.large_constants = on),
        "prints all constants in full",
    ),
    row(
        "syntax",
        Value("current|as-read", set_syntax),
        "spells what XLA has renamed as today or as the input does",
    ),
    row("error-format", Value("human|short|json", set_error_format), "how diagnostics are written"),
    row(
        "Werror",
        Switch(|arguments, on| arguments.warnings_are_errors = on),
        "takes warnings of reading, passes and writing for errors",
    ),
    row("remarks", Optional("PASS,...", set_remarks), "says what passes did and didn't do, and why"),
    row(
        "print-ir-before",
        Value("PASS,...", |arguments, value| around(&mut arguments.watch.before, value)),
        "shows the module before these passes",
    ),
    row(
        "print-ir-before-all",
        Switch(|arguments, on| arguments.watch.before.all = on),
        "shows it before every pass",
    ),
    row(
        "print-ir-before-change",
        Switch(|arguments, on| arguments.watch.before.changing = on),
        "shows it as it was before every pass that changed something",
    ),
    row(
        "print-ir-after",
        Value("PASS,...", |arguments, value| around(&mut arguments.watch.after, value)),
        "shows it after these passes",
    ),
    row(
        "print-ir-after-all",
        Switch(|arguments, on| arguments.watch.after.all = on),
        "shows it after every pass",
    ),
    row(
        "print-ir-after-change",
        Switch(|arguments, on| arguments.watch.after.changing = on),
        "shows it after every pass that changed something",
    ),
    row(
        "print-ir-diff",
        Switch(|arguments, on| arguments.watch.diff = on),
        "shows what passes changed, as differences",
    ),
    row(
        "dump-dir",
        Value("DIR", set_dump_dir),
        "writes the module to numbered files there, as read and after every pass",
    ),
    row(
        "timing",
        Optional("json", |arguments, value| set_form(&mut arguments.watch.timing, value)),
        "says how long reading, passes and printing took",
    ),
    row(
        "stats",
        Optional("json", |arguments, value| set_form(&mut arguments.watch.stats, value)),
        "says how many instructions of which opcodes passes added and removed",
    ),
    row(
        "fuel",
        Value("N|PASS:N,...", add_fuel),
        "stops passes, or one pass, from rewriting after the Nth time",
    ),
    row(
        "repeat-until-fixpoint",
        Optional("LIMIT", set_fixpoint),
        "runs the passes until they change nothing more, at most so often (100)",
    ),
    row("verify", Switch(|arguments, on| arguments.no_verify = !on), ""),
    row(
        "no-verify",
        Switch(|arguments, on| arguments.no_verify = on),
        "doesn't verify the module before and after passes",
    ),
    row(
        "layout-sensitive",
        Switch(|arguments, on| arguments.verify.layout_sensitive = on),
        "verifies that layouts fit as well",
    ),
    row(
        "allow-mixed-precision",
        Switch(|arguments, on| arguments.verify.allow_mixed_precision = on),
        "verifies without regard to widths of floating-point operands",
    ),
    row("help", Switch(|arguments, _| arguments.action = Action::Help), "prints this"),
    row("h", Switch(|arguments, _| arguments.action = Action::Help), ""),
    row("version", Switch(|arguments, _| arguments.action = Action::Version), "prints the version"),
    row("xla_enable_hlo_passes_only", Value("PASS,...", add_only), "runs none of --passes but these"),
    row("xla_disable_hlo_passes", Value("PASS,...", add_disabled), "as --skip-pass"),
    row(
        "xla_disable_all_hlo_passes",
        Switch(|arguments, on| arguments.disable_all = on),
        "as --disable-all-passes",
    ),
    row("platform", Value("NAME", |arguments, value| needs_xla(arguments, "platform", value)), ""),
    row("stage", Value("NAME", |arguments, value| needs_xla(arguments, "stage", value)), ""),
    row("list-stages", Switch(|arguments, _| arguments.needs_xla = Some("--list-stages".to_owned())), ""),
    row(CASE_OPTION, Value("", set_case), ""),
];

fn names(text: &str) -> impl Iterator<Item = String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Options of XLA's tools and of their libraries, beside those that begin with `xla_`.
const XLA_OPTIONS: &[&str] = &[
    "alsologtostderr",
    "debug_options_file",
    "log_dir",
    "logtostderr",
    "minloglevel",
    "stderrthreshold",
    "v",
    "vmodule",
];

fn set_remarks(arguments: &mut Arguments, value: Option<&str>) -> Result<(), String> {
    arguments.remarks = value != Some("false");
    if let Some(value) = value.filter(|value| !matches!(*value, "true" | "false")) {
        arguments.remark_passes.extend(keys(value)?);
    }
    Ok(())
}

/// The keys of a list, which must all exist.
fn keys(value: &str) -> Result<Vec<String>, String> {
    let keys: Vec<String> = names(value).collect();
    match keys.iter().find(|key| registry::find(key).is_none()) {
        None => Ok(keys),
        Some(unknown) => Err(no_such_pass(unknown)),
    }
}

fn no_such_pass(name: &str) -> String {
    match registry::nearest(name) {
        Some(close) => format!("there is no pass `{name}`; did you mean `{close}`?"),
        None => format!("there is no pass `{name}`"),
    }
}

fn around(which: &mut watch::Which, value: &str) -> Result<(), String> {
    which.keys.extend(keys(value)?);
    Ok(())
}

fn set_dump_dir(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    if value.is_empty() {
        return Err("takes a folder".to_owned());
    }
    arguments.watch.dump_dir = Some(value.to_owned());
    Ok(())
}

fn set_form(form: &mut Option<watch::Form>, value: Option<&str>) -> Result<(), String> {
    *form = match value {
        None | Some("true" | "text") => Some(watch::Form::Text),
        Some("json") => Some(watch::Form::Json),
        Some("false") => None,
        Some(_) => return Err("takes `text` or `json`".to_owned()),
    };
    Ok(())
}

/// `N` or `PASS:N`.
fn fuel_of(text: &str) -> Option<(Option<&str>, u64)> {
    match text.rsplit_once(':') {
        Some((pass, count)) => Some((Some(pass), count.parse().ok()?)),
        None => Some((None, text.parse().ok()?)),
    }
}

fn add_fuel(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    for text in names(value) {
        let (pass, _) = fuel_of(&text).ok_or_else(|| format!("takes N or PASS:N, not `{text}`"))?;
        pass.map(keys).transpose()?;
        arguments.fuel.push(text);
    }
    Ok(())
}

fn set_fixpoint(arguments: &mut Arguments, value: Option<&str>) -> Result<(), String> {
    arguments.fixpoint = match value {
        None | Some("true") => Some(DEFAULT_LIMIT),
        Some("false") => None,
        Some(value) => match value.parse() {
            Ok(limit) if limit > 0 => Some(limit),
            _ => return Err(format!("takes how many rounds there may be, not `{value}`")),
        },
    };
    Ok(())
}

/// The names of a list in XLA's spelling, which are XLA's: those nobody knows are no fault, but worth a note.
fn xla_names(arguments: &mut Arguments, value: &str) -> Vec<String> {
    let mut known = Vec::new();
    for name in names(value) {
        if registry::find(&name).is_none() && !registry::is_stock_name(&name) {
            arguments.notes.push(no_such_pass(&name));
        } else {
            known.push(name);
        }
    }
    known
}

fn add_disabled(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    let names = xla_names(arguments, value);
    arguments.skip.extend(names);
    Ok(())
}

fn add_passes(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    arguments.passes_given = true;
    arguments.passes.extend(parse_pass_list(value)?);
    Ok(())
}

fn add_skipped(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    arguments.skip.extend(names(value));
    Ok(())
}

fn add_only(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    let names = xla_names(arguments, value);
    arguments.only.get_or_insert_default().extend(names);
    Ok(())
}

fn list_passes(arguments: &mut Arguments, value: Option<&str>) -> Result<(), String> {
    let form = match value {
        None | Some("true") => ListForm::Keys,
        Some("long") => ListForm::Long,
        Some("json") => ListForm::Json,
        Some(_) => return Err("takes `long` or `json`".to_owned()),
    };
    arguments.action = Action::ListPasses(form);
    Ok(())
}

fn explain(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    arguments.action = Action::Explain(value.to_owned());
    Ok(())
}

fn set_output(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    arguments.output = Some(value.to_owned());
    Ok(())
}

fn set_format(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    let format = Format::from_name(value).ok_or_else(|| format!("takes {}", Format::NAMES))?;
    arguments.format = Some(format);
    Ok(())
}

fn set_emit_proto(arguments: &mut Arguments, value: Option<&str>) -> Result<(), String> {
    arguments.has_emit_proto = true;
    arguments.emit_proto = match value {
        None | Some("true" | "binary") => Some(Encoding::Binary),
        Some("text") => Some(Encoding::Text),
        Some("false") => None,
        Some(_) => return Err("takes `binary` or `text`".to_owned()),
    };
    Ok(())
}

fn set_preset(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    let preset = PrintOptions::preset(value);
    let known = "takes default, short, canonical, fingerprint or module_fingerprint";
    arguments.preset = Some(preset.ok_or_else(|| known.to_owned())?);
    Ok(())
}

fn set_print_option(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    let (name, value) = value.split_once('=').ok_or_else(|| "takes NAME=VALUE".to_owned())?;
    // The value is checked at once, so that the message is about this option.
    PrintOptions::default().set(name, value).map_err(|message| {
        match did_you_mean(name, PrintOptions::NAMES.iter().copied()) {
            Some(close) if close != name => format!("can't be used: {message}; did you mean `{close}`?"),
            _ => format!("can't be used: {message}"),
        }
    })?;
    arguments.print_changes.push((name.to_owned(), value.to_owned()));
    Ok(())
}

fn set_syntax(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    arguments.as_read = match value {
        "as-read" => true,
        "current" => false,
        _ => return Err("takes `current` or `as-read`".to_owned()),
    };
    Ok(())
}

fn set_error_format(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    arguments.error_format = match value {
        "human" => ErrorFormat::Human,
        "short" => ErrorFormat::Short,
        "json" => ErrorFormat::Json,
        _ => return Err("takes `human`, `short` or `json`".to_owned()),
    };
    Ok(())
}

fn needs_xla(arguments: &mut Arguments, name: &str, value: &str) -> Result<(), String> {
    arguments.needs_xla = Some(format!("--{name}={value}"));
    Ok(())
}

fn set_case(arguments: &mut Arguments, value: &str) -> Result<(), String> {
    let (line, name) = value.split_once(':').ok_or_else(|| "takes LINE:NAME".to_owned())?;
    let line = line.parse().map_err(|_| "takes LINE:NAME".to_owned())?;
    arguments.case = Some((line, name.to_owned()));
    Ok(())
}

/// Reads the command line, the program's name left out.
///
/// # Errors
/// What is wrong with it, one sentence.
pub(super) fn parse(args: &[String]) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    let mut input: Option<&str> = None;
    let mut words = args.iter().map(String::as_str);
    let mut options_end = false;
    while let Some(word) = words.next() {
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).filter(|_| !options_end);
        match name {
            Some("") if word == "--" => options_end = true,
            None | Some("") => {
                if let Some(first) = input.replace(word) {
                    return Err(format!(
                        "two inputs are given: `{first}` and `{word}`; one is read at a time"
                    ));
                }
            }
            Some(option) => {
                let (name, value) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (option, None),
                };
                take_option(&mut arguments, word, name, value, || words.next())?;
            }
        }
    }
    arguments.input = match &arguments.case {
        Some(_) => "-".to_owned(),
        None => input.unwrap_or("-").to_owned(),
    };
    arguments.compressed = arguments.output.as_deref().is_some_and(|output| Format::of_path(output).1);
    if !arguments.has_emit_proto
        && let Some((Some(Format::Proto(encoding)), _)) = arguments.output.as_deref().map(Format::of_path)
    {
        arguments.emit_proto = Some(encoding);
    }
    if arguments.split_input_file && arguments.compressed {
        return Err(
            "-o: the modules of --split-input-file are written as plain text, not compressed".to_owned()
        );
    }
    if arguments.split_input_file && arguments.emit_proto.is_some() {
        return Err("--emit-proto writes one module, not those of --split-input-file".to_owned());
    }
    arguments.print = arguments.preset.take().unwrap_or_default();
    arguments.print.print_large_constants |= arguments.large_constants;
    arguments.print.syntax_as_read |= arguments.as_read;
    for (name, value) in &arguments.print_changes {
        arguments.print.set(name, value)?;
    }
    Ok(arguments)
}

fn take_option<'w>(
    arguments: &mut Arguments,
    word: &str,
    name: &str,
    value: Option<&'w str>,
    next: impl FnOnce() -> Option<&'w str>,
) -> Result<(), String> {
    let Some(row) = OPTIONS.iter().find(|row| row.name == name) else {
        if let Some(global) = global_option(name) {
            let value = if global.takes == GlobalTakes::Value { value.or_else(next) } else { value };
            let value = global.value(value).map_err(|takes| format!("--{name}: {takes}"))?;
            arguments.pass_options.extend(value.map(|value| (global, value)));
            return Ok(());
        }
        if name.starts_with("xla_") || XLA_OPTIONS.contains(&name) {
            arguments.notes.push(format!("`{word}` means nothing here and is ignored"));
            return Ok(());
        }
        let shown = OPTIONS.iter().filter(|row| !row.help.is_empty()).map(|row| row.name);
        return Err(match did_you_mean(name, shown) {
            Some(close) => format!("there is no option `{word}`; did you mean `--{close}`?"),
            None => format!("there is no option `{word}`; --help lists them"),
        });
    };
    let about = |message: String| format!("{}: {message}", dashed(name));
    match row.takes {
        Switch(set) => match value {
            None | Some("true" | "1") => set(arguments, true),
            Some("false" | "0") => set(arguments, false),
            Some(other) => return Err(about(format!("takes `true` or `false`, not `{other}`"))),
        },
        Value(what, set) => {
            let value = value.or_else(next).ok_or_else(|| about(format!("takes a value: {what}")))?;
            set(arguments, value).map_err(about)?;
        }
        Optional(_, set) => set(arguments, value).map_err(about)?,
    }
    Ok(())
}

/// An option as it is written: names of one letter have one dash.
fn dashed(name: &str) -> String {
    if name.len() == 1 { format!("-{name}") } else { format!("--{name}") }
}

/// A list that shows how passes take options.
pub(super) const EXAMPLE: &str = "inline-weights{dir=weights},dce";

/// Writes `--help`.
pub(super) fn write_help(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Reads HLO text or a protocol buffer (.pb, .pbtxt), runs passes over it and prints it.\n")?;
    writeln!(out, "Usage: hlo-opt [FILE|-] [--passes=PASS,...] [OPTIONS]\n\nOptions:")?;
    for row in OPTIONS.iter().filter(|row| !row.help.is_empty()) {
        let name = dashed(row.name);
        let form = match row.takes {
            Switch(_) => name,
            Value(what, _) if row.name.len() == 1 => format!("{name} {what}"),
            Value(what, _) => format!("{name}={what}"),
            Optional(what, _) => format!("{name}[={what}]"),
        };
        writeln!(out, "  {form:<40} {}", row.help)?;
    }
    writeln!(
        out,
        "\nA pass takes options in braces: --passes='{EXAMPLE}'.\n\
         Exit status: 0 fine, 2 wrong usage or unreadable file, 3 not HLO text, 4 invalid module, 5 a pass failed or is\n\
         not implemented, 134 a pass panicked."
    )
}

/// Every option that is shown: as it is written, what its value is called, what it does.
pub(crate) fn shown_options() -> impl Iterator<Item = (String, Option<&'static str>, &'static str)> {
    OPTIONS.iter().filter(|row| !row.help.is_empty()).map(|row| {
        let value = match row.takes {
            Switch(_) => None,
            Value(what, _) | Optional(what, _) => Some(what),
        };
        (dashed(row.name), value, row.help)
    })
}
