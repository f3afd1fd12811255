//! Says when a noisy objective has stopped rising, by a test on its own history.
//!
//! # Reasoning
//!  The history is kept as averages over equal stretches of steps (batch means), which are nearly
//!  independent once a stretch outlasts the autocorrelation of the estimates. Over the *window*,
//!  the later half of the history, a line is fitted to them. Its rise over one window is the *gain*
//!  to expect from another window: an overestimate for a curve that levels off. The error of the
//!  gain follows from the scatter about the line, inflated by (1 + ρ)/(1 − ρ) for the remaining
//!  lag-one correlation ρ of the averages.
//!
//! The objective is called stationary when
//!
//! 1. the gain is below its standard error: any remaining gain could not be detected in as many
//!    steps as the window has;
//! 2. that error is at most `resolution` times the scatter of one estimate: otherwise a short
//!    history would pass because it cannot detect anything. In effective (uncorrelated) steps it
//!    requires a window of 12/resolution²;
//! 3. both have held while the history grew by an eighth: a single lucky check in a rising curve
//!    does not stop it.  Nothing here is in nats: the scale is the estimate's own noise. No test on
//!    these numbers can detect a drift so slow that a whole window rises by less than the error;
//!    `verdict` reports gain and error so that a caller can mention it.

use serde::{Deserialize, Serialize};

/// The thresholds of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StationarySettings {
    /// The gain, in its standard errors, below which training stops.
    pub gain: f64,
    /// Standard error of the gain, in standard deviations of one estimate, above which the
    /// history is too short to judge.
    pub resolution: f64,
    /// Share by which the history must grow while the rule holds.
    pub confirmation: f64,
}

impl Default for StationarySettings {
    fn default() -> Self {
        Self {
            gain: 1.0,
            resolution: 0.1,
            confirmation: 0.125,
        }
    }
}

/// The state of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trend {
    /// Too short a history to judge.
    Unknown,
    /// The objective still rises, or has not been level for long enough.
    Rising,
    /// The objective is level.
    Stationary,
    /// The objective falls by more than three standard errors.
    Falling,
}

/// The state of the test at some step; all zero before there is a window to judge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrendVerdict {
    /// The conclusion.
    pub trend: Trend,
    /// Rise of the fitted line over one window.
    pub gain: f64,
    /// Standard error of the gain.
    pub gain_error: f64,
    /// Mean of the estimates in the window.
    pub level: f64,
    /// Standard error of the level.
    pub level_error: f64,
    /// Steps in the window.
    pub window: u64,
}

/// Estimates of one stretch of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Bin {
    mean: f64,
    /// Σ(x − mean)².
    scatter: f64,
}

/// The history of an objective in constant memory, with the stopping rule.
///
/// Estimates that are not finite are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stationary {
    settings: StationarySettings,
    bins: Vec<Bin>,
    /// Steps in a full bin: doubled whenever the bins run out.
    width: u64,
    open: Bin,
    open_count: u64,
    level_since: Option<u64>,
    verdict: TrendVerdict,
}

/// Bins in memory; between half of them and all are in use.
const BINS: usize = 128;
const FIRST_WIDTH: u64 = 8;
/// With fewer averages their own scatter cannot be estimated.
const FEWEST: usize = 24;
/// Relative rounding error of an objective that is a sum over rows: smaller gains are not real.
const ROUNDING: f64 = 1e-12;

impl Stationary {
    /// An empty history.
    pub fn new(settings: StationarySettings) -> Self {
        Self {
            bins: Vec::with_capacity(BINS),
            ..Self::empty(settings)
        }
    }

    fn empty(settings: StationarySettings) -> Self {
        Self {
            settings,
            bins: Vec::new(),
            width: FIRST_WIDTH,
            open: Bin::default(),
            open_count: 0,
            level_since: None,
            verdict: TrendVerdict {
                trend: Trend::Unknown,
                gain: 0.0,
                gain_error: 0.0,
                level: 0.0,
                level_error: 0.0,
                window: 0,
            },
        }
    }

    /// Clears the history, for a new phase such as another learning rate.
    pub fn restart(&mut self) {
        // The memory of the bins is kept, so that a new phase allocates nothing.
        let mut bins = std::mem::take(&mut self.bins);
        bins.clear();
        *self = Self {
            bins,
            ..Self::empty(self.settings)
        };
    }

    /// The number of finite estimates.
    pub fn count(&self) -> u64 {
        self.bins.len() as u64 * self.width + self.open_count
    }

