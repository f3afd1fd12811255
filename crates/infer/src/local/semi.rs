//! A guide of the shared latents, with chains over the local ones.

use std::sync::Arc;

use lehr_density::{Density, LocalNormal, Point, Rows, rows_here};
use lehr_graph::Expr;
use lehr_rows::{Argument, RowPass};

use super::RowChains;
use crate::expansion::ExpansionPoint;
use crate::guide::{Block, Context, Guide, GuideDraw, RowNumbers};

/// Semi-DAIS (Jankowiak & Phan 2022): z from any guide, and for each scored row a chain over its
/// local latents given z. The density must integrate over them ([`Density::integrates`]).
pub struct Semi {
    /// The guide of z.
    pub latents: Arc<dyn Guide>,
    /// The chains of rows.
    pub rows: RowChains,
    /// The learned numbers of every row, if the chains start from those.
    pub own: Option<RowNumbers>,
}

impl Guide for Semi {
    fn blocks(&self, density: &dyn Density) -> Vec<Block> {
        let mut blocks = self.latents.blocks(density);
        let width = density.integrates().map_or(0, |own| own.layout().size());
        blocks.extend(self.rows.blocks(width));
        blocks
    }

    fn draw<'g>(&self, context: &Context<'g, '_>) -> GuideDraw<'g> {
        self.latents.draw(context)
    }

    fn reversed<'g>(&self, context: &Context<'g, '_>, latents: Expr<'g>) -> Option<Expr<'g>> {
        self.latents.reversed(context, latents)
    }

    fn log_likelihood<'g>(
        &self,
        context: &Context<'g, '_>,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> Expr<'g> {
        self.rows.log_likelihood(context, at, rows)
    }

    fn row_numbers(&self) -> Option<RowNumbers> {
        self.own.clone()
    }
}

/// The means and log scales of every row's normal at the mode of its joint density given z, in the
/// order of batches.
///
/// # Panics
/// If the density is not an integral over local latents.
pub fn peaks(density: &dyn Density, at: &ExpansionPoint) -> RowNumbers {
    const ROWS: usize = 4096;
    let locals = density.integrates().expect("latents of rows");
    let width = locals.layout().size();
    let sizes = [&at.latents, &at.params].map(|one| Argument::Shared(one.len()));
    let pass = RowPass::in_blocks(rows_here(density), (1, ROWS), &sizes, |inputs, rows| {
        let at = Point::new(inputs[0], inputs[1]);
        let normal = LocalNormal::posterior_normal(locals, &at, rows);
        let scales = normal.scales().into_iter().map(Expr::ln);
        let numbers = normal.centre.iter().copied().chain(scales);
        numbers.map(|one| one.broadcast([rows.len()])).collect()
    });
    let mut start = vec![0.0; density.n_rows() * 2 * width];
    let mut pass = pass.in_batch_order();
    pass.each(&[&at.latents, &at.params], |range, found| -> Option<()> {
        for place in 0..2 * width {
            let values = found.output(place).iter();
            for (row, value) in range.clone().zip(values) {
                start[row * 2 * width + place] = *value;
            }
        }
        None
    });
    RowNumbers {
        width: 2 * width,
        start: start.into(),
    }
}

/// The same numbers in every row: the start of each latent, and one scale.
pub fn alike(density: &dyn Density, scale: f64) -> RowNumbers {
    let locals = density.integrates().expect("latents of rows");
    let layout = locals.layout();
    let row = [layout.start(), &vec![scale.ln(); layout.size()]].concat();
    RowNumbers {
        width: row.len(),
        start: row.repeat(density.n_rows()).into(),
    }
}
