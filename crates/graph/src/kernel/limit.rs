//! The check of debug builds before every instruction: all memory that it touches belongs to the
//! plan.
//!
//! The planner proves this once for all runs. The check tests the planner: a plan that reaches too
//! far panics at the instruction instead of overwriting its neighbour.

use super::frame::{BlockFrame, SpaceLimits};
use crate::instruction::{
    ArrayAddress, Dim, Extent, Instruction, LoopGrid, Mat, PerLane, Products, RowSelection,
};

/// Panics unless `instruction` stays within the memory of its plan.
pub(super) fn check_instruction(frame: &BlockFrame, instruction: &Instruction) {
    let reach = Reach { frame, instruction };
    match instruction {
        Instruction::Arithmetic { to, grid, .. } => reach.check_grid(to, grid),
        Instruction::Unary { to, grid, .. } | Instruction::Copy { to, grid } => {
            reach.check_grid(to, grid);
        }
        Instruction::Logistic { to, grid } | Instruction::Binary { to, grid, .. } => {
            reach.check_grid(to, grid);
        }
        Instruction::Sequence(list) => {
            for short in list {
                let count = short.lane_count(frame.lanes);
                for place in short.to {
                    let start = place.offset(frame.first_lanes[place.space()]);
                    let span = start + last_offset(count, place.step()) + 1;
                    let limit = reach.limits().owned[place.space()];
                    assert!(
                        count == 0 || span <= limit,
                        "{short:?} reaches {span} of {limit}"
                    );
                }
            }
        }
        Instruction::Fill { to, count, .. } => reach.check_run(*to, frame.extent_count(*count)),
        Instruction::MatMul(products) => reach.check_products(products),
        Instruction::SumLanes {
            to,
            lanes,
            step,
            size,
        } => {
            reach.check_run(to[0], *size);
            reach.check_run(
                to[1],
                last_offset(frame.extent_count(*lanes), frame.extent_count(*step)) + size,
            );
        }
        Instruction::Combine { to, size } => {
            reach.check_run(to[0], *size);
            // Every lane block has its part at the same offset as the first one, which is checked
            // here.
            reach.check_run(to[1], *size);
        }
        _ => reach.per_lane(),
    }
}

/// Panics unless `count` numbers from `address` on lie within their space.
pub(super) fn check_run(frame: &BlockFrame, address: ArrayAddress, count: usize) {
    let limit = limits(frame).of_space(address.space);
    let end = frame.address_offset(address) + count;
    assert!(end <= limit, "{address:?} reaches {end} of {limit}");
}

fn limits(frame: &BlockFrame) -> &SpaceLimits {
    // SAFETY: the workspace, which owns the limits, is borrowed throughout a run.
    unsafe { &*frame.limits }
}

/// The distance from the first to the last of `count` numbers that lie `step` apart.
fn last_offset(count: usize, step: usize) -> usize {
    count.saturating_sub(1) * step
}

/// One instruction on one frame.
struct Reach<'a> {
    frame: &'a BlockFrame,
    instruction: &'a Instruction,
}

impl Reach<'_> {
    fn limits(&self) -> &SpaceLimits {
        limits(self.frame)
    }

    fn check_run(&self, address: ArrayAddress, count: usize) {
        let limit = self.limits().of_space(address.space);
        let end = self.frame.address_offset(address) + count;
        let instruction = self.instruction;
        assert!(
            end <= limit,
            "{address:?} reaches {end} of {limit} in {instruction:?}"
        );
    }

    fn check_grid<const N: usize>(&self, to: &[ArrayAddress; N], grid: &LoopGrid) {
        let count = |extent: Extent| self.frame.extent_count(extent);
        let empty = |dim: &Dim| count(dim.count) == 0;
        if count(grid.run) == 0 || grid.outer.iter().any(empty) {
            return;
        }
        for (k, address) in to.iter().enumerate() {
            let along = |dim: &Dim| last_offset(count(dim.count), count(dim.steps[k]));
            let outer: usize = grid.outer.iter().map(along).sum();
            self.check_run(
                *address,
                outer + last_offset(count(grid.run), grid.steps[k]) + 1,
            );
        }
    }

    /// Arrays of `sizes` numbers in every lane.
    fn check_lanes<const N: usize>(&self, lanes: &PerLane<N>, sizes: [usize; N]) {
        let count = self.frame.extent_count(lanes.count);
        for ((address, step), size) in lanes.at.iter().zip(lanes.steps).zip(sizes) {
            self.check_run(
                *address,
                last_offset(count, self.frame.extent_count(step)) + size,
            );
        }
    }

    fn per_lane(&self) {
        let count = |extent: Extent| self.frame.extent_count(extent);
        match self.instruction {
            Instruction::Reduce { lanes, axis, .. } => {
                let out = count(axis.outer) * axis.inner;
                self.check_lanes(lanes, [out, out * count(axis.length)]);
            }
            Instruction::Dot { lanes, length, .. } => {
                self.check_lanes(lanes, [1, count(*length), count(*length)]);
            }
            Instruction::CumulativeSum {
                lanes,
                count,
                length,
                ..
            } => {
                self.check_lanes(lanes, [count * length; 2]);
            }
            Instruction::Gather { lanes, rows } => {
                self.check_lanes(lanes, [self.check_indices(rows), rows.below * rows.width]);
            }
            Instruction::ScatterAdd { lanes, rows } => {
                self.check_lanes(lanes, [rows.below * rows.width, self.check_indices(rows)]);
            }
            Instruction::Cholesky { lanes, side } => self.check_lanes(lanes, [side * side; 2]),
            Instruction::Solve {
                lanes, rows, side, ..
            } => {
                let right = count(*rows) * side;
                self.check_lanes(lanes, [right, side * side, right]);
            }
            Instruction::Tril { lanes, side, .. } => {
                self.check_lanes(lanes, [side[0] * side[1]; 2]);
            }
            other => unreachable!("{other:?} is checked by its own arm"),
        }
    }

    /// The number of values that a gather or scatter touches, once the row numbers themselves are
    /// checked.
    fn check_indices(&self, rows: &RowSelection) -> usize {
        let count = self.frame.extent_count(rows.count);
        let end = self.frame.block * rows.indices.per_block + count;
        let limit = self.limits().indices[rows.indices.slot];
        assert!(end <= limit, "row numbers reach {end} of {limit}");
        count * rows.width
    }

    fn check_products(&self, all: &Products) {
        let [m, n, k] = all.dims.map(|extent| self.frame.extent_count(extent));
        let batch = self.frame.extent_count(all.batch);
        let matrix = |mat: &Mat, rows: usize, columns: usize| {
            if batch == 0 || rows == 0 || columns == 0 {
                return;
            }
            let [row, col, apart] =
                [mat.row, mat.col, mat.batch].map(|e| self.frame.extent_count(e));
            let span =
                last_offset(batch, apart) + last_offset(rows, row) + last_offset(columns, col) + 1;
            self.check_run(mat.at, span);
        };
        matrix(&all.a, m, k);
        matrix(&all.b, k, n);
        matrix(&all.c, m, n);
    }
}
