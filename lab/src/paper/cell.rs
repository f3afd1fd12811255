//! A finished entry of a table: one fit and its quality.

use lehr_infer::annealed::MAX_STEP_SIZE;
use lehr_infer::posterior::{Estimate, Posterior};
use serde::{Deserialize, Serialize};

use crate::paper::job::Recipe;
use crate::paper::problem::Predicted;

/// One fit of one method on one problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The problem, by name.
    pub problem: String,
    /// Rows trained on.
    pub rows: usize,
    /// The method, as the paper names it.
    pub label: String,
    /// The recipe of the fit.
    pub recipe: Recipe,
    /// The seed.
    pub seed: u64,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcome of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The fit succeeded.
    Fitted(Measured),
    /// The fit failed, for this reason.
    Failed(String),
}

/// The quality and the cost of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The bound on the log evidence, on all training rows; chains have none.
    pub bound: Option<Estimate>,
    /// The fit's own estimate of the log evidence, if it has one.
    pub evidence: Option<Estimate>,
    /// k̂ of its weights; `None` if there was no tail to fit.
    pub pareto_k: Option<f64>,
    /// Its predictions of the test rows, if there are any.
    pub predicted: Option<Predicted>,
    /// The mean of the learned step sizes η_k of a chain; at 0 the chain is its base.
    pub step_size: Option<f64>,
    /// Training steps.
    pub iterations: u64,
    /// Whether the bound was level, or the number of steps was fixed.
    pub converged: bool,
    /// Milliseconds per training step.
    pub step_milliseconds: f64,
    /// Seconds from the start to the final estimates.
    pub seconds: f64,
}

impl Measured {
    /// The measurements of a posterior; the caller adds predictions.
    pub fn new(posterior: &Posterior) -> Measured {
        let seconds = posterior.seconds;
        // Weights that are nearly equal have no tail and count as shape 0.
        let weighed = posterior.importance();
        let shape = weighed.map(|_| posterior.pareto_shape().unwrap_or(0.0));
        let shape = shape.filter(|shape| shape.is_finite());
        let training = posterior.training();
        let iterations = training.map_or(0, |training| training.iterations);
        let evidence = posterior.evidence.as_ref();
        Measured {
            bound: posterior.bound(),
            evidence: evidence.map(|evidence| evidence.estimate),
            pareto_k: shape,
            predicted: None,
            step_size: step_size(posterior),
            iterations,
            converged: training.is_some_and(|training| training.converged),
            step_milliseconds: 1e3 * seconds.train / iterations.max(1) as f64,
            seconds: seconds.start + seconds.compile + seconds.train + seconds.evaluate,
        }
    }
}

/// The mean of η_k = clip(η̃ + κβ_k, 0, η_max) over a chain's steps.
fn step_size(posterior: &Posterior) -> Option<f64> {
    let sampler = posterior.sampler().ok()?;
    let (_, all) = sampler.learned()?;
    let learned = |name: &str| all.get(name);
    let first = |name: &str| learned(name)?.first().copied();
    let (own, growth) = (first("step_size")?, first("step_growth")?);
    let widths: Vec<f64> = learned("temperature_increments")?
        .iter()
        .map(|w| w.exp())
        .collect();
    let total: f64 = widths.iter().sum();
    let longest = MAX_STEP_SIZE;
    let least = longest / (1.0 + (-own).exp());
    let mut beta = 0.0;
    let sizes = widths.iter().map(|width| {
        beta += width / total;
        (least + growth * beta).clamp(0.0, longest)
    });
    let sum: f64 = sizes.sum();
    Some(sum / widths.len() as f64)
}

impl Cell {
    /// The measurements, if the fit succeeded.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.outcome {
            Outcome::Fitted(measured) => Some(measured),
            Outcome::Failed(_) => None,
        }
    }
}

/// Cells of the same method, problem and recipe, from different seeds.
#[derive(Clone, Debug, Default)]
pub struct Group<'a>(pub Vec<&'a Measured>);

