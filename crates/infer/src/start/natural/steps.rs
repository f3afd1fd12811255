//! A Gaussian over z by natural gradients, and θ by Adam in the same step.  If each row depends on
//! z through one affine predictor uₙ = aₙ·z + bₙ whose slopes depend on θ, as for a Gaussian
//! process by inducing points, u is Gaussian under q(z) = N(μ, S): N(aₙ·μ + bₙ, |Fᵀaₙ|²) with S =
//! FFᵀ. The expected log likelihood of a row is an integral in one dimension, computed by 8
//! Gauss–Hermite nodes (on all rows, at the end of a fit, by as many as each row needs). With ℓ′,
//! ℓ″ its derivatives in u, a step on a batch I is (Khan and Lin 2017)
//!
//! ```text
//! Λ ← (1−ρ)Λ + ρ(P + N/B Σ_I −E[ℓ″] aₙaₙᵀ)        μ ← μ + ρΛ⁻¹(∇ log p(μ) + N/B Σ_I E[ℓ′] aₙ)        S = Λ⁻¹
//! ```
//!  with P the precision of the Gaussian prior. There is no learning rate to choose, and for
//!  Gaussian rows one step with ρ = 1 is exact. Latents that all rows read, such as the logarithm
//!  of a noise scale, are updated with θ.

use faer::MatRef;
use lehr_density::{Density, Point, RowSet, Rows, probe_rows, rows_here};
use lehr_graph::{Expr, Graph, Plan, PlanOptions, Slot, Workspace};
use lehr_numeric::adam::{Adam, AdamSettings};
use lehr_numeric::batch::{BatchError, Epochs};
use lehr_numeric::dense::checked_inverse;
use lehr_numeric::quadrature::Rule;

use super::gaussian_update::{GaussianUpdate, NaturalState, StepInputs};
use crate::fixed::DensityAtParams;
use crate::start::quadrature;
use lehr_rows::lend::{copy_rows, read_columns};

/// Gauss–Hermite nodes of the integral over a predictor.
const NODES: usize = 8;
/// Directions that run together: enough for large products, and some for each of several threads.
const TOGETHER: usize = 64;
/// Added to the variance of a predictor before the square root.
const FLOOR: f64 = 1e-12;

/// Whether steps are possible: one affine predictor per row, slopes that depend on θ, a prior that
/// is Gaussian in all latents except a few that all rows share, and rows in memory.
pub fn applies(density: &dyn Density) -> bool {
    if density.params().is_empty() || density.linear().is_none() {
        return false;
    }
    let graph = Graph::new();
    let (at, rows) = probe_rows(&graph, density);
    let Some(predictor) = quadrature::predictor(density, &at, &rows) else {
        return false;
    };
    let along = graph.input("along", at.params.shape());
    let moved = graph.jvp(&[predictor.sum()], &[at.params], &[along])[0];
    let turned = graph.grad(moved, &[at.latents])[0];
    let start = DensityAtParams::new(density, density.params().start());
    turned.as_number() != Some(0.0)
        && rows_here(density).is_resident()
        && quadrature::applies(&start)
        && has_gaussian_prior(density)
}

/// Whether the log prior has no third derivative in latents that not all rows share.
fn has_gaussian_prior(density: &dyn Density) -> bool {
    let Some(places) = Places::of(density) else {
        return false;
    };
    let graph = Graph::new();
    let inputs = Inputs::new(&graph, density, &places);
    let mut bent = density.log_prior(&inputs.at);
    for _ in 0..3 {
        bent = graph.jvp(&[bent], &[inputs.mean], &[inputs.direction])[0];
    }
    bent.as_number() == Some(0.0)
}

/// The division of z into Gaussian places and places that are updated with θ.
struct Places {
    /// For each site in order, whether all rows share it, and its size.
    sites: Vec<(bool, usize)>,
}

impl Places {
    fn of(density: &dyn Density) -> Option<Places> {
        let shared = quadrature::shared_places(density)?;
        let latents = density.latents();
        let site = |position: usize| {
            let range = latents.range(position);
            (shared.contains(&range.start), range.len())
        };
        Some(Places {
            sites: (0..latents.sites().len()).map(site).collect(),
        })
    }

    fn count(&self, shared: bool) -> usize {
        let own = self
            .sites
            .iter()
            .filter(|(is_shared, _)| *is_shared == shared);
        own.map(|(_, size)| size).sum()
    }

    /// z from its two kinds of places; `cut` extracts a range of either kind.
    fn joined<T>(&self, mut cut: impl FnMut(bool, std::ops::Range<usize>) -> T) -> Vec<T> {
        let mut next = [0, 0];
        let part = |(shared, size): &(bool, usize)| {
            let from = &mut next[usize::from(*shared)];
            *from += size;
            cut(*shared, *from - size..*from)
        };
        self.sites.iter().map(part).collect()
    }
}

