//! The `by` argument of penalised smooths: `s(x, by = site)`, `s(x, by = dose)`.

use lehr_formula::{ByVariable, ColumnExpr, Factor, LevelCoding, Term, TermBasis, TermLearner};
use serde::{Deserialize, Serialize};

use crate::error::LearnError;
use crate::fixed_effects::{add_rows_to, next_rounds};
use crate::source::Source;

/// The most levels with a smooth each.
const MOST_LEVELS: usize = 50;

/// The multiplier of one smooth in each row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Multiplier {
    /// 1.
    One,
    /// 1 in the rows of a level, 0 in all others.
    Level {
        /// The levels.
        basis: TermBasis,
        /// The place of its own level.
        place: usize,
    },
    /// A column, divided by its root mean square.
    Number {
        /// The column.
        column: String,
        /// Its root mean square.
        scale: f64,
    },
}

impl Multiplier {
    /// The multiplier of each row; `None` where it is 1.
    pub fn values(&self, source: &Source<'_>) -> Result<Option<Vec<f64>>, LearnError> {
        Ok(match self {
            Multiplier::One => None,
            Multiplier::Level { basis, place } => {
                let codes = basis.factors[0].level_codes(&|name| source.read(name))?;
                let own = |code: u32| f64::from(u8::from(code as usize == *place));
                Some(codes.into_iter().map(own).collect())
            }
            Multiplier::Number { column, scale } => {
                let values = source.evaluate(&ColumnExpr::Column(column.clone()))?;
                Some(values.iter().map(|value| value / scale).collect())
            }
        })
    }

    /// The divisor of the column.
    pub fn scale(&self) -> f64 {
        match self {
            Multiplier::Number { scale, .. } => *scale,
            _ => 1.0,
        }
    }

    /// The column that multiplies it.
    pub fn column(&self) -> Option<&str> {
        match self {
            Multiplier::Number { column, .. } => Some(column),
            _ => None,
        }
    }
}

/// The information gathered about `by` in the first round.
#[derive(Clone, Default)]
pub(super) struct ByLearner {
    levels: Option<TermLearner>,
    number: Option<SquareSum>,
}

/// The squares of a column.
#[derive(Clone)]
struct SquareSum {
    column: String,
    sum: f64,
    rows: usize,
}

impl ByLearner {
    pub(super) fn new(by: Option<&ByVariable>) -> ByLearner {
        let mut learner = ByLearner::default();
        match by {
            Some(ByVariable::Levels(name)) => {
                let factor = Term::from_factor(Factor::Categorical(name.clone()));
                learner.levels = Some(TermLearner::new(&factor, &[LevelCoding::Full]));
            }
            Some(ByVariable::Column(name)) => {
                let (column, sum, rows) = (name.clone(), 0.0, 0);
                learner.number = Some(SquareSum { column, sum, rows });
            }
            None => {}
        }
        learner
    }

    pub(super) fn add_rows(&mut self, source: &Source<'_>) -> Result<(), LearnError> {
        if let Some(levels) = &mut self.levels {
            add_rows_to(std::slice::from_mut(levels), source)?;
        }
        if let Some(number) = &mut self.number {
            let values = source.evaluate(&ColumnExpr::Column(number.column.clone()))?;
            number.sum += values.iter().map(|value| value * value).sum::<f64>();
            number.rows += values.len();
        }
        Ok(())
    }

    /// One multiplier for each smooth, after the round.
    pub(super) fn finish(&mut self, label: &str) -> Result<Vec<Multiplier>, LearnError> {
        if let Some(mut levels) = self.levels.take() {
            next_rounds(std::slice::from_mut(&mut levels))?;
            let basis = levels.into_basis();
            let count = basis.factors[0].level_names().len();
            if count > MOST_LEVELS {
                return Err(LearnError::column(
                    label,
                    format!("at most {MOST_LEVELS} levels with a smooth each"),
                    count.to_string(),
                    "write gp(x, by = g), whose levels share how smooth they are",
                ));
            }
            let of = |place: usize| Multiplier::Level {
                basis: basis.clone(),
                place,
            };
            return Ok((0..count).map(of).collect());
        }
        let Some(SquareSum { column, sum, rows }) = self.number.take() else {
            return Ok(vec![Multiplier::One]);
        };
        let scale = (sum / rows as f64).sqrt();
        if scale > 0.0 && scale.is_finite() {
            return Ok(vec![Multiplier::Number { column, scale }]);
        }
        Err(LearnError::column(
            label,
            format!("values of {column} other than 0"),
            "none",
            "leave by out",
        ))
    }
}
