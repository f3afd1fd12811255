//! The kinds of files that fits write, each with its version.

use lehr_file::Kind;

/// Raised whenever the format of one of them changes.
const VERSION: u32 = 7;

/// A fit that can be resumed.
pub const CHECKPOINT: Kind = Kind {
    tag: b"checkpnt",
    words: "a checkpoint",
    version: VERSION,
};

/// A fitted posterior.
pub const POSTERIOR: Kind = Kind {
    tag: b"posteror",
    words: "a fitted posterior",
    version: VERSION,
};
