//! The parts of a plan: instructions over addresses in a few memory spaces.

mod address;
mod arithmetic;
mod grid;

pub(crate) use address::{ArrayAddress, Extent, IndexAddress, Space};
pub(crate) use arithmetic::{Arithmetic, CompactAddress, Short};
pub(crate) use grid::{Dim, LoopGrid};

use crate::primitive::factor::TriangularForm;
use crate::primitive::{Binary, Direction, Reduction, Unary};

/// Whether a result replaces the old value or is added to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Write {
    Replace,
    Accumulate,
}

/// A matrix operand with its strides; `batch` is the step from one product to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mat {
    pub(crate) at: ArrayAddress,
    pub(crate) row: Extent,
    pub(crate) col: Extent,
    pub(crate) batch: Extent,
}

/// The operands of an instruction that runs once per lane: start addresses, and steps from one lane
/// to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PerLane<const N: usize> {
    pub(crate) at: [ArrayAddress; N],
    pub(crate) steps: [Extent; N],
    pub(crate) count: Extent,
}

/// A batch of products C = A B, or C += A B.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Products {
    pub(crate) a: Mat,
    pub(crate) b: Mat,
    pub(crate) c: Mat,
    /// Rows of A, columns of B, and the contracted length.
    pub(crate) dims: [Extent; 3],
    pub(crate) batch: Extent,
    pub(crate) write: Write,
}

/// `[outer][length][inner] → [outer][inner]`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReducedAxis {
    pub(crate) outer: Extent,
    pub(crate) length: Extent,
    pub(crate) inner: usize,
}

/// The selected rows, and the width of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowSelection {
    pub(crate) indices: IndexAddress,
    /// How many row numbers there are.
    pub(crate) count: Extent,
    /// Numbers per row.
    pub(crate) width: usize,
    /// Row numbers are below this.
    pub(crate) below: usize,
}

/// One step of a plan.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Instruction {
    Arithmetic {
        op: Arithmetic,
        to: [ArrayAddress; 4],
        grid: LoopGrid,
    },
    /// Arithmetic on one run each, packed.
    Sequence(Vec<Short>),
    Unary {
        op: Unary,
        to: [ArrayAddress; 2],
        grid: LoopGrid,
    },
    /// Softplus and sigmoid of one operand, which share an exponential.
    Logistic {
        to: [ArrayAddress; 3],
        grid: LoopGrid,
    },
    Binary {
        op: Binary,
        to: [ArrayAddress; 3],
        grid: LoopGrid,
    },
    /// A strided copy: broadcast, slice, concat, transpose, diagonal.
    Copy {
        to: [ArrayAddress; 2],
        grid: LoopGrid,
    },
    /// Sets a run of numbers.
    Fill {
        to: ArrayAddress,
        count: Extent,
        value: f64,
    },
    Reduce {
        by: Reduction,
        lanes: PerLane<2>,
        axis: ReducedAxis,
        write: Write,
    },
    /// Σ x·y per lane.
    Dot {
        lanes: PerLane<3>,
        length: Extent,
        write: Write,
    },
    /// Running sums of `count` stretches of `length` numbers.
    CumulativeSum {
        direction: Direction,
        lanes: PerLane<2>,
        count: usize,
        length: usize,
    },
    Gather {
        lanes: PerLane<2>,
        rows: RowSelection,
    },
    ScatterAdd {
        lanes: PerLane<2>,
        rows: RowSelection,
    },
    MatMul(Box<Products>),
    Cholesky {
        lanes: PerLane<2>,
        side: usize,
    },
    /// Result, factor, right side; `rows` systems per lane.
    Solve {
        form: TriangularForm,
        lanes: PerLane<3>,
        rows: Extent,
        side: usize,
    },
    Tril {
        offset: i32,
        lanes: PerLane<2>,
        side: [usize; 2],
    },
    /// Sum over the lanes of the block, which are `step` apart.
    SumLanes {
        to: [ArrayAddress; 2],
        lanes: Extent,
        step: Extent,
        size: usize,
    },
    /// Sum of the lane blocks' parts, in order.
    Combine {
        to: [ArrayAddress; 2],
        size: usize,
    },
}

/// An accumulator of a row loop, one per strip, and the address of its total.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RowAccumulator {
    pub(crate) by: Reduction,
    pub(crate) strip: ArrayAddress,
    pub(crate) total: ArrayAddress,
    pub(crate) size: Extent,
}

/// A loop over blocks of rows, in strips that may run side by side.
///
/// Strips depend on the number of rows alone and their totals are added in order, so the bits do
/// not depend on the number of threads.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RowLoop {
    pub(crate) rows: usize,
    pub(crate) block: usize,
    pub(crate) strips: usize,
    pub(crate) body: Vec<Instruction>,
    pub(crate) tails: Vec<RowAccumulator>,
    /// Floating-point operations of the whole loop per lane, to decide whether threads pay.
    pub(crate) flops: u64,
}

/// One step of a phase.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum PhaseStep {
    Block(Vec<Instruction>),
    /// Elementwise work on long arrays, for a few lanes at a time: the result of one instruction is
    /// still in the first-level cache when the next one reads it.
    Lanes {
        group: usize,
        list: Vec<Instruction>,
    },
    Rows(RowLoop),
}

/// Steps that run once, or once per block of lanes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PlanPhase {
    pub(crate) laned: bool,
    pub(crate) steps: Vec<PhaseStep>,
    pub(crate) flops: u64,
}