/// The inputs of a step: the Gaussian's mean, one direction per lane, θ with the shared latents.
struct Inputs<'g> {
    mean: Expr<'g>,
    direction: Expr<'g>,
    learned: Expr<'g>,
    at: Point<'g>,
}

impl<'g> Inputs<'g> {
    fn new(graph: &'g Graph, density: &dyn Density, places: &Places) -> Inputs<'g> {
        let params = density.params().size();
        let (size, shared) = (places.count(false), places.count(true));
        let mean = graph.input("mean", [size]);
        let learned = graph.input("learned", [params + shared]);
        let parts = places.joined(|is_shared, range| {
            if is_shared {
                learned.slice(0, params + range.start..params + range.end)
            } else {
                mean.slice(0, range)
            }
        });
        Inputs {
            mean,
            direction: graph.laned_input("direction", [size]),
            learned,
            at: Point::new(
                graph.concat(&parts, 0).anchor(),
                learned.slice(0, 0..params).anchor(),
            ),
        }
    }
}

/// Steps on batches of a density.
pub struct NaturalSteps<'d> {
    density: &'d dyn Density,
    places: Places,
    batch: usize,
    epochs: Epochs,
    adam: Adam,
    plan: Plan,
    workspace: Workspace,
    columns: Vec<(usize, Slot)>,
    slots: [Option<Slot>; 3],
    turn: GaussianUpdate,
    /// The rows of a batch, in the form of the sampler and in the form of the reader.
    drawn: Vec<u32>,
    rows: Vec<usize>,
    /// The present state of the iteration.
    pub state: NaturalState,
}

impl<'d> NaturalSteps<'d> {
    /// Steps on batches of this size, starting from a standard normal.
    ///
    /// # Errors
    /// If a batch is larger than the table, or the table has too many rows to number.
    ///
    /// # Panics
    /// Unless [`applies`].
    pub fn new(density: &'d dyn Density, batch: usize, seed: u64) -> Result<Self, BatchError> {
        let places = Places::of(density).expect("one predictor per row");
        let epochs = Epochs::new(density.n_rows() as u64, batch, seed, "natural")?;
        let size = places.count(false);
        let graph = Graph::new();
        let inputs = Inputs::new(&graph, density, &places);
        let rows = Rows::inputs(&graph, density.columns(), batch, "rows.");
        let options = PlanOptions {
            lane_block: TOGETHER,
            ..PlanOptions::lanes(size)
        };
        let plan = Plan::with_options(&outputs(density, &inputs, &rows), &options);
        let slots = [inputs.mean, inputs.direction, inputs.learned].map(|one| plan.input(one));
        let state = NaturalState::start(density, &places);
        Ok(NaturalSteps {
            adam: Adam::new(state.learned.len(), AdamSettings::default()),
            columns: read_columns(&plan, &rows),
            workspace: plan.workspace(),
            turn: GaussianUpdate::new(size, batch),
            drawn: vec![0; batch],
            rows: vec![0; batch],
            density,
            places,
            batch,
            epochs,
            plan,
            slots,
            state,
        })
    }

    /// One step with this ρ and this learning rate of θ. Returns an estimate of the bound before
    /// it; `None` if that is not finite or no part of the step leads to a Gaussian.
    pub fn step(&mut self, step: u64, share: f64, rate: f64) -> Option<f64> {
        self.look(step);
        let bound = self.workspace.output(0)[0] + self.state.entropy();
        if !bound.is_finite() {
            return None;
        }
        let output = |place: usize| self.workspace.output(place);
        let [slopes, curves, prior_slope, along, turned] = [2, 3, 4, 5, 6].map(output);
        let seen = StepInputs {
            slopes,
            curves,
            prior_slope,
            along,
            turned,
        };
        self.turn.advance(&mut self.state, &seen, share)?;
        self.adam
            .ascend(rate, &mut self.state.learned, self.workspace.output(1));
        Some(bound)
    }

    /// The bound and its slope on the batch of a step.
    fn look(&mut self, step: u64) {
        self.load(step);
        let given = [
            &self.state.mean,
            &self.state.directions,
            &self.state.learned,
        ];
        for (slot, values) in self.slots.into_iter().zip(given) {
            self.workspace.set_input(slot, values);
        }
        self.plan.run(&mut self.workspace);
    }

    /// The state and its values on the first batch: numbers that differ between fits.
    pub fn first_look(&mut self) -> Vec<f64> {
        self.look(0);
        let mut seen = self.state.learned.clone();
        seen.push(self.workspace.output(0)[0]);
        seen.extend(self.slope());
        seen
    }

    /// The state from which a later run continues with the same bits.
    pub fn saved(&self) -> (&NaturalState, &Adam) {
        (&self.state, &self.adam)
    }

