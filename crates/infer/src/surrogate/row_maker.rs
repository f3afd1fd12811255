//! Construction of surrogates by rows from their recipes, and their restoration.

use std::sync::Arc;

use lehr_density::{Density, RowSet};

use super::centroid::centroids;
use super::covariate::Covariates;
use super::kind::{Maker, SurrogateRequest, read};
use super::recipe::{Labels, Recipe, RowChoice, Weights};
use super::response::{BinaryResponse, binary_response};
use super::row_surrogate::{RowSurrogate, random_rows};
use super::weighted_rows::WeightedRows;
use super::{Coreset, CoresetSettings, FixedRows, StartWeights, Surrogate, SurrogateKind};
use crate::error::SurrogateError;

impl Maker for Recipe {
    fn has_matched_weights(&self) -> bool {
        self.weights == Weights::Learned
    }

    fn build(&self, order: &SurrogateRequest<'_>) -> Result<Arc<dyn Surrogate>, SurrogateError> {
        let (density, settings) = (order.density, order.settings);
        let plain = self.rows == RowChoice::Random && self.labels == Labels::Own;
        let response = (!plain)
            .then(|| binary_response(density, settings.kind))
            .transpose()?;
        let (rows, weights) = self.rows(order, response.as_ref())?;
        let mut weighted = match (self.labels, response) {
            (Labels::Both, Some(response)) => WeightedRows::with_both(&rows, response.name),
            _ => WeightedRows::uniform(rows),
        };
        if let (Weights::Kept, Some(weights)) = (self.weights, weights) {
            weighted = weighted.keeping(weights);
        }
        if settings.start_weights == StartWeights::Matched {
            let what = format!("{} with matched weights", settings.kind);
            weighted.match_to(density, order.setup.mode_for(&what)?)?;
        }
        Ok(Arc::new(RowSurrogate::new(settings.kind, *self, weighted)))
    }

    fn restore(
        &self,
        kind: SurrogateKind,
        bytes: &[u8],
        density: &dyn Density,
    ) -> Result<Arc<dyn Surrogate>, SurrogateError> {
        let weighted: WeightedRows = read(bytes)?;
        weighted.check(*self, density)?;
        Ok(Arc::new(RowSurrogate::new(kind, *self, weighted)))
    }
}

impl Recipe {
    /// The rows, and their own weights if they have any.
    fn rows(
        self,
        order: &SurrogateRequest<'_>,
        response: Option<&BinaryResponse>,
    ) -> Result<(FixedRows, Option<Vec<f64>>), SurrogateError> {
        let (density, seed) = (order.density, order.setup.seed);
        match (self.rows, response) {
            (RowChoice::Coreset, Some(response)) => {
                let drawn = coreset(order, response)?;
                let rows: Vec<usize> = drawn.rows.iter().map(|&row| row as usize).collect();
                Ok((FixedRows::of(density, &rows), Some(drawn.weights)))
            }
            (RowChoice::Centroids, _) => Ok((centroids(order)?, None)),
            _ => {
                let rows = random_rows(density, order.settings.rows, seed);
                Ok((FixedRows::of(density, &rows), None))
            }
        }
    }
}

/// The coreset of the table by its numeric covariates and labels (Huggins et al. 2016).
fn coreset(
    order: &SurrogateRequest<'_>,
    response: &BinaryResponse,
) -> Result<Coreset, SurrogateError> {
    let (density, kind) = (order.density, order.settings.kind);
    let covariates = Covariates::of(density.columns()).filled(kind)?;
    let (source, all) = (density.source(), RowSet::Range(0..density.n_rows()));
    let matrix = covariates.read(source, &all);
    let mut labels = vec![0.0; density.n_rows()];
    source.copy_numbers(response.place, &all, &mut labels);
    let labels: Vec<bool> = labels.into_iter().map(|label| label == 1.0).collect();
    let settings = CoresetSettings::new(order.settings.rows, order.setup.seed);
    let width = covariates.width();
    Ok(Coreset::logistic(&matrix, width, &labels, settings)?)
}
