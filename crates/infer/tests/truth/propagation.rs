//! Chains on linear regression against the exact propagation of means and covariances.

use std::sync::Arc;

use crate::exact_regression::{Information, Walk};
use faer::{Mat, Side};
use lehr_density::{Density, Point};
use lehr_graph::Expr;
use lehr_infer::annealed::{AnnealedGuide, AnnealedStart, Drive, Momentum};
use lehr_infer::draw::{ImportanceDraws, evaluate, reverse_log_weights};
use lehr_infer::guide::{
    Block, Context, FullRank, LearnedBlocks, RowInput, WhitenedDensity, Whitening,
};
use lehr_infer::objective::Score;
use lehr_infer::surrogate::Surrogate;
use lehr_infer::train::{Task, TrainSettings};

use crate::linear::{Gaussian, Linear};
use crate::{all_rows, batch, estimate, normals, set, starts};

/// The likelihood of all rows with a perturbation δa·z − ½ zᵀδB z.
struct PerturbedDensity {
    slope: Arc<[f64]>,
    curvature: Arc<[f64]>,
}

impl Surrogate for PerturbedDensity {
    fn name(&self) -> &'static str {
        "perturbed"
    }

    fn blocks(&self) -> Vec<Block> {
        Vec::new()
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        let size = self.slope.len();
        let rows = context.rows("perturbed", &RowInput::All);
        let slope = context.fixed("slope", [size], &self.slope);
        let curvature = context.fixed("curvature", [size, size], &self.curvature);
        let bent = (at.latents * curvature.dot(at.latents)).sum();
        let exact = context.density().log_likelihood(at, &rows).sum();
        exact + (slope * at.latents).sum() - 0.5 * bent
    }

    fn contents(&self) -> String {
        "nothing".into()
    }

    fn store(&self) -> lehr_density::StoredForm {
        unreachable!("the tests do not store it")
    }
}

impl PerturbedDensity {
    fn new(size: usize, by: f64) -> PerturbedDensity {
        PerturbedDensity {
            slope: (0..size).map(|i| by * (1.0 - 1.5 * i as f64)).collect(),
            curvature: (0..size * size)
                .map(|k| by * if k % (size + 1) == 0 { 2.0 } else { -0.5 })
                .collect(),
        }
    }

    /// The information of the perturbed likelihood.
    fn information(&self, linear: &Linear) -> Information {
        let size = self.slope.len();
        let (precision, product) = linear.information(&linear.all(), 1.0);
        let bent = Mat::from_fn(size, size, |i, j| self.curvature[i * size + j]);
        let moved = Mat::from_fn(size, 1, |i, _| self.slope[i]);
        (precision + bent, product + moved)
    }
}

/// A chain with γ = 0 and equal increments, whose base will be the prior.
fn chain(drive: Drive, momentum: Momentum, (steps, step_size): (usize, f64)) -> AnnealedGuide {
    AnnealedGuide {
        base: Arc::new(FullRank::default()),
        drive,
        steps,
        momentum,
        start: AnnealedStart {
            step_size,
            refreshment: 0.0,
            max_step_size: 1.0,
            ..AnnealedStart::default()
        },
    }
}

/// Learned quantities with the prior as base, in the coordinates of a frame.
fn from_prior(
    linear: &Linear,
    density: &dyn Density,
    guide: &AnnealedGuide,
    whitening: &Whitening,
) -> LearnedBlocks {
    let size = linear.width();
    let (shift, factor) = parts(whitening, size);
    let back = inverse_of_lower(&factor);
    let prior = &linear.prior;
    let mean = &back * (&prior.mean - shift);
    let covariance = &back * &prior.covariance * back.transpose();
    let root = covariance.llt(Side::Lower).unwrap();
    let mut learned = starts(density, guide);
    let entries = |f: &dyn Fn(usize) -> f64, count: usize| (0..count).map(f).collect::<Vec<f64>>();
    set(&mut learned, "base_mean", &entries(&|i| mean[(i, 0)], size));
    let scales = entries(&|i| root.L()[(i, i)].ln(), size);
    set(&mut learned, "base_log_scale", &scales);
    let below = entries(&|k| root.L()[(k / size, k % size)], size * size);
    set(&mut learned, "base_below", &below);
    learned
}

fn parts(whitening: &Whitening, size: usize) -> (Mat<f64>, Mat<f64>) {
    match whitening {
        Whitening::Identity => (Mat::zeros(size, 1), Mat::identity(size, size)),
        Whitening::Diagonal { shift, scale } => (
            Mat::from_fn(size, 1, |i, _| shift[i]),
            Mat::from_fn(size, size, |i, j| if i == j { scale[i] } else { 0.0 }),
        ),
        Whitening::Dense { shift, factor } => (
            Mat::from_fn(size, 1, |i, _| shift[i]),
            Mat::from_fn(size, size, |i, j| factor[i * size + j]),
        ),
    }
}