    /// Adds one estimate and returns the verdict, which is updated at the end of every bin.
    pub fn push(&mut self, estimate: f64) -> TrendVerdict {
        if !estimate.is_finite() {
            return self.verdict;
        }
        self.open_count += 1;
        let offset = estimate - self.open.mean;
        self.open.mean += offset / self.open_count as f64;
        self.open.scatter += offset * (estimate - self.open.mean);
        if self.open_count == self.width {
            self.close();
            self.judge();
        }
        self.verdict
    }

    /// The verdict at the last full bin.
    pub fn verdict(&self) -> TrendVerdict {
        self.verdict
    }

    fn close(&mut self) {
        self.bins.push(std::mem::take(&mut self.open));
        self.open_count = 0;
        if self.bins.len() == BINS {
            for pair in 0..BINS / 2 {
                let joined = join(self.bins[2 * pair], self.bins[2 * pair + 1], self.width);
                self.bins[pair] = joined;
            }
            self.bins.truncate(BINS / 2);
            self.width *= 2;
        }
    }

    fn judge(&mut self) {
        let window = &self.bins[self.bins.len() / 2..];
        if window.len() < FEWEST {
            return;
        }
        let line = Line::fit(window, self.width);
        let rounding = ROUNDING * line.level.abs();
        let visible = line.gain_error <= (self.settings.resolution * line.noise).max(rounding);
        let level = visible && line.gain <= (self.settings.gain * line.gain_error).max(rounding);
        let falling = visible && line.gain < -3.0 * line.gain_error;
        let count = self.count();
        self.level_since = (level && !falling).then(|| self.level_since.unwrap_or(count));
        let needed = |since: u64| since as f64 * (1.0 + self.settings.confirmation);
        let confirmed = self
            .level_since
            .is_some_and(|since| count as f64 >= needed(since));
        self.verdict = TrendVerdict {
            trend: match () {
                () if !visible => Trend::Unknown,
                () if falling => Trend::Falling,
                () if confirmed => Trend::Stationary,
                () => Trend::Rising,
            },
            gain: line.gain,
            gain_error: line.gain_error,
            level: line.level,
            level_error: line.level_error,
            window: window.len() as u64 * self.width,
        };
    }
}

/// Two neighbours of equal width as one (Chan et al. 1979).
fn join(left: Bin, right: Bin, width: u64) -> Bin {
    let apart = right.mean - left.mean;
    Bin {
        mean: left.mean + 0.5 * apart,
        scatter: left.scatter + right.scatter + 0.5 * width as f64 * apart * apart,
    }
}

/// The line through the averages of a window.
struct Line {
    gain: f64,
    gain_error: f64,
    level: f64,
    level_error: f64,
    /// Standard deviation of one estimate about the line.
    noise: f64,
}

impl Line {
    fn fit(bins: &[Bin], width: u64) -> Self {
        let count = bins.len() as f64;
        let middle = (count - 1.0) / 2.0;
        let level = bins.iter().map(|bin| bin.mean).sum::<f64>() / count;
        // Σ(j − middle)² of equally spaced places.
        let spread = count * (count * count - 1.0) / 12.0;
        let place = |j: usize| j as f64 - middle;
        let slope = bins
            .iter()
            .enumerate()
            .map(|(j, bin)| place(j) * bin.mean)
            .sum::<f64>()
            / spread;
        let residual = |j: usize| bins[j].mean - level - slope * place(j);
        let squares: f64 = (0..bins.len()).map(|j| residual(j).powi(2)).sum();
        let products: f64 = (1..bins.len()).map(|j| residual(j - 1) * residual(j)).sum();
        let variance = squares / (count - 2.0) * inflation(products / squares, count);
        let within: f64 = bins.iter().map(|bin| bin.scatter).sum::<f64>() / (count * width as f64);
        Self {
            gain: slope * count,
            gain_error: count * (variance / spread).sqrt(),
            level,
            level_error: (variance / count).sqrt(),
            noise: (within + squares / (count - 2.0)).sqrt(),
        }
    }
}

/// Variance of a mean of correlated averages over that of independent ones, as for an
/// autoregression of order one. Residuals of a line underestimate their correlation by about
/// 2/count (fitted level and slope) + 3ρ/count.
fn inflation(correlation: f64, count: f64) -> f64 {
    if !correlation.is_finite() {
        return 1.0;
    }
    let corrected = (correlation + (2.0 + 3.0 * correlation) / count).clamp(0.0, 0.95);
    (1.0 + corrected) / (1.0 - corrected)
}

#[cfg(test)]
mod tests;
