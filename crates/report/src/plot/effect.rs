//! The predicted response over the values of one column.

use crate::markup::Element;
use crate::number::{format_short, print_minus};
use crate::{EffectCurve, EffectPoint};

use super::frame::{Caption, Frame};
use super::scale::Scale;

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
    let y = Scale::fit_values(of.points.iter().flat_map(|one| [one.low, one.high]));
    if of.numeric {
        let x = Scale::exact_ends(of.points.iter().filter_map(|point| point.value));
        let mut frame = Frame::new(SIZE, x, y, &caption);
        draw_band(&mut frame, of);
        return frame.svg;
    }
    let count = of.points.len() as f64;
    let x = Scale::exact_ends([-0.5, count - 0.5]);
    let prefix = format!("{} = ", of.variable);
    let names = of.points.iter();
    let names: Vec<String> = names
        .map(|point| point.name.replacen(&prefix, "", 1))
        .collect();
    let mut frame = Frame::with_axes(SIZE, [x, y], &caption, &names);
    draw_marks(&mut frame, of);
    frame.svg
}

fn draw_band(frame: &mut Frame, of: &EffectCurve) {
    let heights: [fn(&EffectPoint) -> f64; 3] = [|one| one.low, |one| one.mean, |one| one.high];
    let [low, mean, high] = heights.map(|height| {
        let known = of
            .points
            .iter()
            .filter_map(|point| Some((point.value?, height(point))));
        frame.points_at(known)
    });
    frame.push_band("one", [&low, &mean, &high]);
}

fn draw_marks(frame: &mut Frame, of: &EffectCurve) {
    for (place, point) in of.points.iter().enumerate() {
        let heights = [point.low, point.mean, point.high];
        let [low, mean, high] = heights.map(format_short);
        let words = print_minus(&format!("{}: {mean} ({low} to {high})", point.name));
        frame.push_mark(frame.interval_mark(words, place as f64, heights));
    }
}
