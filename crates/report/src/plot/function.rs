//! A fitted function of one column with its band, and the places of rows.

use crate::markup::Element;
use crate::number::{format_short, print_minus};

use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{WIDTH, band_element, curve_element, line_element};

/// A function of one column.
pub(crate) struct Function<'a> {
    pub(crate) title: &'a str,
    /// The column of its argument.
    pub(crate) input: &'a str,
    pub(crate) x: &'a [f64],
    pub(crate) mean: &'a [f64],
    pub(crate) low: &'a [f64],
    pub(crate) high: &'a [f64],
    /// The places of rows.
    pub(crate) places: &'a [f64],
}

/// The mean as a line, the interval as a band, rows as strokes along the bottom.
pub(crate) fn plot_function(of: &Function) -> Element {
    let x = Scale::exact_ends(of.x.iter().copied(), (0.0, 1.0));
    let y = Scale::fit_values(of.low.iter().chain(of.high).copied(), (0.0, 1.0));
    let ends = of.mean.iter().copied().filter(|value| value.is_finite());
    let (least, most) = ends.fold((f64::MAX, f64::MIN), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let caption = Caption {
        title: of.title,
        description: print_minus(&format!(
            "a curve between {} and {} with a band around it",
            format_short(least),
            format_short(most)
        )),
        x: of.input,
        y: of.title,
    };
    let mut frame = Frame::new((WIDTH, 250.0), x, y, &caption);
    if y.contains(0.0) {
        let ends = [frame.left, frame.right].map(|x| (x, frame.y.place_value(0.0)));
        frame.push_mark(line_element("zero", ends[0], ends[1]));
    }
    let along = |values: &[f64]| -> Vec<(f64, f64)> {
        let places = of.x.iter().zip(values);
        places.map(|(x, y)| frame.point_at(*x, *y)).collect()
    };
    let marks = [
        band_element("spread one", &along(of.low), &along(of.high)),
        curve_element("curve one", &along(of.mean)),
    ];
    let bottom = frame.bottom;
    let rug = of.places.iter().map(|place| {
        let place = frame.x.place_value(*place);
        line_element("rug", (place, bottom - 6.0), (place, bottom))
    });
    let rug: Vec<Element> = rug.collect();
    marks
        .into_iter()
        .chain(rug)
        .for_each(|mark| frame.push_mark(mark));
    frame.svg
}
