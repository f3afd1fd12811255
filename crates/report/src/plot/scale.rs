//! Maps data values to positions in a picture, and chooses round ticks.

use crate::number::{group_digits, print_minus};

/// Larger values are drawn at this one, because the difference of two values must stay finite.
const LARGEST: f64 = 1e300;

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Law {
    /// Equal differences have equal lengths.
    #[default]
    Linear,
    /// Equal ratios have equal lengths; values that are not positive lie at the low end.
    Logarithmic,
}

impl Law {
    /// The value in units of the scale.
    fn apply_to(self, value: f64) -> f64 {
        match self {
            Law::Linear => value,
            Law::Logarithmic if value > 0.0 => value.log10(),
            Law::Logarithmic => f64::NEG_INFINITY,
        }
    }
}

/// A map from a range of values to a range of units; `low` and `high` are in units of the scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    start: f64,
    end: f64,
    law: Law,
}

impl Scale {
    /// The range of the finite values, enlarged by a twentieth on each side.
    pub(crate) fn fit_values(values: impl IntoIterator<Item = f64>) -> Self {
        let scale = Self::exact_ends(values);
        let margin = (scale.high - scale.low) * 0.05;
        Self {
            low: scale.low - margin,
            high: scale.high + margin,
            ..scale
        }
    }

    /// The range of the finite values itself; an empty range is enlarged.
    pub(crate) fn exact_ends(values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::MAX, f64::MIN), |(low, high), value| {
            let value = value.clamp(-LARGEST, LARGEST);
            (low.min(value), high.max(value))
        });
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let room = if high - low > (low.abs() + high.abs()) * 1e-12 {
            0.0
        } else if low == 0.0 {
            1.0
        } else {
            low.abs() * 0.05
        };
        Self {
            low: low - room,
            high: high + room,
            start: 0.0,
            end: 1.0,
            law: Law::Linear,
        }
    }

    /// The range of the values on a scale, enlarged by a twentieth on each side.
    pub(crate) fn under_law(law: Law, values: impl IntoIterator<Item = f64>) -> Self {
        let seen = values.into_iter().map(|value| law.apply_to(value));
        let fitted = Self::fit_values(seen);
        Self { law, ..fitted }
    }

    /// The same range of values over other units.
    pub(crate) fn over_units(&self, units: (f64, f64)) -> Self {
        Self {
            start: units.0,
            end: units.1,
            ..*self
        }
    }

    /// The position of a value; values outside the range lie on its ends.
    pub(crate) fn place_value(&self, value: f64) -> f64 {
        let seen = self.law.apply_to(value).clamp(self.low, self.high);
        let share = (seen - self.low) / (self.high - self.low);
        self.start + share * (self.end - self.start)
    }

    /// Whether a value is inside the range.
    pub(crate) fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&self.law.apply_to(value))
    }

    /// About so many round values inside the range, with their labels.
    pub(crate) fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        match self.law {
            Law::Linear => self.even_ticks(about),
            Law::Logarithmic => self.power_ticks(about),
        }
    }

    /// Powers of ten, all or every k-th; in a range of less than two decades also their multiples
    /// by 2 and 5.
    fn power_ticks(&self, about: usize) -> Vec<(f64, String)> {
        let decades = self.high - self.low;
        let factors = &[1.0, 2.0, 5.0][..if decades < 2.0 { 3 } else { 1 }];
        let every = (decades / about.max(1) as f64).ceil().max(1.0) as i32;
        let powers = self.low.floor() as i32..=self.high.ceil() as i32;
        let whole = powers.filter(|power| power.rem_euclid(every) == 0);
        let values = whole.flat_map(|power| factors.iter().map(move |f| f * 10f64.powi(power)));
        let inside = values.filter(|value| self.contains(*value));
        inside.map(|value| (value, power_label(value))).collect()
    }

    fn even_ticks(&self, about: usize) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / about.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = steps.into_iter().find(|step| *step >= rough * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        let indices = first..=last.min(first.saturating_add(50));
        let values: Vec<f64> = indices.map(|index| index as f64 * step).collect();
        let largest = values.iter().copied().map(f64::abs).fold(0.0, f64::max);
        let labels = values.iter().map(|value| tick_label(*value, step, largest));
        values.iter().copied().zip(labels).collect()
    }
}

/// A label with all digits if they are few.
fn power_label(value: f64) -> String {
    if (1e-3..1e6).contains(&value) {
        let digits = (-value.log10().floor()).max(0.0) as usize;
        return print_minus(&group_digits(&format!("{value:.digits$}")));
    }
    print_minus(&format!("{value:e}"))
}

/// A tick's label with just the digits that distinguish it from its neighbours.
fn tick_label(value: f64, step: f64, largest: f64) -> String {
    let step_power = (step * 1.000_001).log10().floor();
    let by_power = !(1e-4..1e7).contains(&largest);
    if value == 0.0 && by_power {
        return "0".into();
    }
    if by_power {
        let digits = (value.abs().log10().floor() - step_power).clamp(0.0, 6.0) as usize;
        return print_minus(&format!("{value:.digits$e}"));
    }
    let digits = (-step_power).clamp(0.0, 9.0) as usize;
    // Adding zero turns −0 into 0.
    print_minus(&group_digits(&format!("{:.digits$}", value + 0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: [f64; 2], about: usize) -> Vec<String> {
        let ticks = Scale::exact_ends(values).ticks(about);
        ticks.into_iter().map(|tick| tick.1).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            labels([0.0, 1.0], 5),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(
            labels([-23_456.0, -23_100.0], 4),
            ["−23,400", "−23,300", "−23,200", "−23,100"]
        );
        assert_eq!(labels([0.0, 3e-7], 3), ["0", "1e−7", "2e−7", "3e−7"]);
    }

    #[test]
    fn ratios_take_equal_room_under_the_logarithmic_law() {
        let scale = Scale::under_law(Law::Logarithmic, [0.1, 1000.0]).over_units((0.0, 100.0));
        let places = [0.1, 1.0, 10.0, 100.0].map(|value| scale.place_value(value));
        let apart: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(
            apart.iter().all(|a| (a - apart[0]).abs() < 1e-9),
            "{apart:?}"
        );
        assert_eq!(scale.place_value(-3.0), 0.0);
        let labels: Vec<String> = scale.ticks(8).into_iter().map(|tick| tick.1).collect();
        assert_eq!(labels, ["0.1", "1", "10", "100", "1000"]);
        let narrow = Scale::under_law(Law::Logarithmic, [2.0, 30.0]).ticks(8);
        let labels: Vec<String> = narrow.into_iter().map(|tick| tick.1).collect();
        assert_eq!(labels, ["2", "5", "10", "20"]);
    }

    #[test]
    fn hostile_ranges_give_finite_places() {
        let ranges = [
            vec![],
            vec![f64::NAN, f64::INFINITY],
            vec![0.0],
            vec![1e-300, 1e-300],
            vec![-1e308, 1e308],
            vec![5e-324, 1e-323],
            vec![1e15, 1e15 + 1.0],
        ];
        for values in ranges {
            let scale = Scale::fit_values(values.iter().copied()).over_units((10.0, 90.0));
            for value in values.iter().copied().filter(|value| !value.is_nan()) {
                let place = scale.place_value(value);
                assert!((10.0..=90.0).contains(&place), "{values:?}: {place}");
            }
            assert!(scale.ticks(5).len() <= 51);
        }
    }
}
