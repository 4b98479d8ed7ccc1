//! File name patterns: `*`, `?`, `[seq]`, `[!seq]`, component by component.
//!
//! As in Python's `glob`, names that begin with a dot need a pattern that does, `**` is `*`, and
//! what matches is given as an absolute path, sorted by code points.

use std::path::{Component, Path, PathBuf};

/// Paths that match `pattern` (relative ones are taken from `dir`); the pattern itself if none do.
pub fn expand(pattern: &str, dir: &Path) -> Vec<String> {
    let absolute = dir.join(pattern);
    let mut found = vec![PathBuf::new()];
    for component in absolute.components() {
        match component {
            Component::Normal(name) if has_magic(&name.to_string_lossy()) => {
                let pattern: Vec<char> = name.to_string_lossy().chars().collect();
                found = found.iter().flat_map(|dir| matching_entries(dir, &pattern)).collect();
            }
            component => {
                for path in &mut found {
                    path.push(component);
                }
            }
        }
        if found.is_empty() {
            break;
        }
    }
    let mut names: Vec<String> = found
        .into_iter()
        .filter(|path| path.symlink_metadata().is_ok())
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    if names.is_empty() {
        return vec![pattern.to_owned()];
    }
    names.sort_unstable();
    names
}

fn has_magic(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

fn matching_entries(dir: &Path, pattern: &[char]) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let hidden = pattern.first() == Some(&'.');
    entries
        .filter_map(Result::ok)
        .filter(|entry| {
            let name: Vec<char> = entry.file_name().to_string_lossy().chars().collect();
            (hidden || name.first() != Some(&'.')) && matches(pattern, &name)
        })
        .map(|entry| entry.path())
        .collect()
}

/// Whether `name` as a whole matches. Takes time proportional to the product of the lengths.
pub fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where to resume after the last star: it swallows one more character each time.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p + 1, n));
            p += 1;
            continue;
        }
        if let Some(length) = one_char(&pattern[p..], name[n]) {
            p += length;
            n += 1;
            continue;
        }
        let Some((after, swallowed)) = star else { return false };
        p = after;
        n = swallowed + 1;
        star = Some((after, n));
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// Length of the pattern piece that matches `c`, if it does.
fn one_char(pattern: &[char], c: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '[' => match bracket(pattern) {
            Some((length, negated, set)) => (set_contains(set, c) != negated).then_some(length),
            None => (c == '[').then_some(1),
        },
        &literal => (literal == c).then_some(1),
    }
}

/// Reads `[...]`: its length, whether it is negated, and the members.
fn bracket(pattern: &[char]) -> Option<(usize, bool, &[char])> {
    let negated = pattern.get(1) == Some(&'!');
    let start = if negated { 2 } else { 1 };
    // A `]` that comes first is a member.
    let close = pattern.iter().skip(start + 1).position(|&c| c == ']')? + start + 1;
    Some((close + 1, negated, &pattern[start..close]))
}

fn set_contains(set: &[char], c: char) -> bool {
    let mut at = 0;
    while at < set.len() {
        if at + 2 < set.len() && set[at + 1] == '-' {
            if (set[at]..=set[at + 2]).contains(&c) {
                return true;
            }
            at += 3;
        } else {
            if set[at] == c {
                return true;
            }
            at += 1;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, name: &str) -> bool {
        let pattern: Vec<char> = pattern.chars().collect();
        let name: Vec<char> = name.chars().collect();
        matches(&pattern, &name)
    }

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abbd", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*.m.*opts", "x.m.debug.opts", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[!a-c]x", "dx", true),
            ("[]]x", "]x", true),
            ("[x", "[x", true),
            ("**", "abc", true),
        ] {
            assert_eq!(check(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn hostile_patterns_are_quick() {
        let pattern = "*a".repeat(200) + "b";
        assert!(!check(&pattern, &"a".repeat(2000)));
    }

    #[test]
    fn expansion() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.x", "a.x", ".h.x", "c.y"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        std::fs::create_dir(dir.path().join("d")).unwrap();
        std::fs::write(dir.path().join("d/e.x"), "").unwrap();
        let show = |pattern: &str| -> Vec<String> {
            expand(pattern, dir.path())
                .iter()
                .map(|path| {
                    Path::new(path)
                        .strip_prefix(dir.path())
                        .map_or(format!("raw:{path}"), |path| path.to_string_lossy().into_owned())
                })
                .collect()
        };
        assert_eq!(show("*.x"), ["a.x", "b.x"]);
        assert_eq!(show(".*.x"), [".h.x"]);
        assert_eq!(show("*/?.x"), ["d/e.x"]);
        assert_eq!(show("*.z"), ["raw:*.z"]);
    }
}
