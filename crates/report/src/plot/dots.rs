//! Names one below the other, with a dot for each of several criteria on one axis.

use crate::markup::Element;
use crate::number::{format_short, print_minus, with_error};

use super::chart::{Dots, Mark, Series};
use super::lines::series_hue;
use super::scale::Scale;
use super::{
    WIDTH, all_shortened, dot_element, label_element, line_element, picture_element, shorten_name,
    text_breadth,
};

const PITCH: f64 = 18.0;
const TOP: f64 = 6.0;

/// The dots of a chart: each mark's `x` is the value, its `y` the place of the name.
pub(crate) fn plot_dots(chart: &Dots) -> Element {
    let widest = chart
        .names
        .iter()
        .map(|name| text_breadth(name))
        .fold(0.0, f64::max);
    let left = widest.clamp(30.0, 130.0) + 8.0;
    let bottom = TOP + PITCH * chart.names.len() as f64;
    let values = chart.series.iter().flat_map(|series| &series.marks);
    let ends = values.flat_map(|mark| [mark.x, mark.x - mark.error, mark.x + mark.error]);
    let scale = Scale::under_law(chart.axis.law, ends).over_units((left + 4.0, WIDTH - 14.0));
    let mut svg = picture_element((WIDTH, bottom + 34.0), &chart.title, &chart.axis.name);
    let names = all_shortened(chart.names.iter().map(String::as_str), left - 8.0);
    for (index, name) in names.iter().enumerate() {
        let height = place_of(index as f64);
        svg.push(label_element(
            "row-name end",
            (left - 6.0, height + 3.8),
            name,
        ));
        svg.push(line_element("grid", (left, height), (WIDTH - 6.0, height)));
    }
    draw_axis(&mut svg, &scale, (left, bottom), &chart.axis.name);
    for (index, series) in chart.series.iter().enumerate() {
        draw_series(&mut svg, &scale, series, index);
    }
    svg
}

fn place_of(index: f64) -> f64 {
    TOP + PITCH * (index + 0.5)
}

fn draw_axis(svg: &mut Element, scale: &Scale, (left, bottom): (f64, f64), name: &str) {
    svg.push(line_element("axis", (left, bottom), (WIDTH - 6.0, bottom)));
    let ticks = scale.ticks(5);
    let widest = ticks
        .iter()
        .map(|tick| text_breadth(&tick.1))
        .fold(1.0, f64::max);
    let room = ((WIDTH - left) / (widest + 8.0)).max(1.0) as usize;
    let every = ticks.len().div_ceil(room).max(1);
    for (value, text) in ticks.iter().step_by(every) {
        let place = scale.place_value(*value);
        svg.push(line_element("axis", (place, bottom), (place, bottom + 4.0)));
        svg.push(label_element("tick middle", (place, bottom + 15.0), text));
    }
    let middle = left.midpoint(WIDTH);
    svg.push(label_element(
        "name middle",
        (middle, bottom + 30.0),
        &shorten_name(name, WIDTH - left),
    ));
}

fn draw_series(svg: &mut Element, scale: &Scale, series: &Series, index: usize) {
    let hue = series_hue(index);
    let finite = |mark: &&Mark| mark.x.is_finite();
    for mark in series.marks.iter().filter(finite) {
        let height = place_of(mark.y);
        let words = format!("{}: {}", series.name, describe_mark(mark));
        let mut point = Element::new("g").child(Element::with_text("title", print_minus(&words)));
        if mark.error > 0.0 {
            let ends = [mark.x - mark.error, mark.x + mark.error].map(|x| scale.place_value(x));
            point.push(line_element(
                &format!("outer {hue}"),
                (ends[0], height),
                (ends[1], height),
            ));
        }
        let class = if series.dashed {
            "median hollow"
        } else {
            "median"
        };
        let at = (scale.place_value(mark.x), height);
        svg.push(point.child(dot_element(&format!("{class} {hue}"), at, 4.0)));
    }
}

fn describe_mark(mark: &Mark) -> String {
    if mark.error > 0.0 {
        with_error(mark.x, mark.error)
    } else {
        format_short(mark.x)
    }
}
