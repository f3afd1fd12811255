//! The errors of making a table.

use std::path::PathBuf;

use lehr_infer::fit::FitError;
use lehr_model::BindError;
use lehr_table::TableError;

use crate::paper::dataset::Dataset;

/// A table of the paper that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// A data file is not there.
    #[error(
        "{}: expected the {} table, found no such file\n  \
         hint: put {} there ({} feature columns, then y), name its folder with --data, or use \
         --quick for generated stand-ins",
        folder.join(dataset.file()).display(),
        dataset.name(),
        dataset.file(),
        dataset.width()
    )]
    Missing {
        /// The folder that was searched.
        folder: PathBuf,
        /// The table.
        dataset: Dataset,
    },
    /// A data file holds something else.
    #[error(
        "{}: expected {} feature columns and y, found {found} columns beside y\n  \
         hint: the file must hold the {} table",
        path.display(),
        dataset.width(),
        dataset.name()
    )]
    Width {
        /// The file.
        path: PathBuf,
        /// The table it should hold.
        dataset: Dataset,
        /// Feature columns found.
        found: usize,
    },
    /// A data file of the robust regressions that is not there, or holds something else.
    #[error("{}: {problem}\n  \
             hint: name the folder of the tables with --data, or use --quick for generated \
             stand-ins", path.display())]
    Rows {
        /// The file.
        path: PathBuf,
        /// The expected and the found content.
        problem: String,
    },
    /// A file of finished cells, or a page, that cannot be read or written.
    #[error("{}: {problem}\n  hint: choose another folder with --out", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// The error of the file.
        problem: String,
    },
    /// A data file that cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A model that does not suit the data.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// Rows of which inducing points cannot be chosen.
    #[error(transparent)]
    Points(#[from] lehr_numeric::kmeans::ClusterError),
    /// A fit that failed.
    #[error("{cell}: {source}")]
    Fit {
        /// The cell of the table.
        cell: String,
        /// The error.
        source: Box<FitError>,
    },
    /// The page could not be written.
    #[error(transparent)]
    Page(#[from] lehr_report::ReportError),
}
