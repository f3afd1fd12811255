//! A line search for the strong Wolfe conditions that treats bad values as walls.

use serde::{Deserialize, Serialize};

use super::{Function, dot};

/// The current point of the search, and buffers for the next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LineSearch {
    pub(super) point: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    pub(super) value: f64,
    pub(super) old_point: Vec<f64>,
    pub(super) old_gradient: Vec<f64>,
    pub(super) evaluations: usize,
}

/// Whether a search found a better point.
pub(super) enum LineOutcome {
    Moved,
    Stuck,
}

/// The function along the line at one length.
#[derive(Clone, Copy)]
struct Trial {
    length: f64,
    value: f64,
    slope: f64,
}

/// The consequence of a trial for the interval of step lengths.
enum TrialVerdict {
    /// Both Wolfe conditions hold.
    Done,
    /// Still rising: a longer step is better.
    Short,
    /// Past the maximum, below the required rise, or inside a wall.
    Long,
}

/// Share of the rise predicted by the first slope that a step must reach (Armijo).
const PROMISE: f64 = 1e-4;
/// Share of the first slope that may remain at the step's end (curvature condition).
const FLAT: f64 = 0.9;
/// Rounding of a value that is a sum over many rows, relative to its size.
const ROUNDING: f64 = 1e-13;
const TRIALS: usize = 60;

impl LineSearch {
    pub(super) fn new(start: &[f64], function: Function<'_>) -> Self {
        let mut gradient = vec![0.0; start.len()];
        let value = function(start, &mut gradient);
        Self {
            old_point: start.to_vec(),
            old_gradient: gradient.clone(),
            point: start.to_vec(),
            gradient,
            value,
            evaluations: 1,
        }
    }

    /// Moves along `direction` to a point that satisfies the strong Wolfe conditions, or, if no
    /// trial does, to the best point with the required rise; else stays at the start.
    pub(super) fn search_line(
        &mut self,
        direction: &[f64],
        first_length: f64,
        function: Function<'_>,
    ) -> LineOutcome {
        self.old_point.copy_from_slice(&self.point);
        self.old_gradient.copy_from_slice(&self.gradient);
        let start = Trial {
            length: 0.0,
            value: self.value,
            slope: dot(&self.gradient, direction),
        };
        if start.slope > 0.0 && start.slope.is_finite() {
            let best = self.narrow_interval(direction, start, first_length, function);
            if best.length > 0.0 {
                return LineOutcome::Moved;
            }
        }
        self.point.copy_from_slice(&self.old_point);
        self.gradient.copy_from_slice(&self.old_gradient);
        self.value = start.value;
        LineOutcome::Stuck
    }

    /// Keeps a pair (low, high) of step lengths with the maximum between them: low has the required
    /// rise, high does not. Ends at the trial it returns, unless that is the start.
    fn narrow_interval(
        &mut self,
        direction: &[f64],
        start: Trial,
        first_length: f64,
        function: Function<'_>,
    ) -> Trial {
        let (mut low, mut high, mut best) = (start, None::<Trial>, start);
        let mut length = first_length;
        for _ in 0..TRIALS {
            let trial = self.evaluate_trial(direction, length, function);
            let judged = judge_trial(&start, &low, &trial);
            if matches!(judged, TrialVerdict::Done) {
                return trial;
            }
            if keeps_promise(&start, &trial) && trial.value > best.value {
                best = trial;
            }
            match judged {
                TrialVerdict::Short => low = trial,
                _ => high = Some(trial),
            }
            length = match &high {
                None => 3.0 * low.length,
                Some(high) => interpolate_trials(&low, high),
            };
            let closed = high.is_some_and(|high| high.length - low.length <= 1e-15 * high.length);
            if closed || !length.is_finite() {
                break;
            }
        }
        if best.length > 0.0 {
            self.evaluate_trial(direction, best.length, function);
        }
        best
    }

    fn evaluate_trial(&mut self, direction: &[f64], length: f64, function: Function<'_>) -> Trial {
        for ((x, old), along) in self.point.iter_mut().zip(&self.old_point).zip(direction) {
            *x = old + length * along;
        }
        self.value = function(&self.point, &mut self.gradient);
        self.evaluations += 1;
        Trial {
            length,
            value: self.value,
            slope: dot(&self.gradient, direction),
        }
    }
}

fn judge_trial(start: &Trial, low: &Trial, trial: &Trial) -> TrialVerdict {
    if !trial.value.is_finite() || !trial.slope.is_finite() {
        return TrialVerdict::Long;
    }
    let flat = trial.slope.abs() <= FLAT * start.slope;
    if flat && (keeps_promise(start, trial) || as_good_as_level(start, trial)) {
        return TrialVerdict::Done;
    }
    if !keeps_promise(start, trial) || trial.value < low.value || trial.slope < 0.0 {
        return TrialVerdict::Long;
    }
    TrialVerdict::Short
}

fn keeps_promise(start: &Trial, trial: &Trial) -> bool {
    trial.value >= start.value + PROMISE * trial.length * start.slope
}

/// Near the maximum the rise is lost in rounding while slopes are still exact. The slopes then
/// decide (the approximate Wolfe conditions of Hager & Zhang 2005).
fn as_good_as_level(start: &Trial, trial: &Trial) -> bool {
    let level = trial.value >= start.value - ROUNDING * start.value.abs();
    level && trial.slope >= -(1.0 - 2.0 * PROMISE) * start.slope
}

/// The maximum of the cubic through values and slopes at both ends (Nocedal & Wright 2006, eq.
/// 3.59), kept away from the ends; the middle if an end is a wall.
fn interpolate_trials(low: &Trial, high: &Trial) -> f64 {
    let width = high.length - low.length;
    let middle = low.length + 0.5 * width;
    let chord = 3.0 * (high.value - low.value) / width;
    let bend = low.slope + high.slope - chord;
    let root = (bend * bend - low.slope * high.slope).sqrt();
    let share = (low.slope - bend + root) / (2.0 * root + low.slope - high.slope);
    if !share.is_finite() {
        return middle;
    }
    low.length + width * share.clamp(0.1, 0.9)
}
