//! Elementwise loops: one run after another of the grid, in registers.

use pulp::Simd;

use super::frame::BlockFrame;
use super::turn::{StridedRows, transpose_lanes};
use super::vector::{
    halved, lane_width, line_place, load_lanes, load_part, store_first, store_lanes, store_part,
};
use crate::instruction::{Arithmetic, ArrayAddress, LoopGrid, Write};
use crate::instruction::{CompactAddress, Short};
use crate::math::{self, choose_lanes};
use crate::primitive::{Binary, Unary};

/// The most loops around a run: lanes and the event's axes.
const LOOPS: usize = 1 + crate::shape::MAX_RANK;

/// Calls `f` with the pointers of result and operands at the start of each run.
///
/// It is one flat loop that counts like an odometer. A recursion could not be inlined, and code
/// that is not inlined is compiled without vector instructions.
#[inline(always)]
unsafe fn each_run<const N: usize>(
    frame: &BlockFrame,
    to: &[ArrayAddress; N],
    grid: &LoopGrid,
    mut f: impl FnMut([*mut f64; N], usize),
) {
    // SAFETY: addresses of this plan.
    let mut at: [*mut f64; N] = std::array::from_fn(|k| unsafe { frame.pointer_at(to[k]) });
    let run = frame.extent_count(grid.run);
    let loops = grid.outer.len();
    if loops == 0 {
        return f(at, run);
    }
    let mut counts = [0; LOOPS];
    let mut steps = [[0; N]; LOOPS];
    let mut total = 1;
    for (d, dim) in grid.outer.iter().enumerate() {
        counts[d] = frame.extent_count(dim.count);
        total *= counts[d];
        steps[d] = std::array::from_fn(|k| frame.extent_count(dim.steps[k]));
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

/// One operand along a run: a register per step, or the same register throughout. Both are loads,
/// so that the loop has no branch.
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
        // SAFETY: the caller stays within the run; a held operand is a whole register.
        unsafe { load_lanes::<S>(self.from.add(i & self.mask)) }
    }

    /// A register of which only the first number counts.
    #[inline(always)]
    unsafe fn one<S: Simd>(self, simd: S, i: usize) -> S::f64s {
        // SAFETY: as above.
        unsafe { simd.splat_f64s(*self.from.add(i & self.mask)) }
    }

    #[inline(always)]
    unsafe fn part<S: Simd>(self, simd: S, i: usize, count: usize) -> S::f64s {
        // SAFETY: as above.
        unsafe { load_part(simd, self.from.add(i & self.mask), count) }
    }
}

/// Runs a short body over a run: whole registers, four per turn, then number by number. That is
/// faster than partial registers, because a load waits for a partial store before it. The operands
/// are registers within the body. This is a macro and not a function of a closure, because a
/// closure may stay a call that is compiled without vector instructions.
macro_rules! short {
    ($simd:ident, $out:ident, $n:ident, $($x:ident),* => $body:expr) => {{
        let w = lane_width::<S>();
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
                store_lanes::<S>($out.add(i + k * w), result);
            }
            i += 4 * w;
        }
        while i + w <= $n {
            let ($($x,)*) = lanes;
            $(let $x = $x.get::<S>(i);)*
            store_lanes::<S>($out.add(i), $body);
            i += w;
        }
        while i < $n {
            let ($($x,)*) = lanes;
            $(let $x = $x.one($simd, i);)*
            store_first::<S>($out.add(i), $body);
            i += 1;
        }
    }};
}

/// As [`short`], but the body appears once: it is a long polynomial, and copies of it would
/// dominate the compile time of this crate.
macro_rules! function {
    ($simd:ident, $out:ident, $n:ident, $($x:ident),* => $body:expr) => {{
        let w = lane_width::<S>();
        let lanes = ($($x,)*);
        let mut i = 0;
        while i < $n {
            let whole = i + w <= $n;
            let ($($x,)*) = lanes;
            $(let $x = if whole { $x.get::<S>(i) } else { $x.part($simd, i, $n - i) };)*
            let result = $body;
            if whole {
                store_lanes::<S>($out.add(i), result);
            } else {
                store_part($simd, $out.add(i), $n - i, result);
            }
            i += w;
        }
    }};
}

