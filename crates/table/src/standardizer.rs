//! Standardises columns to mean 0 and standard deviation 1, and transforms coefficients back.

use serde::{Deserialize, Serialize};

use crate::{Column, Moment, Table, TableError};

/// Stores mean and scale of columns, so that a model can use standardised columns and report on the
/// original scale. A constant column is centred and keeps its scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standardizer {
    scales: Vec<Scale>,
}

/// The standardisation of one column, or of one column of a matrix: `(x − mean) / scale`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The column.
    pub name: String,
    /// The place within a matrix; 0 for a number.
    pub place: usize,
    /// Its mean.
    pub mean: f64,
    /// Its population standard deviation, or 1 if that is 0.
    pub scale: f64,
    /// Whether all its values were equal.
    pub constant: bool,
}

/// A linear predictor: `intercept + Σ coefficients · x`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its value if all columns are 0.
    pub intercept: f64,
    /// One per standardised number, in the order of [`Standardizer::scales`].
    pub coefficients: Vec<f64>,
}

impl Standardizer {
    /// Means and scales of the named number and matrix columns. Missing values are skipped;
    /// infinite ones, which have no mean, are refused.
    pub fn fit(table: &Table, names: &[&str]) -> Result<Self, TableError> {
        let mut scales = Vec::new();
        for name in names {
            let (width, values) = table.matrix(name)?;
            let count = values.iter().filter(|value| value.is_infinite()).count();
            if count > 0 {
                let name = (*name).into();
                return Err(TableError::Infinite { name, count });
            }
            for (place, moment) in moments(width, values).iter().enumerate() {
                scales.push(Scale::new(name, place, moment)?);
            }
        }
        Ok(Self { scales })
    }

    /// One scale per number and per column of a matrix, in the order of fitting.
    pub fn scales(&self) -> &[Scale] {
        &self.scales
    }

    /// The names of the columns all of whose values were equal, as `name` or `name[place]`
    /// with the place in the matrix counted from 1.
    pub fn constant(&self) -> Vec<String> {
        let single = |scale: &Scale| self.width(&scale.name) == 1;
        (self.scales.iter())
            .filter(|scale| scale.constant)
            .map(|scale| {
                if single(scale) {
                    scale.name.clone()
                } else {
                    format!("{}[{}]", scale.name, scale.place + 1)
                }
            })
            .collect()
    }

    /// The table with the fitted columns standardised and the others unchanged. Refuses a table in
    /// which a fitted column is absent or has another width.
    pub fn apply(&self, table: &Table) -> Result<Table, TableError> {
        let mut out = table.clone();
        for scales in self.scales.chunk_by(|a, b| a.name == b.name) {
            let name = &scales[0].name;
            let (width, values) = table.matrix(name)?;
            if width != scales.len() {
                return Err(TableError::Length {
                    what: "numbers per row of a standardised column",
                    expected: scales.len(),
                    found: width,
                });
            }
            let values = standardised(values, scales);
            out.replace(name, like(table.column(name)?, values))?;
        }
        Ok(out)
    }

    /// The same linear predictor on the original scale. With x̃ = (x − m)/s,
    ///
    /// ```text
    /// a + Σ bⱼ x̃ⱼ = (a − Σ bⱼ mⱼ/sⱼ) + Σ (bⱼ/sⱼ) xⱼ
    /// ```
    pub fn undo(&self, intercept: f64, coefficients: &[f64]) -> Result<Line, TableError> {
        if coefficients.len() != self.scales.len() {
            return Err(TableError::Length {
                what: "coefficients of standardised columns",
                expected: self.scales.len(),
                found: coefficients.len(),
            });
        }
        let coefficients: Vec<f64> = (coefficients.iter().zip(&self.scales))
            .map(|(coefficient, scale)| coefficient / scale.scale)
            .collect();
        let shift: f64 = (coefficients.iter().zip(&self.scales))
            .map(|(coefficient, scale)| coefficient * scale.mean)
            .sum();
        Ok(Line {
            intercept: intercept - shift,
            coefficients,
        })
    }

    fn width(&self, name: &str) -> usize {
        self.scales
            .iter()
            .filter(|scale| scale.name == name)
            .count()
    }
}

impl Scale {
    /// The scale of a column with this moment. Refuses a standard deviation beyond the range of
    /// doubles.
    pub fn new(name: &str, place: usize, moment: &Moment) -> Result<Self, TableError> {
        if !moment.scale().is_finite() || !moment.mean().is_finite() {
            return Err(TableError::Overflow { name: name.into() });
        }
        let constant = moment.scale() == 0.0;
        Ok(Self {
            name: name.into(),
            place,
            mean: moment.mean(),
            scale: if constant { 1.0 } else { moment.scale() },
            constant,
        })
    }
}

fn moments(width: usize, values: &[f64]) -> Vec<Moment> {
    let mut moments = vec![Moment::default(); width];
    for row in values.chunks_exact(width) {
        for (moment, value) in moments
            .iter_mut()
            .zip(row)
            .filter(|(_, value)| !value.is_nan())
        {
            moment.push(*value);
        }
    }
    moments
}

fn standardised(values: &[f64], scales: &[Scale]) -> Vec<f64> {
    (values.iter().zip(scales.iter().cycle()))
        .map(|(value, scale)| (value - scale.mean) / scale.scale)
        .collect()
}

fn like(column: &Column, values: Vec<f64>) -> Column {
    match column {
        Column::Matrix { width, .. } => Column::Matrix {
            width: *width,
            values,
        },
        _ => Column::Number(values),
    }
}
