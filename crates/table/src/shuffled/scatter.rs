//! Distributes rows to random buckets on disk, so that each bucket can be shuffled in memory.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use lehr_numeric::order::{shuffle_by, uniform_below};
use rand_chacha::ChaCha8Rng;

use crate::TableError;
use crate::file::io_error;

const BUFFER_BYTES: usize = 1 << 16;

/// The division of the memory that a conversion may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// Buckets that are open at a time; half of the memory is their buffers.
    buckets: usize,
    /// The largest bucket that is shuffled in memory.
    bucket_bytes: u64,
}

impl Budget {
    pub(super) fn new(memory_bytes: usize, row_bytes: usize) -> Self {
        Self {
            buckets: (memory_bytes / 2 / BUFFER_BYTES).clamp(2, 256),
            // At least some rows, so that the splitting of buckets terminates.
            bucket_bytes: (memory_bytes / 2).max(64 * row_bytes) as u64,
        }
    }
}

/// Buckets that are being filled. A row goes to each with equal probability, independently of all
/// others. If each bucket is then shuffled, the concatenation of all buckets is in uniformly random
/// order (Rao 1961, Sandelius 1962).
pub(super) struct Scatter {
    folder: PathBuf,
    writers: Vec<BufWriter<File>>,
    buckets: Vec<Bucket>,
}

/// A file of rows in a scratch folder.
#[derive(Debug)]
pub(super) struct Bucket {
    path: PathBuf,
    bytes: u64,
}

impl Scatter {
    /// Opens buckets whose names begin with `stem`.
    pub(super) fn new(folder: &Path, stem: &str, budget: Budget) -> Result<Self, TableError> {
        let mut scatter = Self {
            folder: folder.into(),
            writers: Vec::new(),
            buckets: Vec::new(),
        };
        for place in 0..budget.buckets {
            let path = folder.join(format!("{stem}.{place}"));
            let file = File::create(&path).map_err(io_error(folder, "write"))?;
            scatter
                .writers
                .push(BufWriter::with_capacity(BUFFER_BYTES, file));
            scatter.buckets.push(Bucket { path, bytes: 0 });
        }
        Ok(scatter)
    }

    /// Adds one row to a random bucket.
    pub(super) fn push_row(
        &mut self,
        row: &[f64],
        random: &mut ChaCha8Rng,
    ) -> Result<(), TableError> {
        let at = uniform_below(random, self.buckets.len() as u64) as usize;
        let bytes: &[u8] = bytemuck::cast_slice(row);
        self.buckets[at].bytes += bytes.len() as u64;
        self.writers[at]
            .write_all(bytes)
            .map_err(io_error(&self.folder, "write"))
    }

    /// Completes the buckets.
    pub(super) fn into_buckets(self) -> Result<Vec<Bucket>, TableError> {
        for mut writer in self.writers {
            writer.flush().map_err(io_error(&self.folder, "write"))?;
        }
        Ok(self.buckets)
    }
}

/// A callback that receives rows in their final order.
pub(super) type EachBlock<'a> = dyn FnMut(&mut [f64]) -> Result<(), TableError> + 'a;

/// Shuffles buckets of rows, splitting those that are too large for the budget.
pub(super) struct Drain<'a> {
    pub(super) folder: &'a Path,
    pub(super) budget: Budget,
    pub(super) width: usize,
    pub(super) random: &'a mut ChaCha8Rng,
}

impl Drain<'_> {
    /// Passes on the rows of the buckets, one shuffled block after another, and removes the
    /// buckets.
    pub(super) fn drain_buckets(
        &mut self,
        buckets: Vec<Bucket>,
        each: &mut EachBlock<'_>,
    ) -> Result<(), TableError> {
        for bucket in buckets {
            if bucket.bytes > self.budget.bucket_bytes {
                let parts = self.split_bucket(&bucket)?;
                self.drain_buckets(parts, each)?;
                continue;
            }
            let mut rows = self.load_bucket(&bucket)?;
            self.shuffle_rows(&mut rows);
            each(&mut rows)?;
        }
        Ok(())
    }

    fn split_bucket(&mut self, bucket: &Bucket) -> Result<Vec<Bucket>, TableError> {
        let stem = bucket
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let mut scatter = Scatter::new(self.folder, &stem, self.budget)?;
        let file = File::open(&bucket.path).map_err(io_error(self.folder, "read"))?;
        let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut row = vec![0.0; self.width];
        for _ in 0..bucket.bytes / (8 * self.width as u64) {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut row);
            file.read_exact(bytes)
                .map_err(io_error(self.folder, "read"))?;
            scatter.push_row(&row, self.random)?;
        }
        std::fs::remove_file(&bucket.path).map_err(io_error(self.folder, "tidy"))?;
        scatter.into_buckets()
    }

    fn load_bucket(&self, bucket: &Bucket) -> Result<Vec<f64>, TableError> {
        let mut rows = vec![0.0; bucket.bytes as usize / 8];
        let mut file = File::open(&bucket.path).map_err(io_error(self.folder, "read"))?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut rows);
        file.read_exact(bytes)
            .map_err(io_error(self.folder, "read"))?;
        std::fs::remove_file(&bucket.path).map_err(io_error(self.folder, "tidy"))?;
        Ok(rows)
    }

    fn shuffle_rows(&mut self, rows: &mut [f64]) {
        let width = self.width;
        shuffle_by(self.random, rows.len() / width, |last, other| {
            if other < last {
                let (head, tail) = rows.split_at_mut(last * width);
                head[other * width..][..width].swap_with_slice(&mut tail[..width]);
            }
        });
    }
}
