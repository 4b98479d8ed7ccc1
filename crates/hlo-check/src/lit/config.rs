//! `lit.toml`: the configuration of a test suite. Unknown keys are refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::boolean_expr::Features;
use super::shell::exec::{ExternalPolicy, normalize};
use super::substitution::{Pattern, Substitution};

/// Name of the configuration file.
pub const FILE_NAME: &str = "lit.toml";

/// The variable in which tests find the `pipelines` of their configuration: one per line, `NAME=PASS,...`.
pub const PIPELINES_VARIABLE: &str = "HLO_OPT_PIPELINES";

/// Variables of this process's environment that tests see without being asked for.
pub const PASSED_VARIABLES: [&str; 16] = [
    "HOME",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "SYSTEMROOT",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    "TEMPDIR",
    "FILECHECK_OPTS",
    "LLVM_SYMBOLIZER_PATH",
    "LLVM_PROFILE_FILE",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "SOURCE_DATE_EPOCH",
    "USERPROFILE",
];

/// What tests of a folder run with.
#[derive(Clone, Debug)]
pub struct SuiteConfig {
    /// Name in front of ` :: ` in test names.
    pub name: String,
    /// Folder that test names are relative to.
    pub source_root: PathBuf,
    /// Folder under which tests run and write.
    pub exec_root: PathBuf,
    /// Ends of the names of test files.
    pub suffixes: Vec<String>,
    /// Names of files and folders that hold no tests.
    pub excludes: Vec<String>,
    /// Environment of the tests.
    pub environment: BTreeMap<String, String>,
    /// Features that hold.
    pub features: Features,
    /// If not empty, only tests that require one of these run.
    pub limit_to_features: Vec<String>,
    /// Own substitutions.
    pub substitutions: Vec<Substitution>,
    /// All tests are UNSUPPORTED.
    pub unsupported: bool,
    /// A pipeline fails if any command in it does.
    pub pipefail: bool,
    /// Files here are tests only when named.
    pub standalone: bool,
    /// Time limit of one test.
    pub timeout: Option<Duration>,
    /// How often a failing test is run again.
    pub retries: Option<u32>,
    /// More passes of substitution, at most this many.
    pub recursion_limit: Option<u32>,
    /// Which programs may be started.
    pub external: ExternalPolicy,
    /// Programs whose absence makes a test UNSUPPORTED.
    pub unsupported_tools: Vec<String>,
    /// Group whose tests don't all run at once.
    pub parallelism_group: Option<String>,
    /// How many tests of a group run at once.
    pub parallelism_groups: BTreeMap<String, usize>,
    /// What lints do to the tests.
    pub lints: LintLevel,
    /// Lists of passes by name, for programs that run passes.
    pub pipelines: BTreeMap<String, String>,
    /// Whether the tests see no variables but those every test sees.
    pub plain_environment: bool,
}

/// What lints do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LintLevel {
    /// Nothing; nobody looks.
    Off,
    /// They are reported.
    #[default]
    Warn,
    /// They are reported, and a test that passed otherwise fails.
    Fail,
}

/// A configuration file that can't be used.
#[derive(Debug)]
pub struct ConfigError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, with the place shown.
    pub message: String,
    /// The bytes at fault.
    pub span: Option<Range<usize>>,
    /// The file's text.
    pub text: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message.trim_end())
    }
}

impl std::error::Error for ConfigError {}

impl miette::Diagnostic for ConfigError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new("lit::config"))
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&self.text)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        let span = self.span.clone()?;
        Some(Box::new(std::iter::once(miette::LabeledSpan::new_with_span(None, span))))
    }
}

