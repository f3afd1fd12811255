//! A lower bound of a step's time on this machine: its products, at the speed of memory or of
//! arithmetic, and its sigmoids. It is measured at the same time as the step, since memory is
//! shared.

#![expect(
    clippy::inline_always,
    reason = "vector code must be compiled for the set it is dispatched to"
)]

use std::hint::black_box;

use lehr_graph::SimdLevel;
use lehr_graph::{Graph, Plan};
use pulp::{Simd, WithSimd};

use crate::annealed::Size;
use crate::clock::{noise, pool, time};

/// Numbers that are read forwards and backwards before the next ones: 512 rows of 28, a block of
/// rows.
const BLOCK: usize = 512 * 28;
/// Independent sums, so that additions overlap.
const SUMS: usize = 8;

/// Reads all numbers, block by block, each block forwards and then backwards, as X z and Xᵀ r do,
/// with one multiplication and addition per number.
struct ToAndFro<'a> {
    x: &'a [f64],
}

impl WithSimd for ToAndFro<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let factor = simd.splat_f64s(0.5);
        let mut sums = [simd.splat_f64s(0.0); SUMS];
        for block in self.x.chunks(BLOCK) {
            let registers = S::as_simd_f64s(block).0;
            let parts = registers.chunks_exact(SUMS);
            for part in parts.clone().chain(parts.rev()) {
                for (sum, x) in sums.iter_mut().zip(part) {
                    *sum = simd.mul_add_f64s(*x, factor, *sum);
                }
            }
        }
        sums.into_iter().map(|sum| simd.reduce_sum_f64s(sum)).sum()
    }
}

/// Seconds to read `numbers` forwards and backwards.
fn to_and_fro(numbers: usize) -> f64 {
    let x: Vec<f64> = (0..numbers).map(noise).collect();
    let arch = SimdLevel::arch_of_process();
    time(|| {
        black_box(arch.dispatch(ToAndFro { x: &x }));
    })
    .least
}

/// Multiplications and additions on registers alone.
struct Peak {
    turns: usize,
}

impl WithSimd for Peak {
    /// A number that depends on all of them, and how many numbers were multiplied.
    type Output = (f64, usize);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (f64, usize) {
        const CHAINS: usize = 12;
        let (factor, term) = (simd.splat_f64s(0.5), simd.splat_f64s(1.0));
        let mut sums = [term; CHAINS];
        for _ in 0..self.turns {
            for sum in &mut sums {
                *sum = simd.mul_add_f64s(*sum, factor, term);
            }
        }
        let total = sums.into_iter().map(|sum| simd.reduce_sum_f64s(sum)).sum();
        (total, self.turns * CHAINS * S::F64_LANES)
    }
}

/// Seconds per multiplication and addition of one number.
fn peak() -> f64 {
    let arch = SimdLevel::arch_of_process();
    let turns = black_box(1_000);
    let (_, numbers) = arch.dispatch(Peak { turns });
    let run = time(|| {
        black_box(arch.dispatch(Peak { turns }));
    });
    run.least / numbers as f64
}

/// Seconds per sigmoid of one number.
fn sigmoid() -> f64 {
    const NUMBERS: usize = 512;
    let graph = Graph::new();
    let plan = Plan::new(&[graph.input("x", [NUMBERS]).sigmoid()], 1);
    let mut workspace = plan.workspace();
    pool(1).install(|| time(|| plan.run(&mut workspace))).least / NUMBERS as f64
}

/// Prints steps and the lower bounds of their times.
pub(crate) fn table() {
    println!("What a step needs at least, one thread, all gradients");
    println!("(products: rows read to and fro by a loop, or arithmetic at peak, the longer)");
    println!("method    K lanes    D      step    median  products  sigmoids  share");
    let cases = |make: fn(usize, usize, usize) -> Size, steps: [usize; 2]| {
        let sizes = steps
            .into_iter()
            .flat_map(|k| [1, 16].map(|lanes| (k, lanes)));
        sizes.flat_map(move |(k, lanes)| [18, 28, 54].map(|dim| make(k, dim, lanes)))
    };
    for (name, size) in cases(Size::surrogate, [8, 16])
        .map(|size| ("SL-DAIS", size))
        .chain(cases(Size::full, [2, 4]).map(|size| ("DAIS", size)))
    {
        // A slope for every leapfrog step, its derivative, and the log likelihood at the end.
        let passes = (2 * size.steps + 1) as f64;
        let numbers = size.driving * size.dim;
        let arithmetic = 2.0 * (numbers * size.lanes) as f64 * peak();
        let products = passes * to_and_fro(numbers).max(arithmetic);
        let values = (size.steps + 1) * size.driving * size.lanes;
        let sigmoids = values as f64 * sigmoid();
        let step = size.time(1);
        let share = (products + sigmoids) / step.least;
        println!(
            "{name:7} {:3} {:5} {:4} {} {:9.2} {:9.2} {share:6.2}",
            size.steps,
            size.lanes,
            size.dim,
            step.micros(),
            products * 1e6,
            sigmoids * 1e6,
        );
    }
    println!();
}
