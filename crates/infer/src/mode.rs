//! The mode of the posterior and the curvature there: where guides start.

use std::sync::Arc;

use lehr_density::{Density, Point};
use lehr_graph::{Graph, Plan, Workspace};

use crate::control::Control;
use crate::frame::Frame;
use crate::linear::{Factor, cholesky, inverse_factor};
use crate::pass::{hessian_products, value_and_slopes};
use lehr_numeric::lbfgs::{LbfgsSettings, Reason, maximise};
use lehr_numeric::stream::Stream;

/// Above this many latents the Hessian is not computed.
pub const MAX_DENSE: usize = 2000;
/// Directions per pass over the rows.
const DIRECTIONS: usize = 16;

/// The point a fit starts around: the maximum of log p(D, z) in z and θ together, or what
/// [`settle`](crate::settle) found instead.
#[derive(Clone, Debug)]
pub struct Mode {
    /// z*
    pub latents: Vec<f64>,
    /// θ*
    pub params: Vec<f64>,
    /// The largest value found, of log p(D, z*) at a mode.
    pub log_joint: f64,
    /// Iterations of the search.
    pub iterations: usize,
    /// Why the search ended.
    pub reason: Reason,
}

/// First and second derivatives of the log likelihood and the prior at a mode.
#[derive(Clone, Debug)]
pub struct Curvature {
    /// Σ log p(yₙ | z*)
    pub log_likelihood: f64,
    /// Its gradient.
    pub gradient: Vec<f64>,
    /// Its Hessian, row-major.
    pub hessian: Vec<f64>,
    /// The Hessian of the log prior.
    pub prior_hessian: Vec<f64>,
}

/// The log prior with its slopes.
pub(crate) struct Prior {
    plan: Plan,
    workspace: Workspace,
}

impl Prior {
    pub(crate) fn new(density: &dyn Density) -> Prior {
        let graph = Graph::new();
        let z = graph.input("z", [density.latents().size()]);
        let params = graph.input("params", [density.params().size()]);
        let value = density.log_prior(&Point::new(z, params));
        let mut outputs = vec![value];
        outputs.extend(graph.grad(value, &[z, params]));
        let plan = Plan::new(&outputs, 1);
        let workspace = plan.workspace();
        Prior { plan, workspace }
    }

    fn run(&mut self, z: &[f64], params: &[f64]) {
        set_point(&self.plan, &mut self.workspace, (z, params));
        self.plan.run(&mut self.workspace);
    }

    /// The log prior and its slope in z.
    pub(crate) fn at(&mut self, z: &[f64], params: &[f64]) -> (f64, &[f64]) {
        self.run(z, params);
        (self.workspace.output(0)[0], self.workspace.output(1))
    }
}

/// Climbs from the model's own start to the mode, over all rows at every step.
pub fn find_mode(density: &dyn Density, settings: LbfgsSettings) -> Mode {
    let size = density.latents().size();
    let start = [density.latents().start(), density.params().start()].concat();
    let mut prior = Prior::new(density);
    let mut rows = value_and_slopes(density);
    let found = maximise(&start, settings, |point, slope| {
        let (z, params) = point.split_at(size);
        prior.run(z, params);
        let sums = rows.run(&[z, params]);
        let parts = [
            (prior.workspace.output(1), &sums[1]),
            (prior.workspace.output(2), &sums[2]),
        ];
        let mut at = 0;
        for (a, b) in parts {
            for (a, b) in a.iter().zip(b) {
                slope[at] = a + b;
                at += 1;
            }
        }
        prior.workspace.output(0)[0] + sums[0][0]
    });
    let (latents, params) = found.point.split_at(size);
    Mode {
        latents: latents.to_vec(),
        params: params.to_vec(),
        log_joint: found.value,
        iterations: found.iterations,
        reason: found.reason,
    }
}

impl Mode {
    /// Where the model itself would start, before any search.
    pub(crate) fn start(density: &dyn Density) -> Mode {
        Mode {
            latents: density.latents().start().to_vec(),
            params: density.params().start().to_vec(),
            log_joint: f64::NEG_INFINITY,
            iterations: 0,
            reason: Reason::Iterations,
        }
    }

    /// The control variate of the data term to first order, by one pass.
    pub fn control(&self, density: &dyn Density) -> Control {
        let mut pass = value_and_slopes(density);
        let sums = pass.run(&[&self.latents, &self.params]);
        Control {
            mode: self.latents.as_slice().into(),
            value: sums[0][0],
            gradient: sums[1].as_slice().into(),
            hessian: None,
            params: self.params.as_slice().into(),
            summed: None,
        }
    }

