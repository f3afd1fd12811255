//! Gradient and Hessian in z of a term of the log posterior, from the program itself.

use std::convert::Infallible;
use std::sync::Arc;

use lehr_density::{Density, Point};
use lehr_graph::Expr;
use lehr_numeric::hessian;

use super::Surrogate;
use crate::expansion::Mode;
use crate::guide::{Block, Context, LearnedBlocks, PARAMS, params_block};
use crate::program::{Program, compile};

/// Columns of a Hessian that are computed side by side.
const ABREAST: usize = 16;

const DIRECTION: &str = "expansion_direction";

/// The extent of a Hessian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Full,
    Diagonal,
}

impl Extent {
    /// The same extent as in the mode.
    pub(crate) fn of(mode: &Mode) -> Extent {
        if mode.is_diagonal() {
            Extent::Diagonal
        } else {
            Extent::Full
        }
    }
}

/// The gradient and the Hessian of a term at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// The gradient in z.
    pub gradient: Vec<f64>,
    /// The Hessian in z, D × D, or only its diagonal if no more was requested.
    pub hessian: Vec<f64>,
}

impl Expansion {
    /// The expansion of a surrogate at the mode, with learned quantities as in `learned`.
    pub(crate) fn of_surrogate(
        density: &dyn Density,
        surrogate: &dyn Surrogate,
        learned: &LearnedBlocks,
        mode: &Mode,
    ) -> Expansion {
        let extent = Extent::of(mode);
        expand(density, learned, mode, extent, |context, at| {
            surrogate.log_likelihood(context, at)
        })
    }

    /// The expansion of the log prior at the mode.
    pub(crate) fn of_prior(density: &dyn Density, mode: &Mode) -> Expansion {
        let learned = at_start(density, Vec::new());
        expand(density, &learned, mode, Extent::of(mode), |context, at| {
            context.density().log_prior(at)
        })
    }
}

/// Blocks at their starts, with θ.
pub(crate) fn at_start(density: &dyn Density, blocks: Vec<Block>) -> LearnedBlocks {
    LearnedBlocks::new(params_block(density).into_iter().chain(blocks).collect())
}

/// The expansion at the mode of the expression that `write` builds.
pub(crate) fn expand(
    density: &dyn Density,
    learned: &LearnedBlocks,
    mode: &Mode,
    extent: Extent,
    write: impl for<'g> Fn(&Context<'g, '_>, &Point<'g>) -> Expr<'g>,
) -> Expansion {
    let size = mode.latents.len();
    let lanes = size.min(ABREAST);
    let mut program = program_at(density, learned, mode, lanes, |context, at| {
        let graph = context.graph();
        let along = graph.laned_input(DIRECTION, [size]);
        let slope = graph.grad(write(context, at), &[at.latents])[0];
        vec![slope, graph.jvp(&[slope], &[at.latents], &[along])[0]]
    });
    derivatives(&mut program, size, lanes, extent)
}

/// A program of expressions at the mode, with θ at its value there.
pub(crate) fn program_at(
    density: &dyn Density,
    learned: &LearnedBlocks,
    mode: &Mode,
    lanes: usize,
    write: impl for<'g> FnOnce(&Context<'g, '_>, &Point<'g>) -> Vec<Expr<'g>>,
) -> Program {
    let latents: Arc<[f64]> = mode.latents.as_slice().into();
    let program = compile(density, learned, (lanes, 0), |context| {
        let at = context.at(context.fixed("mode_latents", [latents.len()], &latents));
        write(context, &at)
    });
    let mut program = program.expect("no batch is drawn");
    let mut learned = learned.clone();
    if let Some(range) = learned.range_of(PARAMS) {
        learned.values[range].copy_from_slice(&mode.params);
    }
    program.set_learned(&learned.values);
    program
}

/// Gradient and Hessian from a program of the slope and its derivative along a direction.
fn derivatives(program: &mut Program, size: usize, lanes: usize, extent: Extent) -> Expansion {
    let mut product = |directions: &[f64]| {
        // A term that is linear in z does not need a direction.
        let slot = program.plan().input_named(DIRECTION);
        program.workspace_mut().set_input(slot, directions);
        program.run();
        match slot {
            Some(_) => program.output(1).to_vec(),
            None => vec![0.0; size],
        }
    };
    let hessian = match extent {
        Extent::Full => {
            let product = |directions: &[f64]| Ok::<_, Infallible>(product(directions));
            let Ok(columns) = hessian::hessian_columns(size, lanes, product);
            columns
        }
        Extent::Diagonal => hessian::hessian_diagonal(size, lanes, product),
    };
    Expansion {
        gradient: program.output(0).to_vec(),
        hessian,
    }
}
