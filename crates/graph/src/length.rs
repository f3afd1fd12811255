//! Lengths of axes in programs that are written for any number of rows.

use std::fmt;

/// The number of rows before it is known. A length of a shape may be `a + b * ROWS`; real lengths
/// are below it.
pub const ROWS: usize = 1 << 40;

/// A length of an axis: a number, or `a + b·rows`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct AxisLength(pub(crate) usize);

impl AxisLength {
    /// True if the length depends on the number of rows.
    pub(crate) fn is_symbolic(self) -> bool {
        self.0 >= ROWS
    }

    fn parts(self) -> (usize, usize) {
        (self.0 % ROWS, self.0 / ROWS)
    }

    /// The length for this many rows.
    pub(crate) fn resolve(self, rows: usize) -> usize {
        let (own, times) = self.parts();
        own + times * rows
    }

    /// Whether this is at most the other length for every number of rows.
    pub(crate) fn is_within(self, other: AxisLength) -> bool {
        let ((own, times), (most, most_times)) = (self.parts(), other.parts());
        own <= most && times <= most_times
    }
}

impl fmt::Debug for AxisLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            (own, 0) => write!(f, "{own}"),
            (0, 1) => write!(f, "rows"),
            (0, times) => write!(f, "{times} rows"),
            (own, 1) => write!(f, "rows + {own}"),
            (own, times) => write!(f, "{times} rows + {own}"),
        }
    }
}

impl fmt::Display for AxisLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, Plan, Shape};

    #[test]
    fn lengths_are_affine_in_the_number_of_rows() {
        let length = AxisLength(2 * ROWS + 3);
        assert_eq!(length.resolve(5), 13);
        assert_eq!(length.to_string(), "2 rows + 3");
        assert_eq!(Shape::from([ROWS, 4]).to_string(), "[rows, 4]");
        assert!(AxisLength(ROWS).is_within(length) && !AxisLength(5).is_within(AxisLength(ROWS)));
    }

    #[test]
    fn what_holds_for_some_numbers_of_rows_only_is_refused() {
        let graph = Graph::collecting_errors();
        let x = graph.input("x", [ROWS]);
        let _ = x.slice(0, 0..1);
        let _ = x.at(graph.index_input("g", ROWS));
        let _ = x.outer(x).reshape([ROWS, ROWS, 2]);
        let _ = graph.iota(ROWS);
        let messages: Vec<String> = (graph.errors().into_iter()).map(|e| e.message).collect();
        assert_eq!(
            messages,
            [
                "slice: axis 0, 0..1 is outside shape [rows]",
                "at: rows of shape [rows] cannot be read by number",
                "reshape: shape [rows, rows] does not become [rows, rows, 2]",
                "iota: expects a number, found rows",
            ]
        );
    }

    #[test]
    #[should_panic(expected = "a plan needs a real number of rows, found shape [rows]")]
    fn a_plan_needs_real_lengths() {
        let graph = Graph::new();
        let _ = Plan::new(&[graph.input("x", [ROWS]).exp()], 1);
    }
}
