//! Strided iteration spaces, with neighbouring loops merged where the strides allow.

use crate::instruction::{Dim, Extent, LoopGrid};
use crate::shape::Shape;

/// How one array lies under the event axes of an elementwise result.
#[derive(Clone, Copy)]
pub(crate) struct Lay {
    pub(crate) shape: Shape,
    /// Step from one lane to the next; zero for an array that all lanes share.
    pub(crate) lane: Extent,
}

impl Lay {
    /// The step along each event axis of a result of `rank` axes: contiguous, zero if repeated.
    fn steps(self, rank: usize) -> Vec<usize> {
        let mut step = 1;
        let mut steps = vec![0; rank];
        for axis in (0..rank).rev() {
            let length = self.shape.aligned_axis(axis, rank);
            steps[axis] = if length == 1 { 0 } else { step };
            step *= length;
        }
        steps
    }
}

/// The range of the leading axis of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeadingAxis {
    All,
    /// The current row block.
    RowBlock,
}

/// The loops over a result of `shape` and its operands (result first).
pub(crate) fn elementwise_grid(
    shape: Shape,
    lays: &[Lay],
    laned: bool,
    leading: LeadingAxis,
) -> LoopGrid {
    let rank = shape.rank();
    let steps: Vec<Vec<usize>> = lays.iter().map(|lay| lay.steps(rank)).collect();
    let mut dims = Vec::with_capacity(rank + 1);
    if laned {
        let step = |k: usize| lays[k].lane;
        dims.push(grid_dim(Extent::LANES, lays.len(), step));
    }
    for (axis, &length) in shape.dims().iter().enumerate() {
        let count = match (axis, leading) {
            (0, LeadingAxis::RowBlock) => Extent::ROWS,
            _ => Extent::fixed(length),
        };
        dims.push(grid_dim(count, lays.len(), |k| {
            Extent::fixed(steps[k][axis])
        }));
    }
    unit_run(merge_dims(dims))
}

/// Elementwise kernels have steps of one or zero, so a run with longer strides becomes a loop.
fn unit_run(mut grid: LoopGrid) -> LoopGrid {
    if grid.steps.iter().any(|&step| step > 1) {
        let count = grid.run;
        let steps = grid.steps.map(Extent::fixed);
        grid.outer.push(Dim { count, steps });
        grid.run = Extent::ONE;
        grid.steps = [0; 4];
    }
    grid
}

/// A loop with a step for each of `arrays` arrays.
pub(crate) fn grid_dim(count: Extent, arrays: usize, step: impl Fn(usize) -> Extent) -> Dim {
    let mut steps = [Extent::ZERO; 4];
    for (k, slot) in steps.iter_mut().enumerate().take(arrays) {
        *slot = step(k);
    }
    Dim { count, steps }
}

/// The loops with neighbours merged; the innermost becomes the run.
pub(crate) fn merge_dims(dims: Vec<Dim>) -> LoopGrid {
    let mut kept: Vec<Dim> = Vec::new();
    for inner in dims {
        if inner.count == Extent::ONE {
            continue;
        }
        match kept.last_mut() {
            Some(outer) if joins(outer, &inner) => {
                outer.count = outer.count.times(inner.count);
                outer.steps = inner.steps;
            }
            _ => kept.push(inner),
        }
    }
    let run = kept.pop().unwrap_or(Dim {
        count: Extent::ONE,
        steps: [Extent::ZERO; 4],
    });
    LoopGrid {
        outer: kept,
        run: run.count,
        steps: run.steps.map(|s| s.per),
    }
}

/// True if stepping once outside equals stepping through all of the inner loop.
fn joins(outer: &Dim, inner: &Dim) -> bool {
    let fits = |k: usize| outer.steps[k] == inner.steps[k].times(inner.count);
    let free = !(outer.count.lanes && inner.count.lanes || outer.count.rows && inner.count.rows);
    // The run's own steps must be plain numbers.
    let plain = inner.steps.iter().all(|s| !s.lanes && !s.rows);
    free && plain && (0..4).all(fits)
}
