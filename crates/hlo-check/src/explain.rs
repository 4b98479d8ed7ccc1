//! What a diagnostic code or a pass is, for people.

use std::io::{self, Write};

use hlo_passes::options::OptionType;
use hlo_passes::registry::codes::{CODED_ERRORS, CodedError, coded_error};
use hlo_passes::registry::{self, Confidence, Meaning, NamedPipeline, PassInfo};
use hlo_text::diagnostic::{Code, did_you_mean};

use crate::cli::exit;

/// Explains `topic`: a diagnostic code, the key of a pass, or `all` codes. The exit status, or the error of a stream.
///
/// # Errors
/// Those of the streams.
pub fn run(topic: &str, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
    if topic == "all" {
        for &code in Code::ALL {
            explain_code(code, out)?;
            writeln!(out)?;
        }
        for error in CODED_ERRORS {
            explain_coded(error, out)?;
            writeln!(out)?;
        }
        return Ok(0);
    }
    if let Some(code) = code_of(topic) {
        explain_code(code, out)?;
        return Ok(0);
    }
    if let Some(error) = coded_error(&topic.to_ascii_uppercase()) {
        explain_coded(error, out)?;
        return Ok(0);
    }
    if let Some(info) = registry::find(topic) {
        explain_pass(info, out)?;
        return Ok(0);
    }
    if let Some(pipeline) = topic.strip_prefix('@').and_then(registry::find_pipeline) {
        explain_pipeline(pipeline, out)?;
        return Ok(0);
    }
    let pipelines: Vec<String> =
        registry::PIPELINES.iter().map(|pipeline| format!("@{}", pipeline.name)).collect();
    let known = Code::ALL.iter().map(|code| code.as_str()).chain(registry::all().map(|info| info.key));
    let known = known.chain(CODED_ERRORS.iter().map(|error| error.code));
    let known = known.chain(pipelines.iter().map(String::as_str));
    let is_begun = registry::all().any(|info| info.key.starts_with(topic));
    let begun = registry::nearest(topic).filter(|_| is_begun);
    match begun.or_else(|| did_you_mean(topic, known)).or_else(|| registry::nearest(topic)) {
        Some(close) => writeln!(err, "error: there is no code or pass `{topic}`; did you mean `{close}`?")?,
        None => writeln!(
            err,
            "error: there is no code or pass `{topic}`; hlo-opt --list-passes lists the passes"
        )?,
    }
    Ok(exit::USAGE)
}

/// The code meant by `HLO0008`, in letters of either case, or by `8`.
fn code_of(topic: &str) -> Option<Code> {
    let by_number = || {
        let digits = Some(topic).filter(|topic| topic.bytes().all(|byte| byte.is_ascii_digit()))?;
        Code::from_text(&format!("HLO{:04}", digits.parse::<u32>().ok()?))
    };
    Code::from_text(topic).or_else(by_number)
}

/// The longest line of an example that is shown in full, in characters.
const SHOWN_COLUMNS: usize = 200;

fn explain_code(code: Code, out: &mut dyn Write) -> io::Result<()> {
    let explanation = code.explanation();
    writeln!(out, "{}: {}\n\n{}", code.as_str(), code.title(), explanation.text.trim())?;
    if explanation.failing.is_empty() {
        return Ok(());
    }
    for (heading, example) in [("Refused:", explanation.failing), ("Fine:", explanation.fixed)] {
        let heading = if heading == "Refused:" && code.is_warning() { "Warned about:" } else { heading };
        writeln!(out, "\n{heading}\n")?;
        for line in String::from_utf8_lossy(example).lines() {
            let mut shown: String = line.chars().take(SHOWN_COLUMNS).collect();
            if shown.len() < line.len() {
                shown.push_str("...");
            }
            writeln!(out, "{}", format!("    {shown}").trim_end())?;
        }
    }
    Ok(())
}

fn explain_coded(error: &CodedError, out: &mut dyn Write) -> io::Result<()> {
    match error.text {
        "" => writeln!(out, "{}\n", error.code)?,
        text => writeln!(out, "{}: {text}\n", error.code)?,
    }
    writeln!(out, "cause: {}\nresolution: {}", error.cause, error.resolution)
}

