//! The interpreter: one instruction after another, in blocks of lanes and rows.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

pub(crate) use super::frame::Frame;
use super::matmul::View;
use super::reduce::Block;
use super::{elementwise, factor, index, matmul, reduce};
use crate::plan::instruction::{Extent, Instruction, Mat, Phase, RowLoop, Step, Tail, Write};

/// Work below this many flops is done by one thread.
const WORTH_THREADS: u64 = 400_000;

/// A workspace as the interpreter sees it: frames differ in lanes and scratch only.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) frame: Frame,
    pub(crate) lanes: usize,
    pub(crate) lane_block: usize,
    /// Numbers of scratch per strip, and strips per lane block.
    pub(crate) scratch: (usize, usize),
}

impl Machine {
    /// The frame of a block of lanes.
    fn lane_frame(&self, block: usize) -> Frame {
        let first = block * self.lane_block;
        let mut frame = self.frame;
        frame.first_lane = first;
        frame.lanes = self.lane_block.min(self.lanes - first);
        frame.bases[1] = frame.bases[1].wrapping_add(block * frame.lane_blocks.0);
        let scratch = self.scratch.0 * self.scratch.1;
        frame.bases[3] = frame.bases[3].wrapping_add(block * scratch);
        frame
    }

    /// Runs all phases.
    pub(crate) fn run(&self, arch: Arch, phases: &[Phase]) {
        for phase in phases {
            if !phase.laned {
                self.steps(arch, phase, self.frame);
                continue;
            }
            let blocks = self.frame.lane_blocks.1;
            let one = |block: usize| self.steps(arch, phase, self.lane_frame(block));
            if blocks > 1 && worth_threads(phase.flops * self.lanes as u64) {
                (0..blocks).into_par_iter().with_max_len(1).for_each(one);
            } else {
                (0..blocks).for_each(one);
            }
        }
    }

    fn steps(&self, arch: Arch, phase: &Phase, frame: Frame) {
        arch.dispatch(Steps {
            steps: &phase.steps,
            frame,
            arch,
            scratch: self.scratch.0,
        });
    }
}

fn worth_threads(flops: u64) -> bool {
    flops > WORTH_THREADS && rayon::current_num_threads() > 1
}

struct Steps<'a> {
    steps: &'a [Step],
    frame: Frame,
    arch: Arch,
    scratch: usize,
}

impl WithSimd for Steps<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for step in self.steps {
            match step {
                // SAFETY: the frame belongs to the plan of these steps.
                Step::Single(instruction) => unsafe { execute(simd, &self.frame, instruction) },
                Step::Rows(rows) => run_rows(self.arch, rows, self.frame, self.scratch),
            }
        }
        let _ = simd;
    }
}

/// One strip of a row loop: its blocks one after another into its own accumulators.
struct Strip<'a> {
    rows: &'a RowLoop,
    frame: Frame,
    strip: usize,
}

impl WithSimd for Strip<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let RowLoop {
            rows,
            block,
            strips,
            ..
        } = *self.rows;
        let blocks = rows.div_ceil(block);
        let mut frame = self.frame;
        for tail in &self.rows.tails {
            let count = frame.count(tail.size);
            // SAFETY: the strip's own accumulator.
            unsafe { std::slice::from_raw_parts_mut(frame.at(tail.strip), count) }
                .fill(tail.by.start());
        }
        for b in self.strip * blocks / strips..(self.strip + 1) * blocks / strips {
            frame.block = b;
            frame.rows = block.min(rows - b * block);
            for instruction in &self.rows.body {
                // SAFETY: the frame belongs to the plan of this loop.
                unsafe { execute(simd, &frame, instruction) };
            }
        }
    }
}

fn strip_frame(frame: Frame, scratch: usize, strip: usize) -> Frame {
    let mut frame = frame;
    frame.bases[3] = frame.bases[3].wrapping_add(strip * scratch);
    frame
}

/// All strips, side by side where it pays, then their totals in order.
fn run_rows(arch: Arch, rows: &RowLoop, frame: Frame, scratch: usize) {
    let one = |strip: usize| {
        let frame = strip_frame(frame, scratch, strip);
        arch.dispatch(Strip { rows, frame, strip });
    };
    if rows.strips > 1 && worth_threads(rows.flops * frame.lanes as u64) {
        (0..rows.strips)
            .into_par_iter()
            .with_max_len(1)
            .for_each(one);
    } else {
        (0..rows.strips).for_each(one);
    }
    for tail in &rows.tails {
        arch.dispatch(Total {
            tail,
            frame,
            scratch,
            strips: rows.strips,
        });
    }
}

