//! Learning rates as functions of the step.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::ScheduleError;

/// The change of the learning rate over a run.
#[derive(Clone, Serialize, Deserialize)]
pub enum Schedule {
    /// The same rate throughout.
    Constant(f64),
    /// Thirds of the run at `start`, a tenth and a hundredth of it (Jankowiak & Phan 2022 use
    /// 10⁻³, 10⁻⁴, 10⁻⁵).
    Staircase {
        /// Rate of the first third.
        start: f64,
    },
    /// Half a cosine from `start` down to `end`.
    Cosine {
        /// Rate of the first step.
        start: f64,
        /// Rate of the last step.
        end: f64,
    },
    /// `(first step, rate)` by increasing step; the rate holds until the next entry.
    Table(Vec<(u64, f64)>),
    /// A function of (step, total steps). It cannot be saved.
    #[serde(skip)]
    Custom(Arc<dyn Fn(u64, u64) -> f64 + Send + Sync>),
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Staircase { start: 1e-3 }
    }
}

impl Schedule {
    /// Levels of the staircase.
    pub const LEVELS: u64 = 3;

    /// The rate of a step counted from 0, in a run of `total` steps; steps past the end keep the
    /// last rate.
    pub fn rate(&self, step: u64, total: u64) -> f64 {
        let step = step.min(total.saturating_sub(1));
        match self {
            Self::Constant(rate) => *rate,
            Self::Staircase { start } => {
                let level = u128::from(step) * u128::from(Self::LEVELS) / u128::from(total.max(1));
                staircase(*start, level as u64)
            }
            Self::Cosine { start, end } => {
                let progress = step as f64 / total.saturating_sub(1).max(1) as f64;
                let weight = 0.5 * (1.0 + libm::cos(std::f64::consts::PI * progress));
                end + (start - end) * weight
            }
            Self::Table(entries) => {
                let next = entries.partition_point(|(first, _)| *first <= step);
                entries[next.saturating_sub(1)].1
            }
            Self::Custom(rate) => rate(step, total),
        }
    }

    /// The rate of a phase counted from 0, for a run of unknown length: a staircase descends one
    /// level per phase, and any other schedule is evaluated at the phase's share of
    /// [`Schedule::LEVELS`].
    pub fn rate_of_phase(&self, phase: u64) -> f64 {
        match self {
            Self::Staircase { start } => staircase(*start, phase.min(Self::LEVELS - 1)),
            other => other.rate(phase, Self::LEVELS),
        }
    }

    /// Refuses rates that are not positive and tables that do not rise from step 0.
    pub fn check(&self) -> Result<(), ScheduleError> {
        let good = |&rate: &f64| rate > 0.0 && rate.is_finite();
        let rates: Vec<f64> = match self {
            Self::Constant(rate) | Self::Staircase { start: rate } => vec![*rate],
            // A cosine may end at zero.
            Self::Cosine { start, end } => vec![*start, if *end == 0.0 { *start } else { *end }],
            Self::Table(entries) => entries.iter().map(|entry| entry.1).collect(),
            Self::Custom(_) => Vec::new(),
        };
        if let Some(&rate) = rates.iter().find(|rate| !good(rate)) {
            return Err(ScheduleError::Rate { rate });
        }
        let Self::Table(entries) = self else {
            return Ok(());
        };
        let steps: Vec<u64> = entries.iter().map(|entry| entry.0).collect();
        if steps.first() == Some(&0) && steps.is_sorted_by(|a, b| a < b) {
            return Ok(());
        }
        Err(ScheduleError::Steps { steps })
    }
}

fn staircase(start: f64, level: u64) -> f64 {
    match level {
        0 => start,
        1 => start * 0.1,
        _ => start * 0.01,
    }
}

impl std::fmt::Debug for Schedule {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Constant(rate) => write!(formatter, "constant {rate}"),
            Self::Staircase { start } => write!(formatter, "staircase from {start}"),
            Self::Cosine { start, end } => write!(formatter, "cosine from {start} to {end}"),
            Self::Table(entries) => write!(formatter, "table {entries:?}"),
            Self::Custom(_) => write!(formatter, "custom"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_staircase_of_the_paper() {
        let schedule = Schedule::default();
        let total = 300_000;
        for (step, rate) in [
            (0, 1e-3),
            (99_999, 1e-3),
            (100_000, 1e-4),
            (199_999, 1e-4),
            (200_000, 1e-5),
            (299_999, 1e-5),
            (400_000, 1e-5),
        ] {
            assert!(
                (schedule.rate(step, total) / rate - 1.0).abs() < 1e-12,
                "{step}"
            );
        }
        for (phase, rate) in [(0, 1e-3), (1, 1e-4), (2, 1e-5), (9, 1e-5)] {
            assert!((schedule.rate_of_phase(phase) / rate - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_cosine_falls_from_start_to_end() {
        let schedule = Schedule::Cosine {
            start: 1.0,
            end: 0.2,
        };
        assert_eq!(schedule.rate(0, 101), 1.0);
        assert!((schedule.rate(50, 101) - 0.6).abs() < 1e-15);
        assert!((schedule.rate(100, 101) - 0.2).abs() < 1e-15);
        let rates: Vec<f64> = (0..101).map(|step| schedule.rate(step, 101)).collect();
        assert!(rates.is_sorted_by(|a, b| a > b));
        assert_eq!(schedule.rate(0, 1), 1.0);
        assert_eq!(schedule.rate(0, 0), 1.0);
    }

    #[test]
    fn tables_and_functions_are_followed() {
        let table = Schedule::Table(vec![(0, 0.1), (10, 0.05), (20, 0.01)]);
        table.check().unwrap();
        assert_eq!(
            [0, 9, 10, 19, 20, 999].map(|step| table.rate(step, 1000)),
            [0.1, 0.1, 0.05, 0.05, 0.01, 0.01]
        );
        let custom = Schedule::Custom(Arc::new(|step, total| 1.0 / (1 + step + total) as f64));
        assert_eq!(custom.rate(3, 10), 1.0 / 14.0);
        assert_eq!(Schedule::Constant(0.3).rate(7, 8), 0.3);
    }

    #[test]
    fn a_schedule_survives_saving_and_a_function_says_that_it_cannot() {
        let schedule = Schedule::Cosine {
            start: 0.1,
            end: 0.0,
        };
        let text = serde_json::to_string(&schedule).unwrap();
        let back: Schedule = serde_json::from_str(&text).unwrap();
        assert_eq!(format!("{back:?}"), "cosine from 0.1 to 0");
        assert!(serde_json::to_string(&Schedule::Custom(Arc::new(|_, _| 1.0))).is_err());
    }

    #[test]
    fn mistakes_are_found_before_the_run() {
        assert!(Schedule::default().check().is_ok());
        assert!(
            Schedule::Cosine {
                start: 0.1,
                end: 0.0
            }
            .check()
            .is_ok()
        );
        assert_eq!(
            Schedule::Constant(-1.0).check().unwrap_err().to_string(),
            "schedule: expected a positive learning rate, found -1\n  hint: 0.001 is usual"
        );
        assert!(Schedule::Constant(f64::NAN).check().is_err());
        assert!(Schedule::Table(vec![]).check().is_err());
        assert!(Schedule::Table(vec![(5, 0.1)]).check().is_err());
        assert!(Schedule::Table(vec![(0, 0.1), (0, 0.2)]).check().is_err());
    }
}
