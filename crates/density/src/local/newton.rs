//! The normal approximation of a row's log density at its mode.

use lehr_graph::{Expr, Graph};

use super::Locals;
use crate::{Point, Rows};

/// Steps to the mode of the prior, and from there to the mode of the joint density.
const PRIOR_STEPS: Steps = Steps { wary: 2, plain: 1 };
const STEPS: Steps = Steps { wary: 3, plain: 2 };
/// Steps that lead near the mode.
const FEW: Steps = Steps { wary: 2, plain: 1 };
/// Clipped steps are at most this many scales long, and leaps at most this many clipped steps.
const LONGEST: f64 = 2.0;
const LEAP: f64 = 4.0;
/// The lower bound of one plus the growth of the curvature along a step.
const LEAST_GROWTH: f64 = 1e-3;

/// A normal distribution of a few numbers for each row: N(centre, (F Fᵀ)⁻¹).
#[derive(Clone, Debug)]
pub struct LocalNormal<'g> {
    /// The mean, one `[n]` per number.
    pub centre: Vec<Expr<'g>>,
    /// F, the lower Cholesky factor of the precision.
    pub factor: Factor<'g>,
}

/// A lower triangle in each row of the table: its rows, each up to the diagonal.
#[derive(Clone, Debug)]
pub struct Factor<'g>(Vec<Vec<Expr<'g>>>);

/// An affine map of a few numbers for each row: w = start + A t with an upper triangle A.
#[derive(Clone, Debug)]
pub struct LocalMap<'g> {
    start: Vec<Expr<'g>>,
    /// The rows of A, each from the diagonal on.
    spread: Vec<Vec<Expr<'g>>>,
}

/// The numbers of steps of a climb.
#[derive(Clone, Copy, Debug)]
struct Steps {
    /// Careful steps, each to the highest of several points.
    wary: usize,
    /// Third-order Newton steps that are taken if they lead up.
    plain: usize,
}

/// The gradient and the negative Hessian of a function of the numbers of each row.
struct Curve<'g> {
    /// The point at which they are taken.
    at: Vec<Expr<'g>>,
    slopes: Vec<Expr<'g>>,
    /// The lower triangle, row by row.
    bends: Vec<Vec<Expr<'g>>>,
}

/// The current point of a climb, and its height.
struct Stand<'g> {
    centre: Vec<Expr<'g>>,
    height: Expr<'g>,
}

impl<'g> LocalNormal<'g> {
    /// A standard normal around these numbers.
    pub fn standard_normal(graph: &'g Graph, rows: usize, around: &[f64]) -> LocalNormal<'g> {
        let full = |value| graph.full([rows], value);
        let entry = |i: usize, j: usize| full(f64::from(u8::from(i == j)));
        let row = |i: usize| (0..=i).map(|j| entry(i, j)).collect();
        LocalNormal {
            centre: around.iter().map(|value| full(*value)).collect(),
            factor: Factor((0..around.len()).map(row).collect()),
        }
    }

    /// The normal approximation at the mode of the prior of each row's latents.
    pub fn prior_normal(locals: &dyn Locals, at: &Point<'g>, rows: &Rows<'g>) -> LocalNormal<'g> {
        let start = LocalNormal::standard_normal(at.graph(), rows.len(), locals.layout().start());
        start.climb_from(PRIOR_STEPS, &|w| {
            locals.log_prior(at, &rows.carry_numbers(w))
        })
    }

