//! Finds tests: suites are folders with a lit.toml, tests are files in them with the right ending.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::config::{ConfigError, Defaults, FILE_NAME, SuiteConfig};
use super::mounts::Mounts;
use super::python_config;
use super::shell::exec::normalize;
use super::times;

/// Folders that never hold tests.
const SKIPPED_FOLDERS: [&str; 3] = ["Output", ".svn", ".git"];

/// A folder of tests under one configuration.
#[derive(Debug)]
pub struct Suite {
    /// Configuration at its root.
    pub config: Arc<SuiteConfig>,
    /// Seconds each test took last time, negative if it failed.
    pub times: HashMap<String, f64>,
    /// Its root without links.
    real_root: Arc<Path>,
}

/// Verdicts that the command line changes for a single test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--xfail`
    pub xfail: bool,
    /// `--xfail-not`
    pub xfail_not: bool,
    /// `--exclude-xfail`
    pub exclude_xfail: bool,
    /// `--unsupported`
    pub unsupported: bool,
    /// `--unsupported-not`
    pub unsupported_not: bool,
}

/// One test file.
#[derive(Clone, Debug)]
pub struct Test {
    /// The suite it belongs to.
    pub suite: Arc<Suite>,
    /// Configuration of its folder.
    pub config: Arc<SuiteConfig>,
    /// Path below the suite's root, with `/` on every system.
    pub path: String,
    /// Changes by the command line.
    pub overrides: Overrides,
}

impl Test {
    /// `suite :: path`
    pub fn full_name(&self) -> String {
        format!("{} :: {}", self.suite.config.name, self.path)
    }

    /// The file.
    pub fn source(&self) -> PathBuf {
        let mut path = self.suite.config.source_root.clone();
        path.extend(self.path.split('/'));
        path
    }

    /// Seconds it took last time, 0 if unknown.
    pub fn previous_elapsed(&self) -> f64 {
        self.suite.times.get(&self.path).map_or(0.0, |time| time.abs())
    }

    /// Whether it failed last time.
    pub fn previously_failed(&self) -> bool {
        self.suite.times.get(&self.path).is_some_and(|&time| time < 0.0)
    }
}

/// What discovery has to say besides the tests.
#[derive(Debug, Default)]
pub struct Found {
    /// The tests, in the order of the inputs and then of names.
    pub tests: Vec<Test>,
    /// Things worth knowing.
    pub notes: Vec<String>,
    /// Things that look like mistakes.
    pub warnings: Vec<String>,
    /// Configurations that can't be used; nothing should run.
    pub errors: Vec<ConfigError>,
}

/// Finds the tests named by `inputs`: files, folders.
pub fn discover(inputs: &[PathBuf], defaults: &Defaults, config_prefix: &str) -> Found {
    let mut finder = Finder {
        defaults,
        config_prefix,
        found: Found::default(),
        configs: HashMap::new(),
        noted: HashSet::new(),
        added: HashSet::new(),
        named: 0,
        mounts: Mounts::of_system(),
    };
    let cwd = std::env::current_dir().unwrap_or_default();
    for input in inputs {
        let before = finder.named;
        finder.input(&normalize(&cwd.join(input)));
        if finder.named == before && finder.found.errors.is_empty() {
            finder.found.warnings.push(format!("input '{}' contained no tests", input.display()));
        }
    }
    finder.found
}

/// A folder's place in a suite.
#[derive(Clone)]
struct Folder {
    suite: Arc<Suite>,
    config: Arc<SuiteConfig>,
    /// Path below the suite's root, `/`-separated, empty for the root.
    path: String,
    /// The folder without links.
    real: Arc<Path>,
}

impl Folder {
    fn child(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }
}

struct Finder<'d> {
    defaults: &'d Defaults,
    config_prefix: &'d str,
    found: Found,
    /// Folders whose place is known.
    configs: HashMap<PathBuf, Option<Folder>>,
    noted: HashSet<PathBuf>,
    /// The tests found so far: root of the suite and folder, both without links, and name.
    added: HashSet<(Arc<Path>, Arc<Path>, String)>,
    /// How often a test was found, the same one again included.
    named: usize,
    /// What is no place for tests.
    mounts: Mounts,
}

