//! The centre of a fit's start, and the scales of independent latents there.

use lehr_density::job::{HessianProducts, all_rows};
use lehr_density::{Density, Layout, Support};
use lehr_numeric::lbfgs::StopReason;
use lehr_numeric::stream::Stream;
use lehr_rows::{RowsError, fold};

use super::prior::PriorProducts;
use crate::guide::Whitening;

/// The centre of a fit's start: the maximum of log p(D, z) in z and θ together, or the result of
/// another start.
#[derive(Clone, Debug)]
pub struct ExpansionPoint {
    /// z*
    pub latents: Vec<f64>,
    /// θ*
    pub params: Vec<f64>,
    /// The largest value found, of log p(D, z*) at a mode.
    pub log_joint: f64,
    /// Iterations of the search.
    pub iterations: usize,
    /// The reason why the search ended.
    pub reason: StopReason,
}

impl ExpansionPoint {
    /// The model's default start, before any search.
    pub(crate) fn start(density: &dyn Density) -> ExpansionPoint {
        ExpansionPoint {
            latents: density.latents().start().to_vec(),
            params: density.params().start().to_vec(),
            log_joint: f64::NEG_INFINITY,
            iterations: 0,
            reason: StopReason::Iterations,
        }
    }

    /// The start of a search: standard deviations of this size, or at the middle of their interval
    /// if that is smaller, and the model's default for everything else. A model's latents are
    /// scaled to be about 1 in size; the middle of a vague prior has no relation to the data.
    pub(crate) fn with_spreads(density: &dyn Density, size: f64) -> ExpansionPoint {
        let mut centre = ExpansionPoint::start(density);
        let latents = density.latents();
        for (position, site) in latents.sites().iter().enumerate() {
            let log_odds =
                |high: f64| size.min(high / 2.0).ln() - (high - size).max(high / 2.0).ln();
            let begin = match site.support {
                Support::Positive => size.ln(),
                Support::Interval(0.0, high) => log_odds(high),
                _ => continue,
            };
            if site.start.is_none() {
                centre.latents[latents.range(position)].fill(begin);
            }
        }
        centre
    }
}

/// Random signs per pass for the diagonal of a Hessian, and passes.
const PROBES: usize = 16;
const PROBE_PASSES: usize = 4;

impl ExpansionPoint {
    /// The whitening for independent latents if a whole Hessian is too large: its diagonal by
    /// random signs, E[s ∘ Hs], for prior and likelihood together.
    ///
    /// # Errors
    /// If rows cannot be reached.
    pub fn diagonal_whitening(
        &self,
        density: &dyn Density,
        seed: u64,
    ) -> Result<Whitening, RowsError> {
        let size = self.latents.len();
        let rows = all_rows(density);
        let mut diagonal = vec![0.0; size];
        let mut signs = vec![0.0; PROBES * size];
        for pass in 0..PROBE_PASSES {
            let mut stream = Stream::new(seed, "probe", pass as u64);
            fill_signs(&mut stream, &mut signs);
            let at = (&self.latents[..], &self.params[..]);
            let products = fold(&*rows, &HessianProducts::new(density, at, &signs))?;
            add_probes(&mut diagonal, &signs, &products, PROBES * PROBE_PASSES);
        }
        let prior = self.prior_diagonal(density);
        let precision: Vec<f64> = (diagonal.iter().zip(&prior))
            .map(|(rows, prior)| (-rows).max(0.0) - prior)
            .collect();
        Ok(Whitening::Diagonal {
            shift: self.latents.as_slice().into(),
            scale: first_scales(density.latents(), &precision).into(),
        })
    }

    /// The diagonal of the prior's Hessian, by random signs in a separate pass.
    fn prior_diagonal(&self, density: &dyn Density) -> Vec<f64> {
        let size = self.latents.len();
        let mut signs = vec![0.0; PROBES * size];
        fill_signs(&mut Stream::new(0, "prior probe", 0), &mut signs);
        let mut products = PriorProducts::new((&self.latents, &self.params), density, PROBES);
        let mut diagonal = vec![0.0; size];
        add_probes(&mut diagonal, &signs, products.run(&signs), PROBES);
        diagonal
    }
}

/// Λᵢᵢ^(−½), or 1 if the curvature is not that of a maximum. A logarithm or a logit is limited to a
/// scale of 1, because a vague prior allows values such as e⁷⁰⁰ of a standard deviation that no
/// data support.
pub(super) fn first_scales(latents: &Layout, precision: &[f64]) -> Vec<f64> {
    let scale = |curvature: &f64| {
        if *curvature > 0.0 && curvature.is_finite() {
            curvature.powf(-0.5)
        } else {
            1.0
        }
    };
    let mut scales: Vec<f64> = precision.iter().map(scale).collect();
    for (position, site) in latents.sites().iter().enumerate() {
        if site.support != Support::Real {
            for scale in &mut scales[latents.range(position)] {
                *scale = scale.min(1.0);
            }
        }
    }
    scales
}

/// Adds the mean of s ∘ Hs over `probes` probes.
fn add_probes(diagonal: &mut [f64], signs: &[f64], products: &[f64], probes: usize) {
    let size = diagonal.len();
    for (k, (sign, product)) in signs.iter().zip(products.iter().cycle()).enumerate() {
        diagonal[k % size] += sign * product / probes as f64;
    }
}

/// Fills with −1 or 1, equally likely.
fn fill_signs(stream: &mut Stream, signs: &mut [f64]) {
    for sign in signs {
        *sign = if stream.uniform() < 0.5 { -1.0 } else { 1.0 };
    }
}
