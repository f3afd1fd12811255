//! Tables 1 and 6: every surrogate by its number of rows, K = 8.

use lehr_infer::surrogate::SurrogateKind;
use lehr_report::{Axis, Chart, Dots, Law};

use crate::paper::answer::{Answer, Section};
use crate::paper::baseline;
use crate::paper::cell::{Cell, Group, log_evidence};
use crate::paper::dataset::Dataset;
use crate::paper::entry::{self, difference, estimate, fixed};
use crate::paper::error::PaperError;
use crate::paper::job::{Gaussian, Job, Recipe};
use crate::paper::labelled::Labelled;
use crate::paper::problem::Problem;
use crate::paper::published::surrogate_gain;
use crate::paper::runner::{Order, REFERENCE, Runner, Watcher};
use crate::paper::setting::Settings;

use super::{by_recipe, finding, protocol};

const NAME: &str = "surrogates";
const CHAIN_STEPS: usize = 8;

/// The table.
pub(crate) fn run(settings: &Settings, watcher: &mut dyn Watcher) -> Result<Answer, PaperError> {
    let datasets = settings.wanted(&[Dataset::Higgs, Dataset::Susy]);
    settings.origin.check(&datasets)?;
    let mut runner = Runner::new(settings, NAME, watcher)?;
    let entries = kinds(settings)
        .iter()
        .map(|(kind, _)| recipes(*kind).len())
        .sum();
    runner.expect(datasets.len() * (2 * baseline::fits(settings) + settings.fits(entries)));
    let mut cells = Vec::new();
    for &dataset in &datasets {
        let raw = problem(settings, dataset, Problem::as_given)?;
        cells.extend(baseline::cells(&mut runner, &as_given(dataset), &raw)?);
        let problem = problem(settings, dataset, Problem::new)?;
        cells.extend(baseline::cells(&mut runner, dataset.name(), &problem)?);
        for (kind, size) in kinds(settings) {
            let label = label(kind, size);
            for recipe in recipes(kind) {
                let order = order((dataset, &problem), (kind, size), &label, settings);
                cells.extend(runner.replicated(&Order { recipe, ..order })?);
            }
        }
    }
    answer(settings, &datasets, cells).written(settings)
}

/// `taylor` expands at the mode, which the paper's recipe does not compute.
fn recipes(kind: SurrogateKind) -> Vec<Recipe> {
    if kind == SurrogateKind::TAYLOR {
        return vec![Recipe::Ours];
    }
    Recipe::ALL.to_vec()
}

/// All rows of a table, or as many as the paper uses: there is nothing to test.
fn problem(
    settings: &Settings,
    dataset: Dataset,
    make: fn(Labelled, Labelled) -> Result<Problem, PaperError>,
) -> Result<Problem, PaperError> {
    let all = settings.origin.read(dataset)?;
    let (train, _) = all.split((settings.train_rows.min(all.rows()), 0), 0);
    let none = Labelled {
        width: train.width,
        x: Vec::new(),
        y: Vec::new(),
    };
    make(train, none)
}

/// The name for the same rows without standardisation: the paper does not state that it
/// standardises them.
fn as_given(dataset: Dataset) -> String {
    format!("{}, features as given", dataset.name())
}

/// Surrogates by size, small sizes first; `nn` has no rows.
fn kinds(settings: &Settings) -> Vec<(SurrogateKind, usize)> {
    let kinds: Vec<SurrogateKind> = SurrogateKind::all()
        .filter(|kind| !kind.needs_locals())
        .filter(|kind| kind.has_rows())
        .collect();
    let sized = |&size: &usize| {
        kinds
            .iter()
            .map(move |&kind| (kind, size))
            .collect::<Vec<_>>()
    };
    let mut all: Vec<_> = settings.surrogate_rows.iter().flat_map(sized).collect();
    all.push((SurrogateKind::NETWORK, 64));
    all
}

fn label(kind: SurrogateKind, size: usize) -> String {
    if kind.has_rows() {
        format!("{kind} {size}")
    } else {
        kind.to_string()
    }
}

fn order<'a>(
    (dataset, problem): (Dataset, &'a Problem),
    (kind, size): (SurrogateKind, usize),
    label: &'a str,
    settings: &Settings,
) -> Order<'a> {
    let job = Job::chain("sl-dais", Gaussian::MeanField, CHAIN_STEPS);
    Order {
        name: dataset.name(),
        problem,
        job: job.on(kind, size),
        label,
        recipe: Recipe::Paper,
        seed: 0,
        draws: settings.draws,
    }
}

