//! The parts of a plan: instructions over addresses in a few memory spaces.

mod address;
mod arithmetic;
mod grid;

pub(crate) use address::{Address, Extent, IndexAddress, Space};
pub(crate) use arithmetic::{Arithmetic, Place, Short};
pub(crate) use grid::{Dim, Grid};

use crate::primitive::factor::Form;
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
    pub(crate) at: Address,
    pub(crate) row: Extent,
    pub(crate) col: Extent,
    pub(crate) batch: Extent,
}

/// The operands of an instruction that runs once per lane: start addresses, and steps from one lane
/// to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PerLane<const N: usize> {
    pub(crate) at: [Address; N],
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
pub(crate) struct Axis {
    pub(crate) outer: Extent,
    pub(crate) length: Extent,
    pub(crate) inner: usize,
}

/// The selected rows, and the width of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rows {
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
        to: [Address; 4],
        grid: Grid,
    },
    /// Arithmetic on one run each, packed.
    Sequence(Vec<Short>),
    Unary {
        op: Unary,
        to: [Address; 2],
        grid: Grid,
    },
    /// Softplus and sigmoid of one operand, which share an exponential.
    Logistic {
        to: [Address; 3],
        grid: Grid,
    },
    Binary {
        op: Binary,
        to: [Address; 3],
        grid: Grid,
    },
    /// A strided copy: broadcast, slice, concat, transpose, diagonal.
    Copy {
        to: [Address; 2],
        grid: Grid,
    },
    /// Sets a run of numbers.
    Fill {
        to: Address,
        count: Extent,
        value: f64,
    },
    Reduce {
        by: Reduction,
        lanes: PerLane<2>,
        axis: Axis,
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
        rows: Rows,
    },
    ScatterAdd {
        lanes: PerLane<2>,
        rows: Rows,
    },
    MatMul(Box<Products>),
    Cholesky {
        lanes: PerLane<2>,
        side: usize,
    },
    /// Result, factor, right side; `rows` systems per lane.
    Solve {
        form: Form,
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
        to: [Address; 2],
        lanes: Extent,
        step: Extent,
        size: usize,
    },
    /// Sum of the lane blocks' parts, in order.
    Combine {
        to: [Address; 2],
        size: usize,
    },
}

/// An accumulator of a row loop, one per strip, and the address of its total.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Tail {
    pub(crate) by: Reduction,
    pub(crate) strip: Address,
    pub(crate) total: Address,
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
    pub(crate) tails: Vec<Tail>,
    /// Floating-point operations of the whole loop per lane, to decide whether threads pay.
    pub(crate) flops: u64,
}

/// One step of a phase.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Step {
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
pub(crate) struct Phase {
    pub(crate) laned: bool,
    pub(crate) steps: Vec<Step>,
    pub(crate) flops: u64,
}
