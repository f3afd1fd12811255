//! Parts of a table in files: their rows, a pass of a model over them, and the terms that can be learned from them.

mod pass;
mod rows;
mod term;

pub(crate) use pass::PartPass;
pub use rows::PartRows;
pub(crate) use term::refuse_ordered_terms;
