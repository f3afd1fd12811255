//! Findings in sentences, generated from the numbers.

use crate::paper::cell::{Cell, Group, log_evidence};
use crate::paper::entry::{count, difference};
use crate::paper::job::Recipe;
use crate::paper::runner::REFERENCE;

/// The gap between the baseline by the paper's recipe and its own optimum, and between that optimum
/// and the log evidence.
pub(super) fn baseline(cells: &[Cell], problems: &[String]) -> Vec<String> {
    problems
        .iter()
        .filter_map(|name| baseline_of(cells, name))
        .collect()
}

fn baseline_of(cells: &[Cell], name: &str) -> Option<String> {
    let bound = |recipe| Group::of(cells, name, "MF", recipe).bound();
    let recipe = Group::of(cells, name, "MF", Recipe::Paper);
    let steps = count(recipe.0.first()?.iterations);
    let short = difference(bound(Recipe::Ours), bound(Recipe::Paper))?.mean;
    let room = difference(log_evidence(cells, name), bound(Recipe::Ours))?.mean;
    Some(format!(
        "{name}: the optimal mean-field Gaussian is {room:.1} nats below the log evidence, so no \
         method can gain more over it. By {steps} steps of the paper's recipe mean field ends \
         {short:.1} nats below that optimum."
    ))
}

/// The best of all bounds against the converged full-rank Gaussian.
pub(super) fn ceiling(cells: &[Cell], name: &str) -> Option<String> {
    let evidence = log_evidence(cells, name);
    let here = cells.iter().filter(|cell| cell.problem == name);
    let bounds = here.filter_map(|cell| Some((cell, cell.measured()?.bound?.mean)));
    let (best, bound) = bounds.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let full = difference(
        evidence,
        Group::of(cells, name, REFERENCE, Recipe::Ours).bound(),
    )?;
    let gap = evidence?.mean - bound;
    Some(format!(
        "{name}: the highest bound ({}, {}) leaves {gap:.2} nats; a converged full-rank Gaussian leaves {:.2}.",
        best.label,
        best.recipe.name(),
        full.mean
    ))
}
