//! Observed counts hung from the expected curve, on a root scale (Tukey's hanging rootogram).

use crate::CountBin;
use crate::markup::Element;

use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{WIDTH, dot_element, rectangle_element};

/// The most counts drawn; further ones would be thinner than a pixel on a phone.
const WIDEST: usize = 80;

/// Bars end at zero where the model is right, and above it where it expects too many.
pub(crate) fn plot_rootogram(bins: &[CountBin]) -> Element {
    let bins = &bins[..bins.len().min(WIDEST)];
    let root = |value: f64| value.max(0.0).sqrt();
    let tops = bins.iter().map(|bin| root(bin.expected));
    let feet = tops
        .clone()
        .zip(bins)
        .map(|(top, bin)| top - root(bin.observed));
    let count = bins.len();
    let caption = Caption {
        title: "Hanging rootogram",
        description: format!("observed rows hung from the expected rows for {count} counts"),
        x: "count",
        y: "√ rows",
    };
    let values = bins.iter().map(|bin| bin.value as f64);
    let x = Scale::exact_ends(values.flat_map(|value| [value - 0.6, value + 0.6]));
    let highs = bins.iter().filter_map(|bin| Some(root(bin.interval?[1])));
    let y = Scale::fit_values(tops.chain(feet).chain(highs).chain([0.0]));
    let mut frame = Frame::new((WIDTH, 250.0), x, y, &caption);
    draw_bars(&mut frame, bins);
    draw_expected(&mut frame, bins);
    frame.push_rule("zero strong", 0.0);
    frame.svg
}

fn draw_bars(frame: &mut Frame, bins: &[CountBin]) {
    let half = ((frame.right - frame.left) / bins.len().max(1) as f64 * 0.36).clamp(0.8, 12.0);
    for bin in bins {
        let (top, foot) = (bin.expected.max(0.0).sqrt(), bin.observed.max(0.0).sqrt());
        let (place, high) = frame.point_at(bin.value as f64, top);
        let low = frame.y.place_value(top - foot);
        let size = (2.0 * half, low - high);
        frame.push_mark(rectangle_element("bar", (place - half, high), size));
    }
}

fn draw_expected(frame: &mut Frame, bins: &[CountBin]) {
    let along = |height: &dyn Fn(&CountBin) -> Option<f64>| {
        let known = bins
            .iter()
            .filter_map(|bin| Some((bin.value as f64, height(bin)?)));
        frame.points_at(known.map(|(value, height)| (value, height.max(0.0).sqrt())))
    };
    let [low, high] = [0, 1].map(|end| along(&|bin| Some(bin.interval?[end])));
    let middle = along(&|bin| Some(bin.expected));
    frame.push_band("two", [&low, &middle, &high]);
    if bins.len() <= 40 {
        for place in middle {
            frame.push_mark(dot_element("median two", place, 2.4));
        }
    }
}
