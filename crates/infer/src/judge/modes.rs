//! The witness of modes: whether the posterior has a mode that the draws miss.
//!
//! Quick climbs from dispersed points end at modes. A mode that a valley separates from the draws'
//! own, and whose Laplace evidence is comparable to theirs, has mass that the draws miss. On long
//! tables the climbs use some of the rows, and their results are continued on all rows.

use lehr_density::job::{LikelihoodGradient, all_rows};
use lehr_density::rows_here;
use lehr_numeric::lbfgs::{LbfgsSettings, Maximum, maximise};
use lehr_numeric::stream::Stream;

use super::remedy::Remedies;
use super::{Reason, Subject, work};
use crate::chains::{Lanes, LogDensity};
use crate::error::TrainError;
use crate::estimate::Level;
use crate::expansion::{ExpansionPoint, LogPrior};
use crate::guide::WhitenedDensity;
use crate::posterior::{OtherMode, Posterior};
use crate::run::Run;
use crate::start::{Maximiser, PlainMaximiser};
use crate::surrogate::FixedRows;
use lehr_rows::{RowsError, fold};

/// With more numbers per evaluation, climbing takes longer than the fit; a sample of this size is
/// then used, with each row counted several times.
const MOST_WORK: usize = 300_000;
/// Steps of a climb, and further steps on all rows.
const STEPS: usize = 200;
const MORE_STEPS: usize = 60;
/// Gradient norms at which a climb has converged, and on all rows.
const SLOPE: f64 = 0.01;
const MORE_SLOPE: f64 = 0.1;
/// With more latents the evidence of a mode takes longer than the fit.
const MOST_LATENTS: usize = 300;
/// The number of climbs.
const CLIMBS: usize = 12;
/// A valley this many nats below the lower of two modes separates them.
const VALLEY: f64 = 1.0;
/// A mode is reported if it has this share of the mass, or changes a mean or a variance by this
/// share of the draws' standard deviation or variance.
const LEAST_MASS: f64 = 0.02;
const LEAST_PULL: f64 = 0.1;

/// A search of one subject for modes, in the coordinates in which its draws are N(0, 1).
struct Survey<'a> {
    subject: &'a Subject<'a>,
    /// Whether all rows are used, or a sample.
    log_density: &'a LogDensity<'a>,
    whole: bool,
    lanes: Lanes<'a>,
    /// The coordinates of every draw.
    drawn: Vec<Vec<f64>>,
}

/// The end of a climb.
struct Top {
    x: Vec<f64>,
    value: f64,
}

/// The settings of a climb that has converged at this gradient norm.
fn climb_settings(iterations: usize, slope: f64) -> LbfgsSettings {
    LbfgsSettings {
        iterations,
        gradient_tolerance: 0.1 * slope,
        ..LbfgsSettings::default()
    }
}

impl Top {
    /// The end of a search, if it converged.
    fn of(found: Maximum, slope: f64) -> Option<Top> {
        let level = found.value.is_finite() && found.gradient_norm < slope;
        level.then_some(Top {
            x: found.point,
            value: found.value,
        })
    }
}

/// The modes that the draws miss.
///
/// # Errors
/// If the observer stops the fit.
pub(crate) fn find(subject: &Subject<'_>, run: &mut Run<'_>) -> Result<Vec<OtherMode>, TrainError> {
    let (density, size) = (subject.density, subject.density.latents().size());
    if size > MOST_LATENTS || density.locals().is_some() {
        return Ok(Vec::new());
    }
    let whole = work(density) <= MOST_WORK && rows_here(density).is_resident();
    let whitening = subject.whitening();
    let place = WhitenedDensity {
        params: subject.params,
        ..WhitenedDensity::new(density, whitening)
    };
    let log_density = if whole {
        LogDensity::new(place, 1)
    } else {
        on_some_rows(place)
    };
    let drawn = subject.draws.chunks_exact(size);
    let mut survey = Survey {
        subject,
        log_density: &log_density,
        whole,
        lanes: log_density.lanes(),
        drawn: drawn.map(|z| whitening.coordinates(z)).collect(),
    };
    survey.other_modes(run)
}

