//! Bazel's test protocol: sharding, filtering, folders and reports by environment variables.

use std::path::PathBuf;

use super::select::Shard;

/// What Bazel asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bazel {
    /// `TEST_TOTAL_SHARDS` and `TEST_SHARD_INDEX` (which counts from 0).
    pub shard: Option<Shard>,
    /// `TEST_SHARD_STATUS_FILE`: touched to say that sharding is understood.
    pub shard_status_file: Option<PathBuf>,
    /// `XML_OUTPUT_FILE`.
    pub xml_output: Option<PathBuf>,
    /// `TEST_TMPDIR`: the only folder tests may write to.
    pub temp_dir: Option<PathBuf>,
    /// `TESTBRIDGE_TEST_ONLY`, from `--test_filter`.
    pub test_only: Option<String>,
}

impl Bazel {
    /// Reads the variables. Malformed numbers count as absent, as the protocol asks of runners
    /// that don't shard.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let number = |name: &str| set(name).and_then(|value| value.parse::<usize>().ok());
        let shard = match (number("TEST_TOTAL_SHARDS"), number("TEST_SHARD_INDEX")) {
            (Some(count), Some(index)) if index < count => Some(Shard { run: index + 1, count }),
            _ => None,
        };
        Bazel {
            shard,
            shard_status_file: set("TEST_SHARD_STATUS_FILE").map(PathBuf::from),
            xml_output: set("XML_OUTPUT_FILE").map(PathBuf::from),
            temp_dir: set("TEST_TMPDIR").map(PathBuf::from),
            test_only: set("TESTBRIDGE_TEST_ONLY"),
        }
    }

    /// Folder under which tests write.
    pub fn exec_root(&self) -> Option<PathBuf> {
        self.temp_dir.as_ref().map(|dir| dir.join("lit"))
    }

    /// Tells Bazel that its sharding is honoured.
    ///
    /// # Errors
    /// The status file can't be made.
    pub fn announce(&self) -> Result<(), String> {
        let Some(path) = &self.shard_status_file else { return Ok(()) };
        std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map(drop)
            .map_err(|error| format!("can't touch {}: {error}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let bazel = Bazel::from_variables(|name| {
            Some(match name {
                "TEST_TOTAL_SHARDS" => "3".to_owned(),
                "TEST_SHARD_INDEX" => "2".to_owned(),
                "TESTBRIDGE_TEST_ONLY" => String::new(),
                "TEST_TMPDIR" => "/t".to_owned(),
                _ => return None,
            })
        });
        assert_eq!(bazel.shard, Some(Shard { run: 3, count: 3 }));
        assert_eq!(bazel.test_only, None);
        assert_eq!(bazel.exec_root(), Some(PathBuf::from("/t").join("lit")));
        let bad = |name: &str| match name {
            "TEST_TOTAL_SHARDS" => Some("3".to_owned()),
            "TEST_SHARD_INDEX" => Some("3".to_owned()),
            _ => None,
        };
        assert_eq!(Bazel::from_variables(bad).shard, None);
    }
}
