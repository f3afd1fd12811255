//! The witness of the grid: with one or two latents, a sum over a grid gives the posterior.
//!
//! The grid lies in the coordinates in which the draws are N(0, 1), equally spaced in t with x =
//! sinh t: fine in the middle, and far beyond the draws. It checks itself: every second point alone
//! and the inner points alone must give the same moments.

use lehr_density::rows_here;
use lehr_numeric::stream::Stream;

use super::agreement::{Deviation, listed, off};
use super::joint::log_joint;
use super::quantity::columns;
use super::remedy::Remedies;
use super::{Reason, ReplacementDraws, Subject, work};
use crate::error::TrainError;
use crate::estimate::Level;
use crate::posterior::{Examination, Grid, Moments, Posterior, Quantity};
use crate::run::Run;

/// The most numbers that may be read for a grid.
const MOST_WORK: usize = 300_000_000;
/// The largest difference in moments between a grid and a coarser or narrower one.
const ACCURACY: f64 = 0.005;
/// Points with a smaller share of the mass are left out.
const LEAST_SHARE: f64 = 1e-40;

/// Points along every axis, and how far they reach in t.
#[derive(Clone, Copy)]
struct Lattice {
    axes: usize,
    points: usize,
    reach: f64,
}

/// The sum over a lattice.
struct GridSum {
    lattice: Lattice,
    /// Places on the lattice that have mass, and their shares.
    places: Vec<usize>,
    shares: Vec<f64>,
    /// z at those places.
    latents: Vec<f64>,
    log_evidence: f64,
}

impl Lattice {
    /// `None` if there are too many latents, or a sum would take longer than chains.
    fn of(subject: &Subject<'_>) -> Option<Lattice> {
        let (axes, density) = (subject.density.latents().size(), subject.density);
        let (points, reach) = match axes {
            1 => (2049_usize, 8.0),
            2 => (193, 5.0),
            _ => return None,
        };
        let count = points.pow(axes as u32);
        let whole = density.locals().is_none() && rows_here(density).is_resident();
        (whole && count * work(density) <= MOST_WORK).then_some(Lattice {
            axes,
            points,
            reach,
        })
    }

    fn count(&self) -> usize {
        self.points.pow(self.axes as u32)
    }

    fn spacing(&self) -> f64 {
        2.0 * self.reach / (self.points - 1) as f64
    }

    /// The coordinates of a place along each axis.
    fn steps(&self, place: usize) -> impl Iterator<Item = usize> {
        let points = self.points;
        (0..self.axes as u32).map(move |axis| place / points.pow(axis) % points)
    }

    /// t at a place.
    fn position(&self, place: usize) -> impl Iterator<Item = f64> {
        let (reach, spacing) = (self.reach, self.spacing());
        self.steps(place).map(move |k| k as f64 * spacing - reach)
    }

    /// Whether a place belongs to the lattice of twice the spacing.
    fn is_coarse(&self, place: usize) -> bool {
        self.steps(place).all(|k| k % 2 == 0)
    }

    /// Whether a place lies on the inner four fifths of every axis.
    fn is_inner(&self, place: usize) -> bool {
        self.position(place).all(|t| t.abs() <= 0.8 * self.reach)
    }
}

