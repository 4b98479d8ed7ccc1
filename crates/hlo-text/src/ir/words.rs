//! The vocabularies of words that stand as attribute values, one table.

use super::element_type::ElementClass;

macro_rules! vocabularies {
    ($($(#[$doc:meta])* $name:ident $case:ident { $($variant:ident $text:literal),* $(,)? })*) => {
        /// A set of words an attribute chooses from.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Vocabulary {
            $($(#[$doc])* $name,)*
        }

        impl Vocabulary {
            /// The words as they are printed, in table order; the index is what
            /// [`AttrValue::Word`](super::AttrValue::Word) holds.
            pub const fn words(self) -> &'static [&'static str] {
                match self { $(Vocabulary::$name => &[$($text,)*],)* }
            }

            /// Whether any letter case is accepted on input.
            pub const fn any_case(self) -> bool {
                match self { $(Vocabulary::$name => any_case!($case),)* }
            }
        }

        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            #[repr(u8)]
            pub enum $name {
                $(#[doc = concat!("`", $text, "`")] $variant,)*
            }

            impl $name {
                /// The meaning of [`AttrValue::Word`](super::AttrValue::Word) of this vocabulary.
                pub fn from_word(word: u8) -> Option<Self> {
                    const ALL: &[$name] = &[$($name::$variant,)*];
                    ALL.get(word as usize).copied()
                }

                /// The index for [`AttrValue::Word`](super::AttrValue::Word).
                pub fn word(self) -> u8 {
                    self as u8
                }

                /// The printed spelling.
                pub fn name(self) -> &'static str {
                    Vocabulary::$name.words()[self as usize]
                }
            }
        )*
    };
}

macro_rules! any_case {
    (any_case) => {
        true
    };
    (exact) => {
        false
    };
}

vocabularies! {
    /// `direction=` of `compare`.
    ComparisonDirection exact { Eq "EQ", Ne "NE", Ge "GE", Gt "GT", Le "LE", Lt "LT" }
    /// `type=` of `compare`.
    ComparisonType exact { Float "FLOAT", FloatTotalOrder "TOTALORDER", Signed "SIGNED", Unsigned "UNSIGNED" }
    /// `kind=` of `fusion`.
    FusionKind exact { Loop "kLoop", Input "kInput", Output "kOutput", Custom "kCustom" }
    /// `fft_type=` of `fft`.
    FftType exact { Fft "FFT", Ifft "IFFT", Rfft "RFFT", Irfft "IRFFT" }
    /// `convolution_kind=`.
    ConvolutionKind exact { Unset "unset", Fprop "fprop", Wgrad "wgrad", Dgrad "dgrad" }
    /// `padding_type=` of `custom-call`.
    PaddingType exact { Invalid "PADDING_INVALID", Valid "PADDING_VALID", Same "PADDING_SAME" }
    /// `transpose_a=` of `triangular-solve`.
    TriangularSolveTranspose exact {
        Invalid "TRANSPOSE_INVALID", NoTranspose "NO_TRANSPOSE", Transpose "TRANSPOSE", Adjoint "ADJOINT",
    }
    /// `mode=` of collectives: read, checked and dropped, as XLA does.
    CollectiveOpGroupMode exact {
        CrossReplica "cross_replica", CrossPartition "cross_partition",
        CrossReplicaAndPartition "cross_replica_and_partition", FlattenedId "flattened_id",
    }
    /// `distribution=` of `rng`.
    RandomDistribution any_case { Invalid "rng_invalid", Uniform "rng_uniform", Normal "rng_normal" }
    /// `algorithm=` of `rng-bit-generator`.
    RandomAlgorithm any_case { Default "rng_default", ThreeFry "rng_three_fry", Philox "rng_philox" }
    /// `algorithm=` of dots.
    DotAlgorithm any_case {
        Unset "unset",
        AnyF8AnyF8F32 "dot_any_f8_any_f8_f32",
        AnyF8AnyF8F32FastAccum "dot_any_f8_any_f8_f32_fast_accum",
        F16F16F16 "dot_f16_f16_f16",
        F16F16F32 "dot_f16_f16_f32",
        Bf16Bf16Bf16 "dot_bf16_bf16_bf16",
        Bf16Bf16F32 "dot_bf16_bf16_f32",
        Bf16Bf16F32X3 "dot_bf16_bf16_f32_x3",
        Bf16Bf16F32X6 "dot_bf16_bf16_f32_x6",
        Bf16Bf16F32X9 "dot_bf16_bf16_f32_x9",
        Tf32Tf32F32 "dot_tf32_tf32_f32",
        Tf32Tf32F32X3 "dot_tf32_tf32_f32_x3",
        F32F32F32 "dot_f32_f32_f32",
        F64F64F64 "dot_f64_f64_f64",
    }
    /// Entries of `operand_precision=`.
    Precision any_case { Default "default", High "high", Highest "highest" }
    /// `mode=` inside `result_accuracy=`.
    AccuracyMode any_case { Default "default", Highest "highest" }
    /// `schedule=` of `custom-call`.
    CustomCallSchedule any_case {
        None "SCHEDULE_NONE", Latest "SCHEDULE_LATEST", Earliest "SCHEDULE_EARLIEST",
    }
    /// `api_version=` of `custom-call`. The last one is what older dumps say; today's XLA refuses it.
    ApiVersion any_case {
        Original "API_VERSION_ORIGINAL",
        StatusReturning "API_VERSION_STATUS_RETURNING",
        StatusReturningUnified "API_VERSION_STATUS_RETURNING_UNIFIED",
        TypedFfi "API_VERSION_TYPED_FFI",
        Unspecified "API_VERSION_UNSPECIFIED",
    }
}

impl ComparisonType {
    /// How elements of this class are compared when nothing is said.
    pub fn default_of(class: ElementClass) -> Self {
        match class {
            ElementClass::Float | ElementClass::Complex => Self::Float,
            ElementClass::Signed => Self::Signed,
            ElementClass::Unsigned | ElementClass::Pred | ElementClass::NotArray => Self::Unsigned,
        }
    }
}

impl Vocabulary {
    /// The index of the word spelt `text`, in any letter case where the vocabulary allows it.
    pub fn find(self, text: &str) -> Option<u8> {
        let any_case = self.any_case();
        let found = self
            .words()
            .iter()
            .position(|word| if any_case { word.eq_ignore_ascii_case(text) } else { *word == text });
        found.map(|index| index as u8)
    }
}
