//! The Hilbert-space basis against the covariance that it approximates.

use lehr_graph::Graph;
use lehr_graph::reference::{InputValues, evaluate};
use lehr_model::gp::{BasisAxis, GpBasis, Kernel};

use crate::dense::Dense;

/// The features at some places, and √G of each.
fn parts(basis: &GpBasis, places: &[Vec<f64>], lengthscales: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let graph = Graph::new();
    let own = graph.constant([lengthscales.len()], lengthscales);
    let amplitudes = basis.amplitudes(graph.scalar(1.0), own);
    let amplitudes = evaluate(&[amplitudes], &InputValues::new(), 1).remove(0);
    (basis.features(places), amplitudes)
}

/// ΦGΦᵀ for two rows.
fn covariance(features: &[f64], amplitudes: &[f64], [a, b]: [usize; 2]) -> f64 {
    let width = amplitudes.len();
    let row = |row: usize| &features[row * width..(row + 1) * width];
    let terms = row(a).iter().zip(row(b)).zip(amplitudes);
    terms.map(|((x, y), size)| x * y * size * size).sum()
}

fn even(low: f64, high: f64, count: usize) -> Vec<f64> {
    let step = (high - low) / (count - 1) as f64;
    (0..count).map(|k| low + step * k as f64).collect()
}

/// The largest difference from the kernel on a grid.
fn worst(basis: &GpBasis, grid: &[f64], lengthscale: f64, distance: impl Fn(f64) -> f64) -> f64 {
    let (features, amplitudes) = parts(basis, &[grid.to_vec()], &[lengthscale]);
    let mut worst = 0.0_f64;
    for a in 0..grid.len() {
        for b in 0..=a {
            let known = distance(grid[a] - grid[b]);
            worst = worst.max((covariance(&features, &amplitudes, [a, b]) - known).abs());
        }
    }
    worst
}

/// METHODS: ε = 10⁻³ for the RBF kernel. Spectra with polynomial tails are truncated earlier.
#[test]
fn a_basis_has_the_covariance_of_its_kernel() {
    for (kernel, promise) in [
        (Kernel::Rbf, 1.5e-3),
        (Kernel::Matern52, 1e-2),
        (Kernel::Matern32, 2.5e-2),
    ] {
        let axis = BasisAxis::on_interval(kernel, [3.0, 7.0], [0.2, 1.0]);
        let basis = GpBasis::new(kernel, vec![axis]);
        for lengthscale in [0.2, 0.35, 0.6, 1.0] {
            let grid = even(3.0, 7.0, 201);
            let worst = worst(&basis, &grid, lengthscale, |d| {
                kernel.correlation(d.abs() / 2.0 / lengthscale)
            });
            assert!(worst < promise, "{kernel:?} at {lengthscale}: {worst}");
        }
    }
}

#[test]
fn the_usual_basis_has_34_functions_of_one_column_and_289_of_two() {
    let axis = |least| BasisAxis::on_interval(Kernel::Rbf, [0.0, 1.0], [least, 1.0]);
    assert_eq!(GpBasis::new(Kernel::Rbf, vec![axis(0.2)]).width(), 34);
    assert_eq!(
        GpBasis::new(Kernel::Rbf, vec![axis(0.4), axis(0.4)]).width(),
        289
    );
    let [least, most] = axis(0.2).covered_interval(Kernel::Rbf);
    assert!((0.19..=0.2).contains(&least) && (most - 1.0).abs() < 1e-12);
}

#[test]
fn a_basis_of_two_columns_has_a_lengthscale_for_each() {
    let axis = |range| BasisAxis::on_interval(Kernel::Rbf, range, [0.4, 1.0]);
    let basis = GpBasis::new(Kernel::Rbf, vec![axis([-1.0, 1.0]), axis([0.0, 20.0])]);
    let side = even(-1.0, 1.0, 9);
    let pairs = || {
        side.iter()
            .flat_map(|a| side.iter().map(move |b| [*a, 10.0 * (b + 1.0)]))
    };
    let places = [0, 1].map(|axis| pairs().map(|pair| pair[axis]).collect::<Vec<f64>>());
    let (features, amplitudes) = parts(&basis, &places, &[0.5, 0.8]);
    for a in 0..places[0].len() {
        for b in 0..=a {
            let [d, e] = [0, 1].map(|axis: usize| places[axis][a] - places[axis][b]);
            let known = Kernel::Rbf.correlation((d / 0.5).hypot(e / 10.0 / 0.8));
            let found = covariance(&features, &amplitudes, [a, b]);
            assert!((found - known).abs() < 3e-3, "{found} {known}");
        }
    }
}

/// The kernel wrapped around the circle, without its mean over the circle and normalised.
#[test]
fn on_a_circle_the_kernel_is_wrapped() {
    let (period, lengthscale) = (24.0, 0.25);
    let basis = GpBasis::new(
        Kernel::Rbf,
        vec![BasisAxis::on_circle(Kernel::Rbf, period, 0.1)],
    );
    let wrapped = |d: f64| -> f64 {
        let turns = -4..=4;
        let images = turns.map(|turn| (d + period * f64::from(turn)) / (0.5 * period));
        images
            .map(|d| Kernel::Rbf.correlation(d / lengthscale))
            .sum()
    };
    let grid = even(0.0, 48.0, 97);
    let mean: f64 = grid[..48].iter().map(|d| wrapped(*d)).sum::<f64>() / 48.0;
    let worst = worst(&basis, &grid, lengthscale, |d| {
        (wrapped(d) - mean) / (wrapped(0.0) - mean)
    });
    assert!(worst < 2e-3, "{worst}");
}

/// At fixed hyperparameters with normal noise, the evidence is that of the dense process.
#[test]
fn the_evidence_is_that_of_the_dense_process() {
    let (lengthscale, noise) = (0.3, 0.3_f64);
    let x: Vec<f64> = (0..60)
        .map(|k| (f64::from(k) * 0.618_034).fract() * 4.0 + 3.0)
        .collect();
    let y: Vec<f64> = x
        .iter()
        .map(|x| (2.3 * x).sin() + 0.3 * (17.0 * x).cos())
        .collect();
    let [low, high] = [
        x.iter().copied().fold(9.0, f64::min),
        x.iter().copied().fold(0.0, f64::max),
    ];
    let basis = GpBasis::new(
        Kernel::Rbf,
        vec![BasisAxis::on_interval(Kernel::Rbf, [low, high], [0.2, 1.0])],
    );
    let (features, amplitudes) = parts(&basis, std::slice::from_ref(&x), &[lengthscale]);
    let own = |a: usize, b: usize| if a == b { noise * noise } else { 0.0 };
    let unit = 0.5 * (high - low);
    let dense = Dense::new(60, |a, b| {
        Kernel::Rbf.correlation((x[a] - x[b]) / unit / lengthscale) + own(a, b)
    });
    let found = Dense::new(60, |a, b| {
        covariance(&features, &amplitudes, [a, b]) + own(a, b)
    });
    let gap = dense.log_normal_density(&y) - found.log_normal_density(&y);
    assert!(gap.abs() < 1e-2, "{gap}");
}
