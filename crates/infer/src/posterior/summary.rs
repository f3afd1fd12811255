//! Location and scale of every number of a posterior.

use lehr_numeric::summary::{WeightedSample, mean, quantile, sd, shortest_interval, sorted};
use serde::{Deserialize, Serialize};

use super::Posterior;
use super::quantity::site_columns;

/// Location and scale of one quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The name, `site` or `site[3]`.
    pub name: String,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The 5 %, 50 % and 95 % quantiles.
    pub quantiles: [f64; 3],
    /// The shortest interval with 90 % of the mass.
    pub shortest: (f64, f64),
}

impl Posterior {
    /// Summaries of every constrained number, from the unweighted draws.
    pub fn summaries(&self) -> Vec<Summary> {
        self.each_quantity(plain_summary)
    }

    /// Summaries from the draws with their smoothed importance weights, which correct the guide's
    /// errors where its draws reach.
    pub fn corrected_summaries(&self) -> Vec<Summary> {
        let weights = self.weights();
        self.each_quantity(|name, values| weighted_summary(name, values, &weights))
    }

    fn each_quantity(&self, summarise: impl Fn(String, &[f64]) -> Summary) -> Vec<Summary> {
        let columns = site_columns(&self.latents, &self.draws).into_iter();
        columns
            .map(|(name, values)| summarise(name, &values))
            .collect()
    }
}

fn plain_summary(name: String, values: &[f64]) -> Summary {
    let in_order = sorted(values);
    Summary {
        name,
        mean: mean(values),
        sd: sd(values),
        quantiles: [0.05, 0.5, 0.95].map(|p| quantile(&in_order, p)),
        shortest: shortest_interval(&in_order, 0.9),
    }
}

fn weighted_summary(name: String, values: &[f64], weights: &[f64]) -> Summary {
    let weighted = WeightedSample::new(values, weights);
    Summary {
        name,
        mean: weighted.mean(),
        sd: weighted.sd(),
        quantiles: [0.05, 0.5, 0.95].map(|p| weighted.quantile(p)),
        shortest: weighted.shortest_interval(0.9),
    }
}
