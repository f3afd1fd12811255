//! `bnaf`: a block neural autoregressive flow, the paper's Flow.

use std::sync::Arc;

use lehr_graph::Expr;
use lehr_numeric::stream::Stream;
use serde::{Deserialize, Serialize};

use super::base::{BaseInfo, Covariance, Image, restored};
use super::flow::{Flow, FlowBase, FlowMap};
use super::{Block, Context};

/// The row of this base.
pub(super) static INFO: BaseInfo = BaseInfo {
    name: "bnaf",
    help: "a Gaussian bent by a block neural autoregressive flow",
    covariance: Covariance::Full,
    is_gaussian: false,
    new: || Arc::new(FlowBase::<BlockNeural>::default()),
    restore: restored::<FlowBase<BlockNeural>>,
};

/// y = T(x), a network with a units of each hidden layer per latent (de Cao, Aziz & Titov 2020).
/// With raw W, Mᵈ the blocks on the diagonal and Mᵒ those below:
///
/// ```text
/// w = exp(W)∘Mᵈ + W∘Mᵒ;   wⱼ ← e^{sⱼ} wⱼ/‖wⱼ‖ for every unit j;   τ(p) = tanh p + 0.01 p
/// p₁ = w₁x + b₁    p₂ = w₂τ(p₁) + b₂    o = w₃τ(p₂) + b₃
/// d₁ = τ′(p₁)∘w₁ᵈ  d₂ = τ′(p₂)∘(w₂ᵈd₁)  d₃ = w₃ᵈ·d₂           block by block
/// y = (1 − g)x + g·o,  g = sigmoid(gate);   J = Σᵢ ln((1 − g) + g d₃ᵢ)
/// ```
///  All d are positive and τ′ is at least 0.01, so that no logarithm but the last is needed. The
///  gate starts almost closed, where T is the identity to within 2 %, and it keeps the tails
///  linear. Without a gate y = o, as in the paper, and the start is far from any Gaussian.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockNeural {
    /// a
    pub units: usize,
    /// Whether there is a gate.
    pub gated: bool,
}

impl Default for BlockNeural {
    fn default() -> Self {
        BlockNeural {
            units: 8,
            gated: true,
        }
    }
}

/// The linear part of τ.
const LEAK: f64 = 0.01;
/// s at the start, and the gate.
const LOG_NORM: f64 = -0.3;
const GATE: f64 = -4.0;

/// A layer of blocks: units per latent after it and before it.
#[derive(Clone, Copy)]
struct Layer {
    name: &'static str,
    size: usize,
    after: usize,
    before: usize,
}

impl BlockNeural {
    fn layers(self, size: usize) -> [Layer; 3] {
        let layer = |name, after, before| Layer {
            name,
            size,
            after,
            before,
        };
        [
            layer("first", self.units, 1),
            layer("second", self.units, self.units),
            layer("last", 1, self.units),
        ]
    }
}

impl Flow for BlockNeural {
    fn info() -> &'static BaseInfo {
        &INFO
    }

    fn blocks(&self, size: usize) -> Vec<Block> {
        let layers = self.layers(size);
        let mut blocks: Vec<Block> = layers.into_iter().flat_map(Layer::blocks).collect();
        if self.gated {
            blocks.push(Block::filled("flow_gate", &[], GATE));
        }
        blocks
    }

    fn write<'g>(
        &self,
        context: &Context<'g, '_>,
        weights: &[Expr<'g>],
    ) -> Box<dyn FlowMap<'g> + 'g> {
        let size = context.density().latents().size();
        let masks = Masks::new(context, size);
        let layers = self.layers(size);
        let own = |k: usize| layers[k].affine(&weights[3 * k..3 * k + 3], &masks);
        Box::new(Network {
            first: own(0),
            second: own(1),
            last: own(2),
            gate: weights.get(9).map(|gate| gate.sigmoid()),
        })
    }
}

