//! Observing columns of rows.

use lehr_density::{ResponseKind, Role};
use lehr_graph::{Expr, ROWS, Shape};
use lehr_table::Kind;

use crate::distribution::Distribution;
use crate::error::Problem;
use crate::row::{Row, spread_rows};
use crate::statement::{ObservedColumn, Statement};

impl<'g> Row<'_, 'g> {
    /// States that the column is drawn from this distribution, one draw per row.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "models read without ampersands"
    )]
    pub fn observe(&self, column: &str, distribution: impl Distribution<'g>) {
        let tracer = self.tracer;
        let column = &*tracer.full_name(column);
        let kind = distribution.response_kind();
        if tracer.record.borrow().is_observed(column) {
            let name = column.to_owned();
            return tracer.report_problem(Problem::DuplicateResponse { name });
        }
        let checked = tracer.check_distribution(&format!("column {column:?}"), &distribution);
        if let Err(problem) = checked {
            tracer.report_problem(problem);
        }
        let observed = self.note_observed(column, kind, &distribution);
        if let Some(density) = self.add_log_density(column, kind, &distribution) {
            self.terms.borrow_mut().push(density);
        }
        let mut record = tracer.record.borrow_mut();
        record.statements.push(Statement::Observe(observed));
    }

    /// The log density of each row; `None` if there is not one per row, in which case the mistake
    /// is reported.
    fn add_log_density(
        &self,
        column: &str,
        kind: ResponseKind,
        distribution: &impl Distribution<'g>,
    ) -> Option<Expr<'g>> {
        let label = self.read_label(column, kind);
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
            self.tracer.report_problem(problem);
        }
        None
    }

    fn read_label(&self, column: &str, kind: ResponseKind) -> Expr<'g> {
        let label = self.read_numbers(column, Role::Response { kind }, "numbers");
        match *label.shape().dims() {
            [n, 1] if kind.width() == 1 => label.reshape([n]),
            [n] if matches!(kind, ResponseKind::Vector(_) | ResponseKind::Simplex(_)) => {
                label.reshape([n, 1])
            }
            _ => label,
        }
    }

    fn note_observed(
        &self,
        column: &str,
        kind: ResponseKind,
        distribution: &impl Distribution<'g>,
    ) -> ObservedColumn {
        let graph = self.tracer.graph;
        let batch = self.response_batch(column, kind);
        let rank = distribution.batch_shape().rank();
        let moments = [
            ("mean", distribution.mean(graph)),
            ("variance", distribution.variance(graph)),
        ];
        let mut record = self.tracer.record.borrow_mut();
        let law = record.record_law(graph, column, distribution, |value| {
            spread_rows(value, rank, batch)
        });
        let [mean, variance] = moments.map(|(name, moment)| {
            let name = format!("{name} of {column}");
            moment.map(|one| record.add_output(&name, spread_rows(one, rank, batch)))
        });
        ObservedColumn {
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
            Some(Kind::Matrix { width }) if kind.width() == 1 && width > 1 => {
                self.batch_shape(&[width])
            }
            _ => self.batch_shape(&[]),
        }
    }
}
