//! A density with fixed parameters θ, as a function of the latents alone.

use lehr_density::{Columns, Density, Layout, LinearRows, Point, Predictors, RowSource, Rows};
use lehr_graph::Expr;

/// A density at fixed θ: the remaining inference given all learned parameters.
pub struct DensityAtParams<'d> {
    density: &'d dyn Density,
    params: Vec<f64>,
    none: Layout,
}

impl<'d> DensityAtParams<'d> {
    /// The density at these parameters, flat and unconstrained.
    ///
    /// # Panics
    /// Unless there is a number for each.
    pub fn new(density: &'d dyn Density, params: &[f64]) -> DensityAtParams<'d> {
        assert_eq!(density.params().size(), params.len(), "a number for each");
        DensityAtParams {
            density,
            params: params.to_vec(),
            none: Layout::new(Vec::new()).expect("no sites have no names in common"),
        }
    }

    fn at<'g>(&self, at: &Point<'g>) -> Point<'g> {
        let params = at.graph().constant([self.params.len()], &self.params);
        Point::new(at.latents, params)
    }
}

impl Density for DensityAtParams<'_> {
    fn latents(&self) -> &Layout {
        self.density.latents()
    }

    fn params(&self) -> &Layout {
        &self.none
    }

    fn columns(&self) -> &Columns {
        self.density.columns()
    }

    fn source(&self) -> &dyn RowSource {
        self.density.source()
    }

    fn log_prior<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        self.density.log_prior(&self.at(at))
    }

    fn log_likelihood<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        self.density.log_likelihood(&self.at(at), rows)
    }

    fn linear(&self) -> Option<&dyn LinearRows> {
        self.density.linear().is_some().then_some(self)
    }
}

impl LinearRows for DensityAtParams<'_> {
    fn predictors<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Predictors<'g> {
        let linear = self.density.linear().expect("linear rows");
        linear.predictors(&self.at(at), rows)
    }
}
