//! `nn`: a network of the latents, without rows.

use std::sync::Arc;

use lehr_density::{Density, Point, StoredForm};
use lehr_graph::Expr;
use lehr_numeric::stream::Stream;
use serde::{Deserialize, Serialize};

use super::kind::{Maker, SurrogateRequest, check_latents, read};
use super::{Surrogate, SurrogateInfo, SurrogateKind};
use crate::bytes::stored;
use crate::error::SurrogateError;
use crate::guide::{Block, Context};

/// The row of this surrogate.
pub(super) static INFO: SurrogateInfo = SurrogateInfo {
    name: "nn",
    help: "a learned network of the latents, without rows; any likelihood",
    maker: &NetworkMaker,
};

/// The last layer starts at this small scale, so that Ψ̂ starts near zero.
const LAST_LAYER: f64 = 0.01;

/// Ψ̂(z) = w·elu(W₂ elu(W₁z + b₁) + b₂), all of it learned. A constant would have no effect: only
/// the gradient of Ψ̂ drives a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    latents: usize,
    hidden: usize,
    seed: u64,
}

impl Network {
    /// A network with two layers of `hidden` units.
    pub fn new(density: &dyn Density, hidden: usize, seed: u64) -> Network {
        Network {
            latents: density.latents().size(),
            hidden,
            seed,
        }
    }

    /// Weights whose scale preserves the size of a layer's values.
    fn layer(&self, name: &str, dims: &[usize], scale: f64) -> Block {
        let inputs = dims[dims.len() - 1];
        let factor = scale / (inputs as f64).sqrt();
        Block::random(name, dims, Stream::new(self.seed, name, 0), factor)
    }
}

impl Surrogate for Network {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn blocks(&self) -> Vec<Block> {
        let (latents, hidden) = (self.latents, self.hidden);
        vec![
            self.layer("surrogate_layer_1", &[hidden, latents], 1.0),
            Block::filled("surrogate_bias_1", &[hidden], 0.0),
            self.layer("surrogate_layer_2", &[hidden, hidden], 1.0),
            Block::filled("surrogate_bias_2", &[hidden], 0.0),
            self.layer("surrogate_layer_3", &[hidden], LAST_LAYER),
        ]
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        let learned: Vec<Expr<'g>> = self.blocks().iter().map(|b| context.learned(b)).collect();
        let first = (learned[0].dot(at.latents) + learned[1]).elu();
        let second = (learned[2].dot(first) + learned[3]).elu();
        (learned[4] * second).sum()
    }

    fn contents(&self) -> String {
        "no rows".to_owned()
    }

    fn store(&self) -> StoredForm {
        stored(self.name(), self)
    }
}

/// Makes `nn`.
struct NetworkMaker;

impl Maker for NetworkMaker {
    fn has_rows(&self) -> bool {
        false
    }

    fn build(&self, order: &SurrogateRequest<'_>) -> Result<Arc<dyn Surrogate>, SurrogateError> {
        let (hidden, seed) = (order.settings.hidden, order.setup.seed);
        Ok(Arc::new(Network::new(order.density, hidden, seed)))
    }

    fn restore(
        &self,
        _: SurrogateKind,
        bytes: &[u8],
        density: &dyn Density,
    ) -> Result<Arc<dyn Surrogate>, SurrogateError> {
        let network: Network = read(bytes)?;
        check_latents(network.latents, density)?;
        Ok(Arc::new(network))
    }
}
