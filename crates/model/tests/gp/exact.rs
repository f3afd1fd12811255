//! A Gaussian process by inducing points with normal noise, and its evidence in closed form.

use lehr_density::{Density, Point, RowSet, Rows, Support};
use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph};
use lehr_model::gp::{CovarianceFunction, InducedGp, Kernel, RowMarginal};
use lehr_model::{Bound, Model};
use lehr_table::Table;

use crate::dense::Dense;

/// Rows of two columns.
pub(crate) struct Data {
    pub(crate) x: Vec<[f64; 2]>,
    pub(crate) y: Vec<f64>,
}

impl Data {
    pub(crate) fn new(count: usize) -> Data {
        let place = |k: usize| {
            let at = k as f64 + 1.0;
            [
                4.0 * (0.618_034 * at).fract() - 2.0,
                4.0 * (0.414_214 * at).fract() - 2.0,
            ]
        };
        let x: Vec<[f64; 2]> = (0..count).map(place).collect();
        let wave = |(k, [a, b]): (usize, &[f64; 2])| {
            (1.3 * a).sin() + 0.5 * (b - 0.4 * a).cos() + 0.3 * (17.0 * k as f64).sin()
        };
        let y = x.iter().enumerate().map(wave).collect();
        Data { x, y }
    }

    fn table(&self) -> Table {
        let flat = self.x.iter().flatten().copied().collect();
        let table = Table::new().with_number("y", self.y.clone()).unwrap();
        table.with_matrix("x", self.x.len(), 2, flat).unwrap()
    }

    /// The rows observed through `observe`, with inducing points at these places.
    pub(crate) fn bind(
        &self,
        kernel: Kernel,
        points: &[[f64; 2]],
        observe: impl for<'g> Fn(&lehr_model::Row<'_, 'g>, RowMarginal<'g>, Expr<'g>)
        + Send
        + Sync
        + 'static,
    ) -> Bound {
        let points = points.to_vec();
        let model = Model::new(move |m| {
            let scale = m.param("scale", 1.0, Support::Positive);
            let lengthscale = m.param("lengthscale", [1.0, 1.0], Support::Positive);
            let places: Vec<f64> = points.iter().flatten().copied().collect();
            let places = m.graph().constant([points.len(), 2], &places);
            let places = m.param("points", places, Support::Real);
            let noise = m.param("noise", 0.4, Support::Positive);
            let covariance = CovarianceFunction::new(kernel, scale, lengthscale);
            let gp = InducedGp::new(m, "f", covariance, places);
            m.rows(|row| observe(row, gp.marginal_at(row.matrix("x")), noise));
        });
        model.bind(&self.table()).unwrap()
    }

    pub(crate) fn normal(&self, kernel: Kernel, points: &[[f64; 2]]) -> Bound {
        self.bind(kernel, points, |row, f, noise| {
            row.observe("y", f.normal(noise));
        })
    }
}

/// A log joint density of all rows as a function of z and θ.
pub(crate) struct Joint<'d> {
    density: &'d Bound,
}

/// A quadratic log joint density: its posterior and its integral.
pub(crate) struct Solved {
    pub(crate) evidence: f64,
    pub(crate) mean: Vec<f64>,
    /// L of the posterior precision LLᵀ.
    pub(crate) factor: Dense,
}

impl<'d> Joint<'d> {
    pub(crate) fn new(density: &'d Bound) -> Joint<'d> {
        Joint { density }
    }

    /// The expression that `of` builds from the log joint density, evaluated at z and θ.
    pub(crate) fn ask(
        &self,
        z: &[f64],
        theta: &[f64],
        of: impl for<'g> Fn(&Point<'g>, Expr<'g>) -> Vec<Expr<'g>>,
    ) -> Vec<Vec<f64>> {
        let density = self.density;
        let graph = Graph::new();
        let at = Point::new(
            graph.input("z", [z.len()]),
            graph.input("theta", [theta.len()]),
        );
        let rows = Rows::inputs(&graph, density.columns(), density.n_rows(), "");
        let joint = density.log_prior(&at) + density.log_likelihood(&at, &rows).sum();
        let mut values = InputValues::new()
            .with(at.latents, z)
            .with(at.params, theta);
        for (place, (_, column)) in rows.columns().enumerate() {
            let width = column.expr().shape().size();
            let mut numbers = vec![0.0; width];
            let all = RowSet::Range(0..density.n_rows());
            density.source().copy_numbers(place, &all, &mut numbers);
            values = values.with(column.expr(), &numbers);
        }
        evaluate(&of(&at, joint), &values, 1)
    }

    /// The evidence and the posterior of a log joint density that is quadratic in z.
    pub(crate) fn solve(&self, theta: &[f64]) -> Solved {
        let size = self.density.latents().size();
        let found = self.ask(&vec![0.0; size], theta, |at, joint| {
            let graph = at.graph();
            let slope = graph.grad(joint, &[at.latents])[0];
            let mut asked = vec![joint, slope];
            for place in 0..size {
                let mut axis = vec![0.0; size];
                axis[place] = 1.0;
                let axis = graph.constant([size], &axis);
                asked.extend(graph.jvp(&[slope], &[at.latents], &[axis]));
            }
            asked
        });
        let factor = Dense::new(size, |i, j| -found[2 + i][j]).factor();
        let white = factor.solve(&found[1]);
        let squares: f64 = white.iter().map(|v| v * v).sum();
        let logs: f64 = (0..size).map(|k| factor.at(k, k).ln()).sum();
        let volume = 0.5 * size as f64 * std::f64::consts::TAU.ln() - logs;
        Solved {
            evidence: found[0][0] + 0.5 * squares + volume,
            mean: factor.solve_transposed(&white),
            factor,
        }
    }

    /// ∇_θ of the evidence is the posterior mean of ∇_θ of the log joint density (Fisher's
    /// identity). The nodes μ ± √M F_k give it exactly, because it is quadratic in z.
    pub(crate) fn slope(&self, theta: &[f64]) -> Vec<f64> {
        let Solved { mean, factor, .. } = self.solve(theta);
        let size = mean.len();
        let mut sum = vec![0.0; theta.len()];
        for k in 0..size {
            let axis: Vec<f64> = (0..size).map(|j| f64::from(u8::from(j == k))).collect();
            let step = factor.solve_transposed(&axis);
            for sign in [-1.0, 1.0] {
                let far = sign * (size as f64).sqrt();
                let z: Vec<f64> = mean.iter().zip(&step).map(|(m, s)| m + far * s).collect();
                let found = self.ask(&z, theta, |at, joint| at.graph().grad(joint, &[at.params]));
                for (sum, found) in sum.iter_mut().zip(&found[0]) {
                    *sum += found / (2 * size) as f64;
                }
            }
        }
        sum
    }
}
