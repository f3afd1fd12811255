//! Two axes with their grid, marks and labels.

use std::fmt::Display;

use crate::markup::Element;

use super::scale::Scale;
use super::{
    all_shortened, band_element, curve_element, dot_element, label_element, line_element,
    picture_element, shorten_name, text_breadth, titled_group, widest_text,
};

/// Units between two labels at the least.
const GAP: f64 = 6.0;

/// The title and description of a framed picture.
pub(crate) struct Caption<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: String,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
}

/// A picture with two axes, into which marks are pushed at [`Frame::at`].
pub(crate) struct Frame {
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    pub(crate) svg: Element,
}

impl Frame {
    /// Draws axes for these ranges of values in a picture of this size. The scales' own units are
    /// replaced by the space that the labels leave.
    pub(crate) fn new(size: (f64, f64), x: Scale, y: Scale, caption: &Caption) -> Self {
        let mut frame = Self::without_axes(size, x, y, caption);
        let about = ((frame.right - frame.left) / 52.0) as usize;
        let ticks = frame.x.ticks(about.max(3));
        frame.draw_ticks(&ticks);
        frame
    }

    /// As [`Frame::new`], with names at 0, 1, 2, … instead of numbers on the lower axis.
    pub(crate) fn with_axes(
        size: (f64, f64),
        scales: [Scale; 2],
        caption: &Caption,
        names: &[String],
    ) -> Self {
        let [x, y] = scales;
        let mut frame = Self::without_axes(size, x, y, caption);
        let room = (frame.right - frame.left) / names.len().max(1) as f64;
        let names = all_shortened(names.iter().map(String::as_str), (room - GAP).max(40.0));
        let ticks = names.into_iter().enumerate();
        let ticks: Vec<_> = ticks.map(|(place, name)| (place as f64, name)).collect();
        frame.draw_ticks(&ticks);
        frame
    }

    fn without_axes(size: (f64, f64), x: Scale, y: Scale, caption: &Caption) -> Self {
        let ticks = y.ticks((size.1 / 45.0) as usize);
        let widest = widest_text(ticks.iter().map(|tick| tick.1.as_str()));
        let (left, right, top, bottom) = (widest + 8.0, size.0 - 10.0, 20.0, size.1 - 34.0);
        let mut frame = Self {
            x: Scale::over_units(&x, (left, right)),
            y: Scale::over_units(&y, (bottom, top)),
            left,
            right,
            top,
            bottom,
            svg: picture_element(size, caption.title, &caption.description),
        };
        frame.draw_axes(&ticks, caption);
        frame
    }

    fn draw_axes(&mut self, y_ticks: &[(f64, String)], caption: &Caption) {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        for (value, text) in y_ticks {
            let height = self.y.place_value(*value);
            self.push_mark(line_element("grid", (left, height), (right, height)));
            self.push_mark(label_element("tick end", (left - 5.0, height + 3.8), text));
        }
        self.push_mark(line_element("axis", (left, bottom), (right, bottom)));
        let [x, y] = [(caption.x, right - left), (caption.y, right)];
        let [x, y] = [x, y].map(|(name, room)| shorten_name(name, room));
        let below = (left.midpoint(right), bottom + 30.0);
        self.push_mark(label_element("name", (2.0, 11.0), &y));
        self.push_mark(label_element("name middle", below, &x));
    }

    /// As many ticks of the lower axis as fit.
    fn draw_ticks(&mut self, ticks: &[(f64, String)]) {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        let widest = widest_text(ticks.iter().map(|tick| tick.1.as_str())).max(1.0);
        let room = ((right - left) / (widest + GAP)).max(1.0) as usize;
        let every = ticks.len().div_ceil(room).max(1);
        for (value, text) in ticks.iter().step_by(every) {
            let place = self.x.place_value(*value);
            self.push_mark(line_element("axis", (place, bottom), (place, bottom + 4.0)));
            let furthest = right + 10.0 - text_breadth(text) / 2.0;
            let at = (place.min(furthest), bottom + 15.0);
            self.push_mark(label_element("tick middle", at, text));
        }
    }

    /// The position of a pair of values.
    pub(crate) fn point_at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.place_value(x), self.y.place_value(y))
    }

    /// The positions of several pairs.
    pub(crate) fn points_at(&self, pairs: impl IntoIterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        pairs
            .into_iter()
            .map(|(x, y)| self.point_at(x, y))
            .collect()
    }

    pub(crate) fn push_mark(&mut self, mark: Element) {
        self.svg.push(mark);
    }

    /// A horizontal line at a value of the other axis.
    pub(crate) fn push_rule(&mut self, class: &str, value: f64) {
        let [from, to] = [self.left, self.right].map(|x| (x, self.y.place_value(value)));
        self.push_mark(line_element(class, from, to));
    }

    /// An interval with a dot within it.
    pub(crate) fn interval_mark(&self, words: impl Display, x: f64, heights: [f64; 3]) -> Element {
        let [low, middle, high] = heights.map(|height| self.point_at(x, height));
        let mark = titled_group(words).child(line_element("outer one", low, high));
        mark.child(dot_element("median one", middle, 3.6))
    }

    /// A curve in its band: low ends, middles and high ends over the same places.
    pub(crate) fn push_band(&mut self, series: &str, [low, middle, high]: [&[(f64, f64)]; 3]) {
        self.push_mark(band_element(&format!("spread {series}"), low, high));
        self.push_mark(curve_element(&format!("curve {series}"), middle));
    }
}