/// The body along one run, by the pointers and steps of result and operands.
macro_rules! along {
    ($map:ident, $simd:ident, $at:ident, $steps:ident, $n:ident, $($k:literal $x:ident),* => $body:expr) => {{
        let out = $at[0];
        $(
            let held = $simd.splat_f64s(if $steps[$k] == 0 { *$at[$k] } else { 0.0 });
            let $x = Lane::new::<S>($at[$k], $steps[$k], &held);
        )*
        $map!($simd, out, $n, $($x),* => $body);
    }};
}

/// As [`along`] with a short body. A run of one number, as a third of them are, takes no loop.
macro_rules! arithmetic {
    ($simd:ident, $at:ident, $steps:ident, $n:ident, $($k:literal $x:ident),* => $body:expr) => {{
        if $n == 1 {
            $(let $x = $simd.splat_f64s(*$at[$k]);)*
            store_first::<S>($at[0], $body);
        } else {
            along!(short, $simd, $at, $steps, $n, $($k $x),* => $body);
        }
    }};
}

/// # Safety
/// The addresses and the grid must belong to the frame's plan.
#[inline(always)]
pub(super) unsafe fn run_arithmetic<S: Simd>(
    simd: S,
    frame: &BlockFrame,
    op: Arithmetic,
    to: &[ArrayAddress; 4],
    grid: &LoopGrid,
) {
    let steps = grid.steps;
    // SAFETY: runs of this grid.
    unsafe {
        each_run(
            frame,
            to,
            grid,
            #[inline(always)]
            |at, n| run_operation(simd, op, at, steps, n),
        );
    }
}

/// # Safety
/// The list must belong to the frame's plan.
#[inline(always)]
pub(super) unsafe fn run_sequence<S: Simd>(simd: S, frame: &BlockFrame, list: &[Short]) {
    for short in list {
        let steps = short.to.map(CompactAddress::step);
        // SAFETY: addresses of this plan.
        unsafe {
            let at = short.to.map(|place| frame.at_place(place));
            run_operation(simd, short.op, at, steps, short.lane_count(frame.lanes));
        }
    }
}

/// One run of arithmetic. A rest of up to seven numbers after registers of eight is too long to do
/// number by number, so registers of four do it.
///
/// # Safety
/// The result and the operands with a step must be valid for `n` numbers, the others for one.
#[inline(always)]
unsafe fn run_operation<S: Simd>(
    simd: S,
    op: Arithmetic,
    at: [*mut f64; 4],
    steps: [usize; 4],
    n: usize,
) {
    let w = lane_width::<S>();
    let rest = n % w;
    // SAFETY: the same run in two parts.
    unsafe {
        let (Some(half), 1..) = (halved(simd), rest) else {
            return run_on(simd, op, at, steps, n);
        };
        let whole = n - rest;
        if whole > 0 {
            run_on(simd, op, at, steps, whole);
        }
        let at = std::array::from_fn(|k| at[k].wrapping_add(whole * steps[k]));
        run_on(half, op, at, steps, rest);
    }
}

