//! The commands: one file each.

mod bench;
mod bench_process;
mod families;
mod golden;
mod multilevel;
mod paper;
mod verdict;

pub(crate) use bench::Bench;
pub(crate) use families::Families;
pub(crate) use golden::Golden;
pub(crate) use multilevel::Multilevel;
pub(crate) use paper::Paper;
pub(crate) use verdict::Verdict;

/// The first argument that makes this program run the command `lehr`, so that fits use the code of
/// the same build.
pub(crate) const LEHR: &str = "lehr";
