//! Small SVG pictures drawn for a width of 380 units, so that they are readable on a phone without
//! scaling.
//!
//! They are drawn here because plotting crates write fixed colours and sizes. These pictures take
//! both from the page's style sheet, so one picture suits light, dark and print.

mod calibration;
mod chain;
mod chart;
mod comparison;
mod dots;
mod effect;
mod forest;
mod frame;
mod function;
mod hexagon;
mod histogram;
mod lines;
mod rootogram;
mod scale;
mod surface;
mod trace;

pub(crate) use calibration::draw_calibration;
pub(crate) use chain::{plot_draws, plot_energy, plot_ranks};
pub use chart::{Axis, Chart, Dots, Lines, Mark, Series};
pub(crate) use comparison::plot_comparison;
pub(crate) use dots::plot_dots;
pub(crate) use effect::plot_effect;
pub(crate) use forest::{Row, plot_forest, split_forest};
pub(crate) use function::plot_function;
pub(crate) use hexagon::{Cloud, plot_cloud};
pub(crate) use histogram::{Histogram, plot_histogram};
pub(crate) use lines::plot_lines;
pub(crate) use rootogram::plot_rootogram;
pub use scale::Law;
pub(crate) use surface::{SurfaceValues, plot_surface};
pub(crate) use trace::plot_trace;

use std::fmt::Display;

use unicode_width::UnicodeWidthStr;

use crate::abbreviation::{abbreviate_name, abbreviate_names};
use crate::markup::{Element, format_unit};

/// Width of a full picture, in units.
pub(crate) const WIDTH: f64 = 380.0;
/// Mean width of a character of the labels, in units; an overestimate, so that labels fit.
const CHARACTER: f64 = 6.1;

/// An empty picture with a title and a description for screen readers.
fn picture_element(size: (f64, f64), title: &str, description: &str) -> Element {
    let view = format!("0 0 {} {}", format_unit(size.0), format_unit(size.1));
    Element::with_class("svg", "plot")
        .attr("viewBox", view)
        .attr("role", "img")
        .attr("aria-label", format!("{title}. {description}"))
        .child(Element::with_text("title", title))
        .child(Element::with_text("desc", description))
}

/// A line between two points.
fn line_element(class: &str, from: (f64, f64), to: (f64, f64)) -> Element {
    Element::with_class("line", class)
        .with_coordinate("x1", from.0)
        .with_coordinate("y1", from.1)
        .with_coordinate("x2", to.0)
        .with_coordinate("y2", to.1)
}

/// Text at a point; the class determines its alignment.
fn label_element(class: &str, at: (f64, f64), text: &str) -> Element {
    let element = Element::with_class("text", class).with_coordinate("x", at.0);
    element.with_coordinate("y", at.1).text(text)
}

/// A dot.
fn dot_element(class: &str, at: (f64, f64), radius: f64) -> Element {
    let element = Element::with_class("circle", class).with_coordinate("cx", at.0);
    element
        .with_coordinate("cy", at.1)
        .with_coordinate("r", radius)
}

/// A box from its top left corner.
fn rectangle_element(class: &str, at: (f64, f64), size: (f64, f64)) -> Element {
    let element = Element::with_class("rect", class)
        .with_coordinate("x", at.0)
        .with_coordinate("y", at.1);
    element
        .with_coordinate("width", size.0.max(0.0))
        .with_coordinate("height", size.1.max(0.0))
}

/// A line through points.
fn curve_element(class: &str, points: &[(f64, f64)]) -> Element {
    Element::with_class("polyline", class).attr("points", path_coordinates(points.iter()))
}

/// The area between two curves over the same places.
fn band_element(class: &str, low: &[(f64, f64)], high: &[(f64, f64)]) -> Element {
    let outline = low.iter().chain(high.iter().rev());
    Element::with_class("polygon", class).attr("points", path_coordinates(outline))
}

fn path_coordinates<'a>(points: impl Iterator<Item = &'a (f64, f64)>) -> String {
    let pairs = points.map(|(x, y)| format!("{},{}", format_unit(*x), format_unit(*y)));
    pairs.collect::<Vec<_>>().join(" ")
}

/// The width of a label in units.
fn text_breadth(text: &str) -> f64 {
    text.width() as f64 * CHARACTER
}

/// The width of the widest of some labels; 0 without labels.
fn widest_text<'n>(labels: impl Iterator<Item = &'n str>) -> f64 {
    labels.map(text_breadth).fold(0.0, f64::max)
}

/// A group of marks, with words that appear when the pointer rests on it.
fn titled_group(words: impl Display) -> Element {
    Element::new("g").child(Element::with_text("title", words))
}

/// Names one below the other, each with a line to the right; `pitch` apart from `top` on.
fn push_row_names<'n>(
    svg: &mut Element,
    names: impl Iterator<Item = &'n str>,
    left: f64,
    [top, pitch, end]: [f64; 3],
) {
    for (index, name) in all_shortened(names, left - 8.0).iter().enumerate() {
        let height = top + pitch * (index as f64 + 0.5);
        svg.push(label_element(
            "row-name end",
            (left - 6.0, height + 3.8),
            name,
        ));
        svg.push(line_element("grid", (left, height), (end, height)));
    }
}

/// A name shortened to this many units.
fn shorten_name(name: &str, units: f64) -> String {
    abbreviate_name(name, text_columns(units))
}

/// Names of one picture shortened to this many units; different names stay different.
fn all_shortened<'n>(names: impl Iterator<Item = &'n str>, units: f64) -> Vec<String> {
    abbreviate_names(&names.collect::<Vec<_>>(), text_columns(units))
}

fn text_columns(units: f64) -> usize {
    (units / CHARACTER) as usize
}
