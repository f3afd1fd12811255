//! The columns of a table that terms read, and the sum of their offsets.

use lehr_formula::{ColumnExpr, CovariateTerm, Factor, SmoothTerm, SplineTerm, Terms};

use crate::error::LearnError;
use crate::source::Source;

/// The sum of the offsets; `None` without any.
pub fn evaluate_offset(terms: &Terms, source: &Source<'_>) -> Result<Option<Vec<f64>>, LearnError> {
    let all = source.evaluate_all(&terms.offsets)?.into_iter();
    Ok(all.reduce(|sum, values| sum.iter().zip(&values).map(|(a, b)| a + b).collect()))
}

/// The columns that rows to predict must have.
pub fn predictor_columns(terms: &Terms) -> Vec<&str> {
    let others = terms.parameters.iter().flat_map(Terms::group_columns);
    let groups = terms.group_columns().chain(others);
    distinct_names(population_columns(terms).into_iter().chain(groups))
}

/// The columns that rows to predict must have if random effects are left out.
pub fn population_columns(terms: &Terms) -> Vec<&str> {
    let factors = terms.fixed.iter().flat_map(|term| &term.factors);
    let smooths = terms.smooths.iter();
    let splines = terms.splines.iter();
    let ordered = terms.monotonics.iter();
    let covariate = terms.covariate.iter();
    let all = (terms.response.addition_columns().into_iter())
        .chain(factors.flat_map(Factor::column_names))
        .chain(terms.parameter_columns())
        .chain(terms.offsets.iter().flat_map(ColumnExpr::column_names))
        .chain(smooths.flat_map(SmoothTerm::column_names))
        .chain(splines.flat_map(SplineTerm::column_names))
        .chain(ordered.map(|effect| effect.coded.column.as_str()))
        .chain(covariate.flat_map(CovariateTerm::column_names));
    distinct_names(all)
}

/// All names, each once, in the order in which they first occur.
pub fn distinct_names<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}
