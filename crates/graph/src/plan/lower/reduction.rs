//! Instructions that sum: along axes, over lanes, over the strips of a row loop.

use super::super::schedule::LoopRole;
use super::Lower;
use crate::instruction::{Extent, Instruction, ReducedAxis, RowAccumulator};
use crate::primitive::{Direction, Op, Reduction};

impl Lower<'_> {
    pub(super) fn lower_reduce(
        &self,
        place: usize,
        by: Reduction,
        first: usize,
        count: usize,
    ) -> Instruction {
        let input = self.schedule.node_input(place, 0);
        if self.schedule.slots[input].absorbed {
            return self.lower_dot(place, input);
        }
        let x = self.input_operand(place, 0);
        let dims = x.shape.dims();
        let fixed = |axes: std::ops::Range<usize>| Extent::fixed(dims[axes].iter().product());
        let (outer, length) = match (self.is_streamed(place), first) {
            (false, _) => (fixed(0..first), fixed(first..first + count)),
            (true, 0) => (Extent::ONE, fixed(1..count).times(Extent::ROWS)),
            (true, _) => (
                fixed(1..first).times(Extent::ROWS),
                fixed(first..first + count),
            ),
        };
        let inner = x.shape.inner_size(first + count);
        Instruction::Reduce {
            by,
            lanes: self.per_lane(place, [self.result_operand(place), x]),
            axis: ReducedAxis {
                outer,
                length,
                inner,
            },
            write: self.write_mode(place),
        }
    }

    /// The sum of a product that is never stored.
    fn lower_dot(&self, place: usize, product: usize) -> Instruction {
        let [x, y] = self.product_factors(product);
        Instruction::Dot {
            lanes: self.per_lane(place, [self.result_operand(place), x, y]),
            length: self.number_extent(place, self.node_shape(product)),
            write: self.write_mode(place),
        }
    }

    pub(super) fn cumulative_sum(&self, place: usize, direction: Direction) -> Instruction {
        let shape = self.node_shape(place);
        let length = *shape.dims().last().expect("checked when built");
        Instruction::CumulativeSum {
            direction,
            lanes: self.unary_lanes(place),
            count: shape.size() / length.max(1),
            length,
        }
    }

    pub(super) fn sum_lanes(&self, place: usize) -> Instruction {
        let (out, x) = (self.result_operand(place), self.input_operand(place, 0));
        let lanes = if self.schedule.crosses_lanes(place) {
            Extent::LANES
        } else {
            Extent::fixed(self.schedule.lanes)
        };
        Instruction::SumLanes {
            to: [out.at, x.at],
            lanes,
            step: x.lane,
            size: out.shape.size(),
        }
    }

    /// The sum of the lane blocks' parts.
    pub(crate) fn lower_combine(&self, place: usize) -> Instruction {
        Instruction::Combine {
            to: [
                self.memory.node_address(place, false),
                self.memory.part_address(place),
            ],
            size: self.node_shape(place).size(),
        }
    }

    /// The accumulator of a streamed reduction, and the address of its total.
    pub(crate) fn reduction_tail(&self, place: usize) -> Option<RowAccumulator> {
        if self.schedule.slots[place].role != LoopRole::Tail {
            return None;
        }
        let by = match self.schedule.nodes[place].op {
            Op::Reduce { by, .. } => by,
            _ => Reduction::Sum,
        };
        Some(RowAccumulator {
            by,
            strip: self.memory.strip_address(place),
            total: self.memory.node_address(place, false),
            size: Extent::fixed(self.node_shape(place).size()).times(self.lane_extent(place)),
        })
    }
}
