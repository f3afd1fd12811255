//! The observation of a response in the model: exact, censored, or truncated.

use lehr_formula::Response;
use lehr_graph::Expr;
use lehr_learn::column_name::{HIGH, LOW, STATUS, UPPER};
use lehr_model::Row;
use lehr_model::distribution::{
    CensoredDistribution, CumulativeDistribution, TruncatedDistribution, Value,
};
use serde::{Deserialize, Serialize};

use crate::column_name::RESPONSE;

/// The bounds of the response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Bounds {
    /// Observed exactly.
    #[default]
    Exact,
    /// Censored in some rows.
    Censored {
        /// Whether upper ends of intervals are given.
        intervals: bool,
    },
    /// Truncated between limits.
    Truncated {
        /// Whether there is a lower limit.
        low: bool,
        /// Whether there is an upper one.
        high: bool,
    },
}

impl Bounds {
    /// The bounds of a response.
    pub(crate) fn of(response: &Response) -> Bounds {
        if let Some(censoring) = &response.censoring {
            let intervals = censoring.upper.is_some();
            return Bounds::Censored { intervals };
        }
        let Some(limits) = &response.truncation else {
            return Bounds::Exact;
        };
        let [low, high] = [&limits.low, &limits.high].map(Option::is_some);
        Bounds::Truncated { low, high }
    }

    /// The columns of the design with the bounds.
    pub(crate) fn columns(self) -> Vec<&'static str> {
        let all = match self {
            Bounds::Exact => [(false, STATUS), (false, UPPER)],
            Bounds::Censored { intervals } => [(true, STATUS), (intervals, UPPER)],
            Bounds::Truncated { low, high } => [(low, LOW), (high, HIGH)],
        };
        let there = all.into_iter().filter(|(is_there, _)| *is_there);
        there.map(|(_, name)| name).collect()
    }

    /// Observes the response, whose distribution without bounds is `base`.
    pub(crate) fn observe<'g>(self, row: &Row<'_, 'g>, base: impl CumulativeDistribution<'g>) {
        let end = |is_there: bool, name: &str, none: f64| {
            if is_there {
                Value::Expr(row.number(name))
            } else {
                Value::Number(none)
            }
        };
        match self {
            Bounds::Exact => row.observe(RESPONSE, base),
            Bounds::Censored { intervals: false } => {
                row.observe(
                    RESPONSE,
                    CensoredDistribution::new(base, row.number(STATUS)),
                );
            }
            Bounds::Censored { intervals: true } => {
                let (status, upper): (Expr<'g>, Expr<'g>) = (row.number(STATUS), row.number(UPPER));
                row.observe(
                    RESPONSE,
                    CensoredDistribution::with_intervals(base, status, upper),
                );
            }
            Bounds::Truncated { low, high } => {
                let low = end(low, LOW, f64::NEG_INFINITY);
                let high = end(high, HIGH, f64::INFINITY);
                row.observe(RESPONSE, TruncatedDistribution::new(base, low, high));
            }
        }
    }
}
