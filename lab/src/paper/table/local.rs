//! Table 5: robust regression with a local latent of each row.

use std::sync::Arc;

use lehr_infer::annealed::AnnealedStart;
use lehr_infer::fit::{Fit, FitError};
use lehr_infer::guide::MeanField as Independent;
use lehr_infer::local::RowBase;
use lehr_infer::method::{MeanField, SemiDais, VariationalSettings};
use lehr_infer::posterior::Estimate;
use lehr_infer::start::Zero;
use lehr_infer::train::{Iterations, Schedule};
use lehr_model::Bound;
use lehr_report::{Axis, Chart, Law, Lines, Mark, Series};
use serde::{Deserialize, Serialize};

use crate::paper::answer::{Answer, Section};
use crate::paper::entry::{NONE, count, difference, estimate, figures, fixed};
use crate::paper::error::PaperError;
use crate::paper::job::{BATCH, Recipe};
use crate::paper::robust::{Robust, Rows, TABLES, remainder};
use crate::paper::runner::{Runner, Watcher};
use crate::paper::setting::Settings;

const NAME: &str = "local";
/// The paper's first step size and learning rate.
const PAPER_STEP_SIZE: f64 = 1e-2;
const PAPER_RATE: f64 = 1e-3;
/// K of the paper.
const LENGTHS: [usize; 2] = [8, 16];

/// The treatment of local latents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By chains of this many steps; zero means mean field.
    Chains(usize),
    /// Integrated by quadrature.
    Integrated,
    /// Integrated in closed form.
    Oracle,
}

/// The result of a fit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Made {
    bound: Estimate,
    steps: u64,
    milliseconds: f64,
    seconds: f64,
}

/// The table.
pub(crate) fn run(settings: &Settings, watcher: &mut dyn Watcher) -> Result<Answer, PaperError> {
    let mut runner = Runner::new(settings, NAME, watcher)?;
    runner.expect(TABLES.len() * settings.fits(entries().len()));
    let mut sections = Vec::new();
    let mut findings = Vec::new();
    for table in TABLES {
        let size = (settings.degrees, settings.train_rows);
        let problem = Robust::new(table, &settings.origin, size)?;
        let mut made = Vec::new();
        for (way, recipe) in entries() {
            made.push(replicated(&mut runner, &problem, (table, way, recipe))?);
        }
        findings.extend(finding(table, &problem, &made, settings.degrees));
        sections.push(section(table, &problem, &made, settings.degrees));
    }
    let answer = Answer {
        table: NAME,
        title: "Table 5: a latent of each row's own".into(),
        protocol: protocol(settings),
        findings,
        sections,
        ..Answer::default()
    };
    answer.written(settings)
}

/// The rows of each section, the baseline first.
fn entries() -> Vec<(Way, Recipe)> {
    let chains = |steps: usize| Recipe::ALL.map(|recipe| (Way::Chains(steps), recipe));
    let mut entries = chains(0).to_vec();
    entries.extend(LENGTHS.into_iter().flat_map(chains));
    entries.push((Way::Integrated, Recipe::Ours));
    entries.extend(Recipe::ALL.map(|recipe| (Way::Oracle, recipe)));
    entries
}

fn label(way: Way) -> String {
    match way {
        Way::Chains(0) => "mean field".into(),
        Way::Chains(steps) => format!("Semi-DAIS-{steps}"),
        Way::Integrated => "integrated".into(),
        Way::Oracle => "oracle".into(),
    }
}

fn replicated(
    runner: &mut Runner<'_>,
    problem: &Robust,
    (table, way, recipe): (Rows, Way, Recipe),
) -> Result<Vec<Made>, PaperError> {
    let settings = runner.settings;
    let steps = match recipe {
        Recipe::Paper => settings.iterations,
        Recipe::Ours => settings.cap,
    };
    let mut all = Vec::new();
    for seed in 0..settings.replications {
        let words = format!("{}, {}, {}", table.name, label(way), recipe.name());
        let key = format!(
            "{words} rows={} nu={} steps={steps} draws={} seed={seed}",
            problem.rows, settings.degrees, settings.draws
        );
        all.push(runner.value(&key, || {
            let failed = |source: FitError| PaperError::Fit {
                cell: words,
                source: Box::new(source),
            };
            made(problem, (way, recipe), settings, seed).map_err(failed)
        })?);
    }
    Ok(all)
}

