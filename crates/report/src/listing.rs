//! Rows of numbers for both the page and the terminal.

use crate::number::{self, decimal_places, format_fixed};
use crate::{Coefficient, Comparison};

/// Headings of [`coefficient_cells`].
pub(crate) const COEFFICIENT: [&str; 7] = ["", "mean", "sd", "5%", "50%", "95%", "mcse"];
/// Headings of [`comparison_cells`].
pub(crate) const COMPARISON: [&str; 5] = ["method", "bound", "test log lik", "k", "time"];

/// A coefficient's name and its numbers, corrected if possible, with digits according to its
/// standard deviation, and last the Monte Carlo error of the mean.
pub(crate) fn coefficient_cells(row: &Coefficient) -> Vec<String> {
    let best = row.best_summary();
    let digits = decimal_places(best.sd);
    let numbers = [best.mean, best.sd, best.q5, best.q50, best.q95];
    let cells = numbers.map(|value| format_fixed(value, digits));
    // One digit of an error is enough.
    let error = best.mcse.map_or_else(
        || "–".to_owned(),
        |mcse| format_fixed(mcse, decimal_places(mcse).saturating_sub(1)),
    );
    let name = std::iter::once(row.name.clone());
    name.chain(cells).chain([error]).collect()
}

/// The results and costs of each method; all bounds have the same digits.
pub(crate) fn comparison_cells(methods: &[Comparison]) -> Vec<Vec<String>> {
    let digits = methods.iter().map(|method| decimal_places(method.se)).min();
    let optional = |value: Option<f64>, digits| match value {
        Some(value) => format_fixed(value, digits),
        None => "–".into(),
    };
    let row = |method: &Comparison| {
        vec![
            method.method.clone(),
            number::with_digits((method.bound, method.se), digits.unwrap_or(0)),
            optional(method.test_log_likelihood, 4),
            optional(method.pareto_k, 2),
            number::format_duration(method.seconds),
        ]
    };
    methods.iter().map(row).collect()
}
