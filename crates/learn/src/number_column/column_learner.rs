//! One column of the fixed effects while its mean, its scale and its relation to the response are
//! learned.

use lehr_formula::{Intercept, TermBasis};
use lehr_numeric::column;
use lehr_table::Moment;
use serde::{Deserialize, Serialize};

use crate::response_rule::ResponseForm;

/// With fewer rows separation is not reported.
const FEWEST_ROWS: u64 = 10;

/// The range of no numbers.
const EMPTY: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

/// Numbers of a column that are hashed side by side.
const LANES: usize = 8;

/// A hash of numbers in order. It can be serialised half-way, unlike the hashers of the standard
/// library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Digest(pub(crate) u64);

impl Digest {
    fn push(&mut self, bits: u64) {
        const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
        // Without the rotation, high bits would never affect low ones.
        self.0 = (self.0.rotate_left(23) ^ bits).wrapping_mul(MIX);
    }

    /// Adds a block. Its numbers go to independent lanes; equal columns arrive in equal blocks.
    fn push_all(&mut self, values: &[f64]) {
        let (blocks, rest) = values.as_chunks::<LANES>();
        let mut lanes = [Digest::default(); LANES];
        for block in blocks {
            for (lane, value) in lanes.iter_mut().zip(block) {
                lane.push(value.to_bits());
            }
        }
        let rest = rest.iter().map(|value| value.to_bits());
        for word in rest.chain(lanes.map(|lane| lane.0)) {
            self.push(word);
        }
    }
}

/// One column while it is gathered.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ColumnLearner {
    pub name: String,
    moment: Moment,
    first: Option<f64>,
    varies: bool,
    /// The first value that differs from the first of all.
    second: Option<f64>,
    has_more: bool,
    /// For a product with levels, the values in rows of its level.
    inside: Option<Moment>,
    /// The smallest and the largest value in rows with response 0, and in the other rows.
    ranges: [Option<[f64; 2]>; 2],
    /// A hash of all values in order: equal columns have equal hashes.
    pub digest: Digest,
}

impl ColumnLearner {
    /// The columns of a term.
    pub(crate) fn of(basis: &TermBasis) -> Vec<ColumnLearner> {
        let mut factors = basis.factors.iter();
        let has_levels = factors.any(|factor| factor.factor().is_categorical());
        let column = |name| ColumnLearner {
            name,
            moment: Moment::default(),
            first: None,
            varies: false,
            second: None,
            has_more: false,
            inside: has_levels.then(Moment::default),
            ranges: [None; 2],
            digest: Digest::default(),
        };
        basis.column_names().into_iter().map(column).collect()
    }

    pub(crate) fn push(&mut self, values: &[f64]) {
        self.moment.push_all(values);
        self.distinguish_all(values);
        if let Some(inside) = &mut self.inside {
            let own = values.iter().copied().filter(|value| *value != 0.0);
            inside.push_all(&own.collect::<Vec<f64>>());
        }
        self.digest.push_all(values);
    }

    /// Adds the results of a copy that has seen more rows.
    pub(crate) fn merge(&mut self, other: &ColumnLearner) {
        self.moment.merge_sums(&other.moment);
        for value in other.first.into_iter().chain(other.second) {
            self.distinguish(value);
        }
        self.has_more |= other.has_more;
        if let (Some(own), Some(other)) = (&mut self.inside, &other.inside) {
            own.merge_sums(other);
        }
        self.widen(other.ranges.map(|range| range.unwrap_or(EMPTY)));
        self.digest.push(other.digest.0);
    }

    /// Remembers up to two distinct values of many.
    fn distinguish_all(&mut self, mut values: &[f64]) {
        while !self.has_more {
            // Every number differs from an absent one.
            let known = [self.first, self.second].map(|one| one.unwrap_or(f64::NAN));
            let Some(place) = column::first_other(values, known) else {
                return;
            };
            self.distinguish(values[place]);
            values = &values[place + 1..];
        }
    }

    /// Remembers up to two distinct values.
    fn distinguish(&mut self, value: f64) {
        if *self.first.get_or_insert(value) != value {
            self.varies = true;
            self.has_more |= *self.second.get_or_insert(value) != value;
        }
    }

    /// Widens the ranges of rows without and with a response of 0, as long as separation is
    /// possible.
    pub(crate) fn compare(&mut self, values: &[f64], response: &[f64]) {
        if self.is_mixed() {
            return;
        }
        self.widen(column::ranges_by(values, response));
    }

    fn widen(&mut self, more: [[f64; 2]; 2]) {
        for (range, [low, high]) in self.ranges.iter_mut().zip(more) {
            if low <= high {
                let [least, most] = range.get_or_insert([low, high]);
                (*least, *most) = (least.min(low), most.max(high));
            }
        }
    }

