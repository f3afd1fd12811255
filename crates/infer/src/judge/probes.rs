//! The witness of random probes: the accuracy of the density of hyperparameters if a determinant is
//! estimated.

use super::remedy::Remedies;
use super::{EvidenceKind, Reason, Witness};
use crate::estimate::Level;
use crate::posterior::{Posterior, ProbeAccuracy};

pub(super) const WITNESS: Witness = Witness {
    name: "probes",
    standing: EvidenceKind::Stands,
    testify,
};

/// The tolerated error in nats between points; it moves a mean by less than a tenth of a standard
/// deviation.
const CLOSE: f64 = 0.1;

fn testify(posterior: &Posterior, _: &Remedies) -> Option<Reason> {
    let ProbeAccuracy { count, error } = posterior.importance()?.examination.probes?;
    let is_close = error < CLOSE;
    let known = format!("the spreads are not weighed exactly ({count} probes, ± {error:.3} nats)");
    Some(Reason {
        witness: WITNESS.name.into(),
        level: if is_close {
            Level::Reliable
        } else {
            Level::Doubtful
        },
        sentence: known,
        advice: None,
    })
}
