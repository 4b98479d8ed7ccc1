//! `hlo-check completions SHELL`: scripts for shells, which ask `hlo-check` itself what may stand at the cursor. So all
//! shells complete the same, from the tables that programs read their command lines with.

use std::collections::BTreeSet;
use std::io;

use clap::CommandFactory;
use hlo_passes::registry::{self, Status};
use hlo_text::diagnostic::Code;

use super::options::{Syntax, Takes, Words};
use super::test::Cli;
use super::{Arguments, SUBCOMMANDS, Streams};

/// The hidden subcommand that scripts call: with the words of a command line up to the cursor.
pub(super) const WORDS: &str = "complete-words";

/// Stands for names of files in an answer.
const FILES: &str = ":files";

pub(super) const SYNTAX: Syntax = Syntax {
    operands: "SHELL",
    words: Words::OneOf("bash|zsh|fish|powershell"),
    options: &[],
    about: "Prints a script that completes the command lines of hlo-check and hlo-opt in a shell: bash, zsh, fish or\n\
            powershell. Subcommands, options, their values, keys of passes and files are completed.",
    notes: "Example: hlo-check completions bash > ~/.local/share/bash-completion/completions/hlo-check\n\
            bash and zsh: source <(hlo-check completions bash)   fish: hlo-check completions fish | source\n\
            powershell: hlo-check completions powershell | Out-String | Invoke-Expression",
};

/// Prints the script for a shell.
pub(super) fn run(command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let given = match SYNTAX.read(command, args, streams)? {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let script = match given.operands[..] {
        ["bash"] => BASH,
        ["zsh"] => ZSH,
        ["fish"] => FISH,
        ["powershell"] => POWERSHELL,
        [other] => {
            let message =
                format!("there is no script for `{other}`; bash, zsh, fish and powershell have one");
            return SYNTAX.misused(command, &message, streams);
        }
        _ => return SYNTAX.misused(command, "one shell is named", streams),
    };
    streams.out.write_all(script.replace("WORDS", WORDS).as_bytes())?;
    Ok(0)
}

/// Prints what may stand in place of the last word, one candidate in a line, each with a tab and what it is.
pub(super) fn words(_command: &str, args: &[String], streams: &mut Streams<'_>) -> io::Result<u8> {
    let Some((program, rest)) = args.split_first() else { return Ok(0) };
    let (current, before) = match rest.split_last() {
        Some((current, before)) => (current.as_str(), before),
        None => ("", &[][..]),
    };
    for (candidate, help) in candidates(program, before, current) {
        match help.is_empty() {
            true => writeln!(streams.out, "{candidate}")?,
            false => writeln!(streams.out, "{candidate}\t{help}")?,
        }
    }
    Ok(0)
}

/// An option as completion sees it.
struct Offer {
    name: String,
    value: Option<Words>,
    help: String,
}

/// What may follow on a command line.
struct Offers {
    options: Vec<Offer>,
    /// What isn't an option may be this.
    operands: Words,
    /// Subcommands may stand here.
    subcommands: bool,
}

/// What may stand in place of `current`, and what it is.
fn candidates(program: &str, before: &[String], current: &str) -> Vec<(String, String)> {
    let offers = offers(program, before);
    // `--option=` and what is typed of the value, or a value as a word of its own.
    if let Some((name, typed)) = current.split_once('=').filter(|_| current.starts_with('-')) {
        let Some(words) = value_of(&offers, name) else { return Vec::new() };
        let prefix = format!("{name}=");
        return of_words(words, typed)
            .into_iter()
            .map(|(word, help)| (if word == FILES { word } else { format!("{prefix}{word}") }, help))
            .collect();
    }
    if let Some(last) = before.last()
        && last.starts_with('-')
        && !last.contains('=')
        && let Some(words) = value_of(&offers, last)
    {
        return of_words(words, current);
    }
    let mut found = Vec::new();
    if current.starts_with('-') {
        for offer in offers.options.iter().filter(|offer| offer.name.starts_with(current)) {
            let equals = if offer.value.is_some() && offer.name.starts_with("--") { "=" } else { "" };
            found.push((format!("{}{equals}", offer.name), offer.help.clone()));
        }
        return found;
    }
    if offers.subcommands {
        let shown = SUBCOMMANDS.iter().filter_map(|subcommand| Some((subcommand.name, subcommand.summary?)));
        found.extend(
            shown
                .filter(|(name, _)| name.starts_with(current))
                .map(|(name, help)| (name.to_owned(), help.to_owned())),
        );
    }
    found.extend(of_words(offers.operands, current));
    found
}

fn value_of(offers: &Offers, name: &str) -> Option<Words> {
    offers.options.iter().find(|offer| offer.name == name)?.value
}

/// The words of a vocabulary that begin as typed; of lists only the last part changes.
fn of_words(words: Words, typed: &str) -> Vec<(String, String)> {
    let begins = |word: &str, typed: &str| word.starts_with(typed);
    match words {
        Words::Any => Vec::new(),
        Words::Files => vec![(FILES.to_owned(), String::new())],
        Words::OneOf(known) => {
            let fitting = known.split('|').filter(|word| begins(word, typed));
            fitting.map(|word| (word.to_owned(), String::new())).collect()
        }
        Words::Passes => {
            let at = typed.rfind(',').map_or(0, |comma| comma + 1);
            let (list, last) = typed.split_at(at);
            passes(true)
                .filter(|(key, _)| begins(key, last))
                .map(|(key, help)| (format!("{list}{key}"), help.to_owned()))
                .collect()
        }
        Words::Topics => {
            let codes = Code::ALL.iter().map(|code| (code.as_str(), code.title()));
            codes
                .chain(passes(false))
                .filter(|(word, _)| begins(word, typed))
                .map(|(word, help)| (word.to_owned(), help.to_owned()))
                .collect()
        }
    }
}

/// The keys of passes, perhaps only of those that can be run, and what they do.
fn passes(only_running: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    registry::all()
        .filter(move |info| !only_running || !matches!(info.status, Status::Unimplemented(_)))
        .map(|info| (info.key, info.doc))
}

/// What may follow the words `before` the cursor.
fn offers(program: &str, before: &[String]) -> Offers {
    let stem = std::path::Path::new(program).file_stem().and_then(|stem| stem.to_str()).unwrap_or(program);
    let subcommand = SUBCOMMANDS.iter().find(|subcommand| subcommand.program == Some(stem)).or_else(|| {
        let first = before.first()?;
        SUBCOMMANDS.iter().find(|subcommand| subcommand.name == first)
    });
    let Some(subcommand) = subcommand else { return offers_of_tests(before.is_empty()) };
    let shared = |(name, value, help): (String, Option<&'static str>, &'static str)| Offer {
        name,
        value: value.map(Words::of),
        help: help.to_owned(),
    };
    let (options, operands): (Vec<Offer>, Words) = match subcommand.arguments {
        Arguments::Hidden => (Vec::new(), Words::Any),
        Arguments::Opt => (crate::opt::shown_options().map(shared).collect(), Words::Files),
        Arguments::FileCheck => (crate::filecheck::cli::shown_options().map(shared).collect(), Words::Files),
        Arguments::Own(syntax) => {
            let own = syntax.options.iter().map(|row| {
                let value = match row.takes {
                    Takes::Nothing => None,
                    Takes::Value(what) => Some(Words::of(what)),
                };
                Offer { name: row.name.to_owned(), value, help: row.help.to_owned() }
            });
            let help =
                Offer { name: "--help".to_owned(), value: None, help: "prints what it does".to_owned() };
            (own.chain([help]).collect(), syntax.words)
        }
    };
    Offers { options, operands, subcommands: false }
}

/// What test runs take.
fn offers_of_tests(is_first: bool) -> Offers {
    let command = Cli::command();
    let mut options = Vec::new();
    let mut seen = BTreeSet::new();
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let takes_value = argument.get_action().takes_values();
        let value = takes_value.then(|| {
            let is_path = argument.get_value_names().is_some_and(|names| {
                names.iter().any(|name| matches!(name.as_str(), "PATH" | "DIR" | "FILE"))
            });
            if is_path { Words::Files } else { Words::Any }
        });
        let help = argument.get_help().map(|help| help.to_string()).unwrap_or_default();
        for long in argument.get_long_and_visible_aliases().unwrap_or_default() {
            if seen.insert(long.to_owned()) {
                options.push(Offer { name: format!("--{long}"), value, help: help.clone() });
            }
        }
        if let Some(short) = argument.get_short() {
            options.push(Offer { name: format!("-{short}"), value, help });
        }
    }
    Offers { options, operands: Words::Files, subcommands: is_first }
}

