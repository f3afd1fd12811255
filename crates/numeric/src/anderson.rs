//! Anderson mixing: the next point of a fixed-point iteration from its earlier points.
//!
//! If an image depends on the point in two ways at once, plain iteration overshoots in some
//! directions and converges slowly in others. The combination of earlier points with the least
//! residual, if residuals were linear, serves both (Anderson 1965; Pulay 1980).

use faer::Mat;
use faer::linalg::solvers::Solve;

/// The number of points that are remembered.
const MEMORY: usize = 8;
/// A ridge for nearly dependent residuals, relative to their size.
const RIDGE: f64 = 1e-10;

/// The images of the last points, with their residuals in coordinates of one scale.
#[derive(Default)]
pub struct AndersonMixing {
    images: Vec<Vec<f64>>,
    residuals: Vec<Vec<f64>>,
}

impl AndersonMixing {
    /// Forgets all points.
    pub fn clear(&mut self) {
        self.images.clear();
        self.residuals.clear();
    }

    /// Adds a point by its image and residual.
    pub fn push(&mut self, image: Vec<f64>, residual: Vec<f64>) {
        if self.images.len() == MEMORY {
            self.images.remove(0);
            self.residuals.remove(0);
        }
        self.images.push(image);
        self.residuals.push(residual);
    }

    /// The combination of images with the least residual; with a single point its image.
    pub fn next(&self) -> Vec<f64> {
        let shares = self.mixing_weights();
        let size = self.images[0].len();
        let entry = |k: usize| {
            let parts = self.images.iter().zip(&shares);
            parts.map(|(image, share)| share * image[k]).sum()
        };
        (0..size).map(entry).collect()
    }

    /// Shares θ with Σθ = 1 that minimise |Σ θᵢ rᵢ|.
    fn mixing_weights(&self) -> Vec<f64> {
        let count = self.residuals.len();
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let residuals = &self.residuals;
        let gram = Mat::from_fn(count, count, |i, j| dot(&residuals[i], &residuals[j]));
        let largest = (0..count).map(|i| gram[(i, i)]).fold(0.0, f64::max);
        let ridged = Mat::from_fn(count, count, |i, j| {
            gram[(i, j)] + if i == j { RIDGE * largest } else { 0.0 }
        });
        let solved = ridged.partial_piv_lu().solve(Mat::full(count, 1, 1.0));
        let sum: f64 = (0..count).map(|i| solved[(i, 0)]).sum();
        (0..count).map(|i| solved[(i, 0)] / sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_iteration_ends_after_as_many_points_as_it_has_dimensions() {
        // x ↦ A x + b overshoots along one axis and converges slowly along the other.
        let image = |x: &[f64]| vec![-1.5 * x[0] + 1.0, 0.95 * x[1] + 0.2];
        let (mut mixing, mut x) = (AndersonMixing::default(), vec![0.0, 0.0]);
        for _ in 0..3 {
            let next = image(&x);
            let residual = next.iter().zip(&x).map(|(a, b)| a - b).collect();
            mixing.push(next, residual);
            x = mixing.next();
        }
        assert!(
            (x[0] - 0.4).abs() < 1e-4 && (x[1] - 4.0).abs() < 1e-4,
            "{x:?}"
        );
    }
}
