//! The coefficients as intervals and as a table.

use std::collections::HashMap;

use crate::listing;
use crate::markup::Element;
use crate::number::{self, decimal_places, format_fixed};
use crate::plot::{Row, plot_forest};
use crate::{Coefficient, Draws, ReportData};

use super::figure::{figure_element, legend_key, span};
use super::table;

/// Lines of the plot, for the coefficients furthest from zero.
const LINES: usize = 40;
/// Rows of the table.
const ROWS: usize = 400;
/// The most panels; the last has all remaining coefficients.
const PANELS: usize = 4;
/// The largest ratio of coefficients within a panel.
const REACH: f64 = 40.0;

/// Plot and table of the coefficients.
pub(super) fn coefficient_content(data: &ReportData) -> Vec<Element> {
    if data.coefficients.is_empty() {
        return Vec::new();
    }
    let shown = strongest_coefficients(&data.coefficients);
    let columns = data.draws.as_ref().map(column_of);
    let row = |index: &usize| {
        let coefficient = &data.coefficients[*index];
        let mut row = as_row(coefficient);
        if row.first.quartiles.is_none() && row.second.is_none() {
            let column = columns.as_ref().and_then(|map| map.get(&*coefficient.name));
            let draws = data.draws.as_ref().zip(column);
            row.first.quartiles = draws.and_then(|(draws, column)| draw_quartiles(draws, *column));
        }
        row
    };
    let panels = split_panels(&data.coefficients, &shown);
    let plots = panels.iter().map(|panel| {
        let rows: Vec<Row> = panel.iter().map(row).collect();
        plot_forest("Coefficients", &rows)
    });
    let plots = figure_element(plots, plot_legend(data, shown.len(), panels.len()));
    let side = Element::with_class("div", "side").children(coefficient_table(&data.coefficients));
    vec![Element::with_class("div", "beside").children([plots, side])]
}

/// One coefficient as a line of a plot.
pub(super) fn as_row(coefficient: &Coefficient) -> Row<'_> {
    Row {
        name: &coefficient.name,
        first: coefficient.summary,
        second: coefficient.corrected,
    }
}

fn plot_legend(data: &ReportData, shown: usize, panels: usize) -> Vec<Element> {
    let mut legend = vec![span("Median, 50 % and 90 % intervals. ")];
    if data.coefficients.iter().any(|one| one.corrected.is_some()) {
        legend.extend([
            legend_key("one", "corrected by importance weights"),
            legend_key("two", "as fitted"),
        ]);
    }
    if shown < data.coefficients.len() {
        let all = number::format_count(data.coefficients.len() as u64);
        let text = format!(" The {shown} of {all} that are clearest of zero. ");
        legend.push(span(text));
    }
    if panels > 1 {
        legend.push(span(" Panels have their own scales."));
    }
    legend
}

/// The rows to draw, in the given order: all, or those whose means are most errors from zero.
fn strongest_coefficients(coefficients: &[Coefficient]) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..coefficients.len()).collect();
    if indices.len() > LINES {
        let distance = |index: &usize| {
            let best = coefficients[*index].best_summary();
            let distance = (best.mean / best.sd).abs();
            if distance.is_nan() { 0.0 } else { distance }
        };
        indices.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
        indices.truncate(LINES);
        indices.sort_unstable();
    }
    indices
}

/// Splits rows by size, so that one large coefficient does not flatten all others.
fn split_panels(coefficients: &[Coefficient], shown: &[usize]) -> Vec<Vec<usize>> {
    let size = |index: &usize| {
        let summary = coefficients[*index].best_summary();
        let size = summary.q5.abs().max(summary.q95.abs());
        if size.is_finite() { size } else { 0.0 }
    };
    let mut rest: Vec<usize> = shown.to_vec();
    let mut panels = Vec::new();
    while !rest.is_empty() {
        let largest = rest.iter().map(size).fold(0.0, f64::max);
        let last = panels.len() + 1 == PANELS;
        let (here, later): (Vec<usize>, Vec<usize>) = rest
            .into_iter()
            .partition(|index| last || size(index) * REACH >= largest);
        panels.push(here);
        rest = later;
    }
    panels
}

fn column_of(draws: &Draws) -> HashMap<&str, usize> {
    let names = draws.names.iter().enumerate();
    names.map(|(index, name)| (name.as_str(), index)).collect()
}

fn draw_quartiles(draws: &Draws, column: usize) -> Option<[f64; 2]> {
    let mut values: Vec<f64> = draws.column(column).collect();
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    values.sort_by(f64::total_cmp);
    Some([0.25, 0.75].map(|share| values[((values.len() - 1) as f64 * share).round() as usize]))
}

/// The table, and a sentence if it does not show all rows.
fn coefficient_table(coefficients: &[Coefficient]) -> Vec<Element> {
    let corrected = coefficients.iter().any(|row| row.corrected.is_some());
    let mut head = listing::COEFFICIENT.to_vec();
    if corrected {
        head.extend(["as fitted", "sd"]);
    }
    let shown = &coefficients[..coefficients.len().min(ROWS)];
    let rows = shown.iter().map(|row| {
        let mut cells = listing::coefficient_cells(row);
        if corrected {
            let digits = decimal_places(row.best_summary().sd);
            let fitted = [row.summary.mean, row.summary.sd];
            cells.extend(fitted.map(|value| format_fixed(value, digits)));
        }
        cells
    });
    let mut parts = vec![table::number_table(&head, rows)];
    if shown.len() < coefficients.len() {
        let left = number::format_count((coefficients.len() - shown.len()) as u64);
        let text = format!("{left} more rows are left out here; the saved fit has them all.");
        parts.push(Element::with_class("p", "note").text(text));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;

    fn sized(sizes: &[f64]) -> Vec<Coefficient> {
        let make =
            |size: &f64| Coefficient::new("x", Summary::normal_summary(*size, size.abs() * 0.1));
        sizes.iter().map(make).collect()
    }

    #[test]
    fn very_different_sizes_get_panels_of_their_own() {
        let rows = sized(&[1000.0, 1.0, 0.5, -900.0]);
        let shown = strongest_coefficients(&rows);
        assert_eq!(split_panels(&rows, &shown), [vec![0, 3], vec![1, 2]]);
        let rows = sized(&[1e9, 1e3, 1.0, 1e-3, f64::NAN]);
        assert_eq!(
            split_panels(&rows, &strongest_coefficients(&rows)).len(),
            PANELS
        );
    }

    #[test]
    fn the_plot_keeps_the_clearest_coefficients_in_their_order() {
        let mut rows = sized(&[1.0; 100]);
        for index in [7, 77] {
            rows[index].summary.mean = 50.0;
        }
        let shown = strongest_coefficients(&rows);
        assert_eq!(shown.len(), LINES);
        assert!(shown.contains(&7) && shown.contains(&77) && shown.is_sorted());
    }

    #[test]
    fn quartiles_come_from_the_draws() {
        let draws = Draws {
            names: vec!["x".into()],
            values: (0..101).map(f64::from).collect(),
        };
        assert_eq!(draw_quartiles(&draws, 0), Some([25.0, 75.0]));
    }
}
