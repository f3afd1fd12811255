//! Rust errors as Python exceptions with the same messages.

use lehr::Error;
use lehr::infer::error::TrainError;
use lehr::infer::fit::FitError;
use lehr::regression::{LearnError, RegressionError};
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};

create_exception!(
    lehr,
    LehrError,
    PyValueError,
    "A mistake in a model, a table or a setting: where, what was expected, what was found."
);
create_exception!(
    lehr,
    Interrupted,
    PyKeyboardInterrupt,
    "A fit that was stopped; the message says where its checkpoint is."
);

/// Any error with a message for users.
pub(crate) fn refusal_error(error: impl Into<Error>) -> PyErr {
    match error.into() {
        Error::Fit(FitError::Train(TrainError::Stopped { doing, done, saved })) => {
            let words = format!("fit: stopped while {doing}, after {done}");
            Interrupted::new_err(match saved {
                Some(path) => format!(
                    "{words}, which are saved in {}\n  hint: the same call with resume={:?} continues from there",
                    path.display(),
                    path.display().to_string()
                ),
                None => format!("{words}, nothing is saved"),
            })
        }
        error @ Error::Regression(RegressionError::Learn(LearnError::Stopped)) => {
            Interrupted::new_err(error.to_string())
        }
        error => message_error(&error.to_string()),
    }
}

/// An exception with this message, in which options have their Python names.
pub(crate) fn message_error(message: &str) -> PyErr {
    LehrError::new_err(with_keywords(message))
}

/// `--missing-text` of the command is the keyword `missing_text`.
fn with_keywords(message: &str) -> String {
    let mut parts = message.split("--");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        let end = part.find(|letter| !is_name(letter)).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        if name.is_empty() {
            out += "--";
        }
        out += &name.replace('-', "_");
        out += rest;
    }
    out
}