/// log p(D, z) from some of the rows in the table's random order, each counted several times.
fn on_some_rows(place: WhitenedDensity<'_>) -> LogDensity<'_> {
    let density = place.density;
    let all = density.n_rows();
    let each = (work(density) / all).max(1);
    let rows: Vec<usize> = (0..all.min(MOST_WORK / each)).collect();
    let stand_for = all as f64 / rows.len().max(1) as f64;
    let rows = FixedRows::in_batch_order(density, &rows);
    LogDensity::of(place, 1, move |context, x| {
        let at = context.at(x);
        let sum = density.log_likelihood(&at, &rows.rows(context)).sum();
        density.log_prior(&at) + stand_for * sum
    })
}

impl Survey<'_> {
    fn other_modes(&mut self, run: &mut Run<'_>) -> Result<Vec<OtherMode>, TrainError> {
        let size = self.log_density.size();
        let Some(home) = self.climb(&vec![0.0; size]) else {
            return Ok(Vec::new());
        };
        let mut tops: Vec<Top> = Vec::new();
        let starts = starts(self.subject);
        for (climb, start) in starts.into_iter().enumerate() {
            run.tell_count(climb, "climbs", CLIMBS)?;
            let Some(top) = self.climb(&start) else {
                continue;
            };
            let known = tops.iter().map(|one| &one.x).any(|x| is_near(x, &top.x));
            if !known && self.is_apart(&home, &top) {
                tops.push(top);
            }
        }
        if tops.is_empty() {
            return Ok(Vec::new());
        }
        let (home, tops) = if self.whole {
            (home, tops)
        } else {
            run.tell_count(0, "modes", tops.len())?;
            let Some(home) = self.on_all_rows(&home)? else {
                return Ok(Vec::new());
            };
            let tops = tops.iter().map(|top| self.on_all_rows(top));
            let tops: Vec<Option<Top>> = tops.collect::<Result<_, _>>()?;
            let apart = tops.into_iter().flatten();
            let apart = apart.filter(|top| !is_near(&home.x, &top.x)).collect();
            (home, apart)
        };
        let Some(own) = self.evidence(&home)?.filter(|_| !tops.is_empty()) else {
            return Ok(Vec::new());
        };
        let own = own.max(self.subject.log_evidence);
        let modes = tops.iter().map(|top| self.judge(&home, top, own));
        let modes: Vec<Option<OtherMode>> = modes.collect::<Result<_, _>>()?;
        Ok(modes.into_iter().flatten().collect())
    }

    /// Climbs to a mode, if there is one: unbounded densities have none.
    fn climb(&mut self, start: &[f64]) -> Option<Top> {
        let lanes = &mut self.lanes;
        let found = maximise(start, climb_settings(STEPS, SLOPE), |x, slope| {
            lanes.value(x, slope).unwrap_or(f64::NEG_INFINITY)
        });
        Top::of(found, SLOPE)
    }

    /// Continues a climb that used some of the rows on all rows.
    fn on_all_rows(&self, top: &Top) -> Result<Option<Top>, TrainError> {
        let (subject, size) = (self.subject, self.log_density.size());
        let (whitening, rows) = (subject.whitening(), all_rows(subject.density));
        let (factor, mut prior) = (whitening.factor(size), LogPrior::new(subject.density));
        let settings = climb_settings(MORE_STEPS, MORE_SLOPE);
        let found = PlainMaximiser.climb(&top.x, settings, &mut |x, slope| {
            let z = whitening.at(x);
            let job = LikelihoodGradient::new(subject.density, &z, subject.params);
            let sums = fold(&*rows, &job)?;
            let (value, own) = prior.at(&z, subject.params);
            for (j, slope) in slope.iter_mut().enumerate() {
                let each = own.iter().zip(&sums.latents).enumerate();
                *slope = each.map(|(i, (a, b))| factor[(i, j)] * (a + b)).sum();
            }
            Ok(value + sums.value)
        })?;
        Ok(Top::of(found, MORE_SLOPE))
    }

    /// Whether a valley lies on the straight line between two modes.
    fn is_apart(&mut self, home: &Top, top: &Top) -> bool {
        const STOPS: usize = 32;
        if is_near(&home.x, &top.x) {
            return false;
        }
        let mut slope = vec![0.0; home.x.len()];
        let lowest = home.value.min(top.value) - VALLEY;
        (1..STOPS).any(|stop| {
            let share = stop as f64 / STOPS as f64;
            let between = home.x.iter().zip(&top.x);
            let x: Vec<f64> = between.map(|(a, b)| a + share * (b - a)).collect();
            self.lanes
                .value(&x, &mut slope)
                .unwrap_or(f64::NEG_INFINITY)
                < lowest
        })
    }

    /// Laplace's approximation of the log evidence around a mode.
    fn evidence(&self, top: &Top) -> Result<Option<f64>, RowsError> {
        let density = self.subject.density;
        let centre = ExpansionPoint {
            latents: self.log_density.latents(&top.x),
            params: self.subject.params.to_vec(),
            log_joint: top.value,
            ..ExpansionPoint::start(density)
        };
        Ok(centre.curvature(density)?.log_evidence(&centre))
    }

    /// A mode, if it has mass that the draws miss.
    fn judge(&self, home: &Top, top: &Top, own: f64) -> Result<Option<OtherMode>, RowsError> {
        let Some(evidence) = self.evidence(top)? else {
            return Ok(None);
        };
        let odds = (evidence - own).exp();
        let mass = if odds.is_finite() {
            odds / (1.0 + odds)
        } else {
            1.0
        };
        let nearer = |x: &&Vec<f64>| distance(x, &top.x) < distance(x, &home.x);
        let there = self.drawn.iter().filter(nearer).count();
        let drawn = there as f64 / self.drawn.len() as f64;
        let away = home.x.iter().zip(&top.x).map(|(a, b)| (a - b).abs());
        let away = away.fold(0.0, f64::max);
        let matters = mass > LEAST_MASS || mass * away.max(away * away) > LEAST_PULL;
        Ok((matters && drawn < 0.5 * mass).then(|| OtherMode {
            latents: self.log_density.latents(&top.x),
            mass,
            drawn,
        }))
    }
}

