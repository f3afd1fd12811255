//! Numeric draws of what a model has not seen: latents from the prior, responses of rows.

use std::cell::RefCell;

use lehr_density::{Density, Predicted, Predictor};
use lehr_graph::Graph;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use thiserror::Error;

use crate::bound::Bound;
use crate::supply::{Drawn, Supply, by_name};

/// A prior from which no usable draw was found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "site {name:?}: expected draws strictly inside the support, found none in 100\n  hint: the prior puts nearly all its mass on the edge; give it a larger scale or shape"
)]
pub struct PriorError {
    /// The site.
    pub name: String,
}

impl Bound {
    /// A draw of the prior as a flat unconstrained vector, at the parameters `params` (flat
    /// and unconstrained too). Factors are not part of it: nothing can be drawn from them.
    pub fn draw_prior(&self, params: &[f64], random: &mut dyn Rng) -> Result<Vec<f64>, PriorError> {
        let graph = Graph::new();
        let theta = graph.constant([params.len()], params);
        let drawn = Drawn {
            params: by_name(self.params(), theta),
            random: RefCell::new(ChaCha8Rng::seed_from_u64(random.next_u64())),
            free: RefCell::default(),
        };
        let free = self.trace_drawn(&graph, drawn);
        let mut flat = Vec::with_capacity(self.latents().size());
        for (name, draw) in free {
            flat.extend(draw.ok_or(PriorError { name })?);
        }
        Ok(flat)
    }

    /// One data set of all rows of the table, drawn from the prior at the parameters' start.
    pub fn prior_predictive(&self, random: &mut dyn Rng) -> Result<Vec<Predicted>, PriorError> {
        let params = self.params().start();
        let latents = self.draw_prior(params, random)?;
        Ok(self.posterior_predictive(&latents, params, random))
    }

    /// One data set of all rows of the table, given a draw of the posterior. For many draws, or
    /// for the rows of another table ([`Bound::rows_of`]), keep a [`Predictor`].
    pub fn posterior_predictive(
        &self,
        latents: &[f64],
        params: &[f64],
        random: &mut dyn Rng,
    ) -> Vec<Predicted> {
        Predictor::of_all_rows(self).draw(latents, params, random)
    }

    fn trace_drawn<'g>(
        &self,
        graph: &'g Graph,
        drawn: Drawn<'g>,
    ) -> Vec<(String, Option<Vec<f64>>)> {
        let supply = Supply::Drawn(Box::new(drawn));
        match self.trace_with(graph, supply) {
            Supply::Drawn(drawn) => drawn.free.into_inner(),
            _ => unreachable!("the supply that was given"),
        }
    }
}
