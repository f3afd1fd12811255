//! Penalised smooths while their table is read: first the range and the knots, then the products of
//! the splines.

use lehr_formula::{BSpline, CubicSpline, KnotSample, PenalisedSpline, Round, SplineTerm};

use super::by::{ByLearner, Multiplier};
use super::demmler_reinsch::{DemmlerReinschBasis, PenalisedBasis};
use super::{Spline, SplineRequest};
use crate::error::LearnError;
use crate::fixed_effects::check_size;
use crate::source::Source;

/// The default number of functions.
const USUAL: usize = 10;
/// Fewer distinct values count as levels.
const FEWEST: usize = 4;
/// The most rows whose values are kept.
const MOST_PLACES: usize = 512;

/// The information gathered about one smooth.
#[derive(Clone)]
pub(crate) struct SplineLearner {
    wish: SplineRequest,
    sample: KnotSample,
    by: ByLearner,
    raw: Option<SplineProducts>,
    settled: bool,
}

/// Splines before the penalty, and their sums for each smooth.
#[derive(Clone)]
struct SplineProducts {
    raw: PenalisedBasis,
    span: f64,
    k: usize,
    parts: Vec<SplineSums>,
}

/// The sums of products over the rows of one smooth.
#[derive(Clone)]
struct SplineSums {
    multiplier: Multiplier,
    sums: Vec<[f64; 16]>,
    rows: usize,
    /// Sums of squared multipliers, alone and times the value.
    weight: f64,
    moment: f64,
    /// As many distinct values as a smooth needs.
    distinct: Vec<f64>,
}

impl SplineLearner {
    pub(crate) fn new((of, term): (Option<&str>, &SplineTerm)) -> SplineLearner {
        SplineLearner {
            by: ByLearner::new(term.by.as_ref()),
            wish: SplineRequest::new(of, term),
            sample: KnotSample::default(),
            raw: None,
            settled: false,
        }
    }

    pub(crate) fn add_rows(&mut self, source: &Source<'_>) -> Result<(), LearnError> {
        if self.settled {
            return Ok(());
        }
        let values = source.evaluate(&self.wish.input)?;
        let Some(splines) = &mut self.raw else {
            for value in values {
                self.sample.push(value);
            }
            return self.by.add_rows(source);
        };
        let low = self.sample.range()[0];
        let place = |value: f64| self.wish.place((value - low) / splines.span);
        for part in &mut splines.parts {
            let multipliers = part.multiplier.values(source)?;
            for (row, value) in values.iter().enumerate() {
                let own = multipliers.as_ref().map_or(1.0, |own| own[row]);
                if own != 0.0 {
                    (splines.raw.splines).add_multiplied(place(*value), own, &mut part.sums);
                    part.count(*value, own);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn next_round(&mut self) -> Result<Round, LearnError> {
        if let Some(splines) = &self.raw {
            self.settled = true;
            self.check_levels(&splines.parts)?;
            return Ok(Round::Last);
        }
        self.raw = Some(self.splines()?);
        Ok(Round::Another)
    }

    /// The splines before the penalty, if the column can have a smooth.
    fn splines(&mut self) -> Result<SplineProducts, LearnError> {
        let multipliers = self.by.finish(&self.wish.label)?;
        let SplineRequest { input, kind, .. } = &self.wish;
        let [low, high] = self.sample.range();
        if low != high {
            let half = 0.5 * (high - low).max(0.0);
            check_size(&input.to_string(), low.midpoint(high), half)?;
        }
        let span = match kind {
            PenalisedSpline::Cc => self.wish.period.unwrap_or(high - low),
            _ => high - low,
        };
        let place = |value: &f64| self.wish.place((value - low) / span);
        let mut places: Vec<f64> = self.sample.distinct_values().iter().map(place).collect();
        places.sort_unstable_by(f64::total_cmp);
        // Places that differ only by rounding are merged.
        places.dedup_by(|next, one| *next - *one < 1e-9);
        let k = self.count(places.len())?;
        let raw = match kind {
            PenalisedSpline::Ps => {
                PenalisedBasis::of_differences(&BSpline::evenly_spaced(3, k, [0.0, 1.0]))
            }
            PenalisedSpline::Tp => {
                let knots = CubicSpline::knots_of(&places, 2 * k + 40);
                PenalisedBasis::of_bends(CubicSpline::natural(&knots))
            }
            PenalisedSpline::Cc => {
                places.push(1.0);
                let knots = CubicSpline::knots_of(&places, 2 * k + 41);
                PenalisedBasis::on_circle(CubicSpline::circle(&knots))
            }
        };
        let part = |multiplier: Multiplier| SplineSums {
            multiplier,
            sums: raw.splines.no_products(),
            rows: 0,
            weight: 0.0,
            moment: 0.0,
            distinct: Vec::new(),
        };
        let parts = multipliers.into_iter().map(part).collect();
        Ok(SplineProducts {
            raw,
            span,
            k,
            parts,
        })
    }

    /// Refuses levels in which line and curvature could not be distinguished.
    fn check_levels(&self, parts: &[SplineSums]) -> Result<(), LearnError> {
        let Some(few) = parts.iter().find(|part| part.distinct.len() < FEWEST) else {
            return Ok(());
        };
        let SplineRequest { input, by, .. } = &self.wish;
        let by = by.as_ref().map_or("", |by| by.column());
        Err(LearnError::column(
            self.wish.names(&few.multiplier).0,
            format!("at least {FEWEST} distinct values of {input} where it varies"),
            few.distinct.len().to_string(),
            format!("join rare levels of {by}, or write s({input}) + {by}"),
        ))
    }

    /// How many functions there are, the constant and the line included.
    fn count(&self, distinct: usize) -> Result<usize, LearnError> {
        let SplineRequest { label, input, .. } = &self.wish;
        let wrong = |expected: String, found: String, hint: String| {
            Err(LearnError::column(label.clone(), expected, found, hint))
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
    pub(crate) fn finish(mut self) -> Vec<Spline> {
        let mut splines = self.raw.take().expect("two rounds come before the end");
        let parts = std::mem::take(&mut splines.parts).into_iter();
        parts.map(|part| self.smooth(&splines, part)).collect()
    }

    fn smooth(&self, splines: &SplineProducts, part: SplineSums) -> Spline {
        let reduced =
            DemmlerReinschBasis::new(&splines.raw, &part.sums, part.weight, splines.k - 2);
        let (label, spread_names, line) = self.wish.names(&part.multiplier);
        Spline {
            label,
            of: self.wish.of.clone(),
            spread_names,
            multiplier: part.multiplier,
            input: self.wish.input.clone(),
            line,
            kind: self.wish.kind,
            range: self.sample.range(),
            span: splines.span,
            functions: reduced.functions,
            roots: reduced.roots,
            has_unseen: reduced.has_unseen,
            places: self.sample.spread_values(MOST_PLACES),
            seen: (part.rows, part.moment / part.weight),
        }
    }
}

impl SplineSums {
    /// Counts a row.
    fn count(&mut self, value: f64, multiplier: f64) {
        let weight = multiplier * multiplier;
        self.rows += 1;
        self.weight += weight;
        self.moment += weight * value;
        if self.distinct.len() < FEWEST && !self.distinct.contains(&value) {
            self.distinct.push(value);
        }
    }
}
