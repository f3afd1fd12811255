//! Chains over local latents: an estimate of log p(yₙ | z) whose mean is not above it.

use lehr_density::{LocalMap, LocalNormal, Locals, Point, Rows};
use lehr_graph::{Expr, Shape};
use serde::{Deserialize, Serialize};

use crate::annealed::{AnnealedStart, Chain, Path, Quantities, State, each};
use crate::guide::{Block, Context, HALF_LN_TWO_PI};

/// The names of the common shift and stretch of the rows' normals.
const SHIFT: &str = "row_shift";
const LOG_STRETCH: &str = "row_log_stretch";

/// The distribution from which the chain of a row starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RowBase {
    /// The normal at the mode of p(w, yₙ | z), computed for every z, with a learned shift and
    /// stretch common to all rows. Nothing is learned for single rows, so new rows are treated as
    /// well as others.
    #[default]
    Newton,
    /// N(mₙ, diag sₙ²) with learned numbers for every row: the paper's form. It cannot depend on z.
    Own,
}

/// K annealed leapfrog steps in the latents of each row, given z. The learned quantities are common
/// to all rows, in units of each row's base.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowChains {
    /// The start of a row's chain.
    pub base: RowBase,
    /// K. Zero steps are the base itself.
    pub steps: usize,
    /// The starting values of the chains' own quantities.
    pub start: AnnealedStart,
}

impl RowChains {
    /// The learned blocks other than numbers of single rows, for this many latents per row.
    pub fn blocks(&self, width: usize) -> Vec<Block> {
        let mut blocks = self.chain_blocks(width);
        if self.base == RowBase::Newton {
            blocks.extend([SHIFT, LOG_STRETCH].map(|name| Block::filled(name, &[width], 0.0)));
        }
        blocks
    }

    /// The learned blocks of the chains themselves.
    fn chain_blocks(&self, width: usize) -> Vec<Block> {
        if self.steps == 0 {
            return Vec::new();
        }
        let named = |block: Block| Block {
            name: format!("row_{}", block.name),
            ..block
        };
        let blocks = self.start.blocks(width, self.steps);
        blocks.into_iter().map(named).collect()
    }

    /// ℒₙ(z) of each row, `[n]`, times the weight of the row:
    ///
    /// ```text
    /// ℒₙ = −log qₙ(w₀) + Σ_k ½(|p_k|² − |p̂_k|²) + log p(w_K | z) + log p(yₙ | w_K, z, xₙ)
    /// ```
    ///
    /// # Panics If the density of the context is not an integral over local latents.
    pub fn log_likelihood<'g>(
        &self,
        context: &Context<'g, '_>,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> Expr<'g> {
        let locals = context.density().integrates().expect("latents of rows");
        let width = locals.layout().size();
        let path = RowPath {
            context,
            locals,
            at,
            rows,
            placed: self.placed(context, locals, at, rows),
        };
        let shape = Shape::from([rows.len(), width]);
        let start = path.noise("base", shape);
        let own = 0.5 * each(start.square()) + HALF_LN_TWO_PI * width as f64;
        let weight = own + path.placed.log_volume();
        let (end, weight) = self.run(&path, start, weight);
        let value = weight + path.joint(end);
        locals.weight_rows(value, rows)
    }

    /// The ends of the chains, and their weights including that of their starts.
    fn run<'g>(
        &self,
        path: &RowPath<'_, 'g, '_>,
        x: Expr<'g>,
        log_weight: Expr<'g>,
    ) -> (Expr<'g>, Expr<'g>) {
        if self.steps == 0 {
            return (x, log_weight);
        }
        let blocks = self.chain_blocks(path.locals.layout().size());
        let learned: Vec<Expr<'g>> = blocks.iter().map(|b| path.context.learned(b)).collect();
        let quantities = Quantities::of(&learned, self.start.max_step_size);
        let chain = Chain {
            path,
            quantities: &quantities,
            steps: self.steps,
        };
        let p = chain.momentum(0, x.shape());
        let end = chain.run(State { x, p }, log_weight);
        (end.x, end.log_weight)
    }

    fn placed<'g>(
        &self,
        context: &Context<'g, '_>,
        locals: &dyn Locals,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> RowCoordinates<'g> {
        match self.base {
            RowBase::Newton => {
                let width = locals.layout().size();
                let shared = |name| context.learned(&Block::filled(name, &[width], 0.0));
                let (shift, log_stretch) = (shared(SHIFT), shared(LOG_STRETCH));
                let normal = LocalNormal::moving_posterior(locals, at, rows);
                RowCoordinates::Newton {
                    log_volume: log_stretch.sum() - normal.log_determinant(),
                    map: normal.map().shifted_map(shift, log_stretch.exp()),
                }
            }
            RowBase::Own => {
                let width = locals.layout().size();
                let own = context.own(rows.len(), 2 * width);
                RowCoordinates::Own {
                    mean: own.slice(1, 0..width),
                    log_scale: own.slice(1, width..2 * width),
                }
            }
        }
    }
}

/// The base of each row: the map from standard coordinates `[n, d]` to its latents.
enum RowCoordinates<'g> {
    Newton {
        /// Coordinates with a shift and stretch common to all rows, because the mode is not the
        /// mean. They are computed once, and not at every step of a chain.
        map: LocalMap<'g>,
        log_volume: Expr<'g>,
    },
    Own {
        mean: Expr<'g>,
        log_scale: Expr<'g>,
    },
}

impl<'g> RowCoordinates<'g> {
    /// The rows with the latents at these coordinates.
    fn carrying(&self, rows: &Rows<'g>, x: Expr<'g>) -> Rows<'g> {
        match self {
            RowCoordinates::Newton { map, .. } => {
                let width = x.shape().dims()[1];
                let column = |k: usize| x.slice(1, k..k + 1).reshape([rows.len()]);
                let columns: Vec<Expr<'g>> = (0..width).map(column).collect();
                rows.carry_numbers(&map.values_at(&columns))
            }
            RowCoordinates::Own { mean, log_scale } => {
                let flat = *mean + log_scale.exp() * x;
                rows.clone().with_locals(flat)
            }
        }
    }

    /// The log of the factor by which the map stretches volumes, `[n]`.
    fn log_volume(&self) -> Expr<'g> {
        match self {
            RowCoordinates::Newton { log_volume, .. } => *log_volume,
            RowCoordinates::Own { log_scale, .. } => each(*log_scale),
        }
    }
}

/// From the base of each row to its joint density, in the coordinates of the base.
struct RowPath<'a, 'g, 'd> {
    context: &'a Context<'g, 'd>,
    locals: &'a dyn Locals,
    at: &'a Point<'g>,
    rows: &'a Rows<'g>,
    placed: RowCoordinates<'g>,
}

impl<'g> RowPath<'_, 'g, '_> {
    fn joint(&self, x: Expr<'g>) -> Expr<'g> {
        let rows = self.placed.carrying(self.rows, x);
        self.locals.log_joint(self.at, &rows)
    }
}

impl<'g> Path<'g> for RowPath<'_, 'g, '_> {
    fn target(&self, _: usize, x: Expr<'g>) -> Expr<'g> {
        self.joint(x)
    }

    fn base(&self, x: Expr<'g>) -> Expr<'g> {
        -0.5 * each(x.square())
    }

    fn noise(&self, name: &str, shape: Shape) -> Expr<'g> {
        self.context.noise(&format!("row {name}"), shape)
    }
}
