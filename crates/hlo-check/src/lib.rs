//! The tool people touch: FileCheck, lit and hlo-opt in one process.

pub mod filecheck;
pub mod lit;
pub mod tool;
