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

/// The first `limit` lines of `text`, and how many more there are.
pub(crate) fn first_lines(text: &str, limit: usize, how: &str) -> String {
    let count = text.lines().count();
    if count <= limit {
        return text.to_owned();
    }
    let mut shown: String = text.lines().take(limit).flat_map(|line| [line, "\n"]).collect();
    shown.push_str(&format!("... and {} ({how})\n", counted(count - limit, "more line")));
    shown
}
