//! A density with local latents, with the latents integrated out.

use lehr_density::{
    Columns, Density, Layout, LinearRows, Locals, Nodes, Point, Predictive, RowSource, Rows,
    StoredForm,
};
use lehr_graph::Expr;

/// A density whose local latents are integrated out by adaptive quadrature. Its rows, prior and
/// sites are those of the inner density, so every method applies to it. Predictions use the inner
/// density, which knows how to draw the latents of new rows.
pub struct IntegratedDensity<'d> {
    density: &'d dyn Density,
    nodes: Nodes,
}

impl<'d> IntegratedDensity<'d> {
    /// The density with its local latents integrated by the default number of nodes; `None` if rows
    /// have no local latents, or more than [`Nodes::MOST_LOCALS`]. With more than
    /// [`Nodes::MOST_EXACT`] the rule is coarse, and suitable only to check a bound obtained
    /// otherwise.
    pub fn of(density: &'d dyn Density) -> Option<IntegratedDensity<'d>> {
        let nodes = Nodes::usual_rule(density.locals()?.layout())?;
        Some(IntegratedDensity { density, nodes })
    }

    /// The same with `per_dimension` nodes per latent.
    #[must_use]
    pub fn with_nodes(self, per_dimension: usize) -> IntegratedDensity<'d> {
        IntegratedDensity {
            nodes: Nodes::new(per_dimension, self.nodes.dimensions()),
            ..self
        }
    }

    /// The nodes of the quadrature.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The density with local latents.
    pub fn inner(&self) -> &'d dyn Density {
        self.density
    }

    /// The names of the latents that are integrated out.
    pub fn names(&self) -> String {
        let sites = self.density.locals().map(|own| own.layout().sites());
        let names = sites.unwrap_or_default().iter();
        let names: Vec<&str> = names.map(|site| site.name.as_str()).collect();
        names.join(", ")
    }
}

impl Density for IntegratedDensity<'_> {
    fn latents(&self) -> &Layout {
        self.density.latents()
    }

    fn params(&self) -> &Layout {
        self.density.params()
    }

    fn columns(&self) -> &Columns {
        self.density.columns()
    }

    fn source(&self) -> &dyn RowSource {
        self.density.source()
    }

    fn log_prior<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        self.density.log_prior(at)
    }

    fn log_likelihood<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        let locals = (self.density.locals()).expect("a density with local latents");
        self.nodes.log_likelihood(locals, at, rows)
    }

    fn linear(&self) -> Option<&dyn LinearRows> {
        self.density.locals()?.linear()
    }

    fn improper(&self) -> Vec<usize> {
        self.density.improper()
    }

    fn origin(&self) -> Option<StoredForm> {
        self.density.origin()
    }

    fn predictive(&self) -> Option<&dyn Predictive> {
        self.density.predictive()
    }

    fn integrates(&self) -> Option<&dyn Locals> {
        self.density.locals()
    }
}

/// A density in the form that fits use: without local latents if those can be integrated out.
pub enum Marginal<'d> {
    /// The density itself.
    Itself(&'d dyn Density),
    /// Without its local latents.
    Integrated(IntegratedDensity<'d>),
}

impl<'d> Marginal<'d> {
    /// The density with its local latents integrated by this number of nodes each, or the default
    /// number.
    pub fn of(density: &'d dyn Density, per_dimension: Option<usize>) -> Marginal<'d> {
        match (IntegratedDensity::of(density), per_dimension) {
            (None, _) => Marginal::Itself(density),
            (Some(usual), None) => Marginal::Integrated(usual),
            (Some(usual), Some(count)) => Marginal::Integrated(usual.with_nodes(count)),
        }
    }

    /// The density to use.
    pub fn density(&self) -> &dyn Density {
        match self {
            Marginal::Itself(density) => *density,
            Marginal::Integrated(integrated) => integrated,
        }
    }
}
