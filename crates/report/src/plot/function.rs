//! A fitted function of one column with its band, and the places of rows.

use crate::FunctionCurve;
use crate::markup::Element;
use crate::number::{format_short, print_minus};

use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{WIDTH, line_element};

/// The mean as a line, the interval as a band, rows as strokes along the bottom; `input` is the column of
/// the argument.
pub(crate) fn plot_function(title: &str, input: &str, of: &FunctionCurve) -> Element {
    let x = Scale::exact_ends(of.x.iter().copied());
    let y = Scale::fit_values(of.low.iter().chain(&of.high).copied());
    let ends = of.mean.iter().copied().filter(|value| value.is_finite());
    let (least, most) = ends.fold((f64::MAX, f64::MIN), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let [least, most] = [least, most].map(format_short);
    let words = format!("a curve between {least} and {most} with a band around it");
    let caption = Caption {
        title,
        description: print_minus(&words),
        x: input,
        y: title,
    };
    let mut frame = Frame::new((WIDTH, 250.0), x, y, &caption);
    if y.contains(0.0) {
        frame.push_rule("zero", 0.0);
    }
    let along = |values: &[f64]| frame.points_at(of.x.iter().copied().zip(values.iter().copied()));
    let [low, mean, high] = [&of.low, &of.mean, &of.high].map(|values| along(values));
    frame.push_band("one", [&low, &mean, &high]);
    for place in &of.places {
        let (place, bottom) = (frame.x.place_value(*place), frame.bottom);
        frame.push_mark(line_element("rug", (place, bottom - 6.0), (place, bottom)));
    }
    frame.svg
}
