//! What to do about draws that cannot be trusted: only what works for this model, and only what the
//! method has.

use crate::estimate::Level;
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

/// Whether the method of a fit has a setting.
pub(super) fn has(posterior: &Posterior, setting: &str) -> bool {
    let row = method::find(posterior.method()).ok();
    row.is_some_and(|row| row.settings().iter().any(|one| one.name == setting))
}

#[cfg(test)]
mod tests {
    use crate::method::METHODS;

    #[test]
    fn remedies_name_only_methods_and_settings_that_there_are() {
        const PLAIN: [&str; 12] = [
            "a",
            "another",
            "choose",
            "method",
            "non-centred",
            "or",
            "raise",
            "set",
            "spreads",
            "try",
            "use",
            "write",
        ];
        for row in METHODS {
            let settings = row.settings();
            for word in row.remedy.split([' ', ',']) {
                let plain = word.is_empty() || PLAIN.contains(&word);
                let setting = settings.iter().any(|one| one.name == word);
                let other = METHODS
                    .iter()
                    .any(|one| one.name == word && one.name != row.name);
                assert!(plain || setting || other, "{}: {word}", row.name);
            }
        }
        // What the remedy of any method names.
        let nuts = METHODS.iter().find(|row| row.name == "nuts").unwrap();
        assert!(
            nuts.settings()
                .iter()
                .any(|one| one.name == "target-accept")
        );
    }
}
