//! Value, gradient and Hessian-vector product of the logistic log likelihood: the plan and a
//! hand-written loop.

#![expect(
    clippy::inline_always,
    reason = "vector code must be compiled for the set it is dispatched to"
)]

use lehr_graph::SimdLevel;
use lehr_graph::math;
use lehr_graph::{Graph, Plan, Workspace};
use pulp::{Simd, WithSimd};

use crate::clock::{noise, pool, time};

const ROWS: usize = 256;
const WIDTH: usize = 28;
/// Rows whose logits the hand-written loop holds at a time.
const BLOCK: usize = 16;

/// Covariates, labels, and per lane a point and a direction.
struct Data {
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    along: Vec<f64>,
}

impl Data {
    fn new(lanes: usize) -> Data {
        let noisy = |size: usize, seed: usize| (0..size).map(|i| noise(i + seed)).collect();
        Data {
            x: noisy(ROWS * WIDTH, 1),
            y: (0..ROWS).map(|i| f64::from(noise(i) > 0.0)).collect(),
            z: noisy(lanes * WIDTH, 7_000),
            along: noisy(lanes * WIDTH, 9_000),
        }
    }
}

fn planned(data: &Data, lanes: usize) -> (Plan, Workspace) {
    let g = Graph::new();
    let (x, y) = (g.input("x", [ROWS, WIDTH]), g.input("y", [ROWS]));
    let (z, along) = (g.laned_input("z", [WIDTH]), g.laned_input("along", [WIDTH]));
    let logit = x.dot(z);
    let value = (y * logit - logit.softplus()).sum();
    let slope = g.grad(value, &[z])[0];
    let bend = g.jvp(&[slope], &[z], &[along])[0];
    let plan = Plan::new(&[value, slope, bend], lanes);
    let mut workspace = plan.workspace();
    let values = [
        (x, &data.x),
        (y, &data.y),
        (z, &data.z),
        (along, &data.along),
    ];
    for (input, values) in values {
        workspace.set(plan.input(input).expect("used"), values);
    }
    (plan, workspace)
}

/// The same in one pass over the rows: the logits of a block, their sigmoids, and the two sums over
/// the rows while they are still in the first-level cache.
struct ByHand<'a> {
    data: &'a Data,
    value: &'a mut [f64],
    slope: &'a mut [f64],
    bend: &'a mut [f64],
}

impl WithSimd for ByHand<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.value.fill(0.0);
        self.slope.fill(0.0);
        self.bend.fill(0.0);
        let blocks = self.data.x.chunks_exact(BLOCK * WIDTH);
        for (x, y) in blocks.zip(self.data.y.chunks_exact(BLOCK)) {
            let points = self.data.z.chunks_exact(WIDTH);
            let points = points.zip(self.data.along.chunks_exact(WIDTH));
            let sums = self.slope.chunks_exact_mut(WIDTH);
            let sums = sums.zip(self.bend.chunks_exact_mut(WIDTH));
            for ((value, point), sums) in self.value.iter_mut().zip(points).zip(sums) {
                *value += block(simd, (x, y), point, sums);
            }
        }
    }
}

/// One block of rows for one lane.
#[inline(always)]
fn block<S: Simd>(
    simd: S,
    (x, y): (&[f64], &[f64]),
    (z, along): (&[f64], &[f64]),
    (slope, bend): (&mut [f64], &mut [f64]),
) -> f64 {
    let (mut logit, mut moved) = ([0.0; BLOCK], [0.0; BLOCK]);
    let (z, along) = (S::as_simd_f64s(z).0, S::as_simd_f64s(along).0);
    for (n, row) in x.chunks_exact(WIDTH).enumerate() {
        let (mut a, mut b) = (simd.splat_f64s(0.0), simd.splat_f64s(0.0));
        for ((x, z), along) in S::as_simd_f64s(row).0.iter().zip(z).zip(along) {
            a = simd.mul_add_f64s(*x, *z, a);
            b = simd.mul_add_f64s(*x, *along, b);
        }
        logit[n] = simd.reduce_sum_f64s(a);
        moved[n] = simd.reduce_sum_f64s(b);
    }
    let (mut rest, mut curve) = ([0.0; BLOCK], [0.0; BLOCK]);
    let mut value = simd.splat_f64s(0.0);
    let registers = S::as_simd_f64s(&logit).0.iter().zip(S::as_simd_f64s(y).0);
    let registers = registers.zip(S::as_simd_f64s(&moved).0);
    let out = S::as_mut_simd_f64s(&mut rest).0.iter_mut();
    let out = out.zip(S::as_mut_simd_f64s(&mut curve).0);
    for (((s, y), moved), (rest, curve)) in registers.zip(out) {
        let (sigmoid, softplus) = math::sigmoid_softplus(simd, *s);
        value = simd.add_f64s(value, simd.sub_f64s(simd.mul_f64s(*y, *s), softplus));
        *rest = simd.sub_f64s(*y, sigmoid);
        let variance = simd.sub_f64s(simd.mul_f64s(sigmoid, sigmoid), sigmoid);
        *curve = simd.mul_f64s(variance, *moved);
    }
    let (slope, bend) = (S::as_mut_simd_f64s(slope).0, S::as_mut_simd_f64s(bend).0);
    for (n, row) in x.chunks_exact(WIDTH).enumerate() {
        let (rest, curve) = (simd.splat_f64s(rest[n]), simd.splat_f64s(curve[n]));
        let row = S::as_simd_f64s(row).0;
        for ((x, slope), bend) in row.iter().zip(slope.iter_mut()).zip(bend.iter_mut()) {
            *slope = simd.mul_add_f64s(*x, rest, *slope);
            *bend = simd.mul_add_f64s(*x, curve, *bend);
        }
    }
    simd.reduce_sum_f64s(value)
}

/// Both must agree before they are timed.
fn check(workspace: &Workspace, by_hand: [&[f64]; 3]) {
    for (k, expected) in by_hand.into_iter().enumerate() {
        for (found, expected) in workspace.output(k).iter().zip(expected) {
            let near = (found - expected).abs() <= 1e-10 * expected.abs().max(1.0);
            assert!(near, "output {k}: {found} by plan, {expected} by hand");
        }
    }
}

/// Prints plan and hand-written loop side by side.
pub(crate) fn table() {
    println!("Logistic log likelihood {ROWS}×{WIDTH}: value + gradient + Hessian-vector product");
    println!("lanes      plan    median   by hand    median  ratio (bar 1.5)");
    for lanes in [1, 16] {
        let data = Data::new(lanes);
        let (plan, mut workspace) = planned(&data, lanes);
        let arch = SimdLevel::arch_of_process();
        let mut value = vec![0.0; lanes];
        let (mut slope, mut bend) = (vec![0.0; lanes * WIDTH], vec![0.0; lanes * WIDTH]);
        let mut by_hand = || {
            arch.dispatch(ByHand {
                data: &data,
                value: &mut value,
                slope: &mut slope,
                bend: &mut bend,
            });
        };
        let ours = pool(1).install(|| time(|| plan.run(&mut workspace)));
        let theirs = time(&mut by_hand);
        check(&workspace, [&value, &slope, &bend]);
        let ratio = ours.least / theirs.least;
        println!(
            "{lanes:5} {} {} {ratio:6.2}",
            ours.micros(),
            theirs.micros()
        );
    }
    println!();
}
