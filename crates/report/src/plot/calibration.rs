//! Observed frequencies against predicted probabilities.

use crate::CalibrationBin;
use crate::markup::Element;
use crate::number;

use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{dot_element, line_element, rectangle_element};

/// Calibration with the interval of each bin, the diagonal of perfect calibration, and how many
/// rows are in each bin along the bottom.
pub(crate) fn draw_calibration(bins: &[CalibrationBin]) -> Element {
    let caption = Caption {
        title: "Calibration",
        description: format!(
            "observed frequency against prediction in {} bins",
            bins.len()
        ),
        x: "predicted probability",
        y: "observed frequency",
    };
    let unit = Scale::exact_ends([0.0, 1.0], (0.0, 1.0));
    let mut frame = Frame::new((super::WIDTH, 330.0), unit, unit, &caption);
    draw_counts(&mut frame, bins);
    frame.push_mark(line_element(
        "ideal",
        frame.point_at(0.0, 0.0),
        frame.point_at(1.0, 1.0),
    ));
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
        frame.push_mark(rectangle_element(
            "count",
            (place - 4.0, frame.bottom - height),
            (8.0, height),
        ));
    }
}

fn bin_mark(frame: &Frame, bin: &CalibrationBin) -> Element {
    let [low, middle, high] = [bin.low, bin.observed, bin.high];
    let words = format!(
        "predicted {}, observed {} ({} to {}), {} rows",
        number::format_fixed(bin.predicted, 3),
        number::format_fixed(middle, 3),
        number::format_fixed(low, 3),
        number::format_fixed(high, 3),
        number::format_count(bin.count)
    );
    Element::new("g")
        .child(Element::with_text("title", words))
        .child(line_element(
            "outer one",
            frame.point_at(bin.predicted, low),
            frame.point_at(bin.predicted, high),
        ))
        .child(dot_element(
            "median one",
            frame.point_at(bin.predicted, middle),
            3.6,
        ))
}
