//! The tool people touch: FileCheck, lit and hlo-opt in one process.

use std::sync::Arc;

pub mod cli;
pub mod debug;
pub mod diff;
pub mod explain;
pub mod filecheck;
pub mod graph;
pub mod input;
pub mod lit;
pub mod opt;
pub mod output;
mod panics;
mod pasted;
mod result_file;
mod roundtrip;
pub mod stats;
pub mod tool;
pub mod update;

/// What tests run on: the tools of this process.
pub fn host() -> lit::Host {
    lit::Host {
        suffixes: vec![".hlo".to_owned()],
        tools: vec![Arc::new(filecheck::FileCheckTool), Arc::new(opt::OptTool), Arc::new(cli::CheckTool)],
        features: opt::features().chain(oracle_feature()).collect(),
    }
}

/// The variable that names a Python with XLA in it (`jaxlib`), for tests that compare with it.
pub const ORACLE_VARIABLE: &str = "HLO_ORACLE";

/// `oracle`, if there is one.
fn oracle_feature() -> Option<String> {
    let program = std::env::var_os(ORACLE_VARIABLE)?;
    std::path::Path::new(&program).is_file().then(|| "oracle".to_owned())
}