/// The sum of the strips' accumulators.
struct Total<'a> {
    tail: &'a Tail,
    frame: Frame,
    scratch: usize,
    strips: usize,
}

impl WithSimd for Total<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let count = self.frame.count(self.tail.size);
        // SAFETY: accumulators and total hold `count` numbers each and are disjoint.
        unsafe {
            let total = self.frame.at(self.tail.total);
            std::ptr::copy_nonoverlapping(self.frame.at(self.tail.strip), total, count);
            for strip in 1..self.strips {
                let part = strip_frame(self.frame, self.scratch, strip).at(self.tail.strip);
                reduce::join(simd, self.tail.by, total, part, count);
            }
        }
    }
}

/// Calls `f` with the pointers of each lane.
#[inline(always)]
fn each_lane<const N: usize>(
    frame: &Frame,
    count: Extent,
    start: [*mut f64; N],
    steps: [Extent; N],
    mut f: impl FnMut([*mut f64; N]),
) {
    let steps = steps.map(|s| frame.count(s));
    let mut at = start;
    for _ in 0..frame.count(count) {
        f(at);
        for k in 0..N {
            at[k] = at[k].wrapping_add(steps[k]);
        }
    }
}

/// # Safety
/// The instruction must belong to the plan the frame was made for.
#[inline(always)]
unsafe fn execute<S: Simd>(simd: S, frame: &Frame, instruction: &Instruction) {
    // SAFETY: addresses, counts and strides come from the planner.
    unsafe {
        match instruction {
            Instruction::Unary { op, to, grid } => {
                elementwise::unary(simd, frame, *op, to, grid);
            }
            Instruction::Binary { op, to, grid } => {
                elementwise::binary(simd, frame, *op, to, grid);
            }
            Instruction::Fused { op, to, grid } => {
                elementwise::fused(simd, frame, *op, to, grid);
            }
            Instruction::Select { to, grid } => elementwise::select(simd, frame, to, grid),
            Instruction::Copy { to, grid } => elementwise::copy(frame, to, grid),
            Instruction::Fill { to, count, value } => {
                let count = frame.count(*count);
                std::slice::from_raw_parts_mut(frame.at(*to), count).fill(*value);
            }
            Instruction::MatMul {
                a,
                b,
                c,
                dims,
                batch,
                write,
            } => {
                products(simd, frame, [a, b, c], *dims, *batch, *write);
            }
            _ => rest(simd, frame, instruction),
        }
    }
}

