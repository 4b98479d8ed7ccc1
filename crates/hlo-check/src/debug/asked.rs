//! How hints are worded: in a session its own commands help on, in a shell those of `hlo-check`.

use crate::opt::crash::quote;

/// Where a question was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked<'a> {
    /// At the prompt of a session.
    Session,
    /// In a shell, about this file.
    Shell(&'a str),
}

impl Asked<'_> {
    /// The command that shows what `passes` do.
    pub(crate) fn pass(self, passes: &str) -> String {
        match self {
            Self::Session => format!("`pass {passes}`"),
            Self::Shell(file) => format!("`hlo-check step {} --pass={}`", quote(file), quote(passes)),
        }
    }

    /// The command that says why `passes` leave instructions alone.
    pub(crate) fn why(self, passes: &str) -> String {
        match self {
            Self::Session => format!("`why {passes}`"),
            Self::Shell(file) => format!("`hlo-check why {} --pass={}`", quote(file), quote(passes)),
        }
    }

    /// The command that shows all that the first `count` rewrites of `passes` change.
    pub(crate) fn difference(self, passes: &str, count: u64) -> String {
        match self {
            Self::Session => "`diff` shows all".to_owned(),
            Self::Shell(file) => {
                let (file, passes) = (quote(file), quote(passes));
                format!("`hlo-opt {file} --passes={passes} --fuel={count} --print-ir-diff` shows all")
            }
        }
    }

    /// What shows the names of instructions.
    pub(crate) fn names(self) -> String {
        match self {
            Self::Session => "`find` and `list` show what there is".to_owned(),
            Self::Shell(file) => format!("`hlo-opt {}` prints all there are", quote(file)),
        }
    }
}
