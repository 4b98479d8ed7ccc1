//! The programs that run inside this process, and the wall that keeps their panics in.

use std::collections::HashMap;
use std::sync::Arc;

use crate::panics;
use crate::tool::{Invocation, Output, Reviewer, Tool};

/// Exit status of a program that aborted, as shells report it.
const ABORTED: i32 = 134;

/// In-process programs by name.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: HashMap<&'static str, Arc<dyn Tool>>,
}

impl Toolbox {
    /// A box of these tools; of two with one name the later counts.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Toolbox { tools: tools.into_iter().map(|tool| (tool.name(), tool)).collect() }
    }

    /// The tool called `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// The tools that look tests over, by name.
    pub fn reviewers(&self) -> Vec<(&'static str, &dyn Reviewer)> {
        let mut reviewers: Vec<_> =
            self.tools.iter().filter_map(|(name, tool)| Some((*name, tool.reviewer()?))).collect();
        reviewers.sort_unstable_by_key(|(name, _)| *name);
        reviewers
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = self.tools.keys().copied().collect();
        names.sort_unstable();
        names
    }
}

/// Runs the parts of a split call, possibly on several threads at once.
pub trait CasePool: Sync {
    /// Outputs in the order of the parts.
    fn run_all(&self, tool: &Arc<dyn Tool>, parts: Vec<Invocation>) -> Vec<Output>;
}

/// A pool that runs one part after the other on the calling thread.
#[derive(Clone, Copy, Debug)]
pub struct Inline;

impl CasePool for Inline {
    fn run_all(&self, tool: &Arc<dyn Tool>, parts: Vec<Invocation>) -> Vec<Output> {
        parts.iter().map(|part| run_isolated(tool.as_ref(), part)).collect()
    }
}

/// Runs a tool; a panic becomes a crash that names it.
pub fn run_isolated(tool: &dyn Tool, invocation: &Invocation) -> Output {
    panics::guard(|| tool.run(invocation)).unwrap_or_else(|message| Output {
        stderr: format!("{}: panicked: {message}\n", tool.name()).into_bytes(),
        status: ABORTED,
        crashed: true,
        ..Output::default()
    })
}
