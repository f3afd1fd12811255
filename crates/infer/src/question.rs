//! A query about a model as a program: its arguments, and its functions of some rows.

use lehr_density::{Density, Point, Query, Rows};
use lehr_graph::Expr;
use lehr_rows::Argument;

use crate::condensed;

const TALLIED: &str = "rows are tallied by a reader of their own";

/// A query about a model: its arguments, and its functions of some rows.
pub(crate) struct Question<'d> {
    pub(crate) query: Query,
    pub(crate) density: &'d dyn Density,
}

impl Question<'_> {
    /// Arrays that are computed side by side.
    pub(crate) fn lanes(&self) -> usize {
        match self.query {
            Query::LogLikelihood { lanes } | Query::HessianProducts { lanes } => lanes,
            Query::Slopes => 1,
            Query::GroupSums => unreachable!("{TALLIED}"),
            Query::Triangle => condensed::width(self.density),
        }
    }

    pub(crate) fn arguments(&self) -> Vec<Argument> {
        let latents = self.density.latents().size();
        let params = Argument::Shared(self.density.params().size());
        match self.query {
            Query::LogLikelihood { .. } => vec![Argument::PerLane(latents), params],
            Query::Slopes => vec![Argument::Shared(latents), params],
            Query::GroupSums => unreachable!("{TALLIED}"),
            Query::HessianProducts { .. } => {
                let z = Argument::Shared(latents);
                vec![z, params, Argument::PerLane(latents)]
            }
            Query::Triangle => vec![Argument::Shared(latents), Argument::PerLane(latents)],
        }
    }

    /// The functions of some rows; those of a QR reduction are numbers of each row.
    pub(crate) fn write<'g>(&self, inputs: &[Expr<'g>], rows: &Rows<'g>) -> Vec<Expr<'g>> {
        if self.query == Query::Triangle {
            let own = self.density.gaussian().expect("it was asked before");
            return condensed::row_terms(own, inputs, rows);
        }
        let at = Point::new(inputs[0], inputs[1]);
        let value = self.density.log_likelihood(&at, rows).sum();
        let graph = at.graph();
        match self.query {
            Query::Slopes => {
                let slopes = graph.grad(value, inputs);
                std::iter::once(value).chain(slopes).collect()
            }
            Query::HessianProducts { .. } => {
                let slope = graph.grad(value, &[at.latents])[0];
                graph.jvp(&[slope], &[at.latents], &[inputs[2]])
            }
            Query::LogLikelihood { .. } | Query::Triangle => vec![value],
            Query::GroupSums => unreachable!("{TALLIED}"),
        }
    }
}
