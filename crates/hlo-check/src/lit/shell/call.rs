//! Calls of programs: in this process, built in, or external.

use std::path::Path;

use super::super::builtins::{self, Builtin};
use super::super::toolbox::run_isolated;
use super::exec::{Context, MAX_NESTED_PROGRAMS, ShellState, Stop};
use super::external;
use crate::tool::{DiagnosticStyle, Environment, Invocation, Output};

/// Everything about a program call but its words.
pub struct Call<'c> {
    pub(super) context: &'c Context<'c>,
    pub(super) state: &'c ShellState,
    pub(super) env: &'c Environment,
    pub(super) diagnostics: DiagnosticStyle,
    /// Whether standard error goes where standard output goes.
    pub(super) merge: bool,
    pub(super) depth: usize,
}

impl Call<'_> {
    /// Runs another program from within this one.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn nested(
        &self,
        name: &str,
        args: Vec<String>,
        stdin: Vec<u8>,
        env: &Environment,
    ) -> Result<Output, Stop> {
        if self.depth >= MAX_NESTED_PROGRAMS {
            return Err(Stop::Refused(format!(
                "programs call programs more than {MAX_NESTED_PROGRAMS} levels deep"
            )));
        }
        let call = Call { env, depth: self.depth + 1, ..*self };
        call.run(name, args, stdin)
    }

    /// Working folder.
    pub fn cwd(&self) -> &Path {
        &self.state.cwd
    }

    /// Environment.
    pub fn env(&self) -> &Environment {
        self.env
    }

    /// Runs a program of any kind.
    pub(super) fn run(&self, name: &str, args: Vec<String>, stdin: Vec<u8>) -> Result<Output, Stop> {
        if let Some(tool) = self.context.tools.get(name) {
            let invocation = Invocation {
                args,
                stdin,
                current_dir: self.state.cwd.clone(),
                env: self.env.clone(),
                diagnostics: self.diagnostics,
                scratch_dir: self.context.scratch_dir.to_owned(),
            };
            if let Some(reason) = tool.unsupported(&invocation) {
                return Err(Stop::Unsupported(reason));
            }
            let mut output = match tool.split(&invocation) {
                Some(parts) if parts.len() > 1 => {
                    tool.join(&invocation, self.context.pool.run_all(tool, parts))
                }
                _ => run_isolated(tool.as_ref(), &invocation),
            };
            if self.merge {
                merge(&mut output);
            }
            if let Some(calls) = self.context.calls
                && tool.reviewer().is_some()
            {
                let call = Invocation { stdin: Vec::new(), ..invocation };
                calls.borrow_mut().push((tool.name(), call));
            }
            return Ok(output);
        }
        if self.context.unsupported_tools.iter().any(|tool| tool == name) {
            return Err(Stop::Unsupported(format!("{name} is not available")));
        }
        match builtins::find(name) {
            Some(Builtin::Program(run)) => {
                let mut output = run(&args, stdin, self)?;
                if self.merge {
                    merge(&mut output);
                }
                Ok(output)
            }
            Some(Builtin::State(_)) if name == "echo" => Ok(builtins::echo_program(&args)),
            Some(Builtin::State(_)) => Err(Stop::Refused(format!("'{name}' can't be called by a program"))),
            None => self.external(name, &args, stdin),
        }
    }

    fn external(&self, name: &str, args: &[String], stdin: Vec<u8>) -> Result<Output, Stop> {
        if !self.context.external.allows(name) {
            return Err(Stop::Refused(format!(
                "'{name}': command not found: it is neither built in nor named in external-tools \
                 of lit.toml"
            )));
        }
        let search = self.env.get("PATH").or_else(|| self.state.env.get("PATH"));
        let search = search.map(String::as_str).unwrap_or_default();
        let Some(program) = external::find(name, &self.state.cwd, search) else {
            return Err(Stop::Refused(format!("'{name}': command not found")));
        };
        let request = external::Request {
            program: &program,
            args,
            cwd: &self.state.cwd,
            env: self.env,
            stdin,
            merge: self.merge,
            deadline: self.context.deadline,
        };
        let finished = external::run(request).map_err(|error| {
            Stop::Refused(format!("Could not create process ({}) due to {error}", program.display()))
        })?;
        if finished.interrupted {
            return Err(Stop::Interrupted);
        }
        if finished.timed_out {
            return Err(Stop::TimedOut);
        }
        Ok(Output {
            stdout: finished.stdout,
            stderr: finished.stderr,
            status: finished.status,
            crashed: finished.status < 0,
        })
    }
}

fn merge(output: &mut Output) {
    if !output.stderr.is_empty() {
        let mut both = std::mem::take(&mut output.stderr);
        both.append(&mut output.stdout);
        output.stdout = both;
    }
}
