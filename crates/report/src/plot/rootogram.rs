//! Observed counts hung from the expected curve, on a root scale (Tukey's hanging rootogram).

use crate::CountBin;
use crate::markup::Element;

use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{WIDTH, band_element, curve_element, dot_element, line_element, rectangle_element};

/// The most counts drawn; further ones would be thinner than a pixel on a phone.
const WIDEST: usize = 80;

/// Bars end at zero where the model is right, and above it where it expects too many.
pub(crate) fn plot_rootogram(bins: &[CountBin]) -> Element {
    let bins = &bins[..bins.len().min(WIDEST)];
    let root = |value: f64| value.max(0.0).sqrt();
    let tops = bins.iter().map(|bin| root(bin.expected));
    let feet = bins
        .iter()
        .map(|bin| root(bin.expected) - root(bin.observed));
    let caption = Caption {
        title: "Hanging rootogram",
        description: format!(
            "observed rows hung from the expected rows for {} counts",
            bins.len()
        ),
        x: "count",
        y: "√ rows",
    };
    let ends = bins
        .iter()
        .flat_map(|bin| [bin.value as f64 - 0.6, bin.value as f64 + 0.6]);
    let x = Scale::exact_ends(ends, (0.0, 1.0));
    let highs = bins
        .iter()
        .filter_map(|bin| bin.interval)
        .map(|[_, high]| root(high));
    let y = Scale::fit_values(tops.chain(feet).chain(highs).chain([0.0]), (0.0, 1.0));
    let mut frame = Frame::new((WIDTH, 250.0), x, y, &caption);
    draw_bars(&mut frame, bins);
    draw_expected(&mut frame, bins);
    let zero = frame.y.place_value(0.0);
    frame.push_mark(line_element(
        "zero strong",
        (frame.left, zero),
        (frame.right, zero),
    ));
    frame.svg
}

fn draw_bars(frame: &mut Frame, bins: &[CountBin]) {
    let half = ((frame.right - frame.left) / bins.len().max(1) as f64 * 0.36).clamp(0.8, 12.0);
    for bin in bins {
        let (top, foot) = (bin.expected.max(0.0).sqrt(), bin.observed.max(0.0).sqrt());
        let (place, high) = frame.point_at(bin.value as f64, top);
        let low = frame.y.place_value(top - foot);
        frame.push_mark(rectangle_element(
            "bar",
            (place - half, high),
            (2.0 * half, low - high),
        ));
    }
}

fn draw_expected(frame: &mut Frame, bins: &[CountBin]) {
    let at = |bin: &CountBin, height: f64| frame.point_at(bin.value as f64, height.max(0.0).sqrt());
    let ends = |end: usize| -> Vec<(f64, f64)> {
        let known = bins
            .iter()
            .filter_map(|bin| bin.interval.map(|ends| at(bin, ends[end])));
        known.collect()
    };
    let (low, high) = (ends(0), ends(1));
    let middle: Vec<_> = bins.iter().map(|bin| at(bin, bin.expected)).collect();
    frame.push_mark(band_element("spread two", &low, &high));
    frame.push_mark(curve_element("curve two", &middle));
    if bins.len() <= 40 {
        for place in middle {
            frame.push_mark(dot_element("median two", place, 2.4));
        }
    }
}
