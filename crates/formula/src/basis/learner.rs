//! Learns the constants of factors from a table that arrives in blocks.

use super::coded::CodedLevels;
use super::column::{ColumnValues, Lookup};
use super::error::BasisError;
use super::factor_basis::{Constants, FactorBasis, read_numbers};
use super::finite::is_finite;
use super::level::LevelLearner;
use super::polynomial::PolynomialLearner;
use super::running::{Mean, ScaledSquares};
use super::splined::KnotLearner;
use super::term_basis::TermBasis;
use crate::coded::LevelCoding;
use crate::expression::{ColumnExpr, Standard};
use crate::factor::{Factor, Term};
use serde::{Deserialize, Serialize};

/// Whether another round over the rows is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// The same rows are needed once more.
    Another,
    /// Everything has been learned.
    Last,
}

/// A term whose constants are being learned, in rounds. Each round passes every block of the table
/// to [`add_rows`](Self::add_rows), in the same order, and ends with [`next_round`](Self::next_round). Memory does not
/// grow with the rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TermLearner {
    factors: Vec<Learner>,
}

impl TermLearner {
    /// Starts learning; `codings` is the term's row of [`Terms::term_codings`](crate::Terms::term_codings).
    ///
    /// # Panics
    /// If there is not one coding for each factor.
    pub fn new(term: &Term, codings: &[LevelCoding]) -> Self {
        let count = term.factors.len();
        assert_eq!(count, codings.len(), "one coding for each factor");
        let pairs = term.factors.iter().zip(codings);
        let factors = pairs.map(|(factor, coding)| Learner::new(factor, *coding));
        Self {
            factors: factors.collect(),
        }
    }

    /// Adds a block of rows, whose first row is row `first` (from 0) of the table.
    pub fn add_rows(&mut self, columns: &Lookup<'_, '_>, first: usize) -> Result<(), BasisError> {
        let mut factors = self.factors.iter_mut();
        factors.try_for_each(|factor| factor.add_rows(columns, first))
    }

    /// Adds the results of a copy, made when this round began, that has seen other rows.
    pub fn merge_learner(&mut self, other: &TermLearner) {
        for (factor, other) in self.factors.iter_mut().zip(&other.factors) {
            factor.merge_learner(other);
        }
    }

    /// Ends a round.
    pub fn next_round(&mut self) -> Result<Round, BasisError> {
        let mut round = Round::Last;
        for factor in &mut self.factors {
            if factor.next_round()? == Round::Another {
                round = Round::Another;
            }
        }
        Ok(round)
    }

    /// The fitted basis, after the last round.
    pub fn into_basis(self) -> TermBasis {
        let factors = self.factors.into_iter().map(Learner::into_basis);
        TermBasis {
            factors: factors.collect(),
        }
    }
}

/// One factor whose constants are being learned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Learner {
    factor: Factor,
    /// The factor's expression, with the means and scales that were learned so far.
    expr: ColumnExpr,
    coding: LevelCoding,
    lesson: FactorLesson,
    rows: u64,
    /// Whether a round showed that nothing more is needed.
    done: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum FactorLesson {
    /// A column that may turn out to be text.
    Undecided,
    Levels(LevelLearner),
    Center(Mean),
    Scale(ScaleLearner),
    Poly(PolynomialLearner),
    Learnt(Constants),
    /// Knots are chosen from rows in table order, so this state cannot be learned by several
    /// processes. Variants that are not serialised come last, because the numbers of those after
    /// them would be misread.
    #[serde(skip)]
    Spline(KnotLearner),
}

impl FactorLesson {
    fn merge_learner(&mut self, other: &FactorLesson) {
        match (self, other) {
            (own @ FactorLesson::Undecided, other) => *own = other.clone(),
            (FactorLesson::Levels(own), FactorLesson::Levels(other)) => own.merge_learner(other),
            (FactorLesson::Center(own), FactorLesson::Center(other)) => own.merge(other),
            (FactorLesson::Scale(own), FactorLesson::Scale(other)) => own.merge_learner(other),
            (FactorLesson::Poly(own), FactorLesson::Poly(other)) => own.merge_learner(other),
            _ => {}
        }
    }

