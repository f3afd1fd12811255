//! The witness of Markov chains: whether they agree, and how many effective draws they have.

use lehr_numeric::summary::sd_error;

use super::Reason;
use super::remedy::Remedies;
use crate::chains::{Chains, Failure};
use crate::posterior::{Diagnostics, Posterior, split};

/// A standard deviation with a larger relative error is not accurate enough: it may be wrong by a
/// tenth.
const KNOWN: f64 = 0.04;
/// Larger sites are skipped, and so are further numbers: chains long enough for a few of them are
/// long enough for the others.
const MOST_ENTRIES: usize = 16;
const MOST_NUMBERS: usize = 64;

/// The standard deviation that the chains determine least accurately, if that is not enough: rarely
/// visited tails leave it uncertain, whatever R̂ and effective sizes say of the middle.
fn vague(posterior: &Posterior, chains: &Chains) -> Option<Failure> {
    let count = chains.count * chains.length;
    let values = posterior.latents.constrain_values(&posterior.draws);
    let sites = values.iter().zip(posterior.latents.sites());
    let few = sites.filter(|(site, _)| site.values.len() <= MOST_ENTRIES * count);
    let columns = few.flat_map(|(site, own)| split(site, &own.entry_names(), count));
    let errors = columns.take(MOST_NUMBERS).map(|(name, values)| {
        let each: Vec<&[f64]> = values.chunks(chains.length.max(1)).collect();
        (name, sd_error(&each))
    });
    // A number that never changes has no error.
    let known = errors.filter(|(_, error)| error.is_finite());
    let (name, error) = known.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let percent = 100.0 * error;
    let found = format!("the standard deviation of {name} is known to {percent:.0} % only");
    (error > KNOWN).then(|| Failure::new(found, "draw more"))
}

/// Advice without the method that was used.
fn other_than<'a>(method: &str, advice: &'a str) -> &'a str {
    const LONGER: &str = "run the chains longer";
    match advice {
        "use nuts" | "run the chains longer, or use nuts" if method == "nuts" => LONGER,
        other => other,
    }
}

pub(super) fn testify(posterior: &Posterior, _: &Remedies) -> Option<Reason> {
    let chains = match &posterior.diagnostics {
        Diagnostics::Chains(chains) => chains,
        // If other draws replaced theirs, these chains do not matter.
        Diagnostics::Importance(one) if one.chains.is_some() => return None,
        Diagnostics::Importance(_) => posterior.proposal_chains()?,
    };
    let (r_hat, fewest) = (chains.largest_r_hat(), chains.fewest_effective());
    let mut failures = chains.failures();
    if matches!(posterior.diagnostics, Diagnostics::Chains(_)) {
        failures.extend(vague(posterior, chains));
    }
    let found: Vec<&str> = failures.iter().map(|one| one.found.as_str()).collect();
    let mut advice: Vec<&str> = (failures.iter())
        .map(|one| other_than(posterior.method(), &one.advice))
        .collect();
    advice.dedup();
    let levels = failures.iter().map(|one| one.level);
    let level = levels.fold(chains.level(), Ord::max);
    let sentence = if found.is_empty() {
        format!("the chains agree (R̂ at most {r_hat:.3}, {fewest:.0} effective draws)")
    } else {
        format!("the chains fall short: {}", found.join(", "))
    };
    Some(Reason {
        advice: (!advice.is_empty()).then(|| advice.join("; ")),
        ..Reason::new(level, sentence)
    })
}

#[cfg(test)]
mod tests {
    use super::other_than;
    use crate::chains::Chains;

    #[test]
    fn nobody_who_used_nuts_is_told_to_use_it() {
        // Chains that never move and disagree fail every diagnostic.
        let worst = Chains {
            r_hat: vec![f64::NAN],
            acceptances: vec![0.1, 0.9],
            ..Chains::default()
        };
        let advice: Vec<String> = worst.failures().into_iter().map(|one| one.advice).collect();
        assert!(advice.iter().any(|one| one == "use nuts"), "{advice:?}");
        for one in &advice {
            assert!(!other_than("nuts", one).contains("use nuts"), "{one}");
            assert_eq!(other_than("hmc", one), one);
        }
    }
}
