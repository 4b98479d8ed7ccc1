//! Looking at what single passes do to a piece of HLO: a session of commands, and the same for scripts.
//!
//! [`session`] is the tree of states, [`commands`] the table of what can be done with it, [`engine`] runs passes and
//! survives them, [`paste`] makes modules of what people have in their clipboards. None of them knows whether a
//! terminal ([`terminal`]) or a file ([`script`]) is behind them.

pub(crate) mod asked;
pub(crate) mod attempt;
pub(crate) mod commands;
mod difference;
pub(crate) mod engine;
mod gather;
mod inspect;
pub mod paste;
pub(crate) mod remarks;
pub(crate) mod script;
pub(crate) mod session;
pub(crate) mod source;
pub(crate) mod step;
mod style;
pub(crate) mod terminal;
mod test_file;
pub(crate) mod why;
pub(crate) mod world;

#[cfg(test)]
mod tests;
