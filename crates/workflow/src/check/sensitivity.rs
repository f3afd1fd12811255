//! The sensitivity of the posterior to each prior, by power-scaling (Kallioinen et al. 2024).
//!
//! A prior p becomes p^α with α a little below and above 1. The draws are weighted by p^(α − 1)
//! instead of fitted again, and the distance between the weighted and the plain distribution of
//! each coefficient is divided by |log₂ α|.

use lehr_density::Point;
use lehr_graph::Graph;
use lehr_graph::reference::{InputValues, evaluate};
use lehr_regression::{DF_EXCESS, Groups, NamedDraws, RegressionError};
use serde::Serialize;

use crate::fitted_model::AnyModel;
use crate::saved_fit::{SavedFit, used_weights};

/// The powers of the prior.
const POWERS: [f64; 2] = [0.99, 1.01];

/// A larger distance counts as sensitive, as in R's priorsense.
const MATTERS: f64 = 0.05;

/// The sensitivity of the coefficient that one prior moves most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriorSensitivity {
    /// The prior: `weight`, `sd(site)`, `sigma`.
    pub prior: String,
    /// The coefficient that it moves most.
    pub coefficient: String,
    /// The distance between distributions per doubling of the prior's power.
    pub distance: f64,
}

impl PriorSensitivity {
    /// Whether the coefficient is sensitive to the prior.
    pub fn matters(&self) -> bool {
        self.distance > MATTERS
    }
}

impl SavedFit {
    /// The sensitivity to each prior, largest first; empty for models without a formula.
    /// Distributions of random effects given their standard deviation are part of the model and not
    /// priors in this sense.
    pub fn prior_sensitivity(&self) -> Result<Vec<PriorSensitivity>, RegressionError> {
        let names = self.subject.response_names();
        let priors = match &self.subject {
            AnyModel::Regression(regression) => regression.program()?,
            AnyModel::Several(several) => several.program()?,
            AnyModel::Program(_) => return Ok(Vec::new()),
        };
        let weights = used_weights(&self.posterior);
        if weights.len() < 2 || self.is_prior_only() {
            return Ok(Vec::new());
        }
        let columns = self.raw_draws(Groups::Leave);
        let columns: Vec<SortedDraws> = columns.iter().map(SortedDraws::new).collect();
        let graph = Graph::new();
        let z = graph.laned_input("z", [self.posterior.latents.size()]);
        let theta = graph.constant([self.params().len()], self.params());
        let spared = self.posterior.spared.as_ref();
        let whole = spared.map_or(z, |spared| spared.widened(z));
        let terms = priors.site_priors(&Point::new(whole, theta));
        let values = InputValues::new().with(z, &self.posterior.draws);
        let mut found = Vec::new();
        for (site, term) in &terms {
            let own = own_name(names, site);
            if !is_prior(own) {
                continue;
            }
            let logs = evaluate(&[*term], &values, weights.len()).remove(0);
            let moved = |one| (one, SortedDraws::sensitivity(one, &weights, &logs));
            let most = columns.iter().map(moved);
            if let Some((column, distance)) = most.max_by(|a, b| a.1.total_cmp(&b.1)) {
                found.push(PriorSensitivity {
                    prior: site.replace(own, shown(own)),
                    coefficient: column.name.clone(),
                    distance,
                });
            }
        }
        found.sort_by(|a, b| b.distance.total_cmp(&a.distance));
        Ok(found)
    }
}

/// The name of a site in the model of its own response.
fn own_name<'s>(responses: &[String], site: &'s str) -> &'s str {
    let own = |response: &String| site.strip_prefix(response.as_str())?.strip_prefix('.');
    let rest = responses.iter().filter_map(own);
    rest.min_by_key(|rest| rest.len()).unwrap_or(site)
}

/// Whether the law of a site is a prior, and not the distribution of random effects given their
/// standard deviation.
fn is_prior(site: &str) -> bool {
    let effects = ["standard(", "effect(", "unseen("];
    let parts = ["weight.direction", "weight.local", "weight.share"];
    let is_function = site.starts_with("gp(") && site.contains(".weight");
    !effects.iter().any(|start| site.starts_with(start)) && !parts.contains(&site) && !is_function
}

/// The reported name of a site's parameters.
fn shown(site: &str) -> &str {
    match site {
        "intercept" => "Intercept",
        "proportion" => "cutpoint",
        DF_EXCESS => "df",
        other => other,
    }
}

/// The draws of one coefficient, sorted.
struct SortedDraws {
    name: String,
    /// The number of each draw, in increasing order of values.
    order: Vec<usize>,
    /// The distance from each value to the next.
    gaps: Vec<f64>,
}

impl SortedDraws {
    fn new(draws: &NamedDraws) -> SortedDraws {
        let values = &draws.values;
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        let gap = |pair: &[usize]| values[pair[1]] - values[pair[0]];
        SortedDraws {
            name: draws.name.to_string(),
            gaps: order.windows(2).map(gap).collect(),
            order,
        }
    }

