//! Two axes with their grid, marks and labels.

use crate::markup::Element;

use super::scale::Scale;
use super::{breadth, label, line, picture, shortened};

/// What a framed picture says about itself.
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
    /// Draws axes for these ranges of values in a picture of this size. The scales' own units
    /// are replaced by what the labels leave.
    pub(crate) fn new(size: (f64, f64), x: Scale, y: Scale, caption: &Caption) -> Self {
        let ticks = y.ticks((size.1 / 45.0) as usize);
        let widest = ticks
            .iter()
            .map(|tick| breadth(&tick.1))
            .fold(0.0, f64::max);
        let (left, right, top, bottom) = (widest + 8.0, size.0 - 10.0, 20.0, size.1 - 34.0);
        let mut frame = Self {
            x: Scale::over(&x, (left, right)),
            y: Scale::over(&y, (bottom, top)),
            left,
            right,
            top,
            bottom,
            svg: picture(size, caption.title, &caption.description),
        };
        frame.draw_axes(&ticks, caption);
        frame
    }

    fn draw_axes(&mut self, y_ticks: &[(f64, String)], caption: &Caption) {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        for (value, text) in y_ticks {
            let height = self.y.place(*value);
            self.push(line("grid", (left, height), (right, height)));
            self.push(label("tick end", (left - 5.0, height + 3.8), text));
        }
        let about = ((right - left) / 52.0) as usize;
        let x_ticks = self.x.ticks(about.max(3));
        let widest = x_ticks
            .iter()
            .map(|tick| breadth(&tick.1))
            .fold(1.0, f64::max);
        let room = ((right - left) / (widest + 10.0)).max(1.0) as usize;
        let every = x_ticks.len().div_ceil(room).max(1);
        for (value, text) in x_ticks.iter().step_by(every) {
            let place = self.x.place(*value);
            self.push(line("axis", (place, bottom), (place, bottom + 4.0)));
            let furthest = right + 10.0 - breadth(text) / 2.0;
            let at = (place.min(furthest), bottom + 15.0);
            self.push(label("tick middle", at, text));
        }
        self.push(line("axis", (left, bottom), (right, bottom)));
        self.push(label("name", (2.0, 11.0), &shortened(caption.y, right)));
        self.push(label(
            "name middle",
            (left.midpoint(right), bottom + 30.0),
            &shortened(caption.x, right - left),
        ));
    }

    /// Where a pair of values lies.
    pub(crate) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.place(x), self.y.place(y))
    }

    pub(crate) fn push(&mut self, mark: Element) {
        self.svg.push(mark);
    }
}
