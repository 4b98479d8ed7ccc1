//! Options of every LLVM program that change nothing about checking.

use super::arguments::{Kind, Row};

const fn flag(name: &'static str) -> Row {
    Row { name, value: "", kind: Kind::Flag(|_, _| {}), hidden: true, help: "Accepted without effect." }
}

const fn value(name: &'static str, value: &'static str) -> Row {
    Row { name, value, kind: Kind::Value(|_, _| Ok(())), hidden: true, help: "Accepted without effect." }
}

pub(super) const ROWS: &[Row] = &[
    value("crash-diagnostics-dir", "directory"),
    value("debug-counter", "counters"),
    flag("debug-counter-break-on-last"),
    flag("disable-symbolication"),
    value("info-output-file", "filename"),
    flag("print-all-options"),
    flag("print-debug-counter"),
    flag("print-options"),
    value("rng-seed", "seed"),
    flag("sort-timers"),
    flag("stats"),
    flag("stats-json"),
    flag("track-memory"),
    flag("treat-scalable-fixed-error-as-warning"),
];
