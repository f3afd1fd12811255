//! Names one below the other, with a dot for each of several criteria on one axis.

use crate::markup::Element;
use crate::number::{format_short, print_minus, with_error};

use super::chart::{Dots, Mark, Series};
use super::lines::series_hue;
use super::scale::Scale;
use super::{
    WIDTH, dot_element, label_element, line_element, picture_element, push_row_names, shorten_name,
    titled_group, widest_text,
};

const PITCH: f64 = 18.0;
const TOP: f64 = 6.0;

/// The dots of a chart: each mark's `x` is the value, its `y` the place of the name.
pub(crate) fn plot_dots(chart: &Dots) -> Element {
    let names = || chart.names.iter().map(String::as_str);
    let left = widest_text(names()).clamp(30.0, 130.0) + 8.0;
    let bottom = TOP + PITCH * chart.names.len() as f64;
    let values = chart.series.iter().flat_map(|series| &series.marks);
    let ends = values.flat_map(|mark| [mark.x, mark.x - mark.error, mark.x + mark.error]);
    let scale = Scale::under_law(chart.axis.law, ends).over_units((left + 4.0, WIDTH - 14.0));
    let mut svg = picture_element((WIDTH, bottom + 34.0), &chart.title, &chart.axis.name);
    push_row_names(&mut svg, names(), left, [TOP, PITCH, WIDTH - 6.0]);
    draw_axis(&mut svg, &scale, (left, bottom), &chart.axis.name);
    for (index, series) in chart.series.iter().enumerate() {
        draw_series(&mut svg, &scale, series, index);
    }
    svg
}

fn draw_axis(svg: &mut Element, scale: &Scale, (left, bottom): (f64, f64), name: &str) {
    svg.push(line_element("axis", (left, bottom), (WIDTH - 6.0, bottom)));
    let ticks = scale.ticks(5);
    let widest = widest_text(ticks.iter().map(|tick| tick.1.as_str())).max(1.0);
    let room = ((WIDTH - left) / (widest + 8.0)).max(1.0) as usize;
    let every = ticks.len().div_ceil(room).max(1);
    for (value, text) in ticks.iter().step_by(every) {
        let place = scale.place_value(*value);
        svg.push(line_element("axis", (place, bottom), (place, bottom + 4.0)));
        svg.push(label_element("tick middle", (place, bottom + 15.0), text));
    }
    let (at, name) = (
        (left.midpoint(WIDTH), bottom + 30.0),
        shorten_name(name, WIDTH - left),
    );
    svg.push(label_element("name middle", at, &name));
}

fn draw_series(svg: &mut Element, scale: &Scale, series: &Series, index: usize) {
    let hue = series_hue(index);
    let finite = |mark: &&Mark| mark.x.is_finite();
    for mark in series.marks.iter().filter(finite) {
        let height = TOP + PITCH * (mark.y + 0.5);
        let words = match mark.error {
            error if error > 0.0 => with_error(mark.x, error),
            _ => format_short(mark.x),
        };
        let mut point = titled_group(print_minus(&format!("{}: {words}", series.name)));
        if mark.error > 0.0 {
            let ends = [mark.x - mark.error, mark.x + mark.error];
            let [from, to] = ends.map(|x| (scale.place_value(x), height));
            point.push(line_element(&format!("outer {hue}"), from, to));
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
