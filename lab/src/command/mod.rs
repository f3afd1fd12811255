//! The commands: one file each.

mod bench;
mod bench_process;
mod families;
mod multilevel;
mod paper;
mod verdict;

pub(crate) use bench::Bench;
pub(crate) use families::Families;
pub(crate) use multilevel::Multilevel;
pub(crate) use paper::Paper;
pub(crate) use verdict::Verdict;
