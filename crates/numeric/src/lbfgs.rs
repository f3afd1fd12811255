//! Maximises a smooth function by limited-memory BFGS with a strong Wolfe line search.

mod line;

use std::collections::VecDeque;

use line::{LineOutcome, LineSearch};
use serde::{Deserialize, Serialize};

use crate::dense::small::add;
use crate::vector::dot;

/// Stopping rules, and the size of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LbfgsSettings {
    /// Pairs of steps and gradient changes kept.
    pub memory: usize,
    /// Iterations after which to give up.
    pub iterations: usize,
    /// Stop when the largest slope is at most this.
    pub gradient_tolerance: f64,
    /// Stop when several iterations in a row gain at most this share of the value's size.
    pub gain_tolerance: f64,
    /// The longest first step, while the scale is unknown; infinite if the scale is known to be 1
    /// in every direction.
    pub first_step: f64,
}

impl Default for LbfgsSettings {
    fn default() -> Self {
        Self {
            memory: 20,
            iterations: 1000,
            gradient_tolerance: 1e-6,
            gain_tolerance: 1e-14,
            first_step: 1.0,
        }
    }
}

/// One iteration without gain can happen far from a maximum; three in a row do not.
const FLAT_ITERATIONS: usize = 3;

/// The reason why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// The gradient is as small as asked for.
    Gradient,
    /// Further gains are below the rounding of the value.
    Gain,
    /// No longer step improves the value, and shorter ones cannot be distinguished from rounding.
    Stuck,
    /// The iterations were used up.
    Iterations,
    /// The value or gradient at the start is not finite.
    BadStart,
}

impl StopReason {
    /// Whether the point is a maximum to the precision of the arithmetic.
    pub fn has_converged(self) -> bool {
        matches!(self, Self::Gradient | Self::Gain)
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Maximum {
    /// The best point found.
    pub point: Vec<f64>,
    /// The value there.
    pub value: f64,
    /// The largest absolute slope there.
    pub gradient_norm: f64,
    /// Iterations taken.
    pub iterations: usize,
    /// Calls of the function.
    pub evaluations: usize,
    /// The reason why the search ended.
    pub reason: StopReason,
}

/// Writes the gradient at a point and returns the value there.
pub type Function<'a> = &'a mut dyn FnMut(&[f64], &mut [f64]) -> f64;

/// Maximises `function`, which writes its gradient and returns its value (Nocedal & Wright 2006,
/// algorithms 7.4, 3.5 and 3.6).  Values of −∞ or NaN and gradients that are not finite act as
/// walls, from which the line search backs away. Except for rounding, the value never decreases
/// from one iteration to the next.
pub fn maximise(
    start: &[f64],
    settings: LbfgsSettings,
    mut function: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Maximum {
    let mut search = LbfgsSearch::new(start, settings, &mut function);
    while search.advance_search(&mut function) {}
    search.into_maximum()
}

/// The complete state of a search, so that a search that was saved and resumed ends with the same
/// result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LbfgsSearch {
    settings: LbfgsSettings,
    line: LineSearch,
    memory: CurvatureHistory,
    iterations: usize,
    /// Iterations without gain since the last that gained.
    flat: usize,
    ended: Option<StopReason>,
}

impl LbfgsSearch {
    /// A search from `start`, where the function is evaluated.
    pub fn new(start: &[f64], settings: LbfgsSettings, function: Function<'_>) -> LbfgsSearch {
        let line = LineSearch::new(start, function);
        LbfgsSearch {
            ended: stop_reason(&line, &settings, 0),
            memory: CurvatureHistory::new(settings.memory),
            settings,
            line,
            iterations: 0,
            flat: 0,
        }
    }

    /// The current point.
    pub fn point(&self) -> &[f64] {
        &self.line.point
    }

    /// The value at the current point.
    pub fn value(&self) -> f64 {
        self.line.value
    }

    /// The gradient at the current point.
    pub fn gradient(&self) -> &[f64] {
        &self.line.gradient
    }

    /// Iterations taken.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Runs one more iteration, unless the search has ended; returns whether there is more to do.
    pub fn advance_search(&mut self, function: Function<'_>) -> bool {
        if self.ended.is_none() {
            self.ended = self.run_iteration(function);
        }
        if self.ended.is_some() {
            self.memory.pairs.clear();
        }
        self.ended.is_none()
    }

    fn run_iteration(&mut self, function: Function<'_>) -> Option<StopReason> {
        let (line, memory) = (&mut self.line, &mut self.memory);
        let first = memory.pairs.is_empty();
        let direction = memory.search_direction(&line.gradient);
        let length = if first {
            first_length(&line.gradient, self.settings.first_step)
        } else {
            1.0
        };
        let before = line.value;
        match line.search_line(&direction, length, function) {
            LineOutcome::Moved => memory.learn_curvature(line),
            // Old curvature pairs may give a useless direction, so the gradient itself is tried.
            LineOutcome::Stuck if !first => memory.pairs.clear(),
            LineOutcome::Stuck => return Some(StopReason::Stuck),
        }
        self.iterations += 1;
        let level = (line.value - before).abs() <= self.settings.gain_tolerance * line.value.abs();
        self.flat = if level { self.flat + 1 } else { 0 };
        if self.flat == FLAT_ITERATIONS {
            return Some(StopReason::Gain);
        }
        stop_reason(line, &self.settings, self.iterations)
    }

    /// The result; a search that has not ended counts as out of iterations.
    pub fn into_maximum(self) -> Maximum {
        Maximum {
            value: self.line.value,
            gradient_norm: largest_magnitude(&self.line.gradient),
            iterations: self.iterations,
            evaluations: self.line.evaluations,
            reason: self.ended.unwrap_or(StopReason::Iterations),
            point: self.line.point,
        }
    }
}

fn stop_reason(
    line: &LineSearch,
    settings: &LbfgsSettings,
    iterations: usize,
) -> Option<StopReason> {
    let norm = largest_magnitude(&line.gradient);
    if !line.value.is_finite() || !norm.is_finite() {
        Some(StopReason::BadStart)
    } else if norm <= settings.gradient_tolerance {
        Some(StopReason::Gradient)
    } else if iterations >= settings.iterations {
        Some(StopReason::Iterations)
    } else {
        None
    }
}

/// The factor that limits a first step along the gradient to this length.
fn first_length(gradient: &[f64], longest: f64) -> f64 {
    (longest / dot(gradient, gradient).sqrt()).min(1.0)
}

/// One remembered step of the search.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CurvaturePair {
    step: Vec<f64>,
    /// Gradient before minus gradient after: positive curvature for a maximum.
    bend: Vec<f64>,
    inverse: f64,
    weight: f64,
}

/// The last steps with their curvature pairs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CurvatureHistory {
    pairs: VecDeque<CurvaturePair>,
    capacity: usize,
}

