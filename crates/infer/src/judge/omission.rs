//! The witness of omissions: a fit whose examination was turned off.

use super::remedy::Remedies;
use super::{EvidenceKind, Reason, Witness};
use crate::estimate::Level;
use crate::posterior::Posterior;

pub(super) const WITNESS: Witness = Witness {
    name: "omission",
    standing: EvidenceKind::Stands,
    testify,
};

fn testify(posterior: &Posterior, _: &Remedies) -> Option<Reason> {
    let omitted = posterior.importance()?.examination.omitted;
    omitted.then(|| Reason {
        witness: WITNESS.name.into(),
        level: Level::Doubtful,
        sentence: "only the weights of the draws were looked at".into(),
        advice: Some("examine the fit".into()),
    })
}
