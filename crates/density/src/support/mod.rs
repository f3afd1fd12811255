//! The supports of sites, and the bijections from unconstrained numbers.

mod bound;
mod correlation;
mod covariance;
mod ordered;
mod simplex;
mod triangle;

use std::fmt;

use lehr_graph::{Expr, Shape};
use serde::{Deserialize, Serialize};

use crate::SupportError;

/// The set of possible values of a site.
///
/// Scalar supports act on every number of an array of any shape. The others act on the last axes,
/// their *event*; axes before it are a batch of independent events.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// All real numbers.
    Real,
    /// x > 0.
    Positive,
    /// x ≥ the bound.
    Lower(f64),
    /// x ≤ the bound.
    Upper(f64),
    /// From the first bound to the second.
    Interval(f64, f64),
    /// 0 < x < 1.
    UnitInterval,
    /// This many positive numbers that sum to one.
    Simplex(usize),
    /// This many numbers in increasing order.
    Ordered(usize),
    /// The lower Cholesky factor of a correlation matrix with this many rows.
    CholeskyCorrelation(usize),
    /// The lower Cholesky factor of a covariance matrix with this many rows.
    CholeskyCovariance(usize),
}

/// A value inside a support, with the log-Jacobian of the map.
#[derive(Clone, Copy, Debug)]
pub struct ConstrainedValue<'g> {
    /// The value: the batch axes, then the event.
    pub value: Expr<'g>,
    /// ln |det ∂value/∂unconstrained|, one number per event (so it has the shape of the batch). For
    /// simplices and triangles the determinant is in the event's free coordinates: the first n − 1
    /// entries of a simplex, the strict lower triangle of a correlation factor, the lower triangle
    /// of a covariance factor.
    pub log_jacobian: Expr<'g>,
}

impl Support {
    /// The shape of one event; scalar for supports of single numbers.
    pub fn event_shape(self) -> Shape {
        match self {
            Support::Simplex(n) | Support::Ordered(n) => [n].into(),
            Support::CholeskyCorrelation(n) | Support::CholeskyCovariance(n) => [n, n].into(),
            _ => Shape::SCALAR,
        }
    }

    /// How many unconstrained numbers one event takes.
    pub fn free_size(self) -> usize {
        match self {
            Support::Simplex(n) => n.saturating_sub(1),
            Support::Ordered(n) => n,
            Support::CholeskyCorrelation(n) => triangle::strict_size(n),
            Support::CholeskyCovariance(n) => n + triangle::strict_size(n),
            _ => 1,
        }
    }

    /// The axes of `shape` before the event. Refuses a shape that does not end in the event.
    pub fn batch_shape(self, shape: Shape) -> Result<Shape, SupportError> {
        let (dims, event) = (shape.dims(), self.event_shape());
        match dims.len().checked_sub(event.rank()) {
            Some(batch) if dims[batch..] == *event.dims() => Ok(Shape::new(&dims[..batch])),
            _ => Err(SupportError::Shape {
                support: self.to_string(),
                event: event.to_string(),
                found: shape.to_string(),
            }),
        }
    }

    /// The shape of the unconstrained numbers for a value of `shape`.
    pub fn free_shape(self, shape: Shape) -> Result<Shape, SupportError> {
        let batch = self.batch_shape(shape)?;
        Ok(match self.event_shape().rank() {
            0 => batch,
            _ => Shape::new(&[batch.dims(), &[self.free_size()]].concat()),
        })
    }

    /// How many unconstrained numbers a value of `shape` has.
    pub fn free_size_of(self, shape: Shape) -> Result<usize, SupportError> {
        Ok(self.free_shape(shape)?.size())
    }

