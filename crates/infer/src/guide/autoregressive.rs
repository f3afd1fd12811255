//! `iaf`: an inverse autoregressive flow, layers of masked networks.

use std::sync::Arc;

use lehr_graph::Expr;
use lehr_numeric::stream::Stream;
use serde::{Deserialize, Serialize};

use super::base::{BaseInfo, Covariance, Image, restored};
use super::flow::{Flow, FlowBase, FlowMap};
use super::{Block, Context};

/// The row of this base.
pub(super) static INFO: BaseInfo = BaseInfo {
    name: "iaf",
    help: "a Gaussian bent by an inverse autoregressive flow",
    covariance: Covariance::Full,
    is_gaussian: false,
    new: || Arc::new(FlowBase::<Autoregressive>::default()),
    restore: restored::<FlowBase<Autoregressive>>,
};

/// y = T(x), a few autoregressive layers (Kingma et al. 2016):
///
/// ```text
/// h₁ = tanh((W₁∘M₁)x + b₁)   h₂ = tanh((W₂∘M₂)h₁ + b₂)
/// μ = (W₃∘M₃)h₂ + b₃         s = 3 tanh(((W₄∘M₃)h₂ + b₄)/3)
/// y = μ + eˢ∘x               J += Σᵢ sᵢ
/// ```
///
/// yᵢ depends on xⱼ for j < i in the first layer, for j > i in the next, and so on. W₃ and W₄
/// start at zero, where T is the identity: the flow starts exactly at its Gaussian.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Autoregressive {
    /// How many layers there are.
    pub layers: usize,
    /// Units of each hidden layer.
    pub width: usize,
}

impl Default for Autoregressive {
    fn default() -> Self {
        Autoregressive {
            layers: 2,
            width: 64,
        }
    }
}

/// The largest |s|.
const MOST: f64 = 3.0;

/// A layer of the flow.
#[derive(Clone, Copy)]
struct Layer {
    place: usize,
    size: usize,
    width: usize,
}

impl Autoregressive {
    fn each_layer(self, size: usize) -> impl Iterator<Item = Layer> {
        (0..self.layers).map(move |place| Layer {
            place,
            size,
            width: self.width,
        })
    }
}

impl Flow for Autoregressive {
    fn info() -> &'static BaseInfo {
        &INFO
    }

    fn blocks(&self, size: usize) -> Vec<Block> {
        self.each_layer(size).flat_map(Layer::blocks).collect()
    }

    fn write<'g>(
        &self,
        context: &Context<'g, '_>,
        weights: &[Expr<'g>],
    ) -> Box<dyn FlowMap<'g> + 'g> {
        let layers = self.each_layer(context.density().latents().size());
        let own = weights.chunks_exact(Layer::BLOCKS);
        let networks = layers.zip(own);
        let networks = networks.map(|(layer, own)| layer.network(context, own));
        Box::new(Layers(networks.collect()))
    }
}

/// The layers within one program.
struct Layers<'g>(Vec<Network<'g>>);

impl<'g> FlowMap<'g> for Layers<'g> {
    fn apply(&self, x: Expr<'g>) -> Image<'g> {
        let start = Image {
            latents: x,
            log_volume: x.graph().full((), 0.0),
        };
        self.0.iter().fold(start, |at, network| {
            let (y, log_scale) = network.apply(at.latents);
            Image {
                latents: y,
                log_volume: at.log_volume + log_scale.sum(),
            }
        })
    }
}

/// The masked weights of one layer.
struct Network<'g> {
    first: Affine<'g>,
    second: Affine<'g>,
    location: Affine<'g>,
    log_scale: Affine<'g>,
}

/// A matrix and a shift.
struct Affine<'g>(Expr<'g>, Expr<'g>);

impl<'g> Affine<'g> {
    fn apply(&self, x: Expr<'g>) -> Expr<'g> {
        self.0.dot(x) + self.1
    }
}

impl<'g> Network<'g> {
    /// y and s.
    fn apply(&self, x: Expr<'g>) -> (Expr<'g>, Expr<'g>) {
        let hidden = self.second.apply(self.first.apply(x).tanh()).tanh();
        let raw = self.log_scale.apply(hidden);
        let log_scale = MOST * (raw * (1.0 / MOST)).tanh();
        (self.location.apply(hidden) + log_scale.exp() * x, log_scale)
    }
}

impl Layer {
    /// How many learned blocks a layer has.
    const BLOCKS: usize = 8;

    /// W₁, b₁, W₂, b₂, W₃, b₃, W₄, b₄
    fn blocks(self) -> [Block; Layer::BLOCKS] {
        let (size, width) = (self.size, self.width);
        let name = |part: &str| format!("flow_{}_{part}", self.place);
        let zeros = |part: &str, dims: &[usize]| Block::filled(&name(part), dims, 0.0);
        [
            self.random("first", size),
            zeros("first_shift", &[width]),
            self.random("second", width),
            zeros("second_shift", &[width]),
            zeros("location", &[size, width]),
            zeros("location_shift", &[size]),
            zeros("log_scale", &[size, width]),
            zeros("log_scale_shift", &[size]),
        ]
    }

    /// Weights of so many inputs each, from N(0, 1/inputs).
    fn random(self, part: &str, inputs: usize) -> Block {
        let stream = Stream::new(0, &format!("flow {part}"), self.place as u64);
        let name = format!("flow_{}_{part}", self.place);
        let scale = (inputs as f64).powf(-0.5);
        Block::random(&name, &[self.width, inputs], stream, scale)
    }

    /// The network of these weights, in the order of the blocks.
    fn network<'g>(self, context: &Context<'g, '_>, weights: &[Expr<'g>]) -> Network<'g> {
        let &[w1, b1, w2, b2, w3, b3, w4, b4] = weights else {
            unreachable!("a layer has {} blocks", Layer::BLOCKS)
        };
        let masks = Masks::new(self);
        let masked = |weights: Expr<'g>, mask: &Arc<[f64]>| {
            weights * context.fixed("flow_mask", weights.shape(), mask)
        };
        Network {
            first: Affine(masked(w1, &masks.first), b1),
            second: Affine(masked(w2, &masks.second), b2),
            location: Affine(masked(w3, &masks.last), b3),
            log_scale: Affine(masked(w4, &masks.last), b4),
        }
    }
}

/// Masks of a layer's weights: one, or zero for weights that would violate the order.
struct Masks {
    first: Arc<[f64]>,
    second: Arc<[f64]>,
    last: Arc<[f64]>,
}

impl Masks {
    /// By degrees: input i has degree i, counted from the other end in every second layer; hidden
    /// unit j has j mod (D − 1). A unit reads inputs of at most its own degree, an output reads
    /// units of lower degree.
    fn new(layer: Layer) -> Masks {
        let Layer { place, size, width } = layer;
        let of_input = |i: usize| if place % 2 == 0 { i } else { size - 1 - i };
        let of_hidden = |j: usize| j % (size - 1).max(1);
        let mask = |rows: usize, columns: usize, sees: &dyn Fn(usize, usize) -> bool| {
            let entry = |at: usize| f64::from(u8::from(sees(at / columns, at % columns)));
            (0..rows * columns).map(entry).collect()
        };
        Masks {
            first: mask(width, size, &|j, i| size > 1 && of_hidden(j) >= of_input(i)),
            second: mask(width, width, &|j, k| of_hidden(j) >= of_hidden(k)),
            last: mask(size, width, &|i, k| of_input(i) > of_hidden(k)),
        }
    }
}
