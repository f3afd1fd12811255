//! The training step of SL-DAIS as a graph program: gradient in every learned quantity.

use lehr_graph::{Expr, Graph, Plan, Workspace};

/// Sizes of the step.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) steps: usize,
    pub(crate) dim: usize,
    pub(crate) surrogate: usize,
    pub(crate) batch: usize,
    pub(crate) lanes: usize,
}

/// ln N(v; 0, diag M)
fn log_normal<'g>(v: Expr<'g>, log_variance: Expr<'g>, precision: Expr<'g>) -> Expr<'g> {
    -0.5 * ((v.square() * precision).sum() + log_variance.sum())
}

/// Σ wₙ (yₙ sₙ − softplus sₙ) with s = X z
fn logistic<'g>(x: Expr<'g>, y: Expr<'g>, weight: Expr<'g>, z: Expr<'g>) -> Expr<'g> {
    let logit = x.dot(z);
    (weight * (y * logit - logit.softplus())).sum()
}

/// The objective and everything learned.
pub(crate) fn program<'g>(g: &'g Graph, size: Size) -> (Expr<'g>, Vec<Expr<'g>>) {
    let Size {
        steps,
        dim,
        surrogate,
        batch,
        ..
    } = size;
    let mean = g.input("mean", [dim]);
    let log_scale = g.input("log_scale", [dim]);
    let log_variance = g.input("log_variance", [dim]);
    let increments = g.input("increments", [steps]);
    let step = g.input("step", ());
    let kappa = g.input("kappa", ());
    let refresh = g.input("refresh", ());
    let log_weight = g.input("log_weight", [surrogate]);
    let (xs, ys) = (g.input("xs", [surrogate, dim]), g.input("ys", [surrogate]));
    let (xb, yb) = (g.input("xb", [batch, dim]), g.input("yb", [batch]));

    let (scale, weight) = (log_scale.exp(), log_weight.exp());
    let variance = log_variance.exp();
    let (precision, deviation) = (variance.recip(), variance.sqrt());
    let cumulative = increments.exp().cumulative_sum();
    let beta = cumulative / cumulative.entry(steps - 1);
    let gamma = refresh.sigmoid();
    let kept = (1.0 - gamma.square()).sqrt();

    let base = |z: Expr<'g>| {
        let e = (z - mean) / scale;
        -0.5 * e.square().sum() - log_scale.sum()
    };
    let prior = |z: Expr<'g>| -0.5 * z.square().sum();
    let mut z = mean + scale * g.laned_input("e0", [dim]);
    let mut v = deviation * g.laned_input("v0", [dim]);
    let mut bound = -base(z);
    for k in 0..steps {
        let beta = beta.entry(k);
        let eta = (0.25 * step.sigmoid() + kappa * beta).clip(0.0, 0.25);
        let half = z + 0.5 * eta * (precision * v);
        let tempered =
            beta * (prior(half) + logistic(xs, ys, weight, half)) + (1.0 - beta) * base(half);
        let force = g.grad(tempered, &[half])[0];
        let kicked = v + eta * force;
        z = half + 0.5 * eta * (precision * kicked);
        bound = bound + log_normal(kicked, log_variance, precision)
            - log_normal(v, log_variance, precision);
        if k + 1 < steps {
            let noise = g.laned_input(&format!("v{}", k + 1), [dim]);
            v = gamma * kicked + kept * (deviation * noise);
        }
    }
    let scaled = g.scalar(50_000.0 / batch as f64);
    bound = bound + prior(z) + logistic(xb, yb, scaled, z);
    let learned = vec![
        mean,
        log_scale,
        log_variance,
        increments,
        step,
        kappa,
        refresh,
        log_weight,
    ];
    (bound.mean_lanes(), learned)
}

/// A pseudo-random number in (−1, 1), the same for the same place.
pub(crate) fn noise(i: usize) -> f64 {
    let bits = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (bits ^ (bits >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed >> 11) as f64 / (1u64 << 53) as f64) * 2.0 - 1.0
}

/// The plan of value and gradients, and a workspace with inputs in it.
pub(crate) fn plan(size: Size) -> (Plan, Workspace) {
    let g = Graph::new();
    let (bound, learned) = program(&g, size);
    let mut outputs = vec![bound];
    outputs.extend(g.grad(bound, &learned));
    let plan = Plan::new(&outputs, size.lanes);
    let mut workspace = plan.workspace();
    let noisy = |workspace: &mut Workspace, name: &str, scale: f64, shift: f64| {
        if let Some(slot) = plan.input_named(name) {
            for (i, v) in workspace.numbers_mut(slot).iter_mut().enumerate() {
                *v = shift + scale * noise(i + 1000 * name.len());
            }
        }
    };
    for name in ["mean", "xs", "xb", "log_weight"] {
        noisy(&mut workspace, name, 1.0, 0.0);
    }
    for k in 0..size.steps {
        noisy(&mut workspace, &format!("v{k}"), 1.7, 0.0);
    }
    noisy(&mut workspace, "e0", 1.7, 0.0);
    noisy(&mut workspace, "log_scale", 0.0, -2.3);
    noisy(&mut workspace, "step", 0.0, -3.0);
    noisy(&mut workspace, "refresh", 0.0, 2.2);
    for name in ["ys", "yb"] {
        let slot = plan.input_named(name).expect("used");
        for (i, v) in workspace.numbers_mut(slot).iter_mut().enumerate() {
            *v = f64::from(noise(i) > 0.0);
        }
    }
    (plan, workspace)
}