/// Points far from the draws and from one another: around the draws, near zero on the scale of the
/// latents, opposite the draws, and at distances of the prior's width.
fn starts(subject: &Subject<'_>) -> Vec<Vec<f64>> {
    let (whitening, seed) = (subject.whitening(), subject.seed);
    let size = subject.density.latents().size();
    let centre = whitening.coordinates(&vec![0.0; size]);
    let middle = whitening.at(&vec![0.0; size]);
    let widths = prior_widths(subject, &middle);
    let start = |climb: usize| -> Vec<f64> {
        let mut stream = Stream::new(seed, "climb", climb as u64);
        let mut noise = vec![0.0; size];
        stream.fill_normal(&mut noise);
        match climb {
            0 => centre.iter().map(|x| 2.0 * x).collect(),
            1..=3 => {
                // As dispersed as the starts of chains usually are.
                let z: Vec<f64> = (0..size).map(|_| 4.0 * stream.uniform() - 2.0).collect();
                whitening.coordinates(&z)
            }
            4 | 5 => noise.iter().map(|x| 5.0 * x).collect(),
            6 | 7 => noise.iter().map(|x| 20.0 * x).collect(),
            _ => {
                // Pairs on both sides: the first latent decides the order, so that both are tried.
                let side = if climb.is_multiple_of(2) { 1.0 } else { -1.0 };
                let turned = side * noise[0].signum();
                let steps = noise
                    .iter()
                    .zip(&widths)
                    .map(|(x, width)| x.signum() * width);
                let places = middle.iter().zip(steps);
                let z: Vec<f64> = places.map(|(z, step)| z + 1.5 * turned * step).collect();
                whitening.coordinates(&z)
            }
        }
    };
    (0..CLIMBS).map(start).collect()
}

/// The width of the prior along each latent, by its curvature at a point: rows may have a mode that
/// is many widths of the draws away.
fn prior_widths(subject: &Subject<'_>, at: &[f64]) -> Vec<f64> {
    const STEP: f64 = 1e-3;
    /// Where the prior does not curve down it has no width.
    const WIDEST: f64 = 1e3;
    let mut prior = LogPrior::new(subject.density);
    let middle = prior.at(at, subject.params).1.to_vec();
    let mut moved = at.to_vec();
    let mut width = |k: usize| {
        moved[k] += STEP;
        let curvature = (prior.at(&moved, subject.params).1[k] - middle[k]) / STEP;
        moved[k] = at[k];
        (-curvature).max(WIDEST.powi(-2)).powf(-0.5)
    };
    (0..at.len()).map(&mut width).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// Whether two modes are the same, in coordinates in which the draws have unit scale.
fn is_near(a: &[f64], b: &[f64]) -> bool {
    distance(a, b) < 0.25
}

fn percent(share: f64) -> String {
    if share < 0.01 {
        "less than 1 %".into()
    } else {
        format!("{:.0} %", 100.0 * share)
    }
}

pub(super) fn testify(posterior: &Posterior, _: &Remedies) -> Option<Reason> {
    let modes = &posterior.importance()?.examination.modes;
    let largest = modes.iter().map(|mode| mode.mass).fold(0.0, f64::max);
    (!modes.is_empty()).then(|| {
        let (count, mass) = (modes.len(), percent(largest));
        let sentence = format!(
            "the posterior has more than one mode, and the draws miss {count} of them (about {mass} of \
             the mass)"
        );
        Reason::new(Level::Untrusted, sentence).with_advice(
            "tell the modes apart in the model, by a prior or an order, or look at each by itself",
        )
    })
}
