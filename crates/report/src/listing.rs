//! Rows of numbers for both the page and the terminal.

use crate::number::{self, decimals, fixed};
use crate::{Coefficient, Comparison};

/// Headings of [`coefficient`].
pub(crate) const COEFFICIENT: [&str; 7] = ["", "mean", "sd", "5%", "50%", "95%", "mcse"];
/// Headings of [`comparison`].
pub(crate) const COMPARISON: [&str; 5] = ["method", "bound", "test log lik", "k", "time"];

/// A coefficient's name and its numbers, corrected if possible, with digits according to its
/// standard deviation, and last the Monte Carlo error of the mean.
pub(crate) fn coefficient(row: &Coefficient) -> Vec<String> {
    let best = row.best();
    let digits = decimals(best.sd);
    let numbers = [best.mean, best.sd, best.q5, best.q50, best.q95];
    let cells = numbers.map(|value| fixed(value, digits));
    // One digit of an error is enough.
    let error = best.mcse.map_or_else(
        || "–".to_owned(),
        |mcse| fixed(mcse, decimals(mcse).saturating_sub(1)),
    );
    let name = std::iter::once(row.name.clone());
    name.chain(cells).chain([error]).collect()
}

/// The results and costs of each method; all bounds have the same digits.
pub(crate) fn comparison(methods: &[Comparison]) -> Vec<Vec<String>> {
    let digits = methods.iter().map(|method| decimals(method.se)).min();
    let optional = |value: Option<f64>, digits| match value {
        Some(value) => fixed(value, digits),
        None => "–".into(),
    };
    let row = |method: &Comparison| {
        vec![
            method.method.clone(),
            number::with_digits((method.bound, method.se), digits.unwrap_or(0)),
            optional(method.test_log_likelihood, 4),
            optional(method.pareto_k, 2),
            number::duration(method.seconds),
        ]
    };
    methods.iter().map(row).collect()
}
