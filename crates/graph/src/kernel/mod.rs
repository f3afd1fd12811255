//! The only place with `unsafe`: kernels over raw memory, compiled for each instruction set and
//! chosen at run time.
//!
//! The planner guarantees what the kernels rely on. Every address lies in its memory space. A
//! result overlaps an operand only where both are walked in step. Lane blocks and strips write to
//! disjoint memory. Builds with debug assertions check the first guarantee before every instruction
//! (`limit.rs`).
#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the dispatched function is compiled without its instructions"
)]
#![expect(
    unsafe_code,
    reason = "kernels run on planned offsets in one arena; bounds are proved by the plan, not per access"
)]

mod awake;
mod elementwise;
mod execute;
mod factor;
pub(crate) mod frame;
mod index;
#[cfg(debug_assertions)]
mod limit;
mod matmul;
mod prefetch;
mod reduce;
pub(crate) mod run;
pub(crate) mod storage;
mod triangular;
mod turn;
mod vector;

pub use awake::with_threads_awake;
pub use prefetch::prefetch_values;