/// # Safety
/// As [`run_operation`].
#[inline(always)]
unsafe fn run_on<S: Simd>(simd: S, op: Arithmetic, at: [*mut f64; 4], steps: [usize; 4], n: usize) {
    let (one, zero) = (simd.splat_f64s(1.0), simd.splat_f64s(0.0));
    // SAFETY: no access beyond the end of the run.
    unsafe {
        match op {
            Arithmetic::Neg => arithmetic!(simd, at, steps, n, 1 x => simd.neg_f64s(x)),
            Arithmetic::Abs => arithmetic!(simd, at, steps, n, 1 x => simd.abs_f64s(x)),
            Arithmetic::Sqrt => arithmetic!(simd, at, steps, n, 1 x => simd.sqrt_f64s(x)),
            Arithmetic::Recip => arithmetic!(simd, at, steps, n, 1 x => simd.div_f64s(one, x)),
            Arithmetic::Square => arithmetic!(simd, at, steps, n, 1 x => simd.mul_f64s(x, x)),
            Arithmetic::Add => arithmetic!(simd, at, steps, n, 1 x, 2 y => simd.add_f64s(x, y)),
            Arithmetic::Sub => arithmetic!(simd, at, steps, n, 1 x, 2 y => simd.sub_f64s(x, y)),
            Arithmetic::Mul => arithmetic!(simd, at, steps, n, 1 x, 2 y => simd.mul_f64s(x, y)),
            Arithmetic::Div => arithmetic!(simd, at, steps, n, 1 x, 2 y => simd.div_f64s(x, y)),
            Arithmetic::Sign => {
                let minus = simd.splat_f64s(-1.0);
                arithmetic!(simd, at, steps, n, 1 x => {
                    let below = choose_lanes(simd, simd.less_than_f64s(x, zero), minus, x);
                    choose_lanes(simd, simd.less_than_f64s(zero, x), one, below)
                });
            }
            // The machine's own minimum would return the second operand where the first is NaN.
            Arithmetic::Min => arithmetic!(simd, at, steps, n, 1 x, 2 y => {
                let less = choose_lanes(simd, simd.less_than_or_equal_f64s(x, y), x, y);
                choose_lanes(simd, simd.equal_f64s(x, x), less, x)
            }),
            Arithmetic::Max => arithmetic!(simd, at, steps, n, 1 x, 2 y => {
                let more = choose_lanes(simd, simd.less_than_or_equal_f64s(y, x), x, y);
                choose_lanes(simd, simd.equal_f64s(x, x), more, x)
            }),
            Arithmetic::Less => {
                arithmetic!(simd, at, steps, n, 1 x, 2 y => choose_lanes(simd, simd.less_than_f64s(x, y), one, zero));
            }
            Arithmetic::LessEqual => {
                arithmetic!(simd, at, steps, n, 1 x, 2 y => {
                    choose_lanes(simd, simd.less_than_or_equal_f64s(x, y), one, zero)
                });
            }
            Arithmetic::Equal => {
                arithmetic!(simd, at, steps, n, 1 x, 2 y => choose_lanes(simd, simd.equal_f64s(x, y), one, zero));
            }
            Arithmetic::MulAdd => {
                arithmetic!(simd, at, steps, n, 1 x, 2 y, 3 z => simd.mul_add_f64s(x, y, z));
            }
            Arithmetic::MulSub => {
                arithmetic!(simd, at, steps, n, 1 x, 2 y, 3 z => simd.mul_add_f64s(x, y, simd.neg_f64s(z)));
            }
            Arithmetic::NegMulAdd => {
                arithmetic!(simd, at, steps, n, 1 x, 2 y, 3 z => simd.mul_add_f64s(simd.neg_f64s(x), y, z));
            }
            Arithmetic::Select => {
                arithmetic!(simd, at, steps, n, 1 x, 2 y, 3 z => choose_lanes(simd, simd.equal_f64s(x, zero), z, y));
            }
        }
    }
}

/// The body over all runs of a grid with one operand.
macro_rules! each {
    ($map:ident, $simd:ident, $frame:ident, $to:ident, $grid:ident, $x:ident => $body:expr) => {{
        let steps = $grid.steps;
        // SAFETY: runs of this grid, and no access beyond the end of a run.
        unsafe {
            each_run($frame, $to, $grid, #[inline(always)] |at, n| {
                along!($map, $simd, at, steps, n, 1 $x => $body);
            });
        }
    }};
}

/// # Safety
/// The addresses and the grid must belong to the frame's plan.
#[inline(always)]
pub(super) unsafe fn run_unary<S: Simd>(
    simd: S,
    frame: &BlockFrame,
    op: Unary,
    to: &[ArrayAddress; 2],
    grid: &LoopGrid,
) {
    match op {
        Unary::Exp => each!(function, simd, frame, to, grid, x => math::exp(simd, x)),
        Unary::Expm1 => each!(function, simd, frame, to, grid, x => math::expm1(simd, x)),
        Unary::Ln => each!(function, simd, frame, to, grid, x => math::ln(simd, x)),
        Unary::Log1p => each!(function, simd, frame, to, grid, x => math::log1p(simd, x)),
        Unary::Sigmoid => each!(short, simd, frame, to, grid, x => math::sigmoid(simd, x)),
        Unary::Softplus => each!(function, simd, frame, to, grid, x => math::softplus(simd, x)),
        Unary::Tanh => each!(function, simd, frame, to, grid, x => math::tanh(simd, x)),
        Unary::NormalLogCdf => {
            each!(function, simd, frame, to, grid, x => math::normal_log_cdfs(simd, x));
        }
        Unary::InverseMills => {
            each!(function, simd, frame, to, grid, x => math::inverse_mills_ratios(simd, x));
        }
        // SAFETY: runs of this grid.
        _ => unsafe {
            each_run(
                frame,
                to,
                grid,
                #[inline(always)]
                |[out, x], n| {
                    for i in 0..n {
                        *out.add(i) = op.value_at(*x.add(i * grid.steps[1]));
                    }
                },
            );
        },
    }
}

