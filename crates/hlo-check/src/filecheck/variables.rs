//! String and numeric variables.

use std::collections::{HashMap, HashSet};

use num_bigint::BigInt;

use super::numeric::Format;
use super::source::{SourceMap, Span};

/// A numeric variable. Patterns keep this, so that scoping can forget names without touching them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumericId(u32);

struct Numeric {
    format: Format,
    value: Option<BigInt>,
    /// Where the value was matched in the input.
    text: Option<Span>,
    /// Line of the check file that defines it; `None` for the command line and undefined ones.
    defined_on: Option<usize>,
}

/// All variables of a run.
pub struct Variables {
    strings: HashMap<Vec<u8>, Span>,
    /// Names that are string variables, whether or not they have a value now.
    string_names: HashSet<Vec<u8>>,
    numeric_names: HashMap<Vec<u8>, NumericId>,
    numerics: Vec<Numeric>,
    line: Option<NumericId>,
}

/// The pseudo variable for the line of the directive.
pub(super) const LINE: &[u8] = b"@LINE";

impl Variables {
    /// No variables at all.
    #[must_use]
    pub fn new() -> Self {
        Self {
            strings: HashMap::new(),
            string_names: HashSet::new(),
            numeric_names: HashMap::new(),
            numerics: Vec::new(),
            line: None,
        }
    }

    /// Defines `@LINE`; after the definitions of the command line, which cannot use it.
    pub fn add_line_variable(&mut self) {
        let id = self.new_numeric(Format::UNSIGNED, None);
        self.numeric_names.insert(LINE.to_vec(), id);
        self.line = Some(id);
    }

    /// Sets `@LINE`.
    pub fn set_line(&mut self, line: usize) {
        if let Some(id) = self.line {
            self.numerics[id.0 as usize].value = Some(line.into());
        }
    }

    /// Makes a variable without giving its name a meaning yet.
    pub fn new_numeric(&mut self, format: Format, defined_on: Option<usize>) -> NumericId {
        let id = NumericId(self.numerics.len() as u32);
        self.numerics.push(Numeric { format, value: None, text: None, defined_on });
        id
    }

    /// The numeric variable a name means now.
    #[must_use]
    pub fn numeric(&self, name: &[u8]) -> Option<NumericId> {
        self.numeric_names.get(name).copied()
    }

    /// Gives a name to a numeric variable.
    pub fn name_numeric(&mut self, name: &[u8], id: NumericId) {
        self.numeric_names.insert(name.to_vec(), id);
    }

    /// The format a variable was defined with.
    #[must_use]
    pub fn format(&self, id: NumericId) -> Format {
        self.numerics[id.0 as usize].format
    }

    /// The line a variable is defined on.
    #[must_use]
    pub fn defined_on(&self, id: NumericId) -> Option<usize> {
        self.numerics[id.0 as usize].defined_on
    }

    /// The value of a variable.
    #[must_use]
    pub fn numeric_value(&self, id: NumericId) -> Option<&BigInt> {
        self.numerics[id.0 as usize].value.as_ref()
    }

    /// Where in the input the value of a variable was matched.
    #[must_use]
    pub fn numeric_text(&self, id: NumericId) -> Option<Span> {
        self.numerics[id.0 as usize].text
    }

    /// Sets a variable.
    pub fn set_numeric(&mut self, id: NumericId, value: BigInt, text: Option<Span>) {
        let numeric = &mut self.numerics[id.0 as usize];
        numeric.value = Some(value);
        numeric.text = text;
    }

    /// Marks a name as that of a string variable.
    pub fn name_string(&mut self, name: &[u8]) {
        self.string_names.insert(name.to_vec());
    }

    /// Whether a name is that of a string variable.
    #[must_use]
    pub fn is_string(&self, name: &[u8]) -> bool {
        self.string_names.contains(name)
    }

    /// The value of a string variable.
    #[must_use]
    pub fn string(&self, name: &[u8]) -> Option<Span> {
        self.strings.get(name).copied()
    }

    /// Sets a string variable.
    pub fn set_string(&mut self, name: &[u8], value: Span) {
        match self.strings.get_mut(name) {
            Some(known) => *known = value,
            None => {
                self.strings.insert(name.to_vec(), value);
            }
        }
    }

    /// Forgets the variables whose names do not start with `$` (`--enable-var-scope`).
    ///
    /// A numeric variable whose name was forgotten before keeps its later values, since only names
    /// lead here; LLVM does the same.
    pub fn clear_local(&mut self) {
        let global = |name: &[u8]| name.first() == Some(&b'$');
        self.strings.retain(|name, _| global(name));
        self.numeric_names.retain(|name, id| {
            let keep = global(name);
            if !keep {
                let numeric = &mut self.numerics[id.0 as usize];
                numeric.value = None;
                numeric.text = None;
            }
            keep
        });
    }

    /// Names and values of all variables that have one, by name.
    #[must_use]
    pub fn all(&self, sources: &SourceMap) -> Vec<(Vec<u8>, Vec<u8>)> {
        let strings = self.strings.iter().map(|(name, span)| (name.clone(), sources.slice(*span).to_vec()));
        let numerics = self.numeric_names.iter().filter_map(|(name, id)| {
            let numeric = &self.numerics[id.0 as usize];
            let value = numeric.value.as_ref()?;
            let text = numeric.format.write(value).unwrap_or_else(|| value.to_string());
            (name != LINE).then(|| (join_name(name), text.into_bytes()))
        });
        let mut all: Vec<_> = strings.chain(numerics).collect();
        all.sort();
        all
    }
}

fn join_name(name: &[u8]) -> Vec<u8> {
    [b"#", name].concat()
}

impl Default for Variables {
    fn default() -> Self {
        Self::new()
    }
}