impl CurvatureHistory {
    fn new(capacity: usize) -> Self {
        Self {
            pairs: VecDeque::new(),
            capacity: capacity.max(1),
        }
    }

    /// Adds the last step if the function curved downwards along it.
    fn learn_curvature(&mut self, line: &LineSearch) {
        let less = |(a, b): (&f64, &f64)| a - b;
        let step: Vec<f64> = line.point.iter().zip(&line.old_point).map(less).collect();
        let bend = line.old_gradient.iter().zip(&line.gradient).map(less);
        let bend: Vec<f64> = bend.collect();
        let bent = dot(&step, &bend);
        if !(bent > 0.0 && bent.is_finite()) {
            return;
        }
        if self.pairs.len() == self.capacity {
            self.pairs.pop_front();
        }
        self.pairs.push_back(CurvaturePair {
            step,
            bend,
            inverse: 1.0 / bent,
            weight: 0.0,
        });
    }

    /// Two-loop recursion (Nocedal & Wright 2006, algorithm 7.4): H·gradient.
    fn search_direction(&mut self, gradient: &[f64]) -> Vec<f64> {
        let mut out = gradient.to_vec();
        for pair in self.pairs.iter_mut().rev() {
            pair.weight = pair.inverse * dot(&pair.step, &out);
            add(&mut out, -pair.weight, &pair.bend);
        }
        if let Some(last) = self.pairs.back() {
            let scale = 1.0 / (last.inverse * dot(&last.bend, &last.bend));
            for x in &mut out {
                *x *= scale;
            }
        }
        for pair in &self.pairs {
            let back = pair.inverse * dot(&pair.bend, &out);
            add(&mut out, pair.weight - back, &pair.step);
        }
        out
    }
}

/// The largest absolute value; NaN if there is a NaN, which `max` would ignore.
fn largest_magnitude(values: &[f64]) -> f64 {
    if values.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    values.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

#[cfg(test)]
mod tests;
