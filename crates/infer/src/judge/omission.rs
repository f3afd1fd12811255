//! The witness of omissions: a fit whose examination was turned off.

use super::Reason;
use super::remedy::Remedies;
use crate::estimate::Level;
use crate::posterior::Posterior;

pub(super) fn testify(posterior: &Posterior, _: &Remedies) -> Option<Reason> {
    let omitted = posterior.importance()?.examination.omitted;
    omitted.then(|| {
        let sentence = "only the weights of the draws were looked at";
        Reason::new(Level::Doubtful, sentence).with_advice("examine the fit")
    })
}
