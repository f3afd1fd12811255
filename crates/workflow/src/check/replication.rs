//! Replicated data sets of a fitted model for its own rows.

use lehr_density::{Density, Predictor, RowSet};
use lehr_model::Bound;
use lehr_numeric::stream::Stream;

use crate::predict::MixedMoments;
use crate::saved_fit::SavedFit;

/// The most draws that are replicated.
const DRAWS: usize = 40;

/// The expectations of a fitted model for some rows, and replicated responses.
pub(crate) struct Replication {
    /// The mean of each row over draws.
    pub(crate) centers: Vec<f64>,
    /// The predictive standard deviation of each row; NaN if there is none.
    pub(crate) sds: Vec<f64>,
    /// The responses of each draw.
    pub(crate) replicas: Vec<Vec<f64>>,
}

impl Replication {
    /// Replicates some rows of a fit's own table.
    pub(crate) fn new(saved: &SavedFit, density: &Bound, set: &RowSet<'_>) -> Replication {
        let mut predictor = Predictor::new(density, density.columns(), density.source(), set);
        let mut stream = Stream::new(saved.posterior.origin.seed, "check", 1);
        let draws = saved.draws_on(density, set, DRAWS);
        let mut moments = MixedMoments::new(set.len());
        let mut replicas = Vec::new();
        for draw in draws {
            let of_draw = predictor.moments(&draw, saved.params());
            of_draw.first().into_iter().for_each(|one| moments.add(one));
            let drawn = predictor.draw_responses(&draw, saved.params(), &mut stream);
            replicas.extend(drawn.into_iter().next().map(|predicted| predicted.values));
        }
        Replication {
            sds: moments.sds(),
            centers: moments.means,
            replicas,
        }
    }
}
