//! The log density of rows that are stored elsewhere: every gradient is a sum that workers compute.

use std::sync::OnceLock;

use lehr_density::job::LikelihoodGradient;
use lehr_rows::{RowStore, RowsError, fold};

use super::log_density_fn::{Evaluator, LogDensityFn, ValueError, origin};
use crate::expansion::LogPrior;
use crate::guide::WhitenedDensity;

/// log p(D, T(x)) of all rows, wherever they are stored; the constant ln |F| is left out.
///
/// Workers sum the slopes of their partitions, and the sums are added in the order of the rows, so
/// a chain does not depend on which worker answers.
pub(crate) struct StoreDensity<'d> {
    place: WhitenedDensity<'d>,
    rows: &'d dyn RowStore,
    /// The reason why rows cannot be reached, once they cannot.
    lost: OnceLock<RowsError>,
}

impl<'d> StoreDensity<'d> {
    /// The density of a place whose rows are stored elsewhere; `None` if its rows are local.
    pub(super) fn of(place: WhitenedDensity<'d>) -> Option<StoreDensity<'d>> {
        let rows = place.density.elsewhere()?;
        Some(StoreDensity {
            place,
            rows,
            lost: OnceLock::new(),
        })
    }

    /// The reason why rows could not be reached, if they could not.
    pub(crate) fn into_lost(self) -> Option<RowsError> {
        self.lost.into_inner()
    }
}

impl LogDensityFn for StoreDensity<'_> {
    fn size(&self) -> usize {
        self.place.density.latents().size()
    }

    fn origin(&self) -> Vec<f64> {
        origin(self.place.density, self.place.whitening)
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(StoreEvaluator {
            of: self,
            prior: LogPrior::new(self.place.density),
        })
    }

    fn kept(&self, x: &[f64]) -> Vec<f64> {
        self.place.whitening.at(x)
    }

    /// A chain mostly waits for answers. All chains send their requests at once, so that workers
    /// need not wait for the driver.
    fn threads(&self, chains: usize) -> usize {
        chains
    }
}

/// One chain with its requests.
struct StoreEvaluator<'a> {
    of: &'a StoreDensity<'a>,
    prior: LogPrior,
}

impl Evaluator for StoreEvaluator<'_> {
    fn value(&mut self, x: &[f64], slope: &mut [f64]) -> Result<f64, ValueError> {
        let WhitenedDensity {
            density,
            whitening,
            params,
        } = self.of.place;
        if self.of.lost.get().is_some() {
            return Err(ValueError::Lost);
        }
        let z = whitening.at(x);
        let found = fold(self.of.rows, &LikelihoodGradient::new(density, &z, params));
        let sums = found.map_err(|error| {
            // The first reason is kept.
            let _ = self.of.lost.set(error);
            ValueError::Lost
        })?;
        let (own, own_slope) = self.prior.at(&z, params);
        let both: Vec<f64> = (own_slope.iter().zip(&sums.latents))
            .map(|(a, b)| a + b)
            .collect();
        slope.copy_from_slice(&whitening.pulled(&both));
        let value = own + sums.value;
        let finite = value.is_finite() && slope.iter().all(|one| one.is_finite());
        finite.then_some(value).ok_or(ValueError::NotFinite)
    }
}
