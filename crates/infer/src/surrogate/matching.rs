//! Weights with which a few rows match the gradient and Hessian of all rows at the mode.

use lehr_density::Density;
use lehr_numeric::nnls;

use super::FixedRows;
use super::expansion::{at_start, program_at};
use super::quality::PrecisionFactor;
use crate::error::SurrogateError;
use crate::expansion::Mode;
use crate::program::Program;

/// Pairs of directions that are computed side by side.
const ABREAST: usize = 16;

/// Up to this many latents the whole Hessian is matched, otherwise its diagonal.
const MOST_FULL_LATENTS: usize = 100;

const DIRECTIONS: [&str; 2] = ["matching_first", "matching_second"];

/// The weights ω ≥ 0 of least predicted divergence ½‖L⁻¹(Gω − g)‖² + ¼‖L⁻¹(ΣωₙHₙ − H)L⁻ᵀ‖², where
/// `LLᵀ` is the posterior precision: a nonnegative least squares problem in the rows' derivatives
/// along whitened directions.
pub(crate) fn matched_weights(
    density: &dyn Density,
    rows: &FixedRows,
    mode: &Mode,
) -> Result<Vec<f64>, SurrogateError> {
    let whitening = narrowed(density, mode)?;
    let size = mode.latents.len();
    let slope = whitening.slope(&mode.gradient);
    let (pairs, curvature): (Vec<(usize, usize)>, _) = match &whitening {
        PrecisionFactor::Full(_) => {
            let upper = (0..size).flat_map(|i| (i..size).map(move |j| (i, j)));
            (upper.collect(), whitening.curvature(&mode.hessian))
        }
        PrecisionFactor::Diagonal(_) => {
            let diagonal = whitening.curvature(&mode.diagonal());
            ((0..size).map(|i| (i, i)).collect(), spread(&diagonal))
        }
    };
    let length = size + pairs.len();
    let mut features = Features {
        columns: vec![0.0; rows.len() * length],
        length,
    };
    let mut program = derivatives(density, rows, mode);
    follow(&mut program, &whitening, size, &pairs, &mut features);
    let curves = pairs
        .iter()
        .map(|&(i, j)| factor(i, j) * curvature[i * size + j]);
    let target: Vec<f64> = slope.iter().map(|g| g * SLOPE).chain(curves).collect();
    let found = nnls::solve_nonnegative(&features.columns, &target);
    let found = found.expect("the derivatives at a maximum are finite");
    Ok(found.weights)
}

/// √½ for the share of the slope and √¼ for that of the curvature, in which each pair above the
/// diagonal counts twice.
const SLOPE: f64 = std::f64::consts::FRAC_1_SQRT_2;

fn factor(i: usize, j: usize) -> f64 {
    if i == j { 0.5 } else { SLOPE }
}

fn narrowed(density: &dyn Density, mode: &Mode) -> Result<PrecisionFactor, SurrogateError> {
    if mode.latents.len() <= MOST_FULL_LATENTS || mode.is_diagonal() {
        return PrecisionFactor::at(density, mode);
    }
    let diagonal = Mode {
        hessian: mode.diagonal(),
        ..mode.clone()
    };
    PrecisionFactor::at(density, &diagonal)
}

/// A diagonal as a matrix.
fn spread(diagonal: &[f64]) -> Vec<f64> {
    let size = diagonal.len();
    let mut matrix = vec![0.0; size * size];
    for (i, value) in diagonal.iter().enumerate() {
        matrix[i * size + i] = *value;
    }
    matrix
}

/// One column of derivatives for each row of the surrogate.
struct Features {
    columns: Vec<f64>,
    length: usize,
}

impl Features {
    /// Sets one derivative of every row.
    fn set(&mut self, place: usize, factor: f64, rows: &[f64]) {
        for (column, value) in self.columns.chunks_exact_mut(self.length).zip(rows) {
            column[place] = factor * value;
        }
    }
}

/// Fills the features: first derivatives along each whitened direction, then second ones along
/// each pair.
fn follow(
    program: &mut Program,
    whitening: &PrecisionFactor,
    size: usize,
    pairs: &[(usize, usize)],
    features: &mut Features,
) {
    let length = features.columns.len() / features.length.max(1);
    for (batch, some) in pairs.chunks(ABREAST).enumerate() {
        for (lane, &(i, j)) in some.iter().enumerate() {
            direct(program, whitening, size, [(lane, i), (lane, j)]);
        }
        program.run();
        for (lane, &(i, j)) in some.iter().enumerate() {
            // A derivative without lanes does not depend on its direction: it is zero.
            let part = |output: usize| program.output(output).get(lane * length..)?.get(..length);
            let laned = |output: usize| program.output(output).len() == ABREAST * length;
            let mut set = |place: usize, factor: f64, output: usize| {
                if let Some(values) = part(output).filter(|_| laned(output)) {
                    features.set(place, factor, values);
                }
            };
            if i == j {
                set(i, SLOPE, 0);
            }
            set(size + batch * ABREAST + lane, factor(i, j), 1);
        }
    }
}

/// Every row's first derivative along one direction and second along two.
fn derivatives(density: &dyn Density, rows: &FixedRows, mode: &Mode) -> Program {
    let (learned, size) = (at_start(density, Vec::new()), mode.latents.len());
    program_at(density, &learned, mode, ABREAST, |context, at| {
        let graph = context.graph();
        let along = DIRECTIONS.map(|name| graph.laned_input(name, [size]));
        let each = density.log_likelihood(at, &rows.rows(context));
        let first = graph.jvp(&[each], &[at.latents], &along[..1])[0];
        let second = graph.jvp(&[first], &[at.latents], &along[1..])[0];
        vec![first, second]
    })
}

/// Sets a lane's directions to rows of L⁻¹, which are columns of L⁻ᵀ.
fn direct(
    program: &mut Program,
    whitening: &PrecisionFactor,
    size: usize,
    chosen: [(usize, usize); 2],
) {
    for (name, (lane, direction)) in DIRECTIONS.iter().zip(chosen) {
        let Some(slot) = program.plan().input_named(name) else {
            continue;
        };
        let values = &mut program.workspace_mut().numbers_mut(slot)[lane * size..][..size];
        values.fill(0.0);
        match whitening {
            PrecisionFactor::Full(inverse) => {
                values.copy_from_slice(&inverse[direction * size..][..size]);
            }
            PrecisionFactor::Diagonal(inverse) => values[direction] = inverse[direction],
        }
    }
}
