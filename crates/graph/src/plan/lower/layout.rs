//! Instructions that move numbers: copies in another order, into zeros, end to end.

use super::super::grid;
use super::{LocatedOperand, Lower};
use crate::instruction::{ArrayAddress, Dim, Extent, Instruction};
use crate::primitive::Op;

/// A loop of a copy: its length, and the steps of result and operand.
type Loop = (usize, [usize; 2]);

impl Lower<'_> {
    /// Reads the operand in another order than it is written.
    pub(super) fn copy_out(&self, place: usize) -> Instruction {
        let (out, x) = (self.result_operand(place), self.input_operand(place, 0));
        let dims = out.shape.dims();
        match self.schedule.nodes[place].op {
            Op::Slice { axis, start } => {
                let x = x.from(start * x.shape.inner_size(axis + 1));
                self.copy_like(place, out, x, out)
            }
            Op::Transpose => {
                let (m, n) = (x.shape.dims()[0], x.shape.dims()[1]);
                self.copy_instruction(place, out, x, &[(n, [dims[1], 1]), (m, [1, n])])
            }
            Op::Diagonal => self.copy_instruction(place, out, x, &[(dims[0], [1, dims[0] + 1])]),
            _ => self.copy_like(place, out, x, out),
        }
    }

    /// A copy over the event axes of `like`.
    fn copy_like(
        &self,
        place: usize,
        out: LocatedOperand,
        x: LocatedOperand,
        like: LocatedOperand,
    ) -> Instruction {
        Instruction::Copy {
            to: [out.at, x.at],
            grid: self.node_grid(place, like.shape, &[out, x]),
        }
    }

    /// A copy with given loops, inside the loop over lanes.
    fn copy_instruction(
        &self,
        place: usize,
        out: LocatedOperand,
        x: LocatedOperand,
        loops: &[Loop],
    ) -> Instruction {
        let mut all: Vec<Dim> = Vec::new();
        if self.schedule.laned[place] {
            let lane = [out.lane, x.lane];
            all.push(grid::grid_dim(Extent::LANES, 2, |k| lane[k]));
        }
        for (length, steps) in loops {
            let step = |k: usize| Extent::fixed(steps[k]);
            all.push(grid::grid_dim(Extent::fixed(*length), 2, step));
        }
        Instruction::Copy {
            to: [out.at, x.at],
            grid: grid::merge_dims(all),
        }
    }

    pub(super) fn zero_instruction(&self, place: usize, out: LocatedOperand) -> Instruction {
        Instruction::Fill {
            to: out.at,
            count: self
                .number_extent(place, out.shape)
                .times(self.lane_extent(place)),
            value: 0.0,
        }
    }

    pub(super) fn copy_into_zeros(&self, place: usize) -> Vec<Instruction> {
        let (out, x) = (self.result_operand(place), self.input_operand(place, 0));
        let zeros = self.zero_instruction(place, out);
        let copy = if let Op::Pad { axis, start } = self.schedule.nodes[place].op {
            let to = out.from(start * out.shape.inner_size(axis + 1));
            self.copy_like(place, to, x, x)
        } else {
            let n = x.shape.dims()[0];
            self.copy_instruction(place, out, x, &[(n, [n + 1, 1])])
        };
        vec![zeros, copy]
    }

    pub(super) fn concat_instructions(&self, place: usize, axis: usize) -> Vec<Instruction> {
        let out = self.result_operand(place);
        let inner = out.shape.inner_size(axis + 1);
        let mut start = 0;
        let mut part = |k: usize| {
            let x = self.input_operand(place, k);
            let to = out.from(start * inner);
            start += x.shape.dims()[axis];
            self.copy_like(place, to, x, x)
        };
        let parts = self.schedule.nodes[place].inputs.len();
        (0..parts).map(&mut part).collect()
    }

    /// A copy of a node to where an output is shown.
    pub(crate) fn export_instruction(
        &self,
        place: usize,
        to: ArrayAddress,
        lane: Extent,
    ) -> Instruction {
        let x = self.located_operand(place, false);
        let out = LocatedOperand {
            at: to,
            lane,
            shape: x.shape,
        };
        let laned = self.schedule.laned[place];
        Instruction::Copy {
            to: [to, x.at],
            grid: grid::elementwise_grid(
                x.shape,
                &[out.lay(), x.lay()],
                laned,
                grid::LeadingAxis::All,
            ),
        }
    }
}
