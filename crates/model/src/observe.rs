//! Observing columns of rows.

use lehr_density::{ResponseKind, Role};
use lehr_graph::{Expr, Shape};
use lehr_table::Kind;

use crate::description;
use crate::distribution::Distribution;
use crate::error::Problem;
use crate::record::Observed;
use crate::row::Row;
use crate::supply::Supply;

impl<'g> Row<'_, 'g> {
    /// States that the column is drawn from this distribution, one draw per row.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "models read without ampersands"
    )]
    pub fn observe(&self, column: &str, distribution: impl Distribution<'g>) {
        let tracer = self.tracer;
        let kind = distribution.kind();
        if tracer.record.borrow().is_observed(column) {
            let name = column.to_owned();
            return tracer.report(Problem::DuplicateResponse { name });
        }
        if let Err(problem) = tracer.check(&format!("column {column:?}"), &distribution) {
            tracer.report(problem);
        }
        tracer.line(|record| description::observed(record, tracer.graph, column, &distribution));
        let observed = self.observed(column, kind, &distribution);
        if let Some(density) = self.density(column, kind, &distribution) {
            self.terms.borrow_mut().push(density);
        }
        tracer.record.borrow_mut().observed.push(observed);
    }

    /// The log density of each row; `None` for rows that are asked to be predicted.
    fn density(
        &self,
        column: &str,
        kind: ResponseKind,
        distribution: &impl Distribution<'g>,
    ) -> Option<Expr<'g>> {
        if self.is_unobserved(column) {
            return None;
        }
        let label = self.label(column, kind);
        let density = distribution.log_density(label);
        let per_row = match *density.shape().dims() {
            [n] if n == self.length => return Some(density),
            // Independent columns of one distribution add up.
            [n, _] if n == self.length && label.shape() == density.shape() => {
                return Some(density.sum_axis(1));
            }
            _ => density,
        };
        // A shape that could not even be computed has been reported where it arose.
        if per_row.as_number().is_none_or(|number| !number.is_nan()) {
            let problem = Problem::RowShape {
                name: column.to_owned(),
                distribution: distribution.name(),
                found: rows_named(&per_row.shape().to_string()),
            };
            self.tracer.report(problem);
        }
        None
    }

    fn is_unobserved(&self, column: &str) -> bool {
        let rows = self.tracer.rows.borrow();
        let absent = rows
            .as_ref()
            .is_none_or(|rows| rows.numbers(column).is_none());
        absent && !matches!(self.tracer.supply, Supply::Discover)
    }

    fn label(&self, column: &str, kind: ResponseKind) -> Expr<'g> {
        let label = self.numbers(column, Role::Response { kind }, "numbers");
        match *label.shape().dims() {
            [n, 1] if kind.width() == 1 => label.reshape([n]),
            [n] if matches!(kind, ResponseKind::Vector(_) | ResponseKind::Simplex(_)) => {
                label.reshape([n, 1])
            }
            _ => label,
        }
    }

    fn observed(
        &self,
        column: &str,
        kind: ResponseKind,
        distribution: &impl Distribution<'g>,
    ) -> Observed<'g> {
        let graph = self.tracer.graph;
        let batch = self.response_batch(column, kind);
        let rank = distribution.batch_shape().rank();
        let parameters = (distribution.parameters(graph).into_iter())
            .map(|(name, value)| (name, spread(value, rank, batch)))
            .collect();
        let mean = distribution.mean(graph);
        Observed {
            name: column.to_owned(),
            distribution: distribution.name(),
            kind,
            width: batch.dims().get(1).map_or(kind.width(), |width| *width),
            family: distribution.family(),
            parameters,
            mean: mean.map(|mean| spread(mean, rank, batch)),
        }
    }

    /// One distribution per row, or one per number of a row of independent numbers.
    fn response_batch(&self, column: &str, kind: ResponseKind) -> Shape {
        match self.tracer.schema.column(column).map(|known| known.kind) {
            Some(Kind::Matrix { width }) if kind.width() == 1 && width > 1 => {
                [self.length, width].into()
            }
            _ => [self.length].into(),
        }
    }
}

/// The value with its first `rank` axes widened to `batch`, where they fit.
fn spread(value: Expr<'_>, rank: usize, batch: Shape) -> Expr<'_> {
    let shape = value.shape();
    let own = &shape.dims()[rank.min(shape.rank())..];
    let whole = Shape::new(&[batch.dims(), own].concat());
    match shape.broadcast(whole) {
        Some(fitted) if fitted == whole => value.broadcast(whole),
        _ => value,
    }
}

/// A shape or message with the axis of rows by name.
pub(crate) fn rows_named(text: &str) -> String {
    text.replace(&crate::tracer::ROWS.to_string(), "rows")
}
