//! Charts of any quantity: curves, or dots beside names.

use super::scale::Law;

/// A picture.
#[derive(Clone, Debug)]
pub enum Chart {
    /// Curves.
    Lines(Lines),
    /// Dots beside names.
    Dots(Dots),
}

/// An axis and its quantity.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// The name of the quantity, with its unit.
    pub name: String,
    /// The scale of its values.
    pub law: Law,
}

/// A place in a picture with its error, 0 for none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Across.
    pub x: f64,
    /// Up; for [`Dots`] the place of the name.
    pub y: f64,
    /// Half the length of the error bar, along the measured axis.
    pub error: f64,
}

/// Places that belong together.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Their name in the key.
    pub name: String,
    /// The places.
    pub marks: Vec<Mark>,
    /// Whether the line is dashed, or the dots hollow: for theory or published figures.
    pub dashed: bool,
}

/// Curves over a common axis.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// The title above the chart.
    pub title: String,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// The curves.
    pub series: Vec<Series>,
}

/// Dots beside names.
#[derive(Clone, Debug, Default)]
pub struct Dots {
    /// The title above the chart.
    pub title: String,
    /// The names, from top to bottom.
    pub names: Vec<String>,
    /// The common axis.
    pub axis: Axis,
    /// The dots.
    pub series: Vec<Series>,
}
