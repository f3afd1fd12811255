//! Slope and curvature in z of a term of the log posterior, from the program itself.

use std::sync::Arc;

use lehr_density::{Density, Point};
use lehr_graph::Expr;

use super::{Mode, Surrogate};
use crate::guide::{Block, Context, Learned, PARAMS, params_block};
use crate::train::{Program, compile};

/// Columns of a Hessian that are computed side by side.
const ABREAST: usize = 16;

const DIRECTION: &str = "expansion_direction";

/// How much of a Hessian is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Curvature {
    Full,
    Diagonal,
}

impl Curvature {
    /// As much as the mode knows.
    pub(crate) fn of(mode: &Mode) -> Curvature {
        if mode.is_diagonal() {
            Curvature::Diagonal
        } else {
            Curvature::Full
        }
    }
}

/// The gradient and the Hessian of a term at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// The gradient in z.
    pub gradient: Vec<f64>,
    /// The Hessian in z, D × D, or its diagonal alone if no more was wanted.
    pub hessian: Vec<f64>,
}

impl Expansion {
    /// Of a surrogate at the mode, its learned quantities as in `learned`.
    pub(crate) fn of_surrogate(
        density: &dyn Density,
        surrogate: &dyn Surrogate,
        learned: &Learned,
        (mode, curvature): (&Mode, Curvature),
    ) -> Expansion {
        expand(density, learned, (mode, curvature), |context, at| {
            surrogate.log_likelihood(context, at)
        })
    }

    /// Of the log prior at the mode.
    pub(crate) fn of_prior(density: &dyn Density, mode: &Mode, curvature: Curvature) -> Expansion {
        let learned = at_start(density, Vec::new());
        expand(density, &learned, (mode, curvature), |context, at| {
            context.density().log_prior(at)
        })
    }
}

/// Blocks at their starts, with θ.
pub(crate) fn at_start(density: &dyn Density, blocks: Vec<Block>) -> Learned {
    Learned::new(params_block(density).into_iter().chain(blocks).collect())
}

/// The expansion of what `write` says at the mode.
pub(crate) fn expand(
    density: &dyn Density,
    learned: &Learned,
    (mode, curvature): (&Mode, Curvature),
    write: impl for<'g> Fn(&Context<'g, '_>, &Point<'g>) -> Expr<'g>,
) -> Expansion {
    let size = mode.latents.len();
    let latents: Arc<[f64]> = mode.latents.as_slice().into();
    let lanes = size.min(ABREAST);
    let program = compile(density, learned, (lanes, 0), |context| {
        let graph = context.graph();
        let at = context.at(context.fixed("expansion_latents", [size], &latents));
        let along = graph.laned_input(DIRECTION, [size]);
        let slope = graph.grad(write(context, &at), &[at.latents])[0];
        vec![slope, graph.jvp(&[slope], &[at.latents], &[along])[0]]
    });
    let mut program = program.expect("no batch is drawn");
    program.set_learned(&with_params(learned, mode).values);
    columns(&mut program, size, lanes, curvature)
}

/// The learned values with θ as it is at the mode.
pub(crate) fn with_params(learned: &Learned, mode: &Mode) -> Learned {
    let mut learned = learned.clone();
    if let Some(range) = learned.range_of(PARAMS) {
        learned.values[range].copy_from_slice(&mode.params);
    }
    learned
}

/// Runs the program once for each `lanes` columns of the Hessian.
fn columns(program: &mut Program, size: usize, lanes: usize, curvature: Curvature) -> Expansion {
    let mut hessian = Vec::new();
    // A term that is linear in z does not ask for a direction.
    let direction = program.plan().input_named(DIRECTION);
    for start in (0..size).step_by(lanes) {
        if let Some(slot) = direction {
            let directions = program.workspace_mut().numbers_mut(slot);
            directions.fill(0.0);
            for (lane, column) in (start..size.min(start + lanes)).enumerate() {
                directions[lane * size + column] = 1.0;
            }
        }
        program.run();
        let found = program.output(1);
        for (lane, column) in (start..size.min(start + lanes)).enumerate() {
            let row = |i: usize| direction.map_or(0.0, |_| found[lane * size + i]);
            match curvature {
                Curvature::Full => hessian.extend((0..size).map(row)),
                Curvature::Diagonal => hessian.push(row(column)),
            }
        }
    }
    Expansion {
        gradient: program.output(0).to_vec(),
        hessian,
    }
}
