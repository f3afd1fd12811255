//! Turns panics of a format's library into errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;

use crate::TableError;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a call into the Arrow or Parquet library, which panics on some damaged files, and turns a
/// panic into an error. State that the call was changing must not be used after an error.
pub(super) fn guard_panics<T, E: std::fmt::Display>(
    path: &Path,
    call: impl FnOnce() -> Result<T, E>,
) -> Result<T, TableError> {
    silence_panics();
    let before = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(before);
    let reason = match outcome {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error.to_string().replace('\n', " "),
        Err(panic) => format!("the file is damaged ({})", panic_message(panic.as_ref())),
    };
    Err(TableError::Format {
        path: path.into(),
        reason,
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    (panic.downcast_ref::<String>().map(String::as_str))
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("its reader gave up")
}

/// Panics that become errors are not printed; all others are handled as before.
fn silence_panics() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                before(panic);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_its_words() {
        let result: Result<(), _> = guard_panics(Path::new("a.arrow"), || -> Result<(), String> {
            panic!("offset {} of 3", 7)
        });
        assert_eq!(
            result.unwrap_err().to_string(),
            "a.arrow: the file is damaged (offset 7 of 3)"
        );
    }
}
