//! The Hessian of Σ log p(yₙ | z, xₙ) in z, times several directions.

use std::borrow::Cow;

use lehr_rows::{Argument, RowBlock, RowJob, RowProgram, RowsError, decoded, encoded};

use super::{add, check_sizes};
use crate::{Density, Point};

/// The Hessian of Σ log p(yₙ | z, xₙ) in z, times several directions.
#[derive(Clone)]
pub struct HessianProducts<'d> {
    density: &'d dyn Density,
    latents: Cow<'d, [f64]>,
    params: Cow<'d, [f64]>,
    /// The directions, one after another.
    directions: Cow<'d, [f64]>,
}

impl<'d> HessianProducts<'d> {
    /// The job at z and θ, along directions that are stored one after another.
    pub fn new(
        density: &'d dyn Density,
        (latents, params): (&'d [f64], &'d [f64]),
        directions: &'d [f64],
    ) -> Self {
        HessianProducts {
            density,
            latents: latents.into(),
            params: params.into(),
            directions: directions.into(),
        }
    }

    /// Reads the job from a message, for this model.
    ///
    /// # Errors
    /// If the message is damaged or belongs to another model.
    pub fn read(density: &'d dyn Density, message: &[u8]) -> Result<Self, RowsError> {
        let (latents, params, directions): (Vec<f64>, Vec<f64>, Vec<f64>) = decoded(message)?;
        let left_over = directions.len() % latents.len().max(1);
        check_sizes(density, latents.len() + left_over, params.len())?;
        Ok(HessianProducts {
            density,
            latents: latents.into(),
            params: params.into(),
            directions: directions.into(),
        })
    }

    fn lanes(&self) -> usize {
        (self.directions.len() / self.latents.len().max(1)).max(1)
    }
}

impl RowJob for HessianProducts<'_> {
    const NAME: &'static str = "Hessian products";

    /// The products, one after another.
    type Partial = Vec<f64>;
    type Machine = RowProgram;

    fn shape(&self) -> Vec<u64> {
        vec![self.lanes() as u64]
    }

    fn machine(&self, rows: usize) -> RowProgram {
        let latents = self.density.latents().size();
        let sizes = [
            Argument::Shared(latents),
            Argument::Shared(self.density.params().size()),
            Argument::PerLane(latents),
        ];
        let shape = (self.lanes(), rows);
        RowProgram::new(self.density.columns(), shape, &sizes, &|inputs, rows| {
            let at = Point::new(inputs[0], inputs[1]);
            let value = self.density.log_likelihood(&at, rows).sum();
            let graph = at.graph();
            let slope = graph.grad(value, &[at.latents])[0];
            graph.jvp(&[slope], &[at.latents], &[inputs[2]])
        })
    }

    fn bytes(&self, machine: &RowProgram) -> usize {
        machine.bytes()
    }

    fn empty(&self) -> Vec<f64> {
        vec![-0.0; self.directions.len()]
    }

    fn add_block(&self, machine: &mut RowProgram, block: &RowBlock<'_>, into: &mut Vec<f64>) {
        block.place(machine);
        let found = machine.run(&[&self.latents, &self.params, &self.directions]);
        // A product that does not depend on the direction has no lanes.
        let products = found.output(0).iter().cycle();
        into.iter_mut()
            .zip(products)
            .for_each(|(sum, part)| *sum += part);
    }

    fn merge(&self, into: &mut Vec<f64>, next: Vec<f64>) {
        add(into, &next);
    }

    fn message(&self) -> Vec<u8> {
        encoded(&(&*self.latents, &*self.params, &*self.directions))
    }
}
