//! What stands around HLO in pasted lines: fences, log prefixes, quotation marks, diff markers, colours, numbers.

use std::sync::LazyLock;

use regex::Regex;

use super::Repair;

/// A line that is left of a pasted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its number in the pasted text, from 1.
    pub(crate) number: usize,
    /// What it says, without what stood around it.
    pub(crate) text: String,
}

/// The lines of a pasted text that are HLO.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cleaned {
    pub(crate) lines: Vec<Line>,
}

impl Cleaned {
    /// The lines as one text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }
}

/// What programs that log write before each line, one row per habit; what stands before HLO is none of it.
const PREFIXES: &[(&str, &str)] = &[
    // I0000 00:00:1700000000.123456   12345 file.cc:12] text
    ("log prefixes", r"^\s*[IWEF]\d{4} \d{2}:\d{2}:\d{2,}(?:\.\d+)?\s+\d+ [\w./+-]+:\d+\] ?"),
    // 2024-01-01 00:00:00.000000: I xla/service/file.cc:12] text
    ("log prefixes", r"^\s*\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}[.,]\d+:? [IWEF] +[\w./+-]+:\d+\] ?"),
    // 2024-01-01 00:00:00,000 - name - INFO - text; also with blanks, colons or brackets between
    (
        "log prefixes",
        r"^\s*\[?\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?\]?(?: ?[-:|]? ?(?:\[[\w./: -]*\]|[\w./]+(?: -| ?:| \|)|(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE)\b ?[-:|]?))* ?",
    ),
    // INFO:name:text and INFO - text
    ("log prefixes", r"^\s*(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE)(?::[\w.]+:|:| -| \|) ?"),
    // [INFO] text
    ("log prefixes", r"^\s*\[(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE)\]:? ?"),
    // (task pid=123) text and (RayTrainWorker pid=123, ip=1.2.3.4) text
    ("log prefixes", r"^\((?:\w+ )?pid=\d+(?:, ip=[\d.]+)?\) ?"),
    // [rank0]: text and [0]: text and [1,0]<stdout>: text
    ("log prefixes", r"^\[(?:rank)?\d+(?:,\d+)?\](?:<std(?:out|err)>)?:? ?"),
    // stdout F text, behind the time that containers write
    ("log prefixes", r"^std(?:out|err) [FP] ?"),
    // 00:00:00.000 text
    ("log prefixes", r"^\s*\[?\d{2}:\d{2}:\d{2}(?:[.,]\d+)?\]? +"),
];

/// How many prefixes may stand before each other: a container's, a worker's, a logger's.
const MAX_PREFIXES: usize = 4;

static PREFIX: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    // The table's own tests compile every row.
    PREFIXES.iter().filter_map(|&(what, pattern)| Some((what, Regex::new(pattern).ok()?))).collect()
});

static COLOR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])").ok()
});

static LINE_NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\s*\d+(?:\t|\s*[:|│]\s?)").ok());

/// `line` without colours.
fn uncolored(line: &str) -> Option<String> {
    let regex = COLOR.as_ref()?;
    line.contains('\u{1b}').then(|| regex.replace_all(line, "").into_owned())
}

/// `line` behind the prefixes of loggers; `None` if it has none.
fn behind_prefix(line: &str) -> Option<&str> {
    let mut rest = line;
    for _ in 0..MAX_PREFIXES {
        let found = PREFIX.iter().find_map(|(_, regex)| regex.find(rest));
        match found.filter(|found| !found.is_empty()) {
            Some(found) => rest = rest.get(found.end()..).unwrap_or_default(),
            None => break,
        }
    }
    (rest.len() < line.len()).then_some(rest)
}

/// `line` without colours, prefixes of loggers, quotation marks and diff markers, as far as a single line tells.
pub(crate) fn bare(line: &str) -> String {
    let line = uncolored(line).unwrap_or_else(|| line.to_owned());
    let line = behind_prefix(&line).unwrap_or(&line);
    let mut rest = line;
    while let Some(inner) = rest.trim_start().strip_prefix('>') {
        rest = inner.strip_prefix(' ').unwrap_or(inner);
    }
    rest.strip_prefix(['+', '-']).unwrap_or(rest).to_owned()
}

/// Takes off what stands around HLO, and says what that was.
pub(crate) fn clean(text: &str, repairs: &mut Vec<Repair>) -> Cleaned {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let numbered = text.lines().enumerate();
    let mut lines: Vec<Line> =
        numbered.map(|(index, line)| Line { number: index + 1, text: line.to_owned() }).collect();
    rewrite(&mut lines, repairs, "colour codes removed", uncolored);
    strip_quotes(&mut lines, repairs);
    keep_fenced(&mut lines, repairs);
    strip_prefixes(&mut lines, repairs);
    strip_line_numbers(&mut lines, repairs);
    strip_quotes(&mut lines, repairs);
    keep_fenced(&mut lines, repairs);
    strip_diff(&mut lines, repairs);
    Cleaned { lines }
}

/// Changes the lines for which `change` gives something, and says so once for each run of them.
fn rewrite(
    lines: &mut [Line],
    repairs: &mut Vec<Repair>,
    what: &str,
    mut change: impl FnMut(&str) -> Option<String>,
) {
    let mut numbers = Vec::new();
    for line in lines {
        if let Some(text) = change(&line.text) {
            numbers.push(line.number);
            line.text = text;
        }
    }
    say(&numbers, what, repairs);
}

/// One repair over all the lines of these numbers.
fn say(numbers: &[usize], what: &str, repairs: &mut Vec<Repair>) {
    if let (Some(&line), Some(&last_line)) = (numbers.first(), numbers.last()) {
        repairs.push(Repair { line, last_line, what: what.to_owned() });
    }
}