impl<'a> Group<'a> {
    /// The fits of a method among these cells.
    pub fn of(cells: &'a [Cell], problem: &str, label: &str, recipe: Recipe) -> Group<'a> {
        let same =
            |cell: &&Cell| cell.problem == problem && cell.label == label && cell.recipe == recipe;
        Group(
            cells
                .iter()
                .filter(same)
                .filter_map(Cell::measured)
                .collect(),
        )
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Mean of a quantity over the seeds with its standard error; `None` without a fit.
    pub fn mean(&self, of: impl Fn(&Measured) -> Option<f64>) -> Option<Estimate> {
        let values: Vec<f64> = self.0.iter().filter_map(|m| of(m)).collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2));
        let error = (squares.sum::<f64>() / (count * (count - 1.0).max(1.0))).sqrt();
        (!values.is_empty()).then_some(Estimate { mean, error })
    }

    /// The bound. Its error is that over seeds, or the Monte Carlo error of a single fit.
    pub fn bound(&self) -> Option<Estimate> {
        let mut bound = self.mean(|measured| Some(measured.bound?.mean))?;
        if let [single] = self.0.as_slice() {
            bound.error = single.bound?.error;
        }
        Some(bound)
    }
}

/// The log evidence of a problem: of all estimates with usable weights, the one with the smallest
/// error.
pub fn log_evidence(cells: &[Cell], problem: &str) -> Option<Estimate> {
    const USABLE: f64 = 0.7;
    let here = cells.iter().filter(|cell| cell.problem == problem);
    let usable = |measured: &Measured| {
        let light = measured.pareto_k.is_some_and(|k| k < USABLE);
        (measured.evidence).filter(|evidence| light && evidence.error.is_finite())
    };
    let estimates = here.filter_map(Cell::measured).filter_map(usable);
    estimates.min_by(|a, b| a.error.total_cmp(&b.error))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn cell(label: &str, recipe: Recipe, bound: f64, k: f64) -> Cell {
        Cell {
            problem: "Higgs".into(),
            rows: 100,
            label: label.into(),
            recipe,
            seed: 0,
            outcome: Outcome::Fitted(Measured {
                bound: Some(Estimate {
                    mean: bound,
                    error: 0.1,
                }),
                evidence: Some(Estimate {
                    mean: bound + 1.0,
                    error: k,
                }),
                pareto_k: Some(k),
                predicted: None,
                step_size: None,
                iterations: 10,
                converged: true,
                step_milliseconds: 1.0,
                seconds: 1.0,
            }),
        }
    }

    #[test]
    fn seeds_give_an_error_and_one_fit_has_its_own() {
        let cells = [
            cell("MF", Recipe::Ours, -10.0, 0.2),
            cell("MF", Recipe::Ours, -12.0, 0.2),
            cell("MF", Recipe::Paper, -20.0, 0.2),
        ];
        let both = Group::of(&cells, "Higgs", "MF", Recipe::Ours)
            .bound()
            .unwrap();
        assert_eq!((both.mean, both.error), (-11.0, 1.0));
        let one = Group::of(&cells, "Higgs", "MF", Recipe::Paper)
            .bound()
            .unwrap();
        assert_eq!((one.mean, one.error), (-20.0, 0.1));
        assert!(
            Group::of(&cells, "SUSY", "MF", Recipe::Ours)
                .bound()
                .is_none()
        );
    }

    #[test]
    fn the_evidence_is_that_of_the_best_usable_weights() {
        let cells = [
            cell("MVN", Recipe::Ours, -10.0, 0.3),
            cell("MF", Recipe::Ours, -30.0, 0.1),
            cell("MF", Recipe::Paper, -90.0, 0.9),
        ];
        assert_eq!(log_evidence(&cells, "Higgs").unwrap().mean, -29.0);
        assert!(log_evidence(&cells[2..], "Higgs").is_none());
    }
}
