//! Responses and named quantities of rows as expressions of the latents and parameters, averaged
//! over local latents.

use lehr_graph::Expr;

use crate::{Density, Nodes, Point, Predictive, Response, Rows};

/// Nodes per latent for expectations under the prior of one or two local latents. Functions such as
/// eʷ reach further into its tails than a likelihood does.
const NODES: [usize; 2] = [32, 16];

/// Responses and named quantities of rows.
pub(crate) struct PredictedRows<'g> {
    pub(crate) responses: Vec<Response<'g>>,
    pub(crate) quantities: Vec<(String, Expr<'g>)>,
    /// The local latents, flat and unconstrained, `[n, size]`: an input on which the parameters of
    /// responses depend, but not moments and quantities.
    pub(crate) locals: Option<Expr<'g>>,
}

impl<'g> PredictedRows<'g> {
    /// The responses and quantities of a density on some rows.
    ///
    /// # Panics
    /// For densities that are not [`crate::Predictive`].
    pub(crate) fn from_density(
        density: &dyn Density,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> PredictedRows<'g> {
        let predictive = density.predictive().expect("a density that predicts");
        let Some(locals) = density.locals() else {
            return PredictedRows {
                responses: predictive.responses(at, rows),
                quantities: predictive.row_quantities(at, rows),
                locals: None,
            };
        };
        let size = locals.layout().size();
        let input = at.graph().input("locals", [rows.len(), size]);
        let mut responses = predictive.responses(at, &rows.clone().with_locals(input));
        let Some(count) = NODES.get(size.wrapping_sub(1)) else {
            // No rule has so many dimensions, so only draws are available.
            for response in &mut responses {
                (response.mean, response.variance) = (None, None);
            }
            return PredictedRows {
                responses,
                quantities: Vec::new(),
                locals: Some(input),
            };
        };
        let nodes = Nodes::new(*count, size);
        let of = |rows: &Rows<'g>| predictive_terms(predictive, at, rows);
        let mut found = nodes.expected_values(locals, at, rows, &of).into_iter();
        for response in &mut responses {
            response.mean = response.mean.and_then(|_| found.next());
            let square = response.variance.zip(response.mean);
            let square = square.and_then(|_| found.next());
            response.variance = square
                .zip(response.mean)
                .map(|(all, mean)| all - mean.square());
        }
        let names = predictive.row_quantities(at, &rows.clone().with_locals(input));
        let names = names.into_iter().map(|(name, _)| name);
        PredictedRows {
            responses,
            quantities: names.zip(found).collect(),
            locals: Some(input),
        }
    }
}

/// The terms to average over local latents: the mean of each response, its mean square if it has a
/// variance, and then the named quantities.
fn predictive_terms<'g>(
    predictive: &dyn Predictive,
    at: &Point<'g>,
    rows: &Rows<'g>,
) -> Vec<Expr<'g>> {
    let mut terms = Vec::new();
    for response in predictive.responses(at, rows) {
        let square = response.mean.zip(response.variance);
        terms.extend(response.mean);
        terms.extend(square.map(|(mean, variance)| variance + mean.square()));
    }
    let quantities = predictive.row_quantities(at, rows).into_iter();
    terms.extend(quantities.map(|(_, value)| value));
    terms
}
