//! Rows of tables in the form that models read: columns, blocks, the storage of all rows, and
//! passes over them. This crate does not depend on models.
//!
//! A [`RowJob`] runs on every [`RowStore`] by [`fold`]. What is not a job, and why:
//!
//! | loop | why it is no job | uses |
//! |---|---|---|
//! | mini-batches | rows at random, nothing to merge, and no allocation | [`RowSource`], [`lend`] |
//! | chains in memory | prior, likelihood and gradient are one plan over lent columns | [`lend`] |
//! | a number for every row, such as an offset or a slope | as long as the table: never merged nor sent | [`RowPass`] |
//! | searches for a row, such as one that is not finite | they end with the first finding | [`RowPass::each`] |
//! | sums over a sample of local rows | the caller chooses the sample | [`RowPass::of_rows`] |
//! | losses of local chains | noise is named by block, in the order of batches | [`lend`] |
//! | averages by quadrature | rows are sorted by the width of their predictor | [`lend`] |
//! | accumulators of learning | they read tables, before there is a model | [`part::fold_parts`] |

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
