//! What to do about draws that cannot be trusted: only what works for this model, and only what the
//! method has.

use crate::estimate::Level;
use crate::posterior::Posterior;

/// Rows times latents up to which chains on all rows end within minutes.
const MOST_FOR_CHAINS: usize = 30_000_000;

/// Remedies that the method of a fit has where its draws are not good enough.
#[derive(Clone, Debug, Default)]
pub struct Remedies {
    /// Its own advice where the draws cannot be trusted; empty for none.
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

/// What would work here, in words.
pub(super) fn remedy(posterior: &Posterior, own: &str) -> String {
    let size = posterior.origin.rows * posterior.latents.size();
    // Chains keep θ fixed, so they refuse models that learn it.
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

/// Whether chains from the draws disagreed among themselves: others of their kind, as they are, would
/// not do better.
fn chains_are_slow(posterior: &Posterior) -> bool {
    let examination = posterior.importance().map(|one| &one.examination);
    let opinion = examination.and_then(|one| one.opinion.as_ref());
    opinion.is_some_and(|opinion| opinion.level == Level::Untrusted)
}