fn explain_pass(info: &PassInfo, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}\n", info.key, info.doc)?;
    let status = match info.status.reason() {
        Some(reason) => format!("{}: {reason}", info.status.name()),
        None => info.status.name().to_owned(),
    };
    writeln!(out, "  status      {status}")?;
    writeln!(out, "  class       {} ({:?}, {:?})", info.class, info.origin, info.kind)?;
    let meaning = match info.meaning {
        Meaning::Same => "computes the same afterwards".to_owned(),
        Meaning::SameAfter(reading) => format!("computes the same afterwards if {reading}"),
        Meaning::Changes(what) => format!("changes what is computed: {what}"),
    };
    writeln!(out, "  meaning     {meaning}")?;
    if !info.may_remove.is_empty() {
        let effects: Vec<String> = info.may_remove.iter().map(|effect| format!("{effect:?}")).collect();
        writeln!(out, "  may remove  {}", effects.join(", "))?;
    }
    let confidence = match info.confidence {
        Confidence::Certain => "the original's behaviour is known exactly",
        Confidence::High => "the original's data flow is known; small details may differ",
        Confidence::Medium => "the original's structure is known; a detail is our choice",
        Confidence::Low => "part of the original is known, the rest inferred",
        Confidence::Ours => "only the original's name is known, or the pass is this project's own",
    };
    writeln!(out, "  confidence  {confidence}")?;
    for option in info.options {
        let default = match option.kind {
            OptionType::Flag(on) => on.to_string(),
            OptionType::Integer(number) => number.to_string(),
            OptionType::Text("") => "none".to_owned(),
            OptionType::Text(text) => format!("`{text}`"),
            OptionType::List => "none".to_owned(),
        };
        let takes = option.kind.describe();
        writeln!(out, "  option      {}: {} ({takes}; default: {default})", option.name, option.doc)?;
    }
    let documentation = info.documentation().unwrap_or_default();
    // The first paragraph repeats the line above.
    if let Some((_, rest)) = documentation.split_once("\n\n") {
        writeln!(out)?;
        write_documentation(rest, out)?;
    }
    let Some(example) = info.example() else { return Ok(()) };
    let options = if example.options.is_empty() { String::new() } else { format!("{{{}}}", example.options) };
    writeln!(out, "\nExample, --passes='{}{options}':", info.key)?;
    for (heading, text) in [("Before", example.before), ("After", example.after)] {
        writeln!(out, "\n{heading}:\n")?;
        for line in text.trim_end().lines() {
            writeln!(out, "{}", format!("    {line}").trim_end())?;
        }
    }
    Ok(())
}

/// Writes markdown for a terminal: code is indented.
fn write_documentation(rest: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut is_example = false;
    for line in rest.lines() {
        if line.starts_with("```") {
            is_example = !is_example;
        } else if is_example {
            writeln!(out, "{}", format!("    {line}").trim_end())?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

fn explain_pipeline(pipeline: &NamedPipeline, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "@{}: {}\n\n{}\n\nIts passes:\n", pipeline.name, pipeline.doc, pipeline.documentation)?;
    for key in pipeline.passes {
        let doc = registry::find(key).map_or("", |info| info.doc);
        writeln!(out, "  {key}: {doc}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explain(topic: &str) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let status = run(topic, &mut out, &mut err).expect("memory takes everything");
        let text = |bytes| String::from_utf8(bytes).expect("messages are UTF-8");
        (status, text(out), text(err))
    }

    #[test]
    fn every_code_and_every_pass_is_explained() {
        for code in Code::ALL {
            let (status, text, _) = explain(code.as_str());
            assert_eq!(status, 0);
            assert!(text.contains(code.title()) && text.contains(code.explanation().text), "{text}");
            assert_eq!(text.contains("\nFine:\n"), !code.explanation().failing.is_empty(), "{text}");
        }
        for info in registry::all() {
            let text = explain(info.key).1;
            assert!(text.contains(info.doc));
            assert_eq!(text.contains("\nAfter:\n"), info.example().is_some(), "{text}");
            assert_eq!(text.matches("; default: ").count(), info.options.len(), "{text}");
        }
        for pipeline in registry::PIPELINES {
            let (status, text, _) = explain(&format!("@{}", pipeline.name));
            assert_eq!(status, 0);
            assert!(pipeline.passes.iter().all(|key| text.contains(&format!("\n  {key}: "))), "{text}");
        }
        assert!(explain("all").1.len() > 30 * Code::ALL.len());
    }

    #[test]
    fn codes_may_be_written_in_short() {
        let (_, expected, _) = explain("HLO0008");
        for topic in ["hlo0008", "Hlo0008", "8", "0008"] {
            assert_eq!(explain(topic), (0, expected.clone(), String::new()), "{topic}");
        }
        for topic in ["", "HLO", "HLO9999", "99999999999", "é8", "-8", "+8"] {
            assert_eq!(explain(topic).0, exit::USAGE, "{topic}");
        }
    }

    #[test]
    fn what_is_not_known_is_guessed_at() {
        let (status, _, message) = explain("legalise-compare");
        assert_eq!(status, exit::USAGE);
        assert!(message.contains("did you mean `legalize-compare`?"), "{message}");
    }
}
