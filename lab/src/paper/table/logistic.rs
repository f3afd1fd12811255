//! Figures 2 and 5, Tables 2 and 7: every method on five logistic regressions.

use lehr_report::{Axis, Chart, Dots, Law};

use crate::paper::answer::{Answer, Section};
use crate::paper::baseline;
use crate::paper::cell::{Cell, Group, Measured, log_evidence};
use crate::paper::dataset::Dataset;
use crate::paper::entry::{self, difference, estimate, fixed};
use crate::paper::error::PaperError;
use crate::paper::job::{Gaussian, Job, Recipe};
use crate::paper::problem::Problem;
use crate::paper::published::ranks_of;
use crate::paper::rank::mean_ranks;
use crate::paper::runner::{Order, REFERENCE, Runner, Watcher};
use crate::paper::setting::Settings;

use super::{by_recipe, finding, protocol};

const NAME: &str = "logistic";
/// Test rows for each training row, where there are too few for 50,000 and 20,000.
const TEST_ROWS: usize = 20_000;
/// The methods of the paper's ranking.
const RANKED_LABELS: [&str; 7] = [
    "MF",
    "MVN",
    "Flow",
    "NS-DAIS-MF 8",
    "SL-DAIS-MF 8",
    "NS-DAIS-MVN 8",
    "SL-DAIS-MVN 8",
];

/// The table.
pub(crate) fn run(settings: &Settings, watcher: &mut dyn Watcher) -> Result<Answer, PaperError> {
    let datasets = settings.wanted(&Dataset::ALL);
    settings.origin.check(&datasets)?;
    let mut runner = Runner::new(settings, NAME, watcher)?;
    let mut jobs = jobs();
    let wanted = |job: &Job| settings.methods.iter().any(|name| name == job.method);
    jobs.retain(|job| settings.methods.is_empty() || wanted(job));
    let fits: usize = jobs.iter().map(|job| job.recipes().len()).sum();
    runner.expect(datasets.len() * (baseline::fits(settings) + settings.fits(fits)));
    let mut cells = Vec::new();
    let mut tests = Vec::new();
    for &dataset in &datasets {
        let problem = problem(settings, dataset)?;
        tests.push(format!(
            "{} {}",
            dataset.name(),
            entry::count(problem.test_rows() as u64)
        ));
        cells.extend(baseline::cells(&mut runner, dataset.name(), &problem)?);
        for &job in &jobs {
            let label = job.label();
            for &recipe in job.recipes() {
                let order = Order {
                    name: dataset.name(),
                    problem: &problem,
                    job,
                    label: &label,
                    recipe,
                    seed: 0,
                    draws: settings.draws,
                };
                cells.extend(runner.replicated(&order)?);
            }
        }
    }
    answer(settings, &datasets, cells, &tests).written(settings)
}

fn problem(settings: &Settings, dataset: Dataset) -> Result<Problem, PaperError> {
    let all = settings.origin.read(dataset)?;
    // Five in seven rows are trained on, as 50,000 of 70,000 are.
    let train = settings.train_rows.min(all.rows() * 5 / 7);
    let test = TEST_ROWS.min(all.rows() - train);
    let (train, test) = all.split((train, test), 0);
    Problem::new(train, test)
}

/// The methods beyond mean field, cheap ones first.
fn jobs() -> Vec<Job> {
    use Gaussian::{FullRank, MeanField};
    let chain = Job::chain;
    vec![
        Job::gaussian("full-rank"),
        Job::gaussian("low-rank"),
        chain("sl-dais", MeanField, 4),
        chain("sl-dais", MeanField, 8),
        chain("sl-dais", FullRank, 8),
        chain("ns-dais", MeanField, 8),
        chain("ns-dais", FullRank, 8),
        chain("ns2-dais", MeanField, 8),
        chain("dais", MeanField, 2),
        Job::gaussian("iaf"),
        Job::gaussian("bnaf"),
        Job::gaussian("surrogate-hmc"),
        Job::gaussian("nuts-cs"),
        Job::gaussian("hmcecs"),
    ]
}

fn labels() -> Vec<String> {
    let mut labels = vec!["MF".to_owned()];
    labels.extend(jobs().iter().map(Job::label));
    labels
}

fn answer(settings: &Settings, datasets: &[Dataset], cells: Vec<Cell>, tests: &[String]) -> Answer {
    let names: Vec<String> = datasets.iter().map(|d| d.name().to_owned()).collect();
    let mut sections = vec![ranking(&cells, &names)];
    sections.push(baseline::section(&cells, &names, settings.iterations));
    sections.extend(datasets.iter().map(|&dataset| section(&cells, dataset)));
    let mut findings = finding::baseline(&cells, &names);
    findings.extend(
        names
            .iter()
            .filter_map(|name| finding::ceiling(&cells, name)),
    );
    let mut protocol = protocol(settings, &cells);
    protocol.push(format!("Test rows: {}.", tests.join(", ")));
    Answer {
        table: NAME,
        title: "Figures 2 and 5, Tables 2 and 7: logistic regression".into(),
        protocol,
        findings,
        sections,
        cells,
        ..Answer::default()
    }
}

