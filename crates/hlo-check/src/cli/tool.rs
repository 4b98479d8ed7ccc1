//! `hlo-check` in RUN lines: every subcommand, and test runs within tests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Parser;

use super::exit;
use super::test::{Cli, hints, update_failing};
use crate::filecheck::FileCheckTool;
use crate::lit::bazel::Bazel;
use crate::lit::cli::Environment;
use crate::lit::run;
use crate::opt::OptTool;
use crate::tool::{Invocation, Output, Tool};

/// `hlo-check` for RUN lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckTool;

impl Tool for CheckTool {
    fn name(&self) -> &'static str {
        "hlo-check"
    }

    fn run(&self, invocation: &Invocation) -> Output {
        let Some((command, args)) = invocation.args.split_first() else {
            return run_tests(invocation);
        };
        let inner = Invocation { args: args.to_vec(), ..invocation.clone() };
        match command.as_str() {
            "filecheck" => FileCheckTool.run(&inner),
            "opt" => OptTool.run(&inner),
            _ => match super::find_portable(command) {
                Some(run) => {
                    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
                    let mut streams = super::Streams::of_call(invocation, &mut stdout, &mut stderr);
                    // Memory takes everything.
                    let status =
                        run(&format!("hlo-check {command}"), args, &mut streams).unwrap_or(exit::USAGE);
                    Output { stdout, stderr, status: status.into(), crashed: false }
                }
                None => run_tests(invocation),
            },
        }
    }
}

fn run_tests(invocation: &Invocation) -> Output {
    let args = std::iter::once("hlo-check").chain(invocation.args.iter().map(String::as_str));
    let (mut options, updates) = match Cli::try_parse_from(args) {
        Ok(cli) => (cli.lit, cli.update),
        Err(error) => {
            let text = error.to_string().into_bytes();
            let status = error.exit_code();
            return if error.use_stderr() {
                Output { stderr: text, status, ..Output::default() }
            } else {
                Output { stdout: text, status, ..Output::default() }
            };
        }
    };
    let mut stderr: Vec<u8> = Vec::new();
    for hint in hints(&options.paths, &invocation.current_dir) {
        stderr.extend_from_slice(format!("{hint}\n").as_bytes());
    }
    let absolute = |path: &mut PathBuf| *path = invocation.current_dir.join(&*path);
    options.paths.iter_mut().for_each(absolute);
    for path in [
        &mut options.output,
        &mut options.xunit_xml_output,
        &mut options.resultdb_output,
        &mut options.time_trace_output,
    ] {
        path.iter_mut().for_each(absolute);
    }
    // The terminal belongs to the run outside.
    options.no_progress_bar = true;
    options.watch = false;
    let lit: BTreeMap<String, String> =
        invocation.env.iter().filter(|(name, _)| name.starts_with("LIT_")).map(clone_pair).collect();
    let bazel = Bazel::from_variables(|name| invocation.env.get(name).cloned());
    let mut stdout = Vec::new();
    let mut streams = run::Streams { out: &mut stdout, err: &mut stderr };
    let result = run::run(&options, &crate::host(), &Environment { lit, bazel }, &mut streams);
    let status = result.and_then(|run| {
        if !updates {
            return Ok(run.status);
        }
        let streams = super::Streams::of_call(invocation, &mut stdout, &mut stderr);
        let mut streams = super::Streams { stdin: &[], ..streams };
        update_failing(&run, &mut streams)
    });
    // Memory takes everything.
    let status = status.unwrap_or(exit::USAGE);
    Output { stdout, stderr, status: status.into(), crashed: false }
}

fn clone_pair((name, value): (&String, &String)) -> (String, String) {
    (name.clone(), value.clone())
}
