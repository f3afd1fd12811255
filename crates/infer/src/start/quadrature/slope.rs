//! The slopes aₙ of the rows' linear predictors, and what is summed over them.

use lehr_density::Density;

use super::design::Design;
use super::pass::Passes;
use crate::start::linear::Factor;

/// Numbers that a matrix of all slopes may take: 256 MiB.
const MOST: usize = 1 << 25;

/// One row of D numbers for each row of the table.
pub(super) enum Slopes<'d> {
    /// All of them at once, for which dense products are several times faster.
    Matrix(Design),
    /// Never all at once.
    Passes(Box<Passes<'d>>),
}

impl<'d> Slopes<'d> {
    pub(super) fn new(density: &'d dyn Density) -> Slopes<'d> {
        if density.n_rows() * density.latents().size() <= MOST {
            Slopes::Matrix(Design::new(density))
        } else {
            Slopes::Passes(Box::new(Passes::new(density)))
        }
    }

    /// sₙ = |Fᵀaₙ|
    pub(super) fn deviations(&mut self, factor: &Factor) -> Vec<f64> {
        match self {
            Slopes::Matrix(design) => design.deviations(factor),
            Slopes::Passes(passes) => passes.deviations(factor),
        }
    }

    /// aₙ·v
    pub(super) fn project(&mut self, direction: &[f64]) -> Vec<f64> {
        match self {
            Slopes::Matrix(design) => design.project(direction),
            Slopes::Passes(passes) => passes.project(direction),
        }
    }

    /// Σ gₙ aₙ, for a number g of each row.
    pub(super) fn pull(&mut self, numbers: &[f64]) -> Vec<f64> {
        match self {
            Slopes::Matrix(design) => design.pull(numbers),
            Slopes::Passes(passes) => passes.pull(numbers),
        }
    }

    /// Σ cₙ aₙ aₙᵀ, for a number c of each row.
    pub(super) fn gram(&mut self, numbers: &[f64]) -> Vec<f64> {
        match self {
            Slopes::Matrix(design) => design.gram(numbers),
            Slopes::Passes(passes) => passes.gram(numbers),
        }
    }
}

#[cfg(test)]
mod tests {
    use lehr_model::Model;
    use lehr_model::distribution::{Bernoulli, Distribution, Normal};
    use lehr_table::Table;

    use super::*;

    const ROWS: usize = 1100;
    const WIDTH: usize = 18;

    #[test]
    fn one_matrix_and_many_passes_give_the_same_sums() {
        let model = Model::new(|m| {
            let intercept = m.sample("intercept", Normal::new(0.0, 1.0));
            let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([WIDTH]));
            m.rows(|row| {
                let logit = intercept + row.matrix("x").dot(weight) + row.number("y");
                row.observe("y", Bernoulli::with_logit(logit));
            });
        });
        let wave = |count: usize, pace: f64| -> Vec<f64> {
            (0..count).map(|k| (pace * k as f64).sin()).collect()
        };
        let label = wave(ROWS, 2.1).into_iter().map(|v| f64::from(v > 0.0));
        let table = Table::new()
            .with_number("y", label.collect())
            .and_then(|table| table.with_matrix("x", ROWS, WIDTH, wave(ROWS * WIDTH, 0.7)));
        let density = model.bind(&table.unwrap()).unwrap();
        let size = WIDTH + 1;
        let values = (0..size * size).map(|k| {
            let below = k % size <= k / size;
            if below {
                0.2 + (1.3 * k as f64).cos()
            } else {
                0.0
            }
        });
        let factor = Factor {
            size,
            values: values.collect(),
        };
        let (design, mut passes) = (Design::new(&density), Passes::new(&density));
        let numbers = wave(ROWS, 0.3);
        for (name, one, other) in [
            (
                "deviations",
                design.deviations(&factor),
                passes.deviations(&factor),
            ),
            (
                "project",
                design.project(&numbers[..size]),
                passes.project(&numbers[..size]),
            ),
            ("pull", design.pull(&numbers), passes.pull(&numbers)),
            ("gram", design.gram(&numbers), passes.gram(&numbers)),
        ] {
            assert_eq!(one.len(), other.len(), "{name}");
            for (k, (a, b)) in one.iter().zip(&other).enumerate() {
                let close = (a - b).abs() <= 1e-10 * (1.0 + b.abs());
                assert!(close, "{name} {k}: {a} {b}");
            }
        }
    }
}
