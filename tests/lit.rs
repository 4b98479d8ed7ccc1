//! One test per file of lit-tests/.
