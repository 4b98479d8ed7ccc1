//! `.lit_test_times.txt`: how long each test took, so that the slow and the failing run first.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use super::config::SuiteConfig;
use super::discovery::Test;
use super::result::TestResult;

const FILE_NAME: &str = ".lit_test_times.txt";

/// Smallest time recorded for a failing test: its sign has to show.
const SMALLEST_FAILURE: f64 = -1.0e-6;

/// Reads the times of a suite; none if there is no file.
///
/// # Errors
/// A line is not `SECONDS PATH`.
pub fn read(config: &SuiteConfig) -> Result<HashMap<String, f64>, String> {
    let mut times = HashMap::new();
    let candidates = [&config.exec_root, &config.source_root].map(|root| root.join(FILE_NAME));
    let Some((path, text)) =
        candidates.into_iter().find_map(|path| std::fs::read_to_string(&path).ok().map(|text| (path, text)))
    else {
        return Ok(times);
    };
    for line in text.lines() {
        let parsed = line.trim_start().split_once(char::is_whitespace).and_then(|(time, name)| {
            let time: f64 = time.parse().ok().filter(|time: &f64| time.is_finite())?;
            Some((time, name.trim_start()))
        });
        let Some((time, name)) = parsed else {
            return Err(format!(
                "found malformed timing data in '{}'; remove the file to regenerate it",
                path.display()
            ));
        };
        times.insert(name.to_owned(), time);
    }
    Ok(times)
}

/// Adds the times of this run to those known; gives complaints about files that can't be written.
pub fn record<'t>(results: impl Iterator<Item = (&'t Test, &'t TestResult)>) -> Vec<String> {
    let mut suites: HashMap<PathBuf, HashMap<String, f64>> = HashMap::new();
    let mut seen: Vec<Arc<SuiteConfig>> = Vec::new();
    for (test, result) in results {
        let Some(elapsed) = result.elapsed else { continue };
        let config = &test.suite.config;
        let times = suites.entry(config.exec_root.clone()).or_insert_with(|| {
            seen.push(Arc::clone(config));
            test.suite.times.clone()
        });
        let seconds = elapsed.as_secs_f64();
        let time = if result.code.is_failure() { (-seconds).min(SMALLEST_FAILURE) } else { seconds };
        times.insert(test.path.clone(), time);
    }
    let mut complaints = Vec::new();
    for config in seen {
        let Some(times) = suites.get(&config.exec_root) else { continue };
        if write(&config, times).is_err() {
            let path = config.exec_root.join(FILE_NAME);
            complaints.push(format!("Could not save test time: {}", path.display()));
        }
    }
    complaints
}

/// Writes the times of a suite.
fn write(config: &SuiteConfig, times: &HashMap<String, f64>) -> std::io::Result<()> {
    let mut lines: Vec<(&String, &f64)> = times.iter().collect();
    // A name with a line break would make lines that can't be read; lit stops at them.
    lines.retain(|(name, _)| !name.contains(['\n', '\r']));
    lines.sort_by_key(|(name, _)| name.as_str());
    let mut text = String::new();
    for (name, time) in lines {
        // Writing to a String can't fail.
        let _ = writeln!(text, "{} {name}", c_exponent(*time));
    }
    std::fs::create_dir_all(&config.exec_root)?;
    std::fs::write(config.exec_root.join(FILE_NAME), text)
}

/// A number as C's `%e` writes it: six decimals, an exponent of at least two digits.
fn c_exponent(value: f64) -> String {
    let text = format!("{value:.6e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = match exponent.strip_prefix('-') {
                Some(digits) => ('-', digits),
                None => ('+', exponent),
            };
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents() {
        assert_eq!(c_exponent(0.0), "0.000000e+00");
        assert_eq!(c_exponent(0.00123), "1.230000e-03");
        assert_eq!(c_exponent(-12.5), "-1.250000e+01");
    }

    #[test]
    fn names_with_line_breaks_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let config = Arc::new(SuiteConfig::default_for(dir.path(), &Default::default()));
        let found = |path: &str| (path.to_owned(), 1.5);
        let times = HashMap::from([found("a b"), found("c\nd"), found("e\rf")]);
        write(&config, &times).unwrap();
        let text = std::fs::read_to_string(dir.path().join(FILE_NAME)).unwrap();
        assert_eq!(text, "1.500000e+00 a b\n");
    }

    #[test]
    fn malformed_files_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let config = SuiteConfig::default_for(dir.path(), &Default::default());
        assert!(read(&config).unwrap().is_empty());
        std::fs::write(dir.path().join(FILE_NAME), "1.0e+00 a b\n-2.0e-06 c\n").unwrap();
        let times = read(&config).unwrap();
        assert_eq!((times["a b"], times["c"]), (1.0, -2.0e-6));
        std::fs::write(dir.path().join(FILE_NAME), "x\n").unwrap();
        assert!(read(&config).is_err());
    }
}
