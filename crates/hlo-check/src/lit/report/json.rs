//! `-o`, `--resultdb-output`, `--time-trace-output`: JSON in lit's three forms.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::super::result::ResultCode;
use super::Outcome;
use crate::tool::Finding;

/// The version of lit whose form of the file this is.
pub const FORMAT_VERSION: [u32; 3] = [23, 1, 5];

fn executed<'o>(outcomes: &'o [Outcome<'o>]) -> impl Iterator<Item = &'o Outcome<'o>> {
    outcomes.iter().filter(|(_, result)| !matches!(result.code, ResultCode::Excluded | ResultCode::Skipped))
}

fn document(value: &Value) -> String {
    // Values made of strings and finite numbers always serialise.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// The file of `-o`.
pub fn results(outcomes: &[Outcome<'_>], elapsed: Duration) -> String {
    let tests: Vec<Value> = executed(outcomes)
        .map(|(test, result)| {
            let mut entry = json!({
                "code": result.code.name(),
                "elapsed": result.elapsed.map(|time| time.as_secs_f64()),
                "name": test.full_name(),
                "output": result.output,
            });
            // Beyond lit's form, so only where there is something to say.
            if !result.findings.is_empty() {
                entry["lints"] = result.findings.iter().map(lint).collect();
            }
            entry
        })
        .collect();
    document(&json!({
        "__version__": FORMAT_VERSION,
        "elapsed": elapsed.as_secs_f64(),
        "tests": tests,
    }))
}

fn lint(finding: &Finding) -> Value {
    json!({
        "code": finding.code,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
        "help": finding.help,
    })
}

/// The file of `--time-trace-output`: events that chrome://tracing shows, one row per worker.
pub fn time_trace(outcomes: &[Outcome<'_>]) -> String {
    let events: Vec<Value> = executed(outcomes)
        .filter(|(_, result)| result.code != ResultCode::Unsupported)
        .map(|(test, result)| {
            json!({
                "dur": result.elapsed.unwrap_or_default().as_micros() as u64,
                "name": test.full_name(),
                "ph": "X",
                "pid": std::process::id(),
                "tid": result.worker + 1,
                "ts": result.started.as_micros() as u64,
            })
        })
        .collect();
    document(&json!({ "traceEvents": events }))
}

/// The file of `--resultdb-output`, for LuCI.
pub fn resultdb(outcomes: &[Outcome<'_>], elapsed: Duration, begun: SystemTime) -> String {
    let tests: Vec<Value> = executed(outcomes)
        .map(|(test, result)| {
            let status = match result.code {
                ResultCode::Pass | ResultCode::XPass | ResultCode::FlakyPass | ResultCode::Fixed => "PASS",
                ResultCode::Fail | ResultCode::XFail => "FAIL",
                ResultCode::Unsupported | ResultCode::Skipped | ResultCode::Excluded => "SKIP",
                ResultCode::Unresolved | ResultCode::Timeout => "ABORT",
            };
            json!({
                "artifacts": {
                    "artifact-content-in-request": { "contents": base64(result.output.as_bytes()) },
                },
                "duration": format!("{:.9}s", result.elapsed.unwrap_or_default().as_secs_f64()),
                "expected": !result.code.is_failure(),
                "start_time": timestamp(begun + result.started),
                "status": status,
                "summary_html": "<p><text-artifact artifact-id=\"artifact-content-in-request\"></p>",
                "testId": test.full_name(),
            })
        })
        .collect();
    document(&json!({
        "__version__": FORMAT_VERSION,
        "elapsed": elapsed.as_secs_f64(),
        "tests": tests,
    }))
}

/// RFC 4648 with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |group, &byte| group << 8 | u32::from(byte));
        let group = group << (8 * (3 - chunk.len()));
        for index in 0..4 {
            if index > chunk.len() {
                out.push('=');
            } else {
                let digit = group >> (18 - 6 * index) & 63;
                out.push(char::from(ALPHABET[digit as usize]));
            }
        }
    }
    out
}

/// `2024-02-29T12:34:56.123456Z`
fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil_date(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        since.subsec_micros()
    )
}

/// Date of a day counted from 1970-01-01, by eras of 400 years that begin in March.
fn civil_date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings() {
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"f"), "Zg==");
        assert_eq!(base64(b"fo"), "Zm8=");
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
        let at = |seconds| timestamp(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(at(951_827_696), "2000-02-29T12:34:56.000000Z");
        assert_eq!(at(4_102_444_799), "2099-12-31T23:59:59.000000Z");
    }
}
