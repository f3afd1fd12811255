//! Draws of chosen rows' local latents, given draws of the shared latents.

use lehr_density::{Density, LocalNormal, Locals, Point, RowSet, Rows, SiteValue};
use lehr_graph::{Expr, Workspace};
use lehr_numeric::stream::Stream;

use lehr_rows::{Argument, RowProgram};

/// The number of candidates for each draw, and the factor for each latent beyond two.
const CANDIDATES: usize = 128;
const MORE: f64 = 1.6;
/// Degrees of freedom of the candidates around the mode, with heavier tails than most densities.
const DF: usize = 5;

/// The reasons why local latents cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocalDrawError {
    /// The model has none.
    #[error(
        "locals: expected a model whose rows have latents of their own, found none\n  \
         hint: name one with row.local, or fit a family that has one, such as poisson_lognormal; \
         what has a closed form, such as student or me(x, s) of a gaussian response, leaves none \
         to draw"
    )]
    None,
    /// There are too many per row.
    #[error(
        "locals: expected at most {} latents per row, found {found}\n  hint: more of them cannot be drawn",
        lehr_density::Nodes::MOST_LOCALS
    )]
    Many {
        /// Numbers per row.
        found: usize,
    },
    /// A row number outside the table.
    #[error(
        "locals: expected rows from 1 to {rows}, found {found}\n  \
         hint: rows are counted in the table as it was read, those that --missing drop leaves out \
         not included"
    )]
    Row {
        /// Rows of the table.
        rows: usize,
        /// The row number, counted from 1.
        found: usize,
    },
}

/// The chosen rows of a density.
pub struct LocalDraws<'d> {
    density: &'d dyn Density,
    locals: &'d dyn Locals,
    rows: &'d [usize],
}

impl<'d> LocalDraws<'d> {
    /// The latents of these rows, counted from 0.
    ///
    /// # Errors
    /// If rows have no local latents or more than eight, or a row does not exist.
    pub fn new(
        density: &'d dyn Density,
        rows: &'d [usize],
    ) -> Result<LocalDraws<'d>, LocalDrawError> {
        let locals = density.locals().ok_or(LocalDrawError::None)?;
        let found = locals.layout().size();
        if found > lehr_density::Nodes::MOST_LOCALS {
            return Err(LocalDrawError::Many { found });
        }
        let count = density.n_rows();
        match rows.iter().find(|row| **row >= count) {
            Some(row) => Err(LocalDrawError::Row {
                rows: count,
                found: row + 1,
            }),
            None => Ok(LocalDraws {
                density,
                locals,
                rows,
            }),
        }
    }

    /// One draw of every row's latents for each z, on the constrained scale: site by site, draw
    /// after draw, row after row. The draw of a row does not depend on the other rows.
    ///
    /// Each draw is chosen by weight among candidates from a Student's t at the mode of p(w | y, z)
    /// (Rubin's sampling importance resampling).
    pub fn draw(&self, draws: &[f64], params: &[f64], seed: u64) -> Vec<SiteValue> {
        let (size, width) = (self.density.latents().size(), self.locals.layout().size());
        if self.rows.is_empty() {
            return self.locals.layout().constrain_values(&[]);
        }
        let mut peaks = self.program(|at, rows, _| {
            let normal = LocalNormal::posterior_normal(self.locals, at, rows);
            let map = normal.map();
            let unit = |k: usize| -> Vec<f64> {
                (0..width).map(|i| f64::from(u8::from(i == k))).collect()
            };
            let columns = (0..width).flat_map(|k| map.at_numbers(&unit(k)));
            normal.centre.iter().copied().chain(columns).collect()
        });
        let mut joint = self.program(|at, rows, own| {
            vec![self.locals.log_joint(at, &rows.clone().with_locals(own))]
        });
        let stream = |row: &usize| Stream::new(seed, "locals", *row as u64);
        let mut streams: Vec<Stream> = self.rows.iter().map(stream).collect();
        let more = MORE.powi(width.saturating_sub(2) as i32);
        let candidates = (CANDIDATES as f64 * more) as usize;
        let mut flat = Vec::new();
        for z in draws.chunks_exact(size.max(1)) {
            let peaks = Peaks::of(peaks.run(&[z, params]), width, self.rows.len());
            let mut best = Chosen::new(self.rows.len(), width);
            for _ in 0..candidates {
                let (candidates, proposed) = peaks.propose(&mut streams);
                let values = joint.run(&[z, params, &candidates]).output(0).to_vec();
                best.consider(&candidates, &values, &proposed, &mut streams);
            }
            flat.extend(best.values);
        }
        self.locals.layout().constrain_values(&flat)
    }

    /// Functions of z, θ and the latents of the chosen rows.
    fn program(
        &self,
        write: impl for<'g> Fn(&Point<'g>, &Rows<'g>, Expr<'g>) -> Vec<Expr<'g>>,
    ) -> RowProgram {
        let (density, shape) = (self.density, [self.rows.len(), self.locals.layout().size()]);
        let sizes = [
            density.latents().size(),
            density.params().size(),
            shape[0] * shape[1],
        ];
        let sizes = sizes.map(Argument::Shared);
        let lanes = (1, shape[0]);
        let mut program = RowProgram::new(density.columns(), lanes, &sizes, &|inputs, rows| {
            let at = Point::new(inputs[0], inputs[1]);
            write(&at, rows, inputs[2].reshape(shape))
        });
        program.place_set(density.source(), &RowSet::List(self.rows));
        program
    }
}

