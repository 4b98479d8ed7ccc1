//! Any check file against any input: the run ends. The two are the parts before and after the first NUL byte.
#![no_main]

use hlo_check::filecheck::Run;
use hlo_check::filecheck::options::MatchOptions;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let at = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len() / 2);
    let (checks, input) = bytes.split_at(at);
    let options = MatchOptions::default();
    let mut run = Run::new(&options, "check", checks.to_vec(), true);
    if run.read_checks().is_ok() {
        run.check("input", input.strip_prefix(&[0]).unwrap_or(input).to_vec());
    }
    let _ = run.render_rich(false, "");
});
