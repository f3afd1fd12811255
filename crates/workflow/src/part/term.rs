//! The terms that can be learned part by part.

use lehr_formula::{Factor, Terms};
use lehr_learn::LearnError;

/// Refuses terms that depend on the order of all rows, which no worker has alone.
pub(crate) fn refuse_ordered_terms(terms: &Terms) -> Result<(), LearnError> {
    let factors = |terms: &Terms| -> Vec<Factor> {
        let slopes = terms.groups.iter().flat_map(|group| &group.slopes);
        let all = terms.fixed.iter().chain(slopes);
        all.flat_map(|term| term.factors.clone()).collect()
    };
    let own = terms.parameters.iter().flat_map(factors);
    let spline = factors(terms)
        .into_iter()
        .chain(own)
        .find(|factor| matches!(factor, Factor::Spline(_)));
    let found = (terms.smooths.first().map(ToString::to_string))
        .or_else(|| terms.all_splines().next().map(|(_, term)| term.to_string()))
        .or_else(|| terms.monotonics.first().map(ToString::to_string))
        .or_else(|| terms.covariate.as_ref().map(ToString::to_string))
        .or_else(|| spline.map(|factor| factor.to_string()));
    match found {
        None => Ok(()),
        Some(found) => Err(LearnError::column(
            "formula",
            "terms that a cluster can learn: columns, levels, poly(), scale(), (1 | group)",
            found,
            "fit it on one machine, from files",
        )),
    }
}
