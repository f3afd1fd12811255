//! The bound of a Gaussian by integrals, and the step that their derivatives imply.

use lehr_density::Density;
use lehr_numeric::dense::{CholeskyFactor, cholesky, inverse_factor};

use super::design::Design;
use super::expectation::{Expectation, RowIntegrals, Variation};
use super::shared::{PriorIntegral, SharedNumbers};
use super::slope::Slopes;
use super::{Assessment, Candidate, FactorSide, product, shared_places};
use crate::expansion::{Curvature, LogPrior};
use crate::guide::Covariance;

/// Expectations of the log joint under a Gaussian. The prior is averaged over shared numbers. In
/// all others it is assumed to be Gaussian around the mean, with its curvature at the mode: exact
/// if the prior is Gaussian, and a good start otherwise.
pub(super) struct Integrals<'d> {
    kind: Covariance,
    /// Places of z that all rows read.
    pub(super) shared: Vec<usize>,
    point_prior: LogPrior,
    prior: PriorIntegral,
    prior_hessian: &'d [f64],
    slopes: Slopes<'d>,
    rows: Expectation<'d>,
}

impl<'d> Integrals<'d> {
    pub(super) fn new(
        density: &'d dyn Density,
        kind: Covariance,
        mode: &'d Curvature,
    ) -> Option<Integrals<'d>> {
        let shared = shared_places(density)?;
        Some(Integrals {
            kind,
            point_prior: LogPrior::new(density),
            prior: PriorIntegral::new(density, &shared),
            prior_hessian: &mode.prior_hessian,
            slopes: Slopes::new(density),
            rows: Expectation::new(density, &shared),
            shared,
        })
    }

    /// Whether the gradient of the prior is linear, one and two standard deviations away, except in
    /// shared numbers.
    pub(super) fn has_gaussian_prior(&mut self, at: &Candidate) -> bool {
        let size = at.mean.len();
        let deviation = |i: usize| {
            let row = &at.factor.values[i * size..(i + 1) * size];
            row.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
        };
        let mut slope = |steps: f64| {
            let moved = |i: usize| at.mean[i] + steps * deviation(i);
            let moved: Vec<f64> = (0..size).map(moved).collect();
            self.point_prior.at(&moved, &[]).1.to_vec()
        };
        let [here, near, far] = [0.0, 1.0, 2.0].map(&mut slope);
        let linear = |i: usize| {
            let bend = here[i] - 2.0 * near[i] + far[i];
            bend.abs() <= 1e-9 * (here[i].abs() + near[i].abs() + far[i].abs())
        };
        let mut others = (0..size).filter(|i| !self.shared.contains(i));
        others.all(linear)
    }

    /// E ∇ and E ∇² of the log likelihood, and its expectation, one part of the rows after another.
    fn rows(&mut self, mean: &[f64], factor: &CholeskyFactor, shared: &SharedNumbers) -> RowSums {
        let mut sums = RowSums::zeros(mean.len());
        let rows = &mut self.rows;
        self.slopes.each(&mut |first, design| {
            let how = Variation::of(design, factor, shared);
            sums.add(design, rows.at((first, mean), &how, shared), shared);
        });
        sums
    }

    /// The bound and the step that the derivatives imply; `None` if that is not towards a maximum.
    pub(super) fn assess(&mut self, at: Candidate) -> Option<Assessment> {
        let size = at.mean.len();
        let shared = SharedNumbers::new(&self.shared, &at.factor);
        let RowSums {
            value,
            slope,
            hessian,
        } = self.rows(&at.mean, &at.factor, &shared);
        let prior = self.prior.at(&at.mean, &shared);
        let slope: Vec<f64> = (slope.iter().zip(&prior.slope))
            .map(|(rows, prior)| rows + prior)
            .collect();
        let mut prior_hessian = self.prior_hessian.to_vec();
        let mut outside = self.prior_hessian.to_vec();
        for (place, curve) in self.shared.iter().zip(&prior.curves) {
            for &other in &self.shared {
                prior_hessian[place * size + other] = curve[other];
                outside[place * size + other] = 0.0;
            }
        }
        let precision: Vec<f64> = (hessian.iter().zip(&prior_hessian))
            .map(|(rows, prior)| -(rows + prior))
            .collect();
        let newton = inverse_factor(&cholesky(&precision, size)?)?;
        let turned = product(&newton, &slope, FactorSide::Transposed);
        let bound = value + prior.value + 0.5 * at.trace(&outside) + at.entropy();
        // ½(tr ΛS − D − ln det ΛS) is the divergence of the old covariance from the new one.
        let volume = match self.kind {
            Covariance::Full => newton.log_volume(),
            Covariance::Diagonal => self.kind.factor(&precision, size)?.log_volume(),
        };
        let spread = at.trace(&self.kind.part(&precision, size)) - size as f64;
        let length: f64 = turned.iter().map(|t| t * t).sum();
        let gain = 0.5 * (length + spread) + volume - at.factor.log_volume();
        let assessment = Assessment {
            direction: product(&newton, &turned, FactorSide::Plain),
            slope,
            precision,
            at,
            bound,
            gain,
        };
        (bound.is_finite() && gain.is_finite()).then_some(assessment)
    }
}

/// The expected log likelihood of all rows, its slope and its Hessian.
struct RowSums {
    value: f64,
    slope: Vec<f64>,
    hessian: Vec<f64>,
}

impl RowSums {
    fn zeros(size: usize) -> RowSums {
        RowSums {
            value: 0.0,
            slope: vec![0.0; size],
            hessian: vec![0.0; size * size],
        }
    }

    /// Adds some rows, by their slopes and their integrals.
    fn add(&mut self, design: &Design, found: &RowIntegrals, shared: &SharedNumbers) {
        let size = self.slope.len();
        let add = |to: &mut [f64], part: &[f64]| {
            to.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        };
        self.value += found.rows[0].iter().sum::<f64>();
        add(&mut self.slope, &design.pull(&found.rows[1]));
        add(&mut self.hessian, &design.gram(&found.rows[2]));
        if let Some(own) = found.all.first() {
            add(&mut self.slope, own);
        }
        for (j, &place) in shared.places.iter().enumerate() {
            let cross = design.pull(&found.rows[3 + j]);
            for (i, (cross, own)) in cross.iter().zip(&found.all[1 + j]).enumerate() {
                self.hessian[place * size + i] += cross + own;
                self.hessian[i * size + place] += cross;
            }
        }
    }
}