/// A quantity by which methods are ranked.
type Quantity = (&'static str, fn(&Measured) -> Option<f64>);

const QUANTITIES: [Quantity; 3] = [
    ("bound", |m| Some(m.bound?.mean)),
    ("test log lik.", |m| Some(m.predicted?.log_likelihood)),
    ("accuracy", |m| Some(m.predicted?.accuracy)),
];

fn ranking(cells: &[Cell], problems: &[String]) -> Section {
    let mut section = Section::new(
        "Mean ranks over the tables (1 is best), and time per step",
        &[
            "method",
            "bound: published",
            "recipe",
            "ours",
            "test log lik.: published",
            "recipe",
            "ours",
            "accuracy: published",
            "recipe",
            "ours",
            "ms/step: published",
            "recipe",
            "ours",
        ],
    );
    section.words.push(
        "Published times are of 24 cores. The flow is a block neural autoregressive one.".into(),
    );
    let columns =
        QUANTITIES.map(|(_, of)| Recipe::ALL.map(|recipe| ranks_by(cells, problems, (of, recipe))));
    for (place, label) in RANKED_LABELS.iter().enumerate() {
        let published = ranks_of(label);
        let mut row = vec![(*label).to_owned()];
        for (quantity, column) in columns.iter().enumerate() {
            row.push(fixed(published.map(|row| row.ranks[quantity]), 2));
            row.extend(column.iter().map(|ranks| fixed(ranks[place], 2)));
        }
        row.push(fixed(published.map(|row| row.milliseconds), 1));
        row.extend(Recipe::ALL.map(|recipe| fixed(step_time(cells, problems, label, recipe), 3)));
        section.rows.push(row);
    }
    section
}

fn ranks_by(
    cells: &[Cell],
    problems: &[String],
    (of, recipe): (fn(&Measured) -> Option<f64>, Recipe),
) -> Vec<Option<f64>> {
    let value = |problem: &str, label: &str| {
        let mean = Group::of(cells, problem, label, recipe).mean(of)?;
        Some(mean.mean)
    };
    let values = |problem: &String| {
        RANKED_LABELS
            .iter()
            .map(|label| value(problem, label))
            .collect()
    };
    let all: Vec<Vec<Option<f64>>> = problems.iter().map(values).collect();
    let ranks = mean_ranks(&all);
    if ranks.is_empty() {
        return vec![None; RANKED_LABELS.len()];
    }
    ranks
}

/// Milliseconds per step on the last of the tables, as in the paper on CovType-Fir where it is run.
fn step_time(cells: &[Cell], problems: &[String], label: &str, recipe: Recipe) -> Option<f64> {
    let fir = Dataset::CovTypeFir.name();
    let place = problems
        .iter()
        .find(|name| *name == fir)
        .or(problems.last())?;
    let time = Group::of(cells, place, label, recipe).mean(|m| Some(m.step_milliseconds))?;
    Some(time.mean)
}

fn section(cells: &[Cell], dataset: Dataset) -> Section {
    let mut section = Section::new(
        format!("{}: both recipes", dataset.name()),
        &[
            "method",
            "recipe",
            "gain over MF",
            "gap to evidence",
            "k̂",
            "test log lik.",
            "accuracy",
            "steps",
            "level",
            "ms/step",
            "s",
        ],
    );
    section.words.push(
        "Gains are over the mean-field fit by the same recipe. The paper shows these gains in \
         Figure 2 without numbers."
            .into(),
    );
    for label in labels() {
        for recipe in Recipe::ALL {
            section.rows.extend(row(cells, dataset, &label, recipe));
        }
    }
    section
        .rows
        .extend(row(cells, dataset, REFERENCE, Recipe::Ours));
    section.charts.push(Chart::Dots(chart(
        cells,
        dataset,
        "gap to the log evidence, nats",
    )));
    section
        .charts
        .push(Chart::Dots(chart(cells, dataset, TEST)));
    section
}

fn row(cells: &[Cell], dataset: Dataset, label: &str, recipe: Recipe) -> Option<Vec<String>> {
    let name = dataset.name();
    let group = Group::of(cells, name, label, recipe);
    let first = *group.0.first()?;
    let base = Group::of(cells, name, "MF", recipe).bound();
    let mean = |of: fn(&Measured) -> Option<f64>| group.mean(of).map(|value| value.mean);
    Some(vec![
        label.to_owned(),
        recipe.name().to_owned(),
        estimate(difference(group.bound(), base)),
        estimate(difference(log_evidence(cells, name), group.bound())),
        fixed(mean(|m| m.pareto_k), 2),
        fixed(mean(QUANTITIES[1].1), 4),
        fixed(mean(QUANTITIES[2].1), 4),
        entry::count(first.iterations),
        level(first, recipe).into(),
        fixed(mean(|m| Some(m.step_milliseconds)), 3),
        fixed(mean(|m| Some(m.seconds)), 1),
    ])
}

/// Whether training ended because the bound was level.
fn level(measured: &Measured, recipe: Recipe) -> &'static str {
    match (recipe, measured.converged) {
        (Recipe::Paper, _) => "fixed",
        (Recipe::Ours, true) => "yes",
        (Recipe::Ours, false) => "no",
    }
}

const TEST: &str = "test log likelihood per row";

/// Gaps, or test log likelihoods, of all methods by both recipes.
fn chart(cells: &[Cell], dataset: Dataset, axis: &str) -> Dots {
    let mut names = labels();
    names.push(REFERENCE.into());
    let evidence = log_evidence(cells, dataset.name());
    let value = |group: &Group<'_>| match axis {
        TEST => group.mean(QUANTITIES[1].1).map(|value| value.mean),
        _ => difference(evidence, group.bound()).map(|gap| gap.mean.max(0.01)),
    };
    let series = by_recipe(&names, |name, recipe| {
        value(&Group::of(cells, dataset.name(), name, recipe))
    });
    Dots {
        title: format!("{}: {axis}", dataset.name()),
        axis: Axis {
            name: axis.into(),
            law: if axis == TEST {
                Law::Linear
            } else {
                Law::Logarithmic
            },
        },
        series,
        names,
    }
}
