//! Prints the time per element of each vector function and of the standard library's.

#![expect(
    clippy::inline_always,
    reason = "vector code must be compiled for the set it is dispatched to"
)]

use lehr_graph::SimdLevel;
use lehr_graph::math::{self, map};
use pulp::{Simd, WithSimd};
use std::hint::black_box;
use std::time::Instant;

const LENGTH: usize = 256;
const CALLS: u32 = 4_000;
const ROUNDS: u32 = 15;

/// Best time per element over the rounds, in nanoseconds.
fn nanoseconds(mut run: impl FnMut(&[f64], &mut [f64]), x: &[f64]) -> f64 {
    let mut out = vec![0.0; x.len()];
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..CALLS {
            run(black_box(x), black_box(&mut out));
        }
        let elapsed = start.elapsed().as_secs_f64() / f64::from(CALLS);
        best = best.min(elapsed / x.len() as f64 * 1e9);
    }
    best
}

fn report(name: &str, vector: f64, scalar: f64) {
    let block = vector * LENGTH as f64 / 1e3;
    let ratio = scalar / vector;
    println!("{name:>17} {vector:7.2} {scalar:7.2} {ratio:6.1}x {block:9.3}");
}

#[inline(always)]
fn sum_of_pair<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let (sigmoid, softplus) = math::sigmoid_softplus(simd, x);
    simd.add_f64s(sigmoid, softplus)
}

macro_rules! compare {
    ($name:literal, $x:expr, $vector:expr, $scalar:expr) => {{
        struct Op<'a>(&'a [f64], &'a mut [f64]);
        impl WithSimd for Op<'_> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) {
                map(
                    simd,
                    self.0,
                    self.1,
                    #[inline(always)]
                    |simd, x| $vector(simd, x),
                );
            }
        }
        let arch = SimdLevel::arch_of_process();
        let vector = nanoseconds(|x, out| arch.dispatch(Op(x, out)), $x);
        let scalar = nanoseconds(
            |x, out| {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = $scalar(*x);
                }
            },
            $x,
        );
        report($name, vector, scalar);
    }};
}

fn main() {
    let wide: Vec<f64> = (0..LENGTH).map(|i| i as f64 * 0.071 - 9.0).collect();
    let positive: Vec<f64> = wide.iter().map(|x| x.exp()).collect();
    println!("         function  vector  scalar  ratio  µs per {LENGTH} (vector)");
    compare!("exp", &wide, math::exp, f64::exp);
    compare!("expm1", &wide, math::expm1, f64::exp_m1);
    compare!("ln", &positive, math::ln, f64::ln);
    compare!("log1p", &positive, math::log1p, f64::ln_1p);
    compare!("sigmoid", &wide, math::sigmoid, |x: f64| 1.0
        / (1.0 + (-x).exp()));
    compare!("softplus", &wide, math::softplus, |x: f64| x.max(0.0)
        + (-x.abs()).exp().ln_1p());
    compare!("sigmoid+softplus", &wide, sum_of_pair, |x: f64| 1.0
        / (1.0 + (-x).exp())
        + x.max(0.0)
        + (-x.abs()).exp().ln_1p());
    compare!("tanh", &wide, math::tanh, f64::tanh);
}
