//! The slopes aₙ of the rows' linear predictors: of all rows at once, or of one part of the table
//! after another.

use lehr_density::{Density, Point, rows_here};
use lehr_numeric::hessian::unit_vectors;

use super::design::{BLOCK, Design};
use super::{KNOWN, predictor};
use lehr_rows::{Argument, RowPass, RowProgram};

/// The most numbers of a matrix of all slopes: 256 MiB.
const MOST: usize = 1 << 25;
/// Rows of a part: whole blocks.
const PART: usize = 16 * BLOCK;
/// Directions that are computed side by side.
const DIRECTIONS: usize = 16;

/// One row of D numbers for each row of the table.
pub(super) enum Slopes<'d> {
    /// All of them.
    Whole(Design),
    /// In parts, which are computed again at every visit.
    Parts(Box<Parts<'d>>),
}

impl<'d> Slopes<'d> {
    /// All at once if rows and slopes fit into memory.
    pub(super) fn new(density: &'d dyn Density) -> Slopes<'d> {
        let size = density.latents().size();
        let mut parts = Parts::new(density, PART);
        if !rows_here(density).is_resident() || density.n_rows() * size > MOST {
            return Slopes::Parts(Box::new(parts));
        }
        let mut whole = Design::zeros(density.n_rows(), size);
        let directions = &parts.directions;
        parts.pass.each_block(|rows, block| -> Option<()> {
            fill(&mut whole, rows.start, block, directions);
            None
        });
        Slopes::Whole(whole)
    }

    /// Calls `visit` with the slopes of consecutive rows, and the number of the first.
    pub(super) fn each(&mut self, visit: &mut dyn FnMut(usize, &Design)) {
        match self {
            Slopes::Whole(design) => visit(0, design),
            Slopes::Parts(parts) => parts.each(visit),
        }
    }
}

/// The slopes of some rows at a time.
pub(super) struct Parts<'d> {
    pass: RowPass<'d>,
    size: usize,
    directions: Vec<Vec<f64>>,
}

impl<'d> Parts<'d> {
    fn new(density: &'d dyn Density, rows: usize) -> Parts<'d> {
        let size = density.latents().size();
        let lanes = DIRECTIONS.min(size);
        let units = |first: usize| unit_vectors(size, first, lanes);
        Parts {
            pass: along(density, (lanes, rows)),
            size,
            directions: (0..size).step_by(lanes).map(units).collect(),
        }
    }

    fn each(&mut self, visit: &mut dyn FnMut(usize, &Design)) {
        let directions = &self.directions;
        let mut design = Design::zeros(0, self.size);
        self.pass.each_block(|rows, block| -> Option<()> {
            if design.rows() != rows.len() {
                design = Design::zeros(rows.len(), self.size);
            }
            fill(&mut design, 0, block, directions);
            visit(rows.start, &design);
            None
        });
    }
}

/// Writes the slopes of the present rows into a matrix, from its given row on.
fn fill(design: &mut Design, first: usize, block: &mut RowProgram, directions: &[Vec<f64>]) {
    let size = design.size();
    let origin = vec![0.0; size];
    let mut column = 0;
    for directions in directions {
        let lanes = directions.len() / size;
        let rows = block.rows();
        let found = block.run(&[&origin, directions]).output(0);
        for lane in 0..lanes.min(size - column) {
            // A predictor without latents has slopes without lanes.
            let start = if found.len() == rows { 0 } else { lane * rows };
            design.set_column(column + lane, first, &found[start..start + rows]);
        }
        column += lanes;
    }
}

/// aₙ·f with a direction f of each lane, for this many rows at a time. The slopes do not depend on
/// the point.
fn along(density: &dyn Density, (lanes, rows): (usize, usize)) -> RowPass<'_> {
    let size = density.latents().size();
    let sizes = [Argument::Shared(size), Argument::PerLane(size)];
    RowPass::in_blocks(rows_here(density), (lanes, rows), &sizes, |inputs, rows| {
        let graph = inputs[0].graph();
        let at = Point::new(inputs[0], graph.full([0], 0.0));
        let predictor = predictor(density, &at, rows).expect(KNOWN);
        let slope = graph.jvp(&[predictor], &[at.latents], &[inputs[1]])[0];
        vec![slope.broadcast([rows.len()])]
    })
}

#[cfg(test)]
mod tests {
    use lehr_model::Model;
    use lehr_model::distribution::{Bernoulli, Distribution, Normal};
    use lehr_table::Table;

    use super::*;
    use lehr_numeric::dense::CholeskyFactor;

    const ROWS: usize = 1100;
    const WIDTH: usize = 18;

    /// sₙ and aₙ·v for all rows, and the sums Σ gₙ aₙ and Σ gₙ aₙ aₙᵀ.
    fn found(slopes: &mut Slopes<'_>, factor: &CholeskyFactor, numbers: &[f64]) -> [Vec<f64>; 4] {
        let mut found = [const { Vec::new() }; 4];
        slopes.each(&mut |first, design| {
            let own = &numbers[first..first + design.rows()];
            let [deviations, projected, pulled, gram] = &mut found;
            deviations.extend(design.deviations(factor));
            projected.extend(design.project(&numbers[..factor.size]));
            for (sum, part) in [(pulled, design.pull(own)), (gram, design.gram(own))] {
                sum.resize(part.len(), 0.0);
                sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
            }
        });
        found
    }

    #[test]
    fn one_matrix_and_many_parts_give_the_same_sums() {
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
        let entry = |k: usize| {
            if k % size <= k / size {
                0.2 + (1.3 * k as f64).cos()
            } else {
                0.0
            }
        };
        let factor = CholeskyFactor {
            size,
            values: (0..size * size).map(entry).collect(),
        };
        let numbers = wave(ROWS, 0.3);
        let mut parts = Slopes::Parts(Box::new(Parts::new(&density, BLOCK)));
        let whole = found(&mut Slopes::new(&density), &factor, &numbers);
        let parts = found(&mut parts, &factor, &numbers);
        for (one, other) in whole.iter().zip(&parts) {
            assert_eq!(one.len(), other.len());
            for (k, (a, b)) in one.iter().zip(other).enumerate() {
                let close = (a - b).abs() <= 1e-10 * (1.0 + b.abs());
                assert!(close, "{k}: {a} {b}");
            }
        }
        // The first row's slopes are 1 and its own columns.
        let first = [1.0].into_iter().chain(wave(WIDTH, 0.7));
        let project: f64 = first.zip(&numbers).map(|(a, v)| a * v).sum();
        assert!((project - whole[1][0]).abs() < 1e-12);
    }
}
