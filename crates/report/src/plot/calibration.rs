//! Observed frequencies against predicted probabilities.

use crate::CalibrationBin;
use crate::markup::Element;
use crate::number;

use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{line_element, rectangle_element};

/// Calibration with the interval of each bin, the diagonal of perfect calibration, and how many
/// rows are in each bin along the bottom.
pub(crate) fn draw_calibration(bins: &[CalibrationBin]) -> Element {
    let count = bins.len();
    let caption = Caption {
        title: "Calibration",
        description: format!("observed frequency against prediction in {count} bins"),
        x: "predicted probability",
        y: "observed frequency",
    };
    let unit = Scale::exact_ends([0.0, 1.0]);
    let mut frame = Frame::new((super::WIDTH, 330.0), unit, unit, &caption);
    draw_counts(&mut frame, bins);
    let [from, to] = [0.0, 1.0].map(|end| frame.point_at(end, end));
    frame.push_mark(line_element("ideal", from, to));
    for bin in bins {
        frame.push_mark(bin_mark(&frame, bin));
    }
    frame.svg
}

fn draw_counts(frame: &mut Frame, bins: &[CalibrationBin]) {
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1).max(1) as f64;
    let tallest = (frame.bottom - frame.top) * 0.16;
    for bin in bins {
        let height = tallest * bin.count as f64 / most;
        let place = frame.x.place_value(bin.predicted);
        let at = (place - 4.0, frame.bottom - height);
        frame.push_mark(rectangle_element("count", at, (8.0, height)));
    }
}

fn bin_mark(frame: &Frame, bin: &CalibrationBin) -> Element {
    let numbers = [bin.predicted, bin.observed, bin.low, bin.high];
    let [predicted, observed, low, high] = numbers.map(|value| number::format_fixed(value, 3));
    let rows = number::format_count(bin.count);
    let words =
        format!("predicted {predicted}, observed {observed} ({low} to {high}), {rows} rows");
    frame.interval_mark(words, bin.predicted, [bin.low, bin.observed, bin.high])
}
