//! Logistic regression on training rows, and the predictive quality of draws on test rows.

use lehr_model::distribution::{Bernoulli, Distribution, Normal};
use lehr_model::{Bound, Model};
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use crate::paper::error::PaperError;
use crate::paper::labelled::Labelled;

/// Draws that test rows are predicted from.
const TEST_DRAWS: usize = 512;

/// A logistic regression with a N(0, 1) prior on an intercept and on every weight, and the rows
/// it is tested on.
pub struct Problem {
    /// The model on its training rows.
    pub density: Bound,
    /// Rows it is trained on.
    pub train_rows: usize,
    test: Labelled,
}

/// The predictive quality of draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// Mean over test rows of the log of the mean likelihood over draws.
    pub log_likelihood: f64,
    /// Share of the test rows whose label was the likelier one.
    pub accuracy: f64,
    /// The same among the rows of label 1.
    pub rare_accuracy: f64,
}

impl Problem {
    /// The regression on these parts, standardised on the first.
    pub fn new(mut train: Labelled, mut test: Labelled) -> Result<Problem, PaperError> {
        Labelled::standardise(&mut train, &mut test);
        Problem::as_given(train, test)
    }

    /// The regression on these parts with the features as they are.
    pub fn as_given(train: Labelled, test: Labelled) -> Result<Problem, PaperError> {
        let (width, rows) = (train.width, train.rows());
        let model = Model::new(move |m| {
            let level = m.sample("level", Normal::new(0.0, 1.0));
            let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([width]));
            m.rows(|row| {
                let logit = row.matrix("x").dot(weight) + level;
                row.observe("y", Bernoulli::with_logit(logit));
            });
        });
        let table = Table::new()
            .with_matrix("x", rows, width, train.x)?
            .with_number("y", train.y)?;
        Ok(Problem {
            density: model.bind(&table)?,
            train_rows: rows,
            test,
        })
    }

    /// Test rows.
    pub fn test_rows(&self) -> usize {
        self.test.rows()
    }

    /// The predictive quality of the first draws on the test rows; `None` without test rows.
    pub fn predicted(&self, draws: &[f64]) -> Option<Predicted> {
        let size = 1 + self.test.width;
        let draws: Vec<&[f64]> = draws.chunks_exact(size).take(TEST_DRAWS).collect();
        if self.test.rows() == 0 || draws.is_empty() {
            return None;
        }
        let (mut sum, mut hits, mut rare_hits) = (0.0, 0.0, 0.0);
        for (x, &y) in self.test.x.chunks_exact(self.test.width).zip(&self.test.y) {
            let chances = draws.iter().map(|draw| chance(draw, x));
            let yes = chances.sum::<f64>() / draws.len() as f64;
            let likelihood = if y == 1.0 { yes } else { 1.0 - yes };
            sum += likelihood.max(f64::MIN_POSITIVE).ln();
            let hit = f64::from(likelihood > 0.5);
            hits += hit;
            rare_hits += hit * y;
        }
        let rows = self.test.rows() as f64;
        Some(Predicted {
            log_likelihood: sum / rows,
            accuracy: hits / rows,
            rare_accuracy: rare_hits / self.test.y.iter().sum::<f64>().max(1.0),
        })
    }
}

/// The chance of label 1 under one draw: intercept, then weights.
fn chance(draw: &[f64], x: &[f64]) -> f64 {
    let (level, weights) = draw.split_first().expect("a draw has an intercept");
    let logit: f64 = weights.iter().zip(x).map(|(w, x)| w * x).sum();
    1.0 / (1.0 + (-(level + logit)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_count_hits_overall_and_among_the_rare() {
        let rows = |x: Vec<f64>, y: Vec<f64>| Labelled { width: 1, x, y };
        let train = rows(vec![-1.0, 1.0, -1.0, 1.0], vec![0.0, 1.0, 0.0, 1.0]);
        let test = rows(vec![-1.0, 1.0, -1.0, 1.0], vec![0.0, 1.0, 1.0, 1.0]);
        let problem = Problem::new(train, test).unwrap();
        let found = problem.predicted(&[0.0, 2.0]).unwrap();
        let right = -(-2.0_f64).exp().ln_1p();
        assert!((found.log_likelihood - (right - 0.5)).abs() < 1e-12);
        assert_eq!(found.accuracy, 0.75);
        assert!((found.rare_accuracy - 2.0 / 3.0).abs() < 1e-15);
        assert!(problem.predicted(&[]).is_none());
    }
}
