//! A density with latents of each row's own as one without any.

use lehr_density::{
    Columns, Density, Layout, LinearRows, Locals, Nodes, Point, Predictive, RowSource, Rows, Stored,
};
use lehr_graph::Expr;

/// A density whose rows' own latents are integrated out by adaptive quadrature. Its rows, its prior
/// and its sites are those of the density behind it, so every method applies to it. Predictions are
/// made from the density behind it, which knows how the latents of new rows are drawn.
pub struct Integrated<'d> {
    density: &'d dyn Density,
    nodes: Nodes,
}

impl<'d> Integrated<'d> {
    /// The density with its local latents integrated by the usual number of nodes; `None` where
    /// rows have no latents of their own, or more than [`Nodes::MOST_LOCALS`]. Of more than
    /// [`Nodes::MOST_EXACT`] the rule is a coarse one, good to look at what was bounded otherwise.
    pub fn of(density: &'d dyn Density) -> Option<Integrated<'d>> {
        let nodes = Nodes::usual(density.locals()?.layout())?;
        Some(Integrated { density, nodes })
    }

    /// The same with so many nodes per latent.
    #[must_use]
    pub fn with_nodes(self, per_dimension: usize) -> Integrated<'d> {
        Integrated {
            nodes: Nodes::new(per_dimension, self.nodes.dimensions()),
            ..self
        }
    }

    /// Where the integrand of each row is evaluated.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The density whose rows have latents of their own.
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

impl Density for Integrated<'_> {
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

    fn origin(&self) -> Option<Stored> {
        self.density.origin()
    }

    fn predictive(&self) -> Option<&dyn Predictive> {
        self.density.predictive()
    }

    fn integrates(&self) -> Option<&dyn Locals> {
        self.density.locals()
    }
}

/// A density as fits see it: without latents of single rows where those can be integrated out.
pub enum Marginal<'d> {
    /// As it is.
    Itself(&'d dyn Density),
    /// Without its local latents.
    Integrated(Integrated<'d>),
}

impl<'d> Marginal<'d> {
    /// The density with its local latents integrated by so many nodes each, by the usual number if
    /// none is given.
    pub fn of(density: &'d dyn Density, per_dimension: Option<usize>) -> Marginal<'d> {
        match (Integrated::of(density), per_dimension) {
            (None, _) => Marginal::Itself(density),
            (Some(usual), None) => Marginal::Integrated(usual),
            (Some(usual), Some(count)) => Marginal::Integrated(usual.with_nodes(count)),
        }
    }

    /// The density to ask.
    pub fn density(&self) -> &dyn Density {
        match self {
            Marginal::Itself(density) => *density,
            Marginal::Integrated(integrated) => integrated,
        }
    }
}
