//! A model whose rows are stored elsewhere, with a local random sample of them.

use std::sync::Arc;

use lehr_graph::Expr;

use crate::{
    Columns, Density, GaussianRows, GaussianTerms, Layout, LinearRows, Point, Predictive,
    RowSource, RowStore, Rows, StoredForm,
};

/// A model bound to a local uniform sample of its rows. The log likelihood of each sampled row is
/// multiplied, because it represents several rows. Sums over all rows are computed where the rows
/// are stored.
pub struct Elsewhere<D> {
    sample: D,
    total: usize,
    rows: Arc<dyn RowStore>,
}

impl<D: Density> Elsewhere<D> {
    /// The model on `sample`, rows drawn without replacement from `total` rows, over all of which
    /// `rows` can sum.
    ///
    /// # Panics
    /// If the sample is empty, or larger than the total.
    pub fn new(sample: D, total: usize, rows: Arc<dyn RowStore>) -> Elsewhere<D> {
        let here = sample.n_rows();
        assert!((1..=total).contains(&here), "{here} rows of {total}");
        Elsewhere {
            sample,
            total,
            rows,
        }
    }

    /// The model on the sample alone.
    pub fn sample(&self) -> &D {
        &self.sample
    }

    fn stands_for(&self) -> f64 {
        self.total as f64 / self.sample.n_rows() as f64
    }
}

impl<D: Density> Density for Elsewhere<D> {
    fn latents(&self) -> &Layout {
        self.sample.latents()
    }

    fn params(&self) -> &Layout {
        self.sample.params()
    }

    fn columns(&self) -> &Columns {
        self.sample.columns()
    }

    fn source(&self) -> &dyn RowSource {
        self.sample.source()
    }

    fn total_rows(&self) -> usize {
        self.total
    }

    fn elsewhere(&self) -> Option<&dyn RowStore> {
        Some(&*self.rows)
    }

    fn log_prior<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        self.sample.log_prior(at)
    }

    fn log_likelihood<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        self.sample.log_likelihood(at, rows) * self.stands_for()
    }

    fn improper(&self) -> Vec<usize> {
        self.sample.improper()
    }

    fn origin(&self) -> Option<StoredForm> {
        self.sample.origin()
    }

    fn linear(&self) -> Option<&dyn LinearRows> {
        self.sample.linear()
    }

    fn gaussian(&self) -> Option<&dyn GaussianRows> {
        let found = self.sample.gaussian();
        found.map(|_| self as &dyn GaussianRows)
    }

    fn split(&self) -> Result<&dyn crate::SplitRows, String> {
        self.sample.split()
    }

    fn predictive(&self) -> Option<&dyn Predictive> {
        self.sample.predictive()
    }
}

impl<D: Density> Elsewhere<D> {
    fn own(&self) -> &dyn GaussianRows {
        self.sample.gaussian().expect("it was asked before")
    }
}

impl<D: Density> GaussianRows for Elsewhere<D> {
    fn gaussian_terms<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> GaussianTerms<'g> {
        let terms = self.own().gaussian_terms(at, rows);
        let equal = || at.graph().full([rows.len()], 1.0);
        let weight = terms.weight.unwrap_or_else(equal) * self.stands_for();
        GaussianTerms {
            weight: Some(weight),
            ..terms
        }
    }

    fn noise_scale<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        self.own().noise_scale(at)
    }
}
