//! Ctrl-C: while a fit trains it finishes the step, otherwise it ends the process at once.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static WAITS: AtomicBool = AtomicBool::new(false);

/// What must not be left behind when the process ends at once.
static LEFTOVER: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The conventional exit code of a process that was interrupted.
const INTERRUPTED: i32 = 130;

/// Listens from now on. A second call, or a system that does not allow it, changes nothing.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        let again = ASKED.swap(true, Ordering::SeqCst);
        if again || !WAITS.load(Ordering::SeqCst) {
            if let Ok(Some(path)) = LEFTOVER.lock().as_deref() {
                let _ = std::fs::remove_dir_all(path);
                let _ = std::fs::remove_file(path);
            }
            std::process::exit(INTERRUPTED);
        }
    });
}

/// Whether the user asked to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// What is to happen when the user asks to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// The work in progress sees to it: it looks at [`asked`].
    Finish,
    /// The process ends at once.
    End,
}

/// Says what is to happen from now on when the user asks to stop.
pub(crate) fn react(reaction: Reaction) {
    WAITS.store(reaction == Reaction::Finish, Ordering::SeqCst);
}

/// Names the file or folder that is removed when the process is ended at once.
pub(crate) fn remove_when_interrupted(path: Option<&Path>) {
    if let Ok(mut leftover) = LEFTOVER.lock() {
        *leftover = path.map(Path::to_path_buf);
    }
}
