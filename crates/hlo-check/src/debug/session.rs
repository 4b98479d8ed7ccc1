//! A session: a tree of modules, each made from another by passes or read from a text.

use std::sync::Arc;

use hlo_text::Module;
use hlo_text::ir::InstructionId;

use super::asked::Asked;
use super::engine::{self, Failure, Request, Run};
use super::remarks::{instruction_called, no_instruction};
use super::source::{self, Source};
use super::world::World;
use crate::opt::crash::{lossless, quote};

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
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// Rewrites of the whole pass.
    pub(crate) total: u64,
    /// Remarks on rewrites up to here.
    pub(crate) applied: usize,
    /// Lines logged up to here.
    pub(crate) logged: usize,
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
    /// A state, and passes that have changed nothing there.
    idle: (usize, Vec<String>),
}

/// What commands say without a module.
pub(crate) const NO_MODULE: &str = "there is no module: paste one, or `load FILE`";

impl Session {
    /// A session without modules.
    pub(crate) fn new(world: World) -> Self {
        Self { world, states: Vec::new(), current: None, idle: (0, Vec::new()) }
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
        let way_to_here = self.current;
        self.current = Some(number);
        let mut child = number;
        while let Some(parent) = self.states.get(child).and_then(|state| state.parent) {
            if let Some(state) = self.states.get_mut(parent) {
                state.next = Some(child);
            }
            // What is above the state that was looked at leads there already.
            if Some(parent) == way_to_here {
                break;
            }
            child = parent;
        }
    }

    /// The instruction of the current module called `name`.
    ///
    /// # Errors
    /// There is none; the message says which state has one, or what is called almost so.
    pub(crate) fn instruction(&self, name: &str) -> Result<InstructionId, String> {
        let number = self.number()?;
        let has =
            |state: usize| self.states.get(state).and_then(|state| instruction_called(&state.module, name));
        if let Some(id) = has(number) {
            return Ok(id);
        }
        let name = name.trim_start_matches('%');
        let mut child = number;
        while let Some(state) = self.states.get(child)
            && let Some(parent) = state.parent
        {
            if has(parent).is_some() {
                return Err(match &state.origin {
                    Origin::Ran { request, .. } => {
                        let passes = &request.passes;
                        format!(
                            "`{passes}` made state {child} without `{name}`: `goto {parent}` goes to the state before"
                        )
                    }
                    Origin::Read => {
                        format!("`{name}` is in state {parent}, of another text: `goto {parent}`")
                    }
                });
            }
            child = parent;
        }
        match (0..self.states.len()).rev().find(|&state| has(state).is_some()) {
            Some(other) => Err(format!("`{name}` isn't in state {number}, but in {other}: `goto {other}`")),
            None => Err(no_instruction(&self.state(number)?.module, name, Asked::Session)),
        }
    }

    /// Remembers that passes change nothing in the module of a state.
    pub(crate) fn note_idle(&mut self, base: usize, passes: &str) {
        if self.idle.0 != base {
            self.idle = (base, Vec::new());
        }
        if !self.idle.1.iter().any(|known| known == passes) {
            self.idle.1.push(passes.to_owned());
        }
    }

    /// The passes that are known to change nothing in the module of a state.
    pub(crate) fn idle_passes(&self, number: usize) -> &[String] {
        if self.idle.0 == number { &self.idle.1 } else { &[] }
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

    /// Keeps what came of passes that ran over the module of state `base`. If that has been seen below the current
    /// state before, that state is gone to.
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
        let is_same = |state: &State| {
            let is_same = |from: usize, other: &Request| from == base && *other == request;
            matches!(&state.origin, Origin::Ran { base, request, .. } if is_same(*base, request))
        };
        let mut seen =
            self.states.iter().enumerate().filter(|(_, it)| it.parent == self.current && is_same(it));
        // Passes that read files may do something else this time.
        let seen =
            seen.find(|(_, state)| lossless(&state.module) == lossless(&module)).map(|(number, _)| number);
        if let Some(number) = seen {
            self.enter(number);
            return Ok(number);
        }
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

    /// The state after `number` that was visited last.
    pub(crate) fn after(&self, number: usize) -> Option<usize> {
        self.states.get(number)?.next
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
    /// `idle` run too if nothing else does.
    ///
    /// # Errors
    /// There is no such state.
    fn calls(&self, number: usize, file: &str, idle: &[String]) -> Result<Vec<Vec<String>>, String> {
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
        if let [(passes, None)] = &mut calls[..]
            && passes.is_empty()
        {
            passes.extend(idle.iter().map(String::as_str));
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

    /// The shell command that makes the module of state `number` from `file`; where no passes made it, `idle` run.
    ///
    /// # Errors
    /// There is no such state.
    pub(crate) fn command(&self, number: usize, file: &str, idle: &[String]) -> Result<String, String> {
        let word = |word: &String| match word.split_once('=') {
            Some((option, value)) if word.starts_with("--") => format!("{option}={}", quote(value)),
            _ => quote(word),
        };
        let call = |words: &Vec<String>| {
            let words: Vec<String> = words.iter().map(word).collect();
            format!("hlo-opt {}", words.join(" "))
        };
        Ok(self.calls(number, file, idle)?.iter().map(call).collect::<Vec<_>>().join(" | "))
    }
}
