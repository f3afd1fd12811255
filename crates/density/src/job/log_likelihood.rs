//! Σ log p(yₙ | z, xₙ) for many z.

use std::borrow::Cow;

use lehr_rows::{Argument, Cut, LANES, RowBlock, RowJob, RowProgram, RowsError, decoded, encoded};

use super::{add, check_sizes};
use crate::{Density, Point};

/// Σ log p(yₙ | z, xₙ) for many z at the same θ.
#[derive(Clone)]
pub struct LogLikelihood<'d> {
    density: &'d dyn Density,
    /// The values of z, one after another.
    points: Cow<'d, [f64]>,
    params: Cow<'d, [f64]>,
    /// The number of values of z that are computed at the same time.
    lanes: usize,
    cut: Cut,
}

impl<'d> LogLikelihood<'d> {
    /// The job for these values of z, one after another.
    pub fn new(density: &'d dyn Density, points: &'d [f64], params: &'d [f64]) -> Self {
        let count = points.len() / density.latents().size().max(1);
        LogLikelihood {
            density,
            points: points.into(),
            params: params.into(),
            lanes: count.clamp(1, LANES),
            cut: Cut::Whole,
        }
    }

    /// The same job compiled for [`LANES`] values of z at a time, even if there are fewer now.
    #[must_use]
    pub fn in_full_lanes(self) -> Self {
        LogLikelihood {
            lanes: LANES,
            ..self
        }
    }

    /// The same job in blocks of at most this many rows, so that it can be stopped between blocks.
    #[must_use]
    pub fn in_blocks(self, rows: usize) -> Self {
        LogLikelihood {
            cut: Cut::AtMost(rows),
            ..self
        }
    }

    /// Reads the job from a message, for this model.
    ///
    /// # Errors
    /// If the message is damaged or belongs to another model.
    pub fn read(density: &'d dyn Density, message: &[u8]) -> Result<Self, RowsError> {
        let (points, params, lanes): (Vec<f64>, Vec<f64>, usize) = decoded(message)?;
        let size = density.latents().size();
        let left_over = points.len() % size.max(1);
        check_sizes(density, size + left_over, params.len())?;
        Ok(LogLikelihood {
            density,
            points: points.into(),
            params: params.into(),
            lanes: lanes.clamp(1, LANES),
            cut: Cut::Whole,
        })
    }
}

impl RowJob for LogLikelihood<'_> {
    const NAME: &'static str = "log likelihood";

    type Partial = Vec<f64>;
    type Machine = RowProgram;

    fn shape(&self) -> Vec<u64> {
        vec![self.lanes as u64]
    }

    fn cut(&self) -> Cut {
        self.cut
    }

    fn machine(&self, rows: usize) -> RowProgram {
        let sizes = [
            Argument::PerLane(self.density.latents().size()),
            Argument::Shared(self.density.params().size()),
        ];
        let shape = (self.lanes, rows);
        RowProgram::new(self.density.columns(), shape, &sizes, &|inputs, rows| {
            let at = Point::new(inputs[0], inputs[1]);
            vec![self.density.log_likelihood(&at, rows).sum()]
        })
    }

    fn bytes(&self, machine: &RowProgram) -> usize {
        machine.bytes()
    }

    fn empty(&self) -> Vec<f64> {
        let count = self.points.len() / self.density.latents().size().max(1);
        vec![-0.0; count]
    }

    fn add_block(&self, machine: &mut RowProgram, block: &RowBlock<'_>, into: &mut Vec<f64>) {
        block.place(machine);
        machine.each_point((&self.points, 1), &self.params, |point, found| {
            into[point] += found[0];
        });
    }

    fn merge(&self, into: &mut Vec<f64>, next: Vec<f64>) {
        add(into, &next);
    }

    fn message(&self) -> Vec<u8> {
        encoded(&(&*self.points, &*self.params, self.lanes))
    }
}