impl Layer {
    /// W, s and b
    fn blocks(self) -> [Block; 3] {
        let (rows, columns) = (self.size * self.after, self.size * self.before);
        let stream = Stream::new(0, &format!("block flow {}", self.name), 0);
        let scale = (columns as f64).powf(-0.5);
        let name = |part: &str| format!("flow_{}{part}", self.name);
        [
            Block::random(&name(""), &[rows, columns], stream, scale),
            Block::filled(&name("_log_norm"), &[rows], LOG_NORM),
            Block::filled(&name("_shift"), &[rows], 0.0),
        ]
    }

    /// The normalised matrix, its diagonal blocks and the shift.
    fn affine<'g>(self, weights: &[Expr<'g>], masks: &Masks<'g>) -> Affine<'g> {
        let Layer {
            size,
            after,
            before,
            ..
        } = self;
        let rows = size * after;
        let raw = weights[0].reshape([size, after, size, before]);
        // The exponential is applied to the blocks alone, not to entries that a mask hides.
        let blocks = (raw * masks.diagonal).sum_axis(2).exp();
        let spread = blocks.reshape([size, after, 1, before]) * masks.diagonal;
        let whole = (spread + raw * masks.below).reshape([rows, size * before]);
        let scale = weights[1].exp() / whole.square().sum_axis(1).sqrt();
        Affine {
            matrix: whole * scale.reshape([rows, 1]),
            blocks: blocks * scale.reshape([size, after, 1]),
            shift: weights[2],
        }
    }
}

/// Masks of the blocks, `[D, 1, D, 1]`.
struct Masks<'g> {
    diagonal: Expr<'g>,
    below: Expr<'g>,
}

impl<'g> Masks<'g> {
    fn new(context: &Context<'g, '_>, size: usize) -> Masks<'g> {
        let mask = |name: &str, sees: fn(usize, usize) -> bool| {
            let entry = |at: usize| f64::from(u8::from(sees(at / size, at % size)));
            let values: Arc<[f64]> = (0..size * size).map(entry).collect();
            context
                .fixed(name, [size, size], &values)
                .reshape([size, 1, size, 1])
        };
        Masks {
            diagonal: mask("flow_diagonal", |i, j| i == j),
            below: mask("flow_below", |i, j| i > j),
        }
    }
}

/// w, its blocks wᵈ as `[D, after, before]`, and b.
struct Affine<'g> {
    matrix: Expr<'g>,
    blocks: Expr<'g>,
    shift: Expr<'g>,
}

impl<'g> Affine<'g> {
    fn apply(&self, x: Expr<'g>) -> Expr<'g> {
        self.matrix.dot(x) + self.shift
    }

    /// wᵈ d of every block, d as `[D, before]`.
    fn slopes(&self, slopes: Expr<'g>) -> Expr<'g> {
        let [size, _, before] = *self.blocks.shape().dims() else {
            unreachable!("blocks are matrices")
        };
        (self.blocks * slopes.reshape([size, 1, before])).sum_axis(2)
    }
}

struct Network<'g> {
    first: Affine<'g>,
    second: Affine<'g>,
    last: Affine<'g>,
    /// g
    gate: Option<Expr<'g>>,
}

/// τ(p) and τ′(p).
fn bent(p: Expr<'_>) -> (Expr<'_>, Expr<'_>) {
    let tanh = p.tanh();
    (tanh + LEAK * p, (1.0 + LEAK) - tanh.square())
}

impl<'g> FlowMap<'g> for Network<'g> {
    fn apply(&self, x: Expr<'g>) -> Image<'g> {
        let size = x.shape().size();
        let slopes = |of: Expr<'g>, through: Expr<'g>| {
            let units = of.shape().size() / size;
            of.reshape([size, units]) * through
        };
        let (hidden, slope) = bent(self.first.apply(x));
        let ones = x.graph().full([size, 1], 1.0);
        let d1 = slopes(slope, self.first.slopes(ones));
        let (hidden, slope) = bent(self.second.apply(hidden));
        let d2 = slopes(slope, self.second.slopes(d1));
        let out = self.last.apply(hidden);
        let d3 = self.last.slopes(d2).reshape([size]);
        let (latents, d) = match self.gate {
            Some(gate) => ((1.0 - gate) * x + gate * out, (1.0 - gate) + gate * d3),
            None => (out, d3),
        };
        Image {
            latents,
            log_volume: d.ln().sum(),
        }
    }
}
