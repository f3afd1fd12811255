//! Draws of quantities that the model has not observed: latents from the prior, responses of rows.

use lehr_density::{Density, Predictor, RowPrediction, Site};
use lehr_graph::Graph;
use lehr_graph::reference::{InputValues, evaluate};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use thiserror::Error;

use crate::bound::Bound;
use crate::distribution::draw_batch;
use crate::evaluation::ReplayInputs;
use crate::program::Program;
use crate::statement::{RecordedDistribution, Statement};

/// A prior from which no usable draw was obtained.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PriorError {
    /// All draws lie on the edge of the support.
    #[error(
        "site {name:?}: expected draws strictly inside the support, found none in 100\n  \
         hint: the prior puts nearly all its mass on the edge; give it a larger scale or shape"
    )]
    Edge {
        /// The site.
        name: String,
    },
    /// The prior is flat.
    #[error(
        "site {name:?}: expected a prior that can be drawn from, found a flat one\n  \
         hint: only a posterior has draws under a flat prior; give the site a proper one, as \
         normal(0, 10)"
    )]
    Flat {
        /// The site.
        name: String,
    },
}

/// How often a draw on the edge of its support is repeated.
const MOST_DRAWS: usize = 100;

impl Program {
    /// A draw of the prior as a flat unconstrained vector, at the parameters `params` (flat and
    /// unconstrained, too). Factors are ignored, because they cannot be drawn from.
    pub fn draw_prior(&self, params: &[f64], random: &mut dyn Rng) -> Result<Vec<f64>, PriorError> {
        let graph = Graph::new();
        let params = self
            .params()
            .constrain(graph.constant([params.len()], params));
        let mut random = ChaCha8Rng::seed_from_u64(random.next_u64());
        let (mut latents, mut flat) = (Vec::new(), Vec::with_capacity(self.latents().size()));
        for statement in &self.parts.statements {
            let Statement::Sample { site, law, .. } = statement else {
                continue;
            };
            let site = &self.latents().sites()[*site];
            let values = ReplayInputs {
                latents: &latents,
                params: &params.values,
                locals: &[],
                rows: None,
            };
            let parameters = self.law_numbers(&graph, law, &values);
            let (value, free) = draw_site(site, law, &parameters, &mut random)?;
            flat.extend(free);
            latents.push(graph.constant(site.shape(), &value));
        }
        Ok(flat)
    }

    /// The parameters of a law, if all their inputs are constant.
    fn law_numbers<'g>(
        &self,
        graph: &'g Graph,
        law: &RecordedDistribution,
        values: &ReplayInputs<'_, 'g>,
    ) -> Vec<Vec<f64>> {
        let outputs: Vec<usize> = law.parameters.iter().map(|p| p.output).collect();
        let parameters = self.replay_outputs(graph, &outputs, values);
        evaluate(&parameters, &InputValues::new(), 1)
    }
}

/// A draw of a site, on its own scale and on the unconstrained scale.
fn draw_site(
    site: &Site,
    law: &RecordedDistribution,
    parameters: &[Vec<f64>],
    random: &mut dyn Rng,
) -> Result<(Vec<f64>, Vec<f64>), PriorError> {
    let parameters: Vec<&[f64]> = parameters.iter().map(Vec::as_slice).collect();
    let mut value = vec![0.0; site.shape().size()];
    for _ in 0..MOST_DRAWS {
        draw_batch(law.family.0, &parameters, law.batch, random, &mut value);
        if let Ok(free) = site.support.unconstrain_values(&value) {
            return Ok((value, free));
        }
    }
    let name = site.name.clone();
    Err(if law.is_flat() {
        PriorError::Flat { name }
    } else {
        PriorError::Edge { name }
    })
}

impl Bound {
    /// A draw of the prior, as [`Program::draw_prior`].
    pub fn draw_prior(&self, params: &[f64], random: &mut dyn Rng) -> Result<Vec<f64>, PriorError> {
        self.program().draw_prior(params, random)
    }

    /// One data set for all rows of the table, drawn from the prior at the parameters' start.
    pub fn prior_predictive(&self, random: &mut dyn Rng) -> Result<Vec<RowPrediction>, PriorError> {
        let params = self.params().start();
        let latents = self.draw_prior(params, random)?;
        Ok(self.posterior_predictive(&latents, params, random))
    }

    /// One data set for all rows of the table, given a draw of the posterior. For many draws, or
    /// for the rows of another table ([`Bound::rows_of`]), use a [`Predictor`].
    pub fn posterior_predictive(
        &self,
        latents: &[f64],
        params: &[f64],
        random: &mut dyn Rng,
    ) -> Vec<RowPrediction> {
        Predictor::of_all_rows(self).draw_responses(latents, params, random)
    }
}
