//! The witness of Markov chains: whether they agree, and how many draws theirs are worth.

use super::{Reason, Standing, Witness};
use crate::posterior::{Diagnostics, Posterior};

pub(super) const WITNESS: Witness = Witness {
    name: "mixing",
    standing: Standing::Stands,
    testify,
};

fn testify(posterior: &Posterior) -> Option<Reason> {
    let chains = match &posterior.diagnostics {
        Diagnostics::Chains(chains) => chains,
        // Where others stand in for their draws, these chains are of no account.
        Diagnostics::Importance(one) if one.chains.is_some() => return None,
        Diagnostics::Importance(_) => posterior.proposal_chains()?,
    };
    let (r_hat, fewest) = (chains.largest_r_hat(), chains.fewest_effective());
    let failures = chains.failures();
    let found: Vec<&str> = failures.iter().map(|one| one.found.as_str()).collect();
    let advice: Vec<&str> = failures.iter().map(|one| one.advice.as_str()).collect();
    Some(Reason {
        witness: WITNESS.name.into(),
        level: chains.level(),
        sentence: if found.is_empty() {
            format!("the chains agree (R̂ at most {r_hat:.3}, {fewest:.0} effective draws)")
        } else {
            format!("the chains fall short: {}", found.join(", "))
        },
        advice: (!advice.is_empty()).then(|| advice.join("; ")),
    })
}
