//! Data sets that a fitted model would draw for rows it has seen.

use lehr_density::{Density, Moments, Predictor, RowSet};
use lehr_model::Bound;
use lehr_numeric::stream::Stream;

use super::SavedFit;

/// Draws that are replicated at the most.
const DRAWS: usize = 40;

/// What a fitted model expects of some rows, and what it would draw for them.
pub(super) struct Replication {
    /// The mean of each row over draws.
    pub(super) centers: Vec<f64>,
    /// The predictive standard deviation of each row; NaN where there is none.
    pub(super) sds: Vec<f64>,
    /// The responses of each draw.
    pub(super) replicas: Vec<Vec<f64>>,
}

impl Replication {
    /// Replicates some rows of a fit's own table.
    pub(super) fn new(saved: &SavedFit, density: &Bound, set: &RowSet<'_>) -> Replication {
        let mut predictor = Predictor::new(density, density.columns(), density.source(), set);
        let mut stream = Stream::new(saved.posterior.origin.seed, "check", 1);
        let draws = saved.draws_on(density, set, DRAWS);
        let mut moments = MixedMoments::new(set.len());
        let mut replicas = Vec::new();
        for draw in draws {
            let of_draw = predictor.moments(&draw, saved.params());
            of_draw.first().into_iter().for_each(|one| moments.add(one));
            let drawn = predictor.draw(&draw, saved.params(), &mut stream);
            replicas.extend(drawn.into_iter().next().map(|predicted| predicted.values));
        }
        Replication {
            sds: moments.sds(),
            centers: moments.means,
            replicas,
        }
    }
}

/// Moments of each row's response under all draws together, one draw at a time (Welford).
#[derive(Clone, Debug)]
pub(super) struct MixedMoments {
    draws: f64,
    /// The mean so far.
    pub(super) means: Vec<f64>,
    /// Squared distances of the draws' means from their mean.
    between: Vec<f64>,
    /// The sum of the draws' own variances.
    within: Vec<f64>,
}

impl MixedMoments {
    pub(super) fn new(rows: usize) -> MixedMoments {
        MixedMoments {
            draws: 0.0,
            means: vec![0.0; rows],
            between: vec![0.0; rows],
            within: vec![0.0; rows],
        }
    }

    /// Takes in what one draw says; without a mean or a variance nothing can be said.
    pub(super) fn add(&mut self, moments: &Moments) {
        let nothing = vec![f64::NAN; self.means.len()];
        let means = moments.mean.as_ref().unwrap_or(&nothing);
        let variances = moments.variance.as_ref().unwrap_or(&nothing);
        self.draws += 1.0;
        for (row, (mean, variance)) in means.iter().zip(variances).enumerate() {
            let step = mean - self.means[row];
            self.means[row] += step / self.draws;
            self.between[row] += step * (mean - self.means[row]);
            self.within[row] += variance;
        }
    }

    /// The standard deviation of each row; NaN where a draw has none.
    pub(super) fn sds(&self) -> Vec<f64> {
        let both = self.between.iter().zip(&self.within);
        both.map(|(between, within)| ((between + within) / self.draws).sqrt())
            .collect()
    }
}
