//! The difference estimator: the log likelihood of many draws on a long table, from an expansion
//! that is summed over all rows and its remainder on a sample of the rows.
//!
//! On a long table the posterior is narrow, and each row's log likelihood is nearly equal to its
//! second-order expansion tₙ at the middle of the draws. Σₙ tₙ needs one pass for any number of
//! draws. The remainder Σₙ (log p(yₙ | z) − tₙ(z)) varies so little from row to row that a few
//! thousand rows estimate it to a hundredth of a nat. The sample may miss a row that is unlike all
//! others, so the most extreme draws are also weighed on all rows, and must agree.

use lehr_density::{Density, Point, rows_here};
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::column_means;
use lehr_numeric::vector::{dot, quadratic_form};

use crate::error::TrainError;
use crate::expansion::{ExpansionPoint, TaylorOrder, row_remainder};
use crate::likelihood::Likelihoods;
use crate::run::Run;
use lehr_rows::watch::{End, Progress};
use lehr_rows::{Argument, LANES, RowPass, RowsError};

/// Tables with fewer rows are read as a whole.
const LONG: usize = 1 << 12;
/// Rows of the first sample, and the growth factor of the following ones.
const FIRST: usize = 1 << 9;
const GROWTH: usize = 4;
/// The share of the table above which a sample saves too little.
const LARGEST_SHARE: usize = 8;
/// Nats: the largest error of a sample, as the root mean square over the draws.
const CLOSE: f64 = 0.01;
/// With more latents the curvature costs more than the draws.
const MOST_LATENTS: usize = 512;

/// The accuracy of a sample of the rows for the log likelihood of a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferenceEstimate {
    /// Rows of the sample.
    pub rows: usize,
    /// The standard error of a log likelihood, in nats: the root of its mean square over the draws.
    pub error: f64,
    expansion: Expansion,
}

/// Σ log p(yₙ | z) of every draw, with the accuracy of the sample; `None` if the table is short, or
/// no sample is accurate enough. The expansion is at the mean of the draws, unless a centre is
/// given.
pub(crate) fn log_likelihoods(
    density: &dyn Density,
    (draws, centre): (&[f64], Option<&[f64]>),
    params: &[f64],
    run: &mut Run<'_>,
) -> Result<Option<(Vec<f64>, DifferenceEstimate)>, TrainError> {
    let (n_rows, size) = (density.n_rows(), density.latents().size());
    // The curvature takes about as long as three draws per latent.
    let many = size > 0 && draws.len() / size >= 6 * size;
    if n_rows < LONG || size > MOST_LATENTS || !many || draws.iter().any(|z| !z.is_finite()) {
        return Ok(None);
    }
    let middle = || column_means(draws, size);
    let centre = centre.map_or_else(middle, <[f64]>::to_vec);
    let expansion = Expansion::of(density, centre, params)?;
    // If rows are stored elsewhere, the local ones are a small share already.
    let most = match density.elsewhere() {
        Some(_) => n_rows,
        None => n_rows / LARGEST_SHARE,
    };
    let mut rows = FIRST;
    while rows <= most {
        let mut estimator = Estimator::new((density, params), &expansion, rows, run.seed);
        let Some(found) = estimator.weigh(draws, run)? else {
            return Ok(None);
        };
        let error = root_mean_square(&found.errors);
        if error <= CLOSE {
            let checked = estimator.checked(found, draws)?;
            return Ok(checked.map(|values| {
                let sampling = DifferenceEstimate {
                    rows,
                    error,
                    expansion,
                };
                (values, sampling)
            }));
        }
        rows *= GROWTH;
    }
    Ok(None)
}

/// Rows by their numbers in batches, increasing: one from each of `count` equal parts of the table,
/// or the first rows if their order is random.
fn sample(density: &dyn Density, count: usize, seed: u64) -> Vec<usize> {
    if density.source().shuffled_source().is_some() {
        return (0..count).collect();
    }
    let part = density.n_rows() as f64 / count as f64;
    let mut stream = Stream::new(seed, "weighing rows", count as u64);
    let row = |k: usize| ((k as f64 + stream.uniform()) * part) as usize;
    (0..count).map(row).collect()
}

fn root_mean_square(errors: &[f64]) -> f64 {
    let sum: f64 = errors.iter().map(|error| error * error).sum();
    (sum / errors.len() as f64).sqrt()
}

/// Log likelihoods from a sample, one per draw, and their standard errors.
struct Found {
    values: Vec<f64>,
    errors: Vec<f64>,
}

/// Σₙ tₙ around a centre.
#[derive(Clone, Debug, PartialEq)]
struct Expansion {
    centre: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
}

impl Expansion {
    fn of(density: &dyn Density, centre: Vec<f64>, params: &[f64]) -> Result<Expansion, RowsError> {
        let at = ExpansionPoint {
            latents: centre,
            params: params.to_vec(),
            ..ExpansionPoint::start(density)
        };
        let found = at.curvature(density)?;
        Ok(Expansion {
            centre: at.latents,
            value: found.log_likelihood,
            gradient: found.gradient,
            hessian: found.hessian,
        })
    }

    fn offset(&self, draw: &[f64]) -> Vec<f64> {
        draw.iter().zip(&self.centre).map(|(z, m)| z - m).collect()
    }

