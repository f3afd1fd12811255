//! Simulation-based calibration: data drawn from the prior and fitted, and the ranks of the true
//! values.

use lehr_density::FlatDraws;
use lehr_infer::fit::{Fit, FitError};
use lehr_learn::LearnError;
use lehr_model::Bound;
use lehr_numeric::order::permutation;
use lehr_numeric::stream::Stream;
use lehr_regression::{Groups, MultivariateRegression, NamedDraws};
use lehr_table::{Column, Table};
use serde::Serialize;

use crate::error::Error;
use crate::saved_fit::{SavedFit, coefficients, used_weights};

/// The settings of simulation-based calibration: data sets are drawn from the prior and fitted.
pub struct Simulation<'a> {
    /// The fit whose model and method are simulated.
    pub saved: &'a SavedFit,
    /// The number of data sets.
    pub count: usize,
    /// The most rows of each data set.
    pub rows: usize,
    /// Training steps of each fit; the default if `None`.
    pub iterations: Option<u64>,
}

/// The ranks of one coefficient.
#[derive(Serialize)]
pub struct Ranks {
    /// The coefficient.
    pub name: String,
    /// The share of draws below the truth, one per data set.
    pub ranks: Vec<f64>,
    /// The p-value of the Kolmogorov–Smirnov distance of the ranks from uniform.
    pub p_value: f64,
}

impl Simulation<'_> {
    /// Simulates and fits the data sets on covariates of a table. `note` is called with the number
    /// of each data set before it is fitted.
    pub fn run(&self, table: &Table, note: &mut dyn FnMut(usize)) -> Result<Vec<Ranks>, Error> {
        self.saved.fitted("--simulate")?;
        self.check_responses()?;
        let (saved, n_rows) = (self.saved, table.n_rows());
        let order = permutation(n_rows, saved.posterior.origin.seed);
        let table = table.select_rows(&order[..self.rows.min(order.len())]);
        let design = saved.subject.design(&table)?;
        let bound = saved.subject.bind(&design)?;
        let mut ranks: Vec<Vec<f64>> = Vec::new();
        for number in 0..self.count {
            note(number);
            ranks.push(self.ranks(&bound, &design, number as u64)?);
        }
        Ok(self.by_coefficient(&bound, &ranks))
    }

    /// Refuses models whose responses cannot be drawn one by one, given what the table tells.
    fn check_responses(&self) -> Result<(), LearnError> {
        const ADVICE: &str = "fit draws of your own";
        let subject = &self.saved.subject;
        let joint = subject.multivariate();
        let latent = subject.regression();
        let latent = latent.and_then(|one| one.terms().covariate.as_ref());
        let (expected, found, hint) = if joint.is_some_and(MultivariateRegression::has_residuals) {
            let expected =
                "responses that are independent given their predictors, to draw them one by one";
            (expected, "set_rescor(TRUE)".into(), ADVICE)
        } else if let Some(term) = latent {
            let expected = "covariates that are known as they are, to draw responses given them";
            (expected, term.to_string(), ADVICE)
        } else if subject.is_censored() {
            let hint =
                "a simulation would have to know when rows are censored; fit draws of your own";
            let expected = "responses that are known as they are, to draw others in their place";
            (expected, "cens(...)".into(), hint)
        } else {
            return Ok(());
        };
        Err(LearnError::column(subject.title(), expected, found, hint))
    }

    /// The ranks of every coefficient in one simulated data set.
    fn ranks(&self, bound: &Bound, design: &Table, number: u64) -> Result<Vec<f64>, Error> {
        let mut stream = Stream::new(self.saved.posterior.origin.seed, "simulate", number);
        let params = self.saved.params();
        let truth = bound.draw_prior(params, &mut stream)?;
        let mut replaced = design.clone();
        for predicted in bound.posterior_predictive(&truth, params, &mut stream) {
            replaced.replace(&predicted.name, Column::Number(predicted.values))?;
        }
        let simulated = self.saved.subject.bind(&replaced)?;
        let mut fit = Fit::named(self.saved.posterior.method()).map_err(FitError::from)?;
        if let Some(count) = self.iterations {
            fit = (fit.set("iterations", &count.to_string())).map_err(FitError::from)?;
        }
        let posterior = fit.seed(number).run(&simulated)?;
        let (subject, latents) = (&self.saved.subject, &posterior.latents);
        let truth = FlatDraws {
            latents: &truth,
            size: latents.size(),
            params,
        };
        let truths = subject.coefficients_of_draws(latents, truth, Groups::Leave);
        let drawn = coefficients(subject, &posterior, Groups::Leave);
        let weights = used_weights(&posterior);
        let rank = |(truth, drawn): (&NamedDraws, &NamedDraws)| {
            let below = drawn.values.iter().zip(&weights);
            let below = below.filter(|(value, _)| **value < truth.values[0]);
            below.map(|(_, weight)| weight).sum()
        };
        Ok(truths.iter().zip(&drawn).map(rank).collect())
    }

    fn by_coefficient(&self, bound: &Bound, ranks: &[Vec<f64>]) -> Vec<Ranks> {
        let latents = lehr_density::Density::latents(bound);
        let start = FlatDraws {
            latents: latents.start(),
            size: latents.size(),
            params: self.saved.params(),
        };
        let subject = &self.saved.subject;
        let names = (subject.coefficients_of_draws(latents, start, Groups::Leave)).into_iter();
        let one = |(place, named): (usize, NamedDraws)| {
            let ranks: Vec<f64> = ranks.iter().map(|all| all[place]).collect();
            Ranks {
                name: named.name.to_string(),
                p_value: uniform_p_value(&ranks),
                ranks,
            }
        };
        names.enumerate().map(one).collect()
    }
}

/// The probability of a larger Kolmogorov–Smirnov distance, by Massart's bound.
fn uniform_p_value(ranks: &[f64]) -> f64 {
    let mut in_order = ranks.to_vec();
    in_order.sort_unstable_by(f64::total_cmp);
    let n = in_order.len() as f64;
    let distance = |(k, rank): (usize, &f64)| {
        let [below, above] = [k as f64, k as f64 + 1.0].map(|count| (rank - count / n).abs());
        below.max(above)
    };
    let distances = in_order.iter().enumerate().map(distance);
    let farthest = distances.fold(0.0, f64::max);
    (2.0 * (-2.0 * n * farthest * farthest).exp()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_ranks_pass_and_clustered_ones_do_not() {
        let even: Vec<f64> = (0..50).map(|k| (f64::from(k) + 0.5) / 50.0).collect();
        assert!(uniform_p_value(&even) > 0.5);
        let middle: Vec<f64> = even.iter().map(|rank| 0.4 + 0.2 * rank).collect();
        assert!(uniform_p_value(&middle) < 1e-3);
    }
}
