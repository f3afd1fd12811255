//! The predicted response over the values of one column.

use crate::EffectCurve;
use crate::markup::Element;
use crate::number::{format_short, print_minus};

use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{band_element, curve_element, dot_element, line_element};

/// The size of one of several such pictures.
const SIZE: (f64, f64) = (250.0, 190.0);

/// Predictions with their intervals: a band over numbers, marks beside the names of levels.
pub(crate) fn plot_effect(of: &EffectCurve) -> Element {
    let title = format!("{} by {}", of.response, of.variable);
    let caption = Caption {
        title: &title,
        description: "posterior mean and 90 % interval".into(),
        x: &of.variable,
        y: &of.response,
    };
    let y = Scale::fit_values(
        of.points.iter().flat_map(|point| [point.low, point.high]),
        (0.0, 1.0),
    );
    if of.numeric {
        let x = Scale::exact_ends(of.points.iter().filter_map(|point| point.value), (0.0, 1.0));
        let mut frame = Frame::new(SIZE, x, y, &caption);
        draw_band(&mut frame, of);
        return frame.svg;
    }
    let count = of.points.len() as f64;
    let x = Scale::exact_ends([-0.5, count - 0.5], (0.0, 1.0));
    let prefix = format!("{} = ", of.variable);
    let names = of
        .points
        .iter()
        .map(|point| point.name.replacen(&prefix, "", 1));
    let names: Vec<String> = names.collect();
    let mut frame = Frame::with_axes(SIZE, [x, y], &caption, &names);
    draw_marks(&mut frame, of);
    frame.svg
}

fn draw_band(frame: &mut Frame, of: &EffectCurve) {
    let place = |height: &dyn Fn(&crate::EffectPoint) -> f64| -> Vec<(f64, f64)> {
        let points = of.points.iter();
        points
            .filter_map(|point| Some(frame.point_at(point.value?, height(point))))
            .collect()
    };
    let (low, high) = (place(&|point| point.low), place(&|point| point.high));
    let mean = place(&|point| point.mean);
    frame.push_mark(band_element("spread one", &low, &high));
    frame.push_mark(curve_element("curve one", &mean));
}

fn draw_marks(frame: &mut Frame, of: &EffectCurve) {
    for (place, point) in of.points.iter().enumerate() {
        let x = place as f64;
        let words = format!(
            "{}: {} ({} to {})",
            point.name,
            format_short(point.mean),
            format_short(point.low),
            format_short(point.high)
        );
        let mark = Element::new("g")
            .child(Element::with_text("title", print_minus(&words)))
            .child(line_element(
                "outer one",
                frame.point_at(x, point.low),
                frame.point_at(x, point.high),
            ))
            .child(dot_element(
                "median one",
                frame.point_at(x, point.mean),
                3.6,
            ));
        frame.push_mark(mark);
    }
}
