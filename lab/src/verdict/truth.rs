//! The truth about a posterior: by long chains, by a grid, or in closed form.

use anyhow::{Result, bail};
use lehr_density::Density;
use lehr_infer::chains::LogDensity;
use lehr_infer::fit::Fit;
use lehr_infer::guide::{WhitenedDensity, Whitening};
use lehr_infer::judge::Level;
use lehr_infer::method::Nuts;
use lehr_infer::posterior::{Moments, Posterior};
use lehr_model::Bound;
use serde::{Deserialize, Serialize};

use super::{Problem, Truth};

/// Draws of the long chains, and the factors by which the attempts lengthen them.
const DRAWS: usize = 8000;
const LONGER: [usize; 3] = [1, 1, 5];
/// Errors of a mean in standard deviations, and of a standard deviation, above which chains are not
/// accurate enough to judge a fit.
const KNOWN: [f64; 2] = [0.05, 0.025];
/// The least E-BFMI of chains that are accepted as truth.
const MOVING: f64 = 0.2;
/// Points of a grid along its only latent, along each of two, and of three.
const POINTS: [usize; 3] = [400_000, 800, 90];

/// The true moments of one quantity.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fact {
    /// The quantity.
    pub name: String,
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
}

/// log p(D, z) at the model's default start, which differs between posteriors.
pub fn mark(problem: &Problem) -> f64 {
    let density = &problem.density;
    let place = WhitenedDensity::new(density, &Whitening::Identity);
    let log_density = LogDensity::new(place, 1);
    let start = density.latents().start();
    let mut slope = vec![0.0; start.len()];
    let value = log_density.lanes().value(start, &mut slope);
    value.unwrap_or(f64::NAN)
}

/// The true moments of a posterior.
///
/// # Errors
/// If the chains for the truth are themselves unreliable.
pub fn facts(problem: &Problem) -> Result<Vec<Fact>> {
    match &problem.truth {
        Truth::Chains => by_chains(problem, &problem.density),
        Truth::Twin(twin) => {
            let mut facts = by_chains(problem, twin)?;
            let names = problem.density.latents().entry_names();
            facts.retain(|fact| names.contains(&fact.name));
            Ok(facts)
        }
        Truth::Grid(low, high) => Ok(by_grid(&problem.density, *low, *high)),
        Truth::Known(known) => {
            let fact = |(name, mean, sd): &(String, f64, f64)| Fact {
                name: name.clone(),
                mean: *mean,
                sd: *sd,
            };
            Ok(known.iter().map(fact).collect())
        }
    }
}

fn by_chains(problem: &Problem, density: &Bound) -> Result<Vec<Fact>> {
    let mut said = String::new();
    // Narrow regions need short steps, heavy tails many draws.
    for (acceptance, longer) in [0.9, 0.99, 0.9].into_iter().zip(LONGER) {
        let mut nuts = Nuts::default();
        nuts.sampler.target_acceptance = Some(acceptance);
        let posterior = Fit::new(nuts).seed(1).draws(longer * DRAWS).run(density)?;
        let verdict = posterior.verdict();
        let vague = vague(&posterior);
        // A divergence or two does not affect the moments. Chains that disagree do, and so do
        // chains whose energy hardly moves: those have not visited the narrow part of a funnel.
        let moves = posterior
            .chains()
            .is_some_and(|own| own.least_information() > MOVING);
        if verdict.level != Level::Untrusted && moves && vague.is_none() {
            return Ok(summarised(&posterior));
        }
        said = vague.unwrap_or_else(|| verdict.to_string());
    }
    bail!("{}: the long chains: {said}", problem.name)
}

/// The quantity that the chains do not determine well enough, if there is one.
fn vague(posterior: &Posterior) -> Option<String> {
    // Parts of chains count as chains if each is much longer than the autocorrelation.
    let parts = 8 * posterior.n_chains().unwrap_or(1);
    let count = posterior.n_draws();
    posterior.sites().iter().find_map(|site| {
        let entries = site.values.len() / count;
        (0..entries).find_map(|entry| {
            let values = site.values.iter().skip(entry).step_by(entries);
            let own = Moments::of_chains(&values.copied().collect::<Vec<_>>(), parts);
            let (mean, sd) = (own.mean_error / own.sd, own.sd_error);
            (mean > KNOWN[0] || sd > KNOWN[1]).then(|| {
                format!(
                    "{}[{entry}] is known to {mean:.2} sd and {:.0} %",
                    site.name,
                    100.0 * sd
                )
            })
        })
    })
}

fn summarised(posterior: &Posterior) -> Vec<Fact> {
    let facts = posterior.summaries().into_iter().map(|one| Fact {
        name: one.name,
        mean: one.mean,
        sd: one.sd,
    });
    facts.collect()
}

fn by_grid(density: &Bound, low: f64, high: f64) -> Vec<Fact> {
    let latents = density.latents();
    let place = WhitenedDensity::new(density, &Whitening::Identity);
    let log_density = LogDensity::new(place, 1);
    let (mut lanes, size) = (log_density.lanes(), latents.size());
    let points = POINTS[size - 1];
    let at = |k: usize| low + (high - low) * (k as f64 + 0.5) / points as f64;
    let count = points.pow(size as u32);
    let point = |k: usize| -> Vec<f64> {
        let places = (0..size as u32).map(|axis| k / points.pow(axis) % points);
        places.map(at).collect()
    };
    let all: Vec<f64> = (0..count).flat_map(point).collect();
    let mut slope = vec![0.0; size];
    let values = all.chunks_exact(size).map(|z| {
        let value = lanes.value(z, &mut slope);
        value.unwrap_or(f64::NEG_INFINITY)
    });
    let values: Vec<f64> = values.collect();
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = values.iter().map(|value| (value - top).exp()).sum();
    let weights: Vec<f64> = values.iter().map(|v| (v - top).exp() / total).collect();
    let mut facts = Vec::new();
    for (site, layout) in latents.constrain_values(&all).iter().zip(latents.sites()) {
        let entries = site.values.len() / count;
        for (entry, name) in layout.entry_names().into_iter().enumerate() {
            let column: Vec<f64> = site
                .values
                .iter()
                .skip(entry)
                .step_by(entries)
                .copied()
                .collect();
            let Moments { mean, sd, .. } = Moments::weighted(&column, &weights);
            facts.push(Fact { name, mean, sd });
        }
    }
    facts
}
