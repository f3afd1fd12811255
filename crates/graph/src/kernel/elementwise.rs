//! Elementwise loops: one run after another of the grid, in registers.

use pulp::Simd;

use super::frame::Frame;
use super::math;
use super::vector::{load, load_part, store, store_part, width};
use crate::plan::instruction::{Address, Fused, Grid};
use crate::primitive::{Binary, Unary};

/// Loops around a run, at the most: lanes and the event's axes.
const LOOPS: usize = 1 + crate::shape::MAX_RANK;

/// Calls `f` with the pointers of result and operands at the start of each run.
///
/// One flat loop that counts like an odometer: a recursion could not be inlined, and what is
/// not inlined is compiled without vector instructions.
#[inline(always)]
unsafe fn each_run<const N: usize>(
    frame: &Frame,
    to: &[Address; N],
    grid: &Grid,
    mut f: impl FnMut([*mut f64; N], usize),
) {
    // SAFETY: addresses of this plan.
    let mut at: [*mut f64; N] = std::array::from_fn(|k| unsafe { frame.at(to[k]) });
    let run = frame.count(grid.run);
    let loops = grid.outer.len();
    if loops == 0 {
        return f(at, run);
    }
    let mut counts = [0; LOOPS];
    let mut steps = [[0; N]; LOOPS];
    let mut total = 1;
    for (d, dim) in grid.outer.iter().enumerate() {
        counts[d] = frame.count(dim.count);
        total *= counts[d];
        steps[d] = std::array::from_fn(|k| frame.count(dim.steps[k]));
    }
    let mut done = [0; LOOPS];
    for _ in 0..total {
        f(at, run);
        for d in (0..loops).rev() {
            done[d] += 1;
            for k in 0..N {
                at[k] = at[k].wrapping_add(steps[d][k]);
            }
            if done[d] < counts[d] {
                break;
            }
            done[d] = 0;
            for k in 0..N {
                at[k] = at[k].wrapping_sub(steps[d][k] * counts[d]);
            }
        }
    }
}

/// One operand along a run: a register per step, or one number throughout.
#[derive(Clone, Copy)]
struct Lane<S: Simd> {
    from: *const f64,
    moves: bool,
    splat: S::f64s,
}

impl<S: Simd> Lane<S> {
    #[inline(always)]
    unsafe fn new(simd: S, from: *const f64, step: usize) -> Lane<S> {
        // SAFETY: a run has at least one number.
        let splat = simd.splat_f64s(if step == 0 { unsafe { *from } } else { 0.0 });
        Lane {
            from,
            moves: step != 0,
            splat,
        }
    }

    #[inline(always)]
    unsafe fn get(&self, i: usize) -> S::f64s {
        // SAFETY: the caller stays within the run.
        if self.moves {
            unsafe { load::<S>(self.from.add(i)) }
        } else {
            self.splat
        }
    }

    #[inline(always)]
    unsafe fn part(&self, simd: S, i: usize, count: usize) -> S::f64s {
        // SAFETY: the caller stays within the run.
        if self.moves {
            unsafe { load_part(simd, self.from.add(i), count) }
        } else {
            self.splat
        }
    }
}

/// Runs a body over a run, one register per turn; the last may be partial. The operands are
/// registers within the body. A macro and not a function of a closure: a closure may stay a
/// call, compiled without the vector instructions. The body stands here once, since some are
/// long polynomials and copies of them are what compiling this crate spends its time on.
macro_rules! map {
    ($simd:ident, $out:ident, $n:ident, $($x:ident),* => $body:expr) => {{
        let w = width::<S>();
        let lanes = ($($x,)*);
        let mut i = 0;
        while i < $n {
            let whole = i + w <= $n;
            let ($($x,)*) = lanes;
            $(let $x = if whole { $x.get(i) } else { $x.part($simd, i, $n - i) };)*
            let result = $body;
            if whole {
                store::<S>($out.add(i), result);
            } else {
                store_part($simd, $out.add(i), $n - i, result);
            }
            i += w;
        }
    }};
}

/// The body over all runs of a grid, for operands `1..` of `to`.
macro_rules! vector {
    ($simd:ident, $frame:ident, $to:ident, $grid:ident, $($k:literal $x:ident),* => $body:expr) => {
        // SAFETY: runs of this grid, and no access beyond the end of a run.
        unsafe {
            each_run($frame, $to, $grid, #[inline(always)] |at, n| {
                let out = at[0];
                $(let $x = Lane::<S>::new($simd, at[$k], $grid.steps[$k]);)*
                map!($simd, out, n, $($x),* => $body);
            });
        }
    };
}

