//! What a run is asked to do.

/// How patterns match and what the check file may hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchOptions {
    /// `--check-prefix`, `--check-prefixes`; empty for `CHECK`.
    pub check_prefixes: Vec<String>,
    /// `--comment-prefixes`; empty for `COM` and `RUN`.
    pub comment_prefixes: Vec<String>,
    /// `--implicit-check-not`
    pub implicit_check_not: Vec<String>,
    /// `-DVAR=VALUE`, `-D#VAR=EXPR`, without the `-D`.
    pub defines: Vec<String>,
    /// `--strict-whitespace`
    pub strict_whitespace: bool,
    /// `--match-full-lines`
    pub match_full_lines: bool,
    /// `--ignore-case`
    pub ignore_case: bool,
    /// `--allow-empty`
    pub allow_empty: bool,
    /// `--allow-unused-prefixes`
    pub allow_unused_prefixes: bool,
    /// `--allow-deprecated-dag-overlap`
    pub allow_deprecated_dag_overlap: bool,
    /// `--enable-var-scope`
    pub enable_var_scope: bool,
    /// `-v`, or implied by `-vv`.
    pub verbose: bool,
    /// `-vv`
    pub verbose_verbose: bool,
}

/// The prefix used when none is given.
pub const DEFAULT_CHECK_PREFIXES: &[&str] = &["CHECK"];
/// The comment prefixes used when none are given.
pub const DEFAULT_COMMENT_PREFIXES: &[&str] = &["COM", "RUN"];

/// When to show the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DumpInput {
    /// Never.
    Never,
    /// When the run fails.
    Fail,
    /// Always.
    Always,
    /// Explain the dump instead of running.
    Help,
}

/// Which input lines the dump shows (with context).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DumpFilter {
    /// Those where an error starts.
    Error,
    /// Those where an annotation starts.
    Annotation,
    /// Those an annotation covers.
    AnnotationFull,
    /// All.
    All,
}

/// The dump as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DumpOptions {
    /// When.
    pub when: DumpInput,
    /// Which lines.
    pub filter: DumpFilter,
    /// Lines of context.
    pub context: u32,
}

impl MatchOptions {
    /// Whether the check prefix is the default one.
    #[must_use]
    pub fn has_default_prefix(&self) -> bool {
        self.check_prefixes.is_empty()
    }

    /// The check prefixes in force.
    #[must_use]
    pub fn effective_check_prefixes(&self) -> Vec<&str> {
        effective(&self.check_prefixes, DEFAULT_CHECK_PREFIXES)
    }

    /// The comment prefixes in force.
    #[must_use]
    pub fn effective_comment_prefixes(&self) -> Vec<&str> {
        effective(&self.comment_prefixes, DEFAULT_COMMENT_PREFIXES)
    }

    /// Checks the prefixes given by the user.
    ///
    /// # Errors
    /// LLVM's message, without line end, for the first one at fault.
    pub fn validate_prefixes(&self) -> Result<(), String> {
        let mut known: Vec<&str> = Vec::new();
        if self.check_prefixes.is_empty() {
            known.extend(DEFAULT_CHECK_PREFIXES);
        }
        if self.comment_prefixes.is_empty() {
            known.extend(DEFAULT_COMMENT_PREFIXES);
        }
        for (kind, prefixes) in [("check", &self.check_prefixes), ("comment", &self.comment_prefixes)] {
            for prefix in prefixes {
                if prefix.is_empty() {
                    return Err(format!("error: supplied {kind} prefix must not be the empty string"));
                }
                let valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
                if !prefix.bytes().all(valid) {
                    return Err(format!(
                        "error: supplied {kind} prefix must start with a letter and contain only \
                         alphanumeric characters, hyphens, and underscores: '{prefix}'"
                    ));
                }
                if known.contains(&prefix.as_str()) {
                    return Err(format!(
                        "error: supplied {kind} prefix must be unique among check and comment \
                         prefixes: '{prefix}'"
                    ));
                }
                known.push(prefix);
            }
        }
        Ok(())
    }
}

fn effective<'a>(given: &'a [String], default: &[&'a str]) -> Vec<&'a str> {
    if given.is_empty() { default.to_vec() } else { given.iter().map(String::as_str).collect() }
}
