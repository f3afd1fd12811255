//! Penalised splines as independent random effects with a common standard deviation (Demmler and
//! Reinsch 1975; Wood 2017, section 5.8).  A function b(x)ᵀc has the prior density
//! exp(−cᵀSc/(2s²)). The null space of S, constants and lines, is left to the fixed effects: the
//! functions here are orthogonal to it over the fitted rows. In the coordinates in which both S and
//! the mean products G of the rows are diagonal,
//!
//! ```text
//! cᵢᵀ G cⱼ = 1ᵢ₌ⱼ      cᵢᵀ S cⱼ = 1ᵢ₌ⱼ/μᵢ
//! ```
//!  a weight is N(0, s²μᵢ), and the rows do not correlate the weights. Scaled so that Σ μᵢ = 1, s²
//!  is the mean prior variance of the function over the fitted rows.

use faer::{Mat, Side};
use lehr_formula::{BSpline, CubicSpline};

/// The size, relative to the first root, of a root whose function is nonzero in hardly any row.
const UNSEEN: f64 = 1e-6;
/// The least size to which functions are scaled, as a share of the first root.
const LEAST: f64 = 1e-3;

/// Splines, their penalty, and its null space.
#[derive(Clone)]
pub(super) struct PenalisedBasis {
    pub splines: CubicSpline,
    penalty: Vec<f64>,
    /// The weights of a constant, and of a line if there is one.
    null: Vec<Vec<f64>>,
}

/// Functions with independent weights.
pub(super) struct DemmlerReinschBasis {
    pub functions: CubicSpline,
    pub roots: Vec<f64>,
    pub has_unseen: bool,
}

impl PenalisedBasis {
    /// The penalty ∫ f″².
    pub(super) fn of_bends(splines: CubicSpline) -> PenalisedBasis {
        let line = splines.knots().to_vec();
        let mut basis = PenalisedBasis::on_circle(splines);
        basis.null.push(line);
        basis
    }

    /// The same for periodic splines, which contain no lines.
    pub(super) fn on_circle(splines: CubicSpline) -> PenalisedBasis {
        PenalisedBasis {
            penalty: splines.penalty_matrix(),
            null: vec![vec![1.0; splines.width()]],
            splines,
        }
    }

    /// The penalty Σ (cᵢ − 2cᵢ₊₁ + cᵢ₊₂)² of the weights of B-splines (Eilers and Marx 1996).
    pub(super) fn of_differences(splines: &BSpline) -> PenalisedBasis {
        let count = splines.count();
        let mut penalty = vec![0.0; count * count];
        for first in 0..count - 2 {
            let difference = [(first, 1.0), (first + 1, -2.0), (first + 2, 1.0)];
            for (i, left) in difference {
                for (j, right) in difference {
                    penalty[i * count + j] += left * right;
                }
            }
        }
        PenalisedBasis {
            splines: CubicSpline::of_bsplines(splines),
            penalty,
            null: vec![
                vec![1.0; count],
                (0..count).map(|at| at as f64 / count as f64).collect(),
            ],
        }
    }
}

impl DemmlerReinschBasis {
    /// The functions with the largest prior variance over `rows` rows, from their summed products;
    /// at most `most`.
    pub(super) fn new(
        raw: &PenalisedBasis,
        sums: &[[f64; 16]],
        rows: f64,
        most: usize,
    ) -> DemmlerReinschBasis {
        let size = raw.splines.width();
        let products = raw.splines.cross_products(sums);
        let gram = Mat::from_fn(size, size, |i, j| products[i * size + j] / rows);
        let mut basis = penalised(raw);
        let null = Mat::from_fn(size, raw.null.len(), |i, j| raw.null[j][i]);
        orthogonalise(&mut basis, &null, &gram);
        let own = basis.transpose() * &gram * &basis;
        let own = Mat::from_fn(own.nrows(), own.ncols(), |i, j| {
            0.5 * (own[(i, j)] + own[(j, i)])
        });
        let (values, vectors) = eigen(&own);
        let kept = most.min(values.len());
        // Eigenvalues are in ascending order.
        let place = |column: usize| values.len() - 1 - column;
        let root = |column: usize| values[place(column)].max(0.0).sqrt();
        let roots: Vec<f64> = (0..kept).map(root).collect();
        let total: f64 = roots.iter().map(|root| root * root).sum::<f64>().sqrt();
        let size_of = |root: &f64| root.max(LEAST * roots[0]);
        let sizes: Vec<f64> = roots.iter().map(size_of).collect();
        let turned = basis * vectors;
        let columns = Mat::from_fn(size, kept, |i, j| turned[(i, place(j))] / sizes[j]);
        let entries = (0..size * kept).map(|k| columns[(k / kept, k % kept)]);
        let flat: Vec<f64> = entries.collect();
        DemmlerReinschBasis {
            functions: raw.splines.combine_columns(&flat, kept),
            has_unseen: roots.iter().any(|root| *root < UNSEEN * roots[0]),
            roots: sizes.iter().map(|size| size / total).collect(),
        }
    }
}