/// The instructions that are not elementwise and not products.
///
/// # Safety
/// As [`execute`].
#[inline(always)]
unsafe fn rest<S: Simd>(simd: S, frame: &Frame, instruction: &Instruction) {
    // SAFETY: addresses, counts and strides come from the planner.
    unsafe {
        match instruction {
            Instruction::Reduce {
                by,
                to,
                lanes,
                outer,
                length,
                inner,
                write,
            } => {
                let block = Block {
                    by: *by,
                    outer: frame.count(*outer),
                    length: frame.count(*length),
                    inner: *inner,
                    write: *write,
                };
                let start = to.map(|a| frame.at(a));
                each_lane(
                    frame,
                    lanes[0],
                    start,
                    [lanes[1], lanes[2]],
                    #[inline(always)]
                    |[out, x]| {
                        reduce::reduce(simd, out, x, block);
                    },
                );
            }
            Instruction::Dot {
                to,
                lanes,
                length,
                write,
            } => {
                let n = frame.count(*length);
                let start = to.map(|a| frame.at(a));
                let steps = [lanes[1], lanes[2], lanes[3]];
                each_lane(
                    frame,
                    lanes[0],
                    start,
                    steps,
                    #[inline(always)]
                    |[out, x, y]| {
                        let before = if *write == Write::Replace { 0.0 } else { *out };
                        *out = before + reduce::dot(simd, x, y, n);
                    },
                );
            }
            Instruction::CumulativeSum {
                direction,
                to,
                lanes,
                count,
                length,
            } => {
                let start = to.map(|a| frame.at(a));
                each_lane(
                    frame,
                    lanes[0],
                    start,
                    [lanes[1], lanes[2]],
                    #[inline(always)]
                    |[out, x]| {
                        reduce::cumulative(*direction, out, x, (*count, *length));
                    },
                );
            }
            Instruction::Gather {
                to,
                lanes,
                indices,
                count,
                width,
                rows,
            } => {
                let list = std::slice::from_raw_parts(frame.indices(*indices), frame.count(*count));
                let start = to.map(|a| frame.at(a));
                each_lane(
                    frame,
                    lanes[0],
                    start,
                    [lanes[1], lanes[2]],
                    #[inline(always)]
                    |[out, x]| {
                        index::gather(out, x, list, (*width, *rows));
                    },
                );
            }
            Instruction::ScatterAdd {
                to,
                lanes,
                indices,
                count,
                width,
                rows,
            } => {
                let list = std::slice::from_raw_parts(frame.indices(*indices), frame.count(*count));
                let start = to.map(|a| frame.at(a));
                each_lane(
                    frame,
                    lanes[0],
                    start,
                    [lanes[1], lanes[2]],
                    #[inline(always)]
                    |[out, x]| {
                        index::scatter_add(simd, out, x, list, (*width, *rows));
                    },
                );
            }
            Instruction::Cholesky { to, lanes, side } => {
                let start = to.map(|a| frame.at(a));
                each_lane(
                    frame,
                    lanes[0],
                    start,
                    [lanes[1], lanes[2]],
                    #[inline(always)]
                    |[out, x]| {
                        factor::cholesky(simd, out, x, *side);
                    },
                );
            }
            Instruction::Solve {
                form,
                to,
                lanes,
                rows,
                side,
            } => {
                let start = to.map(|a| frame.at(a));
                let (rows, steps) = (frame.count(*rows), [lanes[1], lanes[2], lanes[3]]);
                each_lane(
                    frame,
                    lanes[0],
                    start,
                    steps,
                    #[inline(always)]
                    |at| {
                        factor::solve(simd, *form, at, (rows, *side));
                    },
                );
            }
            Instruction::Tril {
                offset,
                to,
                lanes,
                side,
            } => {
                let start = to.map(|a| frame.at(a));
                each_lane(
                    frame,
                    lanes[0],
                    start,
                    [lanes[1], lanes[2]],
                    #[inline(always)]
                    |[out, x]| {
                        factor::tril(*offset, out, x, *side);
                    },
                );
            }
            Instruction::SumLanes { to, lanes, size } => {
                let [out, x] = to.map(|a| frame.at(a));
                let (count, step) = (frame.count(lanes[0]), frame.count(lanes[1]));
                sum_parts(simd, out, x, *size, (count, step));
            }
            Instruction::Combine { to, size } => {
                let [out, part] = to.map(|a| frame.at(a));
                let (step, count) = frame.lane_blocks;
                sum_parts(simd, out, part, *size, (count, step));
            }
            _ => unreachable!("handled by the caller"),
        }
    }
}

/// `out = Σ` of `count` parts that lie `step` apart.
///
/// # Safety
/// All parts must be readable for `size` numbers and `out` writable.
#[inline(always)]
unsafe fn sum_parts<S: Simd>(
    simd: S,
    out: *mut f64,
    part: *const f64,
    size: usize,
    (count, step): (usize, usize),
) {
    // SAFETY: by the caller.
    unsafe {
        std::ptr::copy(part, out, size);
        for k in 1..count {
            reduce::add_to(simd, out, part.add(k * step), size);
        }
    }
}

/// A batch of products; a result that all of them share collects their sum.
///
/// # Safety
/// As [`execute`].
#[inline(always)]
unsafe fn products<S: Simd>(
    simd: S,
    frame: &Frame,
    mats: [&Mat; 3],
    dims: [Extent; 3],
    batch: Extent,
    write: Write,
) {
    let [m, n, k] = dims.map(|d| frame.count(d));
    // SAFETY: addresses come from the planner.
    let mut views = mats.map(|mat| View {
        at: unsafe { frame.at(mat.at) },
        row: frame.count(mat.row),
        col: frame.count(mat.col),
    });
    let steps = mats.map(|mat| frame.count(mat.batch));
    let mut write = write;
    for _ in 0..frame.count(batch) {
        // SAFETY: as above.
        unsafe { matmul::product(simd, (m, n, k), views[0], views[1], views[2], write) };
        for (view, step) in views.iter_mut().zip(steps) {
            view.at = view.at.wrapping_add(step);
        }
        if mats[2].batch == Extent::ZERO {
            write = Write::Accumulate;
        }
    }
}
