//! Observing columns of rows.

use lehr_density::{ResponseKind, Role};
use lehr_graph::{Expr, ROWS, Shape};
use lehr_table::Kind;

use crate::distribution::Distribution;
use crate::error::Problem;
use crate::row::{Row, spread};
use crate::statement::{Observed, Statement};

impl<'g> Row<'_, 'g> {
    /// States that the column is drawn from this distribution, one draw per row.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "models read without ampersands"
    )]
    pub fn observe(&self, column: &str, distribution: impl Distribution<'g>) {
        let tracer = self.tracer;
        let column = &*tracer.full(column);
        let kind = distribution.kind();
        if tracer.record.borrow().is_observed(column) {
            let name = column.to_owned();
            return tracer.report(Problem::DuplicateResponse { name });
        }
        if let Err(problem) = tracer.check(&format!("column {column:?}"), &distribution) {
            tracer.report(problem);
        }
        let observed = self.observed(column, kind, &distribution);
        if let Some(density) = self.density(column, kind, &distribution) {
            self.terms.borrow_mut().push(density);
        }
        let mut record = tracer.record.borrow_mut();
        record.statements.push(Statement::Observe(observed));
    }

    /// The log density of each row; `None` if there is not one per row, in which case the mistake
    /// is reported.
    fn density(
        &self,
        column: &str,
        kind: ResponseKind,
        distribution: &impl Distribution<'g>,
    ) -> Option<Expr<'g>> {
        let label = self.label(column, kind);
        let density = distribution.log_density(label);
        let per_row = match *density.shape().dims() {
            [ROWS] => return Some(density),
            // The log densities of independent columns are summed.
            [ROWS, _] if label.shape() == density.shape() => {
                return Some(density.sum_axis(1));
            }
            _ => density,
        };
        // A shape error has already been reported where it arose.
        if per_row.as_number().is_none_or(|number| !number.is_nan()) {
            let problem = Problem::RowShape {
                name: column.to_owned(),
                distribution: distribution.name(),
                found: per_row.shape().to_string(),
            };
            self.tracer.report(problem);
        }
        None
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
    ) -> Observed {
        let graph = self.tracer.graph;
        let batch = self.response_batch(column, kind);
        let rank = distribution.batch_shape().rank();
        let moments = [
            ("mean", distribution.mean(graph)),
            ("variance", distribution.variance(graph)),
        ];
        let mut record = self.tracer.record.borrow_mut();
        let law = record.law(graph, column, distribution, |value| {
            spread(value, rank, batch)
        });
        let [mean, variance] = moments.map(|(name, moment)| {
            moment
                .map(|one| record.output(&format!("{name} of {column}"), spread(one, rank, batch)))
        });
        Observed {
            column: column.to_owned(),
            kind,
            width: batch.dims().get(1).map_or(kind.width(), |width| *width),
            law,
            mean,
            variance,
        }
    }

    /// One distribution per row, or one per number of a row of independent numbers.
    fn response_batch(&self, column: &str, kind: ResponseKind) -> Shape {
        match self.tracer.schema.column(column).map(|known| known.kind) {
            Some(Kind::Matrix { width }) if kind.width() == 1 && width > 1 => self.shape(&[width]),
            _ => self.shape(&[]),
        }
    }
}
