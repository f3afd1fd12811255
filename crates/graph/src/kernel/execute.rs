//! The interpreter: the effect of each instruction on the current block of lanes and rows.

use pulp::{Simd, WithSimd};

use super::frame::BlockFrame;
use super::reduce::BlockReduction;
use super::{elementwise, factor, index, matmul, reduce};
use crate::instruction::{Instruction, PerLane, RowSelection, Write};

/// Runs the body with the pointers of each lane. This is a macro and not a function of a closure,
/// because a closure may stay a call that is compiled without vector instructions.
macro_rules! per_lane {
    ($frame:ident, $lanes:ident, $at:pat => $body:expr) => {{
        let steps = $lanes.steps.map(|step| $frame.extent_count(step));
        let mut at = $lanes.at.map(|address| $frame.pointer_at(address));
        for _ in 0..$frame.extent_count($lanes.count) {
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
    frame: &'a BlockFrame,
    instruction: &'a Instruction,
}

/// Each kind of instruction is a function of its own, compiled once per instruction set: in one
/// large function the optimiser takes minutes.
///
/// # Safety
/// The instruction must belong to the plan the frame was made for.
#[inline(always)]
pub(super) unsafe fn execute_instruction<S: Simd>(
    simd: S,
    frame: &BlockFrame,
    instruction: &Instruction,
) {
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
    Instruction::Sequence(list) => elementwise::run_sequence(simd, frame, list),
    _ => unreachable!());
function!(RunArithmetic, simd, frame,
    Instruction::Arithmetic { op, to, grid } => elementwise::run_arithmetic(simd, frame, *op, to, grid),
    _ => unreachable!());
function!(RunUnary, simd, frame,
    Instruction::Unary { op, to, grid } => elementwise::run_unary(simd, frame, *op, to, grid),
    Instruction::Logistic { to, grid } => elementwise::run_logistic(simd, frame, to, grid),
    _ => unreachable!());
function!(RunProducts, simd, frame,
    Instruction::MatMul(products) => matmul::multiply_lanes(simd, frame, products),
    _ => unreachable!());
function!(RunSums, simd, frame,
Instruction::Reduce { by, lanes, axis, write } => {
    let block = BlockReduction {
        by: *by,
        outer: frame.extent_count(axis.outer),
        length: frame.extent_count(axis.length),
        inner: axis.inner,
        write: *write,
    };
    per_lane!(frame, lanes, [out, x] => reduce::reduce_block(simd, out, x, block));
},
Instruction::Dot { lanes, length, write } => {
    let n = frame.extent_count(*length);
    per_lane!(frame, lanes, [out, x, y] => {
        let before = if *write == Write::Replace { 0.0 } else { *out };
        *out = before + reduce::dot_product(simd, x, y, n);
    });
},
_ => unreachable!());
function!(RunRest, simd, frame,
    Instruction::Copy { to, grid } => elementwise::copy_array(simd, frame, to, grid),
    Instruction::Fill { to, count, value } => {
        let count = frame.extent_count(*count);
        std::slice::from_raw_parts_mut(frame.pointer_at(*to), count).fill(*value);
    },
    other => execute_rare(simd, frame, other));

/// The instructions that a training step meets rarely.
///
/// # Safety
/// As [`execute_instruction`].
#[inline(always)]
unsafe fn execute_rare<S: Simd>(simd: S, frame: &BlockFrame, instruction: &Instruction) {
    // SAFETY: addresses, counts and strides come from the planner.
    unsafe {
        match instruction {
            Instruction::Binary { op, to, grid } => elementwise::run_binary(frame, *op, to, grid),
            Instruction::CumulativeSum {
                direction,
                lanes,
                count,
                length,
            } => {
                let shape = (*count, *length);
                per_lane!(frame, lanes, [out, x] => reduce::accumulate_block(*direction, out, x, shape));
            }
            Instruction::Gather { lanes, rows } => {
                let list = row_numbers(frame, rows);
                per_lane!(frame, lanes, [out, x] => index::gather_rows(out, x, list, rows));
            }
            Instruction::ScatterAdd { lanes, rows } => {
                let list = row_numbers(frame, rows);
                per_lane!(frame, lanes, [out, x] => index::scatter_add(simd, out, x, list, rows));
            }
            Instruction::Cholesky { lanes, side } => {
                per_lane!(frame, lanes, [out, x] => factor::factor_cholesky(simd, out, x, *side));
            }
            Instruction::Solve {
                form,
                lanes,
                rows,
                side,
            } => {
                let rows = frame.extent_count(*rows);
                if let Some(all) = one_factor(frame, lanes, rows * side) {
                    let at = lanes.at.map(|address| frame.pointer_at(address));
                    factor::solve_triangular(simd, *form, at, (rows * all, *side));
                } else {
                    per_lane!(frame, lanes, at => factor::solve_triangular(simd, *form, at, (rows, *side)));
                }
            }
            Instruction::Tril {
                offset,
                lanes,
                side,
            } => per_lane!(frame, lanes, [out, x] => factor::copy_triangle(*offset, out, x, *side)),
            Instruction::SumLanes {
                to,
                lanes,
                step,
                size,
            } => {
                let apart = (frame.extent_count(*lanes), frame.extent_count(*step));
                reduce::sum_parts(simd, to.map(|a| frame.pointer_at(a)), *size, apart);
            }
            Instruction::Combine { to, size } => {
                let (step, count) = frame.lane_blocks;
                reduce::sum_parts(simd, to.map(|a| frame.pointer_at(a)), *size, (count, step));
            }
            _ => unreachable!("handled by the caller"),
        }
    }
}

/// The number of lanes, if all lanes share a factor and their right sides, of `size` numbers each,
/// are contiguous.
#[inline(always)]
fn one_factor(frame: &BlockFrame, lanes: &PerLane<3>, size: usize) -> Option<usize> {
    let [out, factor, right] = lanes.steps.map(|step| frame.extent_count(step));
    let count = frame.extent_count(lanes.count);
    (count > 1 && factor == 0 && out == size && right == size).then_some(count)
}

/// # Safety
/// As [`execute_instruction`].
#[inline(always)]
unsafe fn row_numbers<'a>(frame: &BlockFrame, rows: &RowSelection) -> &'a [u32] {
    // SAFETY: the workspace holds a whole column, which is not written to during a run.
    unsafe {
        std::slice::from_raw_parts(
            frame.index_pointer(rows.indices),
            frame.extent_count(rows.count),
        )
    }
}