    /// Continues from a saved state.
    pub fn restore(&mut self, (state, adam): (NaturalState, Adam)) {
        self.state = state;
        self.adam = adam;
    }

    fn load(&mut self, step: u64) {
        let source = rows_here(self.density).batch_order();
        if self.batch == self.density.n_rows() {
            let all = RowSet::Range(0..self.batch);
            return copy_rows(&mut self.workspace, source, &all, &self.columns);
        }
        self.epochs.fill_batch(step, &mut self.drawn);
        for (row, drawn) in self.rows.iter_mut().zip(&self.drawn) {
            *row = *drawn as usize;
        }
        copy_rows(
            &mut self.workspace,
            source,
            &RowSet::List(&self.rows),
            &self.columns,
        );
    }

    /// The slope of the bound in θ and the shared latents before the last step.
    pub fn slope(&self) -> &[f64] {
        self.workspace.output(1)
    }

    /// θ.
    pub fn params(&self) -> &[f64] {
        &self.state.learned[..self.density.params().size()]
    }

    /// The mean of z, including latents that all rows share.
    pub fn latents(&self) -> Vec<f64> {
        let shared = &self.state.learned[self.density.params().size()..];
        let parts = self.places.joined(|is_shared, range| {
            let from = if is_shared { shared } else { &self.state.mean };
            from[range].to_vec()
        });
        parts.concat()
    }

    /// Λ = S⁻¹ of all of z; `None` if all rows share some of it.
    pub fn precision(&self) -> Option<Vec<f64>> {
        let size = self.state.mean.len();
        if size < self.density.latents().size() {
            return None;
        }
        let directions = MatRef::from_row_major_slice(&self.state.directions, size, size);
        let covariance = directions.transpose() * directions;
        let inverse = checked_inverse(&covariance)?;
        let entries = (0..size * size).map(|k| inverse[(k / size, k % size)]);
        Some(entries.collect())
    }
}

impl NaturalState {
    fn start(density: &dyn Density, places: &Places) -> NaturalState {
        let (size, start) = (places.count(false), density.latents().start());
        let mut learned = density.params().start().to_vec();
        let (mut mean, mut from) = (Vec::with_capacity(size), 0);
        for (is_shared, length) in &places.sites {
            let to = if *is_shared { &mut learned } else { &mut mean };
            to.extend(&start[from..from + length]);
            from += length;
        }
        let entry = |k: usize| f64::from(u8::from(k.is_multiple_of(size + 1)));
        NaturalState {
            mean,
            directions: (0..size * size).map(entry).collect(),
            log_volume: 0.0,
            learned,
        }
    }

    /// ½ ln |2πe S|
    fn entropy(&self) -> f64 {
        let size = self.mean.len() as f64;
        0.5 * size * (1.0 + std::f64::consts::TAU.ln()) + self.log_volume
    }
}

/// The bound without its entropy, its slope in the learned parameters, N/B E ℓ′ and N/B E ℓ″ of each
/// row, the prior's slope, and for each direction the rows' change of predictor and the prior's
/// change of slope.
fn outputs<'g>(density: &dyn Density, inputs: &Inputs<'g>, rows: &Rows<'g>) -> Vec<Expr<'g>> {
    let graph = inputs.mean.graph();
    let (at, mean, direction) = (&inputs.at, inputs.mean, inputs.direction);
    let predictor = quadrature::predictor(density, at, rows).expect("one predictor per row");
    let value = density.log_likelihood(at, rows);
    let along = graph.jvp(&[predictor], &[mean], &[direction])[0];
    let centre = predictor.anchor();
    let variance = (along.square().sum_lanes() + FLOOR).anchor();
    let deviation = variance.sqrt();
    let rule = Rule::gauss_hermite(NODES);
    let expected = rule.nodes[0]
        .iter()
        .zip(&rule.weights)
        .map(|(node, weight)| {
            let moved = graph.replace(value, predictor, centre + deviation * *node);
            moved.expect("nothing is summed over lanes") * *weight
        });
    let expected = expected.reduce(|sum, term| sum + term).expect("some nodes");
    let scale = density.n_rows() as f64 / rows.len() as f64;
    let likelihood = expected.sum() * scale;
    let prior = density.log_prior(at);
    let prior_slope = graph.grad(prior, &[mean])[0];
    let turned = graph.jvp(&[prior_slope], &[mean], &[direction])[0];
    let spread = (turned * direction).sum().sum_lanes() * 0.5;
    let bound = likelihood + prior + spread;
    let slopes = graph.grad(likelihood, &[centre, variance]);
    vec![
        bound,
        graph.grad(bound, &[inputs.learned])[0],
        slopes[0],
        slopes[1] * 2.0,
        prior_slope,
        along,
        turned,
    ]
}
