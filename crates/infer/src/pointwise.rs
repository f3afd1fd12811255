//! The log likelihood of single rows for many draws, in blocks of rows.

use std::ops::Range;

use lehr_density::{Density, Point};

use crate::local::Marginal;
use crate::posterior::Posterior;
use lehr_density::rows_here;
use lehr_rows::{Argument, RowPass};

/// Draws that are evaluated at once.
const LANES: usize = 16;
/// Rows of a block.
const ROWS: usize = 1024;

/// Calls `visit` with log p(yₙ | z) of one block of rows after another, draw after draw: draw s of
/// a block of n rows is `values[s * n..][..n]`. Memory does not grow with the rows.  Local latents
/// are integrated out by the default number of nodes; if a fit used another number,
/// [`Posterior::pointwise`] uses that.
///
/// `draws` holds one flat unconstrained z after another.
pub fn pointwise(
    density: &dyn Density,
    draws: &[f64],
    params: &[f64],
    mut visit: impl FnMut(Range<usize>, &[f64]),
) {
    let marginal = Marginal::of(density, None);
    let density = marginal.density();
    let size = density.latents().size();
    let sizes = [Argument::PerLane(size), Argument::Shared(params.len())];
    let mut pass = RowPass::in_blocks(rows_here(density), (LANES, ROWS), &sizes, |inputs, rows| {
        vec![density.log_likelihood(&Point::new(inputs[0], inputs[1]), rows)]
    });
    let mut values = Vec::with_capacity(ROWS * draws.len() / size.max(1));
    let mut lanes = vec![0.0; LANES * size];
    pass.each_block(|rows, block| -> Option<()> {
        values.clear();
        for some in draws.chunks(LANES * size) {
            lanes[..some.len()].copy_from_slice(some);
            let found = block.run(&[&lanes, params]).output(0);
            // A likelihood that does not depend on z is the same for every lane.
            let wanted = rows.len() * (some.len() / size);
            values.extend(found.iter().cycle().take(wanted));
        }
        visit(rows, &values);
        None
    });
}

impl Posterior {
    /// log p(yₙ | z) of every row of a table and every draw, in the form of [`pointwise`].
    pub fn pointwise(&self, density: &dyn Density, visit: impl FnMut(Range<usize>, &[f64])) {
        let marginal = self.marginal(density);
        pointwise(marginal.density(), &self.draws, &self.param_values, visit);
    }
}
