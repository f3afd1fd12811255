//! A Gaussian process by inducing points on the paper's rows, and the predictive quality of its
//! draws.

use lehr_density::Density;
use lehr_infer::pointwise::pointwise;
use lehr_infer::posterior::Posterior;
use lehr_model::Bound;
use lehr_numeric::kmeans::{Clusters, SignedPoints};
use lehr_numeric::stream::Stream;
use lehr_table::{Moment, Table};
use serde::{Deserialize, Serialize};

use crate::paper::dataset::Origin;
use crate::paper::error::PaperError;
use crate::paper::labelled::Labelled;
use crate::paper::robust::read;
use crate::process::{Response, model};

/// The most rows from which inducing points are chosen.
const MOST_ROWS: usize = 100_000;
/// The most draws that predict test rows.
const TEST_DRAWS: usize = 1000;

/// A function of all columns by inducing points, on training rows and on test rows.
pub(crate) struct Process {
    /// On the training rows.
    pub(crate) density: Bound,
    /// On the test rows.
    test: Bound,
    /// N
    pub(crate) rows: usize,
}

/// The predictive quality of draws.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Forecast {
    /// Mean over test rows of the log of the mean likelihood over draws.
    pub(crate) log_likelihood: f64,
    /// Share of the test rows that were likelier than not: of outcomes the accuracy.
    pub(crate) accuracy: f64,
}

impl Process {
    /// The process with so many points on these parts, standardised on the first.
    pub(crate) fn new(
        mut train: Labelled,
        mut test: Labelled,
        points: usize,
        response: Response,
    ) -> Result<Process, PaperError> {
        Labelled::standardise(&mut train, &mut test);
        if response == Response::Robust {
            standardise(&mut train.y, &mut test.y);
        }
        let width = train.width;
        let some = &train.x[..train.x.len().min(MOST_ROWS * width)];
        let places = Clusters::new(SignedPoints::new(some, width)?, points, 1)?.centroids;
        let model = model(response, places, width);
        let rows = train.rows();
        let bound = |part: Labelled| -> Result<Bound, PaperError> {
            let table = Table::new()
                .with_matrix("x", part.rows(), width, part.x)?
                .with_number("y", part.y)?;
            Ok(model.bind(&table)?)
        };
        Ok(Process {
            density: bound(train)?,
            test: bound(test)?,
            rows,
        })
    }

    /// Test rows.
    pub(crate) fn test_rows(&self) -> usize {
        self.test.n_rows()
    }

    /// The predictive quality of the first draws on the test rows.
    pub(crate) fn forecast(&self, posterior: &Posterior) -> Forecast {
        let size = self.density.latents().size();
        let count = posterior.n_draws().min(TEST_DRAWS);
        let (mut sum, mut hits) = (0.0, 0.0);
        let draws = &posterior.draws[..count * size];
        pointwise(
            &self.test,
            draws,
            &posterior.param_values,
            |rows, values| {
                for row in 0..rows.len() {
                    let log = log_mean(values.iter().skip(row).step_by(rows.len()));
                    sum += log;
                    hits += f64::from(log > -std::f64::consts::LN_2);
                }
            },
        );
        let rows = self.test_rows() as f64;
        Forecast {
            log_likelihood: sum / rows,
            accuracy: hits / rows,
        }
    }
}

/// The logarithm of the mean of the exponentials.
fn log_mean<'a>(logs: impl Iterator<Item = &'a f64> + Clone) -> f64 {
    let largest = logs.clone().copied().fold(f64::NEG_INFINITY, f64::max);
    let (sum, count) = logs.fold((0.0, 0.0), |(sum, count), log| {
        (sum + (log - largest).exp(), count + 1.0)
    });
    largest + (sum / count).ln()
}

/// The mean index of precipitation in 2010 at 10,127 places, or a surface of two columns with the noise
/// of Student's t.
pub(crate) fn precipitation(origin: &Origin) -> Result<Labelled, PaperError> {
    match origin {
        Origin::Folder(folder) => read(&folder.join("precip2010.parquet"), "precipitation", 2),
        Origin::StandIn { rows } => Ok(surface(*rows)),
    }
}

fn surface(rows: usize) -> Labelled {
    let mut stream = Stream::new(7, "precipitation", 0);
    let mut x = Vec::with_capacity(2 * rows);
    let mut y = Vec::with_capacity(rows);
    for _ in 0..rows {
        let [a, b] = [0, 1].map(|_| 6.0 * stream.uniform() - 3.0);
        let squares: f64 = (0..4).map(|_| stream.normal().powi(2)).sum();
        let noise = 0.3 * stream.normal() * (4.0 / squares).sqrt();
        x.extend([a, b]);
        y.push((1.7 * a).sin() * b.cos() + 0.3 * a + noise);
    }
    Labelled { width: 2, x, y }
}

/// Both parts by the mean and the deviation of the first.
fn standardise(train: &mut [f64], test: &mut [f64]) {
    let mut moment = Moment::default();
    for y in train.iter() {
        moment.push_value(*y);
    }
    let (mean, scale) = (moment.mean(), moment.scale());
    for y in train.iter_mut().chain(test) {
        *y = (*y - mean) / scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_likelihoods_is_taken_without_overflow() {
        let logs = [-1000.0, -1000.0 + 3.0_f64.ln()];
        assert!((log_mean(logs.iter()) - (-1000.0 + 2.0_f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn both_responses_bind_with_a_latent_for_each_point() {
        let all = surface(300);
        for response in [Response::Robust, Response::Outcome] {
            let mut rows = all.clone();
            if response == Response::Outcome {
                rows.y.iter_mut().for_each(|y| *y = f64::from(*y > 0.0));
            }
            let (train, test) = rows.split((200, 100), 0);
            let process = Process::new(train, test, 9, response).unwrap();
            assert_eq!(process.density.latents().size(), 9);
            assert_eq!((process.rows, process.test_rows()), (200, 100));
        }
    }
}
