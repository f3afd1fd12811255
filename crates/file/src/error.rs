//! The ways in which a file can fail to be read or written.

use std::path::Path;

/// A file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("{path}: cannot {action}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The action that was tried, as a verb.
        action: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is not what was expected.
    #[error("{path}: expected {expected}, found {found}\n  hint: {hint}")]
    Content {
        /// The file.
        path: String,
        /// The expected content.
        expected: String,
        /// The content that was found.
        found: String,
        /// A hint for the user.
        hint: String,
    },
}

impl FileError {
    /// An error of the system, with the file and the action that was tried, as a verb.
    pub fn io_error(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> FileError {
        let path = path.display().to_string();
        move |source| FileError::Io {
            path,
            action,
            source,
        }
    }
}
