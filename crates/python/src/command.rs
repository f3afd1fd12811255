//! The command `lehr`, which comes with the package.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with these arguments; returns its exit code.
#[pyfunction]
pub(crate) fn command(arguments: Vec<OsString>, py: Python<'_>) -> u8 {
    py.detach(|| lehr_cli::run(arguments))
}