impl GridSum {
    fn over(
        lattice: Lattice,
        subject: &Subject<'_>,
        run: &mut Run<'_>,
    ) -> Result<Option<GridSum>, TrainError> {
        let whitening = subject.whitening();
        let at = |place: usize| {
            let x: Vec<f64> = lattice.position(place).map(f64::sinh).collect();
            whitening.at(&x)
        };
        let points: Vec<f64> = (0..lattice.count()).flat_map(at).collect();
        let mut values = log_joint(subject, &points, run)?;
        for (place, value) in values.iter_mut().enumerate() {
            // dx = cosh t dt
            *value += lattice.position(place).map(|t| t.cosh().ln()).sum::<f64>();
        }
        let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return Ok(None);
        }
        let total: f64 = values.iter().map(|value| (value - top).exp()).sum();
        let share = |place: usize| (values[place] - top).exp() / total;
        let places = (0..lattice.count()).filter(|place| share(*place) > LEAST_SHARE);
        let places: Vec<usize> = places.collect();
        let cell = lattice.axes as f64 * lattice.spacing().ln();
        Ok(Some(GridSum {
            shares: places.iter().map(|place| share(*place)).collect(),
            latents: places.iter().flat_map(|place| at(*place)).collect(),
            log_evidence: top + total.ln() + cell + whitening.log_volume(),
            lattice,
            places,
        }))
    }

    /// The moments of a quantity, if every second point and the inner points give the same.
    fn moments(&self, values: &[f64]) -> Option<Moments> {
        let among = |kept: &dyn Fn(usize) -> bool| {
            let pairs = self.places.iter().zip(&self.shares);
            let shares = pairs.map(|(place, share)| if kept(*place) { *share } else { 0.0 });
            let shares: Vec<f64> = shares.collect();
            let total: f64 = shares.iter().sum();
            let shares: Vec<f64> = shares.iter().map(|share| share / total).collect();
            Moments::weighted(values, &shares)
        };
        let lattice = self.lattice;
        let all = among(&|_| true);
        let others = [
            among(&|place| lattice.is_coarse(place)),
            among(&|place| lattice.is_inner(place)),
        ];
        let same = |other: &Moments| {
            let gap = other.gap_from(&all);
            // NaN counts as different.
            gap.shift.abs() < ACCURACY && gap.log_ratio.abs() < ACCURACY
        };
        others.iter().all(same).then_some(Moments {
            mean_error: 0.0,
            sd_error: 0.0,
            ..all
        })
    }

    /// Draws of the posterior: places by their shares, and uniform within their cells.
    fn draws(&self, subject: &Subject<'_>, count: usize) -> Vec<f64> {
        let mut stream = Stream::new(subject.seed, "grid", 0);
        let mut chosen = Vec::with_capacity(count);
        let (mut cell, mut below) = (0, 0.0);
        for draw in 0..count {
            let wanted = (draw as f64 + stream.uniform()) / count as f64;
            while cell + 1 < self.shares.len() && below + self.shares[cell] < wanted {
                below += self.shares[cell];
                cell += 1;
            }
            chosen.push(self.places[cell]);
        }
        // Any part of the draws must be a valid sample as well.
        stream.shuffle(&mut chosen);
        let spacing = self.lattice.spacing();
        let mut draws = Vec::with_capacity(count * self.lattice.axes);
        for place in chosen {
            let position = self.lattice.position(place);
            let x: Vec<f64> = position
                .map(|t| (t + spacing * (stream.uniform() - 0.5)).sinh())
                .collect();
            draws.extend(subject.whitening().at(&x));
        }
        draws
    }
}

/// Sums over a grid if that is possible, and records its moments of every quantity. If the draws
/// are wrong, the result contains draws of the grid.
pub(super) fn look(
    subject: &Subject<'_>,
    quantities: &mut [Quantity],
    run: &mut Run<'_>,
) -> Result<Option<(Grid, Option<ReplacementDraws>)>, TrainError> {
    let Some(lattice) = Lattice::of(subject) else {
        return Ok(None);
    };
    let Some(sum) = GridSum::over(lattice, subject, run)? else {
        return Ok(None);
    };
    let columns = columns(subject.density, &sum.latents, subject.params);
    let mut columns = columns.into_iter();
    let known = quantities.iter().map(|quantity| {
        let own = columns.find(|(name, _)| *name == quantity.name);
        own.and_then(|(_, values)| sum.moments(&values))
    });
    let Some(known) = known.collect::<Option<Vec<Moments>>>() else {
        return Ok(None);
    };
    for (quantity, moments) in quantities.iter_mut().zip(known) {
        quantity.reference = Some(moments);
    }
    let grid = Grid {
        points: lattice.count(),
        log_evidence: sum.log_evidence,
    };
    let count = subject.draws.len() / lattice.axes;
    let better = (!differences(quantities).is_empty()).then(|| ReplacementDraws::Grid {
        draws: sum.draws(subject, count),
        log_evidence: sum.log_evidence,
    });
    Ok(Some((grid, better)))
}

/// The differences of the draws from the grid. The grid has no error, and Monte Carlo error of the
/// draws counts as a difference.
fn differences(quantities: &[Quantity]) -> Vec<Deviation> {
    let gap = |one: &Quantity| one.reference.map(|truth| one.raw.gap_from(&truth));
    let gaps = quantities
        .iter()
        .filter_map(|one| Some((one.name.as_str(), gap(one)?)));
    off(gaps, 0.0)
}

/// Whether the draws of a fit come from its grid.
pub(super) fn stands_in(examination: &Examination) -> bool {
    examination.grid.is_some() && !differences(&examination.quantities).is_empty()
}

pub(super) fn testify(posterior: &Posterior, _: &Remedies) -> Option<Reason> {
    let examination = &posterior.importance()?.examination;
    examination.grid.as_ref()?;
    let off = differences(&examination.quantities);
    let sentence = if off.is_empty() {
        "a sum over a grid confirms the draws".into()
    } else {
        let off = listed(&off);
        format!("the draws are those of a grid over the posterior; the fit's own were off: {off}")
    };
    Some(Reason::new(Level::Reliable, sentence))
}
