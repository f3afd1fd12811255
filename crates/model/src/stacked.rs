//! Represents rows with several responses as several rows with one response each.

use std::sync::Arc;

use lehr_density::{
    Column, ColumnKind, Columns, Density, Layout, Point, Predictive, Response, Role, RowSet,
    RowSource, Rows, SplitRows, StoredForm,
};
use lehr_graph::{Expr, Graph};
use lehr_rows::RowsError;

use crate::program::Program;
use crate::split::{Facet, effects_between, split_predictor};

/// A model whose rows have several responses that are independent given z, with a stacked row for
/// each response of each row. Every stacked row has one predictor, so that random effects shared by
/// the responses can be integrated out. The sum over the stacked rows equals that of the model.
pub(crate) struct StackedModel {
    program: Program,
    columns: Columns,
    rows: StackedRows,
    effects: Vec<usize>,
}

/// Row r of response k is row r K + k. The columns of the model are followed by K indicator columns
/// of the response: 1 in its own rows, 0 in the others.
struct StackedRows {
    rows: Arc<dyn RowSource>,
    responses: usize,
    /// The number of columns of the model.
    columns: usize,
}

impl StackedModel {
    /// The stacked rows of a model; `None` if it has one response, or responses that are not
    /// Gaussian given the others.
    pub(crate) fn from_program(
        program: &Program,
        rows: &Arc<dyn RowSource>,
    ) -> Option<StackedModel> {
        let responses = program.row_terms().len();
        if responses < 2 || !program.parts.locals.is_empty() || !program.params().is_empty() {
            return None;
        }
        let columns = program.columns().clone();
        let rows = StackedRows {
            rows: Arc::clone(rows),
            responses,
            columns: columns.0.len(),
        };
        let which = (0..responses).map(|response| Column {
            name: which_response(response),
            kind: ColumnKind::Number { width: None },
            role: Role::Covariate,
        });
        let graph = Graph::new();
        let at = Point::inputs(&graph, [program.latents().size(), 0]);
        let probe = Rows::inputs(&graph, &columns, 2, "");
        let facets = response_facets(program, &at, &probe)?;
        let found = effects_between(program, &at, &facets).ok()?;
        Some(StackedModel {
            effects: found,
            columns: Columns(columns.0.into_iter().chain(which).collect()),
            rows,
            program: program.clone(),
        })
    }

    /// The indicator of a response's rows, as 0 and 1.
    fn own_rows<'g>(rows: &Rows<'g>, response: usize) -> Expr<'g> {
        let own = rows.numbers(&which_response(response));
        own.expect("rows of a stacked model")
    }
}

/// The name of the indicator column of a response.
fn which_response(response: usize) -> String {
    format!("which response: {}", response + 1)
}

/// The predictor and the log likelihood of each response.
fn response_facets<'g>(
    program: &Program,
    at: &Point<'g>,
    rows: &Rows<'g>,
) -> Option<Vec<Facet<'g>>> {
    let responses = program.responses(at, rows);
    let terms = program.evaluate_at(&program.row_terms(), at, Some(rows));
    let facet = |(response, value): (_, &Expr<'g>)| {
        let found = split_predictor(at, program.latents(), std::slice::from_ref(response)).ok()?;
        Some(Facet {
            predictor: found.predictor,
            value: *value,
        })
    };
    let is_whole = responses.len() == terms.len();
    let all = || responses.iter().zip(&terms).map(facet).collect();
    is_whole.then(all).flatten()
}

impl Density for StackedModel {
    fn latents(&self) -> &Layout {
        self.program.latents()
    }

    fn params(&self) -> &Layout {
        self.program.params()
    }

    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn source(&self) -> &dyn RowSource {
        &self.rows
    }

    fn log_prior<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        self.program.log_prior(at)
    }

    fn improper(&self) -> Vec<usize> {
        self.program.improper()
    }

    fn log_likelihood<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        self.log_density_given(self.predictor(at, rows), at, rows)
    }

    fn origin(&self) -> Option<StoredForm> {
        Some(self.program.stored())
    }

    fn split(&self) -> Result<&dyn SplitRows, String> {
        Ok(self)
    }

    fn predictive(&self) -> Option<&dyn Predictive> {
        Some(self)
    }
}

impl Predictive for StackedModel {
    fn responses<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Vec<Response<'g>> {
        self.program.responses(at, rows)
    }

    fn deterministics<'g>(&self, at: &Point<'g>) -> Vec<(String, Expr<'g>)> {
        self.program.named_quantities(at)
    }

    fn row_quantities<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Vec<(String, Expr<'g>)> {
        self.program.named_row_quantities(at, rows)
    }

    fn describe(&self) -> String {
        format!("{}\n{} rows", self.program, self.rows.rows.n_rows())
    }
}

impl SplitRows for StackedModel {
    fn effect_sites(&self) -> &[usize] {
        &self.effects
    }

    fn predictor<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        let facets = response_facets(&self.program, at, rows).expect("rows that are split");
        let own = facets.iter().enumerate();
        let own =
            own.map(|(response, facet)| StackedModel::own_rows(rows, response) * facet.predictor);
        own.reduce(|a, b| a + b).expect("several responses")
    }

    fn log_density_given<'g>(
        &self,
        predictor: Expr<'g>,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> Expr<'g> {
        let facets = response_facets(&self.program, at, rows).expect("rows that are split");
        let own = |(response, facet): (usize, &Facet<'g>)| {
            let own = StackedModel::own_rows(rows, response);
            // In the rows of other responses the predictor is set to 0: at the predictor of another
            // response the value might not be finite.
            let moved = (at.graph()).replace(facet.value, facet.predictor, predictor * own);
            moved.expect("rows that are split") * own
        };
        let sum = facets.iter().enumerate().map(own).reduce(|a, b| a + b);
        sum.expect("several responses")
    }

    fn noise_scale<'g>(&self, _: &Point<'g>, _: &Rows<'g>) -> Option<Expr<'g>> {
        None
    }
}

impl StackedRows {
    /// The table's rows behind stacked rows.
    fn rows_behind(&self, rows: &RowSet<'_>) -> Vec<usize> {
        each_row(rows).map(|row| row / self.responses).collect()
    }
}

fn each_row<'s>(rows: &'s RowSet<'_>) -> Box<dyn Iterator<Item = usize> + 's> {
    match rows {
        RowSet::List(rows) => Box::new(rows.iter().copied()),
        RowSet::Range(range) => Box::new(range.clone()),
    }
}

impl RowSource for StackedRows {
    fn n_rows(&self) -> usize {
        self.rows.n_rows() * self.responses
    }

    fn copy_numbers(&self, column: usize, rows: &RowSet<'_>, into: &mut [f64]) {
        let Some(response) = column.checked_sub(self.columns) else {
            let behind = self.rows_behind(rows);
            return (self.rows).copy_numbers(column, &RowSet::List(&behind), into);
        };
        for (entry, row) in into.iter_mut().zip(each_row(rows)) {
            *entry = f64::from(u8::from(row % self.responses == response));
        }
    }

    fn failure(&self) -> Option<RowsError> {
        self.rows.failure()
    }

    fn copy_indices(&self, column: usize, rows: &RowSet<'_>, into: &mut [u32]) {
        let behind = self.rows_behind(rows);
        (self.rows).copy_indices(column, &RowSet::List(&behind), into);
    }

    fn whole_column(&self, _: usize) -> Option<Arc<[f64]>> {
        None
    }

    fn whole_indices(&self, _: usize) -> Option<Arc<[u32]>> {
        None
    }
}