    /// The constrained value of unconstrained numbers of shape [`Support::free_shape`].
    pub fn constrain_values(self, free: Expr<'_>) -> ConstrainedValue<'_> {
        match self {
            Support::Simplex(n) => simplex::constrain_values(free, n),
            Support::Ordered(n) => ordered::constrain_values(free, n),
            Support::CholeskyCorrelation(n) => correlation::constrain_values(free, n),
            Support::CholeskyCovariance(n) => covariance::constrain_values(free, n),
            _ => bound::constrain_values(self, free),
        }
    }

    /// The unconstrained numbers of whole events, one after another. Refuses values outside the
    /// support or on its edge.
    pub fn unconstrain_values(self, values: &[f64]) -> Result<Vec<f64>, SupportError> {
        self.whole_events(values)?;
        let mut free = Vec::with_capacity(values.len());
        for event in values.chunks_exact(self.event_shape().size().max(1)) {
            let done = free.len();
            if self.contains_values(event) {
                self.unconstrain_event(event, &mut free);
            }
            let inside = free.len() == done + self.free_size();
            if !inside || free[done..].iter().any(|u| !u.is_finite()) {
                return Err(SupportError::Outside {
                    support: self.to_string(),
                    found: show_event(event),
                });
            }
        }
        Ok(free)
    }

    fn unconstrain_event(self, event: &[f64], free: &mut Vec<f64>) {
        match self {
            Support::Simplex(_) => simplex::unconstrain_values(event, free),
            Support::Ordered(_) => ordered::unconstrain_values(event, free),
            Support::CholeskyCorrelation(n) => correlation::unconstrain_values(event, n, free),
            Support::CholeskyCovariance(n) => covariance::unconstrain_values(event, n, free),
            _ => free.push(bound::unconstrain_values(self, event[0])),
        }
    }

    /// Whether the values are whole events inside the support, up to rounding. Bounds given as
    /// numbers belong to the support, and so do ties of ordered numbers.
    pub fn contains_values(self, values: &[f64]) -> bool {
        if self.whole_events(values).is_err() || values.iter().any(|x| x.is_nan()) {
            return false;
        }
        let mut events = values.chunks_exact(self.event_shape().size().max(1));
        events.all(|event| match self {
            Support::Simplex(_) => simplex::contains_values(event),
            Support::Ordered(_) => ordered::contains_values(event),
            Support::CholeskyCorrelation(n) => correlation::contains_values(event, n),
            Support::CholeskyCovariance(n) => covariance::contains_values(event, n),
            _ => bound::contains_values(self, event[0]),
        })
    }

    fn whole_events(self, values: &[f64]) -> Result<(), SupportError> {
        let expected = self.event_shape().size();
        match values.len().checked_rem(expected) {
            Some(0) => Ok(()),
            _ => Err(SupportError::Length {
                support: self.to_string(),
                expected,
                found: values.len(),
            }),
        }
    }
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Support::Real => write!(f, "real"),
            Support::Positive => write!(f, "positive"),
            Support::Lower(low) => write!(f, "at least {low}"),
            Support::Upper(high) => write!(f, "at most {high}"),
            Support::Interval(low, high) => write!(f, "from {low} to {high}"),
            Support::UnitInterval => write!(f, "between 0 and 1"),
            Support::Simplex(n) => write!(f, "a simplex of {n}"),
            Support::Ordered(n) => write!(f, "{n} ordered numbers"),
            Support::CholeskyCorrelation(n) => {
                write!(f, "the Cholesky factor of a {n} × {n} correlation matrix")
            }
            Support::CholeskyCovariance(n) => {
                write!(f, "the Cholesky factor of a {n} × {n} covariance matrix")
            }
        }
    }
}

/// The event in brackets; only its first numbers if it is long.
fn show_event(event: &[f64]) -> String {
    let first: Vec<String> = event.iter().take(6).map(f64::to_string).collect();
    let more = if event.len() > 6 { ", …" } else { "" };
    match event {
        [only] => only.to_string(),
        _ => format!("[{}{more}]", first.join(", ")),
    }
}

/// The shape with its last axis replaced by `last`.
fn with_last(shape: Shape, last: &[usize]) -> Shape {
    let batch = shape.rank().saturating_sub(1);
    Shape::new(&[&shape.dims()[..batch], last].concat())
}
