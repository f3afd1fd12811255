//! Formulas of many kinds, with rows in memory.

use super::{Case, fitted};

/// The feature that a formula tests, and the line of its fit.
const FORMULAS: &[(&str, &str)] = &[
    (
        "factors and interactions",
        "'y ~ x1 * color + C(size, sum) + poly(dose, 3) + scale(x2) + I(day > 5)' plain.csv --method full-rank",
    ),
    (
        "chains on condensed rows",
        "'y ~ x1 + x2 + color + C(month)' plain.csv --method nuts --chains 2 --warm-up 100 --draws 200",
    ),
    (
        "offset and weights",
        "'count ~ x1 + offset(log(dose)) + weights(weight)' plain.csv --family poisson --method full-rank",
    ),
    (
        "horseshoe",
        "'y ~ x1 + x2 + z + dose + color' plain.csv --prior 'weight ~ horseshoe(0.05, 2)' --method sl-dais \
         --iterations 80",
    ),
    (
        "priors of many kinds",
        "'y ~ x1 + x2 + dose' plain.csv --prior 'x1 ~ laplace(0, 1)' --prior 'x2 ~ student_t(4, 0, 1)' \
         --prior 'sigma ~ exponential(1)' --method full-rank --iterations 80",
    ),
    (
        "missing rows left out",
        "'y ~ x1 + lost' plain.csv --missing drop --method full-rank",
    ),
    (
        "gaps",
        "'y ~ x1 + mi(gap)' plain.csv --method full-rank --iterations 80",
    ),
    (
        "errors of measurement",
        "'count ~ me(z, 0.4) + x2' plain.csv --family poisson --method full-rank --iterations 40",
    ),
    (
        "monotonic",
        "'y ~ x1 + mo(size, levels = c(\"small\", \"mid\", \"large\", \"huge\"))' plain.csv \
         --method full-rank --iterations 80",
    ),
    (
        "effects of rows",
        "'count ~ x1 + (1 | row())' plain.csv --family poisson --method semi-dais --latent-guide sl-dais \
         --surrogate points --iterations 20 --draws 100",
    ),
    (
        "known errors",
        "'y | se(se) ~ x1 + (1 | site)' plain.csv --method collapse",
    ),
    (
        "censored",
        "'positive | cens(status, upper) ~ x1' plain.csv --family weibull --method full-rank --iterations 80",
    ),
    (
        "truncated",
        "'positive | trunc(lb = lower) ~ x1' plain.csv --family lognormal --method full-rank --iterations 80",
    ),
    (
        "formulas of parameters",
        "'y ~ x1 + (1 | site)' plain.csv --formula 'sigma ~ x2 + (1 | teacher)' --method nuts --chains 2 \
         --warm-up 150 --draws 200",
    ),
    (
        "nested groups",
        "'y ~ x1 + (1 | site/plot)' plain.csv --method collapse",
    ),
    (
        "crossed groups with slopes",
        "'y ~ x1 + (1 + x1 | site) + (0 + dose || teacher)' plain.csv --method collapse",
    ),
    (
        "spreads by chains",
        "'y ~ x1 + (1 | site) + (1 | teacher)' plain.csv --method collapse --spreads chains --draws 200",
    ),
    (
        "groups and events",
        "'hit ~ x1 + (1 | site)' plain.csv --family bernoulli --method collapse",
    ),
    (
        "slopes and counts",
        "'count ~ x1 + (1 + x1 | site) + (1 | teacher)' plain.csv --family poisson --method collapse \
         --spreads points --draws 400",
    ),
    (
        "groups and a shape",
        "'count ~ x1 + (1 | site)' plain.csv --family negbinomial --method collapse --spreads points --draws 400",
    ),
    (
        "spread of counts by chains",
        "'count ~ 1 + (1 | teacher)' plain.csv --family poisson --method collapse --spreads chains --draws 40",
    ),
    (
        "groups by chains",
        "'hit ~ x1 + (1 + x1 | site)' plain.csv --family bernoulli --method nuts --chains 2 --warm-up 150 --draws 200",
    ),
    ("smooth", "'curve ~ s(day)' plain.csv --method collapse"),
    (
        "smooths by levels and on a circle",
        "'curve ~ color + s(day, by = color, k = 6) + s(month, bs = \"cc\", period = 12, k = 6)' plain.csv \
         --method collapse \
         --draws 200",
    ),
    (
        "smooth counts",
        "'count ~ s(day, bs = \"ps\", k = 8) + (1 | site)' plain.csv --family poisson --method collapse \
         --spreads points --draws 200",
    ),
    (
        "splines",
        "'curve ~ bs(day, df = 5) + ns(dose, df = 3)' plain.csv --method full-rank",
    ),
    (
        "process",
        "'curve ~ gp(day, k = 12)' plain.csv --method collapse --draws 200",
    ),
    (
        "process of two columns",
        "'y ~ x1 + gp(lon, lat, k = 16)' plain.csv --method nuts --chains 2 --warm-up 100 --draws 100",
    ),
    (
        "process of three columns",
        "'y ~ gp(x1, lon, lat, k = 12)' plain.csv --method full-rank --iterations 60 --draws 200",
    ),
    (
        "several responses",
        "'mvbind(y, count) ~ x1 + (1 |p| site)' plain.csv --family gaussian,poisson --method collapse --draws 400",
    ),
    (
        "correlated residuals",
        "'bf(y ~ x1) + bf(y2 ~ x2) + set_rescor(TRUE)' plain.csv --method full-rank --iterations 80",
    ),
    (
        "chosen by itself",
        "'hit ~ x1 + (1 | site)' plain.csv --budget 100000000",
    ),
    (
        "chosen without groups",
        "'hit ~ x1 + color' plain.csv --budget 100000000",
    ),
    (
        "refused",
        "'y ~ hieght + (1 | site)' plain.csv --method full-rank",
    ),
];

/// A fit of each formula, its draws including random effects, and predictions of other rows.
pub(super) fn cases() -> Vec<Case> {
    let case = |(name, fit): &(&str, &str)| {
        let mut lines = fitted(&format!("{fit} --seed 5 --groups"));
        if *name == "refused" {
            lines.truncate(1);
        } else {
            lines.push(
                "predict fit.lehr new.csv -o predicted.csv --only --draws 50 --missing drop"
                    .to_owned(),
            );
        }
        Case::lines(format!("formula/{name}"), lines)
    };
    FORMULAS.iter().map(case).collect()
}
