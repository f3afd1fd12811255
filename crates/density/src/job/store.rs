//! The rows of a density as a store.

use lehr_rows::RowStore;
use lehr_rows::store::memory::MemoryStore;

use crate::{Density, rows_here};

/// All rows of a density, wherever they are.
pub fn all_rows(density: &dyn Density) -> Box<dyn RowStore + '_> {
    match density.elsewhere() {
        Some(rows) => Box::new(rows),
        None => Box::new(local_rows(density)),
    }
}

/// The rows of a density that are in this process: of rows elsewhere the sample that is here.
pub fn local_rows(density: &dyn Density) -> MemoryStore<'_> {
    MemoryStore::new(rows_here(density))
}
