//! The bound during training: its running mean with the range of its estimates.

use crate::TracePoint;
use crate::markup::Element;
use crate::number::{format_short, group_digits, print_minus};

use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{WIDTH, dot_element, label_element};

/// The most points of a curve; more would not be visible.
const STRETCHES: usize = 160;

/// A stretch of training steps.
struct Stretch {
    iteration: f64,
    mean: f64,
    low: f64,
    high: f64,
}

/// The trace of the bound. The first steps, which may be far below, are cut off with a remark.
pub(crate) fn plot_trace(points: &[TracePoint]) -> Element {
    let stretches = split_stretches(points);
    let floor = visible_floor(&stretches);
    let shown = stretches.iter().filter(|stretch| stretch.high >= floor);
    let heights = shown.flat_map(|stretch| [stretch.low.max(floor), stretch.high]);
    let x = Scale::exact_ends(stretches.iter().map(|stretch| stretch.iteration));
    let y = Scale::fit_values(heights);
    let caption = Caption {
        title: "Bound while training",
        description: "mean and spread of the estimates of the evidence lower bound".into(),
        x: "iteration",
        y: "bound",
    };
    let mut frame = Frame::new((WIDTH, 230.0), x, y, &caption);
    // Before the mean first comes into view, its line would only run along the bottom.
    let visible = stretches.iter().position(|one| one.mean >= frame.y.low);
    let visible = visible.unwrap_or(0);
    draw_stretches(&mut frame, &stretches[visible..]);
    if visible > 0 {
        let start = print_minus(&group_digits(&format_short(stretches[0].mean)));
        let at = (frame.right - 4.0, frame.bottom - 7.0);
        let words = format!("rose from {start}");
        frame.push_mark(label_element("note end halo", at, &words));
    }
    frame.svg
}

fn draw_stretches(frame: &mut Frame, stretches: &[Stretch]) {
    let heights: [fn(&Stretch) -> f64; 3] = [|one| one.low, |one| one.mean, |one| one.high];
    let [low, mean, high] =
        heights.map(|of| frame.points_at(stretches.iter().map(|one| (one.iteration, of(one)))));
    frame.push_band("one", [&low, &mean, &high]);
    if let Some(end) = mean.last() {
        frame.push_mark(dot_element("median one", *end, 3.0));
    }
}

/// Equal numbers of neighbouring points, each stretch with its mean and its 5 % and 95 % points.
fn split_stretches(points: &[TracePoint]) -> Vec<Stretch> {
    let finite: Vec<&TracePoint> = points.iter().filter(|p| p.value.is_finite()).collect();
    let length = finite.len().div_ceil(STRETCHES).max(1);
    finite.chunks(length).map(average_stretch).collect()
}

fn average_stretch(points: &[&TracePoint]) -> Stretch {
    let mut values: Vec<f64> = points.iter().map(|point| point.value).collect();
    values.sort_by(f64::total_cmp);
    let rank = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    Stretch {
        iteration: points.last().map_or(0.0, |last| last.iteration as f64),
        mean: values.iter().sum::<f64>() / values.len() as f64,
        low: rank(0.05),
        high: rank(0.95),
    }
}

/// The lowest height that is shown: the range of the last four fifths of training, enlarged by
/// half.
fn visible_floor(stretches: &[Stretch]) -> f64 {
    let late = &stretches[stretches.len() / 5..];
    let low = late.iter().map(|one| one.low).fold(f64::MAX, f64::min);
    let high = stretches
        .iter()
        .map(|one| one.high)
        .fold(f64::MIN, f64::max);
    low - 0.5 * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_trace_becomes_few_stretches_that_keep_its_end() {
        let point = |iteration| TracePoint {
            iteration,
            value: -(iteration as f64),
        };
        let points: Vec<_> = (1..=100_000).map(point).collect();
        let stretches = split_stretches(&points);
        assert!(stretches.len() <= STRETCHES);
        assert_eq!(stretches.last().unwrap().iteration, 100_000.0);
    }

    #[test]
    fn steps_that_failed_are_left_out() {
        let values = [f64::NAN, -2.0, f64::NEG_INFINITY, -1.0];
        let point = |(iteration, value): (u64, f64)| TracePoint { iteration, value };
        let points: Vec<_> = (0..).zip(values).map(point).collect();
        assert_eq!(split_stretches(&points).len(), 2);
    }
}