    /// Slopes and curvature at the mode, by one pass per few directions.
    pub fn curvature(&self, density: &dyn Density) -> Curvature {
        let size = self.latents.len();
        let mut first = value_and_slopes(density);
        let sums = first.run(&[&self.latents, &self.params]);
        let (log_likelihood, gradient) = (sums[0][0], sums[1].clone());
        let lanes = DIRECTIONS.min(size.max(1));
        let mut products = hessian_products(density, lanes);
        let hessian = columns(size, lanes, |directions| {
            products.run(&[&self.latents, &self.params, directions])[0].clone()
        });
        Curvature {
            log_likelihood,
            gradient,
            hessian: symmetric(hessian, size),
            prior_hessian: symmetric(self.prior_hessian(density, lanes), size),
        }
    }

    fn prior_hessian(&self, density: &dyn Density, lanes: usize) -> Vec<f64> {
        let mut products = PriorProducts::new(self, density, lanes);
        columns(self.latents.len(), lanes, |directions| {
            products.run(directions).to_vec()
        })
    }
}

/// Products of the prior's Hessian at a mode with one direction per lane.
struct PriorProducts {
    plan: Plan,
    workspace: Workspace,
}

impl PriorProducts {
    fn new(mode: &Mode, density: &dyn Density, lanes: usize) -> PriorProducts {
        let graph = Graph::new();
        let z = graph.input("z", [mode.latents.len()]);
        let params = graph.input("params", [mode.params.len()]);
        let along = graph.laned_input("along", [mode.latents.len()]);
        let value = density.log_prior(&Point::new(z, params));
        let slope = graph.grad(value, &[z])[0];
        let plan = Plan::new(&graph.jvp(&[slope], &[z], &[along]), lanes);
        let mut workspace = plan.workspace();
        set_point(&plan, &mut workspace, (&mode.latents, &mode.params));
        PriorProducts { plan, workspace }
    }

    /// One product after another; without lanes where no direction matters.
    fn run(&mut self, directions: &[f64]) -> &[f64] {
        if let Some(slot) = self.plan.input_named("along") {
            self.workspace.set(slot, directions);
        }
        self.plan.run(&mut self.workspace);
        self.workspace.output(0)
    }
}

/// Whether a site's prior depends on another site other than through its location: as the prior
/// of effects does on their spread. The curvature between the two then changes from place to
/// place, while that of a shifted Gaussian does not.
pub(crate) fn has_hierarchy(density: &dyn Density) -> bool {
    let latents = density.latents();
    let sites = latents.sites().len();
    let wave = |phase: f64| move |k: usize| 0.7 * (phase + 1.3 * k as f64).sin();
    let mut directions = vec![0.0; sites * latents.size()];
    for site in 0..sites {
        let own = latents.range(site);
        let lane = &mut directions[site * latents.size()..][own.clone()];
        lane.iter_mut()
            .zip(own)
            .for_each(|(to, k)| *to = wave(0.5)(k));
    }
    let across = |phase: f64| {
        let mut at = Mode::start(density);
        for (k, z) in at.latents.iter_mut().enumerate() {
            *z += wave(phase)(k);
        }
        let products = PriorProducts::new(&at, density, sites)
            .run(&directions)
            .to_vec();
        let kept = (0..sites).flat_map(|site| {
            let lane = &products[site * latents.size() % products.len()..][..latents.size()];
            let own = latents.range(site);
            lane[..own.start]
                .iter()
                .chain(&lane[own.end..])
                .copied()
                .collect::<Vec<f64>>()
        });
        kept.collect::<Vec<f64>>()
    };
    let (here, there) = (across(0.0), across(1.0));
    let differs = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9 * (1.0 + a.abs() + b.abs());
    here.iter().zip(&there).any(differs)
}

/// Sets z and θ where the plan reads them.
fn set_point(plan: &Plan, workspace: &mut Workspace, (z, params): (&[f64], &[f64])) {
    for (name, values) in [("z", z), ("params", params)] {
        if let Some(slot) = plan.input_named(name) {
            workspace.set(slot, values);
        }
    }
}

/// Random signs per pass for the diagonal of a Hessian, and passes.
const PROBES: usize = 16;
const PROBE_PASSES: usize = 4;

impl Mode {
    /// The frame of independent latents where a whole Hessian is too large: its diagonal by
    /// random signs, E[s ∘ Hs], the prior's and the likelihood's together.
    pub fn diagonal_frame(&self, density: &dyn Density, seed: u64) -> Frame {
        let size = self.latents.len();
        let mut rows = hessian_products(density, PROBES);
        let mut diagonal = vec![0.0; size];
        let mut signs = vec![0.0; PROBES * size];
        for pass in 0..PROBE_PASSES {
            let mut stream = Stream::new(seed, "probe", pass as u64);
            fill_signs(&mut stream, &mut signs);
            let products = &rows.run(&[&self.latents, &self.params, &signs])[0];
            add_probes(&mut diagonal, &signs, products, PROBES * PROBE_PASSES);
        }
        let prior = self.prior_diagonal(density);
        let scale = |(rows, prior): (&f64, &f64)| {
            let curvature = (-rows).max(0.0) - prior;
            if curvature > 0.0 && curvature.is_finite() {
                curvature.powf(-0.5)
            } else {
                1.0
            }
        };
        Frame::Diagonal {
            shift: self.latents.as_slice().into(),
            scale: diagonal.iter().zip(&prior).map(scale).collect(),
        }
    }

