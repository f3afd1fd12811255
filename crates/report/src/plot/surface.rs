//! A fitted function of two columns as a heat map with contour lines.

use std::fmt::Write as _;

use crate::FunctionSurface;
use crate::markup::{Element, format_unit};
use crate::number::{format_short, print_minus};

use super::frame::{Caption, Frame};
use super::scale::Scale;
use super::{WIDTH, dot_element, label_element, rectangle_element};

/// Tones on each side of zero.
const TONES: usize = 6;
/// Units of the legend.
const LEGEND: (f64, f64) = (130.0, 8.0);

/// Values of a function of two columns.
#[derive(Clone, Copy)]
pub(crate) struct SurfaceValues<'a> {
    /// The places at which the function is known, and those of rows.
    pub(crate) grid: &'a FunctionSurface,
    /// Row-major; `x` varies fastest.
    pub(crate) values: &'a [f64],
}

/// Cells in shades of two colours, one for each sign; contour lines between shades; rows as dots.
/// `x` and `y` are the columns of the arguments.
pub(crate) fn plot_surface(title: &str, [x, y]: [&str; 2], of: SurfaceValues<'_>) -> Element {
    let grid = of.grid;
    let scale = |values: &[f64]| Scale::exact_ends(values.iter().copied());
    let caption = Caption {
        title,
        description: format!("a map over {x} and {y}"),
        x,
        y,
    };
    let mut frame = Frame::new((WIDTH, 320.0), scale(&grid.x), scale(&grid.y), &caption);
    let ladder = Ladder::new(of.values);
    let cells = draw_cells(&frame, of, &ladder);
    frame.push_mark(cells);
    for rung in ladder.rung_values() {
        let contour = draw_contour(&frame, of, rung);
        frame.push_mark(contour);
    }
    let rows = frame.points_at(grid.places.iter().map(|[x, y]| (*x, *y)));
    let rows = rows.into_iter().map(|at| dot_element("place", at, 0.9));
    frame.push_mark(Element::new("g").children(rows));
    let legend = draw_legend(&frame, &ladder);
    frame.push_mark(legend);
    frame.svg
}

/// Round steps that divide the range of values.
struct Ladder {
    /// The steps are multiples of `step` above or below this.
    foot: f64,
    step: f64,
    low: i64,
    high: i64,
}

impl Ladder {
    /// Steps from zero for values of both signs; for others from the least one.
    fn new(values: &[f64]) -> Ladder {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low > high { (0.0, 0.0) } else { (low, high) };
        if low > 0.0 {
            let step = round_step((high - low).max(1e-3 * high) / TONES as f64);
            let foot = (low / step).floor() * step;
            let high = ((high - foot) / step).ceil().max(1.0) as i64;
            return Ladder {
                foot,
                step,
                low: 0,
                high,
            };
        }
        let step = round_step(high.max(-low).max(f64::MIN_POSITIVE) / TONES as f64);
        Ladder {
            foot: 0.0,
            step,
            low: (low / step).floor() as i64,
            high: (high / step).ceil() as i64,
        }
    }

    /// The number of a value's step: 0 for the one above the foot, −1 for the one below.
    fn tone_of(&self, value: f64) -> i64 {
        let tone = ((value - self.foot) / self.step).floor() as i64;
        tone.clamp(self.low, (self.high - 1).max(self.low))
    }

    fn rung_value(&self, rung: i64) -> f64 {
        self.foot + rung as f64 * self.step
    }

    fn rung_values(&self) -> Vec<f64> {
        (self.low + 1..self.high)
            .map(|rung| self.rung_value(rung))
            .collect()
    }

    /// The label of a step, with as many digits as the step needs.
    fn rung_words(&self, rung: i64) -> String {
        let digits = (1.0 - self.step.log10().floor()).clamp(0.0, 17.0) as usize;
        let text = format!("{:.digits$}", self.rung_value(rung));
        let text = if digits > 0 {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        print_minus(if text == "-0" { "0" } else { text })
    }
}

/// The next round number.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let round = [1.0, 2.0, 2.5, 5.0, 10.0].map(|one| one * power);
    let mut steps = round.into_iter();
    steps.find(|step| *step >= rough).unwrap_or(rough)
}

/// The CSS class of a shade.
fn tone_class(tone: i64) -> String {
    let (side, shade) = match tone {
        tone if tone >= 0 => ("above", tone as usize + 1),
        tone => ("below", (-tone) as usize),
    };
    format!("tone {side} tone{}", shade.min(TONES))
}

/// Cells around the places; neighbours of one shade in a row are joined.
fn draw_cells(frame: &Frame, of: SurfaceValues<'_>, ladder: &Ladder) -> Element {
    let width = of.grid.x.len();
    let edges = |places: &[f64], scale: &Scale| -> Vec<f64> {
        let edges = cell_edges(places).into_iter();
        edges.map(|edge| scale.place_value(edge)).collect()
    };
    let (xs, ys) = (edges(&of.grid.x, &frame.x), edges(&of.grid.y, &frame.y));
    let mut group = Element::new("g");
    for (row, values) in of.values.chunks_exact(width.max(1)).enumerate() {
        let tones: Vec<i64> = values.iter().map(|value| ladder.tone_of(*value)).collect();
        let mut start = 0;
        for run in tones.chunk_by(|a, b| a == b) {
            let end = start + run.len();
            // A small overlap hides seams.
            let (at, size) = (
                (xs[start], ys[row + 1]),
                (xs[end] - xs[start] + 0.5, ys[row] - ys[row + 1] + 0.5),
            );
            group.push(rectangle_element(&tone_class(run[0]), at, size));
            start = end;
        }
    }
    group
}

