//! What to do with a text that isn't HLO because of what stands around it: the programs that want HLO name those that read
//! what people paste.

use hlo_text::diagnostic::{Code, Diagnostic};

use crate::debug::paste::{lines, repair};

/// Longer texts aren't pasted; looking at them takes time.
const MAX_PASTED: usize = 1 << 20;

/// Adds to the first of `diagnostics`, which are about the text of the file `name`, that
/// `hlo-check try` and `hlo-check debug` can read it, if they can and what is wrong is what stands around the HLO: the
/// prefixes of a log, Markdown, quotation marks, the marks of a difference.
pub(crate) fn advise(diagnostics: &mut [Diagnostic], bytes: &[u8], name: &str) {
    let Some(first) = diagnostics.first_mut() else { return };
    if bytes.len() > MAX_PASTED || !matches!(first.code, Code::UnexpectedToken | Code::NotHloText) {
        return;
    }
    let mut around = Vec::new();
    lines::clean(&String::from_utf8_lossy(bytes), &mut around);
    if around.is_empty() || repair(bytes).is_err() {
        return;
    }
    // Standard input has been read and must be saved first.
    let name = if matches!(name, "-" | "<stdin>") { "FILE" } else { name };
    let advice = format!(
        "this looks like HLO with something around it; `hlo-check try {name}` and `hlo-check debug {name}` take that off"
    );
    first.help = Some(match first.help.take() {
        // Words that are almost HLO's are what people write to each other.
        Some(help) if !help.starts_with("did you mean") => format!("{help}; {advice}"),
        _ => advice,
    });
}

#[cfg(test)]
mod tests {
    use hlo_text::{ParseOptions, parse_bytes};

    use super::*;

    fn help(text: &str) -> Option<String> {
        let mut diagnostics =
            parse_bytes(text.as_bytes(), &ParseOptions::default()).expect_err("not HLO").diagnostics;
        advise(&mut diagnostics, text.as_bytes(), "f.txt");
        diagnostics.into_iter().next().and_then(|first| first.help)
    }

    const MODULE: &str = "HloModule m\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n";

    fn with_prefix(prefix: &str) -> String {
        MODULE.lines().map(|line| format!("{prefix}{line}\n")).collect()
    }

    #[test]
    fn pasted_texts_are_known() {
        for text in [
            with_prefix("2024-05-01 12:00:00.123456: I xla/service/hlo_pass_pipeline.cc:100] "),
            with_prefix("> "),
            format!("I0501 12:00:00.000000 12 foo.cc:12] This is it:\n{MODULE}"),
            format!("Look at this:\n\n```\n{MODULE}```\n"),
            format!("```hlo\n{MODULE}```\n"),
            format!("--- a\n+++ b\n@@ -1,5 +1,5 @@\n{}", with_prefix("+")),
        ] {
            let help = help(&text).unwrap_or_default();
            assert!(help.contains("`hlo-check try f.txt`"), "{text}: {help}");
        }
    }

    #[test]
    fn faults_of_hlo_are_told_as_before() {
        for text in [
            MODULE.replace("HloModule", "HloModul"),
            MODULE.replace("parameter", "paramter"),
            MODULE.replace('}', ""),
            "```\nHloModule m\n".to_owned(),
            "I0501 12:00:00.000000 12 foo.cc:12] Nothing here\n".to_owned(),
            format!("> {}", " ".repeat(MAX_PASTED)),
        ] {
            assert!(!help(&text).unwrap_or_default().contains("hlo-check try"), "{text}");
        }
    }
}
