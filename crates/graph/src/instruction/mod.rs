//! What a plan is made of: instructions over addresses in a few memory spaces.

use super::pack::{Short, packed, paired};
use crate::primitive::factor::Form;
use crate::primitive::{Binary, Direction, Reduction, Unary};

/// A count that may grow with the lanes or rows of the block at hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    pub(crate) per: usize,
    pub(crate) lanes: bool,
    pub(crate) rows: bool,
}

impl Extent {
    pub(crate) const ONE: Extent = Extent::fixed(1);
    pub(crate) const ZERO: Extent = Extent::fixed(0);
    pub(crate) const LANES: Extent = Extent {
        per: 1,
        lanes: true,
        rows: false,
    };
    pub(crate) const ROWS: Extent = Extent {
        per: 1,
        lanes: false,
        rows: true,
    };

    pub(crate) const fn fixed(per: usize) -> Extent {
        Extent {
            per,
            lanes: false,
            rows: false,
        }
    }

    /// The product; a zero is a plain zero.
    pub(crate) fn times(self, other: Extent) -> Extent {
        debug_assert!(!(self.lanes && other.lanes || self.rows && other.rows));
        match self.per * other.per {
            0 => Extent::ZERO,
            per => Extent {
                per,
                lanes: self.lanes || other.lanes,
                rows: self.rows || other.rows,
            },
        }
    }
}

/// The memory an address points into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Space {
    /// Values without lanes.
    Shared,
    /// Values of the lane block at hand.
    Lane,
    /// Laned inputs and outputs: all lanes in order.
    Pinned,
    /// Values of the row block at hand.
    Scratch,
    /// A large input that is lent, not copied, by its number.
    Lent(u32),
}

impl Space {
    /// The place of the space's base in a frame.
    pub(crate) fn index(self) -> usize {
        match self {
            Space::Shared => 0,
            Space::Lane => 1,
            Space::Pinned => 2,
            Space::Scratch => 3,
            Space::Lent(k) => 4 + k as usize,
        }
    }
}

/// Where an array starts, as seen from a block of lanes and rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Address {
    pub(crate) space: Space,
    pub(crate) offset: usize,
    /// Step from one row block to the next.
    pub(crate) per_block: usize,
    /// Step from one lane to the next; zero where no block starts at a later lane.
    pub(crate) per_lane: usize,
}

/// One loop around the innermost run, with the steps of result and operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dim {
    pub(crate) count: Extent,
    pub(crate) steps: [Extent; 4],
}

/// The iteration space of an elementwise instruction: outer loops around one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Grid {
    pub(crate) outer: Vec<Dim>,
    pub(crate) run: Extent,
    /// Step of result and operands along the run: 0 repeats one number.
    pub(crate) steps: [usize; 4],
}

/// Whether a result is stored or joins what is there.
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

/// What takes a few machine instructions per register: result first, then up to three operands.
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
    /// x·y + z, like the next two in one rounding where the machine can.
    MulAdd,
    /// x·y − z
    MulSub,
    /// z − x·y
    NegMulAdd,
    /// y where x is not zero, else z
    Select,
}

impl Arithmetic {
    pub(crate) fn unary(op: Unary) -> Option<Arithmetic> {
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

    pub(crate) fn binary(op: Binary) -> Option<Arithmetic> {
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

/// What an instruction does once per lane: where result and operands start, and their steps
/// from one lane to the next.
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
    /// Rows of A, columns of B, and what is contracted.
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

/// Which rows, and how wide each is.
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

/// Where a column of row numbers starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IndexAddress {
    pub(crate) slot: usize,
    pub(crate) per_block: usize,
}

/// An accumulator of a row loop, per strip, and where its total goes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Tail {
    pub(crate) by: Reduction,
    pub(crate) strip: Address,
    pub(crate) total: Address,
    pub(crate) size: Extent,
}

/// A loop over blocks of rows, in strips that may run side by side.
///
/// Strips depend on the number of rows alone and their totals are added in order, so the bits
/// do not depend on the number of threads.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RowLoop {
    pub(crate) rows: usize,
    pub(crate) block: usize,
    pub(crate) strips: usize,
    pub(crate) body: Vec<Instruction>,
    pub(crate) tails: Vec<Tail>,
    /// Flops of the whole loop per lane, to decide whether threads pay.
    pub(crate) flops: u64,
}

/// One step of a phase.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Step {
    Block(Vec<Instruction>),
    /// Elementwise work on long arrays, for a few lanes at a time: what one instruction writes
    /// is still in the first-level cache when the next one reads it.
    Lanes {
        group: usize,
        list: Vec<Instruction>,
    },
    Rows(RowLoop),
}

impl Step {
    /// The same step with neighbouring instructions packed.
    pub(crate) fn packed(self) -> Step {
        match self {
            Step::Block(list) => Step::Block(packed(paired(list))),
            Step::Lanes { group, list } => Step::Lanes {
                group,
                list: packed(paired(list)),
            },
            Step::Rows(mut rows) => {
                rows.body = paired(rows.body);
                Step::Rows(rows)
            }
        }
    }
}

/// Steps that run once, or once per block of lanes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Phase {
    pub(crate) laned: bool,
    pub(crate) steps: Vec<Step>,
    pub(crate) flops: u64,
}
