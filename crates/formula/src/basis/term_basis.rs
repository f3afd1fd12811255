//! A term with the constants of all its factors.

use serde::{Deserialize, Serialize};

use super::column::Lookup;
use super::error::BasisError;
use super::factor_basis::FactorBasis;
use super::label::ColumnLabel;

/// The columns of a term: all products of one column from each factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TermBasis {
    /// One for each factor.
    pub factors: Vec<FactorBasis>,
}

impl TermBasis {
    /// The coefficients' names, `x1:color[red]`; the first factor changes fastest, as in R.
    pub fn column_names(&self) -> Vec<String> {
        self.column_labels()
            .into_iter()
            .map(|label| label.text)
            .collect()
    }

    /// The names, with the levels separate.
    pub fn column_labels(&self) -> Vec<ColumnLabel> {
        let lists = self.factors.iter().map(FactorBasis::column_labels);
        lists
            .reduce(|left, right| {
                column_products(&left, &right, |right, left| left.interaction_with(right))
            })
            .unwrap_or_default()
    }

    /// The column of the table that the term is without any computation, if it is one.
    pub fn column(&self) -> Option<&str> {
        match &self.factors[..] {
            [only] => only.column(),
            _ => None,
        }
    }

    /// The columns for the rows of a table, in the order of the names.
    ///
    /// New rows yield the same columns as the fitted ones; unseen levels are refused.
    pub fn evaluate_columns(&self, columns: &Lookup<'_, '_>) -> Result<Vec<Vec<f64>>, BasisError> {
        let mut product: Option<Vec<Vec<f64>>> = None;
        for basis in &self.factors {
            let right = basis.evaluate_columns(columns)?;
            product = Some(match product {
                None => right,
                Some(left) => {
                    column_products(&left, &right, |right, left| multiply_columns(right, left))
                }
            });
        }
        Ok(product.unwrap_or_default())
    }
}

fn multiply_columns(right: &[f64], left: &[f64]) -> Vec<f64> {
    left.iter().zip(right).map(|(a, b)| a * b).collect()
}

fn column_products<T>(left: &[T], right: &[T], join: impl Fn(&T, &T) -> T) -> Vec<T> {
    right
        .iter()
        .flat_map(|b| left.iter().map(|a| join(b, a)).collect::<Vec<_>>())
        .collect()
}
