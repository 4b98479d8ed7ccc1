//! Names of FileCheck variables for names of instructions and computations.

use std::collections::{HashMap, HashSet};

/// What a name in a print stands for; instructions and computations may have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Instruction,
    Computation,
}

/// The variables of a module.
#[derive(Default)]
pub(super) struct Variables {
    known: HashMap<(Kind, String), String>,
    /// Those of computations, which hold everywhere.
    computations: HashSet<String>,
    /// Those that are taken in the computation at hand.
    taken: HashSet<String>,
    /// What no variable may end with: a colon follows, and makes directives of these.
    words: Vec<String>,
}

impl Variables {
    /// No variables; none will end with one of `words`.
    pub(super) fn new<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        Self { words: words.map(str::to_owned).collect(), ..Self::default() }
    }

    /// Gives computations their variables before any instruction gets one.
    pub(super) fn reserve<'n>(&mut self, computations: impl Iterator<Item = &'n str>) {
        for name in computations {
            let variable = unique(&self.base(name), |variable| self.computations.contains(variable));
            self.computations.insert(variable.clone());
            self.known.insert((Kind::Computation, name.to_owned()), variable);
        }
        self.start_computation();
    }

    /// Variables of the instructions of other computations may be used again.
    pub(super) fn start_computation(&mut self) {
        self.taken.clone_from(&self.computations);
    }

    /// The variable for a name.
    pub(super) fn of(&mut self, kind: Kind, name: &str) -> String {
        if let Some(variable) = self.known.get(&(kind, name.to_owned())) {
            return variable.clone();
        }
        let variable = unique(&self.base(name), |variable| self.taken.contains(variable));
        self.taken.insert(variable.clone());
        self.known.insert((kind, name.to_owned()), variable.clone());
        variable
    }

    fn base(&self, name: &str) -> String {
        let base = base(name);
        match self.words.iter().any(|word| base.ends_with(word.as_str())) {
            true => format!("{base}_NAME"),
            false => base,
        }
    }
}

/// A variable like `base` that isn't taken: `ADD`, then `ADD_1`.
fn unique(base: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(base) {
        return base.to_owned();
    }
    let mut number = 1usize;
    loop {
        let variable = format!("{base}_{number}");
        if !is_taken(&variable) {
            return variable;
        }
        number += 1;
    }
}

/// The name in capitals, without the number XLA made it unique with: `%add.12` is `ADD`.
fn base(name: &str) -> String {
    let stem = match name.rsplit_once('.') {
        Some((stem, number)) if !stem.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => stem,
        _ => name,
    };
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let text: String = stem.chars().map(upper).collect();
    let text = text.trim_matches('_');
    match text.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => text.to_owned(),
        _ => format!("V{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_read_like_names() {
        let mut variables = Variables::default();
        variables.reserve(["add", "region_0.12"].into_iter());
        let mut of = |name: &str| variables.of(Kind::Instruction, name);
        assert_eq!(of("add.12"), "ADD_1");
        assert_eq!(of("add"), "ADD_2");
        assert_eq!(of("add.12"), "ADD_1");
        assert_eq!(of("get-tuple-element.3"), "GET_TUPLE_ELEMENT");
        assert_eq!(of("fusion.3.clone"), "FUSION_3_CLONE");
        assert_eq!(of("0abc"), "V0ABC");
        assert_eq!(of("_"), "V");
        assert_eq!(variables.of(Kind::Computation, "add"), "ADD");
        assert_eq!(variables.of(Kind::Computation, "region_0.12"), "REGION_0");
        variables.start_computation();
        assert_eq!(variables.of(Kind::Instruction, "add.13"), "ADD_1");
    }
}
