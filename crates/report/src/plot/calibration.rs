//! Observed frequencies against predicted probabilities.

use crate::CalibrationBin;
use crate::markup::Element;
use crate::number;

use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{dot, line, rectangle};

/// Calibration with the interval of each bin, the diagonal of perfect calibration, and how many
/// rows are in each bin along the bottom.
pub(crate) fn calibration(bins: &[CalibrationBin]) -> Element {
    let caption = Caption {
        title: "Calibration",
        description: format!(
            "observed frequency against prediction in {} bins",
            bins.len()
        ),
        x: "predicted probability",
        y: "observed frequency",
    };
    let unit = Scale::exact([0.0, 1.0], (0.0, 1.0));
    let mut frame = Frame::new((super::WIDTH, 330.0), unit, unit, &caption);
    draw_counts(&mut frame, bins);
    frame.push(line("ideal", frame.at(0.0, 0.0), frame.at(1.0, 1.0)));
    for bin in bins {
        frame.push(mark(&frame, bin));
    }
    frame.svg
}

fn draw_counts(frame: &mut Frame, bins: &[CalibrationBin]) {
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1).max(1) as f64;
    let tallest = (frame.bottom - frame.top) * 0.16;
    for bin in bins {
        let height = tallest * bin.count as f64 / most;
        let place = frame.x.place(bin.predicted);
        frame.push(rectangle(
            "count",
            (place - 4.0, frame.bottom - height),
            (8.0, height),
        ));
    }
}

fn mark(frame: &Frame, bin: &CalibrationBin) -> Element {
    let [low, middle, high] = [bin.low, bin.observed, bin.high];
    let words = format!(
        "predicted {}, observed {} ({} to {}), {} rows",
        number::fixed(bin.predicted, 3),
        number::fixed(middle, 3),
        number::fixed(low, 3),
        number::fixed(high, 3),
        number::count(bin.count)
    );
    Element::new("g")
        .child(Element::with_text("title", words))
        .child(line(
            "outer one",
            frame.at(bin.predicted, low),
            frame.at(bin.predicted, high),
        ))
        .child(dot("median one", frame.at(bin.predicted, middle), 3.6))
}
