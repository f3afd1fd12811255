//! Rows of tables in the form that models read: columns, blocks, the storage of all rows, and
//! passes over them. This crate does not depend on models.
//!
//! A [`RowJob`] runs on every [`RowStore`] by [`fold`]. These loops over rows are no jobs:
//!
//! - Mini-batches read rows at random, merge nothing and must not allocate. They use [`RowSource`] and [`lend`].
//! - Chains in memory run prior, likelihood and gradient as one plan over lent columns.
//! - Numbers that are kept for every row (log likelihoods of rows, offsets, slopes of predictors, normals of local
//!   latents, remainders in the order of batches) are as long as the table, so they are never merged nor sent.
//!   [`RowPass`] shows them block by block, and the caller writes them where they belong.
//! - Searches for a row (the first one that is not finite, rows that read their effects otherwise) end early.
//!   [`RowPass::each`] ends with the first finding.
//! - Sums over a sample of local rows are over [`RowPass::of_rows`].
//! - Accumulators learn from blocks of tables before there is a model. They share [`part::fold_parts`] and
//!   [`part::OrderedMerge`] with the jobs, not the trait.

mod block;
mod column;
mod distinct;
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

pub use block::{ComputedColumn, TableRows};
pub use column::{Column, ColumnKind, Columns, ResponseKind, Role};
pub use distinct::RowCounts;
pub use error::RowsError;
pub use expr::{RowColumn, Rows};
pub use fold::{
    AnyControl, BlockFold, MachinePool, PassControl, PassPosition, RowStore, fold, fold_watched,
    merge_next,
};
pub use job::{AnyJob, AnyMachine, AnyPartial, Cut, Placement, RowBlock, RowJob, decoded, encoded};
pub use memory::{RowData, Values};
pub use pass::{LocalRows, RowPass};
pub use program::{Argument, LANES, RowProgram};
pub use source::{RowSet, RowSource};
