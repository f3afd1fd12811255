//! One common column while its mean, its scale and what it tells of the response are learnt.

use lehr_formula::{Intercept, TermBasis};
use lehr_table::Moment;
use serde::{Deserialize, Serialize};

use crate::family::Family;

/// Rows below which nothing is said of separation.
const FEWEST_ROWS: u64 = 10;

/// A number made of many in order. It can be stored half-way, as no hasher of the library can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Digest(pub(crate) u64);

impl Digest {
    fn push(&mut self, bits: u64) {
        const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
        // Without the turn, low bits would never hear of high ones.
        self.0 = (self.0.rotate_left(23) ^ bits).wrapping_mul(MIX);
    }
}

/// One column while it is gathered.
#[derive(Serialize, Deserialize)]
pub(crate) struct ColumnLearner {
    pub(crate) name: String,
    moment: Moment,
    first: Option<f64>,
    varies: bool,
    /// The first value that differs from the first of all.
    second: Option<f64>,
    has_more: bool,
    /// Of a product with levels, the values in rows of its level.
    inside: Option<Moment>,
    /// From the least to the largest value where the response is 0, and where it is not.
    ranges: [Option<[f64; 2]>; 2],
    /// Of all values in order: equal columns have equal digests.
    pub(crate) digest: Digest,
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
        basis.names().into_iter().map(column).collect()
    }

    pub(crate) fn push(&mut self, values: &[f64]) {
        for &value in values {
            self.moment.push(value);
            self.distinguish(value);
            if let Some(inside) = self.inside.as_mut().filter(|_| value != 0.0) {
                inside.push(value);
            }
            self.digest.push(value.to_bits());
        }
    }

    /// Takes in what a copy has seen of more rows.
    pub(crate) fn merge(&mut self, other: &ColumnLearner) {
        self.moment.merge(&other.moment);
        for value in other.first.into_iter().chain(other.second) {
            self.distinguish(value);
        }
        self.has_more |= other.has_more;
        if let (Some(own), Some(other)) = (&mut self.inside, &other.inside) {
            own.merge(other);
        }
        for (own, other) in self.ranges.iter_mut().zip(&other.ranges) {
            if let Some([low, high]) = other {
                let [least, most] = own.get_or_insert([*low, *high]);
                (*least, *most) = (least.min(*low), most.max(*high));
            }
        }
        self.digest.push(other.digest.0);
    }

    /// Remembers up to two different values.
    fn distinguish(&mut self, value: f64) {
        if *self.first.get_or_insert(value) != value {
            self.varies = true;
            self.has_more |= *self.second.get_or_insert(value) != value;
        }
    }

    /// Widens the ranges of rows without and with a response of 0.
    pub(crate) fn compare(&mut self, values: &[f64], response: &[f64]) {
        for (&value, response) in values.iter().zip(response) {
            let range = &mut self.ranges[usize::from(*response != 0.0)];
            let [least, most] = range.get_or_insert([value; 2]);
            (*least, *most) = (least.min(value), most.max(value));
        }
    }

    /// See [`ScaledColumn::contrast`]; of a product with levels that of the rows of its level.
    pub(crate) fn contrast(&self, scale: f64) -> f64 {
        match (self.first, self.second, &self.inside) {
            (Some(first), Some(second), _) if !self.has_more => (second - first).abs(),
            (_, _, Some(inside)) if inside.scale() > 1e-6 * inside.mean().abs() => inside.scale(),
            _ => scale,
        }
    }

    /// Why only the prior bounds the coefficient in a family of truth values or counts.
    pub(crate) fn separation(&self, family: Family) -> Option<String> {
        let [Some([least, most]), Some([above_least, above_most])] = self.ranges else {
            return None;
        };
        // In fewer rows anything tells any two classes apart.
        if self.moment.count() < FEWEST_ROWS {
            return None;
        }
        let name = &self.name;
        let apart = most <= above_least || above_most <= least;
        match family {
            Family::Bernoulli if apart && self.varies => Some(format!(
                "{name}: it tells 0 from 1 without an error (separation), so only the prior bounds its coefficient"
            )),
            _ if family.is_count()
                && self.varies
                && !self.has_more
                && above_least == above_most =>
            {
                Some(format!(
                    "{name}: counts above 0 have one value of it only (separation), so only the prior bounds its coefficient"
                ))
            }
            _ => None,
        }
    }

    /// Mean and scale, or `None` for a column that says the same as the intercept, or as
    /// nothing at all.
    pub(crate) fn scaled(&self, intercept: Intercept) -> Option<(f64, f64)> {
        let (mean, scale) = match intercept {
            Intercept::Present => (self.moment.mean(), self.moment.scale()),
            Intercept::Absent => (0.0, self.moment.root_mean_square()),
        };
        let constant = match intercept {
            Intercept::Present => !self.varies,
            Intercept::Absent => !self.varies && self.first == Some(0.0),
        };
        // What is left of a spread this small is rounding; squares of tiny numbers vanish.
        let rounding = scale <= 4.0 * f64::EPSILON * mean.abs() && mean.abs() > 1e-140;
        (!rounding && !constant).then_some((mean, scale))
    }
}
