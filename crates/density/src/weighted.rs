//! A model whose rows each count for several.

use std::sync::Arc;

use lehr_graph::Expr;

use crate::{
    Column, ColumnKind, Columns, Density, GaussianRows, GaussianTerms, Layout, LinearRows, Point,
    Predictive, Role, RowData, RowSource, RowStore, Rows, SplitRows, StoredForm, Values,
};

/// The column of counts, behind those of the model.
const COUNT: &str = "rows that are equal";

/// A model whose rows each count for several: the log likelihood of a row is multiplied.
pub struct WeightedModel<D> {
    model: D,
    total: usize,
    weight: RowWeight,
}

/// For how many rows a row counts.
enum RowWeight {
    /// For equally many: the rows are a uniform sample of those of a store.
    Sample { each: f64, store: Arc<dyn RowStore> },
    /// For those that are equal to it.
    Counts { columns: Columns, rows: RowData },
}

impl<D: Density> WeightedModel<D> {
    /// The model on `sample`, rows drawn without replacement from `total` rows, over all of which
    /// `store` can sum.
    ///
    /// # Panics
    /// If the sample is empty, or larger than the total.
    pub fn of_sample(sample: D, total: usize, store: Arc<dyn RowStore>) -> WeightedModel<D> {
        let here = sample.n_rows();
        assert!((1..=total).contains(&here), "{here} rows of {total}");
        let each = total as f64 / here as f64;
        WeightedModel {
            model: sample,
            total,
            weight: RowWeight::Sample { each, store },
        }
    }

    /// The model on distinct rows in memory, each with the number of rows that are equal to it.
    /// Sums over these rows equal those over all rows up to rounding.
    ///
    /// # Panics
    /// If the rows are not in memory, or there is not one count for each.
    pub fn of_distinct(model: D, counts: Vec<f64>) -> WeightedModel<D> {
        let source = model.source();
        let value = |(place, column): (usize, &Column)| match column.kind {
            ColumnKind::Number { .. } => Some(Values::Numbers {
                width: column.kind.width(),
                values: source.whole_column(place)?,
            }),
            ColumnKind::Index { .. } => source.whole_indices(place).map(Values::Indices),
        };
        let values: Option<Vec<Values>> = model.columns().iter().enumerate().map(value).collect();
        let mut values = values.expect("distinct rows are in memory");
        let mut columns = model.columns().clone();
        columns.0.push(Column {
            name: COUNT.into(),
            kind: ColumnKind::Number { width: None },
            role: Role::Weight,
        });
        let total = counts.iter().sum::<f64>() as usize;
        values.push(Values::Numbers {
            width: 1,
            values: counts.into(),
        });
        let rows = RowData::new(model.n_rows(), values);
        WeightedModel {
            model,
            total,
            weight: RowWeight::Counts { columns, rows },
        }
    }

    /// The model without weights.
    pub fn model(&self) -> &D {
        &self.model
    }

    /// A term of each row, times the number of rows for which it counts.
    fn times_weight<'g>(&self, term: Expr<'g>, rows: &Rows<'g>) -> Expr<'g> {
        match &self.weight {
            RowWeight::Sample { each, .. } => term * *each,
            RowWeight::Counts { .. } => {
                term * rows.numbers(COUNT).expect("a column of this density")
            }
        }
    }

    fn gaussian_rows(&self) -> &dyn GaussianRows {
        self.model.gaussian().expect("it was asked before")
    }
}

impl<D: Density> Density for WeightedModel<D> {
    fn latents(&self) -> &Layout {
        self.model.latents()
    }

    fn params(&self) -> &Layout {
        self.model.params()
    }

    fn columns(&self) -> &Columns {
        match &self.weight {
            RowWeight::Sample { .. } => self.model.columns(),
            RowWeight::Counts { columns, .. } => columns,
        }
    }

    fn source(&self) -> &dyn RowSource {
        match &self.weight {
            RowWeight::Sample { .. } => self.model.source(),
            RowWeight::Counts { rows, .. } => rows,
        }
    }

    fn total_rows(&self) -> usize {
        self.total
    }

    fn elsewhere(&self) -> Option<&dyn RowStore> {
        match &self.weight {
            RowWeight::Sample { store, .. } => Some(&**store),
            RowWeight::Counts { .. } => None,
        }
    }

    fn log_prior<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        self.model.log_prior(at)
    }

    fn log_likelihood<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        self.times_weight(self.model.log_likelihood(at, rows), rows)
    }

    fn improper(&self) -> Vec<usize> {
        self.model.improper()
    }

    fn origin(&self) -> Option<StoredForm> {
        self.model.origin()
    }

    fn linear(&self) -> Option<&dyn LinearRows> {
        self.model.linear()
    }

    fn gaussian(&self) -> Option<&dyn GaussianRows> {
        let found = self.model.gaussian();
        found.map(|_| self as &dyn GaussianRows)
    }

    fn split(&self) -> Result<&dyn SplitRows, String> {
        self.model.split()
    }

    fn predictive(&self) -> Option<&dyn Predictive> {
        self.model.predictive()
    }
}

impl<D: Density> GaussianRows for WeightedModel<D> {
    fn gaussian_terms<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> GaussianTerms<'g> {
        let terms = self.gaussian_rows().gaussian_terms(at, rows);
        let equal = || at.graph().full([rows.len()], 1.0);
        let weight = self.times_weight(terms.weight.unwrap_or_else(equal), rows);
        GaussianTerms {
            weight: Some(weight),
            ..terms
        }
    }

    fn noise_scale<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        self.gaussian_rows().noise_scale(at)
    }
}
