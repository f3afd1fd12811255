//! Three problems whose posteriors are not Gaussian: bounds, k̂ and marginals of the best
//! full-rank Gaussian and of SL-DAIS beside a long run of NUTS.
//!
//! `cargo run --release --example skewed [picture.svg]`

mod nuts;
mod picture;
mod problem;

use std::time::Instant;

use lehr::prelude::*;
use picture::{Panel, svg};
use problem::Problem;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The number of draws of every method and of the reference.
const DRAWS: usize = 8192;

fn main() -> Result<()> {
    let mut panels = Vec::new();
    let problems = [
        problem::rare_events()?,
        problem::small_groups()?,
        problem::horseshoe()?,
    ];
    for problem in problems {
        panels.push(compare(&problem)?);
    }
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(&path, svg(&panels))?;
        println!("picture: {path}");
    }
    Ok(())
}

fn compare(problem: &Problem) -> Result<Panel> {
    let density = problem.model.bind(&problem.table)?;
    let latents = density.latents();
    println!(
        "{}: {} rows, {} latents",
        problem.name,
        density.n_rows(),
        latents.size()
    );
    let place = latents
        .position(problem.shown)
        .expect("a site of the model");
    // Positive sites are logarithms in z, and their marginals are plotted on this scale.
    let place = latents.range(place).start;
    let shown = |draws: &[f64]| -> Vec<f64> {
        let draws = draws.chunks_exact(latents.size());
        draws.map(|z| z[place]).collect()
    };
    let mut lines = Vec::new();
    let (mut gain, mut start) = (0.0, Vec::new());
    let mut chain = SlDais::default();
    chain.chain.steps = Some(problem.chain_steps);
    let name = format!("sl-dais, K = {}", problem.chain_steps);
    for (name, fit) in [
        ("full-rank", Fit::new(FullRank::default())),
        (&name, Fit::new(chain)),
    ] {
        let posterior = made(&density, name, fit)?;
        let bound = posterior.bound().expect("a bound of every guide");
        gain = bound.mean - gain;
        lines.push(shown(&posterior.draws));
        start = posterior.draws[..latents.size()].to_vec();
    }
    let clock = Instant::now();
    let reference = nuts::draws(&density, &start, DRAWS)?;
    println!(
        "  NUTS: {DRAWS} draws in {:.1} s",
        clock.elapsed().as_secs_f64()
    );
    println!("  SL-DAIS gains {gain:.2} nats over full rank");
    Ok(Panel {
        title: format!("{}: +{gain:.1} nats", problem.name),
        axis: match latents.sites()[latents.position(problem.shown).unwrap_or(0)].support {
            Support::Real => problem.shown.to_owned(),
            _ => format!("log {}", problem.shown),
        },
        reference: shown(&reference),
        lines,
    })
}

fn made(density: &dyn Density, name: &str, fit: Fit<'_>) -> Result<Posterior> {
    let clock = Instant::now();
    let posterior = fit.draws(DRAWS).run(density)?;
    let evidence = posterior.evidence.as_ref().expect("a bound of every guide");
    // Nearly equal weights have no tail.
    let shape = posterior.pareto_shape();
    let shape = shape.map_or("–".into(), |k| format!("{k:.2}"));
    let training = posterior.training().expect("training of every guide");
    let (bound, evidence) = (posterior.bound().expect("a bound"), evidence.estimate);
    println!(
        "  {name:16} bound {:9.2} ± {:.2}  evidence {:9.2} ± {:.2}  k̂ {}  {:.1} s{}",
        bound.mean,
        bound.error,
        evidence.mean,
        evidence.error,
        shape,
        clock.elapsed().as_secs_f64(),
        if training.converged {
            ""
        } else {
            "  (not converged)"
        },
    );
    Ok(posterior)
}
