//! The witness of tails: whether one exact step along each latent leaves the distribution of the
//! draws unchanged.
//!
//! If chains would take too long, the density on a line determines the distribution of a Gibbs step
//! along it. Draws of the posterior keep their moments under such a step. Draws that miss a tail do
//! not, because the line reaches further than they do: separation, events too rare for a Gaussian,
//! coefficients that only the prior determines, standard deviations at their boundary.

use lehr_density::Density;
use lehr_numeric::pareto::TailShape;
use lehr_numeric::summary::{column_means, mean};

use super::agreement::{Deviation, beyond_chance, is_small, listed, off};
use super::joint::Joint;
use super::remedy::Remedies;
use super::{Reason, Subject, work};
use crate::error::TrainError;
use crate::estimate::Level;
use crate::posterior::{Gap, HeavyTail, Moments, Posterior};
use crate::run::Run;
use lehr_rows::RowsError;

/// Points of a line on either side of its middle: t = 2 sinh(0.45 k), up to 23 standard deviations
/// of the draws away. Sums over them give the moments of a Gaussian to 0.3 %.
const REACH: i32 = 7;
const SPACING: f64 = 0.45;
const CORE: f64 = 2.0;
/// The most latents that are checked.
const MOST: usize = 256;
/// Draws through which lines go if the line through the middle is not Gaussian, and more of them if
/// the result is uncertain. The directions are those of the draws' own covariances, so a step has
/// as much noise as those; lines through few draws are noisy.
const ROUNDS: [usize; 3] = [8, 32, 128];
/// Odd, so that its multiples visit all places of a power of two, far apart from each other.
const SCATTER: usize = 53;
/// Numbers of a table above which there is no third round.
const LONG: usize = 3_000_000;
/// The most latents that more than one line goes through.
const MOST_SUSPECTS: usize = 24;
/// A line through the middle whose mean or standard deviation differs by more than this is examined
/// further.
const SUSPICIOUS: (f64, f64) = (0.05, 0.03);

/// The draws of a fit by latent.
struct DrawLines<'a> {
    subject: &'a Subject<'a>,
    size: usize,
    centre: Vec<f64>,
    /// Lines through a suspicious latent, round after round.
    rounds: &'static [usize],
}

/// The line along which the other latents move with one of them.
struct Line {
    place: usize,
    /// One standard deviation of that latent.
    scale: f64,
    /// The change of each latent for one standard deviation of it.
    direction: Vec<f64>,
}

/// The distribution of t on the line through one point: its mean and mean square, and t of the
/// point.
#[derive(Clone, Copy)]
struct LineMoments {
    mean: f64,
    square: f64,
    from: f64,
}

/// The latents along which the posterior differs from the draws, or may differ.
///
/// # Errors
/// If the observer stops the fit.
pub(super) fn find(subject: &Subject<'_>, run: &mut Run<'_>) -> Result<Vec<HeavyTail>, TrainError> {
    let density = subject.density;
    if density.locals().is_some() {
        return Ok(Vec::new());
    }
    let (drawn, mut joint) = (DrawLines::new(subject), Joint::new(subject));
    // Latents that a sample of the rows does not find suspicious are accepted; the others are
    // checked on all rows.
    let mut sampled = Joint::by_sample(subject);
    let mut suspects: Vec<(Line, f64)> = Vec::new();
    let places = places(density);
    for (done, place) in places.iter().enumerate() {
        run.tell_count(done, "lines", places.len())?;
        let Some(line) = drawn.line(*place) else {
            continue;
        };
        let first = sampled.as_mut().unwrap_or(&mut joint);
        let middle = line.step(&drawn.centre, 0.0, first)?;
        let size = middle.map_or(f64::INFINITY, LineMoments::size);
        if size > 1.0 {
            suspects.push((line, size));
        }
    }
    suspects.sort_by(|a, b| b.1.total_cmp(&a.1));
    suspects.truncate(MOST_SUSPECTS);
    let names = density.latents().free_names();
    let mut found = Vec::new();
    for (done, (line, _)) in suspects.iter().enumerate() {
        run.tell_count(done, "suspects", suspects.len())?;
        let name = &names[line.place];
        let is_calm = match &mut sampled {
            Some(joint) => drawn.look(line, name, joint)?.is_none(),
            None => false,
        };
        if !is_calm {
            found.extend(drawn.look(line, name, &mut joint)?);
        }
    }
    Ok(found)
}

