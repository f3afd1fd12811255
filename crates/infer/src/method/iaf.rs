//! `iaf`: an inverse autoregressive flow, a Gaussian bent by masked networks.

use std::sync::Arc;

use lehr_density::Density;
use lehr_graph::Expr;
use lehr_numeric::stream::Stream;
use serde::{Deserialize, Serialize};

use super::{MethodInfo, Setting, parsed};

use crate::fit::{Choices, FitError};
use crate::guide::{self, Base, Block, Context, Drawn, Gradient, Guide};
use crate::train::{
    Groundwork, GuideParts, VariationalMethod, VariationalSettings, decoded, encoded, restore_guide,
};

/// The row of this method.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "iaf",
    aliases: &["flow"],
    help: "a Gaussian bent by an inverse autoregressive flow",
    needs: "",
    cost: "one mini-batch and two networks of 64 hidden units",
    when: "skewed posteriors and funnels with up to a few hundred latents",
    remedy: "raise flow-layers, or use nuts",
    reads_all_rows: false,
    new: || Box::new(Iaf::default()),
    restore: |bytes| {
        restore_guide(bytes, |bytes, _| {
            let (base, flow): (Arc<dyn Base>, Flow) = decoded(bytes)?;
            Ok(Box::new(Bent { base, flow }))
        })
    },
};

/// A Gaussian bent by an inverse autoregressive flow.
#[derive(Clone)]
pub struct Iaf {
    /// The flow.
    pub flow: Flow,
    /// What all variational methods have.
    pub variational: VariationalSettings,
}

impl Default for Iaf {
    fn default() -> Iaf {
        Iaf {
            flow: Flow::default(),
            variational: VariationalSettings::new(16, 2e-3),
        }
    }
}

impl VariationalMethod for Iaf {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn common(&self) -> &VariationalSettings {
        &self.variational
    }

    fn common_mut(&mut self) -> &mut VariationalSettings {
        &mut self.variational
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let Flow { layers, width } = &mut self.flow;
        let read = |to: &mut usize, text: &str| {
            *to = parsed(text, "a whole number")?;
            Ok(())
        };
        let mut settings = vec![
            Setting::new("flow-layers", "N", "layers of the flow", move |text| {
                read(layers, text)
            }),
            Setting::new(
                "flow-width",
                "N",
                "hidden units of each layer",
                move |text| read(width, text),
            ),
        ];
        settings.extend(self.variational.settings());
        settings
    }

    fn base(&self, density: &dyn Density) -> Arc<dyn Base> {
        const MOST_FULL: usize = 256;
        if density.latents().size() <= MOST_FULL {
            Arc::new(guide::FullRank::default())
        } else {
            Arc::new(guide::MeanField::default())
        }
    }

    fn has_layers(&self) -> bool {
        true
    }

    fn problem(&self) -> Option<String> {
        let empty = self.flow.layers == 0 || self.flow.width == 0;
        empty.then(|| "a flow without layers or units was asked for".into())
    }

    fn guide(
        &self,
        ground: &Groundwork<'_>,
        choices: &mut Choices,
    ) -> Result<GuideParts, FitError> {
        let (base, flow) = (ground.base.clone(), self.flow);
        choices.push(("flow layers".into(), flow.layers.to_string()));
        let bytes = encoded(&(&base, flow));
        Ok(GuideParts::new(Bent { base, flow }, bytes))
    }
}

/// z = B(T(x)) with x ~ N(0, 1), T a flow and B the map of a Gaussian.
pub struct Bent {
    /// B
    pub base: Arc<dyn Base>,
    /// T
    pub flow: Flow,
}

impl Guide for Bent {
    fn blocks(&self, density: &dyn Density) -> Vec<Block> {
        let mut blocks = self.base.blocks(density);
        blocks.extend(self.flow.blocks(density.latents().size()));
        blocks
    }

    /// The weight is ½|x|² + ½D ln 2π + J(x) + ln |det B|: no inverse is needed. The score term
    /// would need one, so the gradient is always the total one.
    fn draw<'g>(&self, context: &Context<'g, '_>, _: Gradient) -> Drawn<'g> {
        let base = self.base.write(context);
        let x = context.noise("base_noise", base.shape());
        let (y, log_volume) = self.flow.map(context, x);
        let image = base.map(y).expect("a Gaussian with a square factor");
        let volume = log_volume + image.log_volume;
        Drawn {
            latents: image.latents,
            log_weight: 0.5 * x.square().sum() + volume + guide::log_norm(base.shape()),
        }
    }
}

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
pub struct Flow {
    /// How many layers there are.
    pub layers: usize,
    /// Units of each hidden layer.
    pub width: usize,
}

impl Default for Flow {
    fn default() -> Self {
        Flow {
            layers: 2,
            width: 64,
        }
    }
}

/// The largest |s|.
const MOST: f64 = 3.0;

/// Which layer of the flow.
#[derive(Clone, Copy)]
struct Layer {
    place: usize,
    size: usize,
    width: usize,
}

impl Flow {
    fn each_layer(self, size: usize) -> impl Iterator<Item = Layer> {
        (0..self.layers).map(move |place| Layer {
            place,
            size,
            width: self.width,
        })
    }

    /// The learned weights.
    pub fn blocks(self, size: usize) -> Vec<Block> {
        self.each_layer(size).flat_map(Layer::blocks).collect()
    }

    /// T(x) and J(x) = ln |det T′(x)|.
    pub fn map<'g>(self, context: &Context<'g, '_>, x: Expr<'g>) -> (Expr<'g>, Expr<'g>) {
        let start = (x, x.graph().full((), 0.0));
        let layers = self.each_layer(x.shape().size());
        layers.fold(start, |(x, volume), layer| {
            let (y, log_scale) = layer.network(context).apply(x);
            (y, volume + log_scale.sum())
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
    /// W₁, b₁, W₂, b₂, W₃, b₃, W₄, b₄
    fn blocks(self) -> [Block; 8] {
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
        let mut weights = vec![0.0; self.width * inputs];
        Stream::new(0, &format!("flow {part}"), self.place as u64).fill_normal(&mut weights);
        let scale = (inputs as f64).powf(-0.5);
        for weight in &mut weights {
            *weight *= scale;
        }
        let name = format!("flow_{}_{part}", self.place);
        Block::new(&name, &[self.width, inputs], weights)
    }

    fn network<'g>(self, context: &Context<'g, '_>) -> Network<'g> {
        let [w1, b1, w2, b2, w3, b3, w4, b4] = self.blocks().map(|block| context.learned(&block));
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

/// Which weights of a layer there are: one, or zero for those that would look ahead.
struct Masks {
    first: Arc<[f64]>,
    second: Arc<[f64]>,
    last: Arc<[f64]>,
}

impl Masks {
    /// By degrees: input i has i, counted from the other end in every second layer; hidden unit
    /// j has j mod (D − 1). A unit sees what has at most its own degree, an output what has less.
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
