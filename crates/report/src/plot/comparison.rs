//! Methods one below the other, with one small panel per criterion.

use crate::Comparison;
use crate::markup::Element;
use crate::number::{decimal_places, format_fixed, group_digits, print_minus, with_error};

use super::scale::Scale;
use super::{
    WIDTH, dot_element, label_element, line_element, picture_element, push_row_names, text_breadth,
    titled_group, widest_text,
};

/// One panel: a heading and, for each method, a value and its error.
struct Panel {
    heading: &'static str,
    values: Vec<Option<(f64, f64)>>,
    best: fn(f64, f64) -> bool,
}

const PITCH: f64 = 22.0;
const TOP: f64 = 24.0;

/// Dots with two standard errors; the best of each panel is filled.
pub(crate) fn plot_comparison(methods: &[Comparison]) -> Element {
    let panels = comparison_panels(methods);
    let names = || methods.iter().map(|row| row.method.as_str());
    let left = widest_text(names()).clamp(30.0, 100.0) + 8.0;
    let bottom = TOP + PITCH * methods.len() as f64;
    let description = format!("{} methods by bound, held-out fit and time", methods.len());
    let mut svg = picture_element((WIDTH, bottom + 20.0), "Methods compared", &description);
    push_row_names(&mut svg, names(), left, [TOP, PITCH, WIDTH - 4.0]);
    let width = (WIDTH - 4.0 - left) / panels.len() as f64;
    for (index, panel) in panels.iter().enumerate() {
        let start = left + width * index as f64;
        draw_panel(&mut svg, panel, (start + 6.0, start + width - 6.0), bottom);
    }
    svg
}

fn comparison_panels(methods: &[Comparison]) -> Vec<Panel> {
    type Criterion = fn(&Comparison) -> Option<(f64, f64)>;
    type Better = fn(f64, f64) -> bool;
    let criteria: [(&str, Criterion, Better); 3] = [
        ("bound", |row| Some((row.bound, 2.0 * row.se)), |a, b| a > b),
        (
            "held-out fit",
            |row| Some((row.test_log_likelihood?, 0.0)),
            |a, b| a > b,
        ),
        ("seconds", |row| Some((row.seconds, 0.0)), |a, b| a < b),
    ];
    let panels = criteria
        .into_iter()
        .map(|(heading, criterion, best)| Panel {
            heading,
            values: methods.iter().map(criterion).collect(),
            best,
        });
    let known = |panel: &Panel| panel.values.iter().flatten().any(|pair| pair.0.is_finite());
    panels.filter(known).collect()
}

fn draw_panel(svg: &mut Element, panel: &Panel, units: (f64, f64), bottom: f64) {
    let known = panel.values.iter().flatten();
    let ends = known.flat_map(|(value, error)| [value - error, value + error]);
    let floor = (panel.heading == "seconds").then_some(0.0);
    let scale = Scale::fit_values(ends.chain(floor)).over_units(units);
    let middle = units.0.midpoint(units.1);
    svg.push(label_element("name middle", (middle, 12.0), panel.heading));
    svg.push(line_element("axis", (units.0, bottom), (units.1, bottom)));
    let best = best_row(panel);
    for (index, pair) in panel.values.iter().enumerate() {
        let height = TOP + PITCH * (index as f64 + 0.5);
        let Some(pair) = pair.filter(|pair| pair.0.is_finite()) else {
            svg.push(label_element("tick middle", (middle, height + 3.8), "–"));
            continue;
        };
        let mut class = "median one hollow";
        if best == Some(index) {
            draw_best(svg, &scale, pair.0, bottom);
            class = "median one";
        }
        svg.push(estimate_mark(class, pair, &scale, height));
    }
}

fn estimate_mark(class: &str, (value, error): (f64, f64), scale: &Scale, height: f64) -> Element {
    let mut mark = titled_group(print_minus(&with_error(value, error / 2.0)));
    if error > 0.0 {
        let ends = [value - error, value + error];
        let [from, to] = ends.map(|end| (scale.place_value(end), height));
        mark.push(line_element("outer one", from, to));
    }
    mark.child(dot_element(class, (scale.place_value(value), height), 4.2))
}

/// The best value under its dot, because a panel is too narrow for an axis with several marks.
fn draw_best(svg: &mut Element, scale: &Scale, value: f64, bottom: f64) {
    let digits = decimal_places((scale.high - scale.low) / 5.0).min(4);
    let text = print_minus(&group_digits(&format_fixed(value, digits)));
    let half = text_breadth(&text) / 2.0;
    let place = scale.place_value(value);
    let [low, high] = [scale.low, scale.high].map(|end| scale.place_value(end));
    // A label wider than its panel begins where the panel does.
    let at = place.min(high - half).max(low + half);
    svg.push(line_element("axis", (place, bottom), (place, bottom + 4.0)));
    svg.push(label_element("tick middle", (at, bottom + 15.0), &text));
}

fn best_row(panel: &Panel) -> Option<usize> {
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