/// The latents to check: those of small sites first, then some of every large one.
fn places(density: &dyn Density) -> Vec<usize> {
    let latents = density.latents();
    let mut ranges: Vec<_> = (0..latents.sites().len())
        .map(|site| latents.range(site))
        .collect();
    ranges.sort_by_key(ExactSizeIterator::len);
    let mut places = Vec::new();
    for (done, range) in ranges.iter().enumerate() {
        let share = (MOST - places.len().min(MOST)) / (ranges.len() - done);
        let stride = range.len().div_ceil(share.max(1)).max(1);
        places.extend(range.clone().step_by(stride));
    }
    places
}

impl<'a> DrawLines<'a> {
    fn new(subject: &'a Subject<'a>) -> DrawLines<'a> {
        let size = subject.density.latents().size();
        DrawLines {
            subject,
            size,
            centre: column_means(subject.draws, size),
            rounds: if work(subject.density) <= LONG {
                &ROUNDS
            } else {
                &ROUNDS[..2]
            },
        }
    }

    fn draws(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.subject.draws.chunks_exact(self.size)
    }

    fn line(&self, place: usize) -> Option<Line> {
        let (mut sums, mut variance) = (vec![0.0; self.size], 0.0);
        for z in self.draws() {
            let own = z[place] - self.centre[place];
            variance += own * own;
            for ((sum, z), centre) in sums.iter_mut().zip(z).zip(&self.centre) {
                *sum += own * (z - centre);
            }
        }
        let count = self.draws().len() as f64;
        let scale = (variance / count).sqrt();
        for sum in &mut sums {
            *sum /= count * scale;
        }
        (scale > 0.0).then_some(Line {
            place,
            scale,
            direction: sums,
        })
    }

    /// The moments of a latent from lines through some draws, if they differ from the draws'
    /// moments.
    fn look(
        &self,
        line: &Line,
        name: &str,
        joint: &mut Joint<'_>,
    ) -> Result<Option<HeavyTail>, RowsError> {
        let (mut steps, all) = (Vec::new(), self.draws().len());
        let values: Vec<f64> = (self.draws())
            .map(|z| (z[line.place] - self.centre[line.place]) / line.scale)
            .collect();
        let raw = Moments::of(&values);
        let mut gap = None;
        for &lines in self.rounds {
            // Neighbouring draws may come from one chain, so the first lines go through draws of
            // all chains.
            let most = self.rounds[self.rounds.len() - 1];
            let apart = (all / most).max(1);
            for draw in (steps.len()..lines).map(|k| k * SCATTER % most * apart % all) {
                let z = &self.subject.draws[draw * self.size..][..self.size];
                steps.extend(line.step(z, values[draw], joint)?);
            }
            let Some(reference) = reference(&steps) else {
                return Ok(None);
            };
            let found = raw.gap_from(&reference);
            gap = Some((reference, found));
            let surely = !off([(name, found)].into_iter(), beyond_chance(self.size)).is_empty();
            if surely || is_small(&found) {
                break;
            }
        }
        let Some((reference, found)) = gap else {
            return Ok(None);
        };
        let weighted = Moments::weighted(&values, &self.subject.pareto.weights());
        let matters = !off([(name, found)].into_iter(), 0.0).is_empty();
        Ok(matters.then(|| HeavyTail {
            name: name.to_owned(),
            raw: found,
            weighted: weighted.gap_from(&reference),
        }))
    }
}

