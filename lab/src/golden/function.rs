//! Models that are functions: their fits, saved and asked by the command.

use anyhow::Result;
use lehr::model::gp::{InducedGp, Rbf};
use lehr::prelude::*;

use super::table::small;
use super::{Case, Shell};

/// A fit of each model.
pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::program("function/line", |shell| {
            fit(shell, &line(), Fit::named("full-rank")?)
        }),
        Case::program("function/groups by chains", |shell| {
            fit(shell, &groups(), Fit::named("nuts")?.set("warm-up", "150")?)
        }),
        Case::program("function/groups collapsed", |shell| {
            fit(shell, &groups(), Fit::named("collapse")?)
        }),
        Case::program("function/chosen by itself", |shell| {
            fit(
                shell,
                &groups(),
                Fit::named("auto")?.set("budget", "100000000")?,
            )
        }),
        Case::program("function/latent of each row", |shell| {
            fit(
                shell,
                &overdispersed(),
                Fit::named("full-rank")?.set("iterations", "40")?,
            )
        }),
        Case::program("function/three latents of each row", |shell| {
            fit(
                shell,
                &own_numbers(),
                Fit::named("semi-dais")?.set("iterations", "30")?,
            )
        }),
        Case::program("function/learned parameters", |shell| {
            fit(
                shell,
                &learned(),
                Fit::named("sl-dais")?.set("iterations", "60")?,
            )
        }),
        Case::program("function/process", |shell| {
            fit(
                shell,
                &process(),
                Fit::named("full-rank")?.set("iterations", "60")?,
            )
        }),
        Case::program("function/funnel", |shell| {
            fit(
                shell,
                &funnel(),
                Fit::named("iaf")?.set("iterations", "60")?,
            )
        }),
    ]
}

/// Fits a model, records the parts that only the posterior in memory has, saves it, and runs
/// commands on the file.
fn fit(shell: &mut Shell, model: &Model, fit: Fit<'_>) -> Result<()> {
    let table = small()?;
    let density = model.bind(&table)?;
    let posterior = fit.seed(9).draws(200).run(&density)?;
    for summary in posterior.summaries() {
        let values = [&[summary.mean, summary.sd][..], &summary.quantiles].concat();
        let name = shell.name(&format!("posterior.{}", summary.name));
        shell.transcript.numbers(&name, &values);
    }
    let saved = SavedFit::of(posterior)?;
    saved.save(shell.path("fit.lehr"))?;
    shell.run("summary fit.lehr")?;
    shell.run("draws fit.lehr -o draws.csv --raw")?;
    shell.run("predict fit.lehr new.csv -o predicted.csv --only --draws 50 --missing drop")?;
    shell.run("evaluate fit.lehr new.csv --draws 50")
}

/// A line with a quantity that is computed from others.
fn line() -> Model {
    Model::new(|m| {
        let level = m.sample("level", StudentT::new(3.0, 0.0, 2.5));
        let slope = m.sample("slope", Normal::new(0.0, 2.0));
        let scale = m.sample("scale", Exponential::new(1.0));
        m.deterministic("at_one", level + slope);
        m.rows(|row| {
            let mean = level + slope * row.number("x1");
            row.observe("y", StudentT::new(4.0, mean, scale));
        });
    })
}

/// Events, with two columns.
pub(super) fn events() -> Model {
    Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 2.0));
        let first = m.sample("first", Normal::new(0.0, 1.0));
        let second = m.sample("second", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let logit = level + first * row.number("x1") + second * row.number("x2");
            row.observe("hit", Bernoulli::with_logit(logit));
        });
    })
}

/// Events with random effects of sites.
pub(super) fn groups() -> Model {
    Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 2.0));
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let effect = m.sample(
            "effect",
            Normal::new(0.0, spread).expand([m.levels("site")]),
        );
        m.rows(|row| {
            let logit = level + slope * row.number("x1") + effect.at(row.index("site"));
            row.observe("hit", Bernoulli::with_logit(logit));
        });
    })
}

/// Overdispersed counts.
pub(super) fn overdispersed() -> Model {
    Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 1.0));
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let width = m.sample("width", HalfNormal::new(1.0));
        m.rows(|row| {
            let own = row.local("own", Normal::new(0.0, 1.0));
            let log_rate = level + slope * row.number("x1") + width * own;
            row.observe("count", Poisson::with_log_rate(log_rate));
        });
    })
}

/// Three responses that share three local latents of each row.
fn own_numbers() -> Model {
    Model::new(|m| {
        let rate = m.sample("rate", Normal::new(0.0, 2.0));
        let spread = m.sample("spread", HalfNormal::new(1.0).expand([3]));
        m.rows(|row| {
            let own = row.local("own", Normal::new(0.0, 1.0).expand([3]));
            for (k, column) in ["count", "zeros", "hits"].iter().enumerate() {
                let own = spread.entry(k) * own.slice(1, k..k + 1).sum_axis(1);
                let log_rate = rate + 0.3 * row.number("x1") + own;
                row.observe(column, Poisson::with_log_rate(log_rate));
            }
        });
    })
}

/// A line whose noise is learned, not random.
fn learned() -> Model {
    Model::new(|m| {
        let noise = m.param("noise", 1.0, Support::Positive);
        let slope = m.sample("slope", Normal::new(0.0, 2.0));
        let level = m.sample("level", Normal::new(0.0, 2.0));
        m.rows(|row| row.observe("y", Normal::new(level + slope * row.number("x1"), noise)));
    })
}

/// A Gaussian process by its values at six points, with a learned kernel.
fn process() -> Model {
    Model::new(|m| {
        let scale = m.param("scale", 1.0, Support::Positive);
        let lengthscale = m.param("lengthscale", 1.0, Support::Positive);
        let noise = m.param("noise", 0.5, Support::Positive);
        let places = [0.0, 2.0, 4.0, 6.0, 8.0, 10.0];
        let places = m.graph().constant([places.len(), 1], &places);
        let curve = InducedGp::new(m, "curve", Rbf::new(scale, lengthscale), places);
        m.rows(|row| row.observe("curve", curve.marginal_at(row.matrix("day")).normal(noise)));
    })
}

/// Random effects with a prior on their standard deviation and no data.
fn funnel() -> Model {
    Model::new(|m| {
        let width = m.sample("width", Normal::new(0.0, 3.0));
        m.sample("effect", Normal::new(0.0, (0.5 * width).exp()).expand([4]));
        m.rows(|row| row.observe("y", Normal::new(row.number("x1"), 2.0)));
    })
}
