//! Penalised smooths `s(x)`: a line among the fixed effects, and splines whose weights are random
//! effects with a common standard deviation.

mod by;
mod demmler_reinsch;
mod learner;

use lehr_formula::{ByVariable, ColumnExpr, CubicSpline, PenalisedSpline, SplineTerm, quote_name};
use serde::{Deserialize, Serialize};

use self::by::Multiplier;
use crate::error::LearnError;
use crate::grouping_factor::owned_label;
use crate::source::Source;

pub(crate) use learner::SplineLearner;

/// A penalised smooth with the constants learned from the fitted table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spline {
    /// `s(day)`, `s(day, by = site)[north]`, `sigma.s(day)`.
    pub label: String,
    /// The parameter in whose formula it is; `None` for the formula of the response.
    pub of: Option<String>,
    /// The names under which its standard deviation can have a prior, its own first; all levels
    /// share the last.
    pub spread_names: Vec<String>,
    /// The column that multiplies the function, if any.
    pub multiplier: Multiplier,
    /// The input of the function.
    pub input: ColumnExpr,
    /// The coefficient of its line among the fixed effects.
    pub line: Option<String>,
    /// The kind of the spline.
    pub kind: PenalisedSpline,
    /// The smallest and the largest value.
    pub range: [f64; 2],
    /// The length that is 1 in the splines' coordinates, from the smallest value on: the range, or
    /// the period.
    pub span: f64,
    /// Over the fitted rows the functions have mean 0, no slope, mean square 1 (or less if they are
    /// nonzero in hardly any row), and are uncorrelated.
    pub functions: CubicSpline,
    /// The standard deviation of each function's weight if that of the smooth is 1. Their squares
    /// add up to 1.
    pub roots: Vec<f64>,
    /// Whether there are functions that are nonzero in hardly any row.
    pub has_unseen: bool,
    /// The values of some rows.
    pub places: Vec<f64>,
    /// The number of rows of the function, and the mean of their values.
    pub seen: (usize, f64),
}

impl Spline {
    /// The column or expression.
    pub fn input_name(&self) -> String {
        self.input.to_string()
    }

    /// The mean of the values of its rows.
    pub fn centre(&self) -> f64 {
        self.seen.1
    }

    /// How many functions have a weight.
    pub fn width(&self) -> usize {
        self.roots.len()
    }

    fn is_circle(&self) -> bool {
        self.kind == PenalisedSpline::Cc
    }

    /// All functions at a value.
    pub fn at(&self, value: f64) -> Vec<f64> {
        self.functions
            .values_at((value - self.range[0]) / self.span)
    }

    /// A description in words.
    pub fn words(&self) -> String {
        let functions = self.width();
        if self.is_circle() {
            format!("{functions} functions on a circle of {}", self.span)
        } else {
            format!("a line and {functions} functions with one spread")
        }
    }

    /// The range that is plotted: one period of a periodic function.
    pub fn drawn(&self) -> [f64; 2] {
        if self.is_circle() {
            [self.range[0], self.range[0] + self.span]
        } else {
            self.range
        }
    }

    /// The value within the plotted range.
    pub fn folded(&self, value: f64) -> f64 {
        if self.is_circle() {
            self.range[0] + (value - self.range[0]).rem_euclid(self.span)
        } else {
            value
        }
    }

    /// The model's columns for rows of a table, row-major, and the number of rows outside the
    /// fitted range. A periodic function has none.
    pub fn columns(&self, source: &Source<'_>) -> Result<(Vec<f64>, usize), LearnError> {
        let values = source.evaluate(&self.input)?;
        let [low, high] = self.range;
        let is_outside = |value: f64| !self.is_circle() && !(low..=high).contains(&value);
        let multipliers = self.multiplier.values(source)?;
        let multiplier = |row: usize| multipliers.as_ref().map_or(1.0, |own| own[row]);
        let mut features = Vec::with_capacity(values.len() * self.width());
        let mut outside = 0;
        for (row, value) in values.into_iter().enumerate() {
            match multiplier(row) {
                0.0 => features.extend(std::iter::repeat_n(0.0, self.width())),
                own => {
                    outside += usize::from(is_outside(value));
                    features.extend(self.at(value).into_iter().map(|one| own * one));
                }
            }
        }
        Ok((features, outside))
    }
}

/// The arguments of a formula's smooth, before a table is known.
#[derive(Clone)]
struct SplineRequest {
    label: String,
    of: Option<String>,
    by: Option<ByVariable>,
    input: ColumnExpr,
    line: Option<String>,
    kind: PenalisedSpline,
    period: Option<f64>,
    k: Option<usize>,
}

impl SplineRequest {
    fn new(of: Option<&str>, term: &SplineTerm) -> SplineRequest {
        let named = |text: String| owned_label(of, &text);
        SplineRequest {
            label: named(term.term_label()),
            of: of.map(str::to_owned),
            by: term.by.clone(),
            input: term.input.clone(),
            line: (term.line_term().is_some()).then(|| named(term.input.to_string())),
            kind: term.basis,
            period: term.period,
            k: term.k,
        }
    }

    /// A place in the coordinates of the splines, within the period of a periodic one.
    fn place(&self, place: f64) -> f64 {
        match self.kind {
            PenalisedSpline::Cc => place.rem_euclid(1.0),
            _ => place,
        }
    }

    /// The names of one smooth, of its standard deviation and of the coefficient of its line.
    fn names(&self, multiplier: &Multiplier) -> (String, Vec<String>, Option<String>) {
        let level = match multiplier {
            Multiplier::Level { basis, place } => {
                format!("[{}]", basis.factors[0].level_names()[*place])
            }
            _ => String::new(),
        };
        let label = format!("{}{level}", self.label);
        // `day:site[north]`.
        let line = self.line.as_ref().map(|line| match &self.by {
            Some(by) => format!("{line}:{}{level}", quote_name(by.column())),
            None => line.clone(),
        });
        let mut spreads = vec![format!("sd({label})"), format!("sd({})", self.label)];
        spreads.dedup();
        (label, spreads, line)
    }
}