fn inverse_of_lower(factor: &Mat<f64>) -> Mat<f64> {
    let size = factor.nrows();
    let mut inverse = Mat::<f64>::identity(size, size);
    factor.solve_lower_triangular_in_place(&mut inverse);
    inverse
}

/// Fresh chains of a guide from the prior.
fn chains(
    linear: &Linear,
    guide: &AnnealedGuide,
    whitening: &Whitening,
    sample: (usize, u64),
) -> ImportanceDraws {
    let density = linear.bind();
    let learned = from_prior(linear, &density, guide, whitening);
    let place = WhitenedDensity::new(&density, whitening);
    evaluate(place, guide, &learned, sample).unwrap()
}

fn assert_within(found: (f64, f64), expected: f64, what: &str) {
    let (mean, error) = found;
    assert!(
        (mean - expected).abs() < 4.0 * error,
        "{what}: {mean} ± {error} for {expected}"
    );
}

/// η ∝ K^(−1/4), as the paper assumes, once K is large enough for the leapfrog to be stable.
fn falling(steps: usize) -> f64 {
    (1.2 * (steps as f64).powf(-0.25)).min(0.3)
}

#[test]
fn chains_on_all_rows_have_the_exact_bound_from_one_step_to_many() {
    let linear = Linear::new(12, 2, 1);
    let information = linear.information(&linear.all(), 1.0);
    for steps in [1, 2, 5, 16, 64, 256] {
        let guide = chain(Drive::FullData, Momentum::Diagonal, (steps, falling(steps)));
        let walk = Walk::plain(steps, falling(steps), 2);
        let (bound, _) = walk.bound(&linear, &information);
        let draws = if steps > 16 { 400 } else { 3000 };
        let found = chains(&linear, &guide, &Whitening::Identity, (draws, 2));
        let found = estimate(&found.log_weights);
        assert_within(found, bound, &format!("{steps} steps"));
        assert!(bound < linear.log_evidence());
    }
}

#[test]
fn chains_on_perturbed_surrogates_have_the_exact_bound() {
    let linear = Linear::new(12, 2, 3);
    for (steps, by) in [(1, 0.5), (4, -0.4), (16, 1.5), (64, 0.8), (256, 0.8)] {
        let surrogate = PerturbedDensity::new(2, by);
        let information = surrogate.information(&linear);
        let walk = Walk::plain(steps, falling(steps), 2);
        let (bound, z) = walk.bound(&linear, &information);
        let drive = Drive::Surrogate(Arc::new(surrogate));
        let guide = chain(drive, Momentum::Diagonal, (steps, falling(steps)));
        let draws = if steps > 16 { 400 } else { 3000 };
        let found = chains(&linear, &guide, &Whitening::Identity, (draws, 4));
        assert_within(
            estimate(&found.log_weights),
            bound,
            &format!("{steps} {by}"),
        );
        let gap = linear.log_evidence() - bound;
        assert!(
            gap >= z.divergence_from(&linear.posterior()),
            "{steps} {by}"
        );
    }
}

#[test]
fn whitened_chains_and_frames_have_the_exact_bound() {
    let linear = Linear::new(12, 2, 5);
    let information = linear.information(&linear.all(), 1.0);
    let dense = Whitening::Dense {
        shift: [0.3, -0.2].into(),
        factor: [0.6, 0.0, -0.3, 0.9].into(),
    };
    let diagonal = Whitening::Diagonal {
        shift: [0.3, -0.2].into(),
        scale: [0.5, 1.4].into(),
    };
    let prior_root = linear
        .prior
        .covariance
        .llt(Side::Lower)
        .unwrap()
        .L()
        .to_owned();
    for whitening in [Whitening::Identity, diagonal, dense] {
        for momentum in [Momentum::Diagonal, Momentum::Whitened] {
            let root = match momentum {
                Momentum::Diagonal => parts(&whitening, 2).1,
                Momentum::Whitened => prior_root.clone(),
            };
            let walk = Walk {
                steps: 6,
                step_size: 0.15,
                root,
            };
            let (bound, z) = walk.bound(&linear, &information);
            let guide = chain(Drive::FullData, momentum, (6, 0.15));
            let found = chains(&linear, &guide, &whitening, (4000, 6));
            let what = format!("{whitening:?} {momentum:?}");
            assert_within(estimate(&found.log_weights), bound, &what);
            assert_moments(&found.latents, &z, &what);
        }
    }
}

