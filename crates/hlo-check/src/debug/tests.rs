//! Whole sessions: every transcript under `tests/debug`, every example of the help, and the documentation's walk.
//! `HLO_BLESS=1` writes what is said anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hlo_text::ir::Opcode;

use super::commands::{self, Answer, COMMANDS};
use super::script::{self, PROMPT};
use super::session::Session;
use super::terminal::complete;
use super::world::World;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/debug")
}

/// A folder with copies of the transcripts' inputs, for sessions that write files.
fn workplace() -> tempfile::TempDir {
    let workplace = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(folder()).expect("the transcripts") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "hlo" || extension == "txt") {
            let name = path.file_name().expect("a file has a name");
            std::fs::copy(&path, workplace.path().join(name)).expect("a copy");
        }
    }
    workplace
}

fn session(workplace: &Path) -> Session {
    Session::new(World {
        current_dir: workplace.to_owned(),
        scratch_dir: Some(workplace.to_owned()),
        environment: Some(BTreeMap::new()),
        color: false,
    })
}

/// What a script says to the module of `file`.
fn transcript(file: Option<&str>, input: &str) -> (u8, String) {
    let workplace = workplace();
    let mut session = session(workplace.path());
    let mut out = Vec::new();
    if let Some(file) = file {
        let bytes = session.world.read_file(file).expect("the input");
        let text = commands::read(&mut session, file, Some(file), &bytes).expect("HLO");
        out.extend_from_slice(text.as_bytes());
    }
    let status = script::run(&mut session, input, &mut out).expect("memory takes everything");
    (status, String::from_utf8(out).expect("UTF-8"))
}

#[test]
fn sessions_say_what_their_transcripts_say() {
    let bless = std::env::var_os("HLO_BLESS").is_some();
    let mut names = Vec::new();
    let mut different = Vec::new();
    for entry in std::fs::read_dir(folder()).expect("the transcripts") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "in") {
            continue;
        }
        names.push(path.file_stem().expect("a name").to_string_lossy().into_owned());
        let input = std::fs::read_to_string(&path).expect("a transcript");
        let (_, said) = transcript(Some("example.hlo"), &input);
        let expected = path.with_extension("out");
        if bless {
            std::fs::write(&expected, said).expect("it can be written");
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != said {
            different.push(format!("{}:\n{said}", path.display()));
        }
    }
    assert!(different.is_empty(), "HLO_BLESS=1 writes these anew:\n{}", different.join("\n"));
    for command in COMMANDS {
        assert!(names.iter().any(|name| name == command.name), "no transcript shows `{}`", command.name);
    }
}

#[test]
fn examples_of_the_help_can_be_run() {
    for command in COMMANDS {
        let (status, said) = transcript(Some("example.hlo"), command.example);
        assert_eq!(status, 0, "{}: {said}", command.name);
    }
}

#[test]
fn names_of_commands_are_unique_and_documented() {
    let documentation = documentation();
    let mut names: Vec<&str> =
        COMMANDS.iter().flat_map(|command| command.aliases.iter().chain([&command.name])).copied().collect();
    for command in COMMANDS {
        let entry = format!("| `{}", command.name);
        assert!(documentation.contains(&entry), "docs/debugging.md says nothing of `{}`", command.name);
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    // What is pasted must not be taken for a command.
    assert!(Opcode::ALL.iter().all(|opcode| commands::find(&format!("{}.1", opcode.name())).is_none()));
}

fn documentation_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/debugging.md")
}

fn documentation() -> String {
    std::fs::read_to_string(documentation_path()).expect("the documentation")
}

/// What begins and ends the blocks of the documentation's walk.
const BLOCK: &str = "```session\n";
const BLOCK_END: &str = "```";

/// The walk of the documentation is a session over the dump that lies here: its blocks hold what is typed, behind
/// prompts, and what is said.
#[test]
fn the_walk_of_the_documentation_is_true() {
    let documentation = documentation();
    let mut pieces = documentation.split(BLOCK);
    let mut written = pieces.next().unwrap_or_default().to_owned();
    let blocks: Vec<(&str, &str)> = pieces.filter_map(|piece| piece.split_once(BLOCK_END)).collect();
    let typed_in = |block: &str| -> Vec<String> {
        block.lines().filter_map(|line| line.strip_prefix(PROMPT)).map(str::to_owned).collect()
    };
    let typed: Vec<String> = blocks.iter().flat_map(|(block, _)| typed_in(block)).collect();
    assert!((1..10).contains(&typed.len()), "{typed:?}");
    assert!(typed.iter().any(|line| line.starts_with("save-test ")), "{typed:?}");
    let (status, said) = transcript(Some("gelu-dump.txt"), &typed.join("\n"));
    assert_eq!(status, 0, "{said}");
    let first = said.find(PROMPT).unwrap_or(said.len());
    let mut answers = said[first..].split(PROMPT).skip(1);
    for (index, (block, rest)) in blocks.iter().enumerate() {
        written.push_str(BLOCK);
        if index == 0 {
            written.push_str(&said[..first]);
        }
        for answer in answers.by_ref().take(typed_in(block).len()) {
            written.push_str(PROMPT);
            written.push_str(answer);
        }
        written.push_str(BLOCK_END);
        written.push_str(rest);
    }
    if std::env::var_os("HLO_BLESS").is_some() {
        std::fs::write(documentation_path(), written).expect("it can be written");
    } else {
        assert_eq!(written, documentation, "docs/debugging.md shows something else than what is said");
    }
}

#[test]
fn faults_end_no_session() {
    let lines = "pass\nnext\nundo\nhistory\nprint\n%x\n\u{0}\n```\nfoo\n```\n}\nHloModule\n";
    let (status, said) = transcript(None, lines);
    assert_eq!(status, crate::cli::exit::CHECK);
    assert!(said.matches("error: ").count() >= 5, "{said}");
}

#[test]
fn panics_of_commands_end_no_session() {
    let workplace = workplace();
    let mut session = session(workplace.path());
    for line in ["help", "", "   ", "quit now"] {
        assert!(commands::execute(&mut session, line).is_ok(), "{line}");
    }
    assert!(matches!(commands::execute(&mut session, "q"), Ok(Answer::End)));
}

#[test]
fn words_are_completed_by_what_stands_before_them() {
    let names = ["add.1".to_owned(), "gelu.4".to_owned()];
    for (line, begin, word) in [
        ("sho", 0, "show"),
        ("  hist", 2, "history"),
        ("pass legalize-comp", 5, "legalize-compare"),
        ("passes dce,legalize-comp", 11, "legalize-compare"),
        ("pass rewrite-module-dtype{fr", 26, "from="),
        ("pass rewrite-module-dtype{from=bf16 t", 36, "to="),
        ("show %ge", 6, "gelu.4"),
        ("show ge", 5, "gelu.4"),
        ("why dce ge", 8, "gelu.4"),
        ("why dc", 4, "dce"),
        ("help ste", 5, "step"),
        ("explain HLO0001", 8, "HLO0001"),
    ] {
        let (at, found) = complete(line, &names);
        assert_eq!(at, begin, "{line}");
        assert!(found.iter().any(|found| found == word), "{line}: {found:?}");
    }
    for line in ["nothing x", "quit x", "save x"] {
        assert!(complete(line, &names).1.is_empty(), "{line}");
    }
}
