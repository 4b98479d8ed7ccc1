//! Panics of programs that run inside this process, kept from ending it and from its standard error.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

thread_local! {
    /// The panic of what runs on this thread; `None` when nothing is guarded.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes guarded panics silent: whoever guards reports them.
fn install_hook() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let inside = CAUGHT.with_borrow_mut(|caught| match caught {
                Some(text) => {
                    *text = describe(info);
                    true
                }
                None => false,
            });
            if !inside {
                previous(info);
            }
        }));
    });
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let message = info
        .payload()
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| info.payload().downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message");
    match info.location() {
        Some(place) => format!("{message} (at {place})"),
        None => message.to_owned(),
    }
}

/// Runs `f`. Calls may nest.
///
/// # Errors
/// What `f` panicked with, and where. Whatever `f` was changing may be half changed.
pub(crate) fn guard<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    let outer = CAUGHT.replace(Some(String::new()));
    let outcome = catch_unwind(AssertUnwindSafe(f));
    let message = CAUGHT.replace(outer).unwrap_or_default();
    outcome.map_err(|_| message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_messages_at_every_level() {
        assert_eq!(guard(|| 1), Ok(1));
        let outer: Result<(), String> = guard(|| {
            let inner: Result<(), String> = guard(|| panic!("inner {}", 1));
            assert!(inner.expect_err("it panics").starts_with("inner 1 (at "));
            panic!("outer")
        });
        assert!(outer.expect_err("it panics").starts_with("outer (at "));
    }
}
