//! Tables in files: which files, which columns, and their rows in batches.

mod address;
mod arrow;
mod batches;
mod content;
mod csv;
mod guard;
mod input;
mod ipc;
mod known;
mod option;
mod parquet;
mod part;
mod progress;
mod resolve;
mod schema;
mod scratch;
mod shard;
mod sink;
mod stack;
#[cfg(feature = "stores")]
mod store;
mod table_files;
mod tally;

pub use address::is_in_store;
pub use batches::ArrowBatches;
pub use content::{Content, is_marked};
pub use known::{FileReads, KnownFile};
pub use option::{Header, MissingPolicy, ReadOptions};
pub use part::Part;
pub use progress::{Progress, Stage};
pub use schema::Field;
pub use scratch::Scratch;
pub use sink::Sink;
pub use stack::Stack;
pub use table_files::TableFiles;
pub use tally::Scan;

pub(crate) use scratch::sweep_folder;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;

use crate::{Table, TableError};

/// A callback that receives a batch and the share of its shard that has been read, and returns
/// whether to continue.
type EachBatch<'a> = dyn FnMut(Table, f64) -> ControlFlow<()> + 'a;

/// An error of the operating system, with the file and the action that was tried.
pub(crate) fn io_error(
    path: &Path,
    action: &'static str,
) -> impl FnOnce(std::io::Error) -> TableError + use<> {
    let path = path.to_path_buf();
    move |source| TableError::Io {
        path,
        action,
        source,
    }
}

/// The error of a file that cannot be used for this reason, with advice.
pub(crate) fn file_error(
    path: &Path,
    reason: impl Into<Cow<'static, str>>,
    hint: &'static str,
) -> TableError {
    TableError::File {
        path: path.into(),
        reason: reason.into(),
        hint,
    }
}
