//! Random effects: every level if there are few, otherwise the extremes and a histogram of all.

use crate::markup::Element;
use crate::number;
use crate::plot::{Histogram, Row, plot_forest, plot_histogram, split_forest};
use crate::{AllLevels, Coefficient, GroupEffects};

use super::coefficient::as_row;
use super::figure::{figure_element, span};

/// The most levels that are all drawn.
const ALL: usize = 30;
/// Otherwise, levels drawn from each end.
const EXTREMES: usize = 12;
/// Group terms drawn.
const TERMS: usize = 12;

/// One block per group term.
pub(super) fn group_content(groups: &[GroupEffects]) -> Vec<Element> {
    let filled = groups.iter().filter(|group| !group.effects.is_empty());
    let blocks: Vec<Element> = filled.take(TERMS).flat_map(group_block).collect();
    if blocks.is_empty() {
        return blocks;
    }
    vec![Element::with_class("div", "split").children(blocks)]
}

fn group_block(group: &GroupEffects) -> Vec<Element> {
    let mut sorted: Vec<&Coefficient> = group.effects.iter().collect();
    sorted.sort_by(|a, b| b.best_summary().mean.total_cmp(&a.best_summary().mean));
    let mut name = format!("{} by {}", group.term, group.group);
    if let Some(class) = &group.class {
        name.push_str(" for ");
        name.push_str(class);
    }
    let all = group.all.as_ref();
    let count = all.map_or(sorted.len(), |all| all.means.len());
    let levels = number::format_count(count as u64);
    let heading = Element::with_text("strong", &name);
    if count <= ALL {
        let rows: Vec<Row> = sorted.iter().map(|effect| as_row(effect)).collect();
        let words = span(format!(": all {levels} levels, sorted by mean."));
        return vec![figure_element(
            [plot_forest(&name, &rows)],
            [heading, words],
        )];
    }
    let ends = sorted[..EXTREMES]
        .iter()
        .chain(&sorted[sorted.len() - EXTREMES..]);
    let rows: Vec<Row> = ends.map(|effect| as_row(effect)).collect();
    let text = format!(": the {EXTREMES} highest and {EXTREMES} lowest of {levels} levels.");
    let plot = split_forest(&name, &rows, Some(EXTREMES));
    let extremes = figure_element([plot], [heading, span(text)]);
    let listed = || {
        let clear = |effect: &&&Coefficient| effect.best_summary().excludes_zero();
        let means = sorted.iter().map(|effect| effect.best_summary().mean);
        AllLevels {
            means: means.collect(),
            clear: sorted.iter().filter(clear).count(),
        }
    };
    let all = all.cloned().unwrap_or_else(listed);
    [Some(extremes), spread_figure(&name, &all)]
        .into_iter()
        .flatten()
        .collect()
}

fn spread_figure(name: &str, levels: &AllLevels) -> Option<Element> {
    let bins = Histogram::of_samples(&levels.means, &[])?;
    let clear = number::format_count(levels.clear as u64);
    let all = number::format_count(levels.means.len() as u64);
    let text = format!(
        ": posterior means of all {all} levels; the 90 % intervals of {clear} exclude zero."
    );
    let plot = plot_histogram(name, "posterior mean", &bins);
    Some(figure_element(
        [plot],
        [Element::with_text("strong", name), span(text)],
    ))
}
