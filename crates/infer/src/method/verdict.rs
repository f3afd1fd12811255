//! The verdict on a posterior, with the remedies of its method.

use super::find;
use crate::estimate::Level;
use crate::judge::{Remedies, Verdict};
use crate::posterior::Posterior;

impl Posterior {
    /// The reliability of the draws: as they are, corrected by their weights, or not at all.
    pub fn draws_level(&self) -> Level {
        self.verdict().level
    }

    /// The reliability of the draws, the reasons, and advice.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self, &remedies(self.method()))
    }
}

/// The remedies of the method of this name.
fn remedies(method: &str) -> Remedies {
    find(method).map_or_else(
        |_| Remedies::default(),
        |row| Remedies {
            own: row.remedy,
            settings: row.settings().iter().map(|one| one.name).collect(),
        },
    )
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
        // The remedies that advice for any method mentions.
        let nuts = METHODS.iter().find(|row| row.name == "nuts").unwrap();
        assert!(
            nuts.settings()
                .iter()
                .any(|one| one.name == "target-accept")
        );
    }
}
