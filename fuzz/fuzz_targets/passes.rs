//! Any order of passes over any generated module: each leaves a valid module that prints what it is read from, and no
//! side effect is lost but those its row declares.
#![no_main]

use std::collections::BTreeMap;

use hlo_passes::generate::{Choices, generate};
