//! Numeric draws of local latents from their prior.

use std::ops::Range;

use lehr_graph::{Plan, Slot, Workspace};
use rand_core::Rng;

use super::Locals;
use crate::{Family, Point, Rows, Site};

/// How often a draw on the edge of its support is repeated.
const MOST_DRAWS: usize = 100;

/// The priors of local latents as functions of the latents and parameters.
pub(crate) struct PriorDraws {
    plan: Plan,
    workspace: Workspace,
    latents: Option<Slot>,
    params: Option<Slot>,
    locals: Option<Slot>,
    sites: Vec<PlannedSite>,
    rows: usize,
    /// The latents of each row, flat and unconstrained, row after row.
    flat: Vec<f64>,
}

/// One site of a plan.
struct PlannedSite {
    site: Site,
    family: &'static dyn Family,
    /// The outputs that are its parameters.
    parameters: Range<usize>,
    /// Independent draws that make its value in one row.
    batch: usize,
    /// Its places among a row's flat latents.
    places: Range<usize>,
}

impl PriorDraws {
    /// The priors on rows that carry an input as their latents, and whose columns `fill` sets.
    pub(crate) fn new<'g>(
        locals: &dyn Locals,
        at: &Point<'g>,
        rows: &Rows<'g>,
        fill: impl FnOnce(&Plan, &mut Workspace),
    ) -> PriorDraws {
        let layout = locals.layout();
        let input = rows.locals().expect("rows that carry their latents");
        let laws = locals.local_laws(at, rows);
        let mut outputs = Vec::new();
        let mut sites = Vec::new();
        for (place, law) in laws.into_iter().enumerate() {
            let first = outputs.len();
            outputs.extend(law.parameters);
            sites.push(PlannedSite {
                site: layout.sites()[place].clone(),
                family: law.family,
                parameters: first..outputs.len(),
                batch: law.batch,
                places: layout.range(place),
            });
        }
        let plan = Plan::new(&outputs, 1);
        let mut workspace = plan.workspace();
        fill(&plan, &mut workspace);
        PriorDraws {
            latents: plan.input(at.latents),
            params: plan.input(at.params),
            locals: plan.input(input),
            workspace,
            plan,
            sites,
            rows: rows.len(),
            flat: layout.start().repeat(rows.len()),
        }
    }

    /// A draw of every row's local latents given the shared latents, flat and unconstrained.
    pub(crate) fn draw_locals(
        &mut self,
        latents: &[f64],
        params: &[f64],
        random: &mut dyn Rng,
    ) -> &[f64] {
        for (slot, values) in [(self.latents, latents), (self.params, params)] {
            self.workspace.set_input(slot, values);
        }
        // A site may depend on those before it, which have been set by then.
        for planned in &self.sites {
            self.workspace.set_input(self.locals, &self.flat);
            self.plan.run(&mut self.workspace);
            let width = self.flat.len() / self.rows;
            for row in 0..self.rows {
                let free = planned.draw_site(&self.workspace, self.rows, row, random);
                self.flat[row * width..][planned.places.clone()].copy_from_slice(&free);
            }
        }
        &self.flat
    }
}

impl PlannedSite {
    /// The site of one row on the unconstrained scale.
    fn draw_site(
        &self,
        workspace: &Workspace,
        rows: usize,
        row: usize,
        random: &mut dyn Rng,
    ) -> Vec<f64> {
        let mut value = vec![0.0; self.site.shape().size()];
        let event = value.len() / self.batch.max(1);
        for _ in 0..MOST_DRAWS {
            for (k, part) in value.chunks_exact_mut(event.max(1)).enumerate() {
                let own: Vec<&[f64]> = (self.parameters.clone())
                    .map(|output| {
                        let whole = workspace.output(output);
                        let width = whole.len() / (rows * self.batch);
                        &whole[(row * self.batch + k) * width..][..width]
                    })
                    .collect();
                self.family.draw_value(&own, random, part);
            }
            if let Ok(free) = self.site.support.unconstrain_values(&value) {
                return free;
            }
        }
        // Nothing inside the support can be drawn, so everything that depends on it is NaN.
        vec![f64::NAN; self.places.len()]
    }
}