    /// The next constants to learn: those of inner expressions come first.
    fn next(factor: &Factor, expr: &ColumnExpr) -> Self {
        match (expr.find_unlearnt(), factor) {
            (Some((Standard::Center, _)), _) | (None, Factor::Center(_)) => {
                Self::Center(Mean::default())
            }
            (Some((Standard::Scale, _)), _) | (None, Factor::Scale(_)) => {
                Self::Scale(ScaleLearner::default())
            }
            (None, Factor::Categorical(name)) => Self::Levels(LevelLearner::new(name)),
            (None, Factor::Coded(coded)) => Self::Levels(LevelLearner::new(&coded.column)),
            (None, Factor::Column(_)) => Self::Undecided,
            (None, Factor::Expression(_)) => Self::Learnt(Constants::Plain),
            (None, Factor::Poly(_, degree)) => {
                Self::Poly(PolynomialLearner::new(&factor.to_string(), *degree))
            }
            (None, Factor::Spline(splined)) => Self::Spline(KnotLearner::new(splined)),
        }
    }
}

impl Learner {
    pub(super) fn new(factor: &Factor, coding: LevelCoding) -> Self {
        let expr = factor.expression();
        Self {
            factor: factor.clone(),
            coding,
            lesson: FactorLesson::next(factor, &expr),
            expr,
            rows: 0,
            done: false,
        }
    }

    pub(super) fn add_rows(
        &mut self,
        columns: &Lookup<'_, '_>,
        first: usize,
    ) -> Result<(), BasisError> {
        if self.done {
            return Ok(());
        }
        if let (FactorLesson::Undecided, Factor::Column(name)) = (&self.lesson, &self.factor) {
            self.lesson = match columns(name) {
                Some(ColumnValues::Labels { .. }) => FactorLesson::Levels(LevelLearner::new(name)),
                _ => FactorLesson::Learnt(Constants::Plain),
            };
        }
        if let FactorLesson::Levels(learner) = &mut self.lesson {
            return learner.add_rows(columns, first);
        }
        if let Some(rows) = self.plain_rows(columns) {
            self.rows += rows as u64;
            return Ok(());
        }
        let values = self.read_values(columns, first)?;
        self.rows += values.len() as u64;
        match &mut self.lesson {
            FactorLesson::Center(mean) => values.iter().for_each(|value| mean.push(*value)),
            FactorLesson::Scale(learner) => learner.add_values(&values),
            FactorLesson::Poly(learner) => learner.add_values(&values),
            FactorLesson::Spline(learner) => learner.add_values(&values),
            FactorLesson::Undecided | FactorLesson::Levels(_) | FactorLesson::Learnt(_) => {}
        }
        Ok(())
    }

    /// The number of rows, if nothing has to be learned from or checked in them.
    fn plain_rows(&self, columns: &Lookup<'_, '_>) -> Option<usize> {
        let (FactorLesson::Learnt(Constants::Plain), Factor::Column(name)) =
            (&self.lesson, &self.factor)
        else {
            return None;
        };
        match columns(name)? {
            ColumnValues::Numbers(values) if is_finite(values) => Some(values.len()),
            _ => None,
        }
    }

    fn merge_learner(&mut self, other: &Learner) {
        if !self.done {
            self.rows = self.rows.max(other.rows);
            self.lesson.merge_learner(&other.lesson);
        }
    }

    fn read_values(&self, columns: &Lookup<'_, '_>, first: usize) -> Result<Vec<f64>, BasisError> {
        let inner = self.expr.find_unlearnt().map(|(_, inner)| inner);
        let found = read_numbers(&self.factor, inner.unwrap_or(&self.expr), columns);
        found.map_err(|error| error.shift_rows(first))
    }

