//! The handle with which a model reads and observes rows.

use std::cell::{Cell, RefCell};

use lehr_density::{ColumnKind, ResponseKind, Role};
use lehr_graph::{Expr, Indices, ROWS, Shape};
use lehr_table::Kind;

use crate::distribution::Distribution;
use crate::error::Problem;
use crate::record::RowTerm;
use crate::statement::{InputRole, RecordedDistribution, Statement};
use crate::tracer::Tracer;

/// All rows at once: a column is an array with one entry per row. Their number is not known while a
/// model is recorded.
pub struct Row<'t, 'g> {
    pub(crate) tracer: &'t Tracer<'g>,
    weight: Cell<Option<Expr<'g>>>,
    pub(crate) terms: RefCell<Vec<Expr<'g>>>,
    local_terms: RefCell<Vec<Expr<'g>>>,
}

impl<'t, 'g> Row<'t, 'g> {
    pub(crate) fn new(tracer: &'t Tracer<'g>) -> Row<'t, 'g> {
        Row {
            tracer,
            weight: Cell::default(),
            terms: RefCell::default(),
            local_terms: RefCell::default(),
        }
    }

    /// The shape of an array with these dimensions in each row: `[n]` for none, for
    /// [`Expr::reshape`] and [`Expr::broadcast`].
    pub fn batch_shape(&self, dims: &[usize]) -> Shape {
        Shape::new(&[&[ROWS], dims].concat())
    }