/// The points of a line, in standard deviations of the draws.
fn stops() -> impl Iterator<Item = f64> + Clone {
    (-REACH..=REACH).map(|k| CORE * (SPACING * f64::from(k)).sinh())
}

impl Line {
    /// The distribution of t on the line through a point with t = `from`.
    fn step(
        &self,
        through: &[f64],
        from: f64,
        joint: &mut Joint<'_>,
    ) -> Result<Option<LineMoments>, RowsError> {
        let at = |t: f64| {
            let each = through.iter().zip(&self.direction);
            each.map(move |(z, along)| z + (t - from) * along)
        };
        let points: Vec<f64> = stops().flat_map(at).collect();
        Ok(LineMoments::of(&joint.values(&points)?, from))
    }
}

impl LineMoments {
    /// The distribution of a log density on a line; `None` if it is nowhere finite.
    fn of(values: &[f64], from: f64) -> Option<LineMoments> {
        // dt is proportional to cosh, which is √(1 + (t / 2)²).
        let both = values.iter().zip(stops());
        let logs = both.map(|(value, t)| value + 0.5 * (t / CORE).powi(2).ln_1p());
        let logs: Vec<f64> = logs.collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let heights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        let total: f64 = heights.iter().sum();
        let moment = |power: i32| -> f64 {
            let each = heights.iter().zip(stops());
            each.map(|(height, t)| height * t.powi(power)).sum::<f64>() / total
        };
        top.is_finite().then(|| LineMoments {
            mean: moment(1),
            square: moment(2),
            from,
        })
    }

    /// The difference from a standard Gaussian, in multiples of the suspicious size.
    fn size(self) -> f64 {
        let sd = (self.square - self.mean * self.mean).sqrt();
        let wide = sd.ln().abs() / SUSPICIOUS.1;
        (self.mean.abs() / SUSPICIOUS.0).max(wide)
    }
}

/// The moments of t after one step from each draw. The draws themselves are a control variate if
/// steps are short: their own moments are known to be 0 and 1.
fn reference(steps: &[LineMoments]) -> Option<Moments> {
    let better =
        |plain: &dyn Fn(&LineMoments) -> f64, own: &dyn Fn(&LineMoments) -> f64, known: f64| {
            let as_is = estimate(steps.iter().map(plain));
            let less = estimate(steps.iter().map(|step| plain(step) - own(step)));
            if as_is.1 <= less.1 {
                as_is
            } else {
                (less.0 + known, less.1)
            }
        };
    let (mean, mean_error) = better(&|step| step.mean, &|step| step.from, 0.0);
    let square = better(&|step| step.square, &|step| step.from * step.from, 1.0);
    let variance = square.0 - mean * mean;
    (steps.len() > 1 && variance > 0.0).then(|| Moments {
        mean,
        mean_error,
        sd: variance.sqrt(),
        sd_error: 0.5 * square.1 / variance,
    })
}

/// A mean and its standard error, enlarged for few values such that a given number of errors is as
/// unlikely as for a Gaussian.
fn estimate(values: impl Iterator<Item = f64>) -> (f64, f64) {
    const ERRORS: f64 = 3.5;
    let values: Vec<f64> = values.collect();
    let count = values.len() as f64;
    let error = lehr_numeric::summary::sd(&values) / count.sqrt();
    (mean(&values), error * student(ERRORS, count - 1.0) / ERRORS)
}

/// The quantile of Student's t that is as unlikely as a normal one (the expansion of Fisher and Cornish).
fn student(z: f64, freedom: f64) -> f64 {
    let freedom = freedom.max(1.0);
    let (cube, fifth) = (z.powi(3), z.powi(5));
    z + (cube + z) / (4.0 * freedom)
        + (5.0 * fifth + 16.0 * cube + 3.0 * z) / (96.0 * freedom * freedom)
}

