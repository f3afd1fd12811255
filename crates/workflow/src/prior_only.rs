//! Fits of the prior alone: draws of the prior in place of a posterior.

use lehr_density::Density;
use lehr_infer::posterior::Posterior;
use lehr_learn::LearnError;
use lehr_model::PriorError;
use lehr_numeric::stream::Stream;

use crate::bound::BoundRegression;
use crate::error::Error;
use crate::saved_fit::SavedFit;

impl BoundRegression {
    /// Independent draws of the prior as a fit, which predicts and reports like any other. The
    /// likelihood of the rows is not used; default priors are nevertheless scaled to the table.
    ///
    /// # Errors
    /// If a prior cannot be drawn from, such as a flat one.
    pub fn prior_only(&self, draws: usize, seed: u64) -> Result<SavedFit, Error> {
        if draws < FEWEST {
            return Err(LearnError::column(
                "--draws",
                format!("at least {FEWEST} draws of the prior"),
                draws.to_string(),
                "leave it out for 1000",
            )
            .into());
        }
        let bound = &self.bound;
        let params = bound.params().start();
        let mut stream = Stream::new(seed, "prior", 0);
        let mut flat = Vec::new();
        for _ in 0..draws {
            let drawn = bound.draw_prior(params, &mut stream);
            flat.extend(drawn.map_err(|error| self.named_prior(error))?);
        }
        Ok(self.saved(Posterior::of_prior(bound, flat, seed)))
    }
}

impl BoundRegression {
    /// The error with the name of a coefficient instead of a site.
    fn named_prior(&self, error: PriorError) -> PriorError {
        match error {
            PriorError::Flat { name } => PriorError::Flat {
                name: self.subject.shown_name(&name).unwrap_or(name),
            },
            other @ PriorError::Edge { .. } => other,
        }
    }
}

/// Fewer draws have no quantiles.
const FEWEST: usize = 20;
