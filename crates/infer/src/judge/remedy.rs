//! What to do about draws that cannot be trusted: only what works for this model.

use crate::method;
use crate::posterior::Posterior;

/// Rows times latents up to which chains on all rows end within minutes.
const MOST_FOR_CHAINS: usize = 30_000_000;

/// What would work here, in words.
pub(super) fn remedy(posterior: &Posterior) -> String {
    let row = method::find(posterior.method()).ok();
    let own = row.map_or("", |row| row.remedy);
    let size = posterior.origin.rows * posterior.latents.size();
    // Chains keep θ fixed, so they refuse models that learn it.
    if posterior.params.is_empty() && size <= MOST_FOR_CHAINS {
        let or = if own.is_empty() { "" } else { ", or " };
        return format!("use --method nuts, whose chains are exact{or}{own}");
    }
    if own.is_empty() {
        "try another method".into()
    } else {
        own.into()
    }
}
