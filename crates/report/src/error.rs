//! The ways in which a report or a file of draws can fail to be written.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a file was not written, or what did not fit in what was to be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The operating system refused.
    #[error("{}: could not write: {source}", path.display())]
    Write {
        /// The file asked for, not the temporary one.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The HDF5 layer refused.
    #[error("{}: could not write NetCDF: {reason}", path.display())]
    Netcdf {
        /// The file asked for.
        path: PathBuf,
        /// What the layer said.
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
    /// One name for two things.
    #[error("{name:?}: names must differ, found it twice\n  hint: rename one of the two")]
    DuplicateName {
        /// The repeated name.
        name: String,
    },
}

impl ReportError {
    /// Says which file an input/output error is about.
    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Write { path, source }
    }
}
