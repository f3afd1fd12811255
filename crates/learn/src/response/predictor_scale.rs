//! The expected linear predictor, and its variation.

use lehr_formula::Intercept;
use lehr_numeric::column;
use lehr_table::Moment;
use serde::{Deserialize, Serialize};

use crate::response_rule::ResponseRule;
use crate::response_rule::{Link, ResponseForm};

/// The initial count of each class.
const HALF: f64 = 0.5;

/// Up to this many classes are counted one after another.
const FEW_CLASSES: usize = 4;

/// The linear predictor is `centre + unit · (standardised predictor)`, one centre for each logit of
/// the family. So all latents are about 1 in size, in any unit of the response.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictorScale {
    /// The expected linear predictor of each logit.
    pub centre: Vec<f64>,
    /// The unit of the linear predictor.
    pub unit: f64,
    /// The factor by which priors of coefficients are widened: more than 1 if no intercept carries
    /// the mean of the response.
    pub widening: f64,
}

/// Statistics of the fitted response, gathered block by block.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ResponseProfile {
    rule: ResponseRule,
    count: f64,
    sum: f64,
    /// The moments of the response less the offset.
    rest: Moment,
    trials: Option<f64>,
    offset: Option<OffsetSums>,
    /// The frequency of each class plus ½; empty for numbers.
    classes: Vec<f64>,
    first: Option<f64>,
    varies: bool,
}

/// Sums of the offset.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct OffsetSums {
    sum: f64,
    /// The largest offset, and Σ e^(offset − largest).
    most: f64,
    parts: f64,
}

/// The response of some rows with its additions.
pub(crate) struct ResponseBlock<'a> {
    pub values: &'a [f64],
    pub trials: Option<&'a [f64]>,
    pub offset: Option<&'a [f64]>,
}

impl ResponseProfile {
    /// Empty statistics of a response with this many classes, 0 for numbers.
    pub(crate) fn new(rule: &ResponseRule, classes: usize) -> ResponseProfile {
        ResponseProfile {
            rule: rule.clone(),
            count: 0.0,
            sum: 0.0,
            rest: Moment::default(),
            trials: None,
            offset: None,
            classes: vec![HALF; classes],
            first: None,
            varies: false,
        }
    }

    pub(crate) fn add_rows(&mut self, seen: &ResponseBlock<'_>) {
        self.count += seen.values.len() as f64;
        // Summed one after another, so that the division into blocks does not change a bit.
        self.sum = seen.values.iter().fold(self.sum, |sum, value| sum + value);
        match seen.offset {
            None => self.rest.push_all(seen.values),
            Some(offset) => {
                let pairs = seen.values.iter().zip(offset);
                let rest: Vec<f64> = pairs.map(|(value, shift)| value - shift).collect();
                self.rest.push_all(&rest);
                let sums = self.offset.get_or_insert_default();
                for value in offset {
                    sums.push(*value);
                }
            }
        }
        if let Some(value) = seen.values.first().filter(|_| !self.varies) {
            let first = *self.first.get_or_insert(*value);
            self.varies = column::first_other(seen.values, [first; 2]).is_some();
        }
        self.count_classes(seen.values);
        if let Some(trials) = seen.trials {
            *self.trials.get_or_insert(0.0) += trials.iter().sum::<f64>();
        }
    }

    fn count_classes(&mut self, values: &[f64]) {
        if self.classes.len() <= FEW_CLASSES {
            for (class, count) in self.classes.iter_mut().enumerate() {
                *count += column::count(values, class as f64) as f64;
            }
            return;
        }
        for value in values {
            if let Some(count) = self.classes.get_mut(*value as usize) {
                *count += 1.0;
            }
        }
    }

