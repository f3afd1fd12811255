//! Elementwise arithmetic, and short runs of it packed into a cache line.

use super::address::{ArrayAddress, Extent, Space};
use super::grid::LoopGrid;
use crate::primitive::{Binary, Unary};

/// Operations of a few machine instructions per register: result first, then up to three operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arithmetic {
    Neg,
    Abs,
    Sqrt,
    Recip,
    Square,
    Sign,
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    Less,
    LessEqual,
    Equal,
    /// x·y + z. This and the next two round once where the machine can.
    MulAdd,
    /// x·y − z
    MulSub,
    /// z − x·y
    NegMulAdd,
    /// y where x is not zero, else z
    Select,
}

impl Arithmetic {
    pub(crate) fn from_unary(op: Unary) -> Option<Arithmetic> {
        Some(match op {
            Unary::Neg => Arithmetic::Neg,
            Unary::Abs => Arithmetic::Abs,
            Unary::Sqrt => Arithmetic::Sqrt,
            Unary::Recip => Arithmetic::Recip,
            Unary::Square => Arithmetic::Square,
            Unary::Sign => Arithmetic::Sign,
            _ => return None,
        })
    }

    pub(crate) fn from_binary(op: Binary) -> Option<Arithmetic> {
        Some(match op {
            Binary::Add => Arithmetic::Add,
            Binary::Sub => Arithmetic::Sub,
            Binary::Mul => Arithmetic::Mul,
            Binary::Div => Arithmetic::Div,
            Binary::Min => Arithmetic::Min,
            Binary::Max => Arithmetic::Max,
            Binary::Less => Arithmetic::Less,
            Binary::LessEqual => Arithmetic::LessEqual,
            Binary::Equal => Arithmetic::Equal,
            Binary::Pow | Binary::GammaLogBelow | Binary::GammaLogAbove => return None,
        })
    }
}

/// An address in the plan's own memory, outside of row loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CompactAddress {
    offset: u32,
    per_lane: u32,
    /// The space, numbered by [`Space::index`].
    space: u8,
    /// Zero for one number that is repeated.
    step: u8,
}

impl CompactAddress {
    fn new(address: ArrayAddress, step: usize) -> Option<CompactAddress> {
        if matches!(address.space, Space::Lent(_)) || address.per_block != 0 {
            return None;
        }
        Some(CompactAddress {
            offset: address.offset.try_into().ok()?,
            per_lane: address.per_lane.try_into().ok()?,
            space: address.space.index() as u8,
            step: step.try_into().ok()?,
        })
    }

    pub(crate) fn space(self) -> usize {
        self.space.into()
    }

    /// The offset as seen from lane `first`.
    pub(crate) fn offset(self, first: usize) -> usize {
        self.offset as usize + first * self.per_lane as usize
    }

    pub(crate) fn step(self) -> usize {
        self.step.into()
    }
}

/// One run of arithmetic, packed into a cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Short {
    pub(crate) to: [CompactAddress; 4],
    per: u32,
    lanes: bool,
    pub(crate) op: Arithmetic,
}

impl Short {
    /// The run of an instruction, if it is one and fits.
    pub(crate) fn new(op: Arithmetic, to: &[ArrayAddress; 4], grid: &LoopGrid) -> Option<Short> {
        let Extent { per, lanes, rows } = grid.run;
        if rows || !grid.outer.is_empty() {
            return None;
        }
        let place = |k: usize| CompactAddress::new(to[k], grid.steps[k]);
        Some(Short {
            to: [place(0)?, place(1)?, place(2)?, place(3)?],
            per: per.try_into().ok()?,
            lanes,
            op,
        })
    }

    /// Numbers of the run in a block of this many lanes.
    pub(crate) fn lane_count(&self, lanes: usize) -> usize {
        self.per as usize * if self.lanes { lanes } else { 1 }
    }
}