/// Leaves out the lines for which `drop` holds.
fn leave_out(
    lines: &mut Vec<Line>,
    repairs: &mut Vec<Repair>,
    what: &str,
    mut drop: impl FnMut(&Line) -> bool,
) {
    let mut numbers = Vec::new();
    lines.retain(|line| {
        let drops = drop(line);
        if drops {
            numbers.push(line.number);
        }
        !drops
    });
    say(&numbers, what, repairs);
}

fn strip_prefixes(lines: &mut [Line], repairs: &mut Vec<Repair>) {
    rewrite(lines, repairs, "log prefixes removed", |line| behind_prefix(line).map(str::to_owned));
}

/// Quotation marks count if every line has them.
fn strip_quotes(lines: &mut [Line], repairs: &mut Vec<Repair>) {
    let is_quoted = |line: &Line| line.text.trim_start().starts_with('>');
    let mut written = lines.iter().filter(|line| !line.text.trim().is_empty()).peekable();
    if written.peek().is_none() || !written.all(is_quoted) {
        return;
    }
    rewrite(lines, repairs, "quotation marks `>` removed", |line| {
        let mut rest = line;
        while let Some(inner) = rest.trim_start().strip_prefix('>') {
            rest = inner.strip_prefix(' ').unwrap_or(inner);
        }
        (rest.len() < line.len()).then(|| rest.to_owned())
    });
}

/// Numbers of lines, as pagers and editors show them, count if nearly every line has one.
fn strip_line_numbers(lines: &mut [Line], repairs: &mut Vec<Repair>) {
    let Some(regex) = LINE_NUMBER.as_ref() else { return };
    let written = lines.iter().filter(|line| !line.text.trim().is_empty()).count();
    let numbered = lines.iter().filter(|line| regex.is_match(&line.text)).count();
    if numbered == 0 || numbered * 10 < written * 9 {
        return;
    }
    rewrite(lines, repairs, "line numbers removed", |line| {
        regex.find(line).map(|found| line.get(found.end()..).unwrap_or_default().to_owned())
    });
}

/// Of a text with Markdown fences, what stands between them; if one of a pair is missing, what is on its side.
fn keep_fenced(lines: &mut Vec<Line>, repairs: &mut Vec<Repair>) {
    let is_fence = |line: &Line| {
        let text = line.text.trim_start();
        text.starts_with("```") || text.starts_with("~~~")
    };
    let fences: Vec<usize> =
        lines.iter().enumerate().filter(|(_, line)| is_fence(line)).map(|(index, _)| index).collect();
    let Some(&first) = fences.first() else { return };
    let is_hlo = |lines: &[Line]| lines.iter().any(|line| looks_like_hlo(&line.text));
    // A single fence is what is left of a pair: the HLO is on one of its sides.
    let blocks: Vec<(usize, usize)> = if fences.len() == 1 {
        let before = (0, first);
        let after = (first + 1, lines.len());
        vec![if is_hlo(lines.get(after.0..).unwrap_or_default()) { after } else { before }]
    } else {
        let pairs = fences.chunks(2).map(|pair| match *pair {
            [open, close] => (open + 1, close),
            _ => (pair.first().map_or(0, |open| open + 1), lines.len()),
        });
        pairs.filter(|&(from, to)| is_hlo(lines.get(from..to).unwrap_or_default())).take(1).collect()
    };
    let Some(&(from, to)) = blocks.first() else { return };
    let numbers =
        (lines.get(from).map_or(0, |line| line.number), lines.get(to).map_or(usize::MAX, |line| line.number));
    leave_out(lines, repairs, "left out, since it isn't in the ``` block", |line| line.number < numbers.0);
    leave_out(lines, repairs, "left out, since it isn't in the ``` block", |line| line.number >= numbers.1);
}

/// Whether a line has something that only HLO has.
fn looks_like_hlo(line: &str) -> bool {
    let bare = bare(line);
    let words = bare.trim_start();
    words.starts_with("HloModule")
        || words.starts_with("ENTRY ")
        || crate::debug::gather::is_instruction(words)
}

/// Of a unified difference, the new side.
fn strip_diff(lines: &mut Vec<Line>, repairs: &mut Vec<Repair>) {
    let is_hunk =
        |text: &str| text.starts_with("@@ ") && text.get(3..).is_some_and(|rest| rest.contains("@@"));
    let is_file = |text: &str| {
        ["diff --git ", "index ", "--- ", "+++ ", "new file mode ", "deleted file mode ", "similarity index "]
            .iter()
            .any(|start| text.starts_with(start))
            && !crate::debug::gather::is_instruction(text)
    };
    let has_hunk = lines.iter().any(|line| is_hunk(&line.text));
    let is_marked = |line: &&Line| line.text.starts_with(['+', '-']) && !is_file(&line.text);
    let marks = lines.iter().filter(is_marked).count();
    let written = lines
        .iter()
        .filter(|line| !line.text.trim().is_empty() && !is_file(&line.text) && !is_hunk(&line.text));
    let all_marked = marks > 0 && written.clone().all(|line| line.text.starts_with(['+', '-', ' ', '\\']));
    if !has_hunk && !all_marked {
        return;
    }
    leave_out(lines, repairs, "headings of a difference left out", |line| {
        is_hunk(&line.text) || is_file(&line.text) || line.text.starts_with("\\ No newline")
    });
    let has_new = lines.iter().any(|line| line.text.starts_with('+'));
    let has_context = lines.iter().any(|line| line.text.starts_with(' '));
    if has_new || has_context {
        leave_out(lines, repairs, "lines the difference removes (`-`) left out", |line| {
            line.text.starts_with('-')
        });
    }
    rewrite(lines, repairs, "diff markers removed", |line| {
        line.strip_prefix(['+', '-', ' ']).map(str::to_owned)
    });
}