    /// Adds the results of a copy that has seen more rows.
    pub(crate) fn merge(&mut self, other: &ResponseProfile) {
        self.count += other.count;
        self.sum += other.sum;
        self.rest.merge_sums(&other.rest);
        if let Some(more) = other.trials {
            *self.trials.get_or_insert(0.0) += more;
        }
        if let Some(more) = &other.offset {
            (self.offset.get_or_insert_default()).merge(more);
        }
        for (own, more) in self.classes.iter_mut().zip(&other.classes) {
            *own += more - HALF;
        }
        if let Some(first) = other.first {
            self.varies |= other.varies || *self.first.get_or_insert(first) != first;
        }
    }

    /// The response if it is the same in every row.
    pub(crate) fn constant(&self) -> Option<f64> {
        self.first.filter(|_| !self.varies)
    }

    /// The number of rows seen.
    pub(crate) fn rows(&self) -> usize {
        self.count as usize
    }

    /// Whether there is an offset.
    pub(crate) fn has_offset(&self) -> bool {
        self.offset.is_some()
    }

    /// The scale of the predictor of these responses.
    pub(crate) fn predictor_scale(&self, intercept: Intercept) -> PredictorScale {
        if self.rule.link == Link::Identity {
            return self.identity(intercept);
        }
        let centre = match self.rule.form {
            ResponseForm::Ordered | ResponseForm::Direction => vec![0.0],
            ResponseForm::Unordered => self.class_logits(),
            _ => vec![self.linked_mean()],
        };
        let most = |most: f64, at: &f64| most.max(at.abs());
        let (widening, centre) = match intercept {
            Intercept::Present => (1.0, centre),
            Intercept::Absent => (
                centre.iter().fold(1.0, most).min(1e6),
                vec![0.0; centre.len()],
            ),
        };
        PredictorScale {
            centre,
            unit: 1.0,
            widening,
        }
    }

    /// The residual of the offset: its mean and standard deviation, or its root mean square around
    /// 0.
    fn identity(&self, intercept: Intercept) -> PredictorScale {
        let (centre, unit) = match intercept {
            Intercept::Present => (self.rest.mean(), self.rest.scale()),
            Intercept::Absent => (0.0, self.rest.root_mean_square()),
        };
        PredictorScale {
            centre: vec![centre],
            // A standard deviation of rounding size counts as zero; the caller refuses it.
            unit: if unit > 4.0 * f64::EPSILON * centre.abs() {
                unit
            } else {
                0.0
            },
            widening: 1.0,
        }
    }

    /// The link of the mean, slightly inside its range, less that of the offset.
    fn linked_mean(&self) -> f64 {
        if self.rule.link == Link::Log {
            let exposure = self.offset.as_ref().map_or(0.0, |offset| {
                // ln mean(e^offset), safe for large offsets.
                offset.most + (offset.parts / self.count).ln()
            });
            let floor = if self.rule.is_count() { 0.5 } else { 0.0 };
            return (self.sum.max(floor) / self.count).ln() - exposure;
        }
        let shift = self.offset.as_ref().map_or(0.0, |offset| offset.sum) / self.count;
        let (hits, all) = match self.trials {
            Some(trials) => (self.sum + 0.5, trials + 1.0),
            None if self.rule.form == ResponseForm::Share => (self.sum, self.count),
            None => (self.sum + 0.5, self.count + 1.0),
        };
        (hits / (all - hits)).ln() - shift
    }

    /// The log odds of each class against the first.
    fn class_logits(&self) -> Vec<f64> {
        let against = |count: &f64| (count / self.classes[0]).ln();
        self.classes[1..].iter().map(against).collect()
    }
}

impl OffsetSums {
    fn merge(&mut self, other: &OffsetSums) {
        let sum = self.sum + other.sum;
        let (high, low) = if self.parts == 0.0 || other.parts > 0.0 && other.most > self.most {
            (*other, *self)
        } else {
            (*self, *other)
        };
        *self = OffsetSums { sum, ..high };
        if low.parts > 0.0 {
            self.parts += low.parts * (low.most - high.most).exp();
        }
    }

    fn push(&mut self, value: f64) {
        self.sum += value;
        if self.parts == 0.0 || value > self.most {
            self.parts *= (self.most - value).exp();
            self.most = value;
        }
        self.parts += (value - self.most).exp();
    }
}
