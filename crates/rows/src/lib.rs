//! Rows of tables in the form that models read: columns, blocks, the storage of all rows, and
//! passes over them. This crate does not depend on models.

mod block;
mod column;
mod error;
mod expr;
mod fold;
mod job;
pub mod lend;
mod memory;
pub mod part;
mod pass;
mod program;
mod source;
pub mod store;
pub mod watch;

pub use block::{Computed, TableRows};
pub use column::{Column, ColumnKind, Columns, ResponseKind, Role};
pub use error::RowsError;
pub use expr::{RowColumn, Rows};
pub use fold::{
    AnyControl, MachinePool, PassControl, Passed, Passing, RowStore, fold, fold_watched, merge_next,
};
pub use job::{AnyJob, AnyMachine, AnyPartial, Cut, Placement, RowBlock, RowJob, decoded, encoded};
pub use memory::{RowData, Values};
pub use pass::{LocalRows, RowPass};
pub use program::{Argument, LANES, RowProgram};
pub use source::{RowSet, RowSource};
