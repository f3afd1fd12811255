//! The witness of quadrature: whether the local latents were integrated out accurately.

use super::remedy::Remedies;
use super::{EvidenceKind, Reason, Witness};
use crate::estimate::{Level, short};
use crate::local::Integration;
use crate::posterior::Posterior;

pub(super) const WITNESS: Witness = Witness {
    name: "integration",
    standing: EvidenceKind::Stands,
    testify,
};

fn testify(posterior: &Posterior, _: &Remedies) -> Option<Reason> {
    let Integration { nodes, error } = posterior.origin.integration?;
    // NaN counts as a large error.
    let is_small = error <= Integration::MOST_ERROR;
    (!is_small).then(|| Reason {
        witness: WITNESS.name.into(),
        level: Level::Doubtful,
        sentence: format!(
            "integrating out the rows' own latents by {nodes} nodes leaves an error of {} nats",
            short(error)
        ),
        advice: Some(
            "give them a prior with lighter tails, or integrate them in closed form".into(),
        ),
    })
}
