//! The centring of a smooth function's weights in the model.

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph};
use lehr_learn::Link;
use lehr_model::gp::GpBasis;
use serde::{Deserialize, Serialize};

/// The scale, in units of the linear predictor, of the reference parameters.
const SCALE: f64 = 0.7;

/// Partial centring of the weights, function by function. With a = √G(θ) and ā the same at
/// reference parameters, the latent v has the coefficient e = a^{1−w} ā^w v and the prior N(0,
/// (a/ā)^{2w}), so that e ~ N(0, a²) whatever w is.  At w = 0 (non-centred) latents are nearly
/// independent of θ if the rows have little information on a coefficient, at w = 1 (centred) if
/// they determine it. In between, w is the share by which the rows would reduce its prior variance
/// if all else were known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartialCentring {
    /// w of each function.
    shares: Vec<f64>,
    /// ln ā of each function.
    references: Vec<f64>,
}

impl PartialCentring {
    /// For basis functions with these values at some rows, row-major, where each row has this
    /// information on its linear predictor; at lengthscales in units.
    pub(crate) fn new(
        basis: &GpBasis,
        features: &[f64],
        information: f64,
        lengthscales: &[f64],
    ) -> PartialCentring {
        let graph = Graph::new();
        let own = graph.constant([lengthscales.len()], lengthscales);
        let log = basis.log_amplitudes(graph.scalar(SCALE), own);
        let width = basis.width();
        let rows = features.len() / width;
        let scaled = graph.constant([rows, width], features) * log.exp() * information.sqrt();
        let rest = (scaled.square().sum_axis(0) + 1.0).recip();
        let mut found = evaluate(&[log, 1.0 - rest], &InputValues::new(), 1).into_iter();
        let mut next = || found.next().unwrap_or_default();
        PartialCentring {
            references: next(),
            shares: next(),
        }
    }

    /// For uncorrelated functions with mean square 1 over the rows, whose coefficients have these
    /// standard deviations if the scale is 1; the rows have this information in total.
    pub(crate) fn of_independent(roots: &[f64], information: f64) -> PartialCentring {
        let references = roots.iter().map(|root| (SCALE * root).ln());
        let share = |root: &f64| 1.0 - 1.0 / (1.0 + information * (SCALE * root).powi(2));
        PartialCentring {
            shares: roots.iter().map(share).collect(),
            references: references.collect(),
        }
    }

    /// The factors from latents to coefficients, given the logarithms of the coefficients' standard
    /// deviations.
    pub(crate) fn factors(&self, amplitudes: &[f64]) -> Vec<f64> {
        let own = self.shares.iter().zip(&self.references);
        let pairs = amplitudes.iter().zip(own);
        let logs = pairs.map(|(log, (share, reference))| log - (log - reference) * share);
        logs.map(f64::exp).collect()
    }

    /// The logarithms of the factors from latents to coefficients, and of the latents' scale.
    pub(crate) fn logs<'g>(&self, amplitudes: Expr<'g>) -> [Expr<'g>; 2] {
        let graph = amplitudes.graph();
        let width = self.shares.len();
        let shares = graph.constant([width], &self.shares);
        let prior = (amplitudes - graph.constant([width], &self.references)) * shares;
        [amplitudes - prior, prior]
    }
}

/// The information of a typical row on its linear predictor, in units: one over the noise variance.
pub(crate) fn row_information(link: Link) -> f64 {
    match link {
        Link::Identity => 4.0,
        Link::Log => 1.0,
        Link::Logit => 0.2,
        // The curvature of cumulative probits in the middle, corresponding to 0.25 for logits.
        Link::Probit => 0.5,
        // For directions of concentration 1: η changes them by up to twice as much.
        Link::TanHalf => 2.0,
    }
}
