//! In which form the model has the weights of a smooth function.

use lehr_graph::reference::{Values, evaluate};
use lehr_graph::{Expr, Graph};
use lehr_learn::Link;
use lehr_model::gp::Basis;
use serde::{Deserialize, Serialize};

/// The scale, in units of the linear predictor, of the reference parameters.
const SCALE: f64 = 0.7;

/// In which form the model has the weights, function by function. With a = √G(θ) and ā the same at
/// reference parameters, the latent v has the coefficient e = a^{1−w} ā^w v and the prior
/// N(0, (a/ā)^{2w}), so that e ~ N(0, a²) whatever w is.
///
/// At w = 0 latents are nearly independent of θ where rows say little about a coefficient, at w = 1
/// where they determine it. In between, w is by how much the rows would reduce its prior variance if
/// all else were known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Centring {
    /// w of each function.
    shares: Vec<f64>,
    /// ln ā of each function.
    references: Vec<f64>,
}

impl Centring {
    /// For functions of a basis with these values at some rows, row after row, of which each knows
    /// so much of its linear predictor; at lengthscales in units.
    pub(crate) fn new(
        basis: &Basis,
        features: &[f64],
        information: f64,
        lengthscales: &[f64],
    ) -> Centring {
        let graph = Graph::new();
        let own = graph.constant([lengthscales.len()], lengthscales);
        let log = basis.log_amplitudes(graph.scalar(SCALE), own);
        let width = basis.width();
        let rows = features.len() / width;
        let scaled = graph.constant([rows, width], features) * log.exp() * information.sqrt();
        let rest = (scaled.square().sum_axis(0) + 1.0).recip();
        let mut found = evaluate(&[log, 1.0 - rest], &Values::new(), 1).into_iter();
        let mut next = || found.next().unwrap_or_default();
        Centring {
            references: next(),
            shares: next(),
        }
    }

    /// For functions with mean square 1 over the rows, none of which explains another, whose coefficients
    /// have these standard deviations where the scale is 1; the rows know so much together.
    pub(crate) fn of_independent(roots: &[f64], information: f64) -> Centring {
        let references = roots.iter().map(|root| (SCALE * root).ln());
        let share = |root: &f64| 1.0 - 1.0 / (1.0 + information * (SCALE * root).powi(2));
        Centring {
            shares: roots.iter().map(share).collect(),
            references: references.collect(),
        }
    }

    /// What turns latents into coefficients, where these are ln of the coefficients' standard deviations.
    pub(crate) fn factors(&self, amplitudes: &[f64]) -> Vec<f64> {
        let own = self.shares.iter().zip(&self.references);
        (amplitudes.iter().zip(own))
            .map(|(log, (share, reference))| (log - (log - reference) * share).exp())
            .collect()
    }

    /// ln of what turns latents into coefficients, and ln of the latents' scale.
    pub(crate) fn logs<'g>(&self, amplitudes: Expr<'g>) -> [Expr<'g>; 2] {
        let graph = amplitudes.graph();
        let width = self.shares.len();
        let shares = graph.constant([width], &self.shares);
        let prior = (amplitudes - graph.constant([width], &self.references)) * shares;
        [amplitudes - prior, prior]
    }
}

/// What a usual row knows of its linear predictor, in units: one over the noise's variance.
pub(crate) fn row_information(link: Link) -> f64 {
    match link {
        Link::Identity => 4.0,
        Link::Log => 1.0,
        Link::Logit => 0.2,
        // The curvature of cumulative probits about the middle, as 0.25 is that of logits.
        Link::Probit => 0.5,
        // Of directions of concentration 1: η moves them by up to twice as much.
        Link::TanHalf => 2.0,
    }
}
