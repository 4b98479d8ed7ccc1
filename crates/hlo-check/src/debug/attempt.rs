//! Every pass on one module: which would do anything.

use hlo_passes::pass::Remark;
use hlo_passes::registry::{self, PassInfo, Status};
use hlo_passes::structure::structural_hash;
use hlo_text::Module;
use rayon::prelude::*;

use super::engine::{self, Failure, Request};
use super::remarks;
use super::style::{Tint, counted, paint};
use super::world::World;

/// How many remarks are shown for each pass.
const SHOWN_REMARKS: usize = 3;

/// What a pass would do.
struct Attempt {
    info: &'static PassInfo,
    result: Result<Option<Effect>, Failure>,
}

/// What a pass changes.
struct Effect {
    instructions: (usize, usize),
    rewrites: u64,
    only_names: bool,
    applied: Vec<Remark>,
}

/// What all implemented passes would do.
pub(crate) struct Attempts(Vec<Attempt>);

impl Attempts {
    /// Runs every pass that is implemented over a copy of `module`, on all processors; nothing is kept but what they
    /// did. Failing passes leave no files.
    pub(crate) fn of(module: &Module, verifies: bool, world: &World) -> Self {
        let world = World { scratch_dir: None, ..world.clone() };
        let structure = structural_hash(module);
        let passes: Vec<&'static PassInfo> =
            registry::all().filter(|info| matches!(info.status, Status::Implemented(_))).collect();
        let attempt = |&info: &&'static PassInfo| {
            let run = engine::run(module, &Request::of(info.key), verifies, &world);
            let result = run.map(|run| {
                run.changed.then(|| Effect {
                    instructions: run.instructions,
                    rewrites: run.rewrites,
                    only_names: run.instructions.0 == run.instructions.1
                        && structural_hash(&run.module) == structure,
                    applied: run.applied().cloned().collect(),
                })
            });
            Attempt { info, result }
        };
        Self(passes.par_iter().map(attempt).collect())
    }

    /// The passes that change something and what they do, then those that fail and why.
    pub(crate) fn text(&self, color: bool) -> String {
        let (mut changing, mut failing, mut idle) = (String::new(), String::new(), 0);
        for Attempt { info, result } in &self.0 {
            match result {
                Ok(None) => idle += 1,
                Ok(Some(effect)) => changing.push_str(&effect.text(info, color)),
                Err(failure) => {
                    let text = failure.text();
                    failing.push_str(&format!("{} fails: {text}\n", paint(color, Tint::Strong, info.key)));
                }
            }
        }
        if changing.is_empty() {
            changing.push_str("no pass changes anything\n");
        }
        let verb = if idle == 1 { "pass changes" } else { "passes change" };
        format!("{changing}{failing}{idle} other {verb} nothing\n")
    }
}

impl Effect {
    fn text(&self, info: &PassInfo, color: bool) -> String {
        let (before, after) = self.instructions;
        let delta = if self.only_names {
            "names or metadata only".to_owned()
        } else if before == after {
            format!("{before} instructions, as before")
        } else {
            let delta = after as i64 - before as i64;
            format!("{before} -> {after} instructions ({delta:+})")
        };
        let rewrites = match self.rewrites {
            0 => String::new(),
            count => format!(", {}", counted(count as usize, "rewrite")),
        };
        let key = paint(color, Tint::Strong, info.key);
        let how = format!(": `pass {}`", info.key);
        let remarks = remarks::lines(self.applied.iter(), false, SHOWN_REMARKS, &how);
        format!("{key}: {delta}{rewrites}\n{remarks}")
    }
}