/// bash splits words at `=` and `:`; the script takes whole words from the line, and gives back what follows the last
/// such character.
const BASH: &str = r#"# bash completion for hlo-check and hlo-opt
_hlo_check() {
    local line=${COMP_LINE:0:COMP_POINT} words current candidate kept
    read -r -a words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[${#words[@]}-1]}
    kept=${current%"${current##*[=:]}"}
    COMPREPLY=()
    compopt +o nospace 2>/dev/null
    while IFS=$'\t' read -r candidate _; do
        if [[ $candidate == :files ]]; then
            local file
            compopt -o filenames 2>/dev/null
            while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "${current#"$kept"}")
        else
            [[ $candidate == *= ]] && compopt -o nospace 2>/dev/null
            COMPREPLY+=("${candidate#"$kept"}")
        fi
    done < <(hlo-check WORDS "${words[@]}" 2>/dev/null)
}
complete -F _hlo_check hlo-check hlo-opt
"#;

const ZSH: &str = r#"#compdef hlo-check hlo-opt
_hlo_check() {
    local line candidate
    local -a plain open
    local files=
    for line in "${(@f)$(hlo-check WORDS "${(@)words[1,CURRENT]}" 2>/dev/null)}"; do
        candidate=${line%%$'\t'*}
        case $candidate in
            '') ;;
            :files) files=1 ;;
            *=) open+=("$candidate") ;;
            *) plain+=("$candidate") ;;
        esac
    done
    (( ${#plain} )) && compadd -- "${plain[@]}"
    (( ${#open} )) && compadd -S '' -- "${open[@]}"
    if [[ -n $files ]]; then
        compset -P '*='
        _files
    fi
}
if [[ ${funcstack[1]} == _hlo_check ]]; then
    _hlo_check "$@"
else
    compdef _hlo_check hlo-check hlo-opt
fi
"#;

const FISH: &str = r#"# fish completion for hlo-check and hlo-opt
function __hlo_check_words
    set -l words (commandline -opc) (commandline -ct)
    for line in (hlo-check WORDS $words 2>/dev/null)
        if test "$line" = :files
            set -l current (commandline -ct)
            set -l option (string match -r -- '^-[^=]*=' $current)
            for file in (__fish_complete_path (string replace -r -- '^-[^=]*=' '' $current))
                echo $option$file
            end
        else
            echo $line
        end
    end
end
complete -c hlo-check -f -a '(__hlo_check_words)'
complete -c hlo-opt -f -a '(__hlo_check_words)'
"#;

const POWERSHELL: &str = r#"# PowerShell completion for hlo-check and hlo-opt
Register-ArgumentCompleter -Native -CommandName hlo-check, hlo-opt -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    if ($wordToComplete -eq '') { $words += '""' }
    hlo-check WORDS @words | ForEach-Object {
        $candidate, $help = $_ -split "`t", 2
        if ($candidate -eq ':files') {
            $option = if ($wordToComplete -match '^(-[^=]*=)') { $Matches[1] } else { '' }
            Get-ChildItem -Path ($wordToComplete.Substring($option.Length) + '*') -Name | ForEach-Object {
                [System.Management.Automation.CompletionResult]::new("$option$_", $_, 'ParameterValue', $_)
            }
        } else {
            $tip = if ($help) { $help } else { $candidate }
            [System.Management.Automation.CompletionResult]::new($candidate, $candidate, 'ParameterValue', $tip)
        }
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(words: &[&str]) -> Vec<String> {
        let (current, before) = words[1..].split_last().unwrap_or((&"", &[]));
        let before: Vec<String> = before.iter().map(|&word| word.to_owned()).collect();
        candidates(words[0], &before, current).into_iter().map(|(candidate, _)| candidate).collect()
    }

    #[test]
    fn subcommands_and_files_come_first() {
        let found = complete(&["hlo-check", ""]);
        let shown = SUBCOMMANDS.iter().filter(|subcommand| subcommand.summary.is_some());
        assert!(shown.clone().all(|subcommand| found.contains(&subcommand.name.to_owned())));
        assert_eq!(found.len(), shown.count() + 1);
        assert!(found.contains(&FILES.to_owned()));
        assert_eq!(complete(&["/usr/bin/hlo-check", "stat"]), ["stats", FILES]);
        assert_eq!(complete(&["hlo-check", "x.hlo", "dif"]), [FILES]);
    }

    #[test]
    fn keys_of_passes_are_completed_in_lists() {
        assert_eq!(complete(&["hlo-opt", "--passes=tuple-simp"]), ["--passes=tuple-simplifier"]);
        assert_eq!(
            complete(&["hlo-check", "opt", "--passes=dce,tuple-simp"]),
            ["--passes=dce,tuple-simplifier"]
        );
        assert_eq!(complete(&["hlo-opt", "x.hlo", "--passes", "dce,tuple-simp"]), ["dce,tuple-simplifier"]);
        assert!(complete(&["hlo-check", "explain", "HLO000"]).contains(&"HLO0008".to_owned()));
        assert!(complete(&["hlo-check", "explain", "tuple-"]).contains(&"tuple-simplifier".to_owned()));
    }

    #[test]
    fn options_and_their_values_are_completed() {
        assert_eq!(complete(&["hlo-check", "diff", "--str"]), ["--structural"]);
        assert_eq!(complete(&["hlo-check", "diff", "--contex"]), ["--context="]);
        assert_eq!(complete(&["hlo-check", "diff", "--error-format="]).len(), 3);
        assert_eq!(complete(&["hlo-check", "stats", "--error-format", "j"]), ["json"]);
        assert_eq!(complete(&["hlo-opt", "--syntax=as"]), ["--syntax=as-read"]);
        assert_eq!(complete(&["hlo-opt", "-o", ""]), [FILES]);
        assert_eq!(complete(&["FileCheck", "--check-prefix"]), ["--check-prefix=", "--check-prefixes="]);
        assert_eq!(complete(&["hlo-check", "--show-suit"]), ["--show-suites"]);
        assert_eq!(complete(&["hlo-check", "completions", "z"]), ["zsh"]);
        assert!(complete(&["hlo-check", "diff", "--nothing="]).is_empty());
    }

    #[test]
    fn every_subcommand_has_help_for_every_option() {
        for subcommand in SUBCOMMANDS {
            for offer in offers("hlo-check", &[subcommand.name.to_owned()]).options {
                assert!(!offer.help.is_empty(), "{} {}", subcommand.name, offer.name);
            }
        }
    }
}
