//! Colours and cuts of what is shown.

/// What a piece of output is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tint {
    /// What headings and numbers of states are in.
    Strong,
    /// What matters less.
    Faint,
}

/// `text` in the colour of `tint`, if colours are wanted.
pub(crate) fn paint(color: bool, tint: Tint, text: &str) -> String {
    if !color || text.is_empty() {
        return text.to_owned();
    }
    let code = match tint {
        Tint::Strong => "1",
        Tint::Faint => "2",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// `count` things: `1 rewrite`, `2 rewrites`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// The longest line of a module that is shown outside `print`, in characters: real constants are longer.
pub(crate) const SHOWN_COLUMNS: usize = 300;

/// `line` cut to a length that can be read.
pub(crate) fn shorten(line: &str) -> String {
    // Most lines are short, and bytes are at least as many as characters.
    if line.len() <= SHOWN_COLUMNS || line.chars().count() <= SHOWN_COLUMNS {
        return line.to_owned();
    }
    line.chars().take(SHOWN_COLUMNS).chain("...".chars()).collect()
}

/// `text`, or if it has many more than `limit` lines, its first and last ones (the root is among these), and how many
/// there are between them. A cut leaves out at least a quarter of `limit`: a few lines aren't worth one.
pub(crate) fn first_lines(text: &str, limit: usize, how: &str) -> String {
    let count = text.lines().count();
    let tail = limit / 4;
    if count <= limit + tail {
        return text.to_owned();
    }
    let head = limit - tail;
    let mut shown = String::new();
    for (index, line) in text.lines().enumerate() {
        if index == head {
            shown.push_str(&format!("... {} ({how})\n", counted(count - limit, "more line")));
        }
        if index < head || index >= count - tail {
            shown.push_str(line);
            shown.push('\n');
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_leave_out_many_lines_and_never_the_last() {
        let lines = |count: usize| (1..=count).map(|line| format!("{line}\n")).collect::<String>();
        for count in [0, 1, 8, 10] {
            assert_eq!(first_lines(&lines(count), 8, ""), lines(count));
        }
        let cut = "1\n2\n3\n4\n5\n6\n... 3 more lines (how)\n10\n11\n";
        assert_eq!(first_lines(&lines(11), 8, "how"), cut);
    }
}