/// The proposal of each row: a mode, and the step of each standard coordinate from it.
struct Peaks {
    width: usize,
    /// Row after row.
    centres: Vec<f64>,
    /// Row after row, and for each standard coordinate its step.
    steps: Vec<f64>,
}

impl Peaks {
    fn of(workspace: &Workspace, width: usize, rows: usize) -> Peaks {
        let one = |output: usize, row: usize| {
            let values = workspace.output(output);
            // A value that all rows share is stored once.
            values[row % values.len()]
        };
        let mut peaks = Peaks {
            width,
            centres: Vec::new(),
            steps: Vec::new(),
        };
        for row in 0..rows {
            peaks.centres.extend((0..width).map(|i| one(i, row)));
            for k in 0..width {
                let moved = (0..width).map(|i| one((k + 1) * width + i, row) - one(i, row));
                peaks.steps.extend(moved);
            }
        }
        peaks
    }

    /// A candidate of each row, and its log density up to a constant of the row.
    fn propose(&self, streams: &mut [Stream]) -> (Vec<f64>, Vec<f64>) {
        let width = self.width;
        let (mut candidates, mut densities) = (Vec::new(), Vec::new());
        for (row, stream) in streams.iter_mut().enumerate() {
            let chi: f64 = (0..DF).map(|_| stream.normal().powi(2)).sum();
            let stretch = (DF as f64 / chi).sqrt();
            let t: Vec<f64> = (0..width).map(|_| stretch * stream.normal()).collect();
            for i in 0..width {
                let steps = &self.steps[row * width * width..][..width * width];
                let off: f64 = (0..width).map(|k| steps[k * width + i] * t[k]).sum();
                candidates.push(self.centres[row * width + i] + off);
            }
            let square: f64 = t.iter().map(|t| t * t).sum();
            let power = -0.5 * (DF + width) as f64;
            densities.push(power * (square / DF as f64).ln_1p());
        }
        (candidates, densities)
    }
}

/// One candidate of each row, chosen by weight among those so far.
struct Chosen {
    width: usize,
    values: Vec<f64>,
    /// The log of the sum of the weights so far.
    totals: Vec<f64>,
}

impl Chosen {
    fn new(rows: usize, width: usize) -> Chosen {
        Chosen {
            width,
            values: vec![f64::NAN; rows * width],
            totals: vec![f64::NEG_INFINITY; rows],
        }
    }

    /// Keeps each row's candidate with the probability of its share of all weights so far.
    fn consider(
        &mut self,
        candidates: &[f64],
        joint: &[f64],
        proposed: &[f64],
        streams: &mut [Stream],
    ) {
        let width = self.width;
        for (row, stream) in streams.iter_mut().enumerate() {
            let weight = joint[row % joint.len()] - proposed[row];
            let uniform = stream.uniform();
            // A candidate with zero density, or NaN, is skipped.
            if weight.is_nan() || weight == f64::NEG_INFINITY {
                continue;
            }
            let total = &mut self.totals[row];
            *total = weight.max(*total) + (-(weight - *total).abs()).exp().ln_1p();
            if uniform.ln() < weight - *total {
                let own = row * width..(row + 1) * width;
                self.values[own.clone()].copy_from_slice(&candidates[own]);
            }
        }
    }
}
