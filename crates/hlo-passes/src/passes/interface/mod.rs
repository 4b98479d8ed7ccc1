//! Passes that change what the entry computation takes and gives.

pub(crate) mod add_logit_output;
pub(crate) mod convert_inputs_to_optimal_shape;
pub(crate) mod inline_weights;
mod npy;
pub(crate) mod remove_gradiant_outputs;
pub(crate) mod remove_passthrough_outputs;
