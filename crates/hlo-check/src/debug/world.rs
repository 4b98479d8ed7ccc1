//! What a session has around it: folders, settings, colours.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use hlo_passes::pass::Resources;

/// Where files are, which settings passes see, and how output looks.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    /// Where relative paths begin.
    pub(crate) current_dir: PathBuf,
    /// Where files go that nobody asked for by name; `None`: nowhere.
    pub(crate) scratch_dir: Option<PathBuf>,
    /// The settings; `None` for those of this process.
    pub(crate) environment: Option<BTreeMap<String, String>>,
    /// Whether output may be coloured.
    pub(crate) color: bool,
}

impl World {
    /// Where tests that show faults of passes are written.
    pub(crate) fn reproducers(&self) -> Option<&Path> {
        self.scratch_dir.as_deref()
    }

    /// The path a user means.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.current_dir.join(name)
    }

    /// Writes a file.
    ///
    /// # Errors
    /// Why it can't be written.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), String> {
        std::fs::write(self.path(name), text).map_err(|error| format!("can't write {name}: {error}"))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Those of the file system.
    pub(crate) fn read_file(&self, name: &str) -> io::Result<Vec<u8>> {
        std::fs::read(self.path(name))
    }
}

/// Random numbers are left out: the same session says the same every time.
impl Resources for World {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.read_file(path).map_err(|error| format!("can't read `{path}`: {error}"))
    }

    fn exists(&self, path: &str) -> bool {
        self.path(path).is_file()
    }

    fn setting(&self, name: &str) -> Option<String> {
        match &self.environment {
            Some(variables) => variables.get(name).cloned(),
            None => std::env::var(name).ok(),
        }
    }
}
