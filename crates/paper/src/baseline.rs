//! The mean-field baseline by the paper's recipe after more and more steps, and converged.

use lehr_infer::method::Method;
use lehr_report::{Axis, Chart, Law, Lines, Mark, Series};

use crate::answer::Section;
use crate::cell::{Cell, Group, log_evidence};
use crate::entry::{count, difference, estimate, fixed};
use crate::error::PaperError;
use crate::job::{Job, Recipe};
use crate::problem::Problem;
use crate::runner::{Order, REFERENCE, Runner};

/// Shares of the paper's steps after which the baseline is looked at.
const SHARES: [u64; 3] = [100, 10, 1];

/// How many cells [`cells`] makes.
pub(crate) const CELLS: usize = SHARES.len() + 2;

/// The steps the baseline is fitted for; the last is what all other methods have.
fn steps(settings: &crate::setting::Settings) -> [u64; 3] {
    SHARES.map(|share| (settings.iterations / share).max(30))
}

/// The name of a baseline that was fitted for so many steps, where they are not all.
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
    for steps in steps(runner.settings) {
        let label = label(steps, all);
        let order = Order {
            name,
            problem,
            job: Job::gaussian(Method::MeanField).for_steps(steps),
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
    let mut section = Section::new(
        "How converged the mean-field baseline is: gap to the log evidence, nats",
        &["", "rows", "log evidence", "after 1/100", "after 1/10", "all steps", "converged", "MVN, converged"],
    );
    section.words.push(format!(
        "The paper's recipe for 1/100, 1/10 and all of {} steps; the optimum of the same family; a full-rank Gaussian.",
        count(all)
    ));
    for problem in problems {
        section.rows.push(row(cells, problem, all));
    }
    section.charts.push(Chart::Lines(chart(cells, problems, all)));
    section
}

fn gaps(cells: &[Cell], problem: &str, all: u64) -> Vec<Option<lehr_infer::posterior::Estimate>> {
    let evidence = log_evidence(cells, problem);
    let gap = |label: &str, recipe| {
        difference(evidence, Group::of(cells, problem, label, recipe).bound())
    };
    let after = SHARES.map(|share| gap(&label((all / share).max(30), all), Recipe::Paper));
    let mut gaps = after.to_vec();
    gaps.push(gap("MF", Recipe::Ours));
    gaps.push(gap(REFERENCE, Recipe::Ours));
    gaps
}

fn row(cells: &[Cell], problem: &str, all: u64) -> Vec<String> {
    let rows = cells.iter().find(|cell| cell.problem == problem);
    let rows = rows.map_or(0, |cell| cell.rows);
    let evidence = log_evidence(cells, problem);
    let mut row = vec![problem.to_owned(), count(rows as u64), estimate(evidence)];
    row.extend(gaps(cells, problem, all).into_iter().map(estimate));
    row
}

fn chart(cells: &[Cell], problems: &[String], all: u64) -> Lines {
    let mut series = Vec::new();
    for problem in problems {
        let gaps = gaps(cells, problem, all);
        let mark = |(share, gap): (&u64, &Option<lehr_infer::posterior::Estimate>)| Mark {
            x: (all / share) as f64,
            y: gap.map_or(f64::NAN, |gap| gap.mean),
            error: 0.0,
        };
        let optimum = gaps[SHARES.len()].map_or(f64::NAN, |gap| gap.mean);
        let flat = SHARES.map(|share| Mark {
            x: (all / share) as f64,
            y: optimum,
            error: 0.0,
        });
        series.push(Series {
            name: problem.clone(),
            marks: SHARES.iter().zip(&gaps).map(mark).collect(),
            dashed: false,
        });
        series.push(Series {
            name: format!("{problem}, converged ({})", fixed(Some(optimum), 1)),
            marks: flat.to_vec(),
            dashed: true,
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
