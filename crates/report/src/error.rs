//! The errors of writing a report or a file of draws.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// The reasons why a file was not written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The operating system refused.
    #[error("{}: could not write: {source}", path.display())]
    Write {
        /// The file asked for, not the temporary one.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The HDF5 layer refused.
    #[error("{}: could not write NetCDF: {reason}", path.display())]
    Netcdf {
        /// The file asked for.
        path: PathBuf,
        /// The error of the layer.
        reason: String,
    },
    /// Values that do not fill their shape.
    #[error("variable {name:?}: {expected} values fill its shape, found {found}")]
    Shape {
        /// The variable.
        name: String,
        /// The product of its sizes.
        expected: usize,
        /// How many values were given.
        found: usize,
    },
    /// A name that is used twice.
    #[error("{name:?}: names must differ, found it twice\n  hint: rename one of the two")]
    DuplicateName {
        /// The repeated name.
        name: String,
    },
}

impl ReportError {
    /// The error of a name that is used twice.
    pub(crate) fn repeated_name(name: &impl ToString) -> Self {
        let name = name.to_string();
        Self::DuplicateName { name }
    }

    /// Adds the file to an input/output error.
    pub(crate) fn write_error(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Write { path, source }
    }
}
