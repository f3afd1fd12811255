//! Curves over a common axis, one per method, with errors, and dashed ones for published figures.

use crate::markup::Element;
use crate::number::{print, short};

use super::chart::{Lines, Mark, Series};
use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{WIDTH, dot, line};

/// The curves of a chart; points that are not finite are left out.
pub(crate) fn lines(chart: &Lines) -> Element {
    let points = || chart.series.iter().flat_map(|series| &series.marks);
    let x = Scale::by(chart.x.law, points().map(|mark| mark.x));
    let ends = points().flat_map(|mark| [mark.y, mark.y - mark.error, mark.y + mark.error]);
    let y = Scale::by(chart.y.law, ends);
    let caption = Caption {
        title: &chart.title,
        description: format!("{} against {}", chart.y.name, chart.x.name),
        x: &chart.x.name,
        y: &chart.y.name,
    };
    let mut frame = Frame::new((WIDTH, 250.0), x, y, &caption);
    for (index, series) in chart.series.iter().enumerate() {
        let group = drawn(&frame, series, index);
        frame.push(group);
    }
    frame.svg
}

/// The class that sets the colour of a series.
pub(crate) fn hue(index: usize) -> String {
    format!("hue{}", index % HUES)
}

/// Colours in the style sheet.
const HUES: usize = 8;

fn drawn(frame: &Frame, series: &Series, index: usize) -> Element {
    let hue = hue(index);
    let finite = |mark: &&Mark| mark.x.is_finite() && mark.y.is_finite();
    let marks: Vec<&Mark> = series.marks.iter().filter(finite).collect();
    let places: Vec<(f64, f64)> = marks.iter().map(|m| frame.at(m.x, m.y)).collect();
    let mut group = Element::classed("g", if series.dashed { "dashed" } else { "solid" });
    group.push(super::curve(&format!("curve {hue}"), &places));
    for (mark, &place) in marks.iter().zip(&places) {
        let words = format!("{}: {} at {}", series.name, short(mark.y), short(mark.x));
        let mut point = Element::new("g").child(Element::with_text("title", print(&words)));
        if mark.error > 0.0 {
            let ends = [mark.y - mark.error, mark.y + mark.error].map(|y| frame.at(mark.x, y));
            point.push(line(&format!("outer {hue}"), ends[0], ends[1]));
        }
        if !series.dashed {
            point.push(dot(&format!("median {hue}"), place, 3.2));
        }
        group.push(point);
    }
    group
}