impl Finder<'_> {
    fn input(&mut self, path: &Path) {
        let is_dir = path.is_dir();
        if !is_dir && !path.is_file() {
            return;
        }
        // Tests run programs: whoever names a whole file system did not mean every file on it.
        if is_dir && path.parent().is_none() && !path.join(FILE_NAME).is_file() {
            self.found.warnings.push(format!(
                "'{}' is a whole file system; name the folder of the tests, or write a {FILE_NAME} there",
                path.display()
            ));
            return;
        }
        let dir = if is_dir { path } else { path.parent().unwrap_or(path) };
        let Some(folder) = self.place(dir) else { return };
        if is_dir {
            self.walk(path, folder);
        } else if let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned())
            && (folder.config.standalone || is_test(&name, &folder.config))
        {
            self.add(&folder, &name);
        }
    }

    /// Adds a test unless it is there already: two runs of one test at once would write to the same files.
    fn add(&mut self, folder: &Folder, name: &str) {
        self.named += 1;
        let path = folder.child(name);
        let key = (Arc::clone(&folder.suite.real_root), Arc::clone(&folder.real), name.to_owned());
        if !self.added.insert(key) {
            return;
        }
        self.found.tests.push(Test {
            suite: Arc::clone(&folder.suite),
            config: Arc::clone(&folder.config),
            path,
            overrides: Overrides::default(),
        });
    }

    /// Where a folder belongs: the nearest lit.toml upward decides. `None` after an error.
    fn place(&mut self, dir: &Path) -> Option<Folder> {
        if let Some(known) = self.configs.get(dir) {
            return known.clone();
        }
        // Go up to a known folder or the nearest configuration that doesn't inherit...
        let mut pending = vec![dir.to_owned()];
        let mut at = dir.to_owned();
        let mut above = None;
        loop {
            let has_config = at.join(FILE_NAME).is_file();
            if has_config && !inherits(&at) {
                break;
            }
            if !has_config {
                self.note_python(&at);
            }
            let Some(parent) = at.parent().map(Path::to_owned) else {
                // Only files that want to refine something, with nothing above them, count now.
                let top = pending.iter().rposition(|dir| dir.join(FILE_NAME).is_file());
                pending.truncate(top.map_or(0, |top| top + 1));
                break;
            };
            at = parent;
            if let Some(known) = self.configs.get(&at) {
                above = Some(known.clone()?);
                break;
            }
            pending.push(at.clone());
        }
        if pending.is_empty() {
            // No configuration anywhere: the folder is a suite by itself.
            let config = Arc::new(SuiteConfig::default_for(dir, self.defaults));
            let folder = self.new_suite(dir, config);
            self.configs.insert(dir.to_owned(), Some(folder.clone()));
            return Some(folder);
        }
        // ... and come down again, refining.
        let mut folder = above;
        for dir in pending.iter().rev() {
            folder = self.enter(dir, folder.as_ref());
            self.configs.insert(dir.clone(), folder.clone());
            folder.as_ref()?;
        }
        folder
    }

    /// The place of a folder given that of the one above.
    fn enter(&mut self, dir: &Path, parent: Option<&Folder>) -> Option<Folder> {
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        if !dir.join(FILE_NAME).is_file() {
            let parent = parent?;
            return Some(Folder { path: parent.child(&name), real: real(dir), ..parent.clone() });
        }
        let parent_config = parent.map(|parent| parent.config.as_ref());
        match SuiteConfig::load(dir, parent_config, self.defaults) {
            Ok((config, true)) => {
                let parent = parent?;
                let config = Arc::new(config);
                let (path, suite) = (parent.child(&name), Arc::clone(&parent.suite));
                Some(Folder { path, config, suite, real: real(dir) })
            }
            Ok((config, false)) => Some(self.new_suite(dir, Arc::new(config))),
            Err(error) => {
                self.found.errors.push(error);
                None
            }
        }
    }

    fn new_suite(&mut self, dir: &Path, config: Arc<SuiteConfig>) -> Folder {
        let times = times::read(&config).unwrap_or_else(|message| {
            self.found.warnings.push(message);
            HashMap::new()
        });
        let real_root = real(&config.source_root);
        let suite = Arc::new(Suite { config: Arc::clone(&config), times, real_root });
        Folder { suite, config, path: String::new(), real: real(dir) }
    }

    fn note_python(&mut self, dir: &Path) {
        if let Some(path) = python_config::find(dir, self.config_prefix)
            && self.noted.insert(path.clone())
        {
            self.found.notes.push(python_config::note(&path));
        }
    }

    /// Adds the tests below a folder, depth first, in the order of names.
    fn walk(&mut self, dir: &Path, folder: Folder) {
        let mut linked = HashSet::new();
        let mut stack = vec![(dir.to_owned(), folder)];
        while let Some((dir, folder)) = stack.pop() {
            if folder.config.standalone {
                continue;
            }
            if let Some(kind) = self.mounts.kernel_kind(&folder.real) {
                self.found
                    .warnings
                    .push(format!("'{}' is the system's ({kind}) and is left out", dir.display()));
                continue;
            }
            let Ok(entries) = std::fs::read_dir(&dir) else {
                self.found.warnings.push(format!("can't read the folder '{}'", dir.display()));
                continue;
            };
            let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
            entries.sort_by_key(std::fs::DirEntry::file_name);
            let mut folders = Vec::new();
            for entry in entries {
                let name = entry.file_name().to_string_lossy().into_owned();
                let Ok(kind) = entry.file_type() else { continue };
                let path = entry.path();
                let is_dir = kind.is_dir() || (kind.is_symlink() && path.is_dir());
                if !is_dir {
                    if !is_test(&name, &folder.config) {
                        continue;
                    }
                    // Reading from a pipe or a device may never end. A link to nothing is a test that can't be read.
                    if !kind.is_file() && path.metadata().is_ok_and(|found| !found.is_file()) {
                        self.found
                            .notes
                            .push(format!("'{}' is no regular file and is left out", path.display()));
                        continue;
                    }
                    self.add(&folder, &name);
                    continue;
                }
                if SKIPPED_FOLDERS.contains(&name.as_str()) || folder.config.excludes.contains(&name) {
                    continue;
                }
                // A link may lead back up, which is not followed; each other target is entered once.
                if kind.is_symlink()
                    && let Ok(target) = path.canonicalize()
                    && (dir.canonicalize().is_ok_and(|dir| dir.starts_with(&target))
                        || !linked.insert(target))
                {
                    continue;
                }
                folders.push(path);
            }
            for path in folders.into_iter().rev() {
                let place = match self.configs.get(&path) {
                    Some(known) => known.clone(),
                    None => {
                        self.note_python(&path);
                        let place = self.enter(&path, Some(&folder));
                        self.configs.insert(path.clone(), place.clone());
                        place
                    }
                };
                stack.extend(place.map(|place| (path, place)));
            }
        }
    }
}

