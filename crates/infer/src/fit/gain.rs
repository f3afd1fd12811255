//! What a chain gains over the Gaussian it starts from.

use lehr_density::Density;

use super::{Fit, FitError};
use crate::evaluate::{Evaluated, evaluate};
use crate::guide::{Base, Frame, Learned, all_blocks};
use crate::posterior::Estimate;
use crate::train::Trained;

impl Fit {
    /// How far the bound of a chain is above that of its base: the base trained alone where the
    /// chain started from it, else the base below the chain. A part of the draws tells it.
    pub(super) fn gain_over_base(
        &self,
        place: (&dyn Density, &Frame),
        base: Base,
        (alone, trained): (Option<&Learned>, &Trained),
        evaluated: &Evaluated,
    ) -> Result<Option<Estimate>, FitError> {
        const PART: usize = 4;
        const FEWEST: usize = 25;
        if !self.method.is_annealed() {
            return Ok(None);
        }
        let mut learned = Learned::new(all_blocks(place.0, &base));
        learned.take_from(alone.unwrap_or(&trained.learned));
        let sample = ((self.draws / PART).max(FEWEST), self.train.seed);
        let below = Estimate::of(&evaluate(place, &base, &learned, sample)?.log_weights);
        let own = Estimate::of(&evaluated.log_weights);
        Ok(Some(Estimate {
            mean: own.mean - below.mean,
            error: own.error.hypot(below.error),
        }))
    }
}

/// The gain as it is reported among the choices.
pub(super) fn in_words(gain: Estimate) -> (String, String) {
    let words = format!("{:+.2} ± {:.2} nats", gain.mean, gain.error);
    ("gain over the base".into(), words)
}