/// The file as written. Every key is optional.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct File {
    inherit: bool,
    name: Option<String>,
    suffixes: Option<Vec<String>>,
    excludes: Option<Vec<String>>,
    source_root: Option<PathBuf>,
    exec_root: Option<PathBuf>,
    pipefail: Option<bool>,
    timeout: Option<u64>,
    retries: Option<u32>,
    unsupported: Option<bool>,
    standalone: Option<bool>,
    recursive_expansion_limit: Option<u32>,
    features: Vec<String>,
    limit_to_features: Option<Vec<String>>,
    external_tools: Option<ExternalTools>,
    unsupported_tools: Vec<String>,
    parallelism_group: Option<String>,
    parallelism_groups: BTreeMap<String, usize>,
    lints: Option<LintLevel>,
    pass_environment: Vec<String>,
    environment: BTreeMap<String, String>,
    pipelines: BTreeMap<String, String>,
    substitutions: Pairs,
    regex_substitutions: Pairs,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ExternalTools {
    Names(Vec<String>),
    Any(bool),
}

/// A table whose order counts.
#[derive(Debug, Default)]
struct Pairs(Vec<(toml::Spanned<String>, String)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;

        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(PairsVisitor)
    }
}

/// What a configuration starts from.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// Ends of names of test files where no lit.toml says so.
    pub suffixes: Vec<String>,
    /// Features that always hold.
    pub features: Features,
    /// Folders searched for programs before those of `PATH`.
    pub path: Vec<PathBuf>,
    /// `-D name=value`: each becomes a substitution `%{name}`.
    pub params: Vec<(String, String)>,
    /// Time limit that overrides those of configurations; zero for none.
    pub timeout: Option<Duration>,
    /// Retries where a configuration doesn't say.
    pub retries: Option<u32>,
    /// Folder under which all tests write, instead of what configurations say.
    pub exec_root: Option<PathBuf>,
    /// Variables every test sees.
    pub environment: BTreeMap<String, String>,
    /// What lints do, whatever configurations say.
    pub lints: Option<LintLevel>,
}

impl SuiteConfig {
    /// The configuration of a folder without a lit.toml.
    pub fn default_for(root: &Path, defaults: &Defaults) -> Self {
        let name = root.file_name().map_or("tests".into(), |name| name.to_string_lossy());
        let mut environment = base_environment(defaults);
        environment.extend(defaults.environment.clone());
        SuiteConfig {
            source_root: root.to_owned(),
            exec_root: match &defaults.exec_root {
                Some(exec_root) => exec_root.join(name.as_ref()),
                None => root.to_owned(),
            },
            name: name.into_owned(),
            suffixes: defaults.suffixes.clone(),
            excludes: Vec::new(),
            environment,
            features: defaults.features.clone(),
            limit_to_features: Vec::new(),
            substitutions: defaults
                .params
                .iter()
                .map(|(name, value)| Substitution {
                    pattern: Pattern::Literal(format!("%{{{name}}}")),
                    value: value.clone(),
                })
                .collect(),
            unsupported: false,
            pipefail: true,
            standalone: false,
            timeout: defaults.timeout.filter(|timeout| !timeout.is_zero()),
            retries: defaults.retries,
            recursion_limit: None,
            external: ExternalPolicy::Nothing,
            unsupported_tools: Vec::new(),
            parallelism_group: None,
            parallelism_groups: BTreeMap::new(),
            lints: defaults.lints.unwrap_or_default(),
            pipelines: BTreeMap::new(),
            plain_environment: true,
        }
    }

    /// Reads `dir/lit.toml`. `parent` is the configuration of the folder above, which a file with
    /// `inherit = true` refines; the flag says whether it does.
    ///
    /// # Errors
    /// The file can't be read, is no TOML, or has a key or value that means nothing.
    pub fn load(
        dir: &Path,
        parent: Option<&SuiteConfig>,
        defaults: &Defaults,
    ) -> Result<(Self, bool), ConfigError> {
        let path = dir.join(FILE_NAME);
        let text = std::fs::read_to_string(&path).map_err(|error| ConfigError {
            path: path.clone(),
            message: error.to_string(),
            span: None,
            text: String::new(),
        })?;
        let file: File = toml::from_str(&text).map_err(|error| ConfigError {
            path: path.clone(),
            message: error.to_string(),
            span: error.span(),
            text: text.clone(),
        })?;
        let (mut config, inherits) = match parent {
            Some(parent) if file.inherit => (parent.clone(), true),
            _ => (SuiteConfig::default_for(dir, defaults), false),
        };
        config.apply(file, dir, inherits, defaults).map_err(|(message, span)| ConfigError {
            path,
            message,
            span: Some(span),
            text,
        })?;
        Ok((config, inherits))
    }

