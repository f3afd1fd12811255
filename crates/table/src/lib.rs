//! Typed columns in memory, and the files they come from.
//!
//! ```
//! use lehr_table::Table;
//!
//! let table = Table::new()
//!     .with_number("y", vec![0.0, 1.0, 1.0])?
//!     .with_matrix("x", 3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?
//!     .with_category("site", vec![0, 1, 0], vec!["north".into(), "south".into()])?;
//! assert_eq!(table.n_rows(), 3);
//! assert!(table.column("sit").unwrap_err().to_string().contains("did you mean \"site\"?"));
//! # Ok::<(), lehr_table::TableError>(())
//! ```

mod column;
mod error;
mod kind;
mod label;
mod level;
mod memory;
mod moment;
mod table;

pub use lehr_spelling::nearest;

pub use column::Column;
pub use error::TableError;
pub use kind::Kind;
pub use label::Labels;
pub use level::{Levels, MISSING};
pub use memory::Memory;
pub use moment::Moment;
pub use table::Table;

#[cfg(feature = "files")]
mod file;
#[cfg(feature = "files")]
mod shuffled;

#[cfg(feature = "files")]
pub use file::{
    ArrowBatches, Content, Field, FileReads, Header, KnownFile, MissingPolicy, Part, Progress,
    ReadOptions, Scan, Scratch, Sink, Stack, Stage, TableFiles, is_in_store, is_marked,
};
#[cfg(feature = "files")]
pub use shuffled::{Provenance, ShuffledColumns, ShuffledRows, Shuffler, StoredColumn};
