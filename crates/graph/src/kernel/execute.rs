//! The interpreter: the effect of each instruction on the current block of lanes and rows.

use pulp::{Simd, WithSimd};

use super::frame::Frame;
use super::reduce::Block;
use super::{elementwise, factor, index, matmul, reduce};
use crate::instruction::{Instruction, PerLane, Rows, Write};

/// Runs the body with the pointers of each lane. This is a macro and not a function of a closure,
/// because a closure may stay a call that is compiled without vector instructions.
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

/// One instruction on one frame.
struct Call<'a> {
    frame: &'a Frame,
    instruction: &'a Instruction,
}

/// Each kind of instruction is a function of its own, compiled once per instruction set: in one
/// large function the optimiser takes minutes.
///
/// # Safety
/// The instruction must belong to the plan the frame was made for.
#[inline(always)]
pub(super) unsafe fn execute<S: Simd>(simd: S, frame: &Frame, instruction: &Instruction) {
    let call = Call { frame, instruction };
    match instruction {
        Instruction::Sequence(_) => simd.vectorize(RunSequence(call)),
        Instruction::Arithmetic { .. } => simd.vectorize(RunArithmetic(call)),
        Instruction::Unary { .. } | Instruction::Logistic { .. } => {
            simd.vectorize(RunUnary(call));
        }
        Instruction::MatMul(_) => simd.vectorize(RunProducts(call)),
        Instruction::Reduce { .. } | Instruction::Dot { .. } => simd.vectorize(RunSums(call)),
        _ => simd.vectorize(RunRest(call)),
    }
}

/// A kernel as a separate function; the caller decides which instructions reach it.
macro_rules! function {
    ($name:ident, $simd:ident, $frame:ident, $($pattern:pat => $body:expr),*) => {
        struct $name<'a>(Call<'a>);

        impl WithSimd for $name<'_> {
            type Output = ();

            #[inline(always)]
            fn with_simd<S: Simd>(self, $simd: S) {
                let $frame = self.0.frame;
                // SAFETY: addresses, counts and strides come from the planner.
                unsafe {
                    match self.0.instruction {
                        $($pattern => $body,)*
                    }
                }
            }
        }
    };
}

function!(RunSequence, simd, frame,
    Instruction::Sequence(list) => elementwise::sequence(simd, frame, list),
    _ => unreachable!());
function!(RunArithmetic, simd, frame,
    Instruction::Arithmetic { op, to, grid } => elementwise::arithmetic(simd, frame, *op, to, grid),
    _ => unreachable!());
function!(RunUnary, simd, frame,
    Instruction::Unary { op, to, grid } => elementwise::unary(simd, frame, *op, to, grid),
    Instruction::Logistic { to, grid } => elementwise::logistic(simd, frame, to, grid),
    _ => unreachable!());
function!(RunProducts, simd, frame,
    Instruction::MatMul(products) => matmul::products(simd, frame, products),
    _ => unreachable!());
function!(RunSums, simd, frame,
Instruction::Reduce { by, lanes, axis, write } => {
    let block = Block {
        by: *by,
        outer: frame.count(axis.outer),
        length: frame.count(axis.length),
        inner: axis.inner,
        write: *write,
    };
    per_lane!(frame, lanes, [out, x] => reduce::reduce(simd, out, x, block));
},
Instruction::Dot { lanes, length, write } => {
    let n = frame.count(*length);
    per_lane!(frame, lanes, [out, x, y] => {
        let before = if *write == Write::Replace { 0.0 } else { *out };
        *out = before + reduce::dot(simd, x, y, n);
    });
},
_ => unreachable!());
function!(RunRest, simd, frame,
    Instruction::Copy { to, grid } => elementwise::copy(simd, frame, to, grid),
    Instruction::Fill { to, count, value } => {
        let count = frame.count(*count);
        std::slice::from_raw_parts_mut(frame.at(*to), count).fill(*value);
    },
    other => rare(simd, frame, other));

/// The instructions that a training step meets rarely.
///
/// # Safety
/// As [`execute`].
#[inline(always)]
unsafe fn rare<S: Simd>(simd: S, frame: &Frame, instruction: &Instruction) {
    // SAFETY: addresses, counts and strides come from the planner.
    unsafe {
        match instruction {
            Instruction::Binary { op, to, grid } => elementwise::binary(frame, *op, to, grid),
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
                if let Some(all) = one_factor(frame, lanes, rows * side) {
                    let at = lanes.at.map(|address| frame.at(address));
                    factor::solve(simd, *form, at, (rows * all, *side));
                } else {
                    per_lane!(frame, lanes, at => factor::solve(simd, *form, at, (rows, *side)));
                }
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

/// The number of lanes, if all lanes share a factor and their right sides, of `size` numbers each,
/// are contiguous.
#[inline(always)]
fn one_factor(frame: &Frame, lanes: &PerLane<3>, size: usize) -> Option<usize> {
    let [out, factor, right] = lanes.steps.map(|step| frame.count(step));
    let count = frame.count(lanes.count);
    (count > 1 && factor == 0 && out == size && right == size).then_some(count)
}

/// # Safety
/// As [`execute`].
#[inline(always)]
unsafe fn row_numbers<'a>(frame: &Frame, rows: &Rows) -> &'a [u32] {
    // SAFETY: the workspace holds a whole column, which is not written to during a run.
    unsafe { std::slice::from_raw_parts(frame.indices(rows.indices), frame.count(rows.count)) }
}
