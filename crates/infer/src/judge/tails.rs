//! The witness of tails: whether the density falls off along each latent as fast as the draws do.
//!
//! Where chains would take too long, a few values of the density on a line through the draws tell
//! of mass that they never visit: separation, coefficients that only the prior holds, the edge of a
//! spread.

use lehr_density::Density;
use lehr_numeric::summary::mean;
use serde::{Deserialize, Serialize};

use super::joint::log_joint;
use super::{Level, Reason, Standing, Subject, Witness};
use crate::posterior::Posterior;
use crate::run::Run;
use crate::train::TrainError;

pub(super) const WITNESS: Witness = Witness {
    name: "tails",
    standing: Standing::GivesWay,
    testify,
};

/// Where the density is taken, in standard deviations of the draws: the middle, and the tails.
const STEPS: [f64; 15] = [
    -10.0, -8.0, -6.0, -5.0, -4.0, -3.0, -1.5, 0.0, 1.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0,
];
/// A tail begins here.
const TAIL: f64 = 3.5;
/// A tail with more than this share of the mass is heavy, unless the draws have it.
const HEAVY: f64 = 0.02;
/// Latents that are looked at, at the most.
const MOST: usize = 256;

/// A latent along which the posterior reaches further than the draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeavyTail {
    /// The latent, by name.
    pub name: String,
    /// The share of the density beyond 3.5 standard deviations of the draws, on the line.
    pub mass: f64,
    /// The share of the draws there.
    pub drawn: f64,
}

/// The latents along which the posterior reaches further than the draws.
///
/// # Errors
/// If somebody wants to stop.
pub(super) fn find(subject: &Subject<'_>, run: &mut Run<'_>) -> Result<Vec<HeavyTail>, TrainError> {
    let density = subject.density;
    if density.locals().is_some() {
        return Ok(Vec::new());
    }
    let size = density.latents().size();
    let columns: Vec<Vec<f64>> = (0..size)
        .map(|k| {
            subject
                .draws
                .iter()
                .skip(k)
                .step_by(size)
                .copied()
                .collect()
        })
        .collect();
    let centre: Vec<f64> = columns.iter().map(|column| mean(column)).collect();
    let lines: Vec<Line> = (0..size.min(MOST))
        .filter_map(|place| Line::through(&columns, &centre, place))
        .collect();
    let points: Vec<f64> = lines.iter().flat_map(|line| line.points(&centre)).collect();
    let values = log_joint(subject, &points, run)?;
    let names = latent_names(density);
    let judged = lines.iter().zip(values.chunks_exact(STEPS.len()));
    let found = judged
        .filter_map(|(line, values)| {
            let (mass, drawn) = (tail_share(values), line.drawn);
            (mass > HEAVY && mass > 4.0 * drawn).then(|| HeavyTail {
                name: names[line.place].clone(),
                mass,
                drawn,
            })
        })
        .collect();
    Ok(found)
}

/// The line along which the other latents go with one of them.
struct Line {
    place: usize,
    /// What one standard deviation of that latent adds to each.
    direction: Vec<f64>,
    /// The share of the draws in the tails of that latent.
    drawn: f64,
}

impl Line {
    fn through(columns: &[Vec<f64>], centre: &[f64], place: usize) -> Option<Line> {
        let own: Vec<f64> = columns[place].iter().map(|z| z - centre[place]).collect();
        let count = own.len() as f64;
        let scale = (own.iter().map(|d| d * d).sum::<f64>() / count).sqrt();
        let along = |(column, centre): (&Vec<f64>, &f64)| {
            let pairs = column.iter().zip(&own);
            pairs.map(|(z, d)| (z - centre) * d).sum::<f64>() / (count * scale)
        };
        let far = own.iter().filter(|d| d.abs() > TAIL * scale).count();
        (scale > 0.0).then(|| Line {
            place,
            direction: columns.iter().zip(centre).map(along).collect(),
            drawn: far as f64 / count,
        })
    }

    fn points(&self, centre: &[f64]) -> Vec<f64> {
        let at = |step: f64| {
            let each = centre.iter().zip(&self.direction);
            each.map(move |(c, d)| c + step * d)
        };
        STEPS.into_iter().flat_map(at).collect()
    }
}

/// The share of the density on a line that lies in its tails, by the trapezoidal rule.
fn tail_share(values: &[f64]) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return 0.0;
    }
    let height = |k: usize| (values[k] - top).exp();
    let (mut tail, mut all) = (0.0, 0.0);
    for k in 1..STEPS.len() {
        let area = 0.5 * (height(k) + height(k - 1)) * (STEPS[k] - STEPS[k - 1]);
        all += area;
        if STEPS[k].abs().min(STEPS[k - 1].abs()) >= TAIL.floor() {
            tail += area;
        }
    }
    tail / all
}

/// A name for each unconstrained latent.
fn latent_names(density: &dyn Density) -> Vec<String> {
    let latents = density.latents();
    let each = latents.sites().iter().enumerate().flat_map(|(k, site)| {
        let names = site.entry_names();
        let own = latents.range(k).len();
        // Where the free numbers are not those that are shown, the site has to do.
        if names.len() == own {
            names
        } else {
            vec![site.name.clone(); own]
        }
    });
    each.collect()
}

fn testify(posterior: &Posterior) -> Option<Reason> {
    const SHOWN: usize = 3;
    let tails = &posterior.importance()?.examination.tails;
    let names: Vec<&str> = tails
        .iter()
        .take(SHOWN)
        .map(|one| one.name.as_str())
        .collect();
    (!tails.is_empty()).then(|| Reason {
        witness: WITNESS.name.into(),
        level: Level::Untrusted,
        sentence: format!(
            "the posterior reaches further than the draws along {} of its latents ({})",
            tails.len(),
            names.join(", ")
        ),
        advice: None,
    })
}
