//! Passes about calls, loops and conditionals.

pub(crate) mod hilo_conditional_to_select;
