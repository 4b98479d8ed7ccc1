//! The programs that run inside this process, and the wall that keeps their panics in.

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Arc, Once};

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

thread_local! {
    /// The panic of a tool that runs on this thread; `None` outside of tools.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes panics inside tools go to the test's log instead of this process's standard error.
fn install_hook() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let inside = CAUGHT.with_borrow_mut(|caught| match caught {
                Some(text) => {
                    *text = describe(info);
                    true
                }
                None => false,
            });
            if !inside {
                previous(info);
            }
        }));
    });
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let message = info
        .payload()
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| info.payload().downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message");
    match info.location() {
        Some(place) => format!("{message} (at {place})"),
        None => message.to_owned(),
    }
}

/// Runs a tool; a panic becomes a crash that names it.
pub fn run_isolated(tool: &dyn Tool, invocation: &Invocation) -> Output {
    install_hook();
    let outer = CAUGHT.replace(Some(String::new()));
    let outcome = catch_unwind(AssertUnwindSafe(|| tool.run(invocation)));
    let message = CAUGHT.replace(outer).unwrap_or_default();
    outcome.unwrap_or_else(|_| Output {
        stderr: format!("{}: panicked: {message}\n", tool.name()).into_bytes(),
        status: ABORTED,
        crashed: true,
        ..Output::default()
    })
}
