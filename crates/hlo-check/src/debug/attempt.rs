//! Every pass on one module: which would do anything.

use hlo_passes::pass::Remark;
use hlo_passes::registry::{self, PassInfo, Status};
use hlo_passes::structure::structural_hash;
use hlo_text::Module;
use rayon::prelude::*;

use super::asked::Asked;
use super::engine::{self, Failure, Request};
use super::remarks;
use super::style::{Tint, counted, paint};
use super::world::World;

/// How many remarks are shown for each pass.
const SHOWN_REMARKS: usize = 3;

/// What a pass would do.
struct Attempt {
    info: &'static PassInfo,
    result: Result<Effect, Failure>,
}

/// What a pass does.
struct Effect {
    changed: bool,
    instructions: (usize, usize),
    rewrites: u64,
    only_names: bool,
    applied: Vec<Remark>,
    missed: usize,
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
            let result = run.map(|run| Effect {
                changed: run.changed,
                instructions: run.instructions,
                rewrites: run.rewrites,
                only_names: run.changed
                    && run.instructions.0 == run.instructions.1
                    && structural_hash(&run.module) == structure,
                applied: run.applied().cloned().collect(),
                missed: run.missed_count(),
            });
            Attempt { info, result }
        };
        Self(passes.par_iter().map(attempt).collect())
    }

    /// The exit status of a command that asks for all this: that of the worst failure. A pass that only needs options
    /// is none.
    pub(crate) fn status(&self) -> u8 {
        let failures = self.0.iter().filter_map(|attempt| attempt.result.as_ref().err());
        failures.filter(|failure| failure.lacks.is_none()).map(|failure| failure.status).max().unwrap_or(0)
    }

    /// The passes that change something and what they do, then those that fail and why, then how many there are of
    /// the others, and which of them say why they change nothing.
    pub(crate) fn text(&self, color: bool, asked: Asked<'_>) -> String {
        let (mut changing, mut failing, mut lacking, mut idle) =
            (String::new(), String::new(), String::new(), 0);
        let mut near = Vec::new();
        for Attempt { info, result } in &self.0 {
            let key = paint(color, Tint::Strong, info.key);
            match result {
                Ok(effect) if effect.changed => changing.push_str(&effect.text(info, color, asked)),
                Ok(effect) => {
                    idle += 1;
                    if effect.missed > 0 {
                        near.push(format!("{key} ({})", effect.missed));
                    }
                }
                Err(Failure { lacks: Some(message), .. }) => {
                    lacking.push_str(&format!("{key} needs options: {message}\n"));
                }
                Err(failure) => failing.push_str(&format!("{key} fails: {}\n", failure.text())),
            }
        }
        if changing.is_empty() {
            changing.push_str("no pass changes anything\n");
        }
        if !near.is_empty() {
            lacking.push_str(&format!("near misses: {}; {}\n", near.join(", "), asked.why("PASS")));
        }
        let verb = if idle == 1 { "pass changes" } else { "passes change" };
        let absent = registry::all().filter(|info| matches!(info.status, Status::Unimplemented(_))).count();
        let absent = match absent {
            0 => String::new(),
            count => format!("; {count} more can't be run (`hlo-opt --list-passes=long` says why)"),
        };
        format!("{changing}{failing}{lacking}{idle} other {verb} nothing{absent}\n")
    }
}

impl Effect {
    fn text(&self, info: &PassInfo, color: bool, asked: Asked<'_>) -> String {
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
        let missed = match self.missed {
            0 => String::new(),
            count => format!(", {count} missed"),
        };
        let key = paint(color, Tint::Strong, info.key);
        let how = format!(": {}", asked.pass(info.key));
        let remarks = remarks::lines(self.applied.iter(), false, SHOWN_REMARKS, &how);
        format!("{key}: {delta}{rewrites}{missed}\n{remarks}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_that_need_options_are_no_failures() {
        let attempts = |failures: &[Failure]| {
            let info = registry::find("dce").expect("a key");
            Attempts(failures.iter().map(|failure| Attempt { info, result: Err(failure.clone()) }).collect())
        };
        let mut lacking = Failure::usage("dce: option `x` must be there");
        lacking.lacks = Some("option `x` must be there".to_owned());
        let failing = |status| {
            let mut failure = Failure::usage("dce: option `x` must be there");
            failure.status = status;
            failure
        };
        let of = attempts(std::slice::from_ref(&lacking));
        assert_eq!(of.status(), 0);
        assert!(of.text(false, Asked::Session).contains("\ndce needs options: option `x` must be there\n"));
        let of = attempts(&[lacking, failing(5), failing(134), failing(5)]);
        assert_eq!(of.status(), 134);
        assert!(of.text(false, Asked::Session).contains("\ndce fails: dce: option `x` must be there\n"));
    }
}
