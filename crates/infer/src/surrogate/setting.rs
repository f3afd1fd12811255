//! The settings of a surrogate, and the inputs for building it.

use std::sync::Arc;

use lehr_density::Density;

use super::kind::SurrogateRequest;
use super::{Surrogate, SurrogateKind};
use crate::error::SurrogateError;
use crate::expansion::Mode;
use crate::guide::Whitening;
use crate::setting::Setting;

/// The starting values of learned weights of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StartWeights {
    /// `N/N_surr` each.
    #[default]
    Uniform,
    /// The weights that match the gradient and Hessian of all rows at the mode best, by nonnegative
    /// least squares.
    Matched,
}

/// The settings of a surrogate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurrogateSettings {
    /// The kind of surrogate.
    pub kind: SurrogateKind,
    /// `N_surr`: rows, covariates, draws of a coreset or centroids. `nn` has none.
    pub rows: usize,
    /// The starting values of learned weights of rows.
    pub start_weights: StartWeights,
    /// Units in each of the two layers of `nn`.
    pub hidden: usize,
    /// The most rows that `km-*` cluster; of a longer table, a random sample of this size.
    pub clustered_rows: usize,
}

impl Default for SurrogateSettings {
    fn default() -> Self {
        SurrogateSettings {
            kind: SurrogateKind::RANDOM,
            rows: 256,
            start_weights: StartWeights::Uniform,
            hidden: 100,
            clustered_rows: 50_000,
        }
    }
}

/// The inputs of a surrogate besides the model and its table.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Names the random streams.
    pub seed: u64,
    /// The mode, which `taylor` and matched weights need.
    pub mode: Option<&'a Mode>,
    /// The location of the posterior, as far as it is known: the rows of `taylor` are selected by
    /// the error of their expansion there.
    pub whitening: &'a Whitening,
}

impl<'a> Setup<'a> {
    pub(crate) fn mode_for(&self, what: &str) -> Result<&'a Mode, SurrogateError> {
        let problem = || format!("{what} needs the posterior's mode, but none was computed");
        self.mode.ok_or_else(|| SurrogateError::refusal(problem()))
    }
}

/// The setting of the number of a surrogate's rows.
pub(crate) fn rows_setting(rows: &mut Option<usize>) -> Setting<'_> {
    Setting::count("surrogate-rows", "rows of the surrogate", rows)
}

impl SurrogateSettings {
    /// A surrogate of this kind on this many rows.
    pub fn new(kind: SurrogateKind, rows: usize) -> SurrogateSettings {
        SurrogateSettings {
            kind,
            rows,
            ..SurrogateSettings::default()
        }
    }

    /// Builds the surrogate. Settings that cannot work are refused in one sentence.
    pub fn build(
        &self,
        density: &dyn Density,
        setup: &Setup<'_>,
    ) -> Result<Arc<dyn Surrogate>, SurrogateError> {
        self.check(density)?;
        let order = SurrogateRequest {
            density,
            settings: self,
            setup,
        };
        self.kind.maker().build(&order)
    }

    fn check(&self, density: &dyn Density) -> Result<(), SurrogateError> {
        let kind = self.kind;
        if let Some(site) = (density.locals()).and_then(|own| own.layout().sites().first()) {
            let site = &site.name;
            return Err(SurrogateError::refusal(format!(
                "a surrogate has no local latents, but the model gives each row {site:?}"
            )));
        }
        if self.start_weights == StartWeights::Matched && !kind.has_matched_weights() {
            return Err(SurrogateError::refusal(format!(
                "matched weights are for surrogates that learn theirs from the mode on, but the surrogate is {kind}"
            )));
        }
        let (asked, rows) = (self.rows, density.n_rows());
        match asked {
            _ if !kind.has_rows() => Ok(()),
            0 => Err(SurrogateError::refusal(format!(
                "0 surrogate rows were asked for, but {kind} needs at least 1"
            ))),
            _ if asked > rows => Err(SurrogateError::refusal(format!(
                "{asked} surrogate rows were asked for, but the table has {rows}"
            ))),
            _ => Ok(()),
        }
    }
}
