//! The kinds of files that fits write, each with its version.

use lehr_file::FileKind;

/// Raised whenever the format of one of them changes.
const VERSION: u32 = 7;

/// A fit that can be resumed.
pub const CHECKPOINT: FileKind = FileKind {
    tag: b"checkpnt",
    words: "a checkpoint",
    version: VERSION,
};

/// A fitted posterior.
pub const POSTERIOR: FileKind = FileKind {
    tag: b"posteror",
    words: "a fitted posterior",
    version: VERSION,
};
