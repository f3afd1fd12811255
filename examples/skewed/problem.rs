//! Realistic problems whose posteriors are far from Gaussian.

use lehr::numeric::stream::Stream;
use lehr::prelude::*;

use crate::Result;

/// A model, its data, and the site to plot.
pub(crate) struct Problem {
    pub(crate) name: &'static str,
    pub(crate) model: Model,
    pub(crate) table: Table,
    /// The site whose marginal is drawn.
    pub(crate) shown: &'static str,
    /// K
    pub(crate) chain_steps: usize,
}

/// Events so rare that most of twenty sites have none: only the prior bounds the effects of these
/// sites from below.
pub(crate) fn rare_events() -> Result<Problem> {
    const SITES: usize = 20;
    const EACH: usize = 100;
    let mut stream = Stream::new(5, "rare", 0);
    let codes: Vec<u32> = (0..SITES * EACH).map(|n| (n % SITES) as u32).collect();
    let y = codes.iter().map(|_| f64::from(stream.uniform() < 0.006));
    let y: Vec<f64> = y.collect();
    let levels = (0..SITES).map(|g| format!("site {g:02}")).collect();
    let table = Table::new()
        .with_number("y", y)?
        .with_category("site", codes, levels)?;
    let model = Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 10.0));
        let effect = m.sample("effect", StudentT::new(3.0, 0.0, 2.5).expand([SITES]));
        m.rows(|row| {
            let logit = effect.at(row.index("site")) + level;
            row.observe("y", Bernoulli::with_logit(logit));
        });
    });
    Ok(Problem {
        name: "rare events",
        chain_steps: 32,
        model,
        table,
        shown: "level",
    })
}

/// Thirty small trials whose standard errors are as large as their differences. The standard
/// deviation of the true effects is hardly determined, and small values of it leave the effects no
/// room.
pub(crate) fn small_groups() -> Result<Problem> {
    const TRIALS: usize = 30;
    let mut stream = Stream::new(2, "trials", 0);
    let error: Vec<f64> = (0..TRIALS).map(|_| 0.7 + stream.uniform()).collect();
    let y = error
        .iter()
        .map(|error| 0.5 + 0.4 * stream.normal() + error * stream.normal());
    let y: Vec<f64> = y.collect();
    let codes = (0..TRIALS as u32).collect();
    let levels = (0..TRIALS)
        .map(|trial| format!("trial {trial:02}"))
        .collect();
    let table = Table::new()
        .with_number("y", y)?
        .with_number("error", error)?
        .with_category("trial", codes, levels)?;
    let model = Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 2.0));
        let spread = m.sample("spread", HalfCauchy::new(1.0));
        let effect = m.sample("effect", Normal::new(level, spread).expand([TRIALS]));
        m.rows(|row| {
            let own = effect.at(row.index("trial"));
            row.observe("y", Normal::new(own, row.number("error")));
        });
    });
    Ok(Problem {
        name: "small groups",
        chain_steps: 96,
        model,
        table,
        shown: "spread",
    })
}

/// Sixteen coefficients of which three matter, under a horseshoe prior.
pub(crate) fn horseshoe() -> Result<Problem> {
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
        chain_steps: 8,
        model,
        table,
        shown: "global",
    })
}
