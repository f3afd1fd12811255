//! Learning rates as functions of the step.

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
    /// `(first step, rate)` by increasing step; the rate holds until the next entry.
    Table(Vec<(u64, f64)>),
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
            Self::Table(entries) => {
                let next = entries.partition_point(|(first, _)| *first <= step);
                entries[next.saturating_sub(1)].1
            }
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
            Self::Table(entries) => entries.iter().map(|entry| entry.1).collect(),
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
            Self::Table(entries) => write!(formatter, "table {entries:?}"),
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
    fn tables_are_followed() {
        let table = Schedule::Table(vec![(0, 0.1), (10, 0.05), (20, 0.01)]);
        table.check().unwrap();
        assert_eq!(
            [0, 9, 10, 19, 20, 999].map(|step| table.rate(step, 1000)),
            [0.1, 0.1, 0.05, 0.05, 0.01, 0.01]
        );
        assert_eq!(Schedule::Constant(0.3).rate(7, 8), 0.3);
    }

    #[test]
    fn a_schedule_survives_saving() {
        let schedule = Schedule::Staircase { start: 0.1 };
        let text = serde_json::to_string(&schedule).unwrap();
        let back: Schedule = serde_json::from_str(&text).unwrap();
        assert_eq!(format!("{back:?}"), "staircase from 0.1");
    }

    #[test]
    fn mistakes_are_found_before_the_run() {
        assert!(Schedule::default().check().is_ok());
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
