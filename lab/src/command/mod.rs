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

/// The first argument with which this program is the command `lehr`, so that fits are made by the code that was built
/// along with it.
pub(crate) const LEHR: &str = "lehr";
