//! Smooth functions while their table is read.

use std::collections::HashSet;

use lehr_formula::{
    ByVariable, ColumnExpr, Factor, LevelCoding, Round, SmoothTerm, Term, TermLearner,
};
use lehr_table::Moment;

use super::{Dependence, Smooth};
use crate::error::LearnError;
use crate::fixed_effects::{add_rows_to, check_size, next_rounds};
use crate::source::Source;

/// The most distinct places that are counted.
const MOST_DISTINCT: usize = 10_000;
/// The most places that are kept, and the most from which inducing points are chosen.
pub(super) const MOST_PLACES: usize = 512;
const MOST_INDUCED: usize = 8192;
/// Fewer distinct values count as levels.
const FEWEST: usize = 4;
/// The most latents of all levels.
pub(super) const MOST_LATENTS: usize = 10_000;

/// The information gathered about one smooth term.
#[derive(Clone)]
pub(crate) struct SmoothLearner {
    smooth: Smooth,
    levels: Vec<TermLearner>,
    multiplier: Option<(String, Moment)>,
    axes: Vec<DistinctValues>,
    together: DistinctValues,
    thinning: RowThinner,
    /// Whether a round has shown all rows.
    settled: bool,
}

/// Distinct values, counted up to a limit.
#[derive(Clone, Default)]
struct DistinctValues {
    seen: HashSet<Vec<u64>>,
}

impl DistinctValues {
    fn push(&mut self, values: impl Iterator<Item = f64>) {
        if self.seen.len() < MOST_DISTINCT {
            // Adding zero turns −0 into 0.
            let bits = values.map(|value| (value + 0.0).to_bits());
            self.seen.insert(bits.collect());
        }
    }

    fn count(&self) -> usize {
        self.seen.len()
    }
}

/// Keeps every k-th row, so that the number of kept rows is bounded.
#[derive(Clone)]
struct RowThinner {
    most: usize,
    every: usize,
    row: usize,
}

impl RowThinner {
    fn push(&mut self, places: &mut [Vec<f64>], values: impl Fn(usize) -> f64) {
        if self.row.is_multiple_of(self.every) {
            if places[0].len() == self.most {
                for own in &mut *places {
                    let mut place = 0;
                    own.retain(|_| {
                        place += 1;
                        place % 2 == 1
                    });
                }
                self.every *= 2;
            }
            if self.row.is_multiple_of(self.every) {
                for (axis, own) in places.iter_mut().enumerate() {
                    own.push(values(axis));
                }
            }
        }
        self.row += 1;
    }
}

impl SmoothLearner {
    pub(crate) fn new(term: &SmoothTerm) -> SmoothLearner {
        let (mut levels, mut multiplier) = (Vec::new(), None);
        match &term.by {
            Some(ByVariable::Levels(name)) => {
                let factor = Term::from_factor(Factor::Categorical(name.clone()));
                levels.push(TermLearner::new(&factor, &[LevelCoding::Full]));
            }
            Some(ByVariable::Column(name)) => multiplier = Some((name.clone(), Moment::default())),
            None => {}
        }
        let mut smooth = Smooth::new(term);
        let most = [MOST_PLACES, MOST_INDUCED][usize::from(term.is_induced())];
        let count = term.inputs.len();
        smooth.ranges = vec![[f64::INFINITY, f64::NEG_INFINITY]; count];
        smooth.places = vec![Vec::new(); count];
        SmoothLearner {
            smooth,
            levels,
            multiplier,
            axes: vec![DistinctValues::default(); count],
            together: DistinctValues::default(),
            thinning: RowThinner {
                most,
                every: 1,
                row: 0,
            },
            settled: false,
        }
    }

    pub(crate) fn add_rows(&mut self, source: &Source<'_>) -> Result<(), LearnError> {
        add_rows_to(&mut self.levels, source)?;
        if self.settled {
            return Ok(());
        }
        let inputs = source.evaluate_all(&self.smooth.inputs)?;
        let axes = self.smooth.ranges.iter_mut().zip(&mut self.axes);
        for ((range, distinct), values) in axes.zip(&inputs) {
            for value in values {
                *range = [range[0].min(*value), range[1].max(*value)];
                distinct.push(std::iter::once(*value));
            }
        }
        for row in 0..source.n_rows() {
            self.together.push(inputs.iter().map(|values| values[row]));
            self.thinning
                .push(&mut self.smooth.places, |axis| inputs[axis][row]);
        }
        if let Some((name, moment)) = &mut self.multiplier {
            let values = source.evaluate(&ColumnExpr::Column(name.clone()))?;
            for value in &values {
                moment.push_value(*value);
            }
        }
        Ok(())
    }

    pub(crate) fn next_round(&mut self) -> Result<Round, LearnError> {
        self.settled = true;
        next_rounds(&mut self.levels)
    }

    /// The function, if its columns can have one.
    pub(crate) fn finish(mut self) -> Result<Smooth, LearnError> {
        let label = self.smooth.label.clone();
        for (place, distinct) in self.axes.iter().enumerate() {
            self.check_axis(place, distinct.count())?;
        }
        if let Some(learner) = self.levels.pop() {
            self.smooth.by = Dependence::PerLevel(learner.into_basis());
        }
        if let Some((column, moment)) = self.multiplier {
            let scale = moment.root_mean_square();
            if scale == 0.0 {
                return Err(LearnError::column(
                    &label,
                    "values of by other than 0",
                    "none",
                    "leave by out",
                ));
            }
            check_size(&column, 0.0, scale)?;
            self.smooth.by = Dependence::Multiplied { column, scale };
        }
        self.smooth.distinct = self.together.count();
        Ok(self.smooth)
    }

    fn check_axis(&self, place: usize, distinct: usize) -> Result<(), LearnError> {
        let (label, input) = (&self.smooth.label, &self.smooth.inputs[place]);
        let [low, high] = self.smooth.ranges[place];
        if distinct == 1 {
            let found = format!("{low} in every row");
            let hint = "leave the function out: a constant is what the intercept is for";
            return Err(LearnError::column(
                label,
                format!("values of {input} that differ"),
                &found,
                hint,
            ));
        }
        // A function of several columns may have only two groups.
        if distinct < FEWEST && !self.smooth.is_induced {
            let expected = format!("at least {FEWEST} distinct values of {input}");
            let hint = format!("write C({input}) for an effect of each value");
            return Err(LearnError::column(
                label,
                &expected,
                distinct.to_string(),
                &hint,
            ));
        }
        check_size(&input.to_string(), low.midpoint(high), 0.5 * (high - low))
    }
}

impl Smooth {
    /// Refuses more latents than there are distinct places, and more than can be fitted.
    pub fn check_width(&self, width: usize) -> Result<(), LearnError> {
        let (label, distinct) = (&self.label, self.distinct);
        if let Some(k) = self.k.filter(|k| *k > distinct && distinct < MOST_DISTINCT) {
            let expected = format!("k up to {distinct}, the number of distinct places");
            let hint = format!("write k = {distinct} or less, or leave k out");
            return Err(LearnError::column(label, &expected, k.to_string(), &hint));
        }
        let all = width * self.levels().len().max(1);
        if all > MOST_LATENTS {
            let expected = format!("at most {MOST_LATENTS} latents");
            let found = match self.levels().len() {
                0 => format!("{all}, which the prior of the lengthscale asks for"),
                levels => format!("{all}: {width} for each of {levels} levels"),
            };
            let hint = format!(
                "ask for fewer, as in k = 30, or give {label}.lengthscale a prior without short lengthscales"
            );
            return Err(LearnError::column(label, &expected, &found, &hint));
        }
        Ok(())
    }
}
