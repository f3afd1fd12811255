//! The message for a command that cannot run: one sentence and one hint, without a backtrace.

use std::io::{ErrorKind, Write};
use std::panic;
use std::sync::Mutex;

/// The exit code of a command that ran.
const DONE: u8 = 0;
/// The exit code of a command that could not run.
const COULD_NOT_RUN: u8 = 2;

/// Location and message of the last panic, for [`report_broken`].
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Keeps panics off the terminal until they are reported in one sentence.
pub(crate) fn quieten_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let payload = info.payload();
        let text = (payload.downcast_ref::<&str>().map(ToString::to_string))
            .or_else(|| payload.downcast_ref::<String>().cloned());
        if let Ok(mut last) = PANIC.lock() {
            *last = format!("{} ({place})", text.unwrap_or_default());
        }
    }));
}

/// Help and version are valid requests; anything else is a mistake in the arguments.
pub(crate) fn report_usage(error: &clap::Error) -> u8 {
    let printed = error.print();
    match (error.use_stderr(), printed) {
        (false, Err(problem)) if problem.kind() != ErrorKind::BrokenPipe => COULD_NOT_RUN,
        (false, _) => DONE,
        (true, _) => COULD_NOT_RUN,
    }
}

/// Prints the error on stderr; a closed pipe is not an error.
pub(crate) fn report_error(error: &anyhow::Error) -> u8 {
    let is_pipe = |cause: &(dyn std::error::Error + 'static)| {
        (cause.downcast_ref::<std::io::Error>())
            .is_some_and(|io| io.kind() == ErrorKind::BrokenPipe)
    };
    if error.chain().any(is_pipe) {
        return DONE;
    }
    print_error(&error.to_string());
    COULD_NOT_RUN
}

/// Reports a broken invariant and asks the user to report it.
pub(crate) fn report_broken() -> u8 {
    let last = PANIC.lock().map(|text| text.clone()).unwrap_or_default();
    print_error(&format!(
        "lehr {}: this should not have happened: {last}\n  \
         hint: please report it with the command you ran; no file was changed",
        env!("CARGO_PKG_VERSION")
    ));
    COULD_NOT_RUN
}

/// Prints a line on stderr, which may be closed.
pub(crate) fn print_error(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