    /// The normal approximation at the mode of the joint density of each row's latents and its
    /// response.
    pub fn posterior_normal(
        locals: &dyn Locals,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> LocalNormal<'g> {
        let joint = |w: &[Expr<'g>]| locals.log_joint(at, &rows.carry_numbers(w));
        LocalNormal::prior_normal(locals, at, rows).climb_from(STEPS, &joint)
    }

    /// As [`LocalNormal::posterior_normal`] by fewer steps, and differentiable in the variables of the
    /// joint density. It is at the mode of most rows, and on the way to it for rows far from what
    /// their prior expects. Suitable for results that are correct wherever the normal is centred.
    pub fn moving_posterior(
        locals: &dyn Locals,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> LocalNormal<'g> {
        let joint = |w: &[Expr<'g>]| locals.log_joint(at, &rows.carry_numbers(w));
        let prior = LocalNormal::prior_normal(locals, at, rows);
        let near = LocalNormal {
            centre: prior.find_summit(FEW, &joint),
            factor: prior.factor,
        };
        near.with_gradient(&joint)
    }

    /// The normal approximation at the mode of `log_density`, by `steps` from here. If the density
    /// is not concave, the present curvature is used.
    fn climb_from(
        &self,
        steps: Steps,
        log_density: &dyn Fn(&[Expr<'g>]) -> Expr<'g>,
    ) -> LocalNormal<'g> {
        let centre = self.find_summit(steps, log_density);
        let curve = Curve::at_point(log_density, &centre);
        LocalNormal {
            factor: curve.factor_precision(&self.factor),
            centre,
        }
    }

    /// The point that `steps` reach from here.
    fn find_summit(
        &self,
        steps: Steps,
        log_density: &dyn Fn(&[Expr<'g>]) -> Expr<'g>,
    ) -> Vec<Expr<'g>> {
        let mut stand = Stand {
            height: log_density(&self.centre),
            centre: self.centre.clone(),
        };
        for place in 0..steps.wary + steps.plain {
            let mut moves = self.newton_moves(&stand.centre, log_density);
            if place >= steps.wary {
                moves.truncate(1);
            }
            for other in moves {
                stand = stand.or_higher(other, log_density);
            }
        }
        stand.centre
    }

    /// The candidates of a step: the third-order Newton step; the same clipped; a quarter of that;
    /// a leap uphill.
    ///
    /// Newton's step assumes constant curvature. For aw − beʷ, for example, it overshoots by orders
    /// of magnitude on one side and is far too short on the other. The third-order step assumes
    /// that the curvature h grows as e^(κt) along the step, with κ from the third derivative, and
    /// ends at t = ln(1 + κ)/κ instead of 1. That is the mode of aw − beʷ from anywhere, and the
    /// mode of a normal density, where κ = 0.
    fn newton_moves(
        &self,
        centre: &[Expr<'g>],
        log_density: &dyn Fn(&[Expr<'g>]) -> Expr<'g>,
    ) -> Vec<Vec<Expr<'g>>> {
        let curve = Curve::at_point(log_density, centre);
        let factor = curve.factor_precision(&self.factor);
        let whole = factor.solve(&curve.slopes);
        let scales = factor.scales().into_iter().zip(self.factor.scales());
        let limits: Vec<Expr<'g>> = scales.map(|(a, b)| a.max(b) * LONGEST).collect();
        let pairs = || whole.iter().zip(&limits);
        let clipped: Vec<Expr<'g>> = pairs().map(|(s, m)| s.min(*m).max(-*m)).collect();
        let quarter = clipped.iter().map(|s| *s * 0.25).collect();
        let leap = pairs().map(|(s, m)| s.sign() * *m * LEAP).collect();
        let share = curve.step_share(&whole);
        let bent = whole.iter().map(|s| *s * share).collect();
        [bent, clipped, quarter, leap]
            .map(|step: Vec<Expr<'g>>| centre.iter().zip(step).map(|(w, s)| *w + s).collect())
            .to_vec()
    }

    /// The same normal with zero derivative.
    #[must_use]
    pub fn without_gradient(&self) -> LocalNormal<'g> {
        LocalNormal {
            centre: self.centre.iter().map(|w| w.stop_gradient()).collect(),
            factor: self.factor.without_gradient(),
        }
    }

    /// The normal approximation at the mode near this centre, differentiable in the variables of
    /// `log_density`. It is one Newton step, whose length at the mode is zero and whose derivative
    /// is that of the mode. Where there is no mode, the factor of this normal is used.
    fn with_gradient(&self, log_density: &dyn Fn(&[Expr<'g>]) -> Expr<'g>) -> LocalNormal<'g> {
        let here = self.without_gradient();
        let curve = Curve::at_point(log_density, &here.centre);
        let factor = curve.factor_precision(&here.factor);
        let still = factor.without_gradient();
        let limits = still.scales().into_iter().map(|scale| scale * LONGEST);
        // If Newton's method has not converged, the step is not short.
        let step = factor.solve(&curve.slopes).into_iter().zip(limits);
        let step = step.map(|(s, m)| s.min(m).max(-m));
        let centre: Vec<Expr<'g>> = here.centre.iter().zip(step).map(|(w, s)| *w + s).collect();
        LocalNormal {
            factor: Curve::at_point(log_density, &centre).factor_precision(&still),
            centre,
        }
    }

    /// The map t ↦ centre + F⁻ᵀ t.
    pub fn map(&self) -> LocalMap<'g> {
        LocalMap {
            start: self.centre.clone(),
            spread: self.factor.inverse_transposed(),
        }
    }

    /// The standard deviation of each number given the others, one `[n]` per number.
    pub fn scales(&self) -> Vec<Expr<'g>> {
        self.factor.scales()
    }

    /// ln |F|, `[n]`.
    pub fn log_determinant(&self) -> Expr<'g> {
        let diagonal = self.factor.0.iter().map(|row| row[row.len() - 1].ln());
        diagonal.reduce(|a, b| a + b).expect("a row has a number")
    }
}

impl<'g> Stand<'g> {
    /// In each row the other point, if that is higher.
    fn or_higher(
        self,
        other: Vec<Expr<'g>>,
        log_density: &dyn Fn(&[Expr<'g>]) -> Expr<'g>,
    ) -> Stand<'g> {
        let value = log_density(&other);
        // A comparison with NaN is false.
        let higher = self.height.less(value);
        let pairs = other.into_iter().zip(self.centre);
        Stand {
            height: higher.select(value, self.height),
            centre: pairs.map(|(far, near)| higher.select(far, near)).collect(),
        }
    }
}

impl<'g> Curve<'g> {
    fn at_point(log_density: &dyn Fn(&[Expr<'g>]) -> Expr<'g>, at: &[Expr<'g>]) -> Curve<'g> {
        // Equal nodes are merged into one node, so numbers that start equal get distinct anchors.
        let anchored =
            |(place, w): (usize, &Expr<'g>)| (0..place).fold(w.anchor(), |w, _| w.anchor());
        let at: Vec<Expr<'g>> = at.iter().enumerate().map(anchored).collect();
        let value = log_density(&at);
        let graph = value.graph();
        let along = |of: Expr<'g>, place: usize| {
            let unit = |k: usize| graph.full(at[k].shape(), f64::from(u8::from(k == place)));
            let direction: Vec<Expr<'g>> = (0..at.len()).map(unit).collect();
            graph.jvp(&[of], &at, &direction)[0]
        };
        let slopes: Vec<Expr<'g>> = (0..at.len()).map(|place| along(value, place)).collect();
        let bend = |i: usize| (0..=i).map(|j| -along(slopes[i], j)).collect();
        Curve {
            bends: (0..at.len()).map(bend).collect(),
            slopes,
            at,
        }
    }

    /// ln(1 + κ)/κ: the share of Newton's step p that leads to the mode if the curvature grows as
    /// e^(κt) along it. κ is the derivative of pᵀHp along p, divided by p·g.
    fn step_share(&self, newton: &[Expr<'g>]) -> Expr<'g> {
        const SMALL: f64 = 1e-4;
        let along: Vec<Expr<'g>> = newton.iter().map(|p| p.stop_gradient()).collect();
        let mut bend = None;
        for (i, row) in self.bends.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                let times = if i == j { 1.0 } else { 2.0 };
                let part = *entry * along[i] * along[j] * times;
                bend = Some(bend.map_or(part, |sum: Expr<'g>| sum + part));
            }
        }
        let graph = self.slopes[0].graph();
        let growth = graph.jvp(&[bend.expect("a row has a number")], &self.at, &along)[0];
        if growth.as_number() == Some(0.0) {
            return graph.scalar(1.0);
        }
        let pairs = self.slopes.iter().zip(&along);
        let rise = pairs.map(|(g, p)| *g * *p).reduce(|a, b| a + b);
        let kappa = growth / rise.expect("a row has a number");
        let kappa = kappa.max(graph.scalar(LEAST_GROWTH - 1.0));
        let is_small = kappa.abs().less(graph.scalar(SMALL));
        is_small.select(1.0 - 0.5 * kappa, kappa.log1p() / kappa)
    }

    /// The Cholesky factor of the negative Hessian; `otherwise` where there is none.
    fn factor_precision(&self, otherwise: &Factor<'g>) -> Factor<'g> {
        // An LDLᵀ factorisation first, so that no root is taken of a negative number.
        let mut left: Vec<Vec<Expr<'g>>> = Vec::new();
        for row in &self.bends {
            let mut own: Vec<Expr<'g>> = Vec::new();
            for (j, bend) in row.iter().enumerate() {
                let mut rest = *bend;
                for k in 0..j {
                    let other = if j < left.len() { left[j][k] } else { own[k] };
                    rest = rest - own[k] * other / left[k][k];
                }
                own.push(rest);
            }
            left.push(own);
        }
        let zero = self.slopes[0].graph().scalar(0.0);
        let positive = left.iter().map(|row| zero.less(row[row.len() - 1]));
        let all = positive.reduce(|a, b| a * b).expect("a row has a number");
        let mut factor: Vec<Vec<Expr<'g>>> = Vec::new();
        for (i, (row, other)) in left.iter().zip(&otherwise.0).enumerate() {
            let below = (0..i).map(|j| all.select(row[j] / factor[j][j], other[j]));
            let mut own: Vec<Expr<'g>> = below.collect();
            own.push(all.select(row[i], other[i].square()).sqrt());
            factor.push(own);
        }
        Factor(factor)
    }
}

impl<'g> LocalMap<'g> {
    /// The map of shift + stretch · t, with a shift and a stretch of each number that all rows
    /// share, `[d]` both.
    #[must_use]
    pub fn shifted_map(&self, shift: Expr<'g>, stretch: Expr<'g>) -> LocalMap<'g> {
        let numbers = |of: Expr<'g>| (0..self.start.len()).map(|k| of.entry(k)).collect();
        let (shifts, stretches): (Vec<Expr<'g>>, Vec<Expr<'g>>) =
            (numbers(shift), numbers(stretch));
        let row = |(i, row): (usize, &Vec<Expr<'g>>)| {
            let pairs = row.iter().zip(&stretches[i..]);
            pairs.map(|(a, stretch)| *a * *stretch).collect()
        };
        LocalMap {
            start: self.values_at(&shifts),
            spread: self.spread.iter().enumerate().map(row).collect(),
        }
    }

    /// The image of the same t in each row.
    pub fn at_numbers(&self, t: &[f64]) -> Vec<Expr<'g>> {
        let graph = self.start[0].graph();
        let numbers: Vec<Expr<'g>> = t.iter().map(|t| graph.scalar(*t)).collect();
        self.values_at(&numbers)
    }

    /// The image of a t of each row, one `[n]` per number.
    pub fn values_at(&self, t: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let image = |(i, row): (usize, &Vec<Expr<'g>>)| {
            let parts = row.iter().zip(&t[i..]).map(|(a, t)| *a * *t);
            parts.fold(self.start[i], |sum, part| sum + part)
        };
        self.spread.iter().enumerate().map(image).collect()
    }
}

impl<'g> Factor<'g> {
    /// The same factor with zero derivative.
    fn without_gradient(&self) -> Factor<'g> {
        let stopped = |row: &Vec<Expr<'g>>| row.iter().map(|e| e.stop_gradient()).collect();
        Factor(self.0.iter().map(stopped).collect())
    }

    /// The rows of F⁻ᵀ, an upper triangle, each from the diagonal on.
    fn inverse_transposed(&self) -> Vec<Vec<Expr<'g>>> {
        let width = self.0.len();
        let mut rows: Vec<Vec<Expr<'g>>> = vec![Vec::new(); width];
        for i in (0..width).rev() {
            let own = self.0[i][i].recip();
            let mut row = vec![own];
            for k in i + 1..width {
                // Fᵀ X = I in row i and column k.
                let parts = (i + 1..=k).map(|j| self.0[j][i] * rows[j][k - j]);
                let sum = parts.reduce(|a, b| a + b).expect("k is beyond i");
                row.push(-sum * own);
            }
            rows[i] = row;
        }
        rows
    }

    /// F⁻ᵀ t.
    fn solve_transposed(&self, t: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let mut solved = t.to_vec();
        for i in (0..t.len()).rev() {
            for k in i + 1..t.len() {
                solved[i] = solved[i] - self.0[k][i] * solved[k];
            }
            solved[i] = solved[i] / self.0[i][i];
        }
        solved
    }

    /// (F Fᵀ)⁻¹ g.
    fn solve(&self, g: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let mut half = g.to_vec();
        for i in 0..g.len() {
            for k in 0..i {
                half[i] = half[i] - self.0[i][k] * half[k];
            }
            half[i] = half[i] / self.0[i][i];
        }
        self.solve_transposed(&half)
    }

    /// The standard deviation of each number given the others.
    fn scales(&self) -> Vec<Expr<'g>> {
        let scale = |row: &Vec<Expr<'g>>| match row.as_slice() {
            [only] => only.recip(),
            many => {
                let squares = many.iter().map(|e| e.square());
                let precision = squares.reduce(|a, b| a + b).expect("a row has a number");
                precision.sqrt().recip()
            }
        };
        self.0.iter().map(scale).collect()
    }
}