    /// Whether the ranges overlap and several values have a response above 0. Further rows only
    /// widen the ranges, so there is no separation.
    fn is_mixed(&self) -> bool {
        let [Some([least, most]), Some([above_least, above_most])] = self.ranges else {
            return false;
        };
        least < above_most && above_least < most && above_least < above_most
    }

    /// See [`ScaledColumn::contrast`]; for a product with levels, that of the rows of its level.
    pub(crate) fn contrast(&self, scale: f64) -> f64 {
        match (self.first, self.second, &self.inside) {
            (Some(first), Some(second), _) if !self.has_more => (second - first).abs(),
            (_, _, Some(inside)) if inside.scale() > 1e-6 * inside.mean().abs() => inside.scale(),
            _ => scale,
        }
    }

    /// The reason why only the prior bounds the coefficient in a family of Boolean responses or
    /// counts.
    pub(crate) fn separation(&self, form: ResponseForm) -> Option<String> {
        let [Some([least, most]), Some([above_least, above_most])] = self.ranges else {
            return None;
        };
        // In fewer rows almost any column separates two classes.
        if self.moment.count() < FEWEST_ROWS {
            return None;
        }
        let name = &self.name;
        let apart = most <= above_least || above_most <= least;
        match form {
            ResponseForm::Two if apart && self.varies => Some(format!(
                "{name}: it tells 0 from 1 without an error (separation), so only the prior bounds its coefficient"
            )),
            ResponseForm::Count if self.varies && !self.has_more && above_least == above_most => {
                Some(format!(
                    "{name}: counts above 0 have one value of it only (separation), so only the prior bounds \
                     its coefficient"
                ))
            }
            _ => None,
        }
    }

    /// Mean and scale; `None` for a column that is constant, and so equivalent to the intercept or
    /// to nothing.
    pub(crate) fn scaled(&self, intercept: Intercept) -> Option<(f64, f64)> {
        let (mean, scale) = match intercept {
            Intercept::Present => (self.moment.mean(), self.moment.scale()),
            Intercept::Absent => (0.0, self.moment.root_mean_square()),
        };
        let constant = match intercept {
            Intercept::Present => !self.varies,
            Intercept::Absent => !self.varies && self.first == Some(0.0),
        };
        // A remaining standard deviation this small is rounding; squares of tiny numbers underflow.
        let rounding = scale <= 4.0 * f64::EPSILON * mean.abs() && mean.abs() > 1e-140;
        (!rounding && !constant).then_some((mean, scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learner(values: &[f64], response: &[f64], block: usize) -> ColumnLearner {
        let mut learner = ColumnLearner {
            name: "x".into(),
            moment: Moment::default(),
            first: None,
            varies: false,
            second: None,
            has_more: false,
            inside: Some(Moment::default()),
            ranges: [None; 2],
            digest: Digest::default(),
        };
        for (values, response) in values.chunks(block).zip(response.chunks(block)) {
            learner.push(values);
            learner.compare(values, response);
        }
        learner
    }

    #[test]
    fn the_third_value_is_found_wherever_it_is_and_rows_of_zeros_are_left_out_inside() {
        for place in [0, 1, 300, 1999] {
            let mut values: Vec<f64> = (0..2000).map(|k| f64::from(k % 2)).collect();
            let response = vec![0.0; 2000];
            let two = learner(&values, &response, 700);
            assert!((two.contrast(0.5) - 1.0).abs() < 1e-15 && two.varies);
            values[place] = 5.0;
            let three = learner(&values, &response, 700);
            assert!(three.has_more && three.contrast(0.5) != 1.0);
            let ones = values.iter().filter(|value| **value != 0.0).count();
            assert_eq!(three.inside.unwrap().count(), ones as u64);
        }
    }

    #[test]
    fn columns_that_differ_in_one_row_have_other_digests() {
        let response = vec![1.0; 1003];
        let values: Vec<f64> = (0..1003).map(|k| f64::from(k % 17)).collect();
        let digest = |values: &[f64]| learner(values, &response, 400).digest;
        assert_eq!(digest(&values), digest(&values.clone()));
        for place in [0, 5, 399, 400, 1002] {
            let mut other = values.clone();
            other[place] += 0.5;
            assert_ne!(digest(&values), digest(&other), "{place}");
        }
        let mut turned = values.clone();
        turned.swap(3, 4);
        assert_ne!(digest(&values), digest(&turned));
    }

    #[test]
    fn separation_is_told_whichever_block_would_undo_it() {
        let values: Vec<f64> = (0..3000).map(f64::from).collect();
        let mut response: Vec<f64> = (0..3000).map(|k| f64::from(k / 1500)).collect();
        let told = |response: &[f64]| {
            [500, 3000].map(|block| {
                let found = learner(&values, response, block);
                found.separation(ResponseForm::Two).is_some()
            })
        };
        assert_eq!(told(&response), [true; 2]);
        for place in [10, 2990] {
            response[place] = 1.0 - response[place];
            assert_eq!(told(&response), [false; 2], "{place}");
            response[place] = 1.0 - response[place];
        }
    }
}
