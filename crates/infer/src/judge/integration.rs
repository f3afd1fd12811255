//! The witness of quadrature: whether the local latents were integrated out accurately.

use super::Reason;
use super::remedy::Remedies;
use crate::estimate::{Level, short};
use crate::local::Integration;
use crate::posterior::Posterior;

pub(super) fn testify(posterior: &Posterior, _: &Remedies) -> Option<Reason> {
    let Integration { nodes, error } = posterior.origin.integration?;
    // NaN counts as a large error.
    let is_small = error <= Integration::MOST_ERROR;
    (!is_small).then(|| {
        let error = short(error);
        let sentence = format!(
            "integrating out the rows' own latents by {nodes} nodes leaves an error of {error} nats"
        );
        let advice = "give them a prior with lighter tails, or integrate them in closed form";
        Reason::new(Level::Doubtful, sentence).with_advice(advice)
    })
}
