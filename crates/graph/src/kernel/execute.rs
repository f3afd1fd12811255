//! The interpreter: what each instruction does for the block of lanes and rows at hand.

use pulp::Simd;

use super::frame::Frame;
use super::reduce::Block;
use super::{elementwise, factor, index, matmul, reduce};
use crate::plan::instruction::{Instruction, Rows, Write};

/// Runs the body with the pointers of each lane. A macro and not a function of a closure: a
/// closure may stay a call, compiled without the vector instructions.
macro_rules! per_lane {
    ($frame:ident, $lanes:ident, $at:pat => $body:expr) => {{
        let steps = $lanes.steps.map(|step| $frame.count(step));
        let mut at = $lanes.at.map(|address| $frame.at(address));
        for _ in 0..$frame.count($lanes.count) {
            let $at = at;
            $body;
            for (at, step) in at.iter_mut().zip(steps) {
                *at = at.wrapping_add(step);
            }
        }
    }};
}

/// # Safety
/// The instruction must belong to the plan the frame was made for.
#[inline(always)]
pub(super) unsafe fn execute<S: Simd>(simd: S, frame: &Frame, instruction: &Instruction) {
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
            Instruction::MatMul(products) => matmul::products(simd, frame, products),
            _ => sums_and_factors(simd, frame, instruction),
        }
    }
}

/// The instructions that are not elementwise and not products.
///
/// # Safety
/// As [`execute`].
#[inline(always)]
unsafe fn sums_and_factors<S: Simd>(simd: S, frame: &Frame, instruction: &Instruction) {
    // SAFETY: addresses, counts and strides come from the planner.
    unsafe {
        match instruction {
            Instruction::Reduce {
                by,
                lanes,
                axis,
                write,
            } => {
                let block = Block {
                    by: *by,
                    outer: frame.count(axis.outer),
                    length: frame.count(axis.length),
                    inner: axis.inner,
                    write: *write,
                };
                per_lane!(frame, lanes, [out, x] => reduce::reduce(simd, out, x, block));
            }
            Instruction::Dot {
                lanes,
                length,
                write,
            } => {
                let n = frame.count(*length);
                per_lane!(frame, lanes, [out, x, y] => {
                    let before = if *write == Write::Replace { 0.0 } else { *out };
                    *out = before + reduce::dot(simd, x, y, n);
                });
            }
            Instruction::CumulativeSum {
                direction,
                lanes,
                count,
                length,
            } => {
                let shape = (*count, *length);
                per_lane!(frame, lanes, [out, x] => reduce::cumulative(*direction, out, x, shape));
            }
            Instruction::Gather { lanes, rows } => {
                let list = row_numbers(frame, rows);
                per_lane!(frame, lanes, [out, x] => index::gather(out, x, list, rows));
            }
            Instruction::ScatterAdd { lanes, rows } => {
                let list = row_numbers(frame, rows);
                per_lane!(frame, lanes, [out, x] => index::scatter_add(simd, out, x, list, rows));
            }
            Instruction::Cholesky { lanes, side } => {
                per_lane!(frame, lanes, [out, x] => factor::cholesky(simd, out, x, *side));
            }
            Instruction::Solve {
                form,
                lanes,
                rows,
                side,
            } => {
                let rows = frame.count(*rows);
                per_lane!(frame, lanes, at => factor::solve(simd, *form, at, (rows, *side)));
            }
            Instruction::Tril {
                offset,
                lanes,
                side,
            } => per_lane!(frame, lanes, [out, x] => factor::tril(*offset, out, x, *side)),
            Instruction::SumLanes {
                to,
                lanes,
                step,
                size,
            } => {
                let apart = (frame.count(*lanes), frame.count(*step));
                reduce::sum_parts(simd, to.map(|a| frame.at(a)), *size, apart);
            }
            Instruction::Combine { to, size } => {
                let (step, count) = frame.lane_blocks;
                reduce::sum_parts(simd, to.map(|a| frame.at(a)), *size, (count, step));
            }
            _ => unreachable!("handled by the caller"),
        }
    }
}

/// # Safety
/// As [`execute`].
#[inline(always)]
unsafe fn row_numbers<'a>(frame: &Frame, rows: &Rows) -> &'a [u32] {
    // SAFETY: the workspace holds a whole column; nobody writes to it during a run.
    unsafe { std::slice::from_raw_parts(frame.indices(rows.indices), frame.count(rows.count)) }
}
