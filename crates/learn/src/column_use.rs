//! The columns of a table that terms read, and the sum of their offsets.

use lehr_formula::ColumnExpr;

use crate::error::LearnError;
use crate::source::Source;

/// The sum of the offsets; `None` without any.
pub fn evaluate_offset(
    terms: &lehr_formula::Terms,
    source: &Source<'_>,
) -> Result<Option<Vec<f64>>, LearnError> {
    let mut sum: Option<Vec<f64>> = None;
    for expr in &terms.offsets {
        let values = source.evaluate(expr)?;
        sum = Some(match sum {
            None => values,
            Some(before) => before.iter().zip(&values).map(|(a, b)| a + b).collect(),
        });
    }
    Ok(sum)
}

/// The columns that rows to predict must have.
pub fn predictor_columns(terms: &lehr_formula::Terms) -> Vec<&str> {
    let others = terms.parameters.iter();
    let others = others.flat_map(lehr_formula::Terms::group_columns);
    let groups = terms.group_columns().chain(others);
    distinct(population_columns(terms).into_iter().chain(groups))
}

/// The columns that rows to predict must have if random effects are left out.
pub fn population_columns(terms: &lehr_formula::Terms) -> Vec<&str> {
    let factors = terms.fixed.iter().flat_map(|term| &term.factors);
    let splines = terms.splines.iter();
    let ordered = terms.monotonics.iter();
    let covariate = terms.covariate.iter();
    let all = (terms.response.addition_columns().into_iter())
        .chain(factors.flat_map(lehr_formula::Factor::column_names))
        .chain(terms.parameter_columns())
        .chain(terms.offsets.iter().flat_map(ColumnExpr::column_names))
        .chain(
            terms
                .smooths
                .iter()
                .flat_map(lehr_formula::SmoothTerm::column_names),
        )
        .chain(splines.flat_map(lehr_formula::SplineTerm::column_names))
        .chain(ordered.map(|effect| effect.coded.column.as_str()))
        .chain(covariate.flat_map(lehr_formula::CovariateTerm::column_names));
    distinct(all)
}

fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}