/// Weights in whose coordinates the penalty is a sum of squares: eigenvectors divided by the roots
/// of their eigenvalues, without the null space.
fn penalised(raw: &PenalisedBasis) -> Mat<f64> {
    let size = raw.splines.width();
    let penalty = Mat::from_fn(size, size, |i, j| raw.penalty[i * size + j]);
    let (values, vectors) = eigen(&penalty);
    let free = raw.null.len();
    Mat::from_fn(size, size - free, |i, j| {
        vectors[(i, j + free)] / values[j + free].sqrt()
    })
}

/// Subtracts from each column its projection on the null space over the rows.
fn orthogonalise(basis: &mut Mat<f64>, null: &Mat<f64>, gram: &Mat<f64>) {
    let mut done: Vec<Mat<f64>> = Vec::new();
    for column in 0..null.ncols() {
        let mut own = Mat::from_fn(null.nrows(), 1, |i, _| null[(i, column)]);
        for other in &done {
            let share = (other.transpose() * gram * &own)[(0, 0)];
            own -= other * share;
        }
        let length = (own.transpose() * gram * &own)[(0, 0)].sqrt();
        done.push(own * (1.0 / length));
    }
    // Twice, to remove the rounding errors of the first time.
    for _ in 0..2 {
        for own in &done {
            let shares = own.transpose() * gram * &*basis;
            *basis -= own * shares;
        }
    }
}

fn eigen(matrix: &Mat<f64>) -> (Vec<f64>, Mat<f64>) {
    let found = matrix.self_adjoint_eigen(Side::Lower);
    let found = found.expect("a symmetric matrix has its eigenvalues");
    let values = (0..matrix.nrows()).map(|k| found.S()[k]).collect();
    (values, found.U().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced(raw: &PenalisedBasis, most: usize) -> DemmlerReinschBasis {
        let mut sums = raw.splines.no_products();
        for row in 0..90_u32 {
            let place = (0.618_034 * f64::from(row)).fract().powi(2);
            raw.splines.add_multiplied(place, 1.0, &mut sums);
        }
        DemmlerReinschBasis::new(raw, &sums, 90.0, most)
    }

    /// A weight of standard deviation r has a function whose ∫ f″² is proportional to 1/r², and
    /// different functions are orthogonal in it: together they have the prior exp(−∫ f″²/(2s²)).
    #[test]
    fn weights_are_independent_under_the_penalty() {
        let knots: Vec<f64> = (0..=20).map(|k| f64::from(k) / 20.0).collect();
        for raw in [
            PenalisedBasis::of_bends(CubicSpline::natural(&knots)),
            PenalisedBasis::on_circle(CubicSpline::circle(&knots)),
        ] {
            let found = reduced(&raw, 7);
            let (penalty, roots) = (found.functions.penalty_matrix(), &found.roots);
            assert!(!found.has_unseen);
            let total: f64 = roots.iter().map(|root| root * root).sum();
            assert!((total - 1.0).abs() < 1e-12, "{total}");
            let first = penalty[0] * roots[0] * roots[0];
            for k in 0..49 {
                let scaled = penalty[k] * roots[k / 7] * roots[k % 7] / first;
                let expected = f64::from(u8::from(k / 7 == k % 7));
                assert!((scaled - expected).abs() < 1e-8, "{k}: {scaled}");
            }
        }
    }

    #[test]
    fn splines_that_no_row_sees_are_kept_and_said_so() {
        let raw = PenalisedBasis::of_differences(&BSpline::evenly_spaced(3, 30, [0.0, 1.0]));
        let mut sums = raw.splines.no_products();
        for row in 0..60_u32 {
            let place = 0.5 * (0.618_034 * f64::from(row)).fract();
            raw.splines.add_multiplied(place, 1.0, &mut sums);
        }
        let found = DemmlerReinschBasis::new(&raw, &sums, 60.0, 28);
        assert!(found.has_unseen);
        assert_eq!(found.functions.width(), 28);
        assert!(found.roots.iter().all(|root| *root > 0.0));
        assert!(!reduced(&raw, 28).has_unseen);
    }
}
