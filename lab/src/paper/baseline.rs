//! The mean-field baseline by the paper's recipe after more and more steps, and converged.

use lehr_infer::posterior::Estimate;
use lehr_report::{Axis, Chart, Law, Lines, Mark, Series};

use crate::paper::answer::Section;
use crate::paper::cell::{Cell, Group, log_evidence};
use crate::paper::entry::{count, difference, estimate};
use crate::paper::error::PaperError;
use crate::paper::job::{Job, Recipe};
use crate::paper::problem::Problem;
use crate::paper::runner::{Order, REFERENCE, Runner};
use crate::paper::setting::{PUBLISHED_ITERATIONS, Settings};

/// How many fits [`cells`] makes.
pub(crate) fn fits(settings: &Settings) -> usize {
    1 + settings.fits(steps(settings.iterations).len() + 1)
}

/// The numbers of steps of the baseline's fits: shares of the other methods' number, and the
/// paper's number if that is larger.
fn steps(all: u64) -> Vec<u64> {
    let mut steps = vec![(all / 100).max(30), (all / 10).max(30), all];
    if (PUBLISHED_ITERATIONS / 10..PUBLISHED_ITERATIONS).contains(&all) {
        steps.push(PUBLISHED_ITERATIONS);
    }
    steps
}

/// The name of a baseline that was fitted for this many steps.
fn label(steps: u64, all: u64) -> String {
    if steps == all {
        "MF".into()
    } else {
        format!("MF after {}", count(steps))
    }
}

/// The baseline after each number of steps, converged, and the converged full-rank Gaussian.
pub(crate) fn cells(
    runner: &mut Runner<'_>,
    name: &str,
    problem: &Problem,
) -> Result<Vec<Cell>, PaperError> {
    let mut cells = vec![runner.reference(name, problem)?];
    let all = runner.settings.iterations;
    for steps in steps(all) {
        let label = label(steps, all);
        let order = Order {
            name,
            problem,
            job: Job::gaussian("mean-field").for_steps(steps),
            label: &label,
            recipe: Recipe::Paper,
            seed: 0,
            draws: runner.settings.draws,
        };
        cells.extend(runner.replicated(&order)?);
        if steps == all {
            let recipe = Recipe::Ours;
            cells.extend(runner.replicated(&Order { recipe, ..order })?);
        }
    }
    Ok(cells)
}

/// The gap of the baseline to the log evidence after each number of steps, and converged.
pub(crate) fn section(cells: &[Cell], problems: &[String], all: u64) -> Section {
    let mut head = vec![String::new(), "rows".into(), "log evidence".into()];
    head.extend(
        steps(all)
            .iter()
            .map(|steps| format!("after {}", count(*steps))),
    );
    head.extend(["MF, converged".to_owned(), REFERENCE.into()]);
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut section = Section::new(
        "How converged the mean-field baseline is: gap to the log evidence, nats",
        &head,
    );
    section.words.push(
        "Mean field by the paper's recipe after so many steps; the optimum of the same family; a \
         full-rank Gaussian."
            .into(),
    );
    for problem in problems {
        section.rows.push(row(cells, problem, all));
    }
    section
        .charts
        .push(Chart::Lines(chart(cells, problems, all)));
    section
}

/// Gaps by steps, and those of the optimum and of the full-rank Gaussian.
struct Gaps {
    by_steps: Vec<(u64, Option<Estimate>)>,
    optimum: Option<Estimate>,
    full_rank: Option<Estimate>,
}

fn gaps(cells: &[Cell], problem: &str, all: u64) -> Gaps {
    let evidence = log_evidence(cells, problem);
    let gap = |label: &str, recipe| {
        difference(evidence, Group::of(cells, problem, label, recipe).bound())
    };
    let after = |steps: u64| (steps, gap(&label(steps, all), Recipe::Paper));
    Gaps {
        by_steps: steps(all).into_iter().map(after).collect(),
        optimum: gap("MF", Recipe::Ours),
        full_rank: gap(REFERENCE, Recipe::Ours),
    }
}

fn row(cells: &[Cell], problem: &str, all: u64) -> Vec<String> {
    let rows = cells.iter().find(|cell| cell.problem == problem);
    let rows = rows.map_or(0, |cell| cell.rows);
    let evidence = log_evidence(cells, problem);
    let mut row = vec![problem.to_owned(), count(rows as u64), estimate(evidence)];
    let gaps = gaps(cells, problem, all);
    row.extend(gaps.by_steps.into_iter().map(|(_, gap)| estimate(gap)));
    row.extend([gaps.optimum, gaps.full_rank].map(estimate));
    row
}

fn chart(cells: &[Cell], problems: &[String], all: u64) -> Lines {
    let mark = |steps: u64, gap: Option<Estimate>| Mark {
        x: steps as f64,
        y: gap.map_or(f64::NAN, |gap| gap.mean),
        error: 0.0,
    };
    let mut series = Vec::new();
    for problem in problems {
        let Gaps {
            by_steps, optimum, ..
        } = gaps(cells, problem, all);
        let level = optimum.map_or(String::new(), |gap| format!(" (optimum {:.1})", gap.mean));
        series.push(Series {
            name: format!("{problem}{level}"),
            marks: by_steps
                .into_iter()
                .map(|(steps, gap)| mark(steps, gap))
                .collect(),
            dashed: false,
        });
    }
    let axis = |name: &str| Axis {
        name: name.into(),
        law: Law::Logarithmic,
    };
    Lines {
        title: "Mean field by the paper's recipe".into(),
        x: axis("steps of the recipe"),
        y: axis("gap to the log evidence, nats"),
        series,
    }
}
