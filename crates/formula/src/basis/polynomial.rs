//! Orthogonal polynomials of a column, as in R's `poly`.

use serde::{Deserialize, Serialize};

use super::error::BasisError;
use super::finite::check_finite;
use super::running::Mean;

/// Polynomials of degrees 1 to n that are orthonormal over the rows of the fit.
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
    /// Mean of the fitted rows.
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
    pub fn fit_values(factor: &str, values: &[f64], degree: usize) -> Result<Self, BasisError> {
        check_finite(factor, values)?;
        let mut learner = PolynomialLearner::new(factor, degree);
        loop {
            learner.add_values(values);
            if let Some(fitted) = learner.next_round()? {
                return Ok(fitted);
            }
        }
    }

    /// The columns at new values, degree 1 first.
    pub fn evaluate_powers(&self, values: &[f64]) -> Vec<Vec<f64>> {
        let unit = self.scale_values(values);
        let mut before = vec![0.0; unit.len()];
        let mut current = vec![1.0; unit.len()];
        let mut columns = Vec::with_capacity(self.alpha.len());
        for (at, norm2) in self.norm2.iter().skip(1).enumerate().take(self.alpha.len()) {
            let next = self.next_power(&unit, &current, &before, at);
            let norm = norm2.sqrt();
            columns.push(next.iter().map(|value| value / norm).collect());
            before = std::mem::replace(&mut current, next);
        }
        columns
    }

    fn scale_values(&self, values: &[f64]) -> Vec<f64> {
        values
            .iter()
            .map(|value| (value - self.centre) / self.scale)
            .collect()
    }

    /// p of that degree, before it is normalised.
    fn unscaled_power(&self, unit: &[f64], degree: usize) -> Vec<f64> {
        let mut before = vec![0.0; unit.len()];
        let mut current = vec![1.0; unit.len()];
        for at in 0..degree {
            let next = self.next_power(unit, &current, &before, at);
            before = std::mem::replace(&mut current, next);
        }
        current
    }

    fn next_power(&self, unit: &[f64], current: &[f64], before: &[f64], at: usize) -> Vec<f64> {
        let ratio = match at {
            0 => 0.0,
            _ => self.norm2[at] / self.norm2[at - 1],
        };
        let rows = unit.iter().zip(current).zip(before);
        rows.map(|((u, p), q)| (u - self.alpha[at]) * p - ratio * q)
            .collect()
    }
}

/// Polynomials that are being fitted: one round for the centre, one for the scale and one for each
/// degree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PolynomialLearner {
    factor: String,
    degree: usize,
    stage: PolynomialStage,
    fitted: Polynomial,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum PolynomialStage {
    /// Distinct values are remembered until there are enough of them.
    Centre(Mean, Vec<f64>),
    Scale,
    /// Σ u p² and Σ p² of the current degree.
    Degree(f64, f64),
}

impl PolynomialLearner {
    pub(super) fn new(factor: &str, degree: usize) -> Self {
        Self {
            factor: factor.to_owned(),
            degree,
            stage: PolynomialStage::Centre(Mean::default(), Vec::new()),
            fitted: Polynomial {
                centre: 0.0,
                scale: 0.0,
                alpha: Vec::new(),
                norm2: Vec::new(),
            },
        }
    }

    pub(super) fn add_values(&mut self, values: &[f64]) {
        match &mut self.stage {
            PolynomialStage::Centre(mean, different) => {
                for value in values {
                    mean.push(*value);
                    if different.len() <= self.degree && !different.contains(value) {
                        different.push(*value);
                    }
                }
            }
            PolynomialStage::Scale => {
                let centre = self.fitted.centre;
                let furthest = |most: f64, value: &f64| most.max((value - centre).abs());
                self.fitted.scale = values.iter().fold(self.fitted.scale, furthest);
            }
            PolynomialStage::Degree(weighted, squares) => {
                let unit = self.fitted.scale_values(values);
                let powers = self.fitted.unscaled_power(&unit, self.fitted.alpha.len());
                for (u, p) in unit.iter().zip(powers) {
                    *weighted += u * p * p;
                    *squares += p * p;
                }
            }
        }
    }

    /// Adds the results of a copy that has seen more rows in this round.
    pub(super) fn merge_learner(&mut self, other: &PolynomialLearner) {
        match (&mut self.stage, &other.stage) {
            (PolynomialStage::Centre(mean, different), PolynomialStage::Centre(more, others)) => {
                mean.merge(more);
                for value in others {
                    if different.len() <= self.degree && !different.contains(value) {
                        different.push(*value);
                    }
                }
            }
            (PolynomialStage::Scale, _) => {
                self.fitted.scale = self.fitted.scale.max(other.fitted.scale);
            }
            (PolynomialStage::Degree(weighted, squares), PolynomialStage::Degree(more, others)) => {
                *weighted += more;
                *squares += others;
            }
            _ => panic!("copies of one learner are in one round"),
        }
    }

    /// Ends a round; returns the polynomials after the last.
    pub(super) fn next_round(&mut self) -> Result<Option<Polynomial>, BasisError> {
        match &self.stage {
            PolynomialStage::Centre(mean, different) => {
                if different.len() <= self.degree {
                    return Err(BasisError::Degree {
                        factor: self.factor.clone(),
                        degree: self.degree,
                        distinct: different.len(),
                    });
                }
                self.fitted.centre = mean.value;
                self.stage = PolynomialStage::Scale;
            }
            PolynomialStage::Scale => self.stage = PolynomialStage::Degree(0.0, 0.0),
            PolynomialStage::Degree(weighted, squares) => {
                self.fitted.norm2.push(*squares);
                if self.fitted.alpha.len() == self.degree {
                    return Ok(Some(self.fitted.clone()));
                }
                self.fitted.alpha.push(weighted / squares);
                self.stage = PolynomialStage::Degree(0.0, 0.0);
            }
        }
        Ok(None)
    }
}
