//! The witness of Markov chains: whether they agree, and how many draws theirs are worth.

use super::{Level, Reason, Witness};
use crate::posterior::{Diagnostics, Posterior};

pub(super) const WITNESS: Witness = Witness {
    name: "mixing",
    testify,
};

/// Split R̂ of ranks above which chains have not mixed (Vehtari et al. 2021).
const MIXED: f64 = 1.01;
/// Effective draws that each chain has to be worth (Vehtari et al. 2021).
const EFFECTIVE: f64 = 100.0;

fn testify(posterior: &Posterior) -> Option<Reason> {
    let Diagnostics::Chains(chains) = &posterior.diagnostics else {
        return None;
    };
    let (worst, fewest) = (chains.largest_r_hat(), chains.fewest_effective());
    let enough = fewest >= EFFECTIVE * chains.count as f64;
    // A comparison with NaN is false: chains that stood still have not mixed.
    let mixed = worst <= MIXED && enough && chains.divergences == 0;
    let found = format!(
        "R̂ at most {worst:.3}, {fewest:.0} effective draws, {} divergences",
        chains.divergences
    );
    Some(Reason {
        level: if mixed {
            Level::Reliable
        } else {
            Level::Untrusted
        },
        sentence: if mixed {
            format!("the chains agree ({found})")
        } else {
            format!("the chains have not mixed ({found})")
        },
        advice: (!mixed).then(|| "run the chains longer".into()),
    })
}
