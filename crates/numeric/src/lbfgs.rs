//! Maximises a smooth function by limited-memory BFGS with a strong Wolfe line search.

mod line;

use line::{Line, Searched};

/// When to stop, and how much curvature to remember.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LbfgsSettings {
    /// Pairs of steps and gradient changes kept.
    pub memory: usize,
    /// Iterations after which to give up.
    pub iterations: usize,
    /// Stop when the largest slope is at most this.
    pub gradient_tolerance: f64,
    /// Stop when several iterations in a row gain at most this share of the value's size.
    pub gain_tolerance: f64,
}

impl Default for LbfgsSettings {
    fn default() -> Self {
        Self {
            memory: 20,
            iterations: 1000,
            gradient_tolerance: 1e-6,
            gain_tolerance: 1e-14,
        }
    }
}

/// One iteration without gain happens far from a top, three in a row do not.
const FLAT_ITERATIONS: usize = 3;

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The gradient is as small as asked for.
    Gradient,
    /// Further gains are below the rounding of the value.
    Gain,
    /// No longer step improves the value, and no shorter one can be told from rounding.
    Stuck,
    /// The iterations were used up.
    Iterations,
    /// The value or gradient at the start is not finite.
    BadStart,
}

impl Reason {
    /// Whether the point is a maximum as far as arithmetic can tell.
    pub fn converged(self) -> bool {
        matches!(self, Self::Gradient | Self::Gain)
    }
}

/// Where a search ended.
#[derive(Clone, Debug)]
pub struct Maximum {
    /// The best point met.
    pub point: Vec<f64>,
    /// Its value.
    pub value: f64,
    /// The largest absolute slope there.
    pub gradient_norm: f64,
    /// Iterations taken.
    pub iterations: usize,
    /// Calls of the function.
    pub evaluations: usize,
    /// Why the search ended.
    pub reason: Reason,
}

/// Maximises `function`, which writes its gradient and returns its value (Nocedal & Wright 2006,
/// algorithms 7.4, 3.5 and 3.6).
///
/// Values of −∞ or NaN, or gradients that are not finite, are walls: the line search backs away
/// from them. Beyond its rounding the value never falls from one iteration to the next.
pub fn maximise(
    start: &[f64],
    settings: LbfgsSettings,
    function: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Maximum {
    let mut line = Line::new(function, start);
    let mut memory = Memory::new(settings.memory, start.len());
    let mut direction = vec![0.0; start.len()];
    let (mut iterations, mut flat) = (0, 0);
    let reason = loop {
        if let Some(reason) = finished(&line, &settings, iterations) {
            break reason;
        }
        let first = memory.pairs.is_empty();
        memory.direction(&line.gradient, &mut direction);
        let length = if first {
            first_length(&line.gradient)
        } else {
            1.0
        };
        let before = line.value;
        match line.search(&direction, length) {
            Searched::Moved => memory.learn(&line),
            // Old curvature may point nowhere; the gradient itself deserves a try.
            Searched::Stuck if !first => memory.forget(),
            Searched::Stuck => break Reason::Stuck,
        }
        iterations += 1;
        let level = (line.value - before).abs() <= settings.gain_tolerance * line.value.abs();
        flat = if level { flat + 1 } else { 0 };
        if flat == FLAT_ITERATIONS {
            break Reason::Gain;
        }
    };
    Maximum {
        value: line.value,
        gradient_norm: largest(&line.gradient),
        iterations,
        evaluations: line.evaluations,
        reason,
        point: line.point,
    }
}

fn finished<F>(line: &Line<F>, settings: &LbfgsSettings, iterations: usize) -> Option<Reason> {
    let norm = largest(&line.gradient);
    if !line.value.is_finite() || !norm.is_finite() {
        Some(Reason::BadStart)
    } else if norm <= settings.gradient_tolerance {
        Some(Reason::Gradient)
    } else if iterations >= settings.iterations {
        Some(Reason::Iterations)
    } else {
        None
    }
}

/// A first step of unit length at most: nothing is known of the scale yet.
fn first_length(gradient: &[f64]) -> f64 {
    (1.0 / dot(gradient, gradient).sqrt()).min(1.0)
}

/// One remembered step of the search.
struct Pair {
    step: Vec<f64>,
    /// Gradient before minus gradient after: positive curvature for a maximum.
    bend: Vec<f64>,
    inverse: f64,
    weight: f64,
}

/// The last steps and what they say of the curvature.
struct Memory {
    pairs: std::collections::VecDeque<Pair>,
    capacity: usize,
    spare: Vec<Pair>,
}

impl Memory {
    fn new(capacity: usize, dimension: usize) -> Self {
        let pair = || Pair {
            step: vec![0.0; dimension],
            bend: vec![0.0; dimension],
            inverse: 0.0,
            weight: 0.0,
        };
        let capacity = capacity.max(1);
        Self {
            pairs: std::collections::VecDeque::with_capacity(capacity),
            capacity,
            spare: std::iter::repeat_with(pair).take(capacity).collect(),
        }
    }

    /// Remembers the last step if the function bent downwards along it.
    fn learn<F>(&mut self, line: &Line<F>) {
        let bent = (line.point.iter().zip(&line.old_point))
            .zip(line.old_gradient.iter().zip(&line.gradient))
            .map(|((new, old), (before, after))| (new - old) * (before - after))
            .sum::<f64>();
        if !(bent > 0.0 && bent.is_finite()) {
            return;
        }
        if self.pairs.len() == self.capacity {
            self.spare.extend(self.pairs.pop_front());
        }
        let Some(mut pair) = self.spare.pop() else {
            unreachable!("pairs are remembered or spare");
        };
        for i in 0..line.point.len() {
            pair.step[i] = line.point[i] - line.old_point[i];
            pair.bend[i] = line.old_gradient[i] - line.gradient[i];
        }
        pair.inverse = 1.0 / bent;
        self.pairs.push_back(pair);
    }

    /// Forgets all steps, whose memory is used again.
    fn forget(&mut self) {
        self.spare.extend(self.pairs.drain(..));
    }

    /// Two-loop recursion (Nocedal & Wright 2006, algorithm 7.4): H·gradient.
    fn direction(&mut self, gradient: &[f64], out: &mut [f64]) {
        out.copy_from_slice(gradient);
        for pair in self.pairs.iter_mut().rev() {
            pair.weight = pair.inverse * dot(&pair.step, out);
            add(out, -pair.weight, &pair.bend);
        }
        if let Some(last) = self.pairs.back() {
            let scale = 1.0 / (last.inverse * dot(&last.bend, &last.bend));
            for x in &mut *out {
                *x *= scale;
            }
        }
        for pair in &self.pairs {
            let back = pair.inverse * dot(&pair.bend, out);
            add(out, pair.weight - back, &pair.step);
        }
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

fn add(out: &mut [f64], factor: f64, values: &[f64]) {
    out.iter_mut()
        .zip(values)
        .for_each(|(x, v)| *x += factor * v);
}

/// The largest absolute value; NaN where there is one, which `max` would drop.
fn largest(values: &[f64]) -> f64 {
    if values.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    values.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

#[cfg(test)]
mod tests;
