//! The witness of the base: whether a guide built on a Gaussian improves on it.

use super::{Reason, Remedies};
use crate::estimate::Level;
use crate::posterior::Posterior;

pub(super) fn testify(posterior: &Posterior, remedies: &Remedies) -> Option<Reason> {
    let gain = posterior.evidence.as_ref()?.gain.as_ref()?;
    let (lost, error, base) = (-gain.nats.mean, gain.nats.error, &gain.over);
    let raise = ["batch", "chain-steps"];
    let raise = raise.into_iter().find(|name| remedies.has(name));
    let raise = raise.map_or_else(String::new, |name| format!(", or raise {name}"));
    (lost > 2.0 * error).then(|| {
        let sentence = "the chain is worse than the Gaussian it starts from";
        Reason::new(Level::Reliable, sentence).with_advice(format!(
            "the chain loses {lost:.2} ± {error:.2} nats: use the method {base}{raise}"
        ))
    })
}
