//! Sums over the slopes of the rows' predictors by passes over the rows, for any size of table.

use lehr_density::{Density, Point};
use lehr_graph::Expr;

use super::{KNOWN, predictor};
use crate::pass::{Argument, Pass};
use crate::start::linear::Factor;
use lehr_numeric::hessian::{columns, symmetric};

/// Directions per pass over the rows.
pub(super) const DIRECTIONS: usize = 16;

/// The passes, and a point to take slopes at: they are the same everywhere.
pub(super) struct Passes<'d> {
    origin: Vec<f64>,
    spread: Pass<'d>,
    project: Pass<'d>,
    pull: Pass<'d>,
    products: Pass<'d>,
    lanes: usize,
}

impl<'d> Passes<'d> {
    pub(super) fn new(density: &'d dyn Density) -> Passes<'d> {
        let size = density.latents().size();
        let lanes = DIRECTIONS.min(size);
        Passes {
            origin: vec![0.0; size],
            spread: along(density, lanes, |slope| slope.square().sum_lanes()),
            project: along(density, 1, |slope| slope),
            pull: pull(density),
            products: products(density, lanes),
            lanes,
        }
    }

    /// sₙ = |Fᵀaₙ|, some columns of F at a time.
    pub(super) fn deviations(&mut self, factor: &Factor) -> Vec<f64> {
        let size = factor.size;
        let mut squares: Vec<f64> = Vec::new();
        for first in (0..size).step_by(self.lanes) {
            let mut directions = vec![0.0; self.lanes * size];
            for lane in 0..self.lanes.min(size - first) {
                for i in 0..size {
                    directions[lane * size + i] = factor.values[i * size + first + lane];
                }
            }
            let part = &self.spread.run(&[&self.origin, &directions])[0];
            if squares.is_empty() {
                squares.clone_from(part);
            } else {
                squares.iter_mut().zip(part).for_each(|(s, p)| *s += p);
            }
        }
        squares.into_iter().map(f64::sqrt).collect()
    }

    /// aₙ·v
    pub(super) fn project(&mut self, direction: &[f64]) -> Vec<f64> {
        self.project.run(&[&self.origin, direction])[0].clone()
    }

    /// Σ gₙ aₙ
    pub(super) fn pull(&mut self, numbers: &[f64]) -> Vec<f64> {
        self.pull.run(&[&self.origin, numbers])[0].clone()
    }

    /// Σ cₙ aₙ aₙᵀ
    pub(super) fn gram(&mut self, numbers: &[f64]) -> Vec<f64> {
        let size = self.origin.len();
        let found = columns(size, self.lanes, |directions| {
            self.products.run(&[&self.origin, numbers, directions])[0].clone()
        });
        symmetric(found, size)
    }
}

/// Something made of aₙ·f, one number per row, with a direction f of each lane.
pub(super) fn along<'d>(
    density: &'d dyn Density,
    lanes: usize,
    made: impl for<'g> Fn(Expr<'g>) -> Expr<'g>,
) -> Pass<'d> {
    let size = density.latents().size();
    let sizes = [Argument::Shared(size), Argument::PerLane(size)];
    Pass::new(density, lanes, &sizes, |inputs, rows| {
        let graph = inputs[0].graph();
        let at = Point::new(inputs[0], graph.full([0], 0.0));
        let predictor = predictor(density, &at, rows).expect(KNOWN);
        vec![made(
            graph.jvp(&[predictor], &[at.latents], &[inputs[1]])[0],
        )]
    })
}

/// Σ gₙ aₙ, for a number g of each row.
fn pull(density: &dyn Density) -> Pass<'_> {
    let size = density.latents().size();
    let sizes = [Argument::Shared(size), Argument::Shared(density.n_rows())];
    Pass::new(density, 1, &sizes, |inputs, rows| {
        let graph = inputs[0].graph();
        let at = Point::new(inputs[0], graph.full([0], 0.0));
        let predictor = predictor(density, &at, rows).expect(KNOWN);
        graph.grad((inputs[1] * predictor).sum(), &[at.latents])
    })
}

/// Σ cₙ aₙ(aₙ·v), for a number c of each row and a direction v of each lane.
fn products(density: &dyn Density, lanes: usize) -> Pass<'_> {
    let size = density.latents().size();
    let sizes = [
        Argument::Shared(size),
        Argument::Shared(density.n_rows()),
        Argument::PerLane(size),
    ];
    Pass::new(density, lanes, &sizes, |inputs, rows| {
        let graph = inputs[0].graph();
        let at = Point::new(inputs[0], graph.full([0], 0.0));
        let predictor = predictor(density, &at, rows).expect(KNOWN);
        let value = 0.5 * (inputs[1] * predictor.square()).sum();
        let slope = graph.grad(value, &[at.latents])[0];
        graph.jvp(&[slope], &[at.latents], &[inputs[2]])
    })
}
