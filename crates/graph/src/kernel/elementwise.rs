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

/// One operand along a run: a register per step, or the same register throughout. Either way a
/// load, so that the loop has no branch.
#[derive(Clone, Copy)]
struct Lane {
    from: *const f64,
    /// All ones where the operand moves along the run, else zero.
    mask: usize,
}

impl Lane {
    /// `held` is a register full of the operand's first number.
    #[inline(always)]
    fn new<S: Simd>(from: *const f64, step: usize, held: &S::f64s) -> Lane {
        if step == 0 {
            Lane {
                from: std::ptr::from_ref(held).cast(),
                mask: 0,
            }
        } else {
            Lane {
                from,
                mask: usize::MAX,
            }
        }
    }

    #[inline(always)]
    unsafe fn get<S: Simd>(self, i: usize) -> S::f64s {
        // SAFETY: the caller stays within the run; what is held is a whole register.
        unsafe { load::<S>(self.from.add(i & self.mask)) }
    }

    #[inline(always)]
    unsafe fn part<S: Simd>(self, simd: S, i: usize, count: usize) -> S::f64s {
        // SAFETY: as above.
        unsafe { load_part(simd, self.from.add(i & self.mask), count) }
    }
}

/// Runs a short body over a run: whole registers, four per turn, then what is left. The operands
/// are registers within the body. A macro and not a function of a closure: a closure may stay a
/// call, compiled without the vector instructions.
macro_rules! arithmetic {
    ($simd:ident, $out:ident, $n:ident, $($x:ident),* => $body:expr) => {{
        let w = width::<S>();
        let lanes = ($($x,)*);
        let mut i = 0;
        while i + 4 * w <= $n {
            let mut results = [$simd.splat_f64s(0.0); 4];
            for (k, result) in results.iter_mut().enumerate() {
                let ($($x,)*) = lanes;
                $(let $x = $x.get::<S>(i + k * w);)*
                *result = $body;
            }
            for (k, result) in results.into_iter().enumerate() {
                store::<S>($out.add(i + k * w), result);
            }
            i += 4 * w;
        }
        while i + w <= $n {
            let ($($x,)*) = lanes;
            $(let $x = $x.get::<S>(i);)*
            store::<S>($out.add(i), $body);
            i += w;
        }
        if i < $n {
            let ($($x,)*) = lanes;
            $(let $x = $x.part($simd, i, $n - i);)*
            store_part($simd, $out.add(i), $n - i, $body);
        }
    }};
}

/// As [`arithmetic`], with the body once: it is a long polynomial, and copies of those are what
/// compiling this crate would spend its time on.
macro_rules! function {
    ($simd:ident, $out:ident, $n:ident, $($x:ident),* => $body:expr) => {{
        let w = width::<S>();
        let lanes = ($($x,)*);
        let mut i = 0;
        while i < $n {
            let whole = i + w <= $n;
            let ($($x,)*) = lanes;
            $(let $x = if whole { $x.get::<S>(i) } else { $x.part($simd, i, $n - i) };)*
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
    ($map:ident, $simd:ident, $frame:ident, $to:ident, $grid:ident, $($k:literal $x:ident),* => $body:expr) => {
        // SAFETY: runs of this grid, and no access beyond the end of a run.
        unsafe {
            each_run($frame, $to, $grid, #[inline(always)] |at, n| {
                let out = at[0];
                $(
                    let step = $grid.steps[$k];
                    let held = $simd.splat_f64s(if step == 0 { *at[$k] } else { 0.0 });
                    let $x = Lane::new::<S>(at[$k], step, &held);
                )*
                $map!($simd, out, n, $($x),* => $body);
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
        Unary::Neg => vector!(arithmetic, simd, frame, to, grid, 1 x => simd.neg_f64s(x)),
        Unary::Abs => vector!(arithmetic, simd, frame, to, grid, 1 x => simd.abs_f64s(x)),
        Unary::Exp => vector!(function, simd, frame, to, grid, 1 x => math::exp(simd, x)),
        Unary::Expm1 => vector!(function, simd, frame, to, grid, 1 x => math::expm1(simd, x)),
        Unary::Ln => vector!(function, simd, frame, to, grid, 1 x => math::ln(simd, x)),
        Unary::Log1p => vector!(function, simd, frame, to, grid, 1 x => math::log1p(simd, x)),
        Unary::Sqrt => vector!(arithmetic, simd, frame, to, grid, 1 x => simd.sqrt_f64s(x)),
        Unary::Recip => vector!(arithmetic, simd, frame, to, grid, 1 x => simd.div_f64s(one, x)),
        Unary::Square => vector!(arithmetic, simd, frame, to, grid, 1 x => simd.mul_f64s(x, x)),
        Unary::Sigmoid => vector!(arithmetic, simd, frame, to, grid, 1 x => math::sigmoid(simd, x)),
        Unary::Softplus => vector!(function, simd, frame, to, grid, 1 x => math::softplus(simd, x)),
        Unary::Tanh => vector!(function, simd, frame, to, grid, 1 x => math::tanh(simd, x)),
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
        Binary::Add => vector!(arithmetic, simd, frame, to, grid, 1 x, 2 y => simd.add_f64s(x, y)),
        Binary::Sub => vector!(arithmetic, simd, frame, to, grid, 1 x, 2 y => simd.sub_f64s(x, y)),
        Binary::Mul => vector!(arithmetic, simd, frame, to, grid, 1 x, 2 y => simd.mul_f64s(x, y)),
        Binary::Div => vector!(arithmetic, simd, frame, to, grid, 1 x, 2 y => simd.div_f64s(x, y)),
        Binary::Less => {
            vector!(arithmetic, simd, frame, to, grid, 1 x, 2 y => simd.select_f64s(simd.less_than_f64s(x, y), one, zero));
        }
        Binary::LessEqual => {
            vector!(arithmetic, simd, frame, to, grid, 1 x, 2 y => simd.select_f64s(simd.less_than_or_equal_f64s(x, y), one, zero));
        }
        Binary::Equal => {
            vector!(arithmetic, simd, frame, to, grid, 1 x, 2 y => simd.select_f64s(simd.equal_f64s(x, y), one, zero));
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
            vector!(arithmetic, simd, frame, to, grid, 1 x, 2 y, 3 z => simd.mul_add_f64s(x, y, z));
        }
        Fused::MulSub => {
            vector!(arithmetic, simd, frame, to, grid, 1 x, 2 y, 3 z => simd.mul_add_f64s(x, y, simd.neg_f64s(z)));
        }
        Fused::NegMulAdd => {
            vector!(arithmetic, simd, frame, to, grid, 1 x, 2 y, 3 z => simd.mul_add_f64s(simd.neg_f64s(x), y, z));
        }
    }
}

/// # Safety
/// The addresses and the grid must belong to the frame's plan.
#[inline(always)]
pub(super) unsafe fn select<S: Simd>(simd: S, frame: &Frame, to: &[Address; 4], grid: &Grid) {
    let zero = simd.splat_f64s(0.0);
    vector!(arithmetic, simd, frame, to, grid, 1 c, 2 a, 3 b =>
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