    /// Σₙ tₙ(z)
    fn at(&self, draw: &[f64]) -> f64 {
        let offset = self.offset(draw);
        self.value + dot(&self.gradient, &offset) + 0.5 * quadratic_form(&self.hessian, &offset)
    }
}

/// An expansion, and the sampled rows for its remainder.
pub(crate) struct Estimator<'a> {
    density: &'a dyn Density,
    params: &'a [f64],
    expansion: &'a Expansion,
    pass: RowPass<'a>,
    rows: f64,
    /// z of every lane; unused lanes keep their values.
    block: Vec<f64>,
}

impl<'a> Estimator<'a> {
    /// The estimator that weighed the draws of a fit.
    pub(crate) fn again(
        density: &'a dyn Density,
        params: &'a [f64],
        sampling: &'a DifferenceEstimate,
        seed: u64,
    ) -> Estimator<'a> {
        Estimator::new((density, params), &sampling.expansion, sampling.rows, seed)
    }

    fn new(
        (density, params): (&'a dyn Density, &'a [f64]),
        expansion: &'a Expansion,
        rows: usize,
        seed: u64,
    ) -> Estimator<'a> {
        Estimator {
            density,
            params,
            expansion,
            pass: remainders(density, &sample(density, rows, seed)),
            rows: rows as f64,
            block: vec![0.0; LANES * expansion.centre.len()],
        }
    }

    /// Estimates of Σ log p(yₙ | z) for up to [`LANES`] z, one after another, with their errors.
    pub(crate) fn of(&mut self, latents: &[f64]) -> Vec<(f64, f64)> {
        self.block[..latents.len()].copy_from_slice(latents);
        let centre = &self.expansion.centre;
        let sums = self.pass.run(&[&self.block, self.params, centre]);
        // A likelihood that does not depend on z is the same for every lane.
        let both = sums[0].iter().cycle().zip(sums[1].iter().cycle());
        let (rows, stands_for) = (self.rows, self.density.n_rows() as f64 / self.rows);
        let estimate = |(z, (sum, squares)): (&[f64], (&f64, &f64))| {
            let variance = (squares - sum * sum / rows).max(0.0) / (rows - 1.0);
            let value = self.expansion.at(z) + stands_for * sum;
            (value, stands_for * (rows * variance).sqrt())
        };
        latents
            .chunks_exact(centre.len())
            .zip(both)
            .map(estimate)
            .collect()
    }

    /// The log likelihood of every draw; `None` if some are NaN.
    fn weigh(&mut self, draws: &[f64], run: &mut Run<'_>) -> Result<Option<Found>, TrainError> {
        let block = self.block.len();
        let end = End::At((draws.len() / self.expansion.centre.len()) as u64);
        let (mut values, mut errors) = (Vec::new(), Vec::new());
        for some in draws.chunks(block) {
            let (more, own): (Vec<f64>, Vec<f64>) = self.of(some).into_iter().unzip();
            values.extend(more);
            errors.extend(own);
            run.tell(&Progress::counted(values.len() as u64, "draws", end))?;
        }
        let finite = values.iter().chain(&errors).all(|one| one.is_finite());
        Ok(finite.then_some(Found { values, errors }))
    }

    /// The values, if those of the most extreme draws agree with all rows.
    fn checked(&self, found: Found, draws: &[f64]) -> Result<Option<Vec<f64>>, RowsError> {
        const ERRORS: f64 = 4.0;
        let size = self.expansion.centre.len();
        let draw = |k: usize| &draws[k * size..(k + 1) * size];
        let reach = |k: usize| {
            let offset = self.expansion.offset(draw(k));
            quadratic_form(&self.expansion.hessian, &offset).abs()
        };
        let mut order: Vec<(usize, f64)> = (0..draws.len() / size).map(|k| (k, reach(k))).collect();
        order.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        order.truncate(LANES);
        let furthest: Vec<f64> = order.iter().flat_map(|(k, _)| draw(*k)).copied().collect();
        let exact = Likelihoods::new(self.density, self.params).of(&furthest)?;
        let mut values = found.values;
        for ((k, _), exact) in order.iter().zip(exact) {
            let off = (values[*k] - exact).abs();
            if off.is_nan() || off > ERRORS * found.errors[*k] + CLOSE {
                return Ok(None);
            }
            values[*k] = exact;
        }
        Ok(Some(values))
    }
}

/// Σ r and Σ r² over these rows for one z per lane, where r is the remainder of a row's expansion.
fn remainders<'d>(density: &'d dyn Density, sample: &[usize]) -> RowPass<'d> {
    let size = density.latents().size();
    let sizes = [
        Argument::PerLane(size),
        Argument::Shared(density.params().size()),
        Argument::Shared(size),
    ];
    RowPass::of_rows(
        rows_here(density),
        (LANES, sample),
        &sizes,
        |inputs, rows| {
            let (z, params, centre) = (inputs[0], inputs[1], inputs[2]);
            // Two separate nodes, because the expansion is differentiated at the centre while the
            // direction stays fixed.
            let both = [&Point::new(centre.anchor(), params), &Point::new(z, params)];
            let left = row_remainder(density, both, rows, z - centre, TaylorOrder::Second);
            vec![left.sum(), left.square().sum()]
        },
    )
}
