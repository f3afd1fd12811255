//! Penalised smooths `s(x)`: a line among the common columns, and splines whose weights are effects
//! with one spread.

mod by;
mod learner;
mod reduced;

use lehr_formula::{By, CubicSpline, Expr, Penalised, SplineTerm, quoted};
use serde::{Deserialize, Serialize};

use self::by::Multiplier;
use crate::error::LearnError;
use crate::grouping_factor::owned_label;
use crate::source::Source;

pub(crate) use learner::SplineLearner;

/// A smooth as it was learnt of the fitted table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spline {
    /// `s(day)`, `s(day, by = site)[north]`, `sigma.s(day)`.
    pub label: String,
    /// The parameter whose formula has it; none for the formula of the response.
    pub of: Option<String>,
    /// The names under which its spread can have a prior, its own first; all levels share the last.
    pub spread_names: Vec<String>,
    /// The column that multiplies the function, if any.
    pub multiplier: Multiplier,
    /// The input of the function.
    pub input: Expr,
    /// The common coefficient of its line.
    pub line: Option<String>,
    /// The kind of the spline.
    pub kind: Penalised,
    /// From the least to the largest value.
    pub range: [f64; 2],
    /// What the splines call 1, from the least value on: the range, or the period.
    pub span: f64,
    /// Over the fitted rows the functions have mean 0, no slope, mean square 1 (or less where hardly a
    /// row sees them), and are not correlated.
    pub functions: CubicSpline,
    /// The standard deviation of each function's weight where the spread is 1. Their squares add up to 1.
    pub roots: Vec<f64>,
    /// Whether there are functions that hardly any row sees.
    pub has_unseen: bool,
    /// The values of some rows.
    pub places: Vec<f64>,
    /// How many rows it is a function of, and the mean of their values.
    pub seen: (usize, f64),
}

impl Spline {
    /// The column, or what is computed of columns.
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
        self.kind == Penalised::Cc
    }

    /// All functions at a value.
    pub fn at(&self, value: f64) -> Vec<f64> {
        self.functions.at((value - self.range[0]) / self.span)
    }

    /// In words.
    pub fn words(&self) -> String {
        let functions = self.width();
        if self.is_circle() {
            format!("{functions} functions on a circle of {}", self.span)
        } else {
            format!("a line and {functions} functions with one spread")
        }
    }

    /// From where to where it is drawn: once around a circle.
    pub fn drawn(&self) -> [f64; 2] {
        if self.is_circle() {
            [self.range[0], self.range[0] + self.span]
        } else {
            self.range
        }
    }

    /// A value where it is drawn.
    pub fn folded(&self, value: f64) -> f64 {
        if self.is_circle() {
            self.range[0] + (value - self.range[0]).rem_euclid(self.span)
        } else {
            value
        }
    }

    /// The model's columns for rows of a table, row after row, and how many rows lie outside the
    /// fitted range. On a circle none does.
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

/// What a formula asks for, without what only a table can tell.
#[derive(Clone)]
struct Wish {
    label: String,
    of: Option<String>,
    by: Option<By>,
    input: Expr,
    line: Option<String>,
    kind: Penalised,
    period: Option<f64>,
    k: Option<usize>,
}

impl Wish {
    fn new(of: Option<&str>, term: &SplineTerm) -> Wish {
        let named = |text: String| owned_label(of, &text);
        Wish {
            label: named(term.label()),
            of: of.map(str::to_owned),
            by: term.by.clone(),
            input: term.input.clone(),
            line: (term.line().is_some()).then(|| named(term.input.to_string())),
            kind: term.basis,
            period: term.period,
            k: term.k,
        }
    }

    /// The names of one smooth, of its spread and of the coefficient of its line.
    fn names(&self, multiplier: &Multiplier) -> (String, Vec<String>, Option<String>) {
        let column = self.by.as_ref().map(|by| quoted(by.column()).into_owned());
        let (label, line) = match multiplier {
            Multiplier::One => (self.label.clone(), self.line.clone()),
            Multiplier::Number { .. } => (
                self.label.clone(),
                joined(self.line.as_deref(), column.as_deref(), ""),
            ),
            Multiplier::Level { basis, place } => {
                let level = format!("[{}]", basis.factors[0].levels()[*place]);
                let line = joined(self.line.as_deref(), column.as_deref(), &level);
                (format!("{}{level}", self.label), line)
            }
        };
        let mut spreads = vec![format!("sd({label})"), format!("sd({})", self.label)];
        spreads.dedup();
        (label, spreads, line)
    }
}

/// `day:site[north]`.
fn joined(line: Option<&str>, column: Option<&str>, level: &str) -> Option<String> {
    let (line, column) = line.zip(column)?;
    Some(format!("{line}:{column}{level}"))
}
