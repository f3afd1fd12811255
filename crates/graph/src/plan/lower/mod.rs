//! Lowers nodes to instructions.

mod layout;
mod product;
mod reduction;

use super::grid::{self, Lay, LeadingAxis};
use super::memory::MemoryPlan;
use super::schedule::{ExecutionSchedule, LoopRole};
use crate::instruction::{
    Arithmetic, ArrayAddress, Extent, IndexAddress, Instruction, LoopGrid, PerLane, RowSelection,
    Write,
};
use crate::primitive::{Binary, Op, Unary};
use crate::shape::Shape;

/// An operand as an instruction sees it.
#[derive(Clone, Copy)]
struct LocatedOperand {
    at: ArrayAddress,
    /// Step from one lane to the next; zero for an array that all lanes share.
    lane: Extent,
    shape: Shape,
}

impl LocatedOperand {
    fn lay(&self) -> Lay {
        Lay {
            shape: self.shape,
            lane: self.lane,
        }
    }

    /// The operand from the flat place `offset` on.
    fn from(mut self, offset: usize) -> LocatedOperand {
        self.at.offset += offset;
        self
    }
}

/// Writes the instructions of one node after another.
pub(crate) struct Lower<'a> {
    pub(crate) schedule: &'a ExecutionSchedule<'a>,
    pub(crate) memory: &'a MemoryPlan,
    /// The slot of each index input, by node.
    pub(crate) index_slots: &'a [Option<usize>],
}