/// Means and variances of two latents within four standard errors.
fn assert_moments(latents: &[f64], expected: &Gaussian, what: &str) {
    for i in 0..2 {
        let values: Vec<f64> = latents.chunks_exact(2).map(|z| z[i]).collect();
        assert_within(estimate(&values), expected.mean[(i, 0)], what);
        let centre = expected.mean[(i, 0)];
        let squares: Vec<f64> = values.iter().map(|z| (z - centre).powi(2)).collect();
        assert_within(estimate(&squares), expected.covariance[(i, i)], what);
    }
}

/// Independent draws of a Gaussian.
fn draws_of(gaussian: &Gaussian, count: usize, seed: u64) -> Vec<f64> {
    let size = gaussian.mean.nrows();
    let root = gaussian.covariance.llt(Side::Lower).unwrap();
    let numbers = normals(count * size, seed);
    let draw = |own: &[f64]| {
        let entry = |i: usize| {
            let along: f64 = (0..size).map(|j| root.L()[(i, j)] * own[j]).sum();
            gaussian.mean[(i, 0)] + along
        };
        (0..size).map(entry).collect::<Vec<f64>>()
    };
    numbers.chunks_exact(size).flat_map(draw).collect()
}

#[test]
fn chains_that_run_backwards_from_the_posterior_have_the_exact_upper_bound() {
    let linear = Linear::new(12, 2, 5);
    let density = linear.bind();
    let draws = draws_of(&linear.posterior(), 4000, 7);
    let dense = Whitening::Dense {
        shift: [0.3, -0.2].into(),
        factor: [0.6, 0.0, -0.3, 0.9].into(),
    };
    let roots = [
        parts(&dense, 2).1,
        linear
            .prior
            .covariance
            .llt(Side::Lower)
            .unwrap()
            .L()
            .to_owned(),
    ];
    for (momentum, root) in [Momentum::Diagonal, Momentum::Whitened]
        .into_iter()
        .zip(roots)
    {
        for by in [0.0, 0.6] {
            let surrogate = PerturbedDensity::new(2, by);
            let information = surrogate.information(&linear);
            let walk = Walk {
                steps: 6,
                step_size: 0.15,
                root: root.clone(),
            };
            let upper = walk.upper_bound(&linear, &information);
            assert!(upper > linear.log_evidence());
            let guide = chain(Drive::Surrogate(Arc::new(surrogate)), momentum, (6, 0.15));
            let learned = from_prior(&linear, &density, &guide, &dense);
            let place = WhitenedDensity::new(&density, &dense);
            let found = reverse_log_weights(place, &guide, &learned, (&draws, 8)).unwrap();
            assert_within(
                estimate(&found.unwrap()),
                upper,
                &format!("{momentum:?} {by}"),
            );
        }
    }
}

#[test]
fn without_steps_the_upper_bound_is_off_by_the_divergence_of_the_base() {
    let linear = Linear::new(12, 2, 6);
    let density = linear.bind();
    let posterior = linear.posterior();
    let draws = draws_of(&posterior, 4000, 9);
    let guide = chain(Drive::FullData, Momentum::Whitened, (0, 0.1));
    let whitening = Whitening::Identity;
    let learned = from_prior(&linear, &density, &guide, &whitening);
    let place = WhitenedDensity::new(&density, &whitening);
    let found = reverse_log_weights(place, &guide, &learned, (&draws, 8)).unwrap();
    let upper = linear.log_evidence() + posterior.divergence_from(&linear.prior);
    assert_within(estimate(&found.unwrap()), upper, "the prior");
}

#[test]
fn the_gap_falls_as_the_root_of_the_steps() {
    let linear = Linear::new(4, 2, 1);
    let information = linear.information(&linear.all(), 1.0);
    let gap = |steps: usize| {
        let walk = Walk::plain(steps, 2.0 * (steps as f64).powf(-0.25), 2);
        linear.log_evidence() - walk.bound(&linear, &information).0
    };
    let gaps = [1 << 12, 1 << 14, 1 << 16].map(gap);
    for pair in gaps.windows(2) {
        let slope = (pair[1] / pair[0]).ln() / 4.0_f64.ln();
        assert!((slope + 0.5).abs() < 0.05, "slope {slope}, gaps {gaps:?}");
    }
}

#[test]
fn a_perturbed_surrogate_leaves_the_divergence_of_its_posterior() {
    let linear = Linear::new(12, 2, 1);
    let information = PerturbedDensity::new(2, 6.0).information(&linear);
    let walk = Walk::plain(1 << 16, falling(1 << 16), 2);
    let (bound, z) = walk.bound(&linear, &information);
    let gap = linear.log_evidence() - bound;
    let own = linear.posterior_of(&information);
    let floor = own.divergence_from(&linear.posterior());
    let (exact, _) = walk.bound(&linear, &linear.information(&linear.all(), 1.0));
    let without = linear.log_evidence() - exact;
    assert!((gap - without) / floor > 0.9, "gap {gap}, floor {floor}");
    assert!(
        (gap - 1.5 * without) / floor < 1.0,
        "gap {gap}, floor {floor}"
    );
    assert!(z.divergence_from(&own) < 0.05 * floor);
}

