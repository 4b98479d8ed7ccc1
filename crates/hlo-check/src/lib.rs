//! The tool people touch: FileCheck, lit and hlo-opt in one process.

pub mod cli;
pub mod filecheck;
pub mod input;
pub mod lit;
pub mod tool;
