//! The horseshoe prior, composed of other distributions.

use lehr_graph::{Expr, Shape};

use super::{Distribution, ExpandedDistribution, HalfCauchy, Normal, Value};

/// A prior for many coefficients, only few of which matter (Carvalho, Polson & Scott 2010),
/// non-centred:
///
/// ```text
/// coefficient = direction · local · global
/// direction ~ N(0, 1), local ~ HalfCauchy(1), global ~ HalfCauchy(global_scale)
/// ```
///  It is not a single density: sample its three sites under your own names and pass them to
///  [`Horseshoe::coefficients`]. With a slab, large coefficients are shrunk as by N(0, slab²)
///  (Piironen & Vehtari 2017), which keeps weakly identified ones finite.
#[derive(Clone, Debug)]
pub struct Horseshoe<'g> {
    shape: Shape,
    global_scale: Value<'g>,
    slab: Option<Value<'g>>,
}

impl<'g> Horseshoe<'g> {
    /// The prior of an array of coefficients. With n rows of noise σ and about m relevant
    /// coefficients among D, a good `global_scale` is σ m/((D − m) √n).
    pub fn new(shape: impl Into<Shape>, global_scale: impl Into<Value<'g>>) -> Self {
        Horseshoe {
            shape: shape.into(),
            global_scale: global_scale.into(),
            slab: None,
        }
    }

    /// The same with a slab of this standard deviation.
    pub fn with_slab(mut self, scale: impl Into<Value<'g>>) -> Self {
        self.slab = Some(scale.into());
        self
    }

    /// The site of standardised coefficients.
    pub fn direction(&self) -> ExpandedDistribution<Normal<'g>> {
        Normal::new(0.0, 1.0).expand(self.shape)
    }

    /// The site of local scales, one per coefficient.
    pub fn local(&self) -> ExpandedDistribution<HalfCauchy<'g>> {
        HalfCauchy::new(1.0).expand(self.shape)
    }

    /// The site of the global scale.
    pub fn global(&self) -> HalfCauchy<'g> {
        HalfCauchy::new(self.global_scale.clone())
    }

    /// The coefficients from draws of the three sites.
    pub fn coefficients(&self, direction: Expr<'g>, local: Expr<'g>, global: Expr<'g>) -> Expr<'g> {
        let scale = local * global;
        let Some(slab) = &self.slab else {
            return direction * scale;
        };
        // c s/√(c² + s²) with s = λτ, as s/√(1 + (s/c)²)
        let excess = (scale / slab.on_graph(direction.graph())).square();
        direction * scale * (excess + 1.0).sqrt().recip()
    }
}