    /// The diagonal of the prior's Hessian, by random signs in one pass of its own.
    fn prior_diagonal(&self, density: &dyn Density) -> Vec<f64> {
        let size = self.latents.len();
        let mut signs = vec![0.0; PROBES * size];
        fill_signs(&mut Stream::new(0, "prior probe", 0), &mut signs);
        let mut products = PriorProducts::new(self, density, PROBES);
        let mut diagonal = vec![0.0; size];
        add_probes(&mut diagonal, &signs, products.run(&signs), PROBES);
        diagonal
    }
}

/// Adds the mean of s ∘ Hs over so many probes.
fn add_probes(diagonal: &mut [f64], signs: &[f64], products: &[f64], probes: usize) {
    let size = diagonal.len();
    for (k, (sign, product)) in signs.iter().zip(products.iter().cycle()).enumerate() {
        diagonal[k % size] += sign * product / probes as f64;
    }
}

/// Fills with −1 or 1, equally likely.
fn fill_signs(stream: &mut Stream, signs: &mut [f64]) {
    for sign in signs {
        *sign = if stream.uniform() < 0.5 { -1.0 } else { 1.0 };
    }
}

/// The unit vectors from `first` on, as many as there are lanes; zeros for what is left.
pub(crate) fn unit_vectors(size: usize, first: usize, lanes: usize) -> Vec<f64> {
    let mut vectors = vec![0.0; lanes * size];
    for lane in 0..lanes.min(size - first) {
        vectors[lane * size + first + lane] = 1.0;
    }
    vectors
}

/// A matrix from its products with unit vectors, `lanes` at a time.
pub(crate) fn columns(
    size: usize,
    lanes: usize,
    mut product: impl FnMut(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let mut matrix = vec![0.0; size * size];
    for first in (0..size).step_by(lanes) {
        let count = lanes.min(size - first);
        // Curvature that does not depend on the direction (a linear function's) has no lanes.
        let found = product(&unit_vectors(size, first, lanes))
            .into_iter()
            .cycle();
        let rows = &mut matrix[first * size..(first + count) * size];
        rows.iter_mut().zip(found).for_each(|(to, from)| *to = from);
    }
    matrix
}

/// The symmetric part: rounding leaves the two triangles slightly apart.
pub(crate) fn symmetric(mut matrix: Vec<f64>, size: usize) -> Vec<f64> {
    for i in 0..size {
        for j in 0..i {
            let mean = 0.5 * (matrix[i * size + j] + matrix[j * size + i]);
            matrix[i * size + j] = mean;
            matrix[j * size + i] = mean;
        }
    }
    matrix
}

impl Curvature {
    /// Λ = −∇² log p(D, z*), the precision of the Laplace approximation.
    pub fn precision(&self) -> Vec<f64> {
        self.hessian
            .iter()
            .zip(&self.prior_hessian)
            .map(|(h, p)| -(h + p))
            .collect()
    }

    /// A lower factor F with F Fᵀ = Λ⁻¹; `None` if the curvature is not that of a maximum.
    pub fn factor(&self) -> Option<Factor> {
        let size = self.gradient.len();
        inverse_factor(&cholesky(&self.precision(), size)?)
    }

    /// The frame of a correlated Gaussian; `None` if the curvature is not that of a maximum.
    pub fn dense_frame(&self, mode: &Mode) -> Option<Frame> {
        Some(Frame::Dense {
            shift: mode.latents.as_slice().into(),
            factor: self.factor()?.values.into(),
        })
    }

    /// The frame of independent latents: scales Λᵢᵢ^(−½), those of the best independent
    /// Gaussian; one where the curvature is not that of a maximum.
    pub fn diagonal_frame(&self, mode: &Mode) -> Frame {
        let size = self.gradient.len();
        let precision = self.precision();
        let scale = |i: usize| {
            let curvature = precision[i * size + i];
            if curvature > 0.0 && curvature.is_finite() {
                curvature.powf(-0.5)
            } else {
                1.0
            }
        };
        Frame::Diagonal {
            shift: mode.latents.as_slice().into(),
            scale: (0..size).map(scale).collect(),
        }
    }

    /// The control variate of the data term.
    pub fn control(&self, mode: &Mode) -> Control {
        Control {
            mode: mode.latents.as_slice().into(),
            value: self.log_likelihood,
            gradient: self.gradient.as_slice().into(),
            hessian: Some(self.hessian.as_slice().into()),
            params: Arc::from(mode.params.as_slice()),
            summed: None,
        }
    }

    /// The Laplace approximation of the log evidence.
    pub fn log_evidence(&self, mode: &Mode) -> Option<f64> {
        let size = self.gradient.len();
        let factor = self.factor()?;
        let volume = factor.log_volume();
        let constant = crate::guide::HALF_LN_TWO_PI * size as f64;
        Some(mode.log_joint + constant + volume)
    }
}
