//! The reported numbers of a fit with their accuracy: from the unweighted draws, the weighted
//! draws, and chains.

use lehr_density::{Layout, SiteValue};
use lehr_numeric::summary::mean;
use serde::{Deserialize, Serialize};

/// Mean and standard deviation of a quantity, with their Monte Carlo errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub mean_error: f64,
    /// The standard deviation.
    pub sd: f64,
    /// Its relative standard error.
    pub sd_error: f64,
}

/// The difference of two estimates of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The difference of the means, in standard deviations of the other estimate.
    pub shift: f64,
    /// Its standard error.
    pub shift_error: f64,
    /// The logarithm of the ratio of the standard deviations.
    pub log_ratio: f64,
    /// Its standard error.
    pub log_ratio_error: f64,
}

/// A reported number, with all its estimates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// The name, `site` or `site[3]`.
    pub name: String,
    /// From the unweighted draws.
    pub raw: Moments,
    /// From the draws with their smoothed weights.
    pub weighted: Moments,
    /// From the unweighted to the weighted estimate. Both use the same draws, so the error is small
    /// if the weights are even.
    pub moved: Gap,
    /// From the posterior itself: the chains of the second opinion, or a grid.
    pub reference: Option<Moments>,
}

impl Quantity {
    /// The error of the draws according to their own weights, with their Monte Carlo error.
    pub(crate) fn by_weights(&self) -> Gap {
        let gap = self.moved.reversed();
        Gap {
            shift_error: gap
                .shift_error
                .hypot(self.weighted.mean_error / self.weighted.sd),
            log_ratio_error: gap.log_ratio_error.hypot(self.weighted.sd_error),
            ..gap
        }
    }
}

impl Moments {
    /// The moments of equally weighted independent draws.
    pub fn of(values: &[f64]) -> Moments {
        Moments::weighted(values, &vec![1.0 / values.len() as f64; values.len()])
    }

    /// The moments of independent draws with weights that sum to one.
    pub fn weighted(values: &[f64], weights: &[f64]) -> Moments {
        let pairs = || values.iter().zip(weights);
        let mean: f64 = pairs().map(|(x, w)| w * x).sum();
        let variance: f64 = pairs().map(|(x, w)| w * (x - mean).powi(2)).sum();
        let error: f64 = pairs().map(|(x, w)| (w * (x - mean)).powi(2)).sum();
        let relative = |x: f64, w: f64| w * ((x - mean).powi(2) / variance - 1.0);
        let sd_error: f64 = pairs().map(|(x, w)| relative(*x, *w).powi(2)).sum();
        Moments {
            mean,
            mean_error: error.sqrt(),
            sd: variance.sqrt(),
            sd_error: 0.5 * sd_error.sqrt(),
        }
    }

    /// The moments of chains of equal length, one after another. The variation of means and
    /// standard deviations between chains gives the errors, whatever the autocorrelation.
    pub fn of_chains(values: &[f64], chains: usize) -> Moments {
        let own = values.chunks_exact((values.len() / chains).max(1));
        let centre = mean(values);
        let means: Vec<f64> = own.clone().map(mean).collect();
        let squares = |chain: &[f64]| {
            let squares: Vec<f64> = chain.iter().map(|x| (x - centre).powi(2)).collect();
            mean(&squares)
        };
        let variances: Vec<f64> = own.map(squares).collect();
        let variance = mean(&variances);
        Moments {
            mean: centre,
            mean_error: error_of_mean(&means),
            sd: variance.sqrt(),
            sd_error: 0.5 * error_of_mean(&variances) / variance,
        }
    }

    /// The difference from another, independent estimate.
    pub fn gap_from(&self, other: &Moments) -> Gap {
        Gap {
            shift: (self.mean - other.mean) / other.sd,
            shift_error: self.mean_error.hypot(other.mean_error) / other.sd,
            log_ratio: (self.sd / other.sd).ln(),
            log_ratio_error: self.sd_error.hypot(other.sd_error),
        }
    }
}

fn error_of_mean(values: &[f64]) -> f64 {
    lehr_numeric::summary::sd(values) / (values.len() as f64).sqrt()
}

impl Gap {
    /// The reversed difference.
    fn reversed(self) -> Gap {
        Gap {
            shift: -self.shift,
            log_ratio: -self.log_ratio,
            ..self
        }
    }

    /// The combination of two estimates of a gap, weighted by their precisions.
    pub(crate) fn pooled(self, other: Gap) -> Gap {
        let (shift, shift_error) = pooled(
            (self.shift, self.shift_error),
            (other.shift, other.shift_error),
        );
        let (log_ratio, log_ratio_error) = pooled(
            (self.log_ratio, self.log_ratio_error),
            (other.log_ratio, other.log_ratio_error),
        );
        Gap {
            shift,
            shift_error,
            log_ratio,
            log_ratio_error,
        }
    }

    /// The change of the moments of the same draws by weights.
    pub(crate) fn by_weights(values: &[f64], weights: &[f64]) -> Gap {
        let (raw, new) = (Moments::of(values), Moments::weighted(values, weights));
        let even = 1.0 / values.len() as f64;
        let pairs = || values.iter().zip(weights);
        let apart = |x: f64, w: f64| w * (x - new.mean) - even * (x - raw.mean);
        let part = |x: f64, of: &Moments| ((x - of.mean) / of.sd).powi(2) - 1.0;
        let wider = |x: f64, w: f64| 0.5 * (w * part(x, &new) - even * part(x, &raw));
        let total = |of: &dyn Fn(f64, f64) -> f64| {
            let squares = pairs().map(|(x, w)| of(*x, *w).powi(2));
            squares.sum::<f64>().sqrt()
        };
        Gap {
            shift: (new.mean - raw.mean) / raw.sd,
            shift_error: total(&apart) / raw.sd,
            log_ratio: (new.sd / raw.sd).ln(),
            log_ratio_error: total(&wider),
        }
    }
}

/// The precision-weighted combination of two estimates with their errors.
fn pooled(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let (own, other) = (a.1.powi(-2), b.1.powi(-2));
    let total = own + other;
    ((own * a.0 + other * b.0) / total, total.powf(-0.5))
}

/// Every number of these sites, draw after draw: names, and one column each.
pub(crate) fn site_columns(latents: &Layout, draws: &[f64]) -> Vec<(String, Vec<f64>)> {
    let count = draws.len() / latents.size().max(1);
    let values = latents.constrain_values(draws);
    let sites = values.iter().zip(latents.sites());
    let each = sites.flat_map(|(site, layout)| split(site, &layout.entry_names(), count));
    each.collect()
}

/// The columns of one site, one for each of its entries.
pub(crate) fn split(site: &SiteValue, names: &[String], count: usize) -> Vec<(String, Vec<f64>)> {
    let size = site.values.len() / count.max(1);
    let column = |(entry, name): (usize, &String)| {
        let values = site.values.iter().skip(entry).step_by(size);
        (name.clone(), values.copied().collect())
    };
    names.iter().enumerate().map(column).collect()
}