    /// The same number in each row, `[n]`.
    pub fn filled_rows(&self, value: f64) -> Expr<'g> {
        self.tracer.graph.full([ROWS], value)
    }

    /// A number per row, `[n]`.
    pub fn number(&self, column: &str) -> Expr<'g> {
        self.number_as(&self.tracer.full_name(column), Role::Covariate)
    }

    /// A number per row that is added to a predictor with coefficient 1, `[n]`.
    pub fn offset(&self, column: &str) -> Expr<'g> {
        self.number_as(&self.tracer.full_name(column), Role::Offset)
    }

    /// Multiplies the log likelihood of each row by this column.
    pub fn weight(&self, column: &str) {
        let column = self.tracer.full_name(column);
        let weight = self.number_as(&column, Role::Weight);
        let all = self.weight.get().map_or(weight, |before| before * weight);
        self.weight.set(Some(all));
        let mut record = self.tracer.record.borrow_mut();
        record.statements.push(Statement::Weight { column });
    }

    fn number_as(&self, column: &str, role: Role) -> Expr<'g> {
        let values = self.read_numbers(column, role, "a number");
        match *values.shape().dims() {
            [_] => values,
            [_, 1] => values.reshape(self.batch_shape(&[])),
            _ => {
                let width = values.shape().dims()[1];
                let problem = Problem::WrongKind {
                    name: column.to_owned(),
                    expected: "a number",
                    found: format!("{width} numbers per row"),
                    hint: format!("read it with row.matrix({column:?})"),
                };
                self.tracer.refuse_value(problem, self.batch_shape(&[]))
            }
        }
    }

    /// A vector per row, `[n, width]`. A column of single numbers has width 1.
    pub fn matrix(&self, column: &str) -> Expr<'g> {
        let values = self.read_numbers(&self.tracer.full_name(column), Role::Covariate, "numbers");
        match values.shape().rank() {
            1 => values.reshape(self.batch_shape(&[1])),
            _ => values,
        }
    }

    /// The column in its shape in the table.
    pub(crate) fn read_numbers(
        &self,
        column: &str,
        role: Role,
        expected: &'static str,
    ) -> Expr<'g> {
        let tracer = self.tracer;
        let Some(known) = tracer.schema.column(column) else {
            return self.unknown_numbers(column);
        };
        let labels = matches!(role, Role::Response { kind } if is_discrete(kind));
        if known.kind == Kind::Category && !labels {
            let problem = Problem::WrongKind {
                name: column.to_owned(),
                expected,
                found: known.kind.to_string(),
                hint: format!("read it with row.index({column:?})"),
            };
            return tracer.refuse_value(problem, self.batch_shape(&[]));
        }
        let width = match known.kind {
            Kind::Matrix { width } => Some(width),
            _ => None,
        };
        let kind = ColumnKind::Number { width };
        let place = tracer.record.borrow_mut().read_column(column, kind, role);
        if let Some(values) = tracer.record.borrow().numbers.get(column) {
            return *values;
        }
        let shape = width.map_or(self.batch_shape(&[]), |width| self.batch_shape(&[width]));
        let values = tracer.input(column, shape, InputRole::Column(place));
        let mut record = tracer.record.borrow_mut();
        record.numbers.insert(column.to_owned(), values);
        values
    }

    /// A stand-in as wide as the nearest known column, so that one wrong name causes one problem.
    fn unknown_numbers(&self, column: &str) -> Expr<'g> {
        let schema = &self.tracer.schema;
        let near = schema
            .nearest_name(column)
            .and_then(|near| schema.column(near));
        let shape = match near.map(|column| column.kind) {
            Some(Kind::Matrix { width }) => self.batch_shape(&[width]),
            near => {
                self.tracer.record.borrow_mut().guessed |= near.is_none();
                self.batch_shape(&[])
            }
        };
        self.tracer
            .refuse_value(self.tracer.unknown_column(column), shape)
    }

    /// A level per row, for [`Expr::at`].
    pub fn index(&self, column: &str) -> Indices<'g> {
        let tracer = self.tracer;
        let column = &*tracer.full_name(column);
        let levels = self.index_levels(column);
        let mut record = tracer.record.borrow_mut();
        let kind = levels.map(|levels| ColumnKind::Index { levels });
        let place = kind.map(|kind| record.read_column(column, kind, Role::Index));
        if let Some(indices) = record.indices.get(column) {
            return *indices;
        }
        record
            .inputs
            .push(InputRole::Column(place.unwrap_or_default()));
        let indices = tracer.graph.index_input(column, ROWS);
        record.indices.insert(column.to_owned(), indices);
        indices
    }

    /// How many levels the column has; `None` if it cannot be an index, in which case the mistake
    /// is reported.
    fn index_levels(&self, column: &str) -> Option<usize> {
        let problem = match self.tracer.schema.column(column) {
            None => self.tracer.unknown_column(column),
            Some(known) => match (known.levels, known.kind) {
                (Some(levels), _) => return Some(levels),
                // The check of values reports which row is not a whole number.
                (None, Kind::Number) => return Some(0),
                (None, kind) => Problem::WrongKind {
                    name: column.to_owned(),
                    expected: "a category or whole numbers from 0 on",
                    found: kind.to_string(),
                    hint: format!("read it with row.matrix({column:?})"),
                },
            },
        };
        self.tracer.report_problem(problem);
        None
    }

    /// A local latent: each row has its own, with this prior. One or two per row are integrated out
    /// when the model is fitted, so that every method applies.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "models read without ampersands"
    )]
    pub fn local(&self, name: &str, distribution: impl Distribution<'g>) -> Expr<'g> {
        let tracer = self.tracer;
        let name = &*tracer.full_name(name);
        let shape = distribution.value_shape();
        let own = Shape::new(own_dims(shape.dims()));
        let whole = self.batch_shape(own.dims());
        let site = match tracer.add_site(name, &distribution, own) {
            Ok(site) => site,
            Err(problem) => return tracer.refuse_value(problem, whole),
        };
        let place = tracer.record.borrow().locals.len();
        let value = tracer.input(name, whole, InputRole::Local(place));
        let density = distribution.log_density(value);
        let density = (1..density.shape().rank()).fold(density, |sum, _| sum.sum_axis(1));
        let density = density.broadcast(self.batch_shape(&[]));
        self.local_terms.borrow_mut().push(density);
        let batch = distribution.batch_shape();
        let own_batch = own_dims(batch.dims());
        let mut record = tracer.record.borrow_mut();
        let law = RecordedDistribution {
            batch: own_batch.iter().product(),
            ..record.record_law(tracer.graph, name, &distribution, |value| {
                spread_rows(value, batch.rank(), self.batch_shape(own_batch))
            })
        };
        let term = record.add_output(&format!("log density of {name}"), density);
        record.statements.push(Statement::Local {
            site: place,
            law,
            term,
        });
        record.locals.push(site);
        value
    }

    /// A named quantity of each row, `[n]` or `[n, width]`. Predictions can compute it; fits do
    /// not.
    pub fn quantity(&self, name: &str, value: Expr<'g>) {
        let shape = value.shape();
        let whole = value.broadcast(self.batch_shape(own_dims(shape.dims())));
        let name = self.tracer.full_name(name);
        let mut record = self.tracer.record.borrow_mut();
        let output = record.add_output(&name, whole);
        record.statements.push(Statement::RowQuantity { output });
    }

    /// Adds the contribution of this set of rows.
    pub(crate) fn close_row(self) {
        let sum = |terms: Vec<Expr<'g>>| terms.into_iter().reduce(|a, b| a + b);
        let observed = self.terms.borrow().len();
        let terms = [self.terms.into_inner(), self.local_terms.into_inner()].concat();
        let mut record = self.tracer.record.borrow_mut();
        if let Some(value) = sum(terms) {
            let weight = self.weight.get();
            record.likelihood.push(RowTerm {
                value,
                weight,
                observed,
            });
        }
    }
}

/// The dimensions within a row.
fn own_dims(dims: &[usize]) -> &[usize] {
    match dims {
        [ROWS, rest @ ..] => rest,
        all => all,
    }
}

fn is_discrete(kind: ResponseKind) -> bool {
    matches!(kind, ResponseKind::Binary | ResponseKind::Category(_))
}

impl<'g> Tracer<'g> {
    /// The statements about rows. The function receives the rows and observes columns of them.
    pub fn rows(&self, program: impl FnOnce(&Row<'_, 'g>)) {
        let row = Row::new(self);
        self.inside_rows.set(true);
        program(&row);
        self.inside_rows.set(false);
        row.close_row();
    }
}

/// The value with its first `rank` axes broadcast to `batch`, if they fit.
pub(crate) fn spread_rows(value: Expr<'_>, rank: usize, batch: Shape) -> Expr<'_> {
    let shape = value.shape();
    let own = &shape.dims()[rank.min(shape.rank())..];
    let whole = Shape::new(&[batch.dims(), own].concat());
    match shape.broadcast(whole) {
        Some(fitted) if fitted == whole => value.broadcast(whole),
        _ => value,
    }
}
