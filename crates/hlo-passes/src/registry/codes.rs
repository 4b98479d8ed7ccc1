//! The errors of the original tool that have codes: what each is, why it comes, and what to do.

/// An error with a code.
#[derive(Clone, Copy, Debug)]
pub struct CodedError {
    /// `NCC_OPT001`.
    pub code: &'static str,
    /// What the original says, in whole or at the beginning.
    pub text: &'static str,
    /// Why it comes.
    pub cause: &'static str,
    /// What to do.
    pub resolution: &'static str,
}

/// No pass is asked for.
pub const NO_PASSES: &str = "NCC_OPT001";
/// A pipeline that has run was given another pass.
pub const ADDED_AFTER_RUN: &str = "NCC_OPT002";
/// A key is not in the registry.
pub const NOT_FOUND: &str = "NCC_OPT003";
/// The tuple of a collective among one device is used as a whole.
pub const WHOLE_TUPLE: &str = "NCC_IARE001";
/// A file of weights has other dimensions than its parameter.
pub const WEIGHT_DIMENSIONS: &str = "NCC_INL001";
/// A file of weights has elements of another type than its parameter.
pub const WEIGHT_TYPE: &str = "NCC_INL002";
/// The folder of a model lacks what says what is in it, or that can't be understood.
pub const MODEL_FOLDER: &str = "NCC_MOD003";

/// The errors with codes. Codes and texts are the original's, the rest is ours.
pub const CODED_ERRORS: &[CodedError] = &[
    CodedError {
        code: NO_PASSES,
        text: "No valid Hlo passes specified, exiting...",
        cause: "the list of passes is empty, or every pass in it is skipped",
        resolution: "name passes with --passes; --list-passes lists them",
    },
    CodedError {
        code: ADDED_AFTER_RUN,
        text: "AddPass cannot be called after Run",
        cause: "a pass was added to a pipeline that has run already",
        resolution: "build the whole pipeline first, or another one for what comes later",
    },
    CodedError {
        code: NOT_FOUND,
        text: "Required pass not found!",
        cause: "a key in the list of passes is not in the registry",
        resolution: "look the key up with --list-passes; upper and lower case, hyphens and underscores count",
    },
    CodedError {
        code: WHOLE_TUPLE,
        text: "",
        cause: "each device is alone in a collective of several values, which would become these values, but their tuple is \
                the root or the operand of something other than get-tuple-element",
        resolution: "take the tuple apart with get-tuple-element and build another one where it is needed; \
                     tuple-simplifier may have made one of them the other",
    },
    CodedError {
        code: WEIGHT_DIMENSIONS,
        text: "mismatching layout for parameter",
        cause: "the array in the .npy file has other dimensions than the parameter it is to become, or the parameter is \
                no array",
        resolution: "write the weights anew for this module, or correct the parameter's number in metadata.json",
    },
    CodedError {
        code: WEIGHT_TYPE,
        text: "numpy file type mismatch",
        cause: "the array in the .npy file has elements of another type than the parameter it is to become, or values \
                that the type doesn't have",
        resolution: "convert the array before it is saved; types that numpy doesn't know are saved as raw bytes, bf16 as |V2",
    },
    CodedError {
        code: MODEL_FOLDER,
        text: "Please ensure metadata.json exists and has read permissions.",
        cause: "the folder's metadata.json can't be read, is not JSON, or lacks `model_files` or `weights` in the form \
                {\"model_files\": \"graph.hlo\", \"version\": \"1.0\", \"weights\": {\"1\": \"weights/1.npy\"}}",
        resolution: "give the folder that torch-neuronx wrote, with its files, and paths that stay in it",
    },
];

/// The error with a code.
pub fn coded_error(code: &str) -> Option<&'static CodedError> {
    CODED_ERRORS.iter().find(|error| error.code == code)
}