/// Softplus and sigmoid together.
///
/// # Safety
/// The addresses and the grid must belong to the frame's plan.
#[inline(always)]
pub(super) unsafe fn run_logistic<S: Simd>(
    simd: S,
    frame: &BlockFrame,
    to: &[ArrayAddress; 3],
    grid: &LoopGrid,
) {
    let w = lane_width::<S>();
    let step = grid.steps[2];
    // SAFETY: runs of this grid, and no access beyond the end of a run.
    unsafe {
        each_run(
            frame,
            to,
            grid,
            #[inline(always)]
            |[softplus, sigmoid, x], n| {
                let held = simd.splat_f64s(if step == 0 { *x } else { 0.0 });
                let x = Lane::new::<S>(x, step, &held);
                for i in (0..n).step_by(w) {
                    let count = w.min(n - i);
                    if count == w {
                        let (slope, value) = math::sigmoid_softplus(simd, x.get::<S>(i));
                        store_lanes::<S>(softplus.add(i), value);
                        store_lanes::<S>(sigmoid.add(i), slope);
                    } else {
                        let x = x.part(simd, i, count);
                        let (slope, value) = math::sigmoid_softplus(simd, x);
                        store_part(simd, softplus.add(i), count, value);
                        store_part(simd, sigmoid.add(i), count, slope);
                    }
                }
            },
        );
    }
}

/// # Safety
/// The addresses and the grid must belong to the frame's plan.
pub(super) unsafe fn run_binary(
    frame: &BlockFrame,
    op: Binary,
    to: &[ArrayAddress; 3],
    grid: &LoopGrid,
) {
    // SAFETY: runs of this grid.
    unsafe {
        each_run(frame, to, grid, |[out, x, y], n| {
            for i in 0..n {
                let y = *y.add(i * grid.steps[2]);
                *out.add(i) = op.value_at(*x.add(i * grid.steps[1]), y);
            }
        });
    }
}

/// # Safety
/// The addresses and the grid must belong to the frame's plan.
#[inline(always)]
pub(super) unsafe fn copy_array<S: Simd>(
    simd: S,
    frame: &BlockFrame,
    to: &[ArrayAddress; 2],
    grid: &LoopGrid,
) {
    let [into, from, ..] = grid.steps;
    // SAFETY: runs of this grid.
    unsafe {
        if let ([lines], 1, 2..) = (&grid.outer[..], into, from)
            && frame.extent_count(lines.steps[1]) == 1
        {
            return transpose_array(simd, frame, to, grid);
        }
        each_run(frame, to, grid, |[out, x], n| match (into, from) {
            (1, 1) => std::ptr::copy_nonoverlapping(x, out, n),
            (1, 0) => std::slice::from_raw_parts_mut(out, n).fill(*x),
            _ => {
                for i in 0..n {
                    *out.add(line_place(i, into, 0)) = *x.add(line_place(i, from, 0));
                }
            }
        });
    }
}

/// A copy whose runs go down the columns of a matrix, one column after another.
#[inline(always)]
unsafe fn transpose_array<S: Simd>(
    simd: S,
    frame: &BlockFrame,
    to: &[ArrayAddress; 2],
    grid: &LoopGrid,
) {
    let columns = &grid.outer[0];
    // SAFETY: addresses of this plan.
    let [out, x] = to.map(|address| unsafe { frame.pointer_at(address) });
    let (from, to) = (
        StridedRows {
            at: x,
            step: grid.steps[1],
        },
        StridedRows {
            at: out,
            step: frame.extent_count(columns.steps[0]),
        },
    );
    let size = (
        frame.extent_count(grid.run),
        frame.extent_count(columns.count),
    );
    // SAFETY: the planner keeps results apart from operands.
    unsafe { transpose_lanes(simd, (from, to), size, Write::Replace) };
}
