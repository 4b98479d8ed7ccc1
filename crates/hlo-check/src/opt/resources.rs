//! What passes get from outside: files and settings.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use hlo_passes::pass::Resources;

/// The environment a call sees.
#[derive(Clone, Copy)]
pub(super) enum Environment<'e> {
    /// That of this process.
    Process,
    /// This one.
    Given(&'e BTreeMap<String, String>),
}

/// Files below a directory, unless their paths are absolute, and settings.
pub(super) struct FileResources<'e> {
    pub(super) current_dir: &'e Path,
    /// Where files go that nobody asked for by name.
    pub(super) scratch_dir: &'e Path,
    pub(super) environment: Environment<'e>,
}

impl Resources for FileResources<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.current_dir.join(path)).map_err(|error| format!("can't read `{path}`: {error}"))
    }

    fn exists(&self, path: &str) -> bool {
        self.current_dir.join(path).is_file()
    }

    fn setting(&self, name: &str) -> Option<String> {
        match self.environment {
            Environment::Process => std::env::var(name).ok(),
            Environment::Given(variables) => variables.get(name).cloned(),
        }
    }

    fn entropy(&self) -> Option<u32> {
        // The standard library seeds its hash maps from the system's randomness.
        Some(RandomState::new().hash_one(0u8) as u32)
    }
}
