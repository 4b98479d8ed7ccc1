//! `--time-tests`: the slowest tests and how times are spread.

use std::fmt::Write as _;

/// How many of the slowest tests are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowestCount {
    /// That many.
    Some(usize),
    /// Every one.
    All,
}

impl std::str::FromStr for SlowestCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("all") {
            return Ok(SlowestCount::All);
        }
        match text.parse() {
            Ok(count) if count > 0 => Ok(SlowestCount::Some(count)),
            _ => Err(format!("requires positive integer, but found '{text}'")),
        }
    }
}

const BAR_WIDTH: usize = 40;

/// The table for tests with their seconds.
pub fn table(mut items: Vec<(String, f64)>, slowest: SlowestCount) -> String {
    items.retain(|(_, time)| *time > 0.0);
    items.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    let Some(max) = items.last().map(|(_, time)| *time) else { return String::new() };
    let total = items.len();
    let shown = match slowest {
        SlowestCount::All => total,
        SlowestCount::Some(count) => count.min(total),
    };
    let (height, rows) = bars(max);
    let mut counts = vec![0usize; rows];
    for (_, time) in &items {
        let row = ((rows as f64 * time / max) as usize).min(rows - 1);
        counts[row] += 1;
    }
    let rule = "-".repeat(BAR_WIDTH + 34);
    let mut out = String::new();
    // Writing to a String can't fail, here and below.
    let _ = writeln!(out, "Slowest Tests ({shown} of {total}):\n{rule}");
    for (name, time) in items.iter().rev().take(shown) {
        let _ = writeln!(out, "{time:.2}s: {name}");
    }
    let whole_digits = max.log10().ceil() as i32;
    let decimals = (3 - whole_digits).max(0) as usize;
    let width = if decimals > 0 { whole_digits + decimals as i32 + 1 } else { whole_digits };
    let width = width.max(1) as usize;
    let count_width = (total as f64).log10().ceil() as usize;
    let _ = writeln!(
        out,
        "\nTest Times ({total}):\n{rule}\n[{}] :: [{}] :: [{}]\n{rule}",
        centre("Range", (width + 1) * 2 + 3),
        centre("Percentage", BAR_WIDTH),
        centre("Count", count_width * 2 + 1),
    );
    for (row, count) in counts.iter().enumerate().rev() {
        let stars = BAR_WIDTH * count / total;
        let _ = writeln!(
            out,
            "[{:width$.decimals$}s,{:width$.decimals$}s) :: [{}{}] :: [{count:count_width$}/{total:count_width$}]",
            row as f64 * height,
            (row + 1) as f64 * height,
            "*".repeat(stars),
            " ".repeat(BAR_WIDTH - stars),
        );
    }
    let _ = writeln!(out, "{rule}");
    out
}

/// Height of a bar, the first round number that gives more than ten of them, and their number.
fn bars(max: f64) -> (f64, usize) {
    let mut power = max.log10().ceil() as i32;
    loop {
        for step in [5.0, 2.0, 2.5, 1.0] {
            let height = step * 10f64.powi(power);
            let rows = (max / height).ceil();
            if rows > 10.0 {
                return (height, rows as usize);
            }
        }
        power -= 1;
    }
}

/// Python's `str.center`: the odd blank goes to the left if the width is odd.
fn centre(text: &str, width: usize) -> String {
    let pad = width.saturating_sub(text.len());
    let left = pad / 2 + (pad & width & 1);
    format!("{}{text}{}", " ".repeat(left), " ".repeat(pad - left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape() {
        let items = vec![("a".to_owned(), 0.5), ("b".to_owned(), 1.2), ("c".to_owned(), 0.0)];
        let text = table(items, SlowestCount::Some(1));
        assert!(text.starts_with("Slowest Tests (1 of 2):\n"), "{text}");
        assert!(text.contains("\n1.20s: b\n"), "{text}");
        assert!(text.contains("\nTest Times (2):\n"), "{text}");
        assert_eq!(table(Vec::new(), SlowestCount::All), "");
        assert_eq!(bars(1.2), (0.1, 12));
    }
}
