//! The normal distribution that a log density of each row is nearest to at its peak.

use lehr_graph::{Expr, Graph};

use super::Locals;
use super::integral::carrying;
use crate::{Point, Rows};

/// Newton's steps to the peak of the prior, and from there to the peak of the joint density.
const PRIOR_STEPS: usize = 4;
const STEPS: usize = 10;
/// Steps that are clipped are at most this many scales long, and leaps this many clipped steps.
const LONGEST: f64 = 2.0;
const LEAP: f64 = 4.0;

/// A normal distribution of one or two numbers for each row: N(centre, (F Fᵀ)⁻¹).
#[derive(Clone, Debug)]
pub struct LocalNormal<'g> {
    /// The mean, one `[n]` per number.
    pub centre: Vec<Expr<'g>>,
    /// F, the lower Cholesky factor of the precision.
    pub factor: Factor<'g>,
}

/// A lower triangle of up to two rows, in each row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Factor<'g> {
    first: Expr<'g>,
    /// The second row, off the diagonal and on it.
    second: Option<[Expr<'g>; 2]>,
}

/// A function of the numbers of each row: its slopes and its negative second derivatives.
struct Curve<'g> {
    slopes: Vec<Expr<'g>>,
    first: Expr<'g>,
    /// Mixed, and of the second number.
    second: Option<[Expr<'g>; 2]>,
}

impl<'g> LocalNormal<'g> {
    /// A standard normal around these numbers.
    pub fn standard(graph: &'g Graph, rows: usize, around: &[f64]) -> LocalNormal<'g> {
        let full = |value| graph.full([rows], value);
        LocalNormal {
            centre: around.iter().map(|value| full(*value)).collect(),
            factor: Factor {
                first: full(1.0),
                second: (around.len() == 2).then(|| [full(0.0), full(1.0)]),
            },
        }
    }

    /// The normal at the peak of the prior of each row's latents.
    pub fn prior(locals: &dyn Locals, at: &Point<'g>, rows: &Rows<'g>) -> LocalNormal<'g> {
        let start = LocalNormal::standard(at.graph(), rows.len(), locals.layout().start());
        start.climb(PRIOR_STEPS, &|w| locals.log_prior(at, &carrying(rows, w)))
    }

    /// The normal at the peak of the joint density of each row's latents and its response.
    pub fn posterior(locals: &dyn Locals, at: &Point<'g>, rows: &Rows<'g>) -> LocalNormal<'g> {
        let joint = |w: &[Expr<'g>]| locals.log_joint(at, &carrying(rows, w));
        LocalNormal::prior(locals, at, rows).climb(STEPS, &joint)
    }

