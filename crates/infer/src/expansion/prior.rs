//! The log prior alone: its gradient, its curvature, and the hierarchy that they reveal.

use lehr_density::{Density, Point};
use lehr_graph::{Graph, Plan, Workspace};

/// The log prior with its slopes.
pub(crate) struct LogPrior {
    plan: Plan,
    workspace: Workspace,
}

impl LogPrior {
    pub(crate) fn new(density: &dyn Density) -> LogPrior {
        let graph = Graph::new();
        let z = graph.input("z", [density.latents().size()]);
        let params = graph.input("params", [density.params().size()]);
        let value = density.log_prior(&Point::new(z, params));
        let mut outputs = vec![value];
        outputs.extend(graph.grad(value, &[z, params]));
        let plan = Plan::new(&outputs, 1);
        let workspace = plan.workspace();
        LogPrior { plan, workspace }
    }

    /// Computes the log prior and its slopes in z and θ, in this order.
    pub(crate) fn run(&mut self, z: &[f64], params: &[f64]) -> &Workspace {
        set_point(&self.plan, &mut self.workspace, (z, params));
        self.plan.run(&mut self.workspace);
        &self.workspace
    }

    /// The log prior and its slope in z.
    pub(crate) fn at(&mut self, z: &[f64], params: &[f64]) -> (f64, &[f64]) {
        let found = self.run(z, params);
        (found.output(0)[0], found.output(1))
    }
}

/// Products of the prior's Hessian at a centre with one direction per lane.
pub(super) struct PriorProducts {
    plan: Plan,
    workspace: Workspace,
}

impl PriorProducts {
    pub(super) fn new(at: (&[f64], &[f64]), density: &dyn Density, lanes: usize) -> PriorProducts {
        let graph = Graph::new();
        let z = graph.input("z", [at.0.len()]);
        let params = graph.input("params", [at.1.len()]);
        let along = graph.laned_input("along", [at.0.len()]);
        let value = density.log_prior(&Point::new(z, params));
        let slope = graph.grad(value, &[z])[0];
        let plan = Plan::new(&graph.jvp(&[slope], &[z], &[along]), lanes);
        let mut workspace = plan.workspace();
        set_point(&plan, &mut workspace, at);
        PriorProducts { plan, workspace }
    }

    /// One product after another; without lanes if the product does not depend on the direction.
    pub(super) fn run(&mut self, directions: &[f64]) -> &[f64] {
        self.workspace
            .set_input(self.plan.input_named("along"), directions);
        self.plan.run(&mut self.workspace);
        self.workspace.output(0)
    }
}

/// Whether a site's prior depends on another site other than through its location, as the prior of
/// random effects depends on their standard deviation. The curvature between the two then varies,
/// while that of a shifted Gaussian is constant.
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
        let mut start = latents.start().to_vec();
        for (k, z) in start.iter_mut().enumerate() {
            *z += wave(phase)(k);
        }
        let products = PriorProducts::new((&start, density.params().start()), density, sites)
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

/// Sets z and θ if the plan reads them.
fn set_point(plan: &Plan, workspace: &mut Workspace, (z, params): (&[f64], &[f64])) {
    for (name, values) in [("z", z), ("params", params)] {
        workspace.set_input(plan.input_named(name), values);
    }
}
