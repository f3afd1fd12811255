//! Advice on draws that cannot be trusted: only remedies that work for this model and that the
//! method has.

use crate::estimate::Level;
use crate::posterior::Posterior;

/// Rows times latents up to which chains on all rows finish within minutes.
const MOST_FOR_CHAINS: usize = 30_000_000;

/// The remedies of a fit's method.
#[derive(Clone, Debug, Default)]
pub struct Remedies {
    /// Its own advice for draws that cannot be trusted; empty for none.
    pub own: &'static str,
    /// Its settings by name.
    pub settings: Vec<&'static str>,
}

impl Remedies {
    /// Whether the method has a setting.
    pub(super) fn has(&self, setting: &str) -> bool {
        self.settings.contains(&setting)
    }
}

/// The remedy for this model, in words.
pub(super) fn remedy(posterior: &Posterior, own: &str) -> String {
    let size = posterior.origin.rows * posterior.latents.size();
    // Chains keep θ fixed, so they refuse models that learn θ.
    let chains = posterior.params.is_empty() && size <= MOST_FOR_CHAINS;
    match (chains && posterior.method() != "nuts", own) {
        (true, _) if chains_are_slow(posterior) => {
            "write effects as their spread times standard normals, or use --method nuts with \
             --target-accept 0.99, and look at its own verdict"
                .into()
        }
        (true, "") => "use --method nuts, whose chains are exact".into(),
        (true, own) => format!("use --method nuts, whose chains are exact, or {own}"),
        (false, "") => "try another method".into(),
        (false, own) => own.into(),
    }
}

/// Whether chains from the draws disagreed: other chains of the same kind would not do better.
fn chains_are_slow(posterior: &Posterior) -> bool {
    let examination = posterior.importance().map(|one| &one.examination);
    let opinion = examination.and_then(|one| one.opinion.as_ref());
    opinion.is_some_and(|opinion| opinion.level == Level::Untrusted)
}