pub(super) fn testify(posterior: &Posterior, _: &Remedies) -> Option<Reason> {
    let importance = posterior.importance()?;
    let tails = &importance.examination.tails;
    let gaps = |of: fn(&HeavyTail) -> Gap| {
        let each = tails.iter().map(|one| (one.name.as_str(), of(one)));
        each.collect::<Vec<_>>()
    };
    let z = beyond_chance(posterior.latents.size());
    let raw = off(gaps(|one| one.raw).into_iter(), 0.0);
    let sure = off(gaps(|one| one.raw).into_iter(), z);
    let light = TailShape::of(&importance.pareto) == TailShape::Light;
    let repaired = light && tails.iter().all(|one| is_small(&one.weighted));
    let said = |off: &[Deviation]| {
        format!(
            "one exact step along a latent moves the draws: {}",
            listed(off)
        )
    };
    let (level, sentence) = match (raw.is_empty(), sure.is_empty()) {
        (true, _) => return None,
        _ if repaired => (
            Level::Corrected,
            format!(
                "weights repair what exact steps find to be off: {}",
                listed(&raw)
            ),
        ),
        (_, true) => (
            Level::Doubtful,
            said(&raw) + ", as far as few steps can tell",
        ),
        (_, false) => (Level::Untrusted, said(&sure)),
    };
    Some(Reason::new(level, sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_line(log_density: impl Fn(f64) -> f64) -> LineMoments {
        let values: Vec<f64> = stops().map(log_density).collect();
        LineMoments::of(&values, 0.0).unwrap()
    }

    #[test]
    fn a_line_knows_the_moments_of_a_gaussian_and_of_a_tail() {
        for (mean, sd) in [(0.0, 1.0), (0.4, 1.0), (0.3, 0.7), (0.5, 1.5), (1.0, 3.0)] {
            let step = on_line(|t| -0.5 * ((t - mean) / sd).powi(2));
            let found = (step.square - step.mean * step.mean).sqrt();
            assert!((step.mean - mean).abs() < 0.005 * sd, "{mean} {sd}");
            assert!((found / sd - 1.0).abs() < 0.005, "{mean} {sd} {found}");
        }
        // Flat to the right up to a prior of scale 8, as for a column that separates the outcomes.
        let step = on_line(|t| -0.5 * (t / 8.0).powi(2) - (-2.0 * t).exp());
        let known = (6.55, 4.80);
        let found = (step.square - step.mean * step.mean).sqrt();
        assert!((step.mean - known.0).abs() < 0.1, "{}", step.mean);
        assert!((found - known.1).abs() < 0.1, "{found}");
        assert!(step.size() > 10.0);
    }

    #[test]
    fn few_lines_know_their_error_as_students_t_does() {
        // The quantiles of t with 7 and 31 degrees of freedom that are as unlikely as z = 3.5: 6.08
        // and 3.92.
        assert!((student(3.5, 7.0) / 6.08 - 1.0).abs() < 0.05);
        assert!((student(3.5, 31.0) / 3.92 - 1.0).abs() < 0.01);
        let (mean, error) = estimate([1.0, 2.0, 3.0, 4.0].into_iter());
        let plain = lehr_numeric::summary::sd(&[1.0, 2.0, 3.0, 4.0]) / 2.0;
        assert!((mean - 2.5).abs() < 1e-12 && error > 2.0 * plain);
    }

    #[test]
    fn draws_are_a_control_variate_where_steps_stay_near_them() {
        // Half of a step's result depends on its start.
        let steps: Vec<LineMoments> = [-1.5, -0.2, 0.4, 1.9]
            .map(|from: f64| LineMoments {
                mean: from + 0.05,
                square: (from + 0.05).powi(2),
                from,
            })
            .into();
        let found = reference(&steps).unwrap();
        assert!((found.mean - 0.05).abs() < 1e-12 && found.mean_error < 1e-12);
        let apart = steps.iter().map(|step| LineMoments {
            mean: 0.1,
            square: 1.0,
            ..*step
        });
        let found = reference(&apart.collect::<Vec<_>>()).unwrap();
        assert!((found.mean - 0.1).abs() < 1e-12 && found.mean_error < 1e-12);
    }
}