    fn apply(
        &mut self,
        file: File,
        dir: &Path,
        inherits: bool,
        defaults: &Defaults,
    ) -> Result<(), (String, Range<usize>)> {
        fn set<T>(target: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *target = value;
            }
        }
        set(&mut self.name, file.name);
        set(&mut self.suffixes, file.suffixes);
        set(&mut self.excludes, file.excludes);
        set(&mut self.pipefail, file.pipefail);
        set(&mut self.unsupported, file.unsupported);
        set(&mut self.standalone, file.standalone);
        set(&mut self.limit_to_features, file.limit_to_features);
        if !inherits {
            if let Some(root) = file.source_root {
                self.source_root = normalize(&dir.join(root));
                self.exec_root = self.source_root.clone();
            }
            if let Some(root) = file.exec_root {
                self.exec_root = normalize(&dir.join(root));
            }
            if let Some(root) = &defaults.exec_root {
                self.exec_root = root.join(&self.name);
            }
        }
        if let (Some(seconds), None) = (file.timeout, defaults.timeout) {
            self.timeout = (seconds > 0).then(|| Duration::from_secs(seconds));
        }
        if defaults.lints.is_none() {
            set(&mut self.lints, file.lints);
        }
        self.plain_environment &= file.environment.is_empty() && file.pass_environment.is_empty();
        self.retries = file.retries.or(self.retries);
        self.recursion_limit = file.recursive_expansion_limit.or(self.recursion_limit);
        self.parallelism_group = file.parallelism_group.or(self.parallelism_group.take());
        self.parallelism_groups.extend(file.parallelism_groups);
        self.features.extend(file.features);
        self.unsupported_tools.extend(file.unsupported_tools);
        match file.external_tools {
            None => {}
            Some(ExternalTools::Any(true)) => self.external = ExternalPolicy::Anything,
            Some(ExternalTools::Any(false)) => self.external = ExternalPolicy::Nothing,
            Some(ExternalTools::Names(names)) => self.external = ExternalPolicy::Named(names),
        }
        for name in &file.pass_environment {
            if let Ok(value) = std::env::var(name) {
                self.environment.insert(name.clone(), value);
            }
        }
        self.environment.extend(file.environment);
        self.pipelines.extend(file.pipelines);
        if !self.pipelines.is_empty() {
            let one_line = |list: &String| list.replace(['\n', '\r'], " ");
            let lines = self.pipelines.iter().map(|(name, list)| format!("{name}={}\n", one_line(list)));
            self.environment.insert(PIPELINES_VARIABLE.to_owned(), lines.collect());
        }
        for (pattern, value) in file.substitutions.0 {
            let span = pattern.span();
            let text = pattern.into_inner();
            if text.is_empty() {
                return Err(("a substitution needs a text to look for".to_owned(), span));
            }
            self.substitutions.push(Substitution { pattern: Pattern::Literal(text), value });
        }
        for (pattern, value) in file.regex_substitutions.0 {
            let span = pattern.span();
            let regex = Regex::new(pattern.get_ref()).map_err(|error| (error.to_string(), span))?;
            self.substitutions.push(Substitution { pattern: Pattern::Regex(regex), value });
        }
        Ok(())
    }

    /// Folder in which the tests of `dir` (a path relative to the suite, `/`-separated) run.
    pub fn exec_dir(&self, dir: &str) -> PathBuf {
        let mut path = self.exec_root.clone();
        path.extend(dir.split('/').filter(|part| !part.is_empty()));
        path
    }
}

