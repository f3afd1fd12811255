//! Smooths while their table is read: first the range and the knots, then how the splines go together.

use lehr_formula::{BSpline, CubicSpline, Penalised, Round, Sample, SplineTerm};

use super::reduced::{Raw, Reduced};
use super::{Spline, Wish};
use crate::error::RegressionError;
use crate::population::check_size;
use crate::source::Source;

/// Functions unless asked otherwise.
const USUAL: usize = 10;
/// Fewer distinct values than this are levels.
const FEWEST: usize = 4;
/// Rows whose values are kept at the most.
const MOST_PLACES: usize = 512;

/// What is gathered of one smooth.
pub(crate) struct SplineLearner {
    wish: Wish,
    sample: Sample,
    raw: Option<Summed>,
    settled: bool,
}

/// Splines before any penalty, and the sums of their products over the rows.
struct Summed {
    raw: Raw,
    span: f64,
    sums: Vec<[f64; 16]>,
    rows: usize,
    k: usize,
}

impl SplineLearner {
    pub(crate) fn new(term: &SplineTerm) -> SplineLearner {
        SplineLearner {
            wish: Wish::new(term),
            sample: Sample::default(),
            raw: None,
            settled: false,
        }
    }

    pub(crate) fn see(&mut self, source: &Source<'_>) -> Result<(), RegressionError> {
        if self.settled {
            return Ok(());
        }
        let values = source.evaluate(&self.wish.input)?;
        let Some(summed) = &mut self.raw else {
            for value in values {
                self.sample.push(value);
            }
            return Ok(());
        };
        let low = self.sample.range()[0];
        for value in values {
            let place = (value - low) / summed.span;
            let place = match self.wish.kind {
                Penalised::Cc => place.rem_euclid(1.0),
                _ => place,
            };
            summed.raw.splines.add_products(place, &mut summed.sums);
            summed.rows += 1;
        }
        Ok(())
    }

    pub(crate) fn turn(&mut self) -> Result<Round, RegressionError> {
        if self.raw.is_some() {
            self.settled = true;
            return Ok(Round::Last);
        }
        self.raw = Some(self.splines()?);
        Ok(Round::Another)
    }

    /// The splines before any penalty, if the column can have a smooth.
    fn splines(&self) -> Result<Summed, RegressionError> {
        let Wish { input, kind, .. } = &self.wish;
        let [low, high] = self.sample.range();
        check_size(
            &input.to_string(),
            low.midpoint(high),
            0.5 * (high - low).max(0.0),
        )
        .or_else(|error| if low == high { Ok(()) } else { Err(error) })?;
        let span = match kind {
            Penalised::Cc => self.wish.period.unwrap_or(high - low),
            _ => high - low,
        };
        let mut places: Vec<f64> = (self.sample.distinct().iter())
            .map(|value| (value - low) / span)
            .map(|place| {
                if *kind == Penalised::Cc {
                    place.rem_euclid(1.0)
                } else {
                    place
                }
            })
            .collect();
        places.sort_unstable_by(f64::total_cmp);
        // Places that a rounding tells apart are one.
        places.dedup_by(|next, one| *next - *one < 1e-9);
        let k = self.count(places.len())?;
        let raw = match kind {
            Penalised::Ps => Raw::of_differences(&BSpline::even(3, k, [0.0, 1.0])),
            Penalised::Tp => {
                let knots = CubicSpline::knots_of(&places, 2 * k + 40);
                Raw::of_bends(CubicSpline::natural(&knots))
            }
            Penalised::Cc => {
                places.push(1.0);
                let knots = CubicSpline::knots_of(&places, 2 * k + 41);
                Raw::on_circle(CubicSpline::circle(&knots))
            }
        };
        Ok(Summed {
            sums: raw.splines.no_products(),
            raw,
            span,
            rows: 0,
            k,
        })
    }

    /// How many functions there are, the constant and the line included.
    fn count(&self, distinct: usize) -> Result<usize, RegressionError> {
        let Wish { label, input, .. } = &self.wish;
        let wrong = |expected: String, found: String, hint: String| {
            Err(RegressionError::Column {
                at: label.clone(),
                expected,
                found,
                hint,
            })
        };
        if distinct < FEWEST {
            return wrong(
                format!("at least {FEWEST} distinct values of {input}"),
                distinct.to_string(),
                format!("write C({input}) for an effect of each value"),
            );
        }
        match self.wish.k {
            Some(k) if k > distinct => wrong(
                format!("k up to {distinct}, the number of distinct values of {input}"),
                k.to_string(),
                format!("write k = {distinct} or less, or leave k out"),
            ),
            Some(k) => Ok(k),
            None => Ok(USUAL.min(distinct)),
        }
    }

    /// The smooth, after the last round.
    pub(crate) fn finish(self) -> Spline {
        let summed = self.raw.expect("two rounds come before the end");
        let Summed { raw, span, k, .. } = summed;
        let reduced = Reduced::new(&raw, &summed.sums, summed.rows, k - 2);
        Spline {
            label: self.wish.label,
            input: self.wish.input,
            line: self.wish.line,
            kind: self.wish.kind,
            range: self.sample.range(),
            span,
            functions: reduced.functions,
            roots: reduced.roots,
            has_unseen: reduced.has_unseen,
            places: self.sample.some(MOST_PLACES),
        }
    }
}
