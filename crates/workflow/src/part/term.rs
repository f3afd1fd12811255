//! The terms that can be learned part by part.

use lehr_formula::{Factor, Terms};
use lehr_learn::LearnError;

/// Refuses terms that depend on the order of all rows, which no worker has alone.
pub(crate) fn refuse_ordered_terms(terms: &Terms) -> Result<(), LearnError> {
    let formulas = std::iter::once(terms).chain(&terms.parameters);
    let mut factors = formulas.flat_map(|terms| {
        let slopes = terms.groups.iter().flat_map(|group| &group.slopes);
        let all = terms.fixed.iter().chain(slopes);
        all.flat_map(|term| &term.factors)
    });
    let spline = factors.find(|factor| matches!(factor, Factor::Spline(_)));
    let found = (terms.smooths.first().map(ToString::to_string))
        .or_else(|| terms.all_splines().next().map(|(_, term)| term.to_string()))
        .or_else(|| terms.monotonics.first().map(ToString::to_string))
        .or_else(|| terms.covariate.as_ref().map(ToString::to_string))
        .or_else(|| spline.map(ToString::to_string));
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
