//! Curves over a common axis, one per method, with errors, and dashed ones for published figures.

use crate::markup::Element;
use crate::number::{format_short, print_minus};

use super::chart::{Lines, Mark, Series};
use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{WIDTH, dot_element, line_element, titled_group};

/// The curves of a chart; points that are not finite are left out.
pub(crate) fn plot_lines(chart: &Lines) -> Element {
    let points = || chart.series.iter().flat_map(|series| &series.marks);
    let x = Scale::under_law(chart.x.law, points().map(|mark| mark.x));
    let ends = points().flat_map(|mark| [mark.y, mark.y - mark.error, mark.y + mark.error]);
    let y = Scale::under_law(chart.y.law, ends);
    let caption = Caption {
        title: &chart.title,
        description: format!("{} against {}", chart.y.name, chart.x.name),
        x: &chart.x.name,
        y: &chart.y.name,
    };
    let mut frame = Frame::new((WIDTH, 250.0), x, y, &caption);
    for (index, series) in chart.series.iter().enumerate() {
        let group = draw_series(&frame, series, index);
        frame.push_mark(group);
    }
    frame.svg
}

/// The class that sets the colour of a series.
pub(crate) fn series_hue(index: usize) -> String {
    format!("hue{}", index % HUES)
}

/// Colours in the style sheet.
const HUES: usize = 8;

fn draw_series(frame: &Frame, series: &Series, index: usize) -> Element {
    let hue = series_hue(index);
    let finite = |mark: &&Mark| mark.x.is_finite() && mark.y.is_finite();
    let marks: Vec<&Mark> = series.marks.iter().filter(finite).collect();
    let places = frame.points_at(marks.iter().map(|mark| (mark.x, mark.y)));
    let mut group = Element::with_class("g", if series.dashed { "dashed" } else { "solid" });
    group.push(super::curve_element(&format!("curve {hue}"), &places));
    for (mark, &place) in marks.iter().zip(&places) {
        let [x, y] = [mark.x, mark.y].map(format_short);
        let mut point = titled_group(print_minus(&format!("{}: {y} at {x}", series.name)));
        if mark.error > 0.0 {
            let ends = [mark.y - mark.error, mark.y + mark.error];
            let [from, to] = ends.map(|y| frame.point_at(mark.x, y));
            point.push(line_element(&format!("outer {hue}"), from, to));
        }
        if !series.dashed {
            point.push(dot_element(&format!("median {hue}"), place, 3.2));
        }
        group.push(point);
    }
    group
}
