//! The normal distribution that a log density of each row is nearest to at its peak.

use lehr_graph::{Expr, Graph};

use super::Locals;
use crate::{Point, Rows};

/// Newton's steps to the peak of the prior, and from there to the peak of the joint density.
const PRIOR_STEPS: usize = 4;
const STEPS: usize = 10;
/// Steps that are clipped are at most this many scales long, and leaps this many clipped steps.
const LONGEST: f64 = 2.0;
const LEAP: f64 = 4.0;

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

/// A function of the numbers of each row: its slopes and its negative second derivatives.
struct Curve<'g> {
    slopes: Vec<Expr<'g>>,
    /// The lower triangle, row by row.
    bends: Vec<Vec<Expr<'g>>>,
}

impl<'g> LocalNormal<'g> {
    /// A standard normal around these numbers.
    pub fn standard(graph: &'g Graph, rows: usize, around: &[f64]) -> LocalNormal<'g> {
        let full = |value| graph.full([rows], value);
        let entry = |i: usize, j: usize| full(f64::from(u8::from(i == j)));
        let row = |i: usize| (0..=i).map(|j| entry(i, j)).collect();
        LocalNormal {
            centre: around.iter().map(|value| full(*value)).collect(),
            factor: Factor((0..around.len()).map(row).collect()),
        }
    }

    /// The normal at the peak of the prior of each row's latents.
    pub fn prior(locals: &dyn Locals, at: &Point<'g>, rows: &Rows<'g>) -> LocalNormal<'g> {
        let start = LocalNormal::standard(at.graph(), rows.len(), locals.layout().start());
        start.climb(PRIOR_STEPS, &|w| locals.log_prior(at, &rows.carrying(w)))
    }

    /// The normal at the peak of the joint density of each row's latents and its response.
    pub fn posterior(locals: &dyn Locals, at: &Point<'g>, rows: &Rows<'g>) -> LocalNormal<'g> {
        let joint = |w: &[Expr<'g>]| locals.log_joint(at, &rows.carrying(w));
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
        let stopped = |row: &Vec<Expr<'g>>| row.iter().map(|e| e.stop_gradient()).collect();
        LocalNormal {
            centre: self.centre.iter().map(|w| w.stop_gradient()).collect(),
            factor: Factor(self.factor.0.iter().map(stopped).collect()),
        }
    }

    /// The same normal with its derivative in whatever `log_density` depends on: one more of Newton's
    /// steps from the peak, of length zero, whose derivative is that of the peak.
    #[must_use]
    pub fn moving(&self, log_density: &dyn Fn(&[Expr<'g>]) -> Expr<'g>) -> LocalNormal<'g> {
        let here = self.fixed();
        let curve = Curve::of(log_density, &here.centre);
        let step = curve.factor(&here.factor).solve(&curve.slopes);
        let limits = here
            .factor
            .scales()
            .into_iter()
            .map(|scale| scale * LONGEST);
        // Where Newton's method has not arrived, the step is not short.
        let step = step.into_iter().zip(limits).map(|(s, m)| s.min(m).max(-m));
        let centre: Vec<Expr<'g>> = here.centre.iter().zip(step).map(|(w, s)| *w + s).collect();
        LocalNormal {
            factor: Curve::of(log_density, &centre).factor(&here.factor),
            centre,
        }
    }

    /// centre + F⁻ᵀ t for the same t in each row.
    pub fn at(&self, t: &[f64]) -> Vec<Expr<'g>> {
        let graph = self.centre[0].graph();
        let numbers: Vec<Expr<'g>> = t.iter().map(|t| graph.scalar(*t)).collect();
        self.at_each(&numbers)
    }

    /// centre + F⁻ᵀ t for a t of each row, one `[n]` per number.
    pub fn at_each(&self, t: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let off = self.factor.solve_transposed(t);
        self.centre.iter().zip(off).map(|(w, s)| *w + s).collect()
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
        let bend = |i: usize| (0..=i).map(|j| -along(slopes[i], j)).collect();
        Curve {
            bends: (0..at.len()).map(bend).collect(),
            slopes,
        }
    }

    /// The Cholesky factor of the negative second derivatives; another one where there is none.
    fn factor(&self, otherwise: &Factor<'g>) -> Factor<'g> {
        // Without roots first, so that nothing is taken the root of that may be negative.
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

impl<'g> Factor<'g> {
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
