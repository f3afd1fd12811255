//! The progress of a long reading.

/// The progress of a long reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The current stage.
    pub stage: Stage,
    /// Rows read, or written in shuffled order, so far.
    pub rows: u64,
    /// The share of this stage that is done, 0 to 1, as far as it is known.
    pub share: f64,
}

/// A stage of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Files are read.
    Reading,
    /// Rows are shuffled on disk.
    Shuffling,
}
