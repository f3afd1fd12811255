//! Orthogonal polynomials of a column, as R's `poly` has them.

use serde::{Deserialize, Serialize};

use super::error::BasisError;

/// Polynomials of degrees 1 to n that are orthonormal over the rows they were fitted on.
///
/// On u = (x − centre) / scale, with p₀ = 1 and p₋₁ = 0, R's recurrence is
///
/// ```text
/// pᵢ₊₁(u) = (u − αᵢ) pᵢ(u) − (νᵢ / νᵢ₋₁) pᵢ₋₁(u)
/// αᵢ = Σ u pᵢ² / νᵢ,   νᵢ = Σ pᵢ²
/// ```
///
/// and column i is pᵢ / √νᵢ. R works on x itself; u gives the same columns and does not
/// overflow when x is large.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Polynomial {
    /// Mean of the rows it was fitted on.
    pub centre: f64,
    /// Largest distance from the mean.
    pub scale: f64,
    /// α₀ to αₙ₋₁.
    pub alpha: Vec<f64>,
    /// ν₀ to νₙ (R's `norm2` without its leading 1).
    pub norm2: Vec<f64>,
}

impl Polynomial {
    /// Fits polynomials of degrees 1 to `degree`; `factor` names them in errors.
    ///
    /// Refuses values that are not finite, and fewer than `degree + 1` distinct ones.
    pub fn fit(factor: &str, values: &[f64], degree: usize) -> Result<Self, BasisError> {
        check_finite(factor, values)?;
        let distinct = distinct(values);
        if distinct <= degree {
            return Err(BasisError::Degree {
                factor: factor.to_owned(),
                degree,
                distinct,
            });
        }
        let centre = mean(values);
        let furthest = values
            .iter()
            .fold(0.0_f64, |most, value| most.max((value - centre).abs()));
        let mut fitted = Self {
            centre,
            scale: furthest,
            alpha: Vec::new(),
            norm2: vec![values.len() as f64],
        };
        let unit = fitted.unit(values);
        let mut before = vec![0.0; unit.len()];
        let mut current = vec![1.0; unit.len()];
        for _ in 0..degree {
            fitted.alpha.push(weighted_mean(&unit, &current));
            let next = fitted.step(&unit, &current, &before, fitted.alpha.len() - 1);
            fitted
                .norm2
                .push(next.iter().map(|value| value * value).sum());
            before = std::mem::replace(&mut current, next);
        }
        Ok(fitted)
    }

    /// The columns at new values, degree 1 first.
    pub fn evaluate(&self, values: &[f64]) -> Vec<Vec<f64>> {
        let unit = self.unit(values);
        let mut before = vec![0.0; unit.len()];
        let mut current = vec![1.0; unit.len()];
        let mut columns = Vec::with_capacity(self.alpha.len());
        for (at, norm2) in self.norm2.iter().skip(1).enumerate().take(self.alpha.len()) {
            let next = self.step(&unit, &current, &before, at);
            let norm = norm2.sqrt();
            columns.push(next.iter().map(|value| value / norm).collect());
            before = std::mem::replace(&mut current, next);
        }
        columns
    }

    fn unit(&self, values: &[f64]) -> Vec<f64> {
        values
            .iter()
            .map(|value| (value - self.centre) / self.scale)
            .collect()
    }

    fn step(&self, unit: &[f64], current: &[f64], before: &[f64], at: usize) -> Vec<f64> {
        let ratio = match at {
            0 => 0.0,
            _ => self.norm2[at] / self.norm2[at - 1],
        };
        let rows = unit.iter().zip(current).zip(before);
        rows.map(|((u, p), q)| (u - self.alpha[at]) * p - ratio * q)
            .collect()
    }
}

/// Refuses the first value that is NaN or infinite.
pub(super) fn check_finite(factor: &str, values: &[f64]) -> Result<(), BasisError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(row) => Err(BasisError::NotFinite {
            factor: factor.to_owned(),
            row: row + 1,
            value: values[row],
        }),
    }
}

/// The mean, with a second pass that takes up the rounding of the first.
pub(super) fn mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let first = values.iter().map(|value| value / count).sum::<f64>();
    first
        + values
            .iter()
            .map(|value| (value - first) / count)
            .sum::<f64>()
}

fn weighted_mean(unit: &[f64], current: &[f64]) -> f64 {
    let squares = || current.iter().map(|value| value * value);
    let sum: f64 = unit
        .iter()
        .zip(squares())
        .map(|(u, square)| u * square)
        .sum();
    sum / squares().sum::<f64>()
}

fn distinct(values: &[f64]) -> usize {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup_by(|right, left| right == left);
    sorted.len()
}