    /// The mean over both powers of the distance per doubling.
    fn sensitivity(&self, weights: &[f64], logs: &[f64]) -> f64 {
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let of_power = |power: f64| {
            // A term that does not depend on the draw is stored once.
            let log = |place: usize| logs[place % logs.len()];
            let scaled = weights.iter().enumerate();
            let scaled = scaled.map(|(place, w)| w * ((power - 1.0) * (log(place) - most)).exp());
            let scaled: Vec<f64> = scaled.collect();
            self.distance(weights, &scaled) / power.log2().abs()
        };
        POWERS.iter().map(|power| of_power(*power)).sum::<f64>() / POWERS.len() as f64
    }

    /// The cumulative Jensen–Shannon distance of two weightings: the larger of those by lower and
    /// by upper tails.
    fn distance(&self, first: &[f64], second: &[f64]) -> f64 {
        let (lower_p, lower_q) = (self.cumulative(first), self.cumulative(second));
        let upper = |lower: &[f64]| lower.iter().map(|share| 1.0 - share).collect::<Vec<f64>>();
        let by_lower = self.jensen_shannon(&lower_p, &lower_q);
        by_lower.max(self.jensen_shannon(&upper(&lower_p), &upper(&lower_q)))
    }

    /// The share of the weight up to each value except the last.
    fn cumulative(&self, weights: &[f64]) -> Vec<f64> {
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let shares = self.order.iter().take(self.gaps.len()).map(|place| {
            sum += weights[*place];
            (sum / total).min(1.0)
        });
        shares.collect()
    }

    fn jensen_shannon(&self, p: &[f64], q: &[f64]) -> f64 {
        let integral = |values: &[f64]| {
            let parts = values.iter().zip(&self.gaps);
            parts.map(|(value, gap)| value * gap).sum::<f64>()
        };
        let (of_p, of_q) = (integral(p), integral(q));
        if of_p + of_q <= 0.0 {
            return 0.0;
        }
        let middle = |a: f64, b: f64| {
            if a > 0.0 {
                a * (2.0 * a / (a + b)).log2()
            } else {
                0.0
            }
        };
        // The corrections for the different integrals of P and Q cancel in the sum of both ways.
        let both = p.iter().zip(q).zip(&self.gaps);
        let both = both.map(|((p, q), gap)| gap * (middle(*p, *q) + middle(*q, *p)));
        let sum: f64 = both.sum();
        (sum.max(0.0) / (of_p + of_q)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Φ by its power series, accurate to 1e-10 for |x| < 6.
    fn normal_cdf(x: f64) -> f64 {
        let (mut term, mut sum) = (x, x);
        for k in 1..200 {
            term *= x * x / f64::from(2 * k + 1);
            sum += term;
        }
        0.5 + sum * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt()
    }

    /// A normal posterior N(0, 1) under a normal prior N(m, s²) remains normal when the prior is
    /// raised to a power: with precision 1 + (α − 1)/s² and mean (α − 1) m/s² divided by the
    /// precision.
    #[test]
    fn weighted_draws_have_the_distance_of_the_posterior_under_the_scaled_prior() {
        let (mean, scale) = (3.0, 1.5);
        let grid: Vec<f64> = (-2500..=2500).map(|k| f64::from(k) / 500.0).collect();
        let density: Vec<f64> = grid.iter().map(|x| (-0.5 * x * x).exp()).collect();
        let total: f64 = density.iter().sum();
        let weights: Vec<f64> = density.iter().map(|value| value / total).collect();
        let logs: Vec<f64> = grid
            .iter()
            .map(|x| -0.5 * ((x - mean) / scale).powi(2))
            .collect();
        let column = SortedDraws::new(&NamedDraws {
            name: "x".into(),
            values: grid.clone(),
        });
        let found = column.sensitivity(&weights, &logs);
        let of_power = |power: f64| {
            let precision = 1.0 + (power - 1.0) / scale.powi(2);
            let centre = (power - 1.0) * mean / scale.powi(2) / precision;
            let places = &grid[..grid.len() - 1];
            let plain: Vec<f64> = places.iter().map(|x| normal_cdf(x + 0.001)).collect();
            let moved = places
                .iter()
                .map(|x| normal_cdf((x + 0.001 - centre) * precision.sqrt()));
            let moved: Vec<f64> = moved.collect();
            let upper = |lower: &[f64]| lower.iter().map(|p| 1.0 - p).collect::<Vec<f64>>();
            let distance = column
                .jensen_shannon(&plain, &moved)
                .max(column.jensen_shannon(&upper(&plain), &upper(&moved)));
            distance / power.log2().abs()
        };
        let expected = 0.5 * (of_power(0.99) + of_power(1.01));
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
        assert!(found > MATTERS);
    }
}
