//! A session: a tree of modules, each made from another by passes or read from a text.

use std::sync::Arc;

use hlo_text::Module;

use super::engine::{self, Failure, Request, Run};
use super::source::{self, Source};
use super::world::World;
use crate::opt::crash::quote;

/// How a state came to be.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// It was read.
    Read,
    /// Passes ran over the module of the state `base`.
    Ran {
        /// Number of the state the passes began with.
        base: usize,
        /// What ran.
        request: Request,
        /// If it was one of the first rewrites of a pass: which.
        step: Option<Step>,
    },
}

/// The first rewrites of a pass, as many as the request has fuel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Rewrites of the whole pass.
    pub(crate) total: u64,
    /// Remarks on rewrites up to here.
    pub(crate) applied: usize,
}

/// A module of the session.
#[derive(Debug)]
pub(crate) struct State {
    /// The module.
    pub(crate) module: Arc<Module>,
    /// The text the module, or the first of those it was made of, was read from.
    pub(crate) source: Arc<Source>,
    /// How it came to be.
    pub(crate) origin: Origin,
    /// The state before it, where `undo` goes.
    pub(crate) parent: Option<usize>,
    /// The state after it that was visited last, where `redo` goes.
    next: Option<usize>,
}

/// The states, and which of them is looked at.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) world: World,
    states: Vec<State>,
    current: Option<usize>,
}

/// What commands say without a module.
pub(crate) const NO_MODULE: &str = "there is no module: paste one, or `load FILE`";

impl Session {
    /// A session without modules.
    pub(crate) fn new(world: World) -> Self {
        Self { world, states: Vec::new(), current: None }
    }

    /// All states, in the order they were made.
    pub(crate) fn states(&self) -> &[State] {
        &self.states
    }

    /// The number of the state that is looked at.
    ///
    /// # Errors
    /// There is none yet.
    pub(crate) fn number(&self) -> Result<usize, String> {
        self.current.ok_or_else(|| NO_MODULE.to_owned())
    }

    /// The state that is looked at.
    ///
    /// # Errors
    /// There is none yet.
    pub(crate) fn current(&self) -> Result<&State, String> {
        self.state(self.number()?)
    }

