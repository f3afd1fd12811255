//! Ctrl-C: while a fit trains it finishes the step, otherwise it ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static TRAINING: AtomicBool = AtomicBool::new(false);

/// The conventional exit code of a process that was interrupted.
const INTERRUPTED: i32 = 130;

/// Listens from now on. A second call, or a system that does not allow it, changes nothing.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        let again = ASKED.swap(true, Ordering::SeqCst);
        if again || !TRAINING.load(Ordering::SeqCst) {
            std::process::exit(INTERRUPTED);
        }
    });
}

/// Whether the user asked to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Notes whether a step is running that must be finished first.
pub(crate) fn note_part(part: &str) {
    TRAINING.store(part == "train", Ordering::SeqCst);
}
