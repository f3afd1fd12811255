//! The commands: one file each.

mod bench;
mod paper;

pub(crate) use bench::Bench;
pub(crate) use paper::Paper;