fn made(
    problem: &Robust,
    (way, recipe): (Way, Recipe),
    settings: &Settings,
    seed: u64,
) -> Result<Made, FitError> {
    let density: &Bound = match way {
        Way::Oracle => &problem.closed,
        _ => &problem.mixture,
    };
    let fit = if let Way::Chains(steps) = way {
        Fit::new(chains(steps, recipe, settings))
    } else {
        let mut method = MeanField::default();
        train(&mut method.variational, recipe, settings);
        Fit::new(method)
    };
    let fit = fit.unexamined().seed(seed).draws(settings.draws);
    let posterior = fit.run(density)?;
    let seconds = posterior.seconds;
    let steps = posterior
        .training()
        .map_or(0, |training| training.iterations);
    Ok(Made {
        bound: posterior.bound().unwrap_or(Estimate::UNKNOWN),
        steps,
        milliseconds: 1e3 * seconds.train / steps.max(1) as f64,
        seconds: seconds.start + seconds.compile + seconds.train + seconds.evaluate,
    })
}

fn chains(steps: usize, recipe: Recipe, settings: &Settings) -> SemiDais {
    let mut method = SemiDais::default();
    method.chain.base = Some(Arc::new(Independent::default()));
    method.chain.steps = Some(steps);
    if recipe == Recipe::Paper {
        method.row_base = RowBase::Own;
        method.chain.start = AnnealedStart {
            step_size: PAPER_STEP_SIZE,
            ..AnnealedStart::default()
        };
    }
    train(&mut method.variational, recipe, settings);
    method
}

fn train(common: &mut VariationalSettings, recipe: Recipe, settings: &Settings) {
    common.batch = Some(BATCH);
    common.train.iterations = Iterations::Auto { cap: settings.cap };
    if recipe == Recipe::Paper {
        common.start = Some(Arc::new(Zero));
        common.control = Some(false);
        common.train.lanes = 1;
        common.train.clip = None;
        common.train.schedule = Schedule::Staircase { start: PAPER_RATE };
        common.train.iterations = Iterations::Fixed(settings.iterations);
    }
}

/// The mean over seeds, with the error over seeds, or that of a single fit.
fn bound(made: &[Made]) -> Option<Estimate> {
    match made {
        [] => None,
        [one] => Some(one.bound),
        many => Some(Estimate::of(
            &many.iter().map(|one| one.bound.mean).collect::<Vec<f64>>(),
        )),
    }
}

/// The gain over mean field by the same recipe.
fn gain(all: &[Vec<Made>], place: usize) -> Option<Estimate> {
    let (_, recipe) = entries()[place];
    let baseline = entries()
        .iter()
        .position(|entry| *entry == (Way::Chains(0), recipe))?;
    difference(bound(&all[place]), bound(&all[baseline]))
}

fn section(table: Rows, problem: &Robust, all: &[Vec<Made>], df: f64) -> Section {
    let ceiling = problem.rows as f64 * remainder(df);
    let heading = format!("{}: {} rows", table.name, count(problem.rows as u64));
    let head = [
        "latents of rows",
        "recipe",
        "bound",
        "gain, nats",
        "of the ceiling",
        "published gain",
        "steps",
        "ms per step",
        "seconds",
    ];
    let mut section = Section::new(heading, &head);
    section.words.push(format!(
        "The ceiling N·R(½(ν + 1)) is {ceiling:.1} nats at ν = {df}: what mean field loses in the \
         rows. Gains are over mean field by the same recipe, so one that ends away from its \
         optimum can seem to gain more."
    ));
    for (place, (way, recipe)) in entries().into_iter().enumerate() {
        let gain = gain(all, place);
        let share = gain.map(|gain| 100.0 * gain.mean / ceiling);
        let mean = |of: fn(&Made) -> f64| {
            let sum: f64 = all[place].iter().map(of).sum();
            Some(sum / all[place].len().max(1) as f64)
        };
        section.rows.push(vec![
            label(way),
            recipe.name().into(),
            estimate(bound(&all[place])),
            estimate(gain),
            share.map_or_else(|| NONE.into(), |share| format!("{share:.0} %")),
            published(table, way),
            fixed(mean(|one| one.steps as f64), 0),
            figures(mean(|one| one.milliseconds)),
            figures(mean(|one| one.seconds)),
        ]);
    }
    let lines = chart(table, all, ceiling);
    section.charts.push(Chart::Lines(lines));
    section
}