    pub(super) fn next_round(&mut self) -> Result<Round, BasisError> {
        if self.done {
            return Ok(Round::Last);
        }
        let round = self.end_round()?;
        self.done = round == Round::Last;
        Ok(round)
    }

    fn end_round(&mut self) -> Result<Round, BasisError> {
        if let FactorLesson::Levels(learner) = &mut self.lesson {
            let (levels, coding) = (learner.learnt_levels(self.coding)?, self.coding);
            let column = learner.name().to_owned();
            let fitted = match &self.factor {
                Factor::Coded(coded) => Constants::Coded {
                    coded: CodedLevels::new(coded, levels, coding)?,
                    column,
                },
                _ => Constants::Levels {
                    column,
                    levels,
                    coding,
                },
            };
            self.lesson = FactorLesson::Learnt(fitted);
            return Ok(Round::Last);
        }
        if self.rows == 0 {
            return Err(BasisError::Empty(self.factor.to_string()));
        }
        let learnt = match &mut self.lesson {
            FactorLesson::Center(mean) => Some(Constants::Affine {
                mean: mean.value,
                scale: 1.0,
            }),
            FactorLesson::Scale(learner) => learner.next_round(&self.factor)?,
            FactorLesson::Poly(learner) => learner.next_round()?.map(Constants::Poly),
            FactorLesson::Spline(learner) => Some(Constants::Spline(learner.learnt_columns()?)),
            FactorLesson::Undecided | FactorLesson::Levels(_) | FactorLesson::Learnt(_) => {
                return Ok(Round::Last);
            }
        };
        match learnt {
            None => Ok(Round::Another),
            Some(Constants::Affine { mean, scale }) if self.expr.find_unlearnt().is_some() => {
                self.expr = self.expr.clone().with_constants(mean, scale);
                self.lesson = FactorLesson::next(&self.factor, &self.expr);
                Ok(Round::Another)
            }
            Some(fitted) => {
                self.lesson = FactorLesson::Learnt(fitted);
                Ok(Round::Last)
            }
        }
    }

    pub(super) fn into_basis(self) -> FactorBasis {
        match self.lesson {
            FactorLesson::Learnt(fitted) => FactorBasis::new(self.factor, self.expr, fitted),
            _ => panic!("all rounds come before the end"),
        }
    }
}

/// R's `scale`: the mean, then the standard deviation, which divides by n − 1.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ScaleLearner {
    mean: Mean,
    only: Option<f64>,
    varies: bool,
    squares: Option<ScaledSquares>,
}

impl ScaleLearner {
    fn add_values(&mut self, values: &[f64]) {
        for value in values {
            if let Some(squares) = &mut self.squares {
                squares.push(value - self.mean.value);
            } else {
                self.mean.push(*value);
                self.varies |= *self.only.get_or_insert(*value) != *value;
            }
        }
    }

    fn merge_learner(&mut self, other: &ScaleLearner) {
        if let (Some(own), Some(other)) = (&mut self.squares, &other.squares) {
            own.merge(other);
            return;
        }
        self.mean.merge(&other.mean);
        self.only = self.only.or(other.only);
        self.varies |= other.varies || (other.only.is_some() && other.only != self.only);
    }

    fn next_round(&mut self, factor: &Factor) -> Result<Option<Constants>, BasisError> {
        if !self.varies {
            return Err(BasisError::Constant {
                factor: factor.to_string(),
                value: self.only.unwrap_or(0.0),
            });
        }
        let Some(squares) = self.squares else {
            self.squares = Some(ScaledSquares::default());
            return Ok(None);
        };
        Ok(Some(Constants::Affine {
            mean: self.mean.value,
            scale: squares.root_mean(self.mean.count as f64 - 1.0),
        }))
    }
}