/// All pairs of rows below `rows`.
fn pairs(rows: usize) -> Vec<[usize; 2]> {
    let from = |i: usize| (i + 1..rows).map(move |j| [i, j]);
    (0..rows).flat_map(from).collect()
}

/// The mean over all subsets J of a quantity of the chain on J.
fn aggregate(linear: &Linear, of: impl Fn(&Information) -> f64) -> f64 {
    let all = pairs(linear.rows());
    let share = linear.rows() as f64 / 2.0;
    let sum: f64 = all.iter().map(|j| of(&linear.information(j, share))).sum();
    sum / all.len() as f64
}

#[test]
fn chains_on_batches_tend_to_the_aggregate_pseudo_posterior() {
    let linear = Linear::new(6, 2, 7);
    let steps = 32;
    let walk = Walk::plain(steps, falling(steps), 2);
    let guide = chain(
        Drive::Batch { size: 2 },
        Momentum::Diagonal,
        (steps, falling(steps)),
    );
    let found = chains(&linear, &guide, &Whitening::Identity, (6000, 8));
    let exact = linear.posterior();
    for i in 0..2 {
        let values: Vec<f64> = found.latents.chunks_exact(2).map(|z| z[i]).collect();
        let mean = aggregate(&linear, |j| walk.propagate(&linear, j).0.mean[(i, 0)]);
        assert_within(estimate(&values), mean, "mean");
        let spread = |z: &Gaussian| z.covariance[(i, i)] + (z.mean[(i, 0)] - mean).powi(2);
        let variance = aggregate(&linear, |j| spread(&walk.propagate(&linear, j).0));
        let squares: Vec<f64> = values.iter().map(|z| (z - mean).powi(2)).collect();
        assert_within(estimate(&squares), variance, "variance");
        let many = Walk::plain(1 << 14, falling(1 << 14), 2);
        let limit = aggregate(&linear, |j| spread(&many.propagate(&linear, j).0));
        let pseudo = aggregate(&linear, |j| spread(&linear.posterior_of(j)));
        assert!((limit / pseudo - 1.0).abs() < 0.1, "{limit} {pseudo}");
        assert!(pseudo > 1.5 * exact.covariance[(i, i)]);
    }
}

/// The mean of the training objective over many steps, with a chain on two rows of six.
fn trained_on(linear: &Linear, drive: Drive, score: &Score, steps: usize) -> (f64, f64) {
    let density = linear.bind();
    let guide = chain(drive, Momentum::Diagonal, (steps, falling(steps)));
    let learned = from_prior(linear, &density, &guide, &Whitening::Identity);
    let task = Task {
        density: &density,
        whitening: &Whitening::Identity,
        guide: &guide,
        score,
        seed: 9,
    };
    let mut program = task.program(&learned, &TrainSettings::default()).unwrap();
    program.set_learned(&learned.values);
    let objective = |step: u64| {
        program.fill(density.source(), step);
        program.run();
        program.output(0)[0]
    };
    estimate(&(0..4000).map(objective).collect::<Vec<f64>>())
}

#[test]
fn rows_that_score_are_independent_of_rows_that_drive() {
    let linear = Linear::new(6, 2, 7);
    let steps = 150;
    let walk = Walk::plain(steps, falling(steps), 2);
    let independent = aggregate(&linear, |j| walk.bound(&linear, j).0);
    assert!(independent < linear.log_evidence());
    let drive = Drive::Batch { size: 2 };
    let found = trained_on(&linear, drive.clone(), &batch(2, "score"), steps);
    assert_within(found, independent, "two batches");
    let found = trained_on(&linear, drive.clone(), &all_rows(), steps);
    assert_within(found, independent, "a batch and all rows");
    // The batch uses the random stream of the drive, which must not happen in a fit.
    let (shared, error) = trained_on(&linear, drive, &batch(2, "chain"), steps);
    assert!(
        shared - 4.0 * error > linear.log_evidence(),
        "{shared} ± {error} for a log evidence of {}",
        linear.log_evidence()
    );
}

#[test]
fn fresh_batches_stay_below_the_evidence() {
    let linear = Linear::new(6, 2, 7);
    let drive = Drive::FreshBatch { size: 2 };
    let (bound, error) = trained_on(&linear, drive, &batch(2, "score"), 8);
    assert!(bound - 4.0 * error < linear.log_evidence());
}
