//! The path of a chain over the latents: from its base to the prior times its drive.

use lehr_density::Point;
use lehr_graph::{Expr, Shape};

use super::chain::{Chain, Path, State, each};
use super::drive::DriveTerm;
use super::quantity::Quantities;
use super::{AnnealedGuide, Momentum};
use crate::guide::{Context, GuideDraw, Image, Transport, log_norm};

/// From q₀ to the posterior with Ψ̂ in place of its log likelihood.
///
/// The state x is z itself, or the point that the base maps to z under [`Momentum::Whitened`],
/// z = T(x). A change of coordinates adds ln |det T′(x)| to the target and makes q₀ a standard
/// normal.
pub(super) struct LatentPath<'a, 'g, 'd> {
    context: &'a Context<'g, 'd>,
    base: Box<dyn Transport<'g> + 'g>,
    driving: DriveTerm<'a, 'g, 'd>,
    /// Whether the chain moves the point that the base maps to z.
    whitens: bool,
}

impl<'a, 'g, 'd> LatentPath<'a, 'g, 'd> {
    pub(super) fn new(guide: &'a AnnealedGuide, context: &'a Context<'g, 'd>) -> Self {
        let base = guide.base.write(context);
        let zero = context.graph().full(base.shape(), 0.0);
        let whitens = match guide.momentum {
            Momentum::Whitened => base.map(zero).is_some(),
            // A base without a density of its own has no whitened coordinates.
            Momentum::Diagonal => base.log_density(zero).is_none(),
        };
        LatentPath {
            whitens,
            driving: DriveTerm::new(&guide.drive, context),
            context,
            base,
        }
    }

    /// The whole chain: z_K, with the weight −log q₀(z₀) + Σ log N(v̂ₖ) − log N(vₖ), and the
    /// Jacobian of the last point if the chain moves x.
    pub(super) fn run(&self, guide: &AnnealedGuide) -> GuideDraw<'g> {
        let shape = self.base.shape();
        let quantities = self.quantities(guide);
        let chain = self.chain(guide, &quantities);
        let p = chain.momentum(0, shape);
        if !self.whitens {
            let drawn = self.base.draw(self.context);
            let x = drawn.latents;
            let end = chain.run(State { x, p }, drawn.log_weight);
            return GuideDraw {
                latents: end.x,
                log_weight: end.log_weight,
            };
        }
        let x = self.context.noise("base_noise", shape);
        let end = chain.run(State { x, p }, 0.5 * x.square().sum() + log_norm(shape));
        let image = self.image(end.x);
        GuideDraw {
            latents: image.latents,
            log_weight: end.log_weight + image.log_volume,
        }
    }

    /// The weight of a chain that ends at these latents, drawn backwards from there; `None` if the
    /// base cannot be inverted at this point.
    pub(super) fn reversed(&self, guide: &AnnealedGuide, latents: Expr<'g>) -> Option<Expr<'g>> {
        let quantities = self.quantities(guide);
        let chain = self.chain(guide, &quantities);
        if !self.whitens {
            let start = chain.reversed(latents);
            return Some(start.log_weight - self.base.log_density(start.x)?);
        }
        let end = self.base.inverse(latents)?;
        let start = chain.reversed(end);
        let own = 0.5 * start.x.square().sum() + log_norm(self.base.shape());
        Some(start.log_weight + own + self.image(end).log_volume)
    }

    fn quantities(&self, guide: &AnnealedGuide) -> Quantities<'g> {
        let size = self.base.shape().size();
        Quantities::new(&guide.start, self.context, size, guide.steps)
    }

    fn chain<'c>(&'c self, guide: &AnnealedGuide, quantities: &'c Quantities<'g>) -> Chain<'c, 'g> {
        Chain {
            path: self,
            quantities,
            steps: guide.steps,
        }
    }

    fn image(&self, x: Expr<'g>) -> Image<'g> {
        self.base.map(x).expect("chosen only if there is a map")
    }

    /// Ψ₀ + Ψ̂
    fn posterior(&self, k: usize, at: &Point<'g>) -> Expr<'g> {
        self.context.density().log_prior(at) + self.driving.log_likelihood(k, at)
    }
}

impl<'g> Path<'g> for LatentPath<'_, 'g, '_> {
    fn target(&self, k: usize, x: Expr<'g>) -> Expr<'g> {
        if !self.whitens {
            return self.posterior(k, &self.context.at(x));
        }
        let image = self.image(x);
        self.posterior(k, &self.context.at(image.latents)) + image.log_volume
    }

    fn base(&self, x: Expr<'g>) -> Expr<'g> {
        if self.whitens {
            return -0.5 * each(x.square());
        }
        let log_density = self.base.log_density(x);
        log_density.expect("chosen only if there is one")
    }

    fn noise(&self, name: &str, shape: Shape) -> Expr<'g> {
        self.context.noise(name, shape)
    }
}