/// A path without links; as it is if it can't be followed.
fn real(path: &Path) -> Arc<Path> {
    path.canonicalize().map_or_else(|_| Arc::from(path), Arc::from)
}

/// Whether the lit.toml of a folder refines the one above. A file that can't be read doesn't.
fn inherits(dir: &Path) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        #[serde(default)]
        inherit: bool,
    }
    std::fs::read_to_string(dir.join(FILE_NAME))
        .ok()
        .and_then(|text| toml::from_str::<Head>(&text).ok())
        .is_some_and(|head| head.inherit)
}

fn is_test(name: &str, config: &SuiteConfig) -> bool {
    !name.starts_with('.')
        && !config.excludes.iter().any(|excluded| excluded == name)
        && config.suffixes.iter().any(|suffix| name.ends_with(suffix.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    fn names(found: &Found) -> Vec<String> {
        found.tests.iter().map(Test::full_name).collect()
    }

    fn find(dir: &tempfile::TempDir, inputs: &[&str]) -> Found {
        let inputs: Vec<PathBuf> = inputs.iter().map(|input| dir.path().join(input)).collect();
        discover(&inputs, &Defaults { suffixes: vec![".d".to_owned()], ..Defaults::default() }, "lit")
    }

    #[test]
    fn suites_suffixes_and_excludes() {
        let dir = tree(&[
            ("lit.toml", "name = \"top\"\nsuffixes = [\".t\"]\nexcludes = [\"Inputs\", \"no.t\"]"),
            ("b.t", ""),
            ("a.t", ""),
            (".h.t", ""),
            ("no.t", ""),
            ("a.x", ""),
            ("Inputs/c.t", ""),
            ("Output/c.t", ""),
            ("sub/d.t", ""),
            ("sub/deep/e.t", ""),
            ("other/lit.toml", "name = \"other\"\nsuffixes = [\".x\"]"),
            ("other/f.x", ""),
            ("other/more/lit.toml", "inherit = true\nsuffixes = [\".y\"]"),
            ("other/more/g.y", ""),
        ]);
        let all = [
            "top :: a.t",
            "top :: b.t",
            "other :: f.x",
            "other :: more/g.y",
            "top :: sub/d.t",
            "top :: sub/deep/e.t",
        ];
        assert_eq!(names(&find(&dir, &["."])), all);
        assert_eq!(names(&find(&dir, &["sub/deep"])), ["top :: sub/deep/e.t"]);
        assert_eq!(names(&find(&dir, &["sub/deep/e.t"])), ["top :: sub/deep/e.t"]);
        assert_eq!(names(&find(&dir, &["other/more"])), ["other :: more/g.y"]);
        let found = find(&dir, &["a.x", "missing"]);
        assert!(found.tests.is_empty());
        assert_eq!(found.warnings.len(), 2);
    }

    #[test]
    fn without_configuration_and_with_a_python_one() {
        let dir = tree(&[("s/a.d", ""), ("s/lit.cfg.py", "config.suffixes = ['.d']")]);
        let found = find(&dir, &["s"]);
        assert_eq!(names(&found), ["s :: a.d"]);
        assert_eq!(found.notes.len(), 1);
        assert!(found.notes[0].contains("suffixes = [\".d\"]"), "{}", found.notes[0]);
    }

    #[test]
    fn broken_configuration_is_an_error() {
        let dir = tree(&[("lit.toml", "oops = 1"), ("a.d", "")]);
        let found = find(&dir, &["a.d"]);
        assert_eq!((found.tests.len(), found.errors.len()), (0, 1));
    }

    #[test]
    fn a_whole_file_system_is_no_suite() {
        let dir = tree(&[("a.d", "")]);
        let root = dir.path().ancestors().last().unwrap().to_str().unwrap();
        let found = find(&dir, &[root]);
        assert!(found.tests.is_empty());
        assert!(found.warnings[0].contains("is a whole file system"), "{:?}", found.warnings);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_reached_twice_is_one() {
        let link = std::os::unix::fs::symlink;
        let dir = tree(&[
            ("lit.toml", "name = \"top\""),
            ("s/a.d", ""),
            ("t/lit.toml", "name = \"t\""),
            ("t/b.d", ""),
        ]);
        link(dir.path().join("s"), dir.path().join("link")).unwrap();
        link(dir.path().join("t"), dir.path().join("u")).unwrap();
        link(dir.path().join("s/a.d"), dir.path().join("s/other.d")).unwrap();
        // A link to a file is a test by another name, whose files have other names.
        assert_eq!(names(&find(&dir, &["."])), ["top :: link/a.d", "top :: link/other.d", "t :: b.d"]);
        let found = find(&dir, &["s", "link", "t", "u/b.d"]);
        assert_eq!(names(&found), ["top :: s/a.d", "top :: s/other.d", "t :: b.d"]);
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    }

    #[cfg(unix)]
    #[test]
    fn only_files_are_tests() {
        let dir = tree(&[("s/a.d", "")]);
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("s/socket.d")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("s/gone.d")).unwrap();
        let found = find(&dir, &["s"]);
        assert_eq!(names(&found), ["s :: a.d", "s :: gone.d"]);
        assert!(found.notes[0].contains("socket.d' is no regular file"), "{:?}", found.notes);
        assert!(find(&dir, &["s/socket.d"]).tests.is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn file_systems_of_the_kernel_hold_no_tests() {
        let dir = tree(&[("s/a.d", "")]);
        // As found while tests were looked for everywhere: the way to the working folders of all processes.
        std::os::unix::fs::symlink("/proc/self", dir.path().join("s/link")).unwrap();
        let found = find(&dir, &["s", "/proc"]);
        assert_eq!(names(&found), ["s :: a.d"]);
        assert_eq!(found.warnings.len(), 3, "{:?}", found.warnings);
        assert!(found.warnings[0].contains("s/link' is the system's (proc)"), "{:?}", found.warnings);
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_circle_end() {
        let dir = tree(&[("s/a.d", "")]);
        std::os::unix::fs::symlink(dir.path().join("s"), dir.path().join("s/loop")).unwrap();
        assert!(find(&dir, &["s"]).tests.len() <= 2);
    }
}
