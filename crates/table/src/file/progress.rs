//! How far a long reading has come.

/// How far a long reading has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// Rows read, or written in shuffled order, so far.
    pub rows: u64,
    /// The share of this stage that is done, 0 to 1, as well as it can be known.
    pub share: f64,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Files are read.
    Reading,
    /// Rows are brought into random order on disk.
    Shuffling,
}
