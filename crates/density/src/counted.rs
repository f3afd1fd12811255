//! A model on distinct rows with frequency weights.

use std::sync::Arc;

use lehr_graph::Expr;

use crate::{
    Column, ColumnKind, Columns, Density, GaussianRows, GaussianTerms, Layout, Point, Role, RowSet,
    RowSource, Rows, StoredForm,
};

/// The column of counts, beside those of the model.
const COUNT: &str = "rows that are equal";

/// A model on distinct rows, each with its frequency: the log likelihood of a row is multiplied by
/// it. Sums over these rows equal those over all rows up to rounding.
pub struct Counted<D> {
    columns: Columns,
    rows: CountedRows<D>,
}

/// The rows of a model, and a column of counts behind them.
struct CountedRows<D> {
    model: D,
    counts: Arc<[f64]>,
}

impl<D: Density> Counted<D> {
    /// The model on its rows, with these frequencies.
    ///
    /// # Panics
    /// If there is not one count for each row.
    pub fn new(model: D, counts: Vec<f64>) -> Counted<D> {
        assert_eq!(counts.len(), model.n_rows(), "one count for each row");
        let mut columns = model.columns().clone();
        columns.0.push(Column {
            name: COUNT.into(),
            kind: ColumnKind::Number { width: None },
            role: Role::Weight,
        });
        Counted {
            columns,
            rows: CountedRows {
                model,
                counts: counts.into(),
            },
        }
    }

    fn model(&self) -> &D {
        &self.rows.model
    }
}

impl<D: Density> RowSource for CountedRows<D> {
    fn n_rows(&self) -> usize {
        self.model.n_rows()
    }

    fn copy_numbers(&self, column: usize, rows: &RowSet<'_>, into: &mut [f64]) {
        if column < self.model.columns().len() {
            return self.model.source().copy_numbers(column, rows, into);
        }
        match rows {
            RowSet::Range(range) => into.copy_from_slice(&self.counts[range.clone()]),
            RowSet::List(list) => {
                let places = into.iter_mut().zip(*list);
                places.for_each(|(to, row)| *to = self.counts[*row]);
            }
        }
    }

    fn failure(&self) -> Option<lehr_rows::RowsError> {
        self.model.source().failure()
    }

    fn copy_indices(&self, column: usize, rows: &RowSet<'_>, into: &mut [u32]) {
        self.model.source().copy_indices(column, rows, into);
    }

    fn whole_column(&self, column: usize) -> Option<Arc<[f64]>> {
        if column < self.model.columns().len() {
            return self.model.source().whole_column(column);
        }
        Some(Arc::clone(&self.counts))
    }

    fn whole_indices(&self, column: usize) -> Option<Arc<[u32]>> {
        self.model.source().whole_indices(column)
    }
}

impl<D: Density> Density for Counted<D> {
    fn latents(&self) -> &Layout {
        self.model().latents()
    }

    fn params(&self) -> &Layout {
        self.model().params()
    }

    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn source(&self) -> &dyn RowSource {
        &self.rows
    }

    fn total_rows(&self) -> usize {
        self.rows.counts.iter().sum::<f64>() as usize
    }

    fn log_prior<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        self.model().log_prior(at)
    }

    fn log_likelihood<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        self.model().log_likelihood(at, rows) * frequency_weight(rows)
    }

    fn improper(&self) -> Vec<usize> {
        self.model().improper()
    }

    fn origin(&self) -> Option<StoredForm> {
        self.model().origin()
    }

    fn gaussian(&self) -> Option<&dyn GaussianRows> {
        let found = self.model().gaussian();
        found.map(|_| self as &dyn GaussianRows)
    }
}

impl<D: Density> GaussianRows for Counted<D> {
    fn gaussian_terms<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> GaussianTerms<'g> {
        let own = self.model().gaussian().expect("it was asked before");
        let terms = own.gaussian_terms(at, rows);
        let weight = terms.weight.map_or(frequency_weight(rows), |weight| {
            weight * frequency_weight(rows)
        });
        GaussianTerms {
            weight: Some(weight),
            ..terms
        }
    }

    fn noise_scale<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        let own = self.model().gaussian().expect("it was asked before");
        own.noise_scale(at)
    }
}

fn frequency_weight<'g>(rows: &Rows<'g>) -> Expr<'g> {
    rows.numbers(COUNT).expect("a column of this density")
}