/// Gains over mean field against K.
fn chart(table: Rows, all: &[Vec<Made>], ceiling: f64) -> Lines {
    let lengths = [&[0], LENGTHS.as_slice()].concat();
    let series = |name: &str, dashed: bool, of: &dyn Fn(usize) -> f64| Series {
        name: name.into(),
        marks: (lengths.iter())
            .map(|steps| Mark {
                x: *steps as f64,
                y: of(*steps),
                error: 0.0,
            })
            .collect(),
        dashed,
    };
    let gained = |recipe: Recipe| {
        move |steps: usize| {
            let wanted = (Way::Chains(steps), recipe);
            let place = entries().iter().position(|entry| *entry == wanted);
            let found = place.and_then(|place| gain(all, place));
            found.map_or(f64::NAN, |gain| gain.mean)
        }
    };
    let axis = |name: &str| Axis {
        name: name.into(),
        law: Law::Linear,
    };
    Lines {
        title: format!("{}: gain over mean field", table.name),
        x: axis("leapfrog steps K"),
        y: axis("nats"),
        series: vec![
            series("paper's recipe", false, &gained(Recipe::Paper)),
            series("ours", false, &gained(Recipe::Ours)),
            series("ceiling", true, &|_| ceiling),
        ],
    }
}

fn published(table: Rows, way: Way) -> String {
    let place = match way {
        Way::Chains(8) => 0,
        Way::Chains(16) => 1,
        Way::Oracle => 2,
        _ => return NONE.into(),
    };
    let (gain, error) = table.published[place];
    format!("{gain:.1} ± {error:.1}")
}

fn finding(table: Rows, problem: &Robust, all: &[Vec<Made>], df: f64) -> Vec<String> {
    let ceiling = problem.rows as f64 * remainder(df);
    let of = |way: Way, recipe: Recipe| {
        let place = entries().iter().position(|entry| *entry == (way, recipe))?;
        bound(&all[place])
    };
    let mut found = Vec::new();
    let oracle = of(Way::Oracle, Recipe::Ours);
    if let Some(apart) = difference(of(Way::Integrated, Recipe::Ours), oracle) {
        found.push(format!(
            "{}: quadrature is {} nats away from the closed form, over {} rows.",
            table.name,
            estimate(Some(apart)),
            count(problem.rows as u64)
        ));
    }
    for recipe in Recipe::ALL {
        let left = LENGTHS.map(|steps| {
            let left = difference(oracle, of(Way::Chains(steps), recipe));
            format!("{} with K = {steps}", estimate(left))
        });
        found.push(format!(
            "{}, {}: Semi-DAIS stays below the oracle by {} nats, where the ceiling is {ceiling:.1}.",
            table.name,
            recipe.name(),
            left.join(" and ")
        ));
    }
    found
}

fn protocol(settings: &Settings) -> Vec<String> {
    vec![
        format!(
            "Data: {}. y ~ N(x·b + a, σ²/τₙ), τₙ ~ Gamma(ν/2, ν/2) with ν = {}, N(0, 1) weights \
             and half-normal(1) σ; columns and y standardised; all rows train. The paper states \
             neither ν nor its priors; its split of Pol has more rows than the table.",
            settings.origin.words(),
            settings.degrees
        ),
        format!(
            "Paper's recipe: q(z) mean field, a learned normal for every row's latent \
             (`--row-base own`), start at zero with scales of 0.1, one draw per step, B = \
             {BATCH}, η = 10⁻², Adam at 10⁻³, 10⁻⁴, 10⁻⁵ by thirds of {} steps. The chains' own \
             quantities are shared by all rows.",
            count(settings.iterations)
        ),
        format!(
            "Ours: the defaults (`--row-base newton`, warm start, control variate, 4 draws per \
             step, until the bound is level or after {} steps), q(z) mean field and B = {BATCH} \
             as well. Mean field by ours is the same without a step of the chain: its normals \
             follow z.",
            count(settings.cap)
        ),
        format!(
            "{} fit(s) per entry (the paper: 10); bounds from {} fresh draws of z, what chains of \
             rows lose from a sixteenth of them on all rows.",
            settings.replications,
            count(settings.draws as u64)
        ),
    ]
}
