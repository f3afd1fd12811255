//! Σ log p(yₙ | z, xₙ) and its gradient in z and in θ.

use std::borrow::Cow;

use lehr_rows::{Argument, RowBlock, RowJob, RowProgram, RowsError, decoded, encoded};
use serde::{Deserialize, Serialize};

use super::{add, check_sizes};
use crate::{Density, Point};

/// Σ log p(yₙ | z, xₙ) and its gradient in z and in θ.
#[derive(Clone)]
pub struct LikelihoodGradient<'d> {
    density: &'d dyn Density,
    latents: Cow<'d, [f64]>,
    params: Cow<'d, [f64]>,
}

/// The sum of log likelihoods and its gradient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GradientSum {
    /// Σ log p(yₙ | z, xₙ)
    pub value: f64,
    /// The gradient in z.
    pub latents: Vec<f64>,
    /// The gradient in θ.
    pub params: Vec<f64>,
}

impl<'d> LikelihoodGradient<'d> {
    /// The job at z and θ.
    pub fn new(density: &'d dyn Density, latents: &'d [f64], params: &'d [f64]) -> Self {
        LikelihoodGradient {
            density,
            latents: latents.into(),
            params: params.into(),
        }
    }

    /// Reads the job from a message, for this model.
    ///
    /// # Errors
    /// If the message is damaged or belongs to another model.
    pub fn read(density: &'d dyn Density, message: &[u8]) -> Result<Self, RowsError> {
        let (latents, params): (Vec<f64>, Vec<f64>) = decoded(message)?;
        check_sizes(density, latents.len(), params.len())?;
        Ok(LikelihoodGradient {
            density,
            latents: latents.into(),
            params: params.into(),
        })
    }
}

impl RowJob for LikelihoodGradient<'_> {
    const NAME: &'static str = "gradient";

    type Partial = GradientSum;
    type Machine = RowProgram;

    fn machine(&self, rows: usize) -> RowProgram {
        let sizes = [self.density.latents(), self.density.params()];
        let sizes = sizes.map(|layout| Argument::Shared(layout.size()));
        RowProgram::new(
            self.density.columns(),
            (1, rows),
            &sizes,
            &|inputs, rows| {
                let at = Point::new(inputs[0], inputs[1]);
                let value = self.density.log_likelihood(&at, rows).sum();
                let slopes = at.graph().grad(value, inputs);
                std::iter::once(value).chain(slopes).collect()
            },
        )
    }

    fn bytes(&self, machine: &RowProgram) -> usize {
        machine.bytes()
    }

    fn empty(&self) -> GradientSum {
        GradientSum {
            value: -0.0,
            latents: vec![-0.0; self.latents.len()],
            params: vec![-0.0; self.params.len()],
        }
    }

    fn add_block(&self, machine: &mut RowProgram, block: &RowBlock<'_>, into: &mut GradientSum) {
        block.place(machine);
        let found = machine.run(&[&self.latents, &self.params]);
        into.value += found.output(0)[0];
        add(&mut into.latents, found.output(1));
        add(&mut into.params, found.output(2));
    }

    fn merge(&self, into: &mut GradientSum, next: GradientSum) {
        into.value += next.value;
        add(&mut into.latents, &next.latents);
        add(&mut into.params, &next.params);
    }

    fn message(&self) -> Vec<u8> {
        encoded(&(&*self.latents, &*self.params))
    }
}
