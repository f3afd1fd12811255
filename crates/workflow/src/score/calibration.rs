//! Predicted against observed frequencies, in constant memory.

use lehr_report::CalibrationBin;
use serde::{Deserialize, Serialize};

/// Cells of predicted probability, by its logit, from which bins of equal count are merged.
const CELLS: usize = 400;
/// The most bins.
const BINS: f64 = 10.0;

/// Predicted against observed frequencies, gathered row by row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Calibration {
    cells: Vec<ProbabilityCell>,
}

impl Default for Calibration {
    fn default() -> Self {
        Calibration {
            cells: vec![ProbabilityCell::default(); CELLS],
        }
    }
}

impl Calibration {
    /// Adds a row.
    pub fn push(&mut self, probability: f64, outcome: f64) {
        if !probability.is_finite() {
            return;
        }
        let logit = (probability / (1.0 - probability)).ln().clamp(-10.0, 10.0);
        let cell = ((logit + 10.0) / 20.0 * (CELLS - 1) as f64) as usize;
        self.cells[cell].add(ProbabilityCell {
            count: 1,
            predicted: probability,
            observed: outcome,
        });
    }

    /// Adds the rows of another.
    pub fn add(&mut self, other: &Calibration) {
        for (own, other) in self.cells.iter_mut().zip(&other.cells) {
            own.add(*other);
        }
    }

    /// Bins of about equal count.
    pub fn bins(&self) -> Vec<CalibrationBin> {
        let total: u64 = self.cells.iter().map(|cell| cell.count).sum();
        let wanted = (total as f64 / BINS).max(1.0);
        let mut bins = Vec::new();
        let mut open = ProbabilityCell::default();
        for cell in &self.cells {
            open.add(*cell);
            if open.count as f64 >= wanted {
                bins.push(open.bin());
                open = ProbabilityCell::default();
            }
        }
        if open.count > 0 {
            bins.push(open.bin());
        }
        bins
    }
}

/// Sums over the rows of a cell.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct ProbabilityCell {
    count: u64,
    predicted: f64,
    observed: f64,
}

impl ProbabilityCell {
    fn add(&mut self, other: ProbabilityCell) {
        self.count += other.count;
        self.predicted += other.predicted;
        self.observed += other.observed;
    }

    /// The bin with Wilson's 90 % interval around the observed frequency.
    fn bin(self) -> CalibrationBin {
        const Z: f64 = 1.644_853_626_951_472_7;
        let n = self.count as f64;
        let share = self.observed / n;
        let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let reach =
            Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        CalibrationBin {
            predicted: self.predicted / n,
            observed: share,
            count: self.count,
            low: (middle - reach).max(0.0),
            high: (middle + reach).min(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_about_a_tenth_of_the_rows_each() {
        let mut calibration = Calibration::default();
        for k in 0..10_000 {
            let p = (f64::from(k) + 0.5) / 10_000.0;
            calibration.push(p, f64::from(k % 10 < (10.0 * p) as i32));
        }
        let bins = calibration.bins();
        assert!((9..=11).contains(&bins.len()), "{}", bins.len());
        for bin in &bins[..bins.len() - 1] {
            assert!((bin.predicted - bin.observed).abs() < 0.06, "{bin:?}");
            assert!(bin.low <= bin.observed && bin.observed <= bin.high);
        }
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), 10_000);
    }
}
