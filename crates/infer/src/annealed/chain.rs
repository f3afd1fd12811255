//! The chain itself: one leapfrog for every annealed method.

use lehr_graph::Expr;

use super::drive::Driving;
use super::quantity::Quantities;
use super::{Annealed, Momentum};
use crate::guide::{Context, Drawn, Gaussian};

/// A chain within one program.
///
/// The state x is z itself, or the whitened z under [`Momentum::Whitened`], z = μ + F x. A
/// linear change of coordinates only renames momentum, so the weight is the same expression.
pub(super) struct Chain<'a, 'g, 'd> {
    guide: &'a Annealed,
    context: &'a Context<'g, 'd>,
    base: Box<dyn Gaussian<'g> + 'g>,
    driving: Driving<'a, 'g, 'd>,
    quantities: Quantities<'g>,
    coordinates: Coordinates,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Coordinates {
    Own,
    Whitened,
}

/// Position and momentum, the latter in units of its standard deviation.
#[derive(Clone, Copy)]
struct State<'g> {
    x: Expr<'g>,
    p: Expr<'g>,
}

impl<'a, 'g, 'd> Chain<'a, 'g, 'd> {
    pub(super) fn new(guide: &'a Annealed, context: &'a Context<'g, 'd>) -> Chain<'a, 'g, 'd> {
        let base = guide.base.gaussian(context);
        let size = base.mean().shape().size();
        let whitens = base.unwhiten(base.mean()).is_some();
        Chain {
            coordinates: match guide.momentum {
                Momentum::Whitened if whitens => Coordinates::Whitened,
                _ => Coordinates::Own,
            },
            driving: Driving::new(&guide.drive, context),
            quantities: Quantities::new(&guide.start, context, size, guide.steps),
            guide,
            context,
            base,
        }
    }

    /// The whole chain: z_K, and −log q₀(z₀) + Σ log N(v̂ₖ) − log N(vₖ) as its weight.
    pub(super) fn run(&self) -> Drawn<'g> {
        let (mut state, mut log_weight) = self.start();
        for k in 0..self.guide.steps {
            let kicked = self.leapfrog(k, state);
            log_weight = log_weight + 0.5 * (state.p.square().sum() - kicked.p.square().sum());
            state = State {
                p: self.refreshed(k, kicked.p),
                ..kicked
            };
        }
        Drawn {
            latents: self.latents(state.x),
            log_weight,
        }
    }

    fn start(&self) -> (State<'g>, Expr<'g>) {
        let shape = self.base.mean().shape();
        let p = self.context.noise("momentum 0", shape);
        match self.coordinates {
            Coordinates::Own => {
                let drawn = self.base.draw(self.context);
                let x = drawn.latents;
                (State { x, p }, drawn.log_weight)
            }
            Coordinates::Whitened => {
                let x = self.context.noise("base_noise", shape);
                let log_weight = -self.base_log_density(x) + self.log_volume();
                (State { x, p }, log_weight)
            }
        }
    }

    /// log q₀ in the chain's coordinates; whitened, without the constant volume of the map.
    fn base_log_density(&self, x: Expr<'g>) -> Expr<'g> {
        match self.coordinates {
            Coordinates::Own => self.base.log_density(x),
            Coordinates::Whitened => -0.5 * x.square().sum(),
        }
    }

    /// ln |F| + ½D ln 2π: what −log q₀(z) has beyond ½|x|².
    fn log_volume(&self) -> Expr<'g> {
        -self.base.log_density(self.base.mean())
    }

    fn latents(&self, x: Expr<'g>) -> Expr<'g> {
        match self.coordinates {
            Coordinates::Own => x,
            Coordinates::Whitened => self.base.unwhiten(x).expect("chosen only if it can be"),
        }
    }

    /// One annealed leapfrog step (Jankowiak & Phan 2022, Algorithm 1, inner loop):
    ///
    /// ```text
    /// ẑ = z + ½η M⁻¹v                                   drift
    /// v̂ = v + η[β∇(Ψ₀ + Ψ̂)(ẑ) + (1−β)∇log q₀(ẑ)]        kick
    /// z = ẑ + ½η M⁻¹v̂                                   drift
    /// ```
    ///
    /// with p = M^(−½)v. Each line is a shear, so the map preserves volume for every η, β and M
    /// and the weight needs no Jacobian.
    fn leapfrog(&self, k: usize, State { x, p }: State<'g>) -> State<'g> {
        let beta = self.quantities.inverse_temperature(k);
        let step = self.quantities.step_size(beta);
        let move_by = step * self.quantities.per_deviation;
        let half = (x + 0.5 * (move_by * p)).anchor();
        // β joins the slopes, not the log likelihood: D numbers to scale and none per row.
        let slope = |log_density| self.context.graph().grad(log_density, &[half])[0];
        let target = slope(self.target(k, half));
        let base = slope(self.base_log_density(half));
        let p = p + move_by * (beta * target + (1.0 - beta) * base);
        State {
            x: half + 0.5 * (move_by * p),
            p,
        }
    }

    /// Ψ₀ + Ψ̂
    fn target(&self, k: usize, x: Expr<'g>) -> Expr<'g> {
        let at = self.context.at(self.latents(x));
        let prior = self.context.density().log_prior(&at);
        prior + self.driving.log_likelihood(k, &at)
    }

    /// v = γv̂ + √(1−γ²)ε; the momentum after the last step is not used.
    fn refreshed(&self, k: usize, p: Expr<'g>) -> Expr<'g> {
        if k + 1 == self.guide.steps {
            return p;
        }
        let noise = self
            .context
            .noise(&format!("momentum {}", k + 1), p.shape());
        self.quantities.kept * p + self.quantities.renewed * noise
    }
}
