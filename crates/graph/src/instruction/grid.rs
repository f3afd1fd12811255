//! The loops of an elementwise instruction.

use super::address::Extent;

/// One loop around the innermost run, with the steps of result and operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dim {
    pub(crate) count: Extent,
    pub(crate) steps: [Extent; 4],
}

/// The iteration space of an elementwise instruction: outer loops around one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LoopGrid {
    pub(crate) outer: Vec<Dim>,
    pub(crate) run: Extent,
    /// Step of result and operands along the run: 0 repeats one number.
    pub(crate) steps: [usize; 4],
}
