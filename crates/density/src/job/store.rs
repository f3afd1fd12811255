//! The rows of a density as a store.

use lehr_rows::RowStore;
use lehr_rows::store::memory::MemoryStore;

use crate::{Density, rows_here};

/// All rows of a density, local or elsewhere.
pub fn all_rows(density: &dyn Density) -> Box<dyn RowStore + '_> {
    match density.elsewhere() {
        Some(rows) => Box::new(rows),
        None => Box::new(local_rows(density)),
    }
}

/// The local rows of a density. If its rows are elsewhere, these are the local sample.
pub fn local_rows(density: &dyn Density) -> MemoryStore<'_> {
    MemoryStore::new(rows_here(density))
}
