//! Replacement draws, and the draws that a fit keeps.

use lehr_numeric::pareto::Pareto;

use crate::chains::Chains;
use crate::posterior::{Diagnostics, Examination, Importance, Proposal};

/// Draws that replace those of a guide.
pub enum ReplacementDraws {
    /// From Markov chains.
    Chains {
        /// z, one chain after another.
        draws: Vec<f64>,
        /// The diagnostics of the chains.
        chains: Box<Chains>,
    },
    /// From a grid.
    Grid {
        /// z, one independent draw after another.
        draws: Vec<f64>,
        /// The log evidence.
        log_evidence: f64,
    },
}

/// The draws that a fit keeps.
pub(crate) struct KeptDraws {
    /// z, one draw after another.
    pub(crate) draws: Vec<f64>,
    /// Their diagnostics, if they come from chains as replacements.
    pub(crate) chains: Option<Box<Chains>>,
    /// Their weights.
    pub(crate) pareto: Pareto,
    /// Their origin, if they replace a method's own.
    pub(crate) words: Option<String>,
}

impl KeptDraws {
    /// The draws, and their diagnostics as draws of this proposal.
    pub(crate) fn into_importance(
        self,
        proposal: Proposal,
        examination: Examination,
    ) -> (Vec<f64>, Diagnostics) {
        let diagnostics = Diagnostics::Importance(Importance {
            pareto: self.pareto,
            proposal,
            examination,
            chains: self.chains,
        });
        (self.draws, diagnostics)
    }

    /// The replacement draws if there are any, else the method's own.
    pub(crate) fn new(
        better: Option<ReplacementDraws>,
        own: Vec<f64>,
        pareto: Pareto,
    ) -> KeptDraws {
        let (draws, chains, pareto, words) = match better {
            None => (own, None, pareto, None),
            Some(ReplacementDraws::Chains { draws, chains }) => {
                let count = chains.count;
                let words = format!("of {count} Markov chains that started from the guide's");
                (draws, Some(chains), pareto, Some(words))
            }
            Some(ReplacementDraws::Grid {
                draws,
                log_evidence,
            }) => {
                let even = Pareto::even_weights(pareto.log_weights.len(), log_evidence);
                let words = "of a grid over the posterior".to_owned();
                (draws, None, even, Some(words))
            }
        };
        KeptDraws {
            draws,
            chains,
            pareto,
            words,
        }
    }
}
