//! `points`: random rows with learned values of their local latents, the point form of the paper's
//! N+1 chains.

use std::sync::Arc;

use lehr_density::{Density, LocalNormal, Locals, Point, StoredForm};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::expansion::{at_start, program_at};
use super::kind::{Maker, SurrogateRequest, read};
use super::row_surrogate::random_rows;
use super::weighted_rows::WeightedRows;
use super::{FixedRows, Recipe, Surrogate, SurrogateInfo, SurrogateKind};
use crate::bytes::stored;
use crate::error::SurrogateError;
use crate::expansion::Mode;
use crate::guide::{Block, Context};

/// The row of this surrogate.
pub(super) static INFO: SurrogateInfo = SurrogateInfo {
    name: "points",
    help: "random rows with a learned value of their own latents each; models with latents of rows",
    maker: &PointMaker,
};

/// The learned w̃, `[n, d]`.
const LOCALS: &str = "surrogate_locals";

/// Ψ̂(z) = Σ ωⱼ log p(ỹⱼ, w̃ⱼ | z) with learned weights ω and values w̃ of the rows' local latents.
/// The paper's chain moves copies of w̃ along with z, without a density at its end; as parameters
/// they need none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PointRows {
    weighted: WeightedRows,
    /// The starting values of w̃, row after row.
    start: Vec<f64>,
}

impl PointRows {
    /// On these rows of the table, with starting values of their local latents, row after row.
    ///
    /// # Panics
    /// If there is not a value for each latent of each row.
    pub fn on_rows(density: &dyn Density, rows: &[usize], start: Vec<f64>) -> PointRows {
        let width = density
            .integrates()
            .map_or(0, |locals| locals.layout().size());
        assert_eq!(start.len(), rows.len() * width, "a value for each latent");
        PointRows {
            weighted: WeightedRows::uniform(FixedRows::of(density, rows)),
            start,
        }
    }

    fn block(&self) -> Block {
        let rows = self.weighted.rows().len();
        let dims = [rows, self.start.len() / rows.max(1)];
        Block::new(LOCALS, &dims, self.start.clone())
    }
}

impl Surrogate for PointRows {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = self.weighted.blocks();
        blocks.push(self.block());
        blocks
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        let locals = context.density().integrates().expect("checked");
        let rows = self.weighted.rows().rows(context);
        let rows = rows.with_locals(context.learned(&self.block()));
        let each = locals.weight_rows(locals.log_joint(at, &rows), &rows);
        self.weighted.weigh(context, each)
    }

    fn contents(&self) -> String {
        format!("{} rows of the table", self.weighted.rows().len())
    }

    fn store(&self) -> StoredForm {
        stored(self.name(), self)
    }
}

/// Makes `points`.
struct PointMaker;

impl Maker for PointMaker {
    fn needs_locals(&self) -> bool {
        true
    }

    fn build(&self, order: &SurrogateRequest<'_>) -> Result<Arc<dyn Surrogate>, SurrogateError> {
        let (density, setup) = (order.density, order.setup);
        let locals = locals(density)?;
        let rows = random_rows(density, order.settings.rows, setup.seed);
        let start = match setup.mode {
            Some(mode) => peaks(density, locals, &FixedRows::of(density, &rows), mode),
            None => locals.layout().start().repeat(rows.len()),
        };
        Ok(Arc::new(PointRows::on_rows(density, &rows, start)))
    }

    fn restore(
        &self,
        _: SurrogateKind,
        bytes: &[u8],
        density: &dyn Density,
    ) -> Result<Arc<dyn Surrogate>, SurrogateError> {
        let points: PointRows = read(bytes)?;
        points.weighted.check(Recipe::RANDOM, density)?;
        let width = locals(density)?.layout().size();
        if points.start.len() != points.weighted.rows().len() * width {
            return Err(SurrogateError::Damaged);
        }
        Ok(Arc::new(points))
    }
}

fn locals(density: &dyn Density) -> Result<&dyn Locals, SurrogateError> {
    let kind = SurrogateKind::POINTS;
    density.integrates().ok_or_else(|| {
        SurrogateError::refusal(format!(
            "{kind} is for models whose rows have latents of their own, but these have none\n  \
             hint: rand and taylor serve every likelihood"
        ))
    })
}

/// The modes of the rows' local latents given the mode, row after row.
fn peaks(density: &dyn Density, locals: &dyn Locals, rows: &FixedRows, mode: &Mode) -> Vec<f64> {
    let learned = at_start(density, Vec::new());
    let mut program = program_at(density, &learned, mode, 1, |context, at| {
        let rows = rows.rows(context);
        let normal = LocalNormal::posterior_normal(locals, at, &rows);
        let each = normal.centre.iter();
        each.map(|w| w.broadcast([rows.len()])).collect()
    });
    program.run();
    let width = locals.layout().size();
    let place = |at: usize| program.output(at % width)[at / width];
    (0..rows.len() * width).map(place).collect()
}