fn base_environment(defaults: &Defaults) -> BTreeMap<String, String> {
    let mut environment: BTreeMap<String, String> = PASSED_VARIABLES
        .iter()
        .filter_map(|&name| Some((name.to_owned(), std::env::var(name).ok()?)))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let dirs = defaults.path.iter().cloned().chain(std::env::split_paths(&inherited));
    // A folder with a separator in its name can't be in the list.
    let path = std::env::join_paths(dirs).unwrap_or(inherited);
    environment.insert("PATH".to_owned(), path.to_string_lossy().into_owned());
    environment.insert("LLVM_DISABLE_CRASH_REPORT".to_owned(), "1".to_owned());
    environment
}

/// Features about this machine, in LLVM's spelling.
pub fn system_features() -> BTreeSet<String> {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    [format!("system-{system}"), format!("arch-{}", std::env::consts::ARCH)].into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<SuiteConfig, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE_NAME), text).unwrap();
        SuiteConfig::load(dir.path(), None, &Defaults::default()).map(|(config, _)| config)
    }

    #[test]
    fn every_key() {
        let config = load(
            r#"
            name = "n"
            suffixes = [".a"]
            excludes = ["Inputs"]
            source-root = "src"
            exec-root = "../out"
            pipefail = false
            timeout = 7
            retries = 2
            unsupported = true
            standalone = true
            recursive-expansion-limit = 3
            features = ["f"]
            limit-to-features = ["g"]
            external-tools = ["grep"]
            unsupported-tools = ["clang"]
            parallelism-group = "p"
            pass-environment = ["PATH"]
            [parallelism-groups]
            p = 1
            [environment]
            A = "b"
            [substitutions]
            "%{z}" = "1"
            "%{a}" = "2"
            [regex-substitutions]
            'q+' = "3"
            "#,
        )
        .unwrap();
        assert_eq!(config.name, "n");
        assert!(config.source_root.ends_with("src"));
        assert!(config.exec_root.ends_with("out"));
        assert!(!config.pipefail && config.unsupported && config.standalone);
        assert_eq!(config.timeout, Some(Duration::from_secs(7)));
        assert_eq!(config.external, ExternalPolicy::Named(vec!["grep".to_owned()]));
        assert_eq!(config.environment["A"], "b");
        let order: Vec<&str> = config.substitutions.iter().map(|entry| entry.pattern.text()).collect();
        assert_eq!(order, ["%{z}", "%{a}", "q+"]);
    }

    #[test]
    fn unknown_keys_and_bad_values_are_refused_with_their_place() {
        let text = "name = \"n\"\nsufixes = []\n";
        let error = load(text).unwrap_err();
        let span = error.span.clone().unwrap();
        assert_eq!(&text[span], "sufixes");
        assert!(error.to_string().contains("unknown field `sufixes`"), "{error}");

        let text = "[regex-substitutions]\n'(' = \"x\"\n";
        let error = load(text).unwrap_err();
        assert!(error.span.clone().is_some_and(|span| text[span].contains('(')), "{error}");
        assert!(load("timeout = -1").is_err());
        assert!(load("[substitutions]\n\"\" = \"x\"").is_err());
        assert!(load("name = [").is_err());
    }

    #[test]
    fn inherit_refines_the_parent() {
        let dir = tempfile::tempdir().unwrap();
        let mut parent = SuiteConfig::default_for(dir.path(), &Defaults::default());
        parent.features.insert("a".to_owned());
        std::fs::write(dir.path().join(FILE_NAME), "inherit = true\nfeatures = [\"b\"]").unwrap();
        let (config, inherits) = SuiteConfig::load(dir.path(), Some(&parent), &Defaults::default()).unwrap();
        assert!(inherits);
        assert!(config.features.contains("a") && config.features.contains("b"));
    }
}