fn answer(settings: &Settings, datasets: &[Dataset], cells: Vec<Cell>) -> Answer {
    let names: Vec<String> = datasets.iter().map(|d| d.name().to_owned()).collect();
    let given = datasets.iter().map(|&dataset| as_given(dataset));
    let both: Vec<String> = names.iter().cloned().chain(given).collect();
    let mut sections = vec![baseline::section(&cells, &both, settings.iterations)];
    sections.extend(
        datasets
            .iter()
            .map(|&dataset| section(&cells, dataset, settings)),
    );
    let mut findings = finding::baseline(&cells, &both);
    findings.extend(
        names
            .iter()
            .filter_map(|name| finding::ceiling(&cells, name)),
    );
    Answer {
        table: NAME,
        title: "Tables 1 and 6: surrogates of SL-DAIS, K = 8, mean-field base".into(),
        protocol: protocol(settings, &cells),
        findings,
        sections,
        cells,
        ..Answer::default()
    }
}

fn section(cells: &[Cell], dataset: Dataset, settings: &Settings) -> Section {
    let mut section = Section::new(
        format!(
            "{}: gain over mean field and gap to the log evidence, nats",
            dataset.name()
        ),
        &[
            "surrogate",
            "published gain",
            "gain, recipe",
            "gap, recipe",
            "k̂",
            "η",
            "gain, ours",
            "gap, ours",
            "k̂",
            "η",
            "ms/step",
            "s",
        ],
    );
    section.words.push(
        "Gains are over the mean-field fit by the same recipe; gaps are to the log evidence, \
         which bounds every method. η is the mean learned step size: where it is 0 the chain has \
         been switched off and the fit is its base."
            .into(),
    );
    section.rows.push(row(cells, dataset, ("MF", None)));
    for (kind, size) in kinds(settings) {
        let published = surrogate_gain(dataset, kind, size);
        section
            .rows
            .push(row(cells, dataset, (&label(kind, size), published)));
    }
    section.rows.push(row(cells, dataset, (REFERENCE, None)));
    section
        .charts
        .push(Chart::Dots(chart(cells, dataset, settings)));
    section
}

fn row(
    cells: &[Cell],
    dataset: Dataset,
    (label, published): (&str, Option<crate::paper::published::Figure>),
) -> Vec<String> {
    let name = dataset.name();
    let evidence = log_evidence(cells, name);
    let mut row = vec![label.to_owned(), entry::published(published)];
    for recipe in Recipe::ALL {
        let group = Group::of(cells, name, label, recipe);
        let base = Group::of(cells, name, "MF", recipe).bound();
        row.push(estimate(difference(group.bound(), base)));
        row.push(estimate(difference(evidence, group.bound())));
        let shape = group.mean(|measured| measured.pareto_k);
        row.push(fixed(shape.map(|k| k.mean), 2));
        let step_size = group.mean(|measured| measured.step_size);
        row.push(fixed(step_size.map(|size| size.mean), 4));
    }
    let ours = Group::of(cells, name, label, Recipe::Ours);
    let time = ours.mean(|measured| Some(measured.step_milliseconds));
    let seconds = ours.mean(|measured| Some(measured.seconds));
    row.push(fixed(time.map(|t| t.mean), 3));
    row.push(fixed(seconds.map(|s| s.mean), 1));
    row
}

fn chart(cells: &[Cell], dataset: Dataset, settings: &Settings) -> Dots {
    let mut names = vec!["MF".to_owned()];
    names.extend(
        kinds(settings)
            .into_iter()
            .map(|(kind, size)| label(kind, size)),
    );
    names.push(REFERENCE.into());
    let evidence = log_evidence(cells, dataset.name());
    let series = by_recipe(&names, |name, recipe| {
        let bound = Group::of(cells, dataset.name(), name, recipe).bound();
        difference(evidence, bound).map(|gap| gap.mean.max(0.01))
    });
    Dots {
        title: dataset.name().into(),
        axis: Axis {
            name: "gap to the log evidence, nats".into(),
            law: Law::Logarithmic,
        },
        series,
        names,
    }
}