    /// The state of that number.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn state(&self, number: usize) -> Result<&State, String> {
        self.states.get(number).ok_or_else(|| match self.states.len() {
            0 => NO_MODULE.to_owned(),
            count => format!("there is no state {number}; the last one is {}", count - 1),
        })
    }

    fn push(&mut self, module: Module, source: Arc<Source>, origin: Origin) -> usize {
        let number = self.states.len();
        let parent = self.current;
        self.states.push(State { module: Arc::new(module), source, origin, parent, next: None });
        self.enter(number);
        number
    }

    /// Looks at another state; `redo` from those above leads here.
    fn enter(&mut self, number: usize) {
        self.current = Some(number);
        let mut child = number;
        while let Some(parent) = self.states.get(child).and_then(|state| state.parent) {
            if let Some(state) = self.states.get_mut(parent) {
                if state.next == Some(child) {
                    break;
                }
                state.next = Some(child);
            }
            child = parent;
        }
    }

    /// Reads a text. `file` is its path if it is a file's.
    ///
    /// # Errors
    /// No module can be made of it; the message has the reports.
    pub(crate) fn read(&mut self, name: &str, file: Option<&str>, bytes: &[u8]) -> Result<usize, String> {
        let (module, source) =
            source::read(name, file, bytes, self.world.color).map_err(|unreadable| unreadable.text)?;
        Ok(self.push(module, Arc::new(source), Origin::Read))
    }

    /// Runs passes over the module of state `base`, without keeping what comes of it.
    ///
    /// # Errors
    /// There is no such state, or the passes fail.
    pub(crate) fn probe(&self, base: usize, request: &Request) -> Result<Run, Failure> {
        let state = self.state(base).map_err(|message| Failure::usage(&message))?;
        engine::run(&state.module, request, state.source.is_valid(), &self.world)
    }

    /// Keeps what came of passes that ran over the module of state `base`.
    ///
    /// # Errors
    /// There is no such state.
    pub(crate) fn keep(
        &mut self,
        base: usize,
        request: Request,
        step: Option<Step>,
        module: Module,
    ) -> Result<usize, String> {
        let source = Arc::clone(&self.state(base)?.source);
        Ok(self.push(module, source, Origin::Ran { base, request, step }))
    }

    /// Goes to the state before.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn undo(&mut self) -> Result<usize, String> {
        let parent = self.current()?.parent.ok_or("there is nothing before the first state")?;
        self.current = Some(parent);
        Ok(parent)
    }

    /// Goes to the state after that was left last.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn redo(&mut self) -> Result<usize, String> {
        let next = self.current()?.next.ok_or("there is nothing to redo")?;
        self.current = Some(next);
        Ok(next)
    }

    /// Goes to any state.
    ///
    /// # Errors
    /// There is no such state.
    pub(crate) fn goto(&mut self, number: usize) -> Result<(), String> {
        self.state(number)?;
        self.enter(number);
        Ok(())
    }

    /// The states that `number` was made of, one of the other: first the one that was read, last itself.
    ///
    /// # Errors
    /// There is no such state.
    pub(crate) fn states_behind(&self, number: usize) -> Result<Vec<usize>, String> {
        let mut states = vec![number];
        let mut at = number;
        while let Origin::Ran { base, .. } = &self.state(at)?.origin {
            at = *base;
            states.push(at);
        }
        states.reverse();
        Ok(states)
    }

    /// The state that was read from which `number` was made.
    ///
    /// # Errors
    /// There is no such state.
    pub(crate) fn root_of(&self, number: usize) -> Result<usize, String> {
        Ok(self.states_behind(number)?.first().copied().unwrap_or(number))
    }

    /// The calls of `hlo-opt`, without its name, that make the module of state `number` from `file`, each from what
    /// the one before prints: one for passes that run to their ends, and one more behind each that stopped before.
    ///
    /// # Errors
    /// There is no such state.
    pub(crate) fn calls(&self, number: usize, file: &str) -> Result<Vec<Vec<String>>, String> {
        let mut calls: Vec<(Vec<&str>, Option<u64>)> = vec![(Vec::new(), None)];
        for at in self.states_behind(number)? {
            let Origin::Ran { request, step, .. } = &self.state(at)?.origin else { continue };
            // All rewrites of a pass need no limit.
            let limit = request.fuel.filter(|&fuel| step.is_none_or(|step| fuel < step.total));
            match calls.last_mut() {
                Some((passes, fuel @ None)) if limit.is_none() || passes.is_empty() => {
                    passes.push(&request.passes);
                    *fuel = limit;
                }
                _ => calls.push((vec![&request.passes], limit)),
            }
        }
        let last = calls.len() - 1;
        let is_valid = self.state(number)?.source.is_valid();
        let words = calls.iter().enumerate().map(|(index, (passes, fuel))| {
            let mut words = vec![if index == 0 { file } else { "-" }.to_owned()];
            if !passes.is_empty() {
                words.push(format!("--passes={}", passes.join(",")));
            }
            words.extend(fuel.map(|fuel| format!("--fuel={fuel}")));
            if !is_valid {
                words.push("--no-verify".to_owned());
            }
            if index < last {
                // What the next call reads has to be all of it.
                words.push("--print-large-constants".to_owned());
            }
            words
        });
        Ok(words.collect())
    }

    /// The shell command of [`Session::calls`].
    ///
    /// # Errors
    /// There is no such state.
    pub(crate) fn command(&self, number: usize, file: &str) -> Result<String, String> {
        let word = |word: &String| match word.split_once('=') {
            Some((option, value)) if word.starts_with("--") => format!("{option}={}", quote(value)),
            _ => quote(word),
        };
        let call = |words: &Vec<String>| {
            let words: Vec<String> = words.iter().map(word).collect();
            format!("hlo-opt {}", words.join(" "))
        };
        Ok(self.calls(number, file)?.iter().map(call).collect::<Vec<_>>().join(" | "))
    }
}
