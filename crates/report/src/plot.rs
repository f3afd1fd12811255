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

pub(crate) use calibration::calibration;
pub(crate) use chain::{draws, energy, ranks};
pub use chart::{Axis, Chart, Dots, Lines, Mark, Series};
pub(crate) use comparison::comparison;
pub(crate) use dots::dots;
pub(crate) use effect::effect;
pub(crate) use forest::{Row, forest, split_forest};
pub(crate) use function::{Function, function};
pub(crate) use hexagon::{Cloud, cloud};
pub(crate) use histogram::{Histogram, histogram};
pub(crate) use lines::lines;
pub(crate) use rootogram::rootogram;
pub use scale::Law;
pub(crate) use surface::{Surface, surface};
pub(crate) use trace::trace;

use unicode_width::UnicodeWidthStr;

use crate::abbreviation::{abbreviated, abbreviations};
use crate::markup::{Element, unit};

/// Width of a full picture, in units.
pub(crate) const WIDTH: f64 = 380.0;
/// Mean width of a character of the labels, in units; an overestimate, so that labels fit.
const CHARACTER: f64 = 6.1;

/// An empty picture with a title and a description for screen readers.
fn picture(size: (f64, f64), title: &str, description: &str) -> Element {
    Element::classed("svg", "plot")
        .attr("viewBox", format!("0 0 {} {}", unit(size.0), unit(size.1)))
        .attr("role", "img")
        .attr("aria-label", format!("{title}. {description}"))
        .child(Element::with_text("title", title))
        .child(Element::with_text("desc", description))
}

/// A line between two points.
fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> Element {
    Element::classed("line", class)
        .at("x1", from.0)
        .at("y1", from.1)
        .at("x2", to.0)
        .at("y2", to.1)
}

/// Text at a point; the class determines its alignment.
fn label(class: &str, at: (f64, f64), text: &str) -> Element {
    let element = Element::classed("text", class).at("x", at.0);
    element.at("y", at.1).text(text)
}

/// A dot.
fn dot(class: &str, at: (f64, f64), radius: f64) -> Element {
    let element = Element::classed("circle", class).at("cx", at.0);
    element.at("cy", at.1).at("r", radius)
}

/// A box from its top left corner.
fn rectangle(class: &str, at: (f64, f64), size: (f64, f64)) -> Element {
    let element = Element::classed("rect", class).at("x", at.0).at("y", at.1);
    element
        .at("width", size.0.max(0.0))
        .at("height", size.1.max(0.0))
}

/// A line through points.
fn curve(class: &str, points: &[(f64, f64)]) -> Element {
    Element::classed("polyline", class).attr("points", coordinates(points.iter()))
}

/// The area between two curves over the same places.
fn band(class: &str, low: &[(f64, f64)], high: &[(f64, f64)]) -> Element {
    let outline = low.iter().chain(high.iter().rev());
    Element::classed("polygon", class).attr("points", coordinates(outline))
}

fn coordinates<'a>(points: impl Iterator<Item = &'a (f64, f64)>) -> String {
    let pairs = points.map(|(x, y)| format!("{},{}", unit(*x), unit(*y)));
    pairs.collect::<Vec<_>>().join(" ")
}

/// The width of a label in units.
fn breadth(text: &str) -> f64 {
    text.width() as f64 * CHARACTER
}

/// A name shortened to this many units.
fn shortened(name: &str, units: f64) -> String {
    abbreviated(name, columns(units))
}

/// Names of one picture shortened to this many units; different names stay different.
fn all_shortened<'n>(names: impl Iterator<Item = &'n str>, units: f64) -> Vec<String> {
    abbreviations(&names.collect::<Vec<_>>(), columns(units))
}

fn columns(units: f64) -> usize {
    (units / CHARACTER) as usize
}