    /// The normal at the peak of `log_density`, by so many of Newton's steps from here. Where the
    /// density is not concave, the curvature from here stands in for its own.
    pub fn climb(
        &self,
        steps: usize,
        log_density: &dyn Fn(&[Expr<'g>]) -> Expr<'g>,
    ) -> LocalNormal<'g> {
        let mut centre = self.centre.clone();
        for _ in 0..steps {
            centre = self.step(&centre, log_density);
        }
        let curve = Curve::of(log_density, &centre);
        LocalNormal {
            factor: curve.factor(&self.factor),
            centre,
        }
    }

    /// One step to the highest of some points: Newton's, the same clipped, a quarter of that, a leap
    /// uphill, and where it stands. Newton's step lands on the peak of a normal from any distance.
    /// Far from the peak of e.g. w − eʷ it overshoots by orders of magnitude on one side, and creeps
    /// on the other.
    fn step(
        &self,
        centre: &[Expr<'g>],
        log_density: &dyn Fn(&[Expr<'g>]) -> Expr<'g>,
    ) -> Vec<Expr<'g>> {
        let curve = Curve::of(log_density, centre);
        let factor = curve.factor(&self.factor);
        let whole = factor.solve(&curve.slopes);
        let scales = factor.scales().into_iter().zip(self.factor.scales());
        let limits: Vec<Expr<'g>> = scales.map(|(a, b)| a.max(b) * LONGEST).collect();
        let pairs = || whole.iter().zip(&limits);
        let clipped: Vec<Expr<'g>> = pairs().map(|(s, m)| s.min(*m).max(-*m)).collect();
        let quarter = clipped.iter().map(|s| *s * 0.25).collect();
        let leap = pairs().map(|(s, m)| s.sign() * *m * LEAP).collect();
        let moved = |steps: Vec<Expr<'g>>| -> Vec<Expr<'g>> {
            centre.iter().zip(steps).map(|(w, s)| *w + s).collect()
        };
        let mut best = centre.to_vec();
        let mut height = log_density(&best);
        for steps in [clipped, quarter, leap, whole.clone()] {
            let other = moved(steps);
            let value = log_density(&other);
            // A comparison with what is not a number is false.
            let higher = height.less(value);
            height = higher.select(value, height);
            let pairs = other.into_iter().zip(best);
            best = pairs.map(|(far, near)| higher.select(far, near)).collect();
        }
        best
    }

    /// The same normal, whose derivative is zero.
    #[must_use]
    pub fn fixed(&self) -> LocalNormal<'g> {
        let Factor { first, second } = self.factor;
        LocalNormal {
            centre: self.centre.iter().map(|w| w.stop_gradient()).collect(),
            factor: Factor {
                first: first.stop_gradient(),
                second: second.map(|row| row.map(Expr::stop_gradient)),
            },
        }
    }

    /// centre + F⁻ᵀ t for the same t in each row.
    pub fn at(&self, t: &[f64]) -> Vec<Expr<'g>> {
        let off = self.factor.spread(t);
        self.centre.iter().zip(off).map(|(w, s)| *w + s).collect()
    }

    /// ln |F|, `[n]`.
    pub fn log_determinant(&self) -> Expr<'g> {
        let first = self.factor.first.ln();
        match self.factor.second {
            Some([_, last]) => first + last.ln(),
            None => first,
        }
    }
}

impl<'g> Curve<'g> {
    fn of(log_density: &dyn Fn(&[Expr<'g>]) -> Expr<'g>, at: &[Expr<'g>]) -> Curve<'g> {
        // Equal nodes are one node, so numbers that start equal need anchors that are not.
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
        Curve {
            first: -along(slopes[0], 0),
            second: (slopes.get(1)).map(|slope| [-along(*slope, 0), -along(*slope, 1)]),
            slopes,
        }
    }

    /// The Cholesky factor of the negative second derivatives; another one where there is none.
    fn factor(&self, otherwise: &Factor<'g>) -> Factor<'g> {
        let zero = self.first.graph().scalar(0.0);
        let positive = zero.less(self.first);
        let Some([mixed, last]) = self.second else {
            let own = positive.select(self.first, otherwise.first.square());
            return Factor {
                first: own.sqrt(),
                second: None,
            };
        };
        let left = last - mixed.square() / self.first;
        let both = positive * zero.less(left);
        let first = both.select(self.first, otherwise.first.square()).sqrt();
        let [other, other_last] = otherwise.second.expect("two numbers per row");
        Factor {
            first,
            second: Some([
                both.select(mixed / first, other),
                both.select(left, other_last.square()).sqrt(),
            ]),
        }
    }
}

impl<'g> Factor<'g> {
    /// F⁻ᵀ t.
    fn spread(&self, t: &[f64]) -> Vec<Expr<'g>> {
        let numbers: Vec<Expr<'g>> = t.iter().map(|t| self.first.graph().scalar(*t)).collect();
        self.solve_transposed(&numbers)
    }

    fn solve_transposed(&self, t: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let Some([off, last]) = self.second else {
            return vec![t[0] / self.first];
        };
        let second = t[1] / last;
        vec![(t[0] - off * second) / self.first, second]
    }

    /// (F Fᵀ)⁻¹ g.
    fn solve(&self, g: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let first = g[0] / self.first;
        let half: Vec<Expr<'g>> = match self.second {
            Some([off, last]) => vec![first, (g[1] - off * first) / last],
            None => vec![first],
        };
        self.solve_transposed(&half)
    }

    /// The standard deviation of each number given the other.
    fn scales(&self) -> Vec<Expr<'g>> {
        let precision = self.second.map(|[off, last]| off.square() + last.square());
        let rest = precision.map(|p| p.sqrt().recip());
        [self.first.recip()].into_iter().chain(rest).collect()
    }
}