impl Lower<'_> {
    /// The instructions that compute `place`.
    pub(crate) fn lower_node(&self, place: usize) -> Vec<Instruction> {
        match &self.schedule.nodes[place].op {
            Op::Pad { .. } | Op::DiagonalMatrix => self.copy_into_zeros(place),
            Op::Concat { axis } => self.concat_instructions(place, *axis),
            Op::Gather => vec![self.lower_gather(place)],
            Op::ScatterAdd => self.scatter_add(place),
            _ => vec![self.lower_instruction(place)],
        }
    }

    /// The instruction of a node that needs only one.
    fn lower_instruction(&self, place: usize) -> Instruction {
        let node = &self.schedule.nodes[place];
        match &node.op {
            Op::Unary(op) => self.lower_unary(place, *op),
            Op::Binary(op) => self.lower_binary(place, *op),
            Op::Select => {
                let operands = [0, 1, 2].map(|k| self.input_operand(place, k));
                self.lower_arithmetic(place, Arithmetic::Select, &operands)
            }
            Op::Broadcast | Op::Slice { .. } | Op::Transpose | Op::Diagonal => self.copy_out(place),
            Op::Reduce { by, first, count } => self.lower_reduce(place, *by, *first, *count),
            Op::CumulativeSum(direction) => self.cumulative_sum(place, *direction),
            Op::SumLanes => self.sum_lanes(place),
            Op::MatMul(op) => self.lower_matmul(place, *op),
            Op::Cholesky => Instruction::Cholesky {
                lanes: self.unary_lanes(place),
                side: node.shape.dims()[0],
            },
            Op::Solve(op) => {
                let (factor, right) = (self.input_operand(place, 0), self.input_operand(place, 1));
                Instruction::Solve {
                    form: op.form,
                    lanes: self.per_lane(place, [self.result_operand(place), factor, right]),
                    rows: self.leading_extent(place, node.shape.dims()[0]),
                    side: node.shape.dims()[1],
                }
            }
            Op::Tril(offset) => Instruction::Tril {
                offset: *offset,
                lanes: self.unary_lanes(place),
                side: [node.shape.dims()[0], node.shape.dims()[1]],
            },
            _ => unreachable!("{} is not computed", node.op.name()),
        }
    }

    fn is_streamed(&self, place: usize) -> bool {
        self.schedule.slots[place].role != LoopRole::Plain
    }

    fn node_shape(&self, place: usize) -> Shape {
        self.schedule.nodes[place].shape
    }

    /// How many lanes a node has in the current block.
    fn lane_extent(&self, place: usize) -> Extent {
        if self.schedule.laned[place] {
            Extent::LANES
        } else {
            Extent::ONE
        }
    }

    /// `step` for a node with lanes, no step for one that all lanes share.
    fn if_laned(&self, place: usize, step: Extent) -> Extent {
        step.when(self.schedule.laned[place])
    }

    /// The leading axis: the rows of the block if the node is streamed.
    fn leading_extent(&self, place: usize, length: usize) -> Extent {
        if self.is_streamed(place) {
            Extent::ROWS
        } else {
            Extent::fixed(length)
        }
    }

    /// How many numbers of `shape` the current block holds, per lane.
    fn number_extent(&self, place: usize, shape: Shape) -> Extent {
        if self.is_streamed(place) {
            Extent::fixed(shape.inner_size(1)).times(Extent::ROWS)
        } else {
            Extent::fixed(shape.size())
        }
    }

    fn result_operand(&self, place: usize) -> LocatedOperand {
        let shape = self.node_shape(place);
        if self.schedule.crosses_lanes(place) {
            return LocatedOperand {
                at: self.memory.part_address(place),
                lane: Extent::ZERO,
                shape,
            };
        }
        if self.schedule.slots[place].role == LoopRole::Tail {
            return LocatedOperand {
                at: self.memory.strip_address(place),
                lane: self.if_laned(place, Extent::fixed(shape.size())),
                shape,
            };
        }
        self.located_operand(place, self.is_streamed(place))
    }

    fn input_operand(&self, user: usize, k: usize) -> LocatedOperand {
        let streamed = self.is_streamed(user) && self.schedule.is_aligned(user, k);
        self.located_operand(self.schedule.node_input(user, k), streamed)
    }

    fn located_operand(&self, place: usize, streamed: bool) -> LocatedOperand {
        LocatedOperand {
            at: self.memory.node_address(place, streamed),
            lane: self.if_laned(place, self.memory.node_buffer(place).lane),
            shape: self.node_shape(place),
        }
    }

    fn per_lane<const N: usize>(&self, place: usize, all: [LocatedOperand; N]) -> PerLane<N> {
        PerLane {
            at: all.map(|o| o.at),
            steps: all.map(|o| o.lane),
            count: self.lane_extent(place),
        }
    }

    /// The result and the first operand.
    fn unary_lanes(&self, place: usize) -> PerLane<2> {
        self.per_lane(
            place,
            [self.result_operand(place), self.input_operand(place, 0)],
        )
    }

    fn write_mode(&self, place: usize) -> Write {
        match self.schedule.slots[place].role {
            LoopRole::Tail => Write::Accumulate,
            _ => Write::Replace,
        }
    }

    fn node_grid(&self, place: usize, shape: Shape, operands: &[LocatedOperand]) -> LoopGrid {
        let lays: Vec<Lay> = operands.iter().map(LocatedOperand::lay).collect();
        let laned = self.schedule.laned[place];
        let leading = if self.is_streamed(place) {
            LeadingAxis::RowBlock
        } else {
            LeadingAxis::All
        };
        grid::elementwise_grid(shape, &lays, laned, leading)
    }

    /// Operands that an operation does not have are set to its result and never read.
    fn lower_arithmetic(
        &self,
        place: usize,
        op: Arithmetic,
        operands: &[LocatedOperand],
    ) -> Instruction {
        let result = self.result_operand(place);
        let mut all = [result; 4];
        all[1..=operands.len()].copy_from_slice(operands);
        Instruction::Arithmetic {
            op,
            to: all.map(|o| o.at),
            grid: self.node_grid(place, self.node_shape(place), &all[..=operands.len()]),
        }
    }

    fn lower_unary(&self, place: usize, op: Unary) -> Instruction {
        let operand = self.input_operand(place, 0);
        if let Some(op) = Arithmetic::from_unary(op) {
            return self.lower_arithmetic(place, op, &[operand]);
        }
        let all = [self.result_operand(place), operand];
        Instruction::Unary {
            op,
            to: all.map(|o| o.at),
            grid: self.node_grid(place, self.node_shape(place), &all),
        }
    }

    fn lower_binary(&self, place: usize, op: Binary) -> Instruction {
        let absorbed =
            (0..2).find(|&k| self.schedule.slots[self.schedule.node_input(place, k)].absorbed);
        if let Some(k) = absorbed {
            return self.lower_fused(place, op, k);
        }
        let [x, y] = [0, 1].map(|k| self.input_operand(place, k));
        if let Some(op) = Arithmetic::from_binary(op) {
            return self.lower_arithmetic(place, op, &[x, y]);
        }
        let all = [self.result_operand(place), x, y];
        Instruction::Binary {
            op,
            to: all.map(|o| o.at),
            grid: self.node_grid(place, self.node_shape(place), &all),
        }
    }

    /// A sum or difference whose operand `k` is a product that is computed within it.
    fn lower_fused(&self, place: usize, op: Binary, k: usize) -> Instruction {
        let product = self.schedule.node_input(place, k);
        let fused = match (op, k) {
            (Binary::Add, _) => Arithmetic::MulAdd,
            (_, 0) => Arithmetic::MulSub,
            _ => Arithmetic::NegMulAdd,
        };
        let [x, y] = self.product_factors(product);
        self.lower_arithmetic(place, fused, &[x, y, self.input_operand(place, 1 - k)])
    }

    /// The factors of a product; those of a square are the same.
    fn product_factors(&self, product: usize) -> [LocatedOperand; 2] {
        let last = self.schedule.nodes[product].inputs.len() - 1;
        [0, last].map(|k| self.input_operand(product, k))
    }

    /// The row numbers of a gather or scatter whose table has rows like `table`.
    fn table_rows(&self, place: usize, table: Shape) -> RowSelection {
        let column = self.schedule.node_input(place, 1);
        let streamed = self.is_streamed(place);
        RowSelection {
            indices: IndexAddress {
                slot: self.index_slots[column].expect("an index input has a slot"),
                per_block: if streamed { self.schedule.block } else { 0 },
            },
            count: self.leading_extent(place, self.node_shape(column).size()),
            width: table.inner_size(1),
            below: table.dims()[0],
        }
    }

    fn lower_gather(&self, place: usize) -> Instruction {
        let table = self.input_operand(place, 0);
        Instruction::Gather {
            lanes: self.per_lane(place, [self.result_operand(place), table]),
            rows: self.table_rows(place, table.shape),
        }
    }

    /// Streamed blocks add to an accumulator that starts at zero; a whole scatter starts itself.
    fn scatter_add(&self, place: usize) -> Vec<Instruction> {
        let table = self.result_operand(place);
        let add = Instruction::ScatterAdd {
            lanes: self.per_lane(place, [table, self.input_operand(place, 0)]),
            rows: self.table_rows(place, table.shape),
        };
        if self.is_streamed(place) {
            vec![add]
        } else {
            vec![self.zero_instruction(place, table), add]
        }
    }
}