/// # Safety
/// The addresses and the grid must belong to the frame's plan.
#[inline(always)]
pub(super) unsafe fn unary<S: Simd>(
    simd: S,
    frame: &Frame,
    op: Unary,
    to: &[Address; 2],
    grid: &Grid,
) {
    let one = simd.splat_f64s(1.0);
    match op {
        Unary::Neg => vector!(simd, frame, to, grid, 1 x => simd.neg_f64s(x)),
        Unary::Abs => vector!(simd, frame, to, grid, 1 x => simd.abs_f64s(x)),
        Unary::Exp => vector!(simd, frame, to, grid, 1 x => math::exp(simd, x)),
        Unary::Expm1 => vector!(simd, frame, to, grid, 1 x => math::expm1(simd, x)),
        Unary::Ln => vector!(simd, frame, to, grid, 1 x => math::ln(simd, x)),
        Unary::Log1p => vector!(simd, frame, to, grid, 1 x => math::log1p(simd, x)),
        Unary::Sqrt => vector!(simd, frame, to, grid, 1 x => simd.sqrt_f64s(x)),
        Unary::Recip => vector!(simd, frame, to, grid, 1 x => simd.div_f64s(one, x)),
        Unary::Square => vector!(simd, frame, to, grid, 1 x => simd.mul_f64s(x, x)),
        Unary::Sigmoid => vector!(simd, frame, to, grid, 1 x => math::sigmoid(simd, x)),
        Unary::Softplus => vector!(simd, frame, to, grid, 1 x => math::softplus(simd, x)),
        Unary::Tanh => vector!(simd, frame, to, grid, 1 x => math::tanh(simd, x)),
        // SAFETY: runs of this grid.
        _ => unsafe {
            each_run(
                frame,
                to,
                grid,
                #[inline(always)]
                |[out, x], n| {
                    for i in 0..n {
                        *out.add(i) = op.value(*x.add(i * grid.steps[1]));
                    }
                },
            );
        },
    }
}

/// # Safety
/// The addresses and the grid must belong to the frame's plan.
#[inline(always)]
pub(super) unsafe fn binary<S: Simd>(
    simd: S,
    frame: &Frame,
    op: Binary,
    to: &[Address; 3],
    grid: &Grid,
) {
    let (one, zero) = (simd.splat_f64s(1.0), simd.splat_f64s(0.0));
    match op {
        Binary::Add => vector!(simd, frame, to, grid, 1 x, 2 y => simd.add_f64s(x, y)),
        Binary::Sub => vector!(simd, frame, to, grid, 1 x, 2 y => simd.sub_f64s(x, y)),
        Binary::Mul => vector!(simd, frame, to, grid, 1 x, 2 y => simd.mul_f64s(x, y)),
        Binary::Div => vector!(simd, frame, to, grid, 1 x, 2 y => simd.div_f64s(x, y)),
        Binary::Less => {
            vector!(simd, frame, to, grid, 1 x, 2 y => simd.select_f64s(simd.less_than_f64s(x, y), one, zero));
        }
        Binary::LessEqual => {
            vector!(simd, frame, to, grid, 1 x, 2 y => simd.select_f64s(simd.less_than_or_equal_f64s(x, y), one, zero));
        }
        Binary::Equal => {
            vector!(simd, frame, to, grid, 1 x, 2 y => simd.select_f64s(simd.equal_f64s(x, y), one, zero));
        }
        // These must treat NaN as the reference does, which machine instructions do not.
        Binary::Pow | Binary::Min | Binary::Max => {
            // SAFETY: runs of this grid.
            unsafe {
                each_run(frame, to, grid, |[out, x, y], n| {
                    for i in 0..n {
                        let y = *y.add(i * grid.steps[2]);
                        *out.add(i) = op.value(*x.add(i * grid.steps[1]), y);
                    }
                });
            }
        }
    }
}

/// # Safety
/// The addresses and the grid must belong to the frame's plan.
#[inline(always)]
pub(super) unsafe fn fused<S: Simd>(
    simd: S,
    frame: &Frame,
    op: Fused,
    to: &[Address; 4],
    grid: &Grid,
) {
    match op {
        Fused::MulAdd => {
            vector!(simd, frame, to, grid, 1 x, 2 y, 3 z => simd.mul_add_f64s(x, y, z));
        }
        Fused::MulSub => {
            vector!(simd, frame, to, grid, 1 x, 2 y, 3 z => simd.mul_add_f64s(x, y, simd.neg_f64s(z)));
        }
        Fused::NegMulAdd => {
            vector!(simd, frame, to, grid, 1 x, 2 y, 3 z => simd.mul_add_f64s(simd.neg_f64s(x), y, z));
        }
    }
}

/// # Safety
/// The addresses and the grid must belong to the frame's plan.
#[inline(always)]
pub(super) unsafe fn select<S: Simd>(simd: S, frame: &Frame, to: &[Address; 4], grid: &Grid) {
    let zero = simd.splat_f64s(0.0);
    vector!(simd, frame, to, grid, 1 c, 2 a, 3 b =>
        simd.select_f64s(simd.equal_f64s(c, zero), b, a));
}

/// # Safety
/// The addresses and the grid must belong to the frame's plan.
pub(super) unsafe fn copy(frame: &Frame, to: &[Address; 2], grid: &Grid) {
    let [into, from, ..] = grid.steps;
    // SAFETY: runs of this grid.
    unsafe {
        each_run(frame, to, grid, |[out, x], n| match (into, from) {
            (1, 1) => std::ptr::copy_nonoverlapping(x, out, n),
            (1, 0) => std::slice::from_raw_parts_mut(out, n).fill(*x),
            _ => {
                for i in 0..n {
                    *out.add(i * into) = *x.add(i * from);
                }
            }
        });
    }
}
