//! The handle with which a model reads and observes rows.

use std::cell::{Cell, RefCell};

use lehr_density::{ColumnKind, ResponseKind, Role, Site};
use lehr_graph::{Expr, Indices, Shape};
use lehr_table::Kind;

use crate::description;
use crate::distribution::Distribution;
use crate::error::Problem;
use crate::supply::Supply;
use crate::tracer::Tracer;

/// All rows that are asked for, at once: a column is an array with one entry per row.
pub struct Row<'t, 'g> {
    pub(crate) tracer: &'t Tracer<'g>,
    pub(crate) length: usize,
    weight: Cell<Option<Expr<'g>>>,
    pub(crate) terms: RefCell<Vec<Expr<'g>>>,
    local_terms: RefCell<Vec<Expr<'g>>>,
}

impl<'t, 'g> Row<'t, 'g> {
    pub(crate) fn new(tracer: &'t Tracer<'g>, length: usize) -> Row<'t, 'g> {
        Row {
            tracer,
            length,
            weight: Cell::default(),
            terms: RefCell::default(),
            local_terms: RefCell::default(),
        }
    }

    /// How many rows there are. It changes from run to run.
    pub fn count(&self) -> usize {
        self.length
    }

    /// A number per row, `[n]`.
    pub fn number(&self, column: &str) -> Expr<'g> {
        self.number_as(column, Role::Covariate)
    }

    /// A number per row that is added to a predictor as it is, `[n]`.
    pub fn offset(&self, column: &str) -> Expr<'g> {
        self.number_as(column, Role::Offset)
    }

    /// Multiplies the log likelihood of each row by this column.
    pub fn weight(&self, column: &str) {
        let weight = self.number_as(column, Role::Weight);
        let all = self.weight.get().map_or(weight, |before| before * weight);
        self.weight.set(Some(all));
    }

    fn number_as(&self, column: &str, role: Role) -> Expr<'g> {
        let values = self.numbers(column, role, "a number");
        match *values.shape().dims() {
            [_] => values,
            [_, 1] => values.reshape([self.length]),
            _ => {
                let width = values.shape().dims()[1];
                let problem = Problem::WrongKind {
                    name: column.to_owned(),
                    expected: "a number",
                    found: format!("{width} numbers per row"),
                    hint: format!("read it with row.matrix({column:?})"),
                };
                self.tracer.refuse(problem, [self.length].into())
            }
        }
    }

    /// A vector per row, `[n, width]`. A column of single numbers has width 1.
    pub fn matrix(&self, column: &str) -> Expr<'g> {
        let values = self.numbers(column, Role::Covariate, "numbers");
        match values.shape().rank() {
            1 => values.reshape([self.length, 1]),
            _ => values,
        }
    }

    /// The column in the shape in which the table has it.
    pub(crate) fn numbers(&self, column: &str, role: Role, expected: &'static str) -> Expr<'g> {
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
            return tracer.refuse(problem, [self.length].into());
        }
        let width = match known.kind {
            Kind::Matrix { width } => Some(width),
            _ => None,
        };
        let kind = ColumnKind::Number { width };
        tracer.record.borrow_mut().read(column, kind, role);
        let values = self.supplied(column, width);
        tracer.record.borrow_mut().name(column, values);
        values
    }

    /// The column among the rows; while a model is checked it is made when it is first read.
    fn supplied(&self, column: &str, width: Option<usize>) -> Expr<'g> {
        let mut rows = self.tracer.rows.borrow_mut();
        let rows = rows.as_mut().expect("rows are there while they are read");
        if let Some(values) = rows.numbers(column) {
            return values;
        }
        let given = matches!(self.tracer.supply, Supply::Discover);
        assert!(given, "column {column:?} is not among the rows");
        let shape = width.map_or([self.length].into(), |width| {
            Shape::from([self.length, width])
        });
        let values = self.tracer.graph.input(column, shape);
        *rows = rows.clone().with_column(column, values);
        values
    }

    /// A stand-in as wide as the column that was most likely meant, so that one wrong name is
    /// one problem.
    fn unknown_numbers(&self, column: &str) -> Expr<'g> {
        let schema = &self.tracer.schema;
        let near = schema.nearest(column).and_then(|near| schema.column(near));
        let shape = match near.map(|column| column.kind) {
            Some(Kind::Matrix { width }) => Shape::from([self.length, width]),
            near => {
                self.tracer.record.borrow_mut().guessed |= near.is_none();
                Shape::from([self.length])
            }
        };
        self.tracer.refuse(self.tracer.unknown(column), shape)
    }

    /// A level per row, for [`Expr::at`].
    pub fn index(&self, column: &str) -> Indices<'g> {
        let tracer = self.tracer;
        if let Some(levels) = self.index_levels(column) {
            let kind = ColumnKind::Index { levels };
            tracer.record.borrow_mut().read(column, kind, Role::Index);
        }
        let mut rows = tracer.rows.borrow_mut();
        let rows = rows.as_mut().expect("rows are there while they are read");
        if let Some(indices) = rows.indices(column) {
            return indices;
        }
        let given = matches!(tracer.supply, Supply::Discover);
        assert!(given, "index column {column:?} is not among the rows");
        let indices = tracer.graph.index_input(column, self.length);
        *rows = rows.clone().with_index(column, indices);
        indices
    }

    /// How many levels the column has; `None` if it cannot be an index, which is reported.
    fn index_levels(&self, column: &str) -> Option<usize> {
        let problem = match self.tracer.schema.column(column) {
            None => self.tracer.unknown(column),
            Some(known) => match (known.levels, known.kind) {
                (Some(levels), _) => return Some(levels),
                // Which row is not whole is said when the values are checked.
                (None, Kind::Number) => return Some(0),
                (None, kind) => Problem::WrongKind {
                    name: column.to_owned(),
                    expected: "a category or whole numbers from 0 on",
                    found: kind.to_string(),
                    hint: format!("read it with row.matrix({column:?})"),
                },
            },
        };
        self.tracer.report(problem);
        None
    }

    /// A latent of each row's own with this prior. Most methods refuse models with any.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "models read without ampersands"
    )]
    pub fn sample(&self, name: &str, distribution: impl Distribution<'g>) -> Expr<'g> {
        let tracer = self.tracer;
        let shape = distribution.shape();
        let own = match shape.dims() {
            [first, rest @ ..] if *first == self.length => Shape::new(rest),
            _ => shape,
        };
        let whole = Shape::new(&[&[self.length], own.dims()].concat());
        let site = match tracer.site(name, &distribution, own) {
            Ok(site) => site,
            Err(problem) => return tracer.refuse(problem, whole),
        };
        let value = self.local(&site, whole);
        let density = distribution.log_density(value);
        let density = (1..density.shape().rank()).fold(density, |sum, _| sum.sum_axis(1));
        self.local_terms.borrow_mut().push(density);
        tracer.line(|record| description::local(record, tracer.graph, &site, &distribution));
        let mut record = tracer.record.borrow_mut();
        record.locals.push(site);
        record.name(name, value);
        value
    }

    fn local(&self, site: &Site, whole: Shape) -> Expr<'g> {
        if matches!(self.tracer.supply, Supply::Discover) {
            let free = site
                .support
                .free_shape(whole)
                .expect("checked with the site");
            let input = self.tracer.graph.input(&site.name, free);
            return site.support.constrain(input).value;
        }
        self.tracer.supply.param(self.tracer.graph, site)
    }

    /// Adds what this set of rows contributes.
    pub(crate) fn finish(self) {
        let sum = |terms: Vec<Expr<'g>>| terms.into_iter().reduce(|a, b| a + b);
        let observed = sum(self.terms.into_inner());
        let weighted = match (observed, self.weight.get()) {
            (Some(density), Some(weight)) => Some(density * weight),
            (density, _) => density,
        };
        let mut record = self.tracer.record.borrow_mut();
        record.likelihood.extend(weighted);
        record.likelihood.extend(sum(self.local_terms.into_inner()));
    }
}

fn is_discrete(kind: ResponseKind) -> bool {
    matches!(kind, ResponseKind::Binary | ResponseKind::Category(_))
}
