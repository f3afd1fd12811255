//! Ctrl-C and SIGTERM: a phase of steps finishes its step and saves it, if the step ends soon; any
//! other phase ends the process at once. In both cases the user is told which file was saved and how
//! to continue.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::failure;

static ASKED: AtomicBool = AtomicBool::new(false);
static WAITS: AtomicBool = AtomicBool::new(false);
static NOTICED: AtomicBool = AtomicBool::new(false);

/// The longest time in which a phase of steps must notice that the user asked to stop.
const PATIENCE: Duration = Duration::from_secs(2);

/// The file or folder to remove if the process ends at once.
static LEFTOVER: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The checkpoint of the fit, which may not exist yet.
static CHECKPOINT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The conventional exit code of a process that was interrupted.
const INTERRUPTED: i32 = 130;

/// Installs the handler. A second call, or a system that does not allow it, has no effect.
pub(crate) fn listen_signals() {
    let _ = ctrlc::set_handler(|| {
        let again = ASKED.swap(true, Ordering::SeqCst);
        if again || !WAITS.load(Ordering::SeqCst) {
            end_process();
        }
        std::thread::spawn(end_unless_noticed);
    });
}

/// Ends the process if its step takes too long.
fn end_unless_noticed() {
    std::thread::sleep(PATIENCE);
    if !NOTICED.load(Ordering::SeqCst) {
        end_process();
    }
}

/// Ends the process and reports what was saved.
fn end_process() {
    let checkpoint = CHECKPOINT.lock().ok().and_then(|path| path.clone());
    let saved = checkpoint.filter(|path| path.exists());
    if saved.is_none()
        && let Ok(Some(path)) = LEFTOVER.lock().as_deref()
    {
        let _ = std::fs::remove_dir_all(path);
        let _ = std::fs::remove_file(path);
    }
    // Clears the progress line, which may be in the message's place.
    let blank = if std::io::stderr().is_terminal() {
        "\r\x1b[K"
    } else {
        ""
    };
    failure::print_error(&match saved {
        Some(path) => format!(
            "{blank}stopped; what was finished is saved in {}\n  \
             hint: the same command with --resume continues from there",
            path.display()
        ),
        None => format!("{blank}stopped, nothing is saved"),
    });
    std::process::exit(INTERRUPTED);
}

/// Names the checkpoint of the fit.
pub(crate) fn name_checkpoint(path: Option<&Path>) {
    if let Ok(mut checkpoint) = CHECKPOINT.lock() {
        *checkpoint = path.map(Path::to_path_buf);
    }
}

/// Whether the user asked to stop. The caller then finishes what it does.
pub(crate) fn was_asked() -> bool {
    let asked = ASKED.load(Ordering::SeqCst);
    NOTICED.fetch_or(asked, Ordering::SeqCst);
    asked
}

/// The reaction to an interruption by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// The work in progress checks [`was_asked`].
    Finish,
    /// The process ends at once.
    End,
}

/// Sets the reaction to an interruption from now on.
pub(crate) fn set_reaction(reaction: Reaction) {
    WAITS.store(reaction == Reaction::Finish, Ordering::SeqCst);
}

/// Sets the file or folder to remove if the process is ended at once and there is no checkpoint.
pub(crate) fn remove_when_interrupted(path: Option<&Path>) {
    if let Ok(mut leftover) = LEFTOVER.lock() {
        *leftover = path.map(Path::to_path_buf);
    }
}
