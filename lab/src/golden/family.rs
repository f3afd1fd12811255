//! Every family of responses, each on a column that suits it.

use super::{Case, fitted};

/// A family and the left side of its formula.
const FAMILIES: &[(&str, &str)] = &[
    ("gaussian", "y"),
    ("student", "y"),
    ("bernoulli", "hit"),
    ("binomial", "hits | trials(trials)"),
    ("beta_binomial", "hits | trials(trials)"),
    ("poisson", "count"),
    ("negbinomial", "count"),
    ("generalized_poisson", "count"),
    ("gamma", "positive"),
    ("lognormal", "positive"),
    ("exponential", "positive"),
    ("weibull", "positive"),
    ("inverse_gaussian", "positive"),
    ("beta", "share"),
    ("von_mises", "angle"),
    ("categorical", "class"),
    ("ordinal", "grade"),
    ("ordinal_probit", "grade"),
    ("zero_inflated_poisson", "zeros"),
    ("zero_inflated_negbinomial", "zeros"),
    ("zero_inflated_binomial", "hits | trials(trials)"),
    ("hurdle_poisson", "zeros"),
    ("hurdle_negbinomial", "zeros"),
    ("poisson_lognormal", "count"),
    ("binomial_logitnormal", "hits | trials(trials)"),
];

/// A Gaussian fit of each family, its predictions and its score.
pub(super) fn cases() -> Vec<Case> {
    let case = |(family, left): &(&str, &str)| {
        let fit = format!(
            "'{left} ~ x1 + color' plain.csv --family {family} --levels 'grade: poor < fair < good' \
             --method full-rank --iterations 40 --draws 200 --seed 4"
        );
        let mut lines = fitted(&fit);
        lines.push(
            "predict fit.lehr new.csv -o predicted.csv --only --draws 50 --responses 1".to_owned(),
        );
        lines.push("evaluate fit.lehr new.csv --draws 50".to_owned());
        Case::lines(format!("family/{family}"), lines)
    };
    FAMILIES.iter().map(case).collect()
}