/// Halfway between places, and at the outermost ones.
fn cell_edges(places: &[f64]) -> Vec<f64> {
    let inner = places.windows(2).map(|pair| pair[0].midpoint(pair[1]));
    let (first, last) = (places.first().copied(), places.last().copied());
    first.into_iter().chain(inner).chain(last).collect()
}

/// The contour line of a value, piece by piece through the cells between places.
fn draw_contour(frame: &Frame, of: SurfaceValues<'_>, value: f64) -> Element {
    let (grid, width) = (of.grid, of.grid.x.len());
    let mut path = String::new();
    for row in 1..grid.y.len() {
        for column in 1..width {
            let corner = |dx: usize, dy: usize| {
                let (x, y) = (column - dx, row - dy);
                (grid.x[x], grid.y[y], of.values[y * width + x] - value)
            };
            let corners = [corner(1, 1), corner(0, 1), corner(0, 0), corner(1, 0)];
            let crossings: Vec<(f64, f64)> = (0..4)
                .filter_map(|side| edge_crossing(corners[side], corners[(side + 1) % 4]))
                .map(|(x, y)| frame.point_at(x, y))
                .collect();
            for pair in crossings.chunks_exact(2) {
                let [from, to] = [pair[0], pair[1]]
                    .map(|(x, y)| format!("{} {}", format_unit(x), format_unit(y)));
                let _ = write!(path, "M{from}L{to}");
            }
        }
    }
    let words = print_minus(&format_short(value));
    let class = if value == 0.0 {
        "contour strong"
    } else {
        "contour"
    };
    Element::with_class("path", class)
        .attr("d", path)
        .child(Element::with_text("title", words))
}

/// The zero between two corners of opposite signs.
fn edge_crossing(a: (f64, f64, f64), b: (f64, f64, f64)) -> Option<(f64, f64)> {
    if (a.2 < 0.0) == (b.2 < 0.0) {
        return None;
    }
    let share = a.2 / (a.2 - b.2);
    Some((a.0 + share * (b.0 - a.0), a.1 + share * (b.1 - a.1)))
}

/// The shades from the lowest to the highest, with the values at both ends and at zero.
fn draw_legend(frame: &Frame, ladder: &Ladder) -> Element {
    let (width, height) = LEGEND;
    let (left, top) = (frame.right - width - 34.0, 4.0);
    let count = (ladder.high - ladder.low).max(1) as f64;
    let at = |rung: i64| left + width * (rung - ladder.low) as f64 / count;
    let mut group = Element::new("g");
    for tone in ladder.low..ladder.high {
        let size = (at(tone + 1) - at(tone), height);
        group.push(rectangle_element(&tone_class(tone), (at(tone), top), size));
    }
    let ends = [
        ("tick end", left - 4.0, ladder.low),
        ("tick", left + width + 4.0, ladder.high),
    ];
    for (class, x, rung) in ends {
        group.push(label_element(class, (x, 11.5), &ladder.rung_words(rung)));
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_reach_both_ends() {
        let ladder = Ladder::new(&[-0.31, 0.1, 1.17]);
        assert_eq!((ladder.step, ladder.low, ladder.high), (0.2, -2, 6));
        assert_eq!(ladder.tone_of(-0.31), -2);
        assert_eq!(ladder.tone_of(1.17), 5);
        assert_eq!(tone_class(-2), "tone below tone2");
        assert_eq!(tone_class(0), "tone above tone1");
        assert_eq!(ladder.rung_values().len(), 7);
        assert_eq!(
            (&*ladder.rung_words(-2), &*ladder.rung_words(6)),
            ("\u{2212}0.4", "1.2")
        );
        let positive = Ladder::new(&[0.061, 0.079]);
        assert_eq!(
            (
                positive.low,
                positive.tone_of(0.061),
                positive.tone_of(0.079)
            ),
            (0, 0, 3)
        );
    }

    #[test]
    fn a_line_crosses_where_the_value_is_reached() {
        assert_eq!(
            edge_crossing((0.0, 0.0, -1.0), (1.0, 0.0, 3.0)),
            Some((0.25, 0.0))
        );
        assert_eq!(edge_crossing((0.0, 0.0, 1.0), (1.0, 0.0, 3.0)), None);
    }

    #[test]
    fn a_flat_function_has_a_picture() {
        let grid = FunctionSurface {
            x: vec![0.0, 1.0],
            y: vec![0.0, 1.0],
            mean: vec![0.0; 4],
            sd: Vec::new(),
            places: Vec::new(),
        };
        let flat = SurfaceValues {
            grid: &grid,
            values: &grid.mean,
        };
        let mut out = String::new();
        plot_surface("f", ["x", "y"], flat).render_into(&mut out);
        assert!(out.contains("tone"));
    }
}
