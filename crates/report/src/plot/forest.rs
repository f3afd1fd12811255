//! One line per number: its median, an inner and an outer interval, and a second pair of them.

use crate::Summary;
use crate::markup::Element;
use crate::number::{decimal_places, format_fixed, print_minus};

use super::scale::Scale;
use super::{
    WIDTH, all_shortened, dot_element, label_element, line_element, picture_element,
    rectangle_element, text_breadth, titled_group, widest_text,
};

/// One number's intervals.
#[derive(Clone, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    pub(crate) first: Summary,
    pub(crate) second: Option<Summary>,
}

impl Row<'_> {
    fn interval_ends(&self) -> impl Iterator<Item = f64> {
        let summaries = std::iter::once(self.first).chain(self.second);
        summaries.flat_map(|summary| [summary.q5, summary.q50, summary.q95])
    }
}

const TOP: f64 = 8.0;

/// Intervals one below the other over one axis, with a rule at zero if zero is in the range.
pub(crate) fn plot_forest(title: &str, rows: &[Row]) -> Element {
    split_forest(title, rows, None)
}

/// A forest in which some rows are left out before the given one.
pub(crate) fn split_forest(title: &str, rows: &[Row], gap: Option<usize>) -> Element {
    let paired = rows.iter().any(|row| row.second.is_some());
    let pitch = if paired { 26.0 } else { 20.0 };
    let left = widest_text(rows.iter().map(|row| row.name)).clamp(30.0, 130.0) + 8.0;
    let above = |index: usize| f64::from(u8::from(gap.is_some_and(|gap| index >= gap)));
    let lines = rows.len() as f64 + above(rows.len());
    let bottom = TOP + pitch * lines + 4.0;
    let scale = Scale::fit_values(rows.iter().flat_map(Row::interval_ends));
    let scale = scale.over_units((left, WIDTH - 10.0));
    let description = format!("{} medians with 50 % and 90 % intervals", rows.len());
    let mut svg = picture_element((WIDTH, bottom + 20.0), title, &description);
    draw_axis(&mut svg, &scale, bottom);
    let names = all_shortened(rows.iter().map(|row| row.name), left - 8.0);
    for (index, (row, name)) in rows.iter().zip(&names).enumerate() {
        let middle = TOP + pitch * (index as f64 + above(index) + 0.5);
        let name = label_element("row-name end", (left - 6.0, middle + 3.8), name);
        svg.push(drawn_row(row, &scale, middle).child(name));
    }
    if let Some(gap) = gap {
        let middle = TOP + pitch * (gap as f64 + 0.5);
        svg.push(label_element("tick end", (left - 6.0, middle + 3.8), "⋮"));
    }
    svg
}

fn draw_axis(svg: &mut Element, scale: &Scale, bottom: f64) {
    let mut ticks = scale.ticks(6);
    let room = scale.place_value(scale.high) - scale.place_value(scale.low);
    let widest = widest_text(ticks.iter().map(|tick| tick.1.as_str())).max(1.0);
    if (widest + 8.0) * ticks.len() as f64 > room {
        ticks = scale.ticks(3);
    }
    for (value, text) in ticks {
        let place = scale.place_value(value);
        svg.push(line_element("grid", (place, TOP), (place, bottom)));
        let at = place.min(WIDTH - text_breadth(&text) / 2.0);
        svg.push(label_element("tick middle", (at, bottom + 14.0), &text));
    }
    if scale.contains(0.0) {
        let place = scale.place_value(0.0);
        svg.push(line_element("zero", (place, TOP), (place, bottom)));
    }
}

fn drawn_row(row: &Row, scale: &Scale, middle: f64) -> Element {
    let digits = decimal_places(row.first.sd);
    let [q5, q50, q95] =
        [row.first.q5, row.first.q50, row.first.q95].map(|q| print_minus(&format_fixed(q, digits)));
    let title = format!("{}: {q50} ({q5} to {q95})", row.name);
    let group = titled_group(title);
    let Some(second) = &row.second else {
        return group.children(interval_marks("one", &row.first, scale, middle));
    };
    let above = interval_marks("two", &row.first, scale, middle - 5.0);
    group
        .children(above)
        .children(interval_marks("one", second, scale, middle + 5.0))
}

fn interval_marks(series: &str, summary: &Summary, scale: &Scale, height: f64) -> Vec<Element> {
    let ends = [summary.q5, summary.q95].map(|end| scale.place_value(end));
    if summary.q5.is_nan() || summary.q50.is_nan() || summary.q95.is_nan() {
        let at = (ends[0].max(scale.place_value(scale.low)), height + 3.8);
        return vec![label_element("tick", at, "NaN")];
    }
    let [from, to] = ends.map(|end| (end, height));
    let outer = line_element(&format!("outer {series}"), from, to);
    let inner = summary.quartiles.map(|quartiles| {
        let [low, high] = quartiles.map(|end| scale.place_value(end));
        let (at, size) = ((low, height - 2.5), (high - low, 5.0));
        rectangle_element(&format!("inner {series}"), at, size)
    });
    let median = (scale.place_value(summary.q50), height);
    let middle = dot_element(&format!("center {series}"), median, 2.3);
    [Some(outer), inner, Some(middle)]
        .into_iter()
        .flatten()
        .collect()
}
