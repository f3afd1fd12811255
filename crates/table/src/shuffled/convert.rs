//! Turns files into shuffled rows in bounded memory.

use std::path::Path;

use crate::file::{Progress, ReadOptions, Source};
use crate::{Kind, TableError};

use super::Shuffled;
use super::shuffler::{Provenance, Shuffler};

/// How a table is converted.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversion {
    /// How its files are read, which columns of them, and what becomes of missing values.
    pub read: ReadOptions,
    /// The seed of the order. The same seed, budget and files give the same bytes.
    pub seed: u64,
    /// The memory that the rows may take, in bytes, beside that of one batch and of the levels
    /// of categories.
    pub memory_bytes: usize,
}

impl Default for Conversion {
    fn default() -> Self {
        Self {
            read: ReadOptions::default(),
            seed: 0,
            memory_bytes: 256 << 20,
        }
    }
}

impl Shuffled {
    /// Writes the rows of `source` to `path` in random order and opens the result. The files
    /// are read once; scratch files of the size of the rows lie beside `path` meanwhile. The
    /// file appears complete or not at all.
    pub fn convert(
        source: &Source,
        path: &Path,
        how: &Conversion,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, TableError> {
        let fields = source.schema(&how.read)?;
        let columns = (fields.iter())
            .map(|field| (field.name.clone(), field.kind.unwrap_or(Kind::Number)))
            .collect();
        let mut shuffler = Shuffler::create(path, columns, how.seed, how.memory_bytes)?;
        let scanned = source.pass(&fields, &how.read, &mut |batch, at| {
            shuffler.push(batch)?;
            progress(at);
            Ok(())
        })?;
        let provenance = Provenance {
            dropped_rows: scanned.dropped_rows,
            fingerprint: 0,
        };
        shuffler.finish(provenance, progress)
    }
}
