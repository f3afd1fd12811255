//! The chain itself: one leapfrog for every annealed method and for states of any shape.

use lehr_graph::{Expr, Shape};

use super::quantity::Quantities;

/// The log densities between which a chain is annealed, and the source of its randomness.
///
/// A state x is `[D]` for one chain, or `[B, d]` for a chain per row. Log densities are then one
/// number, or `[B]`, each a function of its own row of x alone.
pub(crate) trait Path<'g> {
    /// The log density at the end of the path, as used in step `k`.
    fn target(&self, k: usize, x: Expr<'g>) -> Expr<'g>;

    /// The log density at the start of the path, up to a constant.
    fn base(&self, x: Expr<'g>) -> Expr<'g>;

    /// Fresh standard normal numbers.
    fn noise(&self, name: &str, shape: Shape) -> Expr<'g>;
}

/// Leapfrog steps along a path.
pub(crate) struct Chain<'a, 'g> {
    pub(crate) path: &'a dyn Path<'g>,
    pub(crate) quantities: &'a Quantities<'g>,
    /// K
    pub(crate) steps: usize,
}

/// Position and momentum, the latter in units of its standard deviation.
#[derive(Clone, Copy)]
pub(crate) struct State<'g> {
    pub(crate) x: Expr<'g>,
    pub(crate) p: Expr<'g>,
}

/// The end of a chain, or its start if it was run backwards.
#[derive(Clone, Copy)]
pub(crate) struct End<'g> {
    pub(crate) x: Expr<'g>,
    /// Σ log N(v̂ₖ) − log N(vₖ), one for each chain.
    pub(crate) log_weight: Expr<'g>,
}

impl<'g> Chain<'_, 'g> {
    /// The momentum that the first step (0) or a later one is refreshed with.
    pub(crate) fn momentum(&self, k: usize, shape: Shape) -> Expr<'g> {
        self.path.noise(&format!("momentum {k}"), shape)
    }

    /// All steps.
    pub(crate) fn run(&self, mut state: State<'g>, mut log_weight: Expr<'g>) -> End<'g> {
        for k in 0..self.steps {
            let kicked = self.leapfrog(k, state);
            log_weight = log_weight + 0.5 * (each(state.p.square()) - each(kicked.p.square()));
            state = State {
                p: self.refreshed(k, kicked.p),
                ..kicked
            };
        }
        End {
            x: state.x,
            log_weight,
        }
    }

    /// All steps backwards from the end of a chain, with fresh momenta on the way. A leapfrog step
    /// is its own inverse once the momentum is reversed, and so is its refreshment.
    pub(crate) fn reversed(&self, end: Expr<'g>) -> End<'g> {
        let (mut x, mut p) = (end, self.momentum(self.steps, end.shape()));
        let mut log_weight = each(end.square()) * 0.0;
        for k in (0..self.steps).rev() {
            let before = self.leapfrog(k, State { x, p: -p });
            log_weight = log_weight + 0.5 * (each(before.p.square()) - each(p.square()));
            (x, p) = (before.x, -before.p);
            if k > 0 {
                p = self.renewed(k, p);
            }
        }
        End { x, log_weight }
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
        // β multiplies the slopes and not the log likelihood: D numbers to scale instead of one per
        // row.
        let slope = |log_density: Expr<'g>| x.graph().grad(log_density.sum(), &[half])[0];
        let target = slope(self.path.target(k, half));
        let base = slope(self.path.base(half));
        let p = p + move_by * (beta * target + (1.0 - beta) * base);
        State {
            x: half + 0.5 * (move_by * p),
            p,
        }
    }

    /// v = γv̂ + √(1−γ²)ε; the momentum after the last step is not used.
    fn refreshed(&self, k: usize, p: Expr<'g>) -> Expr<'g> {
        if k + 1 == self.steps {
            return p;
        }
        self.renewed(k + 1, p)
    }

    fn renewed(&self, k: usize, p: Expr<'g>) -> Expr<'g> {
        let noise = self.momentum(k, p.shape());
        self.quantities.kept * p + self.quantities.renewed * noise
    }
}

/// The sum over the coordinates of each chain.
pub(crate) fn each(values: Expr<'_>) -> Expr<'_> {
    match values.shape().rank() {
        0 | 1 => values.sum(),
        rank => values.sum_axis(rank - 1),
    }
}

#[cfg(test)]
mod tests;
