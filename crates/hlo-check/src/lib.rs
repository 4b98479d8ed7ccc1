//! The tool people touch: FileCheck, lit and hlo-opt in one process.

use std::sync::Arc;

pub mod cli;
pub mod explain;
pub mod filecheck;
pub mod input;
pub mod lit;
pub mod opt;
pub mod tool;

/// What tests run on: the tools of this process.
pub fn host() -> lit::Host {
    lit::Host {
        suffixes: vec![".hlo".to_owned()],
        tools: vec![Arc::new(filecheck::FileCheckTool), Arc::new(opt::OptTool), Arc::new(cli::CheckTool)],
        features: opt::features().collect(),
    }
}
