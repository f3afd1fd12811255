//! Detects rows that are Gaussian around one affine function of the latents with one common scale.

use lehr_density::{Columns, GaussianTerms, Point, Response, Role, Rows};
use lehr_graph::Expr;

use crate::distribution::normal_log_density;
use crate::linear::{Affinity, affine_part};

/// The parts of Gaussian rows.
pub(crate) struct Gaussian<'g> {
    pub(crate) terms: GaussianTerms<'g>,
    /// σ, one number.
    pub(crate) scale: Expr<'g>,
}

impl<'g> Gaussian<'g> {
    /// The parts of a single normal response with a common scale. Columns of weights apply to rows.
    pub(crate) fn from_program(
        rows: &Rows<'g>,
        columns: &Columns,
        responses: &[Response<'g>],
    ) -> Option<Gaussian<'g>> {
        let [response] = responses else {
            return None;
        };
        let is_normal = response.family.name() == "Normal" && response.width == 1;
        let [(_, predictor), (_, scale)] = response.parameters.as_slice() else {
            return None;
        };
        let length = [rows.len()];
        let label = rows.numbers(&response.name).filter(|_| is_normal)?;
        let is_weight = |column: &&lehr_density::Column| column.role == Role::Weight;
        let weights = columns.iter().filter(is_weight);
        let weights = weights.filter_map(|column| rows.numbers(&column.name));
        let weights = weights.map(|weight| weight.reshape(length));
        let terms = GaussianTerms {
            response: label.reshape(length),
            predictor: *predictor,
            weight: weights.reduce(|all, weight| all * weight),
        };
        Some(Gaussian {
            terms,
            scale: scale.repeated()?,
        })
    }

    /// Whether this is the whole log likelihood, with an affine predictor.
    pub(crate) fn is_all_of(&self, log_likelihood: Expr<'g>, at: &Point<'g>) -> bool {
        let GaussianTerms {
            response,
            predictor,
            weight,
        } = self.terms;
        let own = predictor.repeated().unwrap_or(predictor);
        let normal = normal_log_density(response, own, self.scale);
        let whole = weight.map_or(normal, |weight| normal * weight);
        whole.is(log_likelihood) && matches!(affine_part(at, predictor), Affinity::Affine)
    }
}
