//! Methods under each other, with one small panel per way of judging them.

use crate::Comparison;
use crate::markup::Element;
use crate::number::{print, with_error};

use super::scale::Scale;
use super::{WIDTH, breadth, dot, label, line, picture, shortened};

/// One panel: a heading and, for each method, a value and its error.
struct Panel<'a> {
    heading: &'a str,
    values: Vec<Option<(f64, f64)>>,
    best: fn(f64, f64) -> bool,
}

const PITCH: f64 = 22.0;
const TOP: f64 = 24.0;

/// Dots with two standard errors; the best of each panel is filled.
pub(crate) fn comparison(methods: &[Comparison]) -> Element {
    let panels = panels(methods);
    let widest = methods
        .iter()
        .map(|row| breadth(&row.method))
        .fold(0.0, f64::max);
    let left = widest.clamp(30.0, 100.0) + 8.0;
    let bottom = TOP + PITCH * methods.len() as f64;
    let description = format!("{} methods by bound, held-out fit and time", methods.len());
    let mut svg = picture((WIDTH, bottom + 20.0), "Methods compared", &description);
    for (index, method) in methods.iter().enumerate() {
        let height = TOP + PITCH * (index as f64 + 0.5);
        let name = shortened(&method.method, left - 8.0);
        svg.push(label("row-name end", (left - 6.0, height + 3.8), &name));
        svg.push(line("grid", (left, height), (WIDTH - 4.0, height)));
    }
    let width = (WIDTH - 4.0 - left) / panels.len() as f64;
    for (index, panel) in panels.iter().enumerate() {
        let start = left + width * index as f64;
        draw_panel(&mut svg, panel, (start + 8.0, start + width - 8.0), bottom);
    }
    svg
}

fn panels(methods: &[Comparison]) -> Vec<Panel<'_>> {
    let greater = |a: f64, b: f64| a > b;
    let bounds = methods.iter().map(|row| Some((row.bound, 2.0 * row.se)));
    let fits = methods
        .iter()
        .map(|row| row.test_log_likelihood.map(|fit| (fit, 0.0)));
    let times = methods.iter().map(|row| Some((row.seconds, 0.0)));
    let panels = [
        Panel {
            heading: "bound",
            values: bounds.collect(),
            best: greater,
        },
        Panel {
            heading: "held-out fit",
            values: fits.collect(),
            best: greater,
        },
        Panel {
            heading: "seconds",
            values: times.collect(),
            best: |a, b| a < b,
        },
    ];
    let known = |panel: &Panel| panel.values.iter().flatten().any(|pair| pair.0.is_finite());
    panels.into_iter().filter(known).collect()
}

fn draw_panel(svg: &mut Element, panel: &Panel, units: (f64, f64), bottom: f64) {
    let known = panel.values.iter().flatten();
    let ends = known.flat_map(|(value, error)| [value - error, value + error]);
    let floor = (panel.heading == "seconds").then_some(0.0);
    let scale = Scale::fit(ends.chain(floor), units);
    svg.push(label(
        "name middle",
        (units.0.midpoint(units.1), 12.0),
        panel.heading,
    ));
    svg.push(line("axis", (units.0, bottom), (units.1, bottom)));
    for (value, text) in end_ticks(&scale) {
        let place = scale.place(value);
        svg.push(line("axis", (place, bottom), (place, bottom + 4.0)));
        svg.push(label("tick middle", (place, bottom + 15.0), &text));
    }
    let best = best(panel);
    for (index, pair) in panel.values.iter().enumerate() {
        let height = TOP + PITCH * (index as f64 + 0.5);
        let Some((value, error)) = pair.filter(|pair| pair.0.is_finite()) else {
            svg.push(label(
                "tick middle",
                (units.0.midpoint(units.1), height + 3.8),
                "–",
            ));
            continue;
        };
        let series = if best == Some(index) {
            "one"
        } else {
            "one hollow"
        };
        let mut mark = Element::new("g").child(Element::with_text(
            "title",
            print(&with_error(value, error / 2.0)),
        ));
        if error > 0.0 {
            let reach = [value - error, value + error].map(|end| scale.place(end));
            mark.push(line("outer one", (reach[0], height), (reach[1], height)));
        }
        mark.push(dot(
            &format!("median {series}"),
            (scale.place(value), height),
            4.2,
        ));
        svg.push(mark);
    }
}

/// As many marks as a narrow panel has room for.
fn end_ticks(scale: &Scale) -> Vec<(f64, String)> {
    let ticks = scale.ticks(3);
    let room = scale.place(scale.high) - scale.place(scale.low);
    let widest = ticks
        .iter()
        .map(|tick| breadth(&tick.1))
        .fold(1.0, f64::max);
    let fitting = (room / (widest + 8.0)).max(1.0) as usize;
    let every = ticks.len().div_ceil(fitting).max(1);
    ticks.into_iter().step_by(every).collect()
}

fn best(panel: &Panel) -> Option<usize> {
    let finite = |index: &usize| panel.values[*index].is_some_and(|pair| pair.0.is_finite());
    let indices = (0..panel.values.len()).filter(finite);
    indices.reduce(|best, next| {
        let of = |index: usize| panel.values[index].map_or(f64::NAN, |pair| pair.0);
        if (panel.best)(of(next), of(best)) {
            next
        } else {
            best
        }
    })
}
