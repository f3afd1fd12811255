//! The witness of the base: whether a guide built on a Gaussian improves on it.

use super::{EvidenceKind, Reason, Remedies, Witness};
use crate::estimate::Level;
use crate::posterior::Posterior;

pub(super) const WITNESS: Witness = Witness {
    name: "base",
    standing: EvidenceKind::Stands,
    testify,
};

fn testify(posterior: &Posterior, remedies: &Remedies) -> Option<Reason> {
    let gain = posterior.evidence.as_ref()?.gain.as_ref()?;
    let (lost, error, base) = (-gain.nats.mean, gain.nats.error, &gain.over);
    let raise = ["batch", "chain-steps"];
    let raise = raise.into_iter().find(|name| remedies.has(name));
    let raise = raise.map_or_else(String::new, |name| format!(", or raise {name}"));
    (lost > 2.0 * error).then(|| Reason {
        witness: WITNESS.name.into(),
        level: Level::Reliable,
        sentence: "the chain is worse than the Gaussian it starts from".into(),
        advice: Some(format!(
            "the chain loses {lost:.2} ± {error:.2} nats: use the method {base}{raise}"
        )),
    })
}
