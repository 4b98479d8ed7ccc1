//! Print options: XLA's `HloPrintOptions`, same names, same presets.

/// Which of an instruction's called computations are printed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubcomputationMode {
    /// Nothing about them.
    Off,
    /// Their names.
    NameOnly,
    /// Their bodies, in place.
    FullBodies,
    /// Their bodies, but nothing for call, conditional and while.
    NonSequentialBodies,
}

macro_rules! print_options {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr;)*) => {
        /// How a module is printed.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct PrintOptions {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl Default for PrintOptions {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl PrintOptions {
            /// The names of all options.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];

            /// Sets the option `name` from its text: `true`, `false`, a number, or a mode's name.
            ///
            /// # Errors
            /// The name or the value is unknown.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
                match name {
                    $(stringify!($name) => {
                        self.$name = OptionValue::from_text(value)
                            .ok_or_else(|| format!("`{value}` is no value of the print option `{name}`"))?;
                        Ok(())
                    })*
                    _ => Err(format!("there is no print option `{name}`")),
                }
            }
        }
    };
}

/// A type of option values that can be read from text.
trait OptionValue: Sized {
    fn from_text(text: &str) -> Option<Self>;
}

impl OptionValue for bool {
    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl OptionValue for usize {
    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl OptionValue for SubcomputationMode {
    fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "off" => Self::Off,
            "name_only" => Self::NameOnly,
            "full_bodies" => Self::FullBodies,
            "non_sequential_bodies" => Self::NonSequentialBodies,
            _ => return None,
        })
    }
}

print_options! {
    /// Before operand N (N > 0, divisible by this) stands `/*index=N*/`; 0: never.
    print_operand_index_annotation_interval: usize = 5;
    /// Called computations: names, bodies, or nothing.
    print_subcomputation_mode: SubcomputationMode = SubcomputationMode::NameOnly;
    /// `ENTRY ` before the entry computation.
    print_entry_keyword: bool = true;
    /// Every line starts with twice as many blanks.
    indent_amount: usize = 0;
    /// All constants in full; otherwise tuples and arrays of more than 10 elements are `{...}`.
    print_large_constants: bool = false;
    /// Only constants that are all 0, all 1, or integers.
    print_only_essential_constants: bool = false;
    /// `origin=`
    print_original_value: bool = true;
    /// `metadata=`, metadata inside shardings, stack-frame tables.
    print_metadata: bool = true;
    /// Only `op_name` of the metadata.
    print_metadata_only_op_name: bool = false;
    /// `backend_config=`
    print_backend_config: bool = true;
    /// JSON backend configs with sorted keys.
    sort_backend_config: bool = false;
    /// `infeed_config=`, `outfeed_config=`
    print_infeed_outfeed_config: bool = true;
    /// At most 4 operands, then `...(+N)`; not parsable.
    compact_operands: bool = false;
    /// Layouts in instruction and operand shapes.
    include_layout_in_shapes: bool = true;
    /// The result shape before the opcode.
    print_result_shape: bool = true;
    /// Shapes before operand names.
    print_operand_shape: bool = false;
    /// Operand names.
    print_operand_names: bool = true;
    /// Signatures of computations.
    print_program_shape: bool = true;
    /// `%` before names.
    print_percent: bool = true;
    /// `control-predecessors=`
    print_control_dependencies: bool = true;
    /// Names `tmp_0`, `tmp_1` and so on per computation.
    canonicalize_instruction_names: bool = false;
    /// Computations in creation order.
    canonicalize_computations: bool = false;
    /// Numbers of names, names of computations and the module.
    print_ids: bool = true;
    /// Attributes of opcodes beside called computations.
    print_extra_attributes: bool = true;
    /// `X-start(...)` for asynchronous computations of one instruction.
    syntax_sugar_async_ops: bool = true;
    /// `frontend_attributes=` of instructions.
    print_frontend_attributes: bool = true;
    /// Leaves out computation names.
    is_in_nested_computation: bool = false;
    /// `// name` after the `}` of computations with more than 5 instructions.
    print_name_after_closing_brace: bool = false;
    /// Replica groups as lists, whatever their form.
    print_full_replica_group_list: bool = false;
    /// The number in `parameter(N)`.
    print_parameter_number: bool = true;
    /// The number in `channel_id=N`, otherwise `_`.
    print_channel_id: bool = true;
    /// File, line and column of the frame instead of `stack_frame_id`.
    print_inline_stack_frames: bool = false;
    /// Attributes whose spelling has changed since the text was written are printed in its own spelling.
    syntax_as_read: bool = false;
}

impl PrintOptions {
    /// XLA's `ShortParsable`: parsable, without what only people look at.
    pub fn short_parsable() -> Self {
        Self {
            print_large_constants: true,
            print_metadata: false,
            print_operand_index_annotation_interval: 0,
            print_program_shape: false,
            print_percent: false,
            print_control_dependencies: false,
            ..Self::default()
        }
    }

    /// XLA's `Canonical`: names and bodies do not depend on how computations are called or shared.
    pub fn canonical() -> Self {
        Self {
            print_subcomputation_mode: SubcomputationMode::FullBodies,
            print_metadata: false,
            print_backend_config: false,
            print_program_shape: false,
            print_percent: false,
            print_control_dependencies: false,
            print_operand_index_annotation_interval: 0,
            print_operand_names: false,
            print_operand_shape: true,
            canonicalize_instruction_names: true,
            ..Self::default()
        }
    }

    /// XLA's `Fingerprint`: what counts as the same computation.
    pub fn fingerprint() -> Self {
        Self {
            print_infeed_outfeed_config: false,
            print_only_essential_constants: true,
            print_ids: false,
            canonicalize_computations: true,
            print_full_replica_group_list: true,
            ..Self::canonical()
        }
    }

    /// XLA's `ModuleFingerprint`: [`Self::fingerprint`] without operand shapes.
    pub fn module_fingerprint() -> Self {
        Self { print_operand_shape: false, ..Self::fingerprint() }
    }

    /// The preset called `name`: default, short (or short_parsable), canonical, fingerprint, module_fingerprint.
    pub fn preset(name: &str) -> Option<Self> {
        Some(match name {
            "default" => Self::default(),
            "short" | "short_parsable" => Self::short_parsable(),
            "canonical" => Self::canonical(),
            "fingerprint" => Self::fingerprint(),
            "module_fingerprint" => Self::module_fingerprint(),
            _ => return None,
        })
    }
}
