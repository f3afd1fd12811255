//! Three problems whose posteriors are not Gaussian: what does a chain gain over full rank?

use lehr::infer::stream::Stream;
use lehr::prelude::*;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

struct Problem {
    name: &'static str,
    model: Model,
    table: Table,
    shown: &'static str,
}

/// Twelve events in two thousand rows: the likelihood falls off on one side only.
fn rare_events() -> Result<Problem> {
    const ROWS: usize = 2000;
    let mut stream = Stream::new(5, "rare", 0);
    let x: Vec<f64> = (0..ROWS * 4).map(|_| stream.normal()).collect();
    let y = x.chunks(4).map(|row| {
        let logit = -6.5 + 1.2 * row[0] - 0.8 * row[1];
        f64::from(stream.uniform() < 1.0 / (1.0 + (-logit).exp()))
    });
    let table = Table::new()
        .with_number("y", y.collect())?
        .with_matrix("x", ROWS, 4, x)?;
    let model = Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 10.0));
        let weight = m.sample("weight", StudentT::new(3.0, 0.0, 2.5).expand([4]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight) + level;
            row.observe("y", Bernoulli::with_logit(logit));
        });
    });
    Ok(Problem {
        name: "rare events",
        model,
        table,
        shown: "level",
    })
}

/// Thirty clinics with a handful of patients each, their spread unknown.
fn small_groups() -> Result<Problem> {
    const GROUPS: usize = 20;
    const EACH: usize = 4;
    let mut stream = Stream::new(2, "groups", 0);
    let effects: Vec<f64> = (0..GROUPS).map(|_| 0.5 * stream.normal()).collect();
    let codes: Vec<u32> = (0..GROUPS * EACH).map(|n| (n % GROUPS) as u32).collect();
    let y = codes.iter().map(|code| {
        let logit = 0.3 + effects[*code as usize];
        f64::from(stream.uniform() < 1.0 / (1.0 + (-logit).exp()))
    });
    let y: Vec<f64> = y.collect();
    let levels = (0..GROUPS).map(|g| format!("clinic {g:02}")).collect();
    let table = Table::new()
        .with_number("y", y)?
        .with_category("clinic", codes, levels)?;
    let model = Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 2.0));
        let spread = m.sample("spread", HalfCauchy::new(1.0));
        let effect = m.sample("effect", Normal::new(0.0, spread).expand([GROUPS]));
        m.rows(|row| {
            let logit = effect.at(row.index("clinic")) + level;
            row.observe("y", Bernoulli::with_logit(logit));
        });
    });
    Ok(Problem {
        name: "small groups",
        model,
        table,
        shown: "spread",
    })
}

/// Sixteen coefficients of which three matter, under a horseshoe prior.
fn horseshoe() -> Result<Problem> {
    const ROWS: usize = 200;
    const WIDTH: usize = 16;
    let mut stream = Stream::new(3, "horseshoe", 0);
    let x: Vec<f64> = (0..ROWS * WIDTH).map(|_| stream.normal()).collect();
    let y = x
        .chunks(WIDTH)
        .map(|row| row[0] - 0.6 * row[1] + 0.3 * row[2] + stream.normal());
    let y: Vec<f64> = y.collect();
    let table = Table::new()
        .with_number("y", y)?
        .with_matrix("x", ROWS, WIDTH, x)?;
    let model = Model::new(|m| {
        let prior = Horseshoe::new([WIDTH], 0.05).with_slab(2.0);
        let direction = m.sample("direction", prior.direction());
        let local = m.sample("local", prior.local());
        let global = m.sample("global", prior.global());
        let weight = prior.coefficients(direction, local, global);
        let noise = m.sample("noise", HalfNormal::new(2.0));
        m.rows(|row| row.observe("y", Normal::new(row.matrix("x").dot(weight), noise)));
    });
    Ok(Problem {
        name: "horseshoe",
        model,
        table,
        shown: "global",
    })
}

fn main() -> Result<()> {
    for problem in [rare_events()?, small_groups()?, horseshoe()?] {
        let density = problem.model.bind(&problem.table)?;
        println!(
            "{} ({} rows, {} latents)",
            problem.name,
            density.n_rows(),
            density.latents().size()
        );
        for (method, steps) in [
            (Method::MeanField, 0),
            (Method::FullRank, 0),
            (Method::SlDais, 8),
            (Method::SlDais, 32),
            (Method::Dais, 8),
        ] {
            let mut fit = Fit::new(method);
            if steps > 0 {
                fit.chain_steps = Some(steps);
            }
            fit.train.iterations = Iterations::Auto { cap: 30_000 };
            fit.draws = 4096;
            let clock = std::time::Instant::now();
            let p = fit.run(
                &density,
                &mut Run {
                    observer: &mut (),
                    checkpoint: None,
                },
            )?;
            let s = p
                .summaries()
                .into_iter()
                .find(|s| s.name == problem.shown)
                .unwrap();
            println!(
                "  {:10} K={steps:2} bound {:9.2} ± {:.2}  evidence {:9.2} ± {:.2} k̂ {:.2}  {} {:.2} [{:.2}, {:.2}]  {} its {} {:.1} s",
                method.to_string(),
                p.bound.mean,
                p.bound.error,
                p.evidence.mean,
                p.evidence.error,
                p.pareto.shape,
                problem.shown,
                s.mean,
                s.quantiles[0],
                s.quantiles[2],
                p.trained.iterations,
                p.trained.converged,
                clock.elapsed().as_secs_f64()
            );
        }
    }
    Ok(())
}
