//! Ctrl-C: the first ends the run in order, the second ends the process.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often those who wait for something else look whether the run was interrupted.
pub const POLL: Duration = Duration::from_millis(50);

/// Exit status of a process that a second Ctrl-C ended: 128 and the number of the signal.
const KILLED: i32 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Begins to listen. Runs in this process can then be interrupted by Ctrl-C (and by a request to terminate).
pub fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        // Without a handler the signal ends the process, which is not worse than before.
        let _ = ctrlc::set_handler(|| {
            if REQUESTED.swap(true, Ordering::SeqCst) {
                std::process::exit(KILLED);
            }
        });
    });
}

/// Whether the run is to come to an end.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
